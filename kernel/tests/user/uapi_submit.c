// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: submissions: all or nothing, dependencies, faults, full rings
 */

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "uapi.h"

#define N 8

/* Submits and expects an error that leaves no trace at all. */
static void expect_none(struct bench *bench, struct simgpu_exec *execs,
			uint32_t n, int want, const char *what)
{
	static struct simgpu_exec copy[256];
	uint64_t before = bench_submitted(bench);
	int fds = fds_open(), got;

	memcpy(copy, execs, n * sizeof(*execs));
	got = sim_submit(bench->fd, bench->context, execs, n, 0);
	if (got != want)
		tap_fail("%s: %d, not %d", what, got, want);
	if (memcmp(copy, execs, n * sizeof(*execs)))
		tap_fail("%s: the jobs were written to", what);
	if (bench_submitted(bench) != before)
		tap_fail("%s: some jobs were submitted", what);
	if (fds_open() != fds)
		tap_fail("%s: descriptors were installed", what);
}

static void good_execs(struct simgpu_exec *execs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		execs[i] = (struct simgpu_exec){
			.flags = SIMGPU_EXEC_FENCE_OUT, .duration_ns = 1000,
			.out_fence = -77, .seqno = 77, .cookie = i,
		};
}

static void all_or_nothing(void)
{
	struct simgpu_dep dep = { .kind = SIMGPU_DEP_FENCE, .fd = -1 };
	struct simgpu_exec execs[N];

	for (uint32_t design = 0; design < 2; design++) {
		struct bench bench;

		if (!bench_open(&bench, design))
			return;
		for (uint32_t at = 0; at < N; at++) {
			good_execs(execs, N);
			execs[at].out_syncobj = 1;
			expect_none(&bench, execs, N, -EINVAL, "bad field");
			good_execs(execs, N);
			execs[at].n_deps = 1;
			expect_none(&bench, execs, N, -EFAULT, "bad deps");
			good_execs(execs, N);
			execs[at].n_deps = 1;
			execs[at].deps = (uintptr_t)&dep;
			expect_none(&bench, execs, N, -EBADF, "bad fence");
			good_execs(execs, N);
			execs[at].fault = SIMGPU_FAULT_ALLOC;
			expect_none(&bench, execs, N, -ENOMEM, "no memory");
			good_execs(execs, N);
			execs[at].credits = 100000;
			expect_none(&bench, execs, N, -EINVAL, "credits");
		}
		good_execs(execs, N);
		CHECK_EQ(sim_submit(bench.fd, bench.context, execs, N, 0), 0);
		for (uint32_t at = 0; at < N; at++) {
			CHECK_EQ(execs[at].seqno, at + 2);
			CHECK_EQ(fence_wait(execs[at].out_fence, 20000), 1);
			close(execs[at].out_fence);
		}
		bench_close(&bench);
	}
}

static void exec_memory(void)
{
	char *border = guard_border();
	size_t bytes = N * sizeof(struct simgpu_exec);
	struct simgpu_exec *execs = (void *)(border - bytes);
	struct bench bench;
	int fds;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	fds = fds_open();
	for (size_t over = 1; over <= bytes; over += 13) {
		static struct simgpu_exec good[N];

		good_execs(good, N);
		memcpy((char *)execs + over, good, bytes - over);
		CHECK_EQ(sim_submit(bench.fd, bench.context,
				    (void *)((char *)execs + over), N, 0),
			 -EFAULT);
	}
	/* Readable memory in which the results cannot be written. */
	good_execs(execs, N);
	mprotect(border - 4096, 4096, PROT_READ);
	CHECK_EQ(sim_submit(bench.fd, bench.context, execs, N, 0), -EFAULT);
	mprotect(border - 4096, 4096, PROT_READ | PROT_WRITE);
	CHECK_EQ(bench_submitted(&bench), 1);
	CHECK_EQ(fds_open(), fds);
	bench_close(&bench);
	guard_free(border);
}

