// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: sizes, pointers and numbers of ioctls
 *
 * Properties common to all ioctls: each takes a struct whose size is in
 * the number, from an address that may be anything.
 */

#include "uapi.h"

static void fill_info(struct bench *bench, union any_arg *arg)
{
	(void)bench;
	arg->info = (struct simgpu_info){ 0 };
}

static void fill_create(struct bench *bench, union any_arg *arg)
{
	(void)bench;
	arg->create = (struct simgpu_create){ .design = SIMGPU_DESIGN_DEPQ };
}

static void fill_destroy(struct bench *bench, union any_arg *arg)
{
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ };
	int context = sim_create(bench->fd, &create);

	CHECK(context > 0);
	arg->destroy = (struct simgpu_destroy){ .context = (uint32_t)context };
}

static void fill_submit(struct bench *bench, union any_arg *arg)
{
	bench->exec = (struct simgpu_exec){ .duration_ns = 1000 };
	arg->submit = (struct simgpu_submit){
		.context = bench->context,
		.n_execs = 1,
		.exec_size = sizeof(bench->exec),
		.execs = (uintptr_t)&bench->exec,
	};
}

static void fill_wait(struct bench *bench, union any_arg *arg)
{
	arg->wait = (struct simgpu_wait){ .context = bench->context,
					  .seqno = 1,
					  .timeout_ns = SIM_PATIENCE };
}

static void fill_read(struct bench *bench, union any_arg *arg)
{
	arg->read = (struct simgpu_read){
		.context = bench->context,
		.record_size = sizeof(bench->records[0]),
		.first = 1,
		.n = ARRAY_SIZE(bench->records),
		.records = (uintptr_t)bench->records,
	};
}

static void fill_stats(struct bench *bench, union any_arg *arg)
{
	arg->stats = (struct simgpu_stats){ .context = bench->context };
}

static void fill_inject(struct bench *bench, union any_arg *arg)
{
	arg->inject = (struct simgpu_inject){ .context = bench->context };
}

static void fill_control(struct bench *bench, union any_arg *arg)
{
	arg->control = (struct simgpu_control){
		.context = bench->context,
		.command = SIMGPU_CONTROL_SEED,
		.arg = 1,
	};
}

static void fill_gem_create(struct bench *bench, union any_arg *arg)
{
	(void)bench;
	arg->gem_create = (struct simgpu_gem_create){ .size = 4096 };
}

static void fill_gem_mmap(struct bench *bench, union any_arg *arg)
{
	arg->gem_mmap = (struct simgpu_gem_mmap){ .handle = bench->object };
}

static void fill_gem_madvise(struct bench *bench, union any_arg *arg)
{
	arg->gem_madvise = (struct simgpu_gem_madvise){
		.handle = bench->object, .advice = SIMGPU_GEM_WILLNEED,
	};
}

