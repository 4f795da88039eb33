// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: removal of the module, and of the device
 *
 * The kernel refuses to remove a module in use with -EWOULDBLOCK (which rmmod
 * reports as "in use").
 */

#include <ftw.h>
#include <sys/syscall.h>

#include "uapi.h"

static int module_remove(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

/* Fences are freed after a grace period: their module is busy until then. */
static int module_remove_patiently(const char *name)
{
	uint64_t end = now_ns() + SIM_PATIENCE;
	int ret;

	while ((ret = module_remove(name)) == -EWOULDBLOCK && now_ns() < end)
		sleep_ns(5 * SIM_MSEC);
	return ret;
}

const char *module_file;

static char found_file[4096];

static int look_at(const char *path, const struct stat *st, int type,
		   struct FTW *at)
{
	(void)st;
	if (type != FTW_F || strcmp(path + at->base, module_file))
		return 0;
	snprintf(found_file, sizeof(found_file), "%s", path);
	return 1;
}

/* A name without a directory is searched for in the root file system. */
static int module_load_with(const char *parameters)
{
	int fd, ret;

	if (!strchr(module_file, '/') &&
	    nftw("/", look_at, 16, FTW_PHYS | FTW_MOUNT) == 1)
		module_file = found_file;
	fd = open(module_file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

static int module_load(void)
{
	return module_load_with("");
}

static void removal_in_use(void)
{
	struct simgpu_exec exec = { .flags = SIMGPU_EXEC_FENCE_OUT };
	int fd, context;

	if (geteuid()) {
		tap_skip("not root");
		return;
	}
	for (uint32_t design = 0; design < 2; design++) {
		fd = sim_open();
		CHECK_EQ(module_remove("simgpu"), -EWOULDBLOCK);
		context = sim_create_stopped(fd, design);
		CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0), 0);
		CHECK_EQ(module_remove("simgpu"), -EWOULDBLOCK);
		CHECK_EQ(module_remove("depq"), -EWOULDBLOCK);
		close(fd);
		CHECK_EQ(fence_wait(exec.out_fence, 20000), 1);
		close(exec.out_fence);
		CHECK(device_usable());
	}
}

/* A mapping keeps the file, and so the module. */
static void removal_mapped(void)
{
	int fd = sim_open();
	uint32_t object = sim_object(fd, 4096);
	void *area = sim_map(fd, object, 4096, PROT_READ);

	CHECK(area != MAP_FAILED);
	close(fd);
	CHECK_EQ(module_remove("simgpu"), -EWOULDBLOCK);
	munmap(area, 4096);
}

/*
 * The fence of a job belongs to the queue layer, but its reader may ask it for the
 * name of a timeline at any time: even a signalled fence must not outlive the
 * code that it calls.
 */
static void removal_fence_out(void)
{
	for (uint32_t design = 0; design < 2; design++) {
		struct simgpu_exec exec = { .flags = SIMGPU_EXEC_FENCE_OUT,
					    .duration_ns = 1000 };
		struct simgpu_create create = { .design = design };
		int fd = sim_open(), context = sim_create(fd, &create), ret;

		CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0), 0);
		CHECK_EQ(fence_wait(exec.out_fence, 20000), 1);
		close(fd);
		/* drm_sched's fence holds the engine's, so one remains. */
		CHECK(live_wait("contexts", 0));
		/* drm_sched's fences belong to gpu-sched.ko, depq's to ours. */
		ret = module_remove(design ? "depq" : "gpu_sched");
		CHECK_EQ(ret, -EWOULDBLOCK);
		close(exec.out_fence);
	}
}

static void reload(void)
{
	int ret = module_remove_patiently("simgpu");

	if (!CHECK_EQ(ret, 0))
		return;
	CHECK(access(sim_node(), F_OK) != 0);
	CHECK_EQ(module_load(), 0);
}

/* Removal right after a close waits for what is in flight. */
static void removal_in_flight(void)
{
	struct simgpu_exec execs[3] = { { .duration_ns = 1000 },
					{ .fault = SIMGPU_FAULT_HANG },
					{ .duration_ns = 1000 } };
	struct variant v;

	if (access(sim_node(), F_OK)) {
		tap_skip("the module is not loaded");
		return;
	}
	for (unsigned int i = variant_next(0, &v); i < VARIANTS;
	     i = variant_next(i + 5, &v)) {
		int fd = sim_open(), context;

		/* An object held only by the context, on the shrinker's list. */
		v.create.memory = sim_object(fd, 4096);
		CHECK_EQ(sim_advise(fd, v.create.memory, SIMGPU_GEM_DONTNEED),
			 1);
		context = sim_create(fd, &v.create);
		CHECK_EQ(sim_submit(fd, (uint32_t)context, execs, 3, 0), 0);
		close(fd);
		CHECK_EQ(module_remove_patiently("simgpu"), 0);
		if (!CHECK_EQ(module_load(), 0))
			return;
	}
}

/* Counters of an engine. */
struct engine_counters {
	unsigned long long order, interrupts, completed, busy_ns, deferred;
};

/* Reads those of the first engine. */
static struct engine_counters engine_counters(void)
{
	struct engine_counters c = { 0 };
	FILE *file = fopen("/sys/kernel/debug/simgpu/engines", "re");
	char heading[128];

	if (CHECK(file)) {
		CHECK(fgets(heading, sizeof(heading), file));
		CHECK_EQ(fscanf(file, "0 %llu %llu %llu %llu %llu", &c.order,
				&c.interrupts, &c.completed, &c.busy_ns,
				&c.deferred), 5);
		fclose(file);
	}
	return c;
}