/* A caller whose struct has more fields than the kernel's. */
static void exec_sizes(void)
{
	struct {
		struct simgpu_exec exec;
		uint64_t more;
	} execs[3];
	struct simgpu_submit submit;
	struct bench bench;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	memset(execs, 0, sizeof(execs));
	submit = (struct simgpu_submit){
		.context = bench.context, .n_execs = 3,
		.exec_size = sizeof(execs[0]), .execs = (uintptr_t)execs,
	};
	CHECK_EQ(sim_ioctl(bench.fd, SIMGPU_SUBMIT, &submit), 0);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_EQ(execs[i].exec.seqno, i + 2);
		CHECK_EQ(execs[i].exec.out_fence, -1);
		CHECK_EQ(execs[i].more, 0);
	}
	execs[2].more = 1;
	CHECK_EQ(sim_ioctl(bench.fd, SIMGPU_SUBMIT, &submit), -E2BIG);
	submit.exec_size = 0x7fffffff;
	CHECK(sim_ioctl(bench.fd, SIMGPU_SUBMIT, &submit) < 0);
	submit.exec_size = 0xffffffff;
	CHECK(sim_ioctl(bench.fd, SIMGPU_SUBMIT, &submit) < 0);
	CHECK_EQ(bench_submitted(&bench), 4);
	bench_close(&bench);
}

static void foreign_fds(void)
{
	struct simgpu_dep dep = { .kind = SIMGPU_DEP_FENCE };
	struct bench bench;
	int pair[2], fds[9], n = 0, closed;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	closed = dup(bench.fd);
	close(closed);
	CHECK_EQ(pipe(pair), 0);
	fds[n++] = pair[0];
	fds[n++] = pair[1];
	fds[n++] = socket(AF_UNIX, SOCK_STREAM, 0);
	fds[n++] = eventfd(0, 0);
	fds[n++] = epoll_create1(0);
	fds[n++] = open("/dev/null", O_RDWR);
	fds[n++] = open("/proc/self/exe", O_RDONLY);
	fds[n++] = open("/", O_PATH);
	fds[n++] = dup(bench.fd);
	for (int i = 0; i < n; i++) {
		struct simgpu_exec exec = { .n_deps = 1,
					    .deps = (uintptr_t)&dep };

		dep.fd = fds[i];
		expect_none(&bench, &exec, 1, -EBADF, "foreign descriptor");
		close(fds[i]);
	}
	for (int i = 0; i < 6; i++) {
		const int bad[] = { -1, -2, closed, 99999, INT32_MIN,
				    INT32_MAX };
		struct simgpu_exec exec = { .n_deps = 1,
					    .deps = (uintptr_t)&dep };

		dep.fd = bad[i];
		expect_none(&bench, &exec, 1, -EBADF, "no descriptor");
	}
	bench_close(&bench);
}

/* One fence through contexts of all designs and a second file. */
static void fence_relay(void)
{
	struct variant v;
	int fence = -1, from = sim_open(), to = sim_open(), last = 0;
	struct simgpu_exec exec = { 0 };
	struct simgpu_dep dep = { .kind = SIMGPU_DEP_FENCE };

	for_each_variant(i, &v) {
		int fd = i & 1 ? to : from, context;

		v.create.engine = i % sim_engines(fd);
		context = sim_create(fd, &v.create);
		dep.fd = fence;
		exec = (struct simgpu_exec){
			.flags = SIMGPU_EXEC_FENCE_OUT, .duration_ns = 2000,
			.n_deps = fence >= 0, .deps = (uintptr_t)&dep,
		};
		if (sim_submit(fd, (uint32_t)context, &exec, 1, 0))
			tap_fail("%s: cannot submit", v.name);
		if (fence >= 0)
			close(fence);
		fence = exec.out_fence;
		last = context;
	}
	CHECK(last > 0);
	CHECK_EQ(fence_wait(fence, 20000), 1);
	close(fence);
	close(from);
	close(to);
}

