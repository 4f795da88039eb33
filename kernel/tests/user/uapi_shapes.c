// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: drm_sched in the shapes of drivers
 *
 * The differences between shapes: who shares a scheduler and a
 * workqueue, whom a stop affects, which priority goes first, and which jobs a hang
 * cancels.
 */

#include "uapi.h"

#define SIM_SCHEDULERS	"/sys/kernel/debug/simgpu/schedulers"
#define LONG_NS		(50 * SIM_MSEC)

/* Returns the arguments for a context of a shape. */
static struct simgpu_create shaped(uint32_t shape)
{
	return (struct simgpu_create){ .shape = shape };
}

static const char *const shapes[] = {
	[SIMGPU_SHAPE_NONE] = "none", [SIMGPU_SHAPE_XE] = "xe",
	[SIMGPU_SHAPE_PANTHOR] = "panthor", [SIMGPU_SHAPE_AMDGPU] = "amdgpu",
};

/* Whether to skip the case, as the kernel is too old for some shapes. */
static bool refused(void)
{
	const struct variant xe = { .create = shaped(SIMGPU_SHAPE_XE) };

	if (!variant_refused(&xe))
		return false;
	tap_skip(VARIANT_REFUSED);
	return true;
}

/* Two contexts of a shape on one engine. */
struct pair {
	int fd;
	uint32_t a, b;
};

static struct pair pair_open(uint32_t shape, uint32_t timeout_us)
{
	struct simgpu_create create = shaped(shape);
	struct pair pair = { .fd = sim_open() };
	int a, b;

	create.timeout_us = timeout_us;
	a = sim_create(pair.fd, &create);
	b = sim_create(pair.fd, &create);
	if (a <= 0 || b <= 0)
		tap_fail("%s: contexts %d and %d", shapes[shape], a, b);
	pair.a = (uint32_t)a;
	pair.b = (uint32_t)b;
	return pair;
}

static uint64_t submit(int fd, uint32_t context, struct simgpu_exec exec)
{
	CHECK_EQ(sim_submit(fd, context, &exec, 1, 0), 0);
	return exec.seqno;
}

/* Returns the error of a job, once it is done. */
static int error_of(int fd, uint32_t context, uint64_t seqno)
{
	int error = 1;

	CHECK_EQ(sim_wait(fd, context, seqno, SIM_PATIENCE, &error), 0);
	return error;
}

/* The scheduler and workqueue of a context, from debugfs. */
struct place {
	unsigned int scheduler;
	char workqueue[16];
};

static struct place place_of(uint32_t context)
{
	struct place place = { 0 }, at;
	FILE *file = fopen(SIM_SCHEDULERS, "re");
	unsigned int id;
	char line[128];

	if (!file) {
		tap_fail("%s: %s", SIM_SCHEDULERS, strerror(errno));
		return place;
	}
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*u %u %u %15s", &id, &at.scheduler,
			   at.workqueue) == 3 && id == context)
			place = at;
	fclose(file);
	if (!place.scheduler)
		tap_fail("context %u is not in %s", context, SIM_SCHEDULERS);
	return place;
}

