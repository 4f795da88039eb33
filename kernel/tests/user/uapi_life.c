// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: lifetimes of contexts, files, fences, memory and processes
 */

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "uapi.h"

static void foreign_contexts(void)
{
	static union any_arg arg;
	struct bench bench;
	int other;

	if (!bench_open(&bench, SIMGPU_DESIGN_DEPQ))
		return;
	other = sim_open();
	for (unsigned int i = 0; i < CONTEXT_CALLS; i++) {
		int want = calls[i].request == SIMGPU_INFO ||
			   calls[i].request == SIMGPU_CREATE ? 0 : -ENOENT;

		memset(&arg, 0, sizeof(arg));
		calls[i].fill(&bench, &arg);
		/* Made last, so that the number is not taken there. */
		if (calls[i].request == SIMGPU_CREATE)
			continue;
		if (sim_ioctl(other, calls[i].request, &arg) != want)
			tap_fail("%s of another file: not %d", calls[i].name,
				 want);
	}
	close(other);
	bench_close(&bench);
}

static void after_destroy(void)
{
	static union any_arg arg;

	for (uint32_t design = 0; design < SIMGPU_DESIGN_COUNT; design++) {
		struct bench bench;

		if (!bench_open(&bench, design))
			return;
		CHECK_EQ(sim_destroy(bench.fd, bench.context), 0);
		CHECK_EQ(sim_destroy(bench.fd, bench.context), -ENOENT);
		for (unsigned int i = 3; i < CONTEXT_CALLS; i++) {
			memset(&arg, 0, sizeof(arg));
			calls[i].fill(&bench, &arg);
			if (sim_ioctl(bench.fd, calls[i].request, &arg) !=
			    -ENOENT)
				tap_fail("%s after destroy: not -ENOENT",
					 calls[i].name);
		}
		bench_close(&bench);
	}
}

static void counters_count(void)
{
	struct simgpu_exec execs[10] = { 0 };
	struct counters before, during;
	int fd, context;

	live_wait_zero();
	CHECK_EQ(counters_read(SIM_LIVE, &before), 0);
	for (uint32_t design = 0; design < 2; design++) {
		fd = sim_open();
		context = sim_create_stopped(fd, design);
		CHECK_EQ(sim_submit(fd, (uint32_t)context, execs, 10, 0), 0);
		CHECK_EQ(counters_read(SIM_LIVE, &during), 0);
		CHECK_EQ(counters_get(&during, "contexts"), 1);
		CHECK_EQ(counters_get(&during, "jobs"), 10);
		CHECK_EQ(counters_get(&during, "fences"), 10);
		close(fd);
		live_wait_zero();
	}
}

static void outlives(const struct variant *v, bool destroyed)
{
	struct simgpu_exec exec = { .flags = SIMGPU_EXEC_FENCE_OUT,
				    .duration_ns = 5 * SIM_MSEC };
	int fd = sim_open(), context = sim_create(fd, &v->create);

	CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0), 0);
	if (destroyed)
		CHECK_EQ(sim_destroy(fd, (uint32_t)context), 0);
	close(fd);
	if (fence_wait(exec.out_fence, 20000) != 1)
		tap_fail("%s: the fence never signals", v->name);
	close(exec.out_fence);
}

/* The fence of a job remains valid after context and file are gone. */
static void fence_outlives(void)
{
	struct variant v;

	for_each_variant(i, &v) {
		outlives(&v, false);
		outlives(&v, true);
	}
}

#define FLOOD 10000

/* In a child: many jobs in flight, then waits until it is killed. */
static void flood(struct variant v, int ready)
{
	static struct simgpu_exec execs[200];
	int fd = open(sim_node(), O_RDWR), context;

	v.create.ring = 16384;
	v.create.credit_limit = 65536;
	context = sim_create(fd, &v.create);
	for (int done = 0; done < FLOOD; done += 200) {
		for (int i = 0; i < 200; i++)
			execs[i] = (struct simgpu_exec){
				.flags = i % 100 ? 0 : SIMGPU_EXEC_FENCE_OUT,
				/* Longer than a kernel that checks itself
				 * takes to submit one.
				 */
				.duration_ns = 10 * SIM_MSEC,
			};
		if (sim_submit(fd, (uint32_t)context, execs, 200, 0))
			_exit(2);
	}
	if (write(ready, "", 1) != 1)
		_exit(3);
	sim_wait(fd, (uint32_t)context, FLOOD, ~0ull, NULL);
	pause();
}

