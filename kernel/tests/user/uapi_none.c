// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: contexts without a queue
 *
 * The reference for the other designs must work as documented: no
 * thread between the submitter and the engine, dependencies waited for by the
 * submitter, jobs freed when their fence signals.
 */

#include "uapi.h"

#define LONG_NS	(20 * SIM_MSEC)

static const struct simgpu_create none = { .design = SIMGPU_DESIGN_NONE };

/* Returns the record of a finished job. */
static struct simgpu_record record_of(int fd, uint32_t context, uint64_t seqno)
{
	struct simgpu_record record = { 0 };

	CHECK_EQ(sim_wait(fd, context, seqno, SIM_PATIENCE, NULL), 0);
	CHECK_EQ(sim_read(fd, context, &seqno, &record, 1), 1);
	return record;
}

/* Returns the number of tasks, including kernel threads. */
static int tasks(void)
{
	char text[64] = "", *at;
	int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	at = n > 0 ? strchr(text, '/') : NULL;
	return at ? atoi(at + 1) : -1;
}

static void inline_and_freed(void)
{
	int fd = sim_open(), before = tasks();
	uint32_t context = (uint32_t)sim_create(fd, &none);
	struct simgpu_stats stats = { 0 };

	CHECK_EQ(tasks(), before);
	for (uint64_t i = 1; i <= 10; i++) {
		struct simgpu_exec exec = { .duration_ns = 1000 };
		struct simgpu_record record;

		CHECK_EQ(sim_submit(fd, context, &exec, 1, 0), 0);
		record = record_of(fd, context, exec.seqno);
		CHECK_EQ(record.flags,
			 SIMGPU_RECORD_DONE | SIMGPU_RECORD_INLINE);
		CHECK(record.t_commit <= record.t_run &&
		      record.t_run <= record.t_return);
		CHECK(record.t_hw && record.t_hw <= record.t_done);
		/* The waiter was woken after or while the job was freed. */
		CHECK_EQ(sim_stats(fd, context, &stats), 0);
		CHECK_EQ(stats.submitted, i);
		CHECK_EQ(stats.bypassed, i);
		CHECK_EQ(stats.done, i);
		CHECK_EQ(stats.kicks, 0);
	}
	CHECK(live_wait("jobs", 0));
	CHECK_EQ(sim_stats(fd, context, &stats), 0);
	CHECK_EQ(stats.released, 10);
	CHECK_EQ(stats.pending, 0);
	close(fd);
}

/* Submits a job that depends on a long one. Return: whether it waited for that. */
static bool waited(int fd, uint32_t before, uint32_t after)
{
	struct simgpu_dep dep = { .kind = SIMGPU_DEP_JOB, .context = before };
	struct simgpu_exec first = { .duration_ns = LONG_NS };
	struct simgpu_exec exec = { .n_deps = 1, .deps = (uintptr_t)&dep,
				    .duration_ns = 1000 };
	struct simgpu_record a, b;

	CHECK_EQ(sim_submit(fd, before, &first, 1, 0), 0);
	dep.seqno = first.seqno;
	CHECK_EQ(sim_submit(fd, after, &exec, 1, 0), 0);
	a = record_of(fd, before, first.seqno);
	b = record_of(fd, after, exec.seqno);
	CHECK(b.t_done >= a.t_done);
	return b.t_commit >= a.t_done;
}

static void dependencies(void)
{
	struct simgpu_create depq = { .design = SIMGPU_DESIGN_DEPQ };
	int fd = sim_open();
	uint32_t one = (uint32_t)sim_create(fd, &none);
	uint32_t two = (uint32_t)sim_create(fd, &none);
	uint32_t queue = (uint32_t)sim_create(fd, &depq);

	CHECK(waited(fd, one, two));
	CHECK(waited(fd, queue, two));
	/* Its own jobs come in order anyway, and a queue waits itself. */
	CHECK(!waited(fd, one, one));
	CHECK(!waited(fd, one, queue));
	close(fd);
}

/* Ends a context whose job hangs. Return: the error of the job. */
static int ended_with(void (*end)(int fd, uint32_t context))
{
	int fd = sim_open(), error = 1;
	uint32_t context = (uint32_t)sim_create(fd, &none);
	struct simgpu_exec exec = { .flags = SIMGPU_EXEC_FENCE_OUT,
				    .fault = SIMGPU_FAULT_HANG };

	CHECK_EQ(sim_submit(fd, context, &exec, 1, 0), 0);
	CHECK_EQ(fence_wait(exec.out_fence, 5), 0);
	end(fd, context);
	CHECK_EQ(fence_wait(exec.out_fence, 20000), 1);
	if (sim_wait(fd, context, exec.seqno, 0, &error) == -ENOENT)
		error = 0;
	close(exec.out_fence);
	close(fd);
	return error;
}

static void kill_it(int fd, uint32_t context)
{
	struct simgpu_exec exec = { .duration_ns = 1000 };

	CHECK_EQ(sim_control(fd, context, SIMGPU_CONTROL_KILL, EIO), 0);
	CHECK_EQ(sim_submit(fd, context, &exec, 1, 0), -ECANCELED);
}

static void destroy_it(int fd, uint32_t context)
{
	CHECK_EQ(sim_destroy(fd, context), 0);
}

static void ends(void)
{
	CHECK_EQ(ended_with(kill_it), -EIO);
	/* Its error can no longer be read. */
	CHECK_EQ(ended_with(destroy_it), 0);
}

static void lacks(void)
{
	static const uint32_t commands[] = { SIMGPU_CONTROL_STOP,
					     SIMGPU_CONTROL_TIMEOUT };
	struct simgpu_create create = none;
	int fd = sim_open();
	uint32_t context = (uint32_t)sim_create(fd, &none);

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		CHECK_EQ(sim_control(fd, context, commands[i], 0), -EOPNOTSUPP);
	create.flags = SIMGPU_CREATE_BYPASS;
	CHECK_EQ(sim_create(fd, &create), -EINVAL);
	create.flags = 0;
	create.put = SIMGPU_PUT_IRQ;
	CHECK_EQ(sim_create(fd, &create), -EINVAL);
	create.put = 0;
	create.worker = SIMGPU_WORKER_WQ;
	CHECK_EQ(sim_create(fd, &create), -EINVAL);
	close(fd);
}

const struct test_case none_cases[] = {
	{ "without a queue the submitter runs the job, and its signal frees it",
	  inline_and_freed },
	{ "without a queue the submitter waits for dependencies", dependencies },
	{ "without a queue a job that hangs ends with its context", ends },
	{ "without a queue there is nothing to stop or to choose", lacks },
	{ 0 },
};