static void shares(void)
{
	static const struct {
		uint32_t shape;
		bool one_scheduler;
		const char *workqueue;
	} expected[] = {
		{ SIMGPU_SHAPE_NONE, false, "own" },
		{ SIMGPU_SHAPE_XE, false, "own" },
		{ SIMGPU_SHAPE_PANTHOR, false, "unbound" },
		{ SIMGPU_SHAPE_AMDGPU, true, "own" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(expected) && !refused(); i++) {
		struct pair pair = pair_open(expected[i].shape, 0);
		struct place a = place_of(pair.a), b = place_of(pair.b);

		if ((a.scheduler == b.scheduler) != expected[i].one_scheduler ||
		    strcmp(a.workqueue, expected[i].workqueue) ||
		    strcmp(b.workqueue, expected[i].workqueue))
			tap_fail("%s: scheduler %u on %s, %u on %s",
				 shapes[expected[i].shape], a.scheduler,
				 a.workqueue, b.scheduler, b.workqueue);
		close(pair.fd);
		live_wait_zero();
	}
}

/* Whether a job of one context is held back while the other is stopped. */
static bool stopped_by_other(uint32_t shape)
{
	struct pair pair = pair_open(shape, 0);
	uint64_t seqno;
	int ret;

	CHECK_EQ(sim_control(pair.fd, pair.a, SIMGPU_CONTROL_STOP, 0), 0);
	seqno = submit(pair.fd, pair.b, (struct simgpu_exec){ 0 });
	ret = sim_wait(pair.fd, pair.b, seqno, 20 * SIM_MSEC, NULL);
	CHECK_EQ(sim_control(pair.fd, pair.a, SIMGPU_CONTROL_START, 0), 0);
	CHECK_EQ(error_of(pair.fd, pair.b, seqno), 0);
	close(pair.fd);
	live_wait_zero();
	return ret == -ETIME;
}

static void stops(void)
{
	if (refused())
		return;
	CHECK(!stopped_by_other(SIMGPU_SHAPE_XE));
	CHECK(!stopped_by_other(SIMGPU_SHAPE_PANTHOR));
	CHECK(stopped_by_other(SIMGPU_SHAPE_AMDGPU));
}

/* Returns the index of a finished job among the run_job calls of its engine. */
static uint64_t order_of(int fd, uint32_t context, uint64_t seqno)
{
	struct simgpu_record record = { 0 };

	CHECK_EQ(error_of(fd, context, seqno), 0);
	CHECK_EQ(sim_read(fd, context, &seqno, &record, 1), 1);
	return record.order;
}

/* Submitted from the least to the most urgent, they run in reverse order. */
static void priorities(void)
{
	static const uint32_t rising[] = { SIMGPU_PRIORITY_LOW,
					   SIMGPU_PRIORITY_NORMAL,
					   SIMGPU_PRIORITY_HIGH };
	struct simgpu_create create = shaped(SIMGPU_SHAPE_AMDGPU);
	uint32_t contexts[ARRAY_SIZE(rising)];
	uint64_t order[ARRAY_SIZE(rising)];
	int fd = sim_open();

	for (size_t i = 0; i < ARRAY_SIZE(rising); i++) {
		create.priority = rising[i];
		contexts[i] = (uint32_t)sim_create(fd, &create);
	}
	CHECK_EQ(sim_control(fd, contexts[0], SIMGPU_CONTROL_STOP, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rising); i++)
		submit(fd, contexts[i], (struct simgpu_exec){ 0 });
	CHECK_EQ(sim_control(fd, contexts[0], SIMGPU_CONTROL_START, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rising); i++)
		order[i] = order_of(fd, contexts[i], 1);
	CHECK(order[2] < order[1] && order[1] < order[0]);
	close(fd);
}

/* Returns how many jobs of two contexts, with four each, the engine gets. */
static unsigned int given(uint32_t shape)
{
	struct pair pair = pair_open(shape, 0);
	struct simgpu_stats a, b;
	uint64_t last_a = 0, last_b = 0;

	for (int i = 0; i < 4; i++) {
		struct simgpu_exec exec = { .duration_ns = LONG_NS };

		last_a = submit(pair.fd, pair.a, exec);
		last_b = submit(pair.fd, pair.b, exec);
	}
	sleep_ns(LONG_NS / 2);
	CHECK_EQ(sim_stats(pair.fd, pair.a, &a), 0);
	CHECK_EQ(sim_stats(pair.fd, pair.b, &b), 0);
	CHECK_EQ(error_of(pair.fd, pair.a, last_a), 0);
	CHECK_EQ(error_of(pair.fd, pair.b, last_b), 0);
	close(pair.fd);
	live_wait_zero();
	return a.pending + b.pending;
}

static void limits(void)
{
	if (refused())
		return;
	CHECK_EQ(given(SIMGPU_SHAPE_XE), 8);
	CHECK_EQ(given(SIMGPU_SHAPE_PANTHOR), 8);
	CHECK_EQ(given(SIMGPU_SHAPE_AMDGPU), 2);
}

/*
 * The first context hangs, the second has a job behind it on the engine, and
 * both have one that depends on a fence and so is not on the engine.
 */
struct hang {
	struct simgpu_stats stats;
	int guilty, behind, guilty_later, other_later;
};

static struct hang hang(uint32_t shape)
{
	struct pair pair = pair_open(shape, 20000);
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ,
					.engine = 1 };
	uint32_t gate = (uint32_t)sim_create(pair.fd, &create);
	struct simgpu_dep dep = { .kind = SIMGPU_DEP_JOB, .context = gate };
	struct simgpu_exec later = { .n_deps = 1, .deps = (uintptr_t)&dep };
	uint64_t bad, behind, a, b;
	struct hang hang;

	CHECK_EQ(sim_control(pair.fd, gate, SIMGPU_CONTROL_STOP, 0), 0);
	dep.seqno = submit(pair.fd, gate, (struct simgpu_exec){ 0 });
	bad = submit(pair.fd, pair.a,
		     (struct simgpu_exec){ .fault = SIMGPU_FAULT_HANG });
	sleep_ns(SIM_MSEC);
	behind = submit(pair.fd, pair.b, (struct simgpu_exec){ 0 });
	a = submit(pair.fd, pair.a, later);
	b = submit(pair.fd, pair.b, later);
	hang.guilty = error_of(pair.fd, pair.a, bad);
	hang.behind = error_of(pair.fd, pair.b, behind);
	/* The verdict is written just after the fence signals. */
	for (int i = 0; i < 1000; i++) {
		CHECK_EQ(sim_stats(pair.fd, pair.a, &hang.stats), 0);
		if (hang.stats.banned)
			break;
		sleep_ns(SIM_MSEC);
	}
	CHECK_EQ(sim_submit(pair.fd, pair.a, &(struct simgpu_exec){ 0 }, 1, 0),
		 -ENODEV);
	CHECK_EQ(sim_control(pair.fd, gate, SIMGPU_CONTROL_START, 0), 0);
	hang.guilty_later = error_of(pair.fd, pair.a, a);
	hang.other_later = error_of(pair.fd, pair.b, b);
	/* The other context still works. */
	b = submit(pair.fd, pair.b, (struct simgpu_exec){ 0 });
	CHECK_EQ(error_of(pair.fd, pair.b, b), 0);
	close(pair.fd);
	live_wait_zero();
	return hang;
}