static void killed(void)
{
	/* drm own and shared; depq: plain, bypass, each put and worker. */
	static const unsigned int tried[] = { 0, 1, 4, 5, 6, 7, 9, 10, 15, 22 };

	for (unsigned int i = 0; i < ARRAY_SIZE(tried); i++) {
		struct variant v = variant_at(tried[i]);
		int pair[2], pid, status;
		struct counters live;
		char byte;

		if (variant_refused(&v))
			continue;
		CHECK_EQ(pipe(pair), 0);
		pid = fork();
		if (!pid)
			flood(v, pair[1]);
		close(pair[1]);
		if (read(pair[0], &byte, 1) != 1)
			tap_fail("%s: the child could not submit", v.name);
		close(pair[0]);
		CHECK_EQ(counters_read(SIM_LIVE, &live), 0);
		if (counters_get(&live, "jobs") < FLOOD / 2)
			tap_fail("%s: only %lld jobs in flight", v.name,
				 counters_get(&live, "jobs"));
		sleep_ns((i % 3) * 3 * SIM_MSEC);
		kill(pid, SIGKILL);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		if (!live_wait_zero())
			tap_fail("%s: something is left", v.name);
	}
}

/* Both sides of a fork use one file; contexts live until the last closes. */
static void forks(void)
{
	for (uint32_t design = 0; design < SIMGPU_DESIGN_COUNT; design++) {
		struct simgpu_create create = { .design = design };
		struct simgpu_exec exec = { .duration_ns = 1000 };
		int fd = sim_open(), context = sim_create(fd, &create), pid;
		int error = 1;

		pid = fork();
		if (!pid) {
			for (int i = 0; i < 100; i++)
				if (sim_submit(fd, (uint32_t)context, &exec, 1,
					       0))
					_exit(1);
			close(fd);
			_exit(0);
		}
		for (int i = 0; i < 100; i++)
			CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0),
				 0);
		wait_child(pid);
		CHECK_EQ(sim_wait(fd, (uint32_t)context, 200, SIM_PATIENCE,
				  &error), 0);
		CHECK_EQ(error, 0);
		pid = fork();
		if (!pid) { /* the parent closes first */
			sleep_ns(5 * SIM_MSEC);
			error = sim_submit(fd, (uint32_t)context, &exec, 1, 0) ||
				sim_wait(fd, (uint32_t)context, exec.seqno,
					 SIM_PATIENCE, NULL);
			_exit(error);
		}
		close(fd);
		wait_child(pid);
	}
}

