// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simgpu_races
 *
 * usage: simgpu_races [RACES [SEED]]
 *
 * A process submits jobs that depend on each other, in two contexts, while
 * another one changes its scheduling, moves it to another control group or
 * kills it, and exits with its jobs in flight. Each such pair is a race. It counts
 * as met if the process had begun to submit, and had not returned from it, when
 * the other one called. In any case, all submitted jobs must
 * end, and the kernel must not complain.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "simtest.h"

struct tap tap;

#define RACES		12000
#define JOBS		8
#define CGROUP		"/sys/fs/cgroup"

enum disturbance {
	SETPRIORITY,
	SETSCHEDULER,
	CGROUP_MOVE,
	KILL,
	DISTURBANCES,
};

static const char *const disturbances[] = {
	"setpriority", "sched_setscheduler", "cgroup move", "kill",
};

/* Shared by both processes. */
struct shared {
	_Atomic int ready, go, submitting, done;
};

/* One context for each of the two ends of a dependency. */
struct pair {
	int fd;
	uint32_t contexts[2];
};

static struct shared *shared;
static uint64_t seed;
static unsigned int tried[DISTURBANCES], met[DISTURBANCES];

static void spin_ns(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static bool cgroup_make(const char *name)
{
	char path[80];

	snprintf(path, sizeof(path), CGROUP "/%s", name);
	return !mkdir(path, 0755) || errno == EEXIST;
}

static int cgroup_move(const char *name, pid_t pid)
{
	char path[80], text[16];
	int length = snprintf(text, sizeof(text), "%d", pid), fd, ret;

	snprintf(path, sizeof(path), CGROUP "/%s/cgroup.procs", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, length) == length ? 0 : -errno;
	close(fd);
	return ret;
}

/* The submitter: each job waits for the one before, which is in the other. */
static void submitter(const struct pair *pair, uint64_t random)
{
	struct simgpu_dep dep = { .kind = SIMGPU_DEP_JOB };
	unsigned int n = 1 + random_below(&random, JOBS);

	shared->ready = 1;
	while (!shared->go)
		sched_yield();
	shared->submitting = 1;
	for (unsigned int i = 0; i < n; i++) {
		struct simgpu_exec exec = {
			.duration_ns = 1 + random_below(&random, 20000),
			.n_deps = i > 0,
			.deps = (uintptr_t)&dep,
		};
		uint32_t context = pair->contexts[i & 1];

		if (sim_submit(pair->fd, context, &exec, 1, 0))
			_exit(1);
		dep.context = context;
		dep.seqno = exec.seqno;
	}
	shared->submitting = 0;
	shared->done = 1;
	/* With its jobs in flight, or without. */
	if (random_chance(&random, 30) &&
	    sim_wait(pair->fd, dep.context, dep.seqno, SIM_PATIENCE, NULL))
		_exit(2);
	_exit(0);
}

static int set_scheduler(pid_t pid)
{
	static const int policies[] = { SCHED_OTHER, SCHED_BATCH, SCHED_IDLE,
					SCHED_FIFO, SCHED_RR };
	int policy = policies[random_below(&seed, ARRAY_SIZE(policies))];
	struct sched_param param = { 0 };

	if (policy == SCHED_FIFO || policy == SCHED_RR)
		param.sched_priority = 1 + random_below(&seed, 50);
	return sched_setscheduler(pid, policy, &param) ? -errno : 0;
}

static int disturb(enum disturbance what, pid_t pid)
{
	switch (what) {
	case SETPRIORITY:
		return setpriority(PRIO_PROCESS, pid,
				   (int)random_below(&seed, 40) - 20) ?
		       -errno : 0;
	case SETSCHEDULER:
		return set_scheduler(pid);
	case CGROUP_MOVE:
		return cgroup_move(random_chance(&seed, 50) ? "races-a" :
							      "races-b", pid);
	default:
		return kill(pid, SIGKILL) ? -errno : 0;
	}
}

/* Runs one race. Return: whether the submitter behaved as it should. */
static bool race(const struct pair *pair)
{
	/* A process that is killed submits little: one in ten. */
	enum disturbance what = random_below(&seed, 10) ?
				random_below(&seed, KILL) : KILL;
	int status = -1, ret = 0;
	uint64_t random = random_next(&seed);
	bool submitting;
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (!pid)
		submitter(pair, random);
	if (!CHECK(pid > 0))
		return false;
	while (!shared->ready)
		sched_yield();
	shared->go = 1;
	/* Where there is one CPU, until it is given to the other. */
	while (!shared->submitting && !shared->done)
		sched_yield();
	spin_ns(random_below(&seed, 30000));
	do {
		submitting = shared->submitting;
		ret = disturb(what, pid);
		/* It may have ended. An exited process is in no group. */
		if (ret && ret != -ESRCH)
			tap_fail("%s: %s", disturbances[what], strerror(-ret));
	} while (what != KILL && !ret && !shared->done);
	tried[what]++;
	met[what] += submitting;
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (what == KILL && WIFSIGNALED(status))
		return true;
	return CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Whether all jobs of a context end, and are freed. */
static void must_end(const struct pair *pair, uint32_t context)
{
	struct simgpu_stats stats;

	if (!CHECK_EQ(sim_stats(pair->fd, context, &stats), 0) ||
	    !stats.submitted)
		return;
	CHECK_EQ(sim_wait(pair->fd, context, stats.submitted, SIM_PATIENCE,
			  NULL), 0);
	CHECK_EQ(sim_stats(pair->fd, context, &stats), 0);
	CHECK_EQ(stats.failed, 0);
}

static void case_variant(const struct variant *v, unsigned int races)
{
	struct pair pair = { .fd = -1 };

	tap_start_case();
	if (variant_refused(v)) {
		tap_skip(VARIANT_REFUSED);
		tap_end_case(v->name);
		return;
	}
	pair.fd = sim_open();
	for (int i = 0; i < 2; i++) {
		struct simgpu_create create = v->create;
		int context;

		create.engine = i;
		context = sim_create(pair.fd, &create);
		CHECK(context > 0);
		pair.contexts[i] = context;
	}
	for (unsigned int i = 0; i < races; i++)
		if (!race(&pair))
			break;
	for (int i = 0; i < 2; i++)
		must_end(&pair, pair.contexts[i]);
	CHECK(live_wait("jobs", 0));
	close(pair.fd);
	live_wait_zero();
	tap_end_case(v->name);
}

static void case_met(unsigned int races)
{
	bool one_cpu = sysconf(_SC_NPROCESSORS_ONLN) == 1;
	unsigned int all = 0, all_met = 0;

	tap_start_case();
	for (int i = 0; i < DISTURBANCES; i++) {
		tap_diag("%s: %u races, %u met", disturbances[i], tried[i],
			 met[i]);
		all += tried[i];
		all_met += met[i];
		/* Each kind must be met, unless there are hardly any races. */
		CHECK(met[i] > 0 || races < 100 || one_cpu);
	}
	/* One CPU meets a submission only where a tick preempts it. */
	if (one_cpu && !all_met)
		tap_skip("one CPU never preempted a submission");
	CHECK(all_met > 0 || races < 100 || one_cpu);
	tap_diag("%u races", all);
	CHECK_EQ(all, races);
	tap_end_case("races are met");
}

static void case_well(int kmsg)
{
	tap_start_case();
	CHECK_EQ(kmsg_complaints(kmsg), 0);
	device_usable();
	live_wait_zero();
	tap_end_case("the kernel does not complain, and the device still works");
}

int main(int argc, char **argv)
{
	/* drm_sched own and in each shape; depq: followers and those that choose. */
	static const unsigned int variants[] = {
		0, 4, 5, 6,
		VARIANTS_DRM + 24, VARIANTS_DRM + 55,
		VARIANTS_DRM + VARIANTS_DEPQ + 2,
		VARIANTS_DRM + VARIANTS_DEPQ + 3,
		VARIANTS_DRM + VARIANTS_DEPQ + 8,
		VARIANTS_DRM + VARIANTS_DEPQ + 9,
	};
	unsigned int races = argc > 1 ? (unsigned int)atoi(argv[1]) : RACES;
	int kmsg;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	races = races / ARRAY_SIZE(variants) * ARRAY_SIZE(variants);
	if (!races || argc > 3) {
		fprintf(stderr, "usage: simgpu_races [RACES [SEED]]\n");
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || !cgroup_make("races-a") ||
	    !cgroup_make("races-b")) {
		perror("simgpu_races");
		return 1;
	}
	debugfs_mount();
	kmsg = kmsg_open();
	tap_begin(ARRAY_SIZE(variants) + 2);
	for (unsigned int i = 0; i < ARRAY_SIZE(variants); i++) {
		struct variant v = variant_at(variants[i]);

		case_variant(&v, races / ARRAY_SIZE(variants));
	}
	case_met(races);
	case_well(kmsg);
	return tap_finish();
}