static void hangs(void)
{
	for (uint32_t shape = SIMGPU_SHAPE_XE;
	     shape <= SIMGPU_SHAPE_AMDGPU && !refused(); shape++) {
		bool ring = shape == SIMGPU_SHAPE_AMDGPU;
		struct hang is = hang(shape);

		if (is.guilty != -ETIME || is.behind != (ring ? -ECANCELED : 0) ||
		    is.guilty_later != (ring ? -ECANCELED : -ENODEV) ||
		    is.other_later || is.stats.timedout != 1)
			tap_fail("%s: guilty %d, behind it %d, later %d and %d, %llu resets",
				 shapes[shape], is.guilty, is.behind,
				 is.guilty_later, is.other_later,
				 (unsigned long long)is.stats.timedout);
	}
}

/* A timeout of a job that is alive, or done but lost, cancels no job. */
static void false_alarms(void)
{
	for (uint32_t shape = SIMGPU_SHAPE_XE;
	     shape <= SIMGPU_SHAPE_AMDGPU && !refused(); shape++) {
		struct pair pair = pair_open(shape, 20000);
		struct simgpu_exec slow = { .duration_ns = 50 * SIM_MSEC };
		struct simgpu_exec lost = { .fault = SIMGPU_FAULT_LOST };
		uint64_t a = submit(pair.fd, pair.a, slow);
		uint64_t b = submit(pair.fd, pair.b, lost);
		struct simgpu_stats stats;

		CHECK_EQ(sim_control(pair.fd, pair.a, SIMGPU_CONTROL_TIMEOUT, 0),
			 0);
		CHECK_EQ(error_of(pair.fd, pair.a, a), 0);
		CHECK_EQ(error_of(pair.fd, pair.b, b), 0);
		CHECK_EQ(sim_stats(pair.fd, pair.a, &stats), 0);
		CHECK_EQ(stats.banned, 0);
		if (!stats.no_hang || stats.timedout)
			tap_fail("%s: %llu alarms, %llu resets", shapes[shape],
				 (unsigned long long)stats.no_hang,
				 (unsigned long long)stats.timedout);
		close(pair.fd);
	}
}

static void refusals(void)
{
	static const struct simgpu_create bad[] = {
		{ .shape = SIMGPU_SHAPE_AMDGPU + 1 },
		{ .shape = ~0u },
		{ .shape = SIMGPU_SHAPE_AMDGPU, .flags = SIMGPU_CREATE_SHARED },
		{ .shape = SIMGPU_SHAPE_XE, .flags = SIMGPU_CREATE_HIGHPRI },
		{ .shape = SIMGPU_SHAPE_XE, .design = SIMGPU_DESIGN_DEPQ },
		{ .shape = SIMGPU_SHAPE_XE, .design = SIMGPU_DESIGN_NONE },
		{ .shape = SIMGPU_SHAPE_XE, .priority = SIMGPU_PRIORITY_HIGH },
		{ .shape = SIMGPU_SHAPE_PANTHOR,
		  .priority = SIMGPU_PRIORITY_LOW },
	};
	int fd = sim_open();

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (sim_create(fd, &bad[i]) != -EINVAL)
			tap_fail("number %zu was not refused", i);
	close(fd);
}

const struct test_case shapes_cases[] = {
	{ "shapes share schedulers and workqueues as drivers do", shares },
	{ "a stop of one queue stops its neighbour in the shape of amdgpu only",
	  stops },
	{ "in the shape of amdgpu the higher priority goes first", priorities },
	{ "in the shape of amdgpu the limit of credits is the scheduler's",
	  limits },
	{ "a hang takes along jobs of others in the shape of amdgpu only",
	  hangs },
	{ "a false alarm cancels no job, in each shape", false_alarms },
	{ "shapes are refused with what they decide themselves", refusals },
	{ 0 },
};