static void memory(void)
{
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ };
	struct simgpu_exec exec = { .flags = SIMGPU_EXEC_WRITE,
				    .duration_ns = 1000 };
	int fd = sim_open();
	size_t size = SIM_MEMORY;
	uint32_t c = 0, *words, *again;

	/* Without an object there is nothing to map or to write to. */
	CHECK(mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
	c = (uint32_t)sim_create(fd, &create);
	CHECK_EQ(sim_submit(fd, c, &exec, 1, 0), -EINVAL);
	create.memory = sim_object(fd, size);
	CHECK(sim_map(fd, create.memory, 2 * size, PROT_READ) == MAP_FAILED);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd,
		   (off_t)0x7ffffffffffff000ll) == MAP_FAILED);
	words = sim_map(fd, create.memory, size, PROT_READ | PROT_WRITE);
	again = sim_map(fd, create.memory, size, PROT_READ);
	if (!CHECK(words != MAP_FAILED) || !CHECK(again != MAP_FAILED))
		return;
	for (uint32_t i = 0; i < size / 4; i++)
		CHECK_EQ(words[i], 0);
	for (create.design = 0; create.design < SIMGPU_DESIGN_COUNT; create.design++) {
		c = (uint32_t)sim_create(fd, &create);
		for (uint32_t i = 0; i < 3; i++) {
			exec.write_offset = i * (uint32_t)(size / 2 - 4);
			exec.write_value = 0xabcd0000 + i + create.design;
			exec.fault = i == 2 ? SIMGPU_FAULT_INSTANT : 0;
			if (i == 2)
				exec.write_offset = (uint32_t)size - 4;
			CHECK_EQ(sim_submit(fd, c, &exec, 1, 0), 0);
			CHECK_EQ(sim_wait(fd, c, exec.seqno, SIM_PATIENCE, NULL),
				 0);
			CHECK_EQ(words[exec.write_offset / 4],
				 exec.write_value);
			CHECK_EQ(again[exec.write_offset / 4],
				 exec.write_value);
		}
	}
	/* A job that is closed in flight must not write to freed memory. */
	exec.fault = 0;
	exec.duration_ns = 2 * SIM_MSEC;
	CHECK_EQ(sim_submit(fd, c, &exec, 1, 0), 0);
	munmap(words, 4096);
	munmap(again, size);
	close(fd);
	words[size / 4 - 1] = 7; /* the mapping outlives the file */
	sleep_ns(5 * SIM_MSEC);
	CHECK(words[size / 4 - 1] == 7 ||
	      words[size / 4 - 1] == exec.write_value);
	munmap((char *)words + 4096, size - 4096);
}

static void permission(void)
{
	struct stat st;
	int pid;

	if (geteuid()) {
		tap_skip("not root");
		return;
	}
	if (access("/sys/module/simgpu/parameters/mode", F_OK) == 0) {
		FILE *file = fopen("/sys/module/simgpu/parameters/mode", "re");
		unsigned int mode = 0;

		if (file && fscanf(file, "%u", &mode) == 1 && (mode & 077))
			tap_skip("the module was told to let others in");
		if (file)
			fclose(file);
		if (tap.skip[0])
			return;
	}
	CHECK_EQ(stat(sim_node(), &st), 0);
	CHECK_EQ(st.st_mode & 077, 0);
	CHECK_EQ(st.st_uid, 0);
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		_exit(open(sim_node(), O_RDWR) >= 0 || errno != EACCES);
	}
	wait_child(pid);
}

/* Tries stop, start and timeout, which need the user who opened the file. */
static void disturb(int fd, uint32_t context, int want)
{
	static const uint32_t commands[] = { SIMGPU_CONTROL_STOP,
					     SIMGPU_CONTROL_START,
					     SIMGPU_CONTROL_TIMEOUT };

	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		CHECK_EQ(sim_control(fd, context, commands[i], 0), want);
}

static void injure(int fd, uint32_t context, uint32_t fault, int want)
{
	struct simgpu_inject inject = { .context = context, .fault = fault,
					.count = 1 };
	struct simgpu_exec exec = { .fault = fault };

	CHECK_EQ(sim_ioctl(fd, SIMGPU_INJECT, &inject), want);
	/* Not to be struck by it later. */
	inject.fault = SIMGPU_FAULT_NONE;
	inject.count = 0;
	sim_ioctl(fd, SIMGPU_INJECT, &inject);
	CHECK_EQ(sim_submit(fd, context, &exec, 1, 0), want);
}

/* A file opened by another user: only good jobs are allowed. */
static void with_lent_file(int fd, uint32_t own)
{
	struct simgpu_exec good = { .duration_ns = 1000 };
	int error = 1;

	disturb(fd, own, -EPERM);
	injure(fd, own, SIMGPU_FAULT_INSTANT, -EPERM);
	CHECK_EQ(sim_submit(fd, own, &good, 1, 0), 0);
	CHECK_EQ(sim_wait(fd, own, good.seqno, SIM_PATIENCE, &error), 0);
	CHECK_EQ(error, 0);
}

