// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: every field of every struct, out of its range and at its edges
 *
 * Each line of a table takes good arguments, writes one value into one field
 * and names the expected errno. Rejected calls must leave no
 * trace: no job submitted, no context created.
 */

#include <stddef.h>

#include "uapi.h"

struct bad {
	const char *what;
	size_t at, width;
	uint64_t value;
	int want;
};

#define FIELD(type, field, value, want)					\
	{ #type "." #field " = " #value, offsetof(struct simgpu_##type, field), \
	  sizeof(((struct simgpu_##type *)0)->field), (uint64_t)(value), want }

#define MAX32 0xffffffffu
#define MAX64 0xffffffffffffffffull

static void put_field(void *base, const struct bad *bad)
{
	memcpy((char *)base + bad->at, &bad->value, bad->width);
}

static const struct bad bad_info[] = {
	FIELD(info, pad, 1, -EINVAL),
	FIELD(info, pad, MAX32, -EINVAL),
	FIELD(info, version, MAX32, 0),
	FIELD(info, engines, MAX32, 0),
	{ 0 },
};

/* Of a depq context; the engine number is tried in create_pairs(). */
static const struct bad bad_create[] = {
	FIELD(create, design, SIMGPU_DESIGN_COUNT, -EINVAL),
	FIELD(create, design, MAX32, -EINVAL),
	FIELD(create, flags, SIMGPU_CREATE_FREE_SLEEPS, 0),
	FIELD(create, flags, SIMGPU_CREATE_FAIR, 0),
	FIELD(create, flags, 32, -EINVAL),
	FIELD(create, flags, 0x80000000u, -EINVAL),
	FIELD(create, flags, MAX32, -EINVAL),
	FIELD(create, flags, SIMGPU_CREATE_SHARED, -EINVAL),
	FIELD(create, flags, SIMGPU_CREATE_HIGHPRI, -EINVAL),
	FIELD(create, flags, SIMGPU_CREATE_BYPASS, 0),
	FIELD(create, put, 4, -EINVAL),
	FIELD(create, put, MAX32, -EINVAL),
	FIELD(create, put, SIMGPU_PUT_SUBMIT, 0),
	FIELD(create, put, SIMGPU_PUT_AUTO, 0),
	FIELD(create, worker, 6, -EINVAL),
	FIELD(create, worker, MAX32, -EINVAL),
	FIELD(create, worker, SIMGPU_WORKER_KTHREAD, 0),
	FIELD(create, worker, SIMGPU_WORKER_FOLLOW_MIN, 0),
	FIELD(create, share, 3, -EINVAL),
	FIELD(create, share, MAX32, -EINVAL),
	FIELD(create, share, SIMGPU_SHARE_DEVICE, 0),
	FIELD(create, engine, MAX32, -EINVAL),
	FIELD(create, engine, 0x80000000u, -EINVAL),
	FIELD(create, priority, 1, -EINVAL),
	FIELD(create, priority, MAX32, -EINVAL),
	FIELD(create, credit_limit, 1, 0),
	FIELD(create, credit_limit, 65536, 0),
	FIELD(create, credit_limit, 65537, -EINVAL),
	FIELD(create, credit_limit, MAX32, -EINVAL),
	FIELD(create, ring, 1, -EINVAL),
	FIELD(create, ring, 2, 0),
	FIELD(create, ring, 3, -EINVAL),
	FIELD(create, ring, 65535, -EINVAL),
	FIELD(create, ring, 65536, 0),
	FIELD(create, ring, 65537, -EINVAL),
	FIELD(create, ring, 131072, -EINVAL),
	FIELD(create, ring, 0x80000000u, -EINVAL),
	FIELD(create, ring, MAX32, -EINVAL),
	FIELD(create, timeout_us, 1, 0),
	FIELD(create, timeout_us, 60000000, 0),
	FIELD(create, timeout_us, 60000001, -EINVAL),
	FIELD(create, timeout_us, MAX32, -EINVAL),
	FIELD(create, hang_limit, 1000, 0),
	FIELD(create, hang_limit, 1001, -EINVAL),
	FIELD(create, hang_limit, MAX32, -EINVAL),
	FIELD(create, free_cost_ns, 1000000, 0),
	FIELD(create, free_cost_ns, 1000001, -EINVAL),
	FIELD(create, free_cost_ns, MAX32, -EINVAL),
	FIELD(create, shape, SIMGPU_SHAPE_XE, -EINVAL),
	{ 0 },
};

static const struct bad bad_create_drm[] = {
	FIELD(create, shape, SIMGPU_SHAPE_AMDGPU, 0),
	FIELD(create, shape, SIMGPU_SHAPE_AMDGPU + 1, -EINVAL),
	FIELD(create, shape, MAX32, -EINVAL),
	FIELD(create, memory, 999, -ENOENT),
	FIELD(create, pad, 1, -EINVAL),
	FIELD(create, flags, SIMGPU_CREATE_BYPASS, -EINVAL),
	FIELD(create, flags, SIMGPU_CREATE_FREE_SLEEPS, 0),
	FIELD(create, flags, SIMGPU_CREATE_FAIR, -EINVAL),
	FIELD(create, flags, 32, -EINVAL),
	FIELD(create, flags, SIMGPU_CREATE_SHARED, 0),
	FIELD(create, flags, SIMGPU_CREATE_HIGHPRI, 0),
	FIELD(create, put, 1, -EINVAL),
	FIELD(create, worker, 1, -EINVAL),
	FIELD(create, share, 1, -EINVAL),
	FIELD(create, priority, SIMGPU_PRIORITY_HIGH, -EINVAL),
	FIELD(create, priority, 3, -EINVAL),
	FIELD(create, ring, 3, -EINVAL),
	FIELD(create, credit_limit, 65537, -EINVAL),
	FIELD(create, engine, MAX32, -EINVAL),
	{ 0 },
};

static const struct bad bad_create_shared[] = {
	FIELD(create, priority, SIMGPU_PRIORITY_HIGH, 0),
	FIELD(create, priority, SIMGPU_PRIORITY_LOW, 0),
	FIELD(create, priority, 3, -EINVAL),
	FIELD(create, priority, MAX32, -EINVAL),
	{ 0 },
};

static const struct bad bad_destroy[] = {
	FIELD(destroy, context, 0, -ENOENT),
	FIELD(destroy, context, 999, -ENOENT),
	FIELD(destroy, context, MAX32, -ENOENT),
	FIELD(destroy, pad, 1, -EINVAL),
	{ 0 },
};

static const struct bad bad_submit[] = {
	FIELD(submit, context, 0, -ENOENT),
	FIELD(submit, context, 999, -ENOENT),
	FIELD(submit, context, MAX32, -ENOENT),
	FIELD(submit, flags, 2, -EINVAL),
	FIELD(submit, flags, MAX32, -EINVAL),
	FIELD(submit, n_execs, 0, -EINVAL),
	FIELD(submit, n_execs, 257, -EINVAL),
	FIELD(submit, n_execs, MAX32, -EINVAL),
	FIELD(submit, exec_size, 0, -EINVAL),
	FIELD(submit, exec_size, 8, -EINVAL),
	FIELD(submit, exec_size, offsetof(struct simgpu_exec, out_point) - 1,
	      -EINVAL),
	FIELD(submit, execs, 0, -EFAULT),
	FIELD(submit, execs, MAX64, -EFAULT),
	FIELD(submit, execs, 0xffff800000000000ull, -EFAULT),
	FIELD(submit, n_objects, 1, -EFAULT),
	FIELD(submit, n_objects, 65, -EINVAL),
	FIELD(submit, pad, 1, -EINVAL),
	{ 0 },
};

static const struct bad bad_wait[] = {
	FIELD(wait, context, 0, -ENOENT),
	FIELD(wait, context, MAX32, -ENOENT),
	FIELD(wait, pad, 1, -EINVAL),
	FIELD(wait, pad2, 1, -EINVAL),
	FIELD(wait, seqno, 0, -ENOENT),
	FIELD(wait, seqno, 999, -ENOENT),
	FIELD(wait, seqno, 0x100000001ull, -ENOENT),
	FIELD(wait, seqno, 1ull << 63, -ENOENT),
	FIELD(wait, seqno, MAX64, -ENOENT),
	FIELD(wait, timeout_ns, 0, 0),
	FIELD(wait, timeout_ns, 1ull << 63, 0),
	FIELD(wait, timeout_ns, MAX64, 0),
	{ 0 },
};

static const struct bad bad_read[] = {
	FIELD(read, context, 0, -ENOENT),
	FIELD(read, context, MAX32, -ENOENT),
	FIELD(read, record_size, 0, -EINVAL),
	FIELD(read, record_size, sizeof(struct simgpu_record) - 1, -EINVAL),
	FIELD(read, first, 999, 0),
	FIELD(read, first, MAX64, 0),
	FIELD(read, first, 0, 0),
	FIELD(read, n, 0, 0),
	FIELD(read, n, MAX32, 0), /* one record is read: there is no more */
	FIELD(read, pad, 1, -EINVAL),
	FIELD(read, records, 0, -EFAULT),
	FIELD(read, records, 0xffff800000000000ull, -EFAULT),
	FIELD(read, records, MAX64, -EFAULT),
	{ 0 },
};

static const struct bad bad_stats[] = {
	FIELD(stats, context, 0, -ENOENT),
	FIELD(stats, context, MAX32, -ENOENT),
	FIELD(stats, pad, 1, -EINVAL),
	{ 0 },
};

static const struct bad bad_inject[] = {
	FIELD(inject, context, 0, -ENOENT),
	FIELD(inject, context, MAX32, -ENOENT),
	FIELD(inject, fault, SIMGPU_FAULT_COUNT, -EINVAL),
	FIELD(inject, fault, MAX32, -EINVAL),
	FIELD(inject, fault_arg, 1, -EINVAL),
	{ 0 },
};

static const struct bad bad_control[] = {
	FIELD(control, context, 0, -ENOENT),
	FIELD(control, context, MAX32, -ENOENT),
	FIELD(control, command, SIMGPU_CONTROL_COUNT, -EINVAL),
	FIELD(control, command, MAX32, -EINVAL),
	FIELD(control, command, SIMGPU_CONTROL_STOP, -EINVAL), /* arg is 1 */
	FIELD(control, command, SIMGPU_CONTROL_TIMEOUT, -EINVAL),
	{ 0 },
};

static const struct bad bad_gem_create[] = {
	FIELD(gem_create, size, 0, -EINVAL),
	FIELD(gem_create, size, SIMGPU_OBJECT_BYTES_MAX + 1, -EINVAL),
	FIELD(gem_create, size, MAX64, -EINVAL),
	FIELD(gem_create, handle, 1, -EINVAL),
	FIELD(gem_create, flags, 1, -EINVAL),
	{ 0 },
};

static const struct bad bad_gem_mmap[] = {
	FIELD(gem_mmap, handle, 0, -ENOENT),
	FIELD(gem_mmap, handle, 999, -ENOENT),
	FIELD(gem_mmap, handle, MAX32, -ENOENT),
	FIELD(gem_mmap, pad, 1, -EINVAL),
	{ 0 },
};

static const struct bad bad_gem_madvise[] = {
	FIELD(gem_madvise, handle, 0, -ENOENT),
	FIELD(gem_madvise, handle, 999, -ENOENT),
	FIELD(gem_madvise, handle, MAX32, -ENOENT),
	FIELD(gem_madvise, advice, SIMGPU_GEM_DONTNEED, 0),
	FIELD(gem_madvise, advice, SIMGPU_GEM_DONTNEED + 1, -EINVAL),
	FIELD(gem_madvise, advice, MAX32, -EINVAL),
	FIELD(gem_madvise, retained, MAX32, 0),
	FIELD(gem_madvise, pad, 1, -EINVAL),
	{ 0 },
};

static const struct bad *const bad_fields[CALLS] = {
	bad_info, bad_create, bad_destroy, bad_submit, bad_wait,
	bad_read, bad_stats, bad_inject, bad_control, bad_gem_create,
	bad_gem_mmap, bad_gem_madvise,
};

static void all_fields(void)
{
	static union any_arg arg;
	struct bench bench;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	for (unsigned int i = 0; i < CALLS; i++) {
		for (const struct bad *bad = bad_fields[i]; bad->what; bad++) {
			int got;

			memset(&arg, 0, sizeof(arg));
			calls[i].fill(&bench, &arg);
			put_field(&arg, bad);
			got = sim_ioctl(bench.fd, calls[i].request, &arg);
			if (got != bad->want)
				tap_fail("%s: %d, not %d", bad->what, got,
					 bad->want);
		}
	}
	CHECK_EQ(bench_submitted(&bench), 1);
	bench_close(&bench);
}

static void try_creates(int fd, const struct bad *bad, uint32_t flags)
{
	for (; bad->what; bad++) {
		struct simgpu_create create = { .flags = flags };
		int got;

		put_field(&create, bad);
		got = sim_create(fd, &create);
		if (got > 0)
			CHECK_EQ(sim_destroy(fd, (uint32_t)got), 0);
		got = got > 0 ? 0 : got;
		if (got != bad->want)
			tap_fail("drm_sched, %s: %d, not %d", bad->what, got,
				 bad->want);
	}
}

static void create_pairs(void)
{
	int fd = sim_open();
	struct simgpu_create create = { 0 };

	if (fd < 0)
		return;
	try_creates(fd, bad_create_drm, 0);
	try_creates(fd, bad_create_shared, SIMGPU_CREATE_SHARED);
	create.engine = sim_engines(fd);
	CHECK(create.engine > 0);
	CHECK_EQ(sim_create(fd, &create), -EINVAL);
	create.engine--;
	CHECK(sim_create(fd, &create) > 0);
	/* A queue that decides itself must not be told who runs its jobs. */
	create.design = SIMGPU_DESIGN_DEPQ;
	create.put = SIMGPU_PUT_AUTO;
	CHECK(sim_create(fd, &create) > 0);
	create.flags = SIMGPU_CREATE_BYPASS;
	CHECK_EQ(sim_create(fd, &create), -EINVAL);
	close(fd);
}

/* Every variant that the kernel supports can be created, by hundreds, and works. */
static void create_all(void)
{
	struct variant v;
	int fd = sim_open();

	if (fd < 0)
		return;
	for_each_variant(i, &v) {
		struct simgpu_exec exec = { .duration_ns = 1000 };
		int context = sim_create(fd, &v.create), error = 1;

		if (context <= 0 ||
		    sim_submit(fd, (uint32_t)context, &exec, 1, 0) ||
		    sim_wait(fd, (uint32_t)context, 1, SIM_PATIENCE, &error) ||
		    error)
			tap_fail("%s: context %d, job's error %d", v.name,
				 context, error);
	}
	close(fd);
}

#define GOOD_CREDITS 64

static const struct bad bad_exec[] = {
	FIELD(exec, flags, SIMGPU_EXEC_SYNCOBJ_OUT, -ENOENT), /* of handle 0 */
	FIELD(exec, flags, 16, -EINVAL),
	FIELD(exec, flags, MAX32, -EINVAL),
	FIELD(exec, n_deps, 1, -EFAULT), /* of NULL */
	FIELD(exec, n_deps, 1025, -EINVAL),
	FIELD(exec, n_deps, MAX32, -EINVAL),
	FIELD(exec, duration_ns, 60 * SIM_SEC + 1, -EINVAL),
	FIELD(exec, duration_ns, MAX64, -EINVAL),
	FIELD(exec, duration_spread_ns, 60 * SIM_SEC + 1, -EINVAL),
	FIELD(exec, duration_spread_ns, MAX64, -EINVAL),
	FIELD(exec, run_cost_ns, 10 * SIM_MSEC + 1, -EINVAL),
	FIELD(exec, run_cost_ns, MAX64, -EINVAL),
	FIELD(exec, credits, GOOD_CREDITS + 1, -EINVAL),
	FIELD(exec, credits, MAX32, -EINVAL),
	FIELD(exec, fault, SIMGPU_FAULT_COUNT, -EINVAL),
	FIELD(exec, fault, MAX32, -EINVAL),
	FIELD(exec, fault_arg, 1, -EINVAL),
	FIELD(exec, write_offset, 4, -EINVAL), /* without the flag */
	FIELD(exec, write_value, 1, -EINVAL),
	FIELD(exec, out_syncobj, 1, -EINVAL), /* without the flag */
	FIELD(exec, out_syncobj, MAX32, -EINVAL),
	FIELD(exec, out_point, 1, -EINVAL),
	{ 0 },
};

static const struct bad bad_exec_write[] = {
	FIELD(exec, write_offset, 1, -EINVAL),
	FIELD(exec, write_offset, 2, -EINVAL),
	FIELD(exec, write_offset, SIM_MEMORY - 1, -EINVAL),
	FIELD(exec, write_offset, SIM_MEMORY, -EINVAL),
	FIELD(exec, write_offset, 0xfffffffcu, -EINVAL),
	{ 0 },
};

static void try_execs(struct bench *bench, const struct bad *bad,
		      uint32_t flags)
{
	for (; bad->what; bad++) {
		struct simgpu_exec exec = { .flags = flags,
					    .duration_ns = 1000 };
		struct simgpu_exec copy;
		int got;

		put_field(&exec, bad);
		copy = exec;
		got = sim_submit(bench->fd, bench->context, &exec, 1, 0);
		if (got != bad->want)
			tap_fail("%s: %d, not %d", bad->what, got, bad->want);
		if (got && memcmp(&exec, &copy, sizeof(exec)))
			tap_fail("%s: failed and wrote", bad->what);
	}
}

/* The largest and smallest argument of each fault, and one beyond. */
static void try_faults(struct bench *bench)
{
	static const struct {
		uint32_t fault;
		uint64_t arg;
	} bad[] = {
		{ SIMGPU_FAULT_HANG, 1 },	{ SIMGPU_FAULT_LOST, 1 },
		{ SIMGPU_FAULT_ERROR, 0 },	{ SIMGPU_FAULT_ERROR, 4096 },
		{ SIMGPU_FAULT_ERROR, MAX64 },	{ SIMGPU_FAULT_STORM, 0 },
		{ SIMGPU_FAULT_STORM, 1001 },	{ SIMGPU_FAULT_RUN_NULL, 1 },
		{ SIMGPU_FAULT_LATE, SIM_SEC + 1 },
		{ SIMGPU_FAULT_LATE, MAX64 },
		{ SIMGPU_FAULT_RUN_ERROR, 0 },	{ SIMGPU_FAULT_RUN_ERROR, 4096 },
		{ SIMGPU_FAULT_INSTANT, 1 },	{ SIMGPU_FAULT_DOUBLE, 1 },
		{ SIMGPU_FAULT_GONE, 1 },	{ SIMGPU_FAULT_NONE, 1 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct simgpu_exec exec = { .fault = bad[i].fault,
					    .fault_arg = bad[i].arg };
		struct simgpu_inject inject = { .context = bench->context,
						.fault = bad[i].fault,
						.fault_arg = bad[i].arg };
		int got = sim_submit(bench->fd, bench->context, &exec, 1, 0);

		if (got != -EINVAL)
			tap_fail("fault %u, argument %llu: %d", bad[i].fault,
				 (unsigned long long)bad[i].arg, got);
		got = sim_ioctl(bench->fd, SIMGPU_INJECT, &inject);
		if (got != -EINVAL)
			tap_fail("inject %u, argument %llu: %d", bad[i].fault,
				 (unsigned long long)bad[i].arg, got);
	}
}

static void exec_fields(void)
{
	for (uint32_t design = 0; design < SIMGPU_DESIGN_COUNT; design++) {
		struct bench bench;

		if (!bench_open(&bench, design))
			return;
		try_execs(&bench, bad_exec, 0);
		try_execs(&bench, bad_exec_write, SIMGPU_EXEC_WRITE);
		try_faults(&bench);
		CHECK_EQ(bench_submitted(&bench), 1);
		bench_close(&bench);
	}
}

static const struct bad bad_dep[] = {
	FIELD(dep, kind, 3, -EINVAL),
	FIELD(dep, kind, MAX32, -EINVAL),
	FIELD(dep, fd, 1, -EINVAL),
	FIELD(dep, context, 0, -ENOENT),
	FIELD(dep, context, 999, -ENOENT),
	FIELD(dep, context, MAX32, -ENOENT),
	FIELD(dep, handle, 1, -EINVAL),
	FIELD(dep, seqno, 0, -ENOENT),
	FIELD(dep, seqno, 999, -ENOENT),
	FIELD(dep, seqno, MAX64, -ENOENT),
	{ 0 },
};

static void dep_fields(void)
{
	struct bench bench;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	for (const struct bad *bad = bad_dep; bad->what; bad++) {
		struct simgpu_dep deps[2] = {
			{ .kind = SIMGPU_DEP_JOB, .context = bench.context,
			  .seqno = 1 },
			{ .kind = SIMGPU_DEP_JOB, .context = bench.context,
			  .seqno = 1 },
		};
		struct simgpu_exec exec = { .n_deps = 2,
					    .deps = (uintptr_t)deps };
		int got;

		put_field(&deps[1], bad);
		got = sim_submit(bench.fd, bench.context, &exec, 1, 0);
		if (got != bad->want)
			tap_fail("%s: %d, not %d", bad->what, got, bad->want);
	}
	CHECK_EQ(bench_submitted(&bench), 1);
	bench_close(&bench);
}

const struct test_case fields_cases[] = {
	{ "every field out of range has its errno", all_fields },
	{ "fields that do not go together are -EINVAL", create_pairs },
	{ "every design, flag, worker and put runs a job", create_all },
	{ "every field of a job out of range has its errno", exec_fields },
	{ "every field of a dependency out of range has its errno",
	  dep_fields },
	{ 0 },
};