static bool reload_with(const char *parameters)
{
	if (access(sim_node(), F_OK)) {
		tap_skip("the module is not loaded");
		return false;
	}
	return CHECK_EQ(module_remove_patiently("simgpu"), 0) &&
	       CHECK_EQ(module_load_with(parameters), 0);
}

/* Runs jobs of 20 us in one submission, and returns the record of each. */
static void run_jobs(uint32_t design, struct simgpu_record *records,
		     unsigned int n)
{
	struct simgpu_create create = { .design = design };
	int fd = sim_open(), context = sim_create(fd, &create);
	struct simgpu_exec execs[8] = { 0 };
	uint64_t first = 1;

	for (unsigned int i = 0; i < n; i++)
		execs[i].duration_ns = 20 * SIM_USEC;
	CHECK_EQ(sim_submit(fd, (uint32_t)context, execs, n, 0), 0);
	CHECK_EQ(sim_wait(fd, (uint32_t)context, execs[n - 1].seqno,
			  SIM_PATIENCE, NULL), 0);
	CHECK_EQ(sim_read(fd, (uint32_t)context, &first, records, n), (int)n);
	close(fd);
}

static void completion_where(void)
{
	static const char *const ways[] = { "hardirq", "thread", "work" };

	for (unsigned int way = 0; way < ARRAY_SIZE(ways); way++) {
		char parameters[32];

		snprintf(parameters, sizeof(parameters), "completion=%s",
			 ways[way]);
		if (!reload_with(parameters))
			return;
		for (uint32_t design = 0; design < SIMGPU_DESIGN_COUNT;
		     design++) {
			struct engine_counters before = engine_counters(), now;
			struct simgpu_record record = { 0 };

			run_jobs(design, &record, 1);
			now = engine_counters();
			CHECK_EQ(now.interrupts - before.interrupts, 1);
			CHECK_EQ(now.deferred - before.deferred, way ? 1 : 0);
			CHECK(record.t_done >= record.t_hw);
		}
		CHECK(device_usable());
	}
	reload_with("");
}

/* An engine interrupts once for this many jobs, or for those of 2 ms. */
static void coalesced(void)
{
	const unsigned int jobs = 8;

	for (unsigned int each = 1; each <= 4; each *= 4) {
		struct simgpu_record records[8] = { 0 };
		char parameters[48];

		snprintf(parameters, sizeof(parameters),
			 "coalesce_jobs=%u coalesce_us=2000", each);
		if (!reload_with(parameters))
			return;
		for (uint32_t design = 0; design < SIMGPU_DESIGN_COUNT;
		     design++) {
			struct engine_counters before = engine_counters(), now;
			uint64_t late;

			run_jobs(design, records, jobs);
			now = engine_counters();
			CHECK_EQ(now.completed - before.completed, jobs);
			CHECK_EQ(now.interrupts - before.interrupts,
				 jobs / each);
			/* The engine did not wait for its interrupts. */
			for (unsigned int i = 1; each > 1 && i < jobs; i++)
				CHECK(records[i].t_hw - records[i - 1].t_hw <
				      500 * SIM_USEC);
			/* A single job has to wait, but no longer than that. */
			run_jobs(design, records, 1);
			late = records[0].t_done - records[0].t_hw;
			CHECK_EQ(late >= 2 * SIM_MSEC, each > 1);
			CHECK(late < 4 * SIM_MSEC);
		}
	}
	reload_with("");
}

static void bad_parameters(void)
{
	static const char *const bad[] = {
		"completion=softirq", "completion=", "coalesce_jobs=0",
		"coalesce_jobs=257", "coalesce_us=0", "coalesce_us=10001",
		"engines=0", "engines=65",
	};

	if (access(sim_node(), F_OK)) {
		tap_skip("the module is not loaded");
		return;
	}
	CHECK_EQ(module_remove_patiently("simgpu"), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(module_load_with(bad[i]), -EINVAL);
	CHECK_EQ(module_load(), 0);
}

/* A reset that fails: all fails with -ENODEV, until the module is loaded. */
static void gone(void)
{
	struct simgpu_create create = { .timeout_us = 1000 };

	if (access(sim_node(), F_OK)) {
		tap_skip("the module is not loaded");
		return;
	}
	for (create.design = 0; create.design < 2; create.design++) {
		struct simgpu_exec exec = { .fault = SIMGPU_FAULT_GONE };
		int fd = sim_open(), context = sim_create(fd, &create);
		int error = 1;

		CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0), 0);
		CHECK_EQ(sim_wait(fd, (uint32_t)context, exec.seqno,
				  SIM_PATIENCE, &error), 0);
		CHECK(error == -ENODEV || error == -ETIME);
		exec.fault = 0;
		CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0),
			 -ENODEV);
		CHECK_EQ(sim_create(fd, &create), -ENODEV);
		close(fd);
		CHECK_EQ(module_remove_patiently("simgpu"), 0);
		if (!CHECK_EQ(module_load(), 0))
			return;
	}
}

const struct test_case module_cases[] = {
	{ "the module stays while it is used", removal_in_use },
	{ "the module stays while its memory is mapped", removal_mapped },
	{ "a signalled fence keeps the code that made it", removal_fence_out },
	{ "the module goes when idle, and comes again", reload, true },
	{ "removal waits for jobs in flight", removal_in_flight, true },
	{ "fences are signalled where completion= says", completion_where,
	  true },
	{ "one interrupt is for coalesce_jobs jobs", coalesced, true },
	{ "parameters out of range are refused", bad_parameters, true },
	{ "a device that is gone says so until it is loaded again", gone,
	  true },
	{ 0 },
};