/* A file of the user: everything is allowed except what affects other files. */
static void with_own_file(void)
{
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ };
	int fd = sim_open(), own = sim_create(fd, &create), shared;

	create = (struct simgpu_create){ .flags = SIMGPU_CREATE_SHARED };
	shared = sim_create(fd, &create);
	CHECK(own > 0 && shared > 0);
	disturb(fd, (uint32_t)own, 0);
	disturb(fd, (uint32_t)shared, -EPERM);
	injure(fd, (uint32_t)own, SIMGPU_FAULT_INSTANT, 0);
	injure(fd, (uint32_t)shared, SIMGPU_FAULT_INSTANT, 0);
	injure(fd, (uint32_t)own, SIMGPU_FAULT_GONE, -EPERM);
	close(fd);
}

/* Faults and stops: only for the user who opened the file, or CAP_SYS_ADMIN. */
static void disturbing(void)
{
	struct simgpu_create create = { .flags = SIMGPU_CREATE_SHARED };
	int fd = sim_open(), context = sim_create(fd, &create), pid;
	struct stat st;

	if (geteuid()) {
		close(fd);
		tap_skip("not root");
		return;
	}
	CHECK_EQ(stat(sim_node(), &st), 0);
	CHECK_EQ(chmod(sim_node(), 0666), 0);
	disturb(fd, (uint32_t)context, 0);
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		with_lent_file(fd, (uint32_t)context);
		with_own_file();
		_exit(tap.bad);
	}
	wait_child(pid);
	CHECK_EQ(chmod(sim_node(), st.st_mode & 07777), 0);
	close(fd);
}

static void other_calls(void)
{
	int fd = sim_open();
	char byte = 0;

	/* There are no events, which a read waits for. */
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	CHECK(read(fd, &byte, 1) < 0 && errno == EAGAIN);
	CHECK(write(fd, &byte, 1) < 0);
	CHECK(ioctl(fd, 0, 0) < 0 && errno == ENOTTY);
	CHECK(ioctl(fd, ~0u, 0) < 0 && errno == ENOTTY);
	CHECK(ftruncate(fd, 0) < 0);
	CHECK(fsync(fd) < 0 || true); /* either answer; no crash */
	close(fd);
}

/* A thousand contexts in one file; descriptors run out in a submission. */
static void limits(void)
{
	struct simgpu_create create = { .ring = 2, .design = 1 };
	struct simgpu_exec execs[64];
	struct rlimit old, few;
	int fd = sim_open(), context = 0, fds;
	struct simgpu_stats stats;

	for (int i = 0; i < 1000 && context >= 0; i++) {
		create.design = (uint32_t)i & 1;
		context = sim_create(fd, &create);
	}
	CHECK(context > 0);
	create.ring = 0;
	context = sim_create(fd, &create);
	for (int i = 0; i < 64; i++)
		execs[i] = (struct simgpu_exec){
			.flags = SIMGPU_EXEC_FENCE_OUT };
	fds = fds_open();
	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = (rlim_t)fd + 20;
	setrlimit(RLIMIT_NOFILE, &few);
	CHECK_EQ(sim_submit(fd, (uint32_t)context, execs, 64, 0), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &old);
	CHECK_EQ(fds_open(), fds);
	CHECK_EQ(sim_stats(fd, (uint32_t)context, &stats), 0);
	CHECK_EQ(stats.submitted, 0);
	close(fd);
}

const struct test_case life_cases[] = {
	{ "live counters count what is alive", counters_count },
	{ "contexts of another file are -ENOENT", foreign_contexts },
	{ "destroyed contexts are -ENOENT, also to destroy", after_destroy },
	{ "a fence outlives its context and file", fence_outlives },
	{ "killed with 10,000 jobs in flight", killed },
	{ "both sides of a fork use the file", forks },
	{ "memory is mapped, written by jobs and outlives the file", memory },
	{ "the node is for root only", permission },
	{ "faults and stops are for who opened the file, or CAP_SYS_ADMIN",
	  disturbing },
	{ "other system calls are refused", other_calls },
	{ "a thousand contexts; no descriptors left", limits },
	{ 0 },
};