/* Many dependencies, most on the same contexts, and a chain. */
static void many_deps(void)
{
	static struct simgpu_dep deps[1024];
	static struct simgpu_exec execs[256];
	struct simgpu_exec exec;
	struct bench bench;
	int other, error = 1;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	other = sim_create_stopped(bench.fd, SIMGPU_DESIGN_DRM_SCHED);
	good_execs(execs, 256);
	for (uint32_t i = 0; i < 256; i++)
		execs[i].flags = i ? SIMGPU_EXEC_CHAIN : 0;
	CHECK_EQ(sim_submit(bench.fd, (uint32_t)other, execs, 256, 0), 0);
	for (uint32_t i = 0; i < 1024; i++)
		deps[i] = (struct simgpu_dep){ .kind = SIMGPU_DEP_JOB,
					       .context = (uint32_t)other,
					       .seqno = 1 + (i * 37) % 256 };
	exec = (struct simgpu_exec){ .n_deps = 1024, .deps = (uintptr_t)deps };
	CHECK_EQ(sim_submit(bench.fd, bench.context, &exec, 1, 0), 0);
	CHECK_EQ(sim_wait(bench.fd, bench.context, exec.seqno, SIM_MSEC, NULL),
		 -ETIME);
	CHECK_EQ(sim_control(bench.fd, (uint32_t)other, SIMGPU_CONTROL_START, 0),
		 0);
	CHECK_EQ(sim_wait(bench.fd, bench.context, exec.seqno, SIM_PATIENCE,
			  &error), 0);
	CHECK_EQ(error, 0);
	CHECK_EQ(sim_wait(bench.fd, (uint32_t)other, 256, 0, &error), 0);
	bench_close(&bench);
}

static void full_ring(void)
{
	struct simgpu_create create = { .ring = 4 };
	struct simgpu_exec execs[5];
	int fd = sim_open(), error = 1;

	for (create.design = 0; create.design < 2; create.design++) {
		int context = sim_create(fd, &create);

		CHECK_EQ(sim_control(fd, (uint32_t)context, SIMGPU_CONTROL_STOP,
				     0), 0);
		good_execs(execs, 5);
		for (uint32_t i = 0; i < 5; i++)
			execs[i].flags = 0;
		CHECK_EQ(sim_submit(fd, (uint32_t)context, execs, 5, 0), -EINVAL);
		CHECK_EQ(sim_submit(fd, (uint32_t)context, execs, 3, 0), 0);
		CHECK_EQ(sim_submit(fd, (uint32_t)context, execs, 2,
				    SIMGPU_SUBMIT_NONBLOCK), -EAGAIN);
		CHECK_EQ(sim_submit(fd, (uint32_t)context, execs, 1,
				    SIMGPU_SUBMIT_NONBLOCK), 0);
		CHECK_EQ(execs[0].seqno, 4);
		CHECK_EQ(sim_submit(fd, (uint32_t)context, execs, 1,
				    SIMGPU_SUBMIT_NONBLOCK), -EAGAIN);
		CHECK_EQ(sim_control(fd, (uint32_t)context,
				     SIMGPU_CONTROL_START, 0), 0);
		CHECK_EQ(sim_submit(fd, (uint32_t)context, execs, 4, 0), 0);
		CHECK_EQ(sim_wait(fd, (uint32_t)context, execs[3].seqno,
				  SIM_PATIENCE, &error), 0);
		CHECK_EQ(error, 0);
		CHECK_EQ(sim_wait(fd, (uint32_t)context, 1, 0, &error),
			 -ENOENT);
	}
	close(fd);
}

