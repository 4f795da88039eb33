// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: deadlines of fences, from a sync_file to the fence of the engine
 */

#include <linux/sync_file.h>

#include "uapi.h"

#define DEADLINES	"/sys/kernel/debug/simgpu/deadlines"

/* From <linux/sync_file.h>, as not every build machine has a recent one. */
struct sync_deadline {
	__u64 deadline_ns;
	__u64 pad;
};

#define SYNC_DEADLINE	_IOW('>', 5, struct sync_deadline)

static long long told(const char *name)
{
	struct counters c;

	return CHECK_EQ(counters_read(DEADLINES, &c), 0) ?
	       counters_get(&c, name) : -1;
}

static int set_deadline(int fence, uint64_t ns)
{
	struct sync_deadline args = { .deadline_ns = ns };

	return sim_ioctl(fence, SYNC_DEADLINE, &args);
}

/*
 * Three deadlines, the second the earliest, while the job waits for another or
 * while it is executed.
 */
static void one_way(uint32_t design, bool before, uint64_t now)
{
	struct simgpu_create create = { .design = design };
	struct simgpu_exec first = { .duration_ns = 20 * SIM_MSEC };
	struct simgpu_dep dep = { .kind = SIMGPU_DEP_JOB };
	struct simgpu_exec second = { .flags = SIMGPU_EXEC_FENCE_OUT,
				      .duration_ns = 20 * SIM_MSEC,
				      .n_deps = before,
				      .deps = (uintptr_t)&dep };
	long long given = told("given"), earliest = told("earliest");
	int fd = sim_open(), a = sim_create(fd, &create), b;

	create.engine = 1;
	b = sim_create(fd, &create);
	CHECK_EQ(sim_submit(fd, (uint32_t)a, &first, 1, 0), 0);
	dep.context = (uint32_t)a;
	dep.seqno = first.seqno;
	CHECK_EQ(sim_submit(fd, (uint32_t)b, &second, 1, 0), 0);
	if (!before)
		sleep_ns(2 * SIM_MSEC);
	CHECK_EQ(set_deadline(second.out_fence, now + 500), 0);
	CHECK_EQ(set_deadline(second.out_fence, now + 300), 0);
	CHECK_EQ(set_deadline(second.out_fence, now + 400), 0);
	CHECK_EQ(told("earliest") - earliest, before ? 0 : 2);
	CHECK_EQ(sim_wait(fd, (uint32_t)b, second.seqno, SIM_PATIENCE, NULL), 0);
	CHECK_EQ(told("earliest") - earliest, before ? 1 : 2);
	CHECK_EQ(told("last_ns"), (long long)now + 300);
	/* A queue only passes on the earliest. */
	if (design != SIMGPU_DESIGN_NONE)
		CHECK_EQ(told("given") - given, before ? 1 : 2);
	/* The job is done. */
	given = told("given");
	CHECK_EQ(set_deadline(second.out_fence, now + 100), 0);
	CHECK_EQ(told("given"), given);
	close(second.out_fence);
	close(fd);
}

static void deadlines(void)
{
	struct simgpu_exec exec = { .flags = SIMGPU_EXEC_FENCE_OUT };
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ };
	int fd = sim_open(), context = sim_create(fd, &create), ret;
	long long given = told("given");

	CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0), 0);
	CHECK_EQ(fence_wait(exec.out_fence, 20000), 1);
	ret = set_deadline(exec.out_fence, now_ns());
	close(exec.out_fence);
	close(fd);
	if (ret == -ENOTTY) {
		tap_skip("kernels before 6.4 have no deadlines");
		return;
	}
	CHECK_EQ(ret, 0);
	/* Without a fence there is nothing to pass on. */
	CHECK_EQ(told("given"), given);
	for (uint32_t design = 0; design < SIMGPU_DESIGN_COUNT; design++) {
		one_way(design, false, now_ns() + 2 * SIM_SEC);
		/* Without a queue the submitter waits for what it depends on. */
		if (design != SIMGPU_DESIGN_NONE)
			one_way(design, true, now_ns() + 2 * SIM_SEC);
	}
}

const struct test_case deadline_cases[] = {
	{ "the earliest deadline comes to the fence of the engine, once",
	  deadlines },
	{ 0 },
};
