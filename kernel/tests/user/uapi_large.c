// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: large submissions
 *
 * The caller chooses how many jobs and dependencies a submission has. So
 * others on its CPU must not have to wait until all of it is done, and its
 * memory is charged to the caller's control group.
 */

#include <pthread.h>
#include <sched.h>

#include "uapi.h"

#define DEPS		512
#define EXECS		16
#define PREEMPT		"/sys/kernel/debug/sched/preempt"
#define CGROUP		"/sys/fs/cgroup"
#define GROUP		CGROUP "/simgpu-large"

/* The minimum size of a radix tree node in the kernel, and its capacity. */
#define NODE_BYTES	512
#define NODE_SLOTS	64

/* The wake-up period of a thread, and how late is too late. */
#define PERIOD_NS	(200 * SIM_USEC)
#define LATE_NS		(2 * SIM_MSEC)

/**
 * struct large - a submission with many dependencies, none of them signalled
 * @fd: the device
 * @context: where the jobs go
 * @deps: on a job of each of the other contexts, which are stopped
 * @execs: the jobs, each with all of @deps
 */
struct large {
	int fd;
	uint32_t context;
	struct simgpu_dep deps[DEPS];
	struct simgpu_exec execs[EXECS];
};

static bool large_open(struct large *large)
{
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ,
					.share = SIMGPU_SHARE_DEVICE,
					.ring = EXECS };
	int context;

	memset(large, 0, sizeof(*large));
	large->fd = sim_open();
	for (unsigned int i = 0; i < DEPS; i++) {
		struct simgpu_exec exec = { .duration_ns = 1000 };

		context = sim_create(large->fd, &create);
		if (!CHECK(context > 0) ||
		    !CHECK_EQ(sim_control(large->fd, (uint32_t)context,
					  SIMGPU_CONTROL_STOP, 0), 0) ||
		    !CHECK_EQ(sim_submit(large->fd, (uint32_t)context, &exec, 1,
					 0), 0))
			return false;
		large->deps[i] = (struct simgpu_dep){
			.kind = SIMGPU_DEP_JOB, .context = (uint32_t)context,
			.seqno = exec.seqno,
		};
	}
	context = sim_create(large->fd, &create);
	large->context = (uint32_t)context;
	for (unsigned int i = 0; i < EXECS; i++)
		large->execs[i] = (struct simgpu_exec){
			.n_deps = DEPS, .deps = (uintptr_t)large->deps,
		};
	return CHECK(context > 0);
}

/* ---- Others on the same CPU ---- */

/**
 * struct watch - a realtime thread that measures how late it wakes
 * @begun: it is running
 * @end: it is to end
 * @late_ns: the latest so far
 */
struct watch {
	bool begun;
	bool end;
	uint64_t late_ns;
};

static void on_first_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	CHECK_EQ(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

static void *watch_thread(void *arg)
{
	struct sched_param param = { .sched_priority = 1 };
	struct watch *watch = arg;

	on_first_cpu();
	CHECK_EQ(sched_setscheduler(0, SCHED_FIFO, &param), 0);
	while (!__atomic_load_n(&watch->end, __ATOMIC_ACQUIRE)) {
		uint64_t due = now_ns() + PERIOD_NS, now;

		sleep_ns(PERIOD_NS);
		now = now_ns();
		if (now > due && now - due > watch->late_ns)
			watch->late_ns = now - due;
		__atomic_store_n(&watch->begun, true, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Returns how late a realtime thread woke on the submitting CPU, and the time taken. */
static uint64_t late_beside(struct large *large, uint64_t *took)
{
	struct watch watch = { 0 };
	pthread_t thread;
	uint64_t begin;

	*took = 0;
	if (!CHECK_EQ(pthread_create(&thread, NULL, watch_thread, &watch), 0))
		return 0;
	while (!__atomic_load_n(&watch.begun, __ATOMIC_ACQUIRE))
		sleep_ns(SIM_MSEC);
	begin = now_ns();
	CHECK_EQ(sim_submit(large->fd, large->context, large->execs, EXECS, 0),
		 0);
	*took = now_ns() - begin;
	__atomic_store_n(&watch.end, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	return watch.late_ns;
}

/* Reads the kernel's preemption mode: the word in brackets. */
static bool preempt_read(char *word, size_t size)
{
	char text[64] = "", *begin, *end;
	int fd = open(PREEMPT, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	begin = strchr(text, '(');
	end = begin ? strchr(begin, ')') : NULL;
	if (!end)
		return false;
	*end = '\0';
	snprintf(word, size, "%s", begin + 1);
	return true;
}

static bool preempt_write(const char *word)
{
	int fd = open(PREEMPT, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, word, strlen(word)) > 0;

	if (fd >= 0)
		close(fd);
	return good;
}

static void others_run(void)
{
	struct large large;
	char before[32];
	cpu_set_t cpus;
	uint64_t late, took;

	debugfs_mount();
	if (!preempt_read(before, sizeof(before)) || !preempt_write("none")) {
		tap_skip("this kernel cannot be told not to preempt itself");
		return;
	}
	CHECK_EQ(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	on_first_cpu();
	if (large_open(&large)) {
		late = late_beside(&large, &took);
		tap_diag("%llu us late beside a call of %llu us",
			 (unsigned long long)late / SIM_USEC,
			 (unsigned long long)took / SIM_USEC);
		/* Otherwise it was too short for a conclusion. */
		CHECK(took > 2 * LATE_NS);
		CHECK(late < LATE_NS);
	}
	close(large.fd);
	CHECK_EQ(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	CHECK(preempt_write(before));
}

/* ---- Whose memory ---- */

static bool file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* Returns the kernel memory of the group, once all CPUs have flushed their counts. */
static long long group_slab(void)
{
	struct counters stat;

	sleep_ns(3 * SIM_SEC);
	return counters_read(GROUP "/memory.stat", &stat) ? -1 :
	       counters_get(&stat, "slab_unreclaimable") +
	       counters_get(&stat, "slab_reclaimable");
}

/* In the group: returns how much the dependencies of a submission are charged. */
static void charge_deps(void)
{
	const long long nodes = EXECS * (DEPS / NODE_SLOTS);
	long long before, grown;
	struct large large;

	if (!large_open(&large))
		return;
	before = group_slab();
	CHECK_EQ(sim_submit(large.fd, large.context, large.execs, EXECS, 0), 0);
	grown = group_slab() - before;
	tap_diag("%lld bytes charged", grown);
	CHECK(before >= 0);
	CHECK(grown >= nodes * NODE_BYTES);
	close(large.fd);
}

static void who_submits_pays(void)
{
	/* Both may be enabled already. */
	file_write(CGROUP "/cgroup.subtree_control", "+memory");
	if ((mkdir(GROUP, 0755) && errno != EEXIST) ||
	    access(GROUP "/memory.stat", R_OK)) {
		rmdir(GROUP);
		tap_skip("no control groups with memory here");
		return;
	}
	if (CHECK(file_write(GROUP "/cgroup.procs", "0")))
		charge_deps();
	CHECK(file_write(CGROUP "/cgroup.procs", "0"));
	CHECK(live_wait_zero());
	CHECK_EQ(rmdir(GROUP), 0);
}

const struct test_case large_cases[] = {
	{ "others run during a large submission", others_run },
	{ "dependencies are charged to the group that submits", who_submits_pays },
	{ 0 },
};