static const struct {
	uint32_t fault;
	uint64_t arg;
	int error;
} faults[] = {
	{ SIMGPU_FAULT_NONE, 0, 0 },
	{ SIMGPU_FAULT_HANG, 0, -ETIME },
	{ SIMGPU_FAULT_ERROR, EIO, -EIO },
	{ SIMGPU_FAULT_ERROR, 4095, -4095 },
	{ SIMGPU_FAULT_LOST, 0, 0 },
	{ SIMGPU_FAULT_LATE, 100000, 0 },
	{ SIMGPU_FAULT_LATE, 30000000, 0 }, /* later than the timeout */
	{ SIMGPU_FAULT_STORM, 1000, 0 },
	{ SIMGPU_FAULT_RUN_ERROR, ENOSPC, -ENOSPC },
	{ SIMGPU_FAULT_RUN_NULL, 0, 0 },
	{ SIMGPU_FAULT_INSTANT, 0, 0 },
	{ SIMGPU_FAULT_DOUBLE, 0, 0 },
};

/* Whether a job with the fault completes, and so writes its word. */
static bool fault_writes(uint32_t fault)
{
	return fault != SIMGPU_FAULT_HANG && fault != SIMGPU_FAULT_RUN_ERROR;
}

/* Each fault alone, in every variant, given by the job or injected. */
static void all_faults(void)
{
	struct variant v;
	int fd = sim_open();
	uint32_t object = sim_object(fd, 4096);
	uint32_t *words = sim_map(fd, object, 4096, PROT_READ);
	uint32_t old = 0;

	if (!CHECK(words != MAP_FAILED)) {
		close(fd);
		return;
	}
	for_each_variant(i, &v) {
		int context;

		v.create.timeout_us = 10000;
		v.create.hang_limit = 1000;
		v.create.memory = object;
		context = sim_create(fd, &v.create);
		for (unsigned int j = 0; j < 2 * ARRAY_SIZE(faults); j++) {
			unsigned int k = j / 2;
			struct simgpu_exec exec = {
				.flags = SIMGPU_EXEC_WRITE,
				.duration_ns = 1000,
				.write_value = old + 1,
			};
			struct simgpu_inject inject = {
				.context = (uint32_t)context,
				.fault = faults[k].fault,
				.fault_arg = faults[k].arg,
				.count = faults[k].fault != 0,
			};
			int error = 1, want = faults[k].error, ret;

			/* drm_sched itself reports failures of run_job. */
			if (faults[k].fault != SIMGPU_FAULT_RUN_ERROR)
				want = engine_error(v.create.design, want);
			if (j & 1) {
				CHECK_EQ(sim_ioctl(fd, SIMGPU_INJECT, &inject),
					 0);
			} else {
				exec.fault = faults[k].fault;
				exec.fault_arg = faults[k].arg;
			}
			ret = sim_submit(fd, (uint32_t)context, &exec, 1, 0);
			ret = ret ? ret : sim_wait(fd, (uint32_t)context,
						   exec.seqno, SIM_PATIENCE,
						   &error);
			if (ret || error != want)
				tap_fail("%s, fault %u: %d, error %d not %d",
					 v.name, faults[k].fault, ret, error,
					 want);
			old += fault_writes(faults[k].fault);
			if (__atomic_load_n(words, __ATOMIC_RELAXED) != old)
				tap_fail("%s, fault %u: the word is %u not %u",
					 v.name, faults[k].fault, *words, old);
			old = *words;
		}
		CHECK_EQ(sim_destroy(fd, (uint32_t)context), 0);
	}
	munmap(words, 4096);
	close(fd);
}