#define CALL_SINCE(name, NAME, least, writes) \
	{ #NAME, SIMGPU_##NAME, sizeof(struct simgpu_##name), least, writes, \
	  fill_##name }
#define CALL(name, NAME, writes) \
	CALL_SINCE(name, NAME, sizeof(struct simgpu_##name), writes)

const struct call calls[CALLS] = {
	CALL(info, INFO, true),
	CALL_SINCE(create, CREATE,
		   offsetof(struct simgpu_create, free_cost_ns), true),
	CALL(destroy, DESTROY, false),
	CALL_SINCE(submit, SUBMIT, offsetof(struct simgpu_submit, objects),
		   false),
	CALL(wait, WAIT, true),
	CALL(read, READ, true),
	CALL_SINCE(stats, STATS, offsetof(struct simgpu_stats, softirqs),
		   true),
	CALL(inject, INJECT, false),
	CALL(control, CONTROL, false),
	CALL(gem_create, GEM_CREATE, true),
	CALL(gem_mmap, GEM_MMAP, true),
	CALL(gem_madvise, GEM_MADVISE, true),
};

bool bench_open(struct bench *bench, uint32_t design)
{
	struct simgpu_create create = { .design = design };
	struct simgpu_exec exec = { .duration_ns = 1000 };
	int context, error = 1;

	memset(bench, 0, sizeof(*bench));
	bench->fd = sim_open();
	if (bench->fd < 0)
		return false;
	bench->object = sim_object(bench->fd, SIM_MEMORY);
	create.memory = bench->object;
	context = sim_create(bench->fd, &create);
	bench->context = (uint32_t)context;
	if (CHECK(context > 0) &&
	    CHECK_EQ(sim_submit(bench->fd, bench->context, &exec, 1, 0), 0) &&
	    CHECK_EQ(exec.seqno, 1) &&
	    CHECK_EQ(sim_wait(bench->fd, bench->context, 1, SIM_PATIENCE,
			      &error), 0) &&
	    CHECK_EQ(error, 0))
		return true;
	close(bench->fd);
	return false;
}

void bench_close(struct bench *bench)
{
	close(bench->fd);
}

/* Returns the number of jobs submitted to the context of the bench. */
uint64_t bench_submitted(struct bench *bench)
{
	struct simgpu_stats stats;

	CHECK_EQ(sim_stats(bench->fd, bench->context, &stats), 0);
	return stats.submitted;
}

/* Returns the end of 64 KiB of memory, where unmapped memory begins. */
char *guard_border(void)
{
	char *area = mmap(NULL, 2 << 16, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || munmap(area + (1 << 16), 1 << 16)) {
		tap_fail("mmap: guard page: %s", strerror(errno));
		exit(1);
	}
	return area + (1 << 16);
}

void guard_free(char *border)
{
	munmap(border - (1 << 16), 1 << 16);
}

/* The same ioctl with another size. */
static unsigned long resized(const struct call *call, size_t size)
{
	return _IOC(_IOC_READ | _IOC_WRITE, SIMGPU_IOC, _IOC_NR(call->request),
		    size);
}

static void one_size(struct bench *bench, const struct call *call, size_t size,
		     size_t dirty, int want)
{
	static union any_arg arg;
	uint64_t before = bench_submitted(bench);
	int got;

	memset(&arg, 0, sizeof(arg));
	call->fill(bench, &arg);
	if (dirty)
		arg.bytes[dirty] = 1;
	got = sim_ioctl(bench->fd, resized(call, size), &arg);
	if (want == -E2BIG && size > 4096 && got == -E2BIG)
		return;
	if (want == 0 && size > 4096 && got == -E2BIG)
		return; /* the kernel may call more than a page too big */
	if (got != want)
		tap_fail("%s, size %zu, byte %zu: %d, not %d", call->name, size,
			 dirty, got, want);
	if (want && bench_submitted(bench) != before)
		tap_fail("%s, size %zu: failed and submitted", call->name, size);
	for (size_t i = call->size; i < size; i++)
		if (arg.bytes[i] != (i == dirty))
			tap_fail("%s, size %zu: byte %zu was written",
				 call->name, size, i);
}

static void sizes(void)
{
	struct bench bench;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	for (unsigned int i = 0; i < CALLS; i++) {
		const struct call *call = &calls[i];
		size_t size = call->size;

		for (size_t small = 0; small < call->least; small++)
			one_size(&bench, call, small, 0, -EINVAL);
		for (size_t old = call->least; old <= size; old++)
			one_size(&bench, call, old, 0, 0);
		for (size_t more = 1; more <= 16; more++) {
			one_size(&bench, call, size + more, 0, 0);
			one_size(&bench, call, size + more, size, -E2BIG);
			one_size(&bench, call, size + more, size + more - 1,
				 -E2BIG);
		}
		one_size(&bench, call, 4096, 0, 0);
		one_size(&bench, call, 4096, 4095, -E2BIG);
		one_size(&bench, call, 16383, 0, 0);
		one_size(&bench, call, 16383, 16382, -E2BIG);
	}
	bench_close(&bench);
}

static void numbers(void)
{
	struct bench bench;
	static union any_arg arg;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	/* The range that DRM leaves to drivers; the others are DRM's. */
	for (unsigned int nr = SIMGPU_IOC_BASE + CALLS; nr < 0xa0; nr++)
		CHECK_EQ(sim_ioctl(bench.fd, _IOC(_IOC_READ | _IOC_WRITE,
						  SIMGPU_IOC, nr, 64), &arg),
			 -ENOTTY);
	for (unsigned int i = 0; i < CALLS; i++) {
		for (unsigned int dir = 0; dir < 3; dir++) {
			unsigned long request =
				_IOC(dir, SIMGPU_IOC, SIMGPU_IOC_BASE + i,
				     calls[i].size);

			memset(&arg, 0, sizeof(arg));
			calls[i].fill(&bench, &arg);
			if (sim_ioctl(bench.fd, request, &arg) != -ENOTTY)
				tap_fail("%s, direction %u: not -ENOTTY",
					 calls[i].name, dir);
		}
		memset(&arg, 0, sizeof(arg));
		calls[i].fill(&bench, &arg);
		CHECK_EQ(sim_ioctl(bench.fd, _IOC(_IOC_READ | _IOC_WRITE, 'T',
						  SIMGPU_IOC_BASE + i,
						  calls[i].size), &arg),
			 -ENOTTY);
	}
	CHECK_EQ(bench_submitted(&bench), 1);
	bench_close(&bench);
}

static void addresses(void)
{
	char *border = guard_border();
	void *const bad[] = {
		NULL, (void *)8, border, border + 4096,
		(void *)0x00007ffffffff000ull, (void *)0x0000800000000000ull,
		(void *)0xffff800000000000ull, (void *)0xffffffff81000000ull,
		(void *)-1ull, (void *)-4096ull,
	};
	struct bench bench;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	for (unsigned int i = 0; i < CALLS; i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(bad); j++)
			if (sim_ioctl(bench.fd, calls[i].request, bad[j]) !=
			    -EFAULT)
				tap_fail("%s at %p: not -EFAULT",
					 calls[i].name, bad[j]);
	CHECK_EQ(bench_submitted(&bench), 1);
	bench_close(&bench);
	guard_free(border);
}

static void crossing(void)
{
	char *border = guard_border();
	static union any_arg arg;
	struct bench bench;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	for (unsigned int i = 0; i < CALLS; i++) {
		const struct call *call = &calls[i];
		uint64_t before;

		memset(&arg, 0, sizeof(arg));
		call->fill(&bench, &arg);
		memcpy(border - call->size, &arg, call->size);
		if (sim_ioctl(bench.fd, call->request, border - call->size))
			tap_fail("%s up to the border fails", call->name);
		before = bench_submitted(&bench);
		for (size_t in = 1; in < call->size; in++) {
			memset(&arg, 0, sizeof(arg));
			memcpy(border - in, &arg, in);
			if (sim_ioctl(bench.fd, call->request, border - in) !=
			    -EFAULT)
				tap_fail("%s, %zu bytes mapped: not -EFAULT",
					 call->name, in);
		}
		/* The tail of a larger struct is checked too. */
		call->fill(&bench, &arg);
		memset(border - 4096, 0, 4096);
		memcpy(border - call->size - 4, &arg, call->size);
		if (sim_ioctl(bench.fd, resized(call, call->size + 8),
			      border - call->size - 4) != -EFAULT)
			tap_fail("%s, tail unmapped: not -EFAULT", call->name);
		CHECK_EQ(bench_submitted(&bench), before);
	}
	bench_close(&bench);
	guard_free(border);
}

static void read_only(void)
{
	char *border = guard_border(), *page = border - 4096;
	static union any_arg arg;
	struct counters live;
	struct bench bench;
	long long contexts;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	for (unsigned int i = 0; i < CALLS; i++) {
		const struct call *call = &calls[i];
		int ret;

		memset(&arg, 0, sizeof(arg));
		call->fill(&bench, &arg);
		memcpy(page, &arg, call->size);
		mprotect(page, 4096, PROT_READ);
		CHECK_EQ(counters_read(SIM_LIVE, &live), 0);
		contexts = counters_get(&live, "contexts");
		ret = sim_ioctl(bench.fd, call->request, page);
		if (call->writes ? ret != -EFAULT : ret && ret != -EFAULT)
			tap_fail("%s, read-only: %d", call->name, ret);
		if (call->request == SIMGPU_CREATE)
			CHECK(live_wait("contexts", contexts));
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
	}
	bench_close(&bench);
	guard_free(border);
}

const struct test_case args_cases[] = {
	{ "every size of every struct has its errno", sizes },
	{ "unknown numbers, types and directions are -ENOTTY", numbers },
	{ "addresses that are not ours are -EFAULT", addresses },
	{ "structs that cross into unmapped memory are -EFAULT", crossing },
	{ "read-only structs leave nothing behind", read_only },
	{ 0 },
};
