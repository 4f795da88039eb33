// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: follow workers, and who may use them
 *
 * A process must not get through its worker what it could not set itself. The
 * worker keeps the level of a job for a while afterwards, here long enough
 * to be inspected.
 */

#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "uapi.h"

#define ORDINARY	1000
#define FOLLOW_RT_MAX	"/sys/module/depq/parameters/follow_rt_max"
#define FOLLOW_LINGER	"/sys/module/depq/parameters/follow_linger_ms"

/* Sets a parameter of the module. */
static bool set(const char *parameter, const char *text)
{
	int fd = open(parameter, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 &&
		    write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* Leaves time to inspect a worker whose job has been run. */
static void linger_long(void)
{
	CHECK(set(FOLLOW_LINGER, "200"));
}

static void linger_as_ever(void)
{
	CHECK(set(FOLLOW_LINGER, "20"));
}

/* The scheduling of a thread, and whether it is idle. */
struct scheduled {
	bool sleeps;
	int policy;
	int priority;
	int nice;
};

/* Reads that of the first thread with this name. Return: whether there is one. */
static bool scheduled_as(const char *name, struct scheduled *as)
{
	DIR *dir = opendir("/proc");
	bool found = false;

	for (struct dirent *entry; !found && dir && (entry = readdir(dir));) {
		char path[300], text[1024], *at;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		file = entry->d_name[0] > '0' && entry->d_name[0] <= '9' ?
		       fopen(path, "re") : NULL;
		if (!file)
			continue;
		at = fgets(text, sizeof(text), file);
		fclose(file);
		/* From the third field on: state ... nice (19), rt_priority (40), policy. */
		at = at ? strchr(at, '(') : NULL;
		if (!at || strncmp(at + 1, name, strlen(name)) ||
		    at[1 + strlen(name)] != ')')
			continue;
		at = strrchr(at, ')') + 1;
		as->sleeps = at[1] == 'S';
		for (int field = 3; field <= 41; field++) {
			at = strchr(at, ' ') + 1;
			if (field == 19)
				as->nice = atoi(at);
			else if (field == 40)
				as->priority = atoi(at);
			else if (field == 41)
				as->policy = atoi(at);
		}
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* A context with a follow worker. */
struct follower {
	int fd;
	uint32_t context;
	char name[24];
};

static bool follower_open(struct follower *f)
{
	struct simgpu_create create = {
		.design = SIMGPU_DESIGN_DEPQ,
		.worker = SIMGPU_WORKER_FOLLOW,
		.put = SIMGPU_PUT_SUBMIT,
	};
	int context;

	f->fd = sim_open();
	context = f->fd < 0 ? -1 : sim_create(f->fd, &create);
	if (!CHECK(context > 0))
		return false;
	f->context = (uint32_t)context;
	snprintf(f->name, sizeof(f->name), "simgpu0-%u", f->context);
	return true;
}

/*
 * Waits until the worker is idle and at its level without jobs. That the last job
 * has completed is not enough: with one CPU the worker may still be in run_job().
 */
static void calm_down(struct follower *f)
{
	uint64_t end = now_ns() + SIM_PATIENCE;
	struct scheduled as = { .policy = -1 };

	while (scheduled_as(f->name, &as) &&
	       (!as.sleeps || as.policy != SCHED_OTHER || as.nice) &&
	       now_ns() < end)
		sleep_ns(SIM_MSEC);
	CHECK(as.sleeps);
	CHECK_EQ(as.policy, SCHED_OTHER);
	CHECK_EQ(as.nice, 0);
}

/* Checks the worker's scheduling for a job of ours. */
static bool worker_is(struct follower *f, int policy, int priority, int nice)
{
	struct simgpu_exec exec = { .duration_ns = 1000 };
	struct scheduled as = { .policy = -1 };
	bool good;

	calm_down(f);
	good = CHECK_EQ(sim_submit(f->fd, f->context, &exec, 1, 0), 0) &&
	       CHECK_EQ(sim_wait(f->fd, f->context, exec.seqno, SIM_PATIENCE,
				 NULL), 0) &&
	       CHECK(scheduled_as(f->name, &as)) &&
	       CHECK_EQ(as.policy, policy) && CHECK_EQ(as.priority, priority) &&
	       (policy != SCHED_OTHER || CHECK_EQ(as.nice, nice));
	return good;
}

static int become(int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(0, policy, &param) ? -errno : 0;
}

static void limit(int what, rlim_t to)
{
	struct rlimit rlimit = { to, to };

	CHECK_EQ(setrlimit(what, &rlimit), 0);
}

/* From here on the process has no capabilities. */
static void become_ordinary(rlim_t rtprio, rlim_t nice)
{
	limit(RLIMIT_RTPRIO, rtprio);
	limit(RLIMIT_NICE, nice);
	CHECK_EQ(setgid(ORDINARY), 0);
	CHECK_EQ(setuid(ORDINARY), 0);
}

/* Runs a function in a child process, whose failures count as ours. */
static void in_child(void (*run)(struct follower *f), struct follower *f)
{
	int pid = fork();

	if (!pid) {
		run(f);
		_exit(tap.bad);
	}
	CHECK(pid > 0);
	wait_child(pid);
}

static void as_root(struct follower *f)
{
	CHECK_EQ(become(SCHED_FIFO, 50), 0);
	worker_is(f, SCHED_FIFO, 50, 0);
	CHECK_EQ(become(SCHED_RR, 7), 0);
	worker_is(f, SCHED_RR, 7, 0);
	CHECK_EQ(become(SCHED_OTHER, 0), 0);
	CHECK_EQ(setpriority(PRIO_PROCESS, 0, -3), 0);
	worker_is(f, SCHED_OTHER, 0, -3);
}

static void without_limits(struct follower *f)
{
	become_ordinary(0, 0);
	worker_is(f, SCHED_OTHER, 0, 0);
	CHECK(setpriority(PRIO_PROCESS, 0, -1) < 0);
	CHECK_EQ(become(SCHED_FIFO, 1), -EPERM);
	worker_is(f, SCHED_OTHER, 0, 0);
}

static void with_limits(struct follower *f)
{
	become_ordinary(10, 20 + 5);
	CHECK_EQ(become(SCHED_FIFO, 11), -EPERM);
	worker_is(f, SCHED_OTHER, 0, 0);
	CHECK_EQ(setpriority(PRIO_PROCESS, 0, -5), 0);
	worker_is(f, SCHED_OTHER, 0, -5);
	CHECK_EQ(become(SCHED_FIFO, 10), 0);
	worker_is(f, SCHED_FIFO, 10, 0);
}

/* Settings made by others stay in effect. */
static void as_it_was_made(struct follower *f)
{
	CHECK_EQ(become(SCHED_FIFO, 33), 0);
	become_ordinary(0, 0);
	worker_is(f, SCHED_FIFO, 33, 0);
}

static void follows(void)
{
	static void (*const who[])(struct follower *f) = {
		as_root, without_limits, with_limits, as_it_was_made,
	};

	linger_long();
	for (unsigned int i = 0; i < ARRAY_SIZE(who); i++) {
		struct follower f;

		if (follower_open(&f))
			in_child(who[i], &f);
		close(f.fd);
		live_wait_zero();
	}
	linger_as_ever();
}

/* A mutex that lends priority, between processes. */
struct lent {
	pthread_mutex_t mutex;
	int is_held;
	int wants;
};

static struct lent *lent;

static void *wait_for_it(void *unused)
{
	(void)unused;
	CHECK_EQ(become(SCHED_FIFO, 50), 0);
	__atomic_store_n(&lent->wants, 1, __ATOMIC_SEQ_CST);
	CHECK_EQ(pthread_mutex_lock(&lent->mutex), 0);
	CHECK_EQ(pthread_mutex_unlock(&lent->mutex), 0);
	return NULL;
}

/* Holds it until the other waits, which shows in our own effective priority. */
static void hold_it(void)
{
	uint64_t end = now_ns() + SIM_PATIENCE;
	char text[1024], *at;
	int priority = 0;

	CHECK_EQ(pthread_mutex_lock(&lent->mutex), 0);
	__atomic_store_n(&lent->is_held, 1, __ATOMIC_SEQ_CST);
	/* Field 18, priority: -51 for FIFO 50. */
	while (priority != -51 && now_ns() < end) {
		FILE *file = fopen("/proc/self/stat", "re");

		at = file ? fgets(text, sizeof(text), file) : NULL;
		if (file)
			fclose(file);
		at = at ? strrchr(at, ')') + 1 : NULL;
		for (int field = 3; at && field <= 18; field++)
			at = strchr(at, ' ') + 1;
		priority = at ? atoi(at) : 0;
		sleep_ns(SIM_MSEC);
	}
	CHECK_EQ(priority, -51);
}

static void let_go(void)
{
	CHECK_EQ(pthread_mutex_unlock(&lent->mutex), 0);
}

static void lent_to_root(struct follower *f)
{
	hold_it();
	worker_is(f, SCHED_FIFO, 50, 0);
	let_go();
}

static void lent_without_limits(struct follower *f)
{
	become_ordinary(0, 0);
	hold_it();
	worker_is(f, SCHED_OTHER, 0, 0);
	let_go();
}

static void lent_with_limits(struct follower *f)
{
	become_ordinary(10, 0);
	hold_it();
	worker_is(f, SCHED_FIFO, 10, 0);
	let_go();
}

static bool lent_open(void)
{
	pthread_mutexattr_t attr;

	lent = mmap(NULL, sizeof(*lent), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!CHECK(lent != MAP_FAILED))
		return false;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	return CHECK_EQ(pthread_mutex_init(&lent->mutex, &attr), 0);
}

static void one_lent(void (*who)(struct follower *f))
{
	struct follower f;
	pthread_t thread;
	int pid;

	if (!lent_open())
		return;
	if (follower_open(&f)) {
		pid = fork();
		if (!pid) {
			who(&f);
			_exit(tap.bad);
		}
		CHECK(pid > 0);
		while (!__atomic_load_n(&lent->is_held, __ATOMIC_SEQ_CST) &&
		       waitpid(pid, NULL, WNOHANG) == 0)
			sleep_ns(SIM_MSEC);
		CHECK_EQ(pthread_create(&thread, NULL, wait_for_it, NULL), 0);
		wait_child(pid);
		pthread_join(thread, NULL);
	}
	close(f.fd);
	munmap(lent, sizeof(*lent));
	live_wait_zero();
}

static void inherits(void)
{
	linger_long();
	one_lent(lent_to_root);
	one_lent(lent_without_limits);
	one_lent(lent_with_limits);
	linger_as_ever();
}

static void capped_thread(struct follower *f)
{
	CHECK_EQ(become(SCHED_FIFO, 50), 0);
	CHECK(set(FOLLOW_RT_MAX, "20"));
	worker_is(f, SCHED_FIFO, 20, 0);
	CHECK_EQ(become(SCHED_RR, 5), 0);
	worker_is(f, SCHED_RR, 5, 0);
	CHECK(set(FOLLOW_RT_MAX, "0"));
	worker_is(f, SCHED_OTHER, 0, -20);
}

static void capped(void)
{
	struct follower f;

	linger_long();
	if (follower_open(&f))
		in_child(capped_thread, &f);
	linger_as_ever();
	CHECK(set(FOLLOW_RT_MAX, "99"));
	close(f.fd);
}

#define COMERS		250
#define AT_ONCE		8

/* Submits with changing priorities, until it ends or is killed. */
static void come(uint64_t seed)
{
	struct simgpu_create create = {
		.design = SIMGPU_DESIGN_DEPQ,
		.worker = SIMGPU_WORKER_FOLLOW,
		.share = SIMGPU_SHARE_ENGINE,
		.put = SIMGPU_PUT_IRQ,
		.flags = random_chance(&seed, 30) ? SIMGPU_CREATE_BYPASS : 0,
	};
	int fd = sim_open(), context = sim_create(fd, &create);

	for (unsigned int i = 0; i < 40; i++) {
		struct simgpu_exec exec = {
			.duration_ns = random_below(&seed, 100000),
		};

		switch (random_below(&seed, 3)) {
		case 0:
			become(SCHED_FIFO, 1 + (int)random_below(&seed, 99));
			break;
		case 1:
			become(SCHED_RR, 1 + (int)random_below(&seed, 99));
			break;
		default:
			become(SCHED_OTHER, 0);
			setpriority(PRIO_PROCESS, 0,
				    (int)random_below(&seed, 40) - 20);
		}
		if (sim_submit(fd, (uint32_t)context, &exec, 1, 0))
			_exit(1);
		if (random_chance(&seed, 40))
			sim_wait(fd, (uint32_t)context, exec.seqno,
				 SIM_PATIENCE, NULL);
	}
	if (random_chance(&seed, 50))
		sim_destroy(fd, (uint32_t)context);
	_exit(0);
}

/* Some end by themselves, others are killed; none leaves its priority behind. */
static void come_and_go(void)
{
	struct follower shared = { .name = "simgpu0" };
	uint64_t seed = 1;
	int pids[AT_ONCE] = { 0 };

	for (unsigned int i = 0; i < COMERS + AT_ONCE; i++) {
		int *pid = &pids[i % AT_ONCE], status = 0;

		if (*pid > 0) {
			sleep_ns(random_below(&seed, 3000000));
			if (random_chance(&seed, 50))
				kill(*pid, SIGKILL);
			CHECK_EQ(waitpid(*pid, &status, 0), *pid);
			CHECK(!WIFEXITED(status) || !WEXITSTATUS(status));
		}
		*pid = i < COMERS ? fork() : 0;
		if (i < COMERS && !*pid)
			come(i);
	}
	live_wait_zero();
	calm_down(&shared);
}

static rlim_t rttime; /* RLIMIT_RTTIME in us for what follows */

/* Checks the worker while it runs the last of many long jobs of ours. */
static void many_long_jobs(struct follower *f, int policy)
{
	struct simgpu_exec execs[16] = {
		[0 ... 15] = { .run_cost_ns = 5 * SIM_MSEC },
	};
	struct scheduled as = { .policy = -1 };

	CHECK_EQ(sim_submit(f->fd, f->context, execs, ARRAY_SIZE(execs), 0), 0);
	sim_wait(f->fd, f->context, execs[8].seqno, SIM_PATIENCE, NULL);
	CHECK(scheduled_as(f->name, &as));
	CHECK_EQ(as.policy, policy);
	sim_wait(f->fd, f->context, execs[15].seqno, SIM_PATIENCE, NULL);
}

static void with_rttime(struct follower *f)
{
	/* Only the worker should reach the limit; slow submitting may reach it too. */
	signal(SIGXCPU, SIG_IGN);
	setrlimit(RLIMIT_RTTIME, &(struct rlimit){ rttime, RLIM_INFINITY });
	CHECK_EQ(become(SCHED_FIFO, 50), 0);
	many_long_jobs(f, rttime == RLIM_INFINITY ? SCHED_FIFO : SCHED_OTHER);
	/* The used budget no longer counts once there was nothing to do. */
	worker_is(f, SCHED_FIFO, 50, 0);
}

static void limited_rttime(void)
{
	static const rlim_t limits[] = { RLIM_INFINITY, 20000, RLIM_INFINITY };
	struct follower f;

	if (!follower_open(&f))
		return;
	linger_long();
	for (size_t i = 0; i < ARRAY_SIZE(limits); in_child(with_rttime, &f))
		rttime = limits[i++];
	linger_as_ever();
	close(f.fd);
}

const struct test_case follow_cases[] = {
	{ "a worker follows whoever may be what it is", follows },
	{ "a worker follows lent priority as far as it is allowed", inherits },
	{ "follow_rt_max bounds realtime priority", capped },
	{ "no priority stays where submitters come and go", come_and_go },
	{ "RLIMIT_RTTIME limits the worker of a process too", limited_rttime },
	{ }
};