/* No memory at the first allocation of a submission, the second, and so on. */
static void no_memory(void)
{
	for (uint32_t design = 0; design < 2; design++) {
		unsigned int step = 0;
		struct bench bench;

		if (!bench_open(&bench, design))
			return;
		for (; step < 1000; step++) {
			struct simgpu_exec exec = {
				.flags = SIMGPU_EXEC_FENCE_OUT,
				.fault = SIMGPU_FAULT_ALLOC,
				.fault_arg = step,
			};
			int fds = fds_open(), ret;

			ret = sim_submit(bench.fd, bench.context, &exec, 1, 0);
			if (!ret) {
				CHECK_EQ(fence_wait(exec.out_fence, 20000), 1);
				close(exec.out_fence);
				break;
			}
			CHECK_EQ(ret, -ENOMEM);
			CHECK_EQ(fds_open(), fds);
			CHECK_EQ(bench_submitted(&bench), 1);
		}
		tap_diag("design %u: %u steps can fail for want of memory",
			 design, step);
		CHECK(step > 0 && step < 1000);
		bench_close(&bench);
	}
}

static void injection(void)
{
	struct simgpu_inject inject = { .fault = SIMGPU_FAULT_ERROR,
					.fault_arg = EIO, .skip = 2,
					.count = 3 };
	struct simgpu_exec execs[N];
	struct bench bench;

	for (uint32_t design = 0; design < 2; design++) {
		if (!bench_open(&bench, design))
			return;
		inject.context = bench.context;
		CHECK_EQ(sim_ioctl(bench.fd, SIMGPU_INJECT, &inject), 0);
		good_execs(execs, N);
		for (uint32_t i = 0; i < N; i++)
			execs[i].flags = 0;
		CHECK_EQ(sim_submit(bench.fd, bench.context, execs, N, 0), 0);
		for (uint32_t i = 0; i < N; i++) {
			int error = 1;

			CHECK_EQ(sim_wait(bench.fd, bench.context,
					  execs[i].seqno, SIM_PATIENCE, &error),
				 0);
			CHECK_EQ(error, i >= 2 && i < 5 ?
				 engine_error(design, -EIO) : 0);
		}
		bench_close(&bench);
	}
}

/* Hangs beyond the limit ban a context, and only that one. */
static void bans(void)
{
	struct simgpu_create create = { .timeout_us = 1000, .hang_limit = 1 };
	int fd = sim_open();

	for (create.design = 0; create.design < 2; create.design++) {
		struct simgpu_exec exec = { .fault = SIMGPU_FAULT_HANG };
		struct simgpu_stats stats;
		int context = sim_create(fd, &create), ret, error = 1;

		for (int i = 0; i < 2; i++) {
			CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0),
				 0);
			CHECK_EQ(sim_wait(fd, (uint32_t)context, exec.seqno,
					  SIM_PATIENCE, &error), 0);
			CHECK_EQ(error, engine_error(create.design, -ETIME));
		}
		/* The verdict is written just after the fence signals. */
		for (int i = 0; i < 1000; i++) {
			CHECK_EQ(sim_stats(fd, (uint32_t)context, &stats), 0);
			if (stats.banned)
				break;
			sleep_ns(SIM_MSEC);
		}
		CHECK_EQ(stats.banned, 1);
		CHECK_EQ(stats.timedout, 2);
		exec = (struct simgpu_exec){ .duration_ns = 1000 };
		ret = sim_submit(fd, (uint32_t)context, &exec, 1, 0);
		CHECK(ret == -ENODEV || ret == -ECANCELED);
	}
	close(fd);
}

const struct test_case submit_cases[] = {
	{ "a bad job anywhere submits none and installs nothing",
	  all_or_nothing },
	{ "jobs in bad memory are -EFAULT and submit none", exec_memory },
	{ "larger jobs are taken if their tail is zero", exec_sizes },
	{ "closed and foreign descriptors are -EBADF",
	  foreign_fds },
	{ "a fence goes through all designs and two files", fence_relay },
	{ "1024 dependencies and a chain of 256", many_deps },
	{ "a full ring is -EAGAIN with NONBLOCK, else waits", full_ring },
	{ "each fault gives its error and its word in each variant",
	  all_faults },
	{ "no memory at any step is -ENOMEM and leaves nothing", no_memory },
	{ "injected faults skip and count", injection },
	{ "hangs beyond the limit ban the context", bans },
	{ 0 },
};
