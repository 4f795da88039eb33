// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simgpu_failnth
 *
 * Makes the n-th operation fail that may fail inside a system call, for n from 1
 * until the call completes without having met the fault. These operations
 * are allocations of slabs and pages, and copies from and to the program. Each
 * call that meets the fault must fail with -ENOMEM or -EFAULT, or succeed
 * without the resource; if it fails, it must have had no effect.
 *
 * Needs a kernel with CONFIG_FAULT_INJECTION, CONFIG_FAILSLAB and
 * CONFIG_FAULT_INJECTION_DEBUG_FS; otherwise skips. Together with KASAN and
 * kmemleak it tests every error path of every ioctl.
 */
#include <sys/syscall.h>

#include "simtest.h"

struct tap tap;

/* More faults in one call than any has. */
#define FAULTS_MAX 5000

/* Jobs of one submission. */
#define EXECS 4

static unsigned int faults_met, faults_failed;

/* ---- Fault injection ---- */

static int fail_nth = -1;

static bool debugfs_write(const char *name, const char *text)
{
	char path[128];
	int fd;
	bool done;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) > 0;
	close(fd);
	return done;
}

/* Return: whether this kernel can inject faults; else the case is skipped */
static bool faults_ready(void)
{
	debugfs_mount();
	/* Silent, and also for allocations that may sleep. */
	if (!debugfs_write("failslab/verbose", "0") ||
	    !debugfs_write("failslab/ignore-gfp-wait", "N")) {
		tap_skip("no failslab in debugfs");
		return false;
	}
	if (debugfs_write("fail_page_alloc/verbose", "0")) {
		debugfs_write("fail_page_alloc/ignore-gfp-wait", "N");
		debugfs_write("fail_page_alloc/ignore-gfp-highmem", "N");
		debugfs_write("fail_page_alloc/min-order", "0");
	}
	debugfs_write("fail_usercopy/verbose", "0");
	if (fail_nth < 0)
		fail_nth = open("/proc/thread-self/fail-nth",
				O_RDWR | O_CLOEXEC);
	if (fail_nth < 0)
		tap_skip("no /proc/thread-self/fail-nth");
	return fail_nth >= 0;
}

static void fault_arm(unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	CHECK_EQ(pwrite(fail_nth, text, length, 0), length);
}

/*
 * Return: whether the fault was met. Reading the file also copies to the program,
 * so it may meet the fault itself; so may writing it.
 */
static bool fault_disarm(void)
{
	char text[16] = "";
	bool met = pread(fail_nth, text, sizeof(text) - 1, 0) > 0 &&
		   atoi(text) == 0;
	int tries = 3;

	while (pwrite(fail_nth, "0", 1, 0) != 1 && --tries)
		;
	CHECK(tries > 0);
	return met;
}

/* ---- Calls ---- */

/**
 * struct subject - what is called
 * @fd: the device
 * @create: which variant
 * @context: of that variant; 0 if there is none
 * @seqno: of its last job that is known
 * @fence: a sync_file of one of its jobs, or -1
 * @made: what the last call created: a descriptor, a context, or -1
 * @map: what the last call mapped
 * @execs: of the last submission
 * @deps: of its first job
 */
struct subject {
	int fd;
	struct simgpu_create create;
	int context;
	uint64_t seqno;
	int fence;
	int made;
	void *map;
	struct simgpu_exec execs[EXECS];
	struct simgpu_dep deps[2];
};

/**
 * struct call - one call to be tried with faults
 * @name: for the case
 * @make: the call; 0 or a negative errno
 * @undo: undoes a successful call
 * @unchanged: whether a failed call had no effect; NULL if there is nothing
 *	to check besides the number of open files
 */
struct call {
	const char *name;
	int (*make)(struct subject *s);
	void (*undo)(struct subject *s);
	bool (*unchanged)(struct subject *s, int error);
};

static int call_open(struct subject *s)
{
	s->made = open(sim_node(), O_RDWR | O_CLOEXEC);
	return s->made < 0 ? -errno : 0;
}

static void undo_open(struct subject *s)
{
	close(s->made);
}

static int call_map(struct subject *s)
{
	s->map = sim_map(s->fd, s->create.memory, SIM_MEMORY,
			 PROT_READ | PROT_WRITE);
	return s->map == MAP_FAILED ? -errno : 0;
}

static void undo_map(struct subject *s)
{
	munmap(s->map, SIM_MEMORY);
}

static int call_info(struct subject *s)
{
	struct simgpu_info info = { 0 };

	return sim_ioctl(s->fd, SIMGPU_INFO, &info);
}

static int call_create(struct subject *s)
{
	s->made = sim_create(s->fd, &s->create);
	return s->made < 0 ? s->made : 0;
}

static void undo_create(struct subject *s)
{
	CHECK_EQ(sim_destroy(s->fd, s->made), 0);
}

static int call_submit(struct subject *s)
{
	memset(s->execs, 0, sizeof(s->execs));
	s->deps[0] = (struct simgpu_dep){ .kind = SIMGPU_DEP_FENCE,
					  .fd = s->fence };
	s->deps[1] = (struct simgpu_dep){ .kind = SIMGPU_DEP_JOB, .fd = 0,
					  .context = s->context,
					  .seqno = s->seqno };
	for (int i = 0; i < EXECS; i++) {
		s->execs[i].duration_ns = 1000;
		s->execs[i].out_fence = -1;
		if (i)
			s->execs[i].flags |= SIMGPU_EXEC_CHAIN;
		if (i & 1)
			s->execs[i].flags |= SIMGPU_EXEC_FENCE_OUT;
	}
	s->execs[0].n_deps = 2;
	s->execs[0].deps = (uintptr_t)s->deps;
	s->execs[2].flags |= SIMGPU_EXEC_WRITE;
	s->execs[2].write_value = 1;
	return sim_submit(s->fd, s->context, s->execs, EXECS, 0);
}

static void undo_submit(struct subject *s)
{
	int error = 1;

	s->seqno = s->execs[EXECS - 1].seqno;
	CHECK_EQ(sim_wait(s->fd, s->context, s->seqno, SIM_PATIENCE, &error),
		 0);
	CHECK_EQ(error, 0);
	for (int i = 0; i < EXECS; i++) {
		if (s->execs[i].flags & SIMGPU_EXEC_FENCE_OUT)
			close(s->execs[i].out_fence);
	}
}

/*
 * No job was submitted. Results written before a later write met the fault
 * remain; but then nothing may be found for them.
 */
static bool submit_unchanged(struct subject *s, int error)
{
	struct simgpu_stats stats;
	bool same = CHECK_EQ(sim_stats(s->fd, s->context, &stats), 0) &&
		    CHECK_EQ(stats.submitted, s->seqno);

	for (int i = 0; i < EXECS; i++) {
		if (error != -EFAULT)
			same = CHECK_EQ(s->execs[i].seqno, 0) &&
			       CHECK_EQ(s->execs[i].out_fence, -1) && same;
		if (s->execs[i].out_fence >= 0)
			same = CHECK(fcntl(s->execs[i].out_fence, F_GETFD) ==
				     -1) && same;
	}
	return same;
}

static int call_wait(struct subject *s)
{
	return sim_wait(s->fd, s->context, s->seqno, SIM_PATIENCE, NULL);
}

static int call_read(struct subject *s)
{
	struct simgpu_record records[8];
	uint64_t first = 1;
	int ret = sim_read(s->fd, s->context, &first, records, 8);

	return ret < 0 ? ret : 0;
}

static int call_stats(struct subject *s)
{
	struct simgpu_stats stats;

	return sim_stats(s->fd, s->context, &stats);
}

static int call_inject(struct subject *s)
{
	struct simgpu_inject inject = { .context = s->context };

	return sim_ioctl(s->fd, SIMGPU_INJECT, &inject);
}

static int call_stop(struct subject *s)
{
	return sim_control(s->fd, s->context, SIMGPU_CONTROL_STOP, 0);
}

static void undo_stop(struct subject *s)
{
	CHECK_EQ(sim_control(s->fd, s->context, SIMGPU_CONTROL_START, 0), 0);
}

/* A failed stop left nothing to be started. */
static bool stop_unchanged(struct subject *s, int error)
{
	(void)error;
	return CHECK_EQ(sim_control(s->fd, s->context, SIMGPU_CONTROL_START,
				    0), -EINVAL);
}

/* Destroys the context that was created, without faults, before this try. */
static int call_destroy(struct subject *s)
{
	return sim_destroy(s->fd, s->made);
}

static int call_kill(struct subject *s)
{
	return sim_control(s->fd, s->made, SIMGPU_CONTROL_KILL, EIO);
}

static const struct call calls[] = {
	{ "open", call_open, undo_open, NULL },
	{ "mmap", call_map, undo_map, NULL },
	{ "info", call_info, NULL, NULL },
	{ "create", call_create, undo_create, NULL },
	{ "submit", call_submit, undo_submit, submit_unchanged },
	{ "wait", call_wait, NULL, NULL },
	{ "read", call_read, NULL, NULL },
	{ "stats", call_stats, NULL, NULL },
	{ "inject", call_inject, NULL, NULL },
	{ "stop", call_stop, undo_stop, stop_unchanged },
};

/* ---- Cases ---- */

/* One try with the n-th fault. Return: whether the fault was met. */
static bool try_call(const struct call *call, struct subject *s, unsigned int n)
{
	int before = fds_open(), ret;
	bool met;

	fault_arm(n);
	ret = call->make(s);
	met = fault_disarm();
	if (!ret) {
		if (call->undo)
			call->undo(s);
	} else {
		faults_failed++;
		if (!met || (ret != -ENOMEM && ret != -EFAULT))
			tap_fail("%s: fault %u %s: %s", call->name, n,
				 met ? "met" : "not met", strerror(-ret));
		if (call->unchanged && !call->unchanged(s, ret))
			tap_fail("%s: failed at fault %u, yet did something",
				 call->name, n);
	}
	if (fds_open() != before)
		tap_fail("%s: fault %u: %d files open before, %d after",
			 call->name, n, before, fds_open());
	faults_met += met;
	return met;
}

static void try_all(const struct call *call, struct subject *s)
{
	unsigned int n = 1;

	while (n < FAULTS_MAX && try_call(call, s, n))
		n++;
	CHECK(n < FAULTS_MAX);
	tap_diag("%s: %u faults", call->name, n - 1);
}

/* A call that takes its own context, which another one would not survive. */
static void try_ending(const char *name, int (*make)(struct subject *),
		       struct subject *s)
{
	const struct call call = { name, make, NULL, NULL };
	unsigned int n = 0;
	bool met = true;

	while (met && n < FAULTS_MAX) {
		struct simgpu_exec exec = { .duration_ns = 100 * SIM_USEC,
					    .out_fence = -1 };

		s->made = sim_create(s->fd, &s->create);
		if (!CHECK(s->made > 0) ||
		    !CHECK_EQ(sim_submit(s->fd, s->made, &exec, 1, 0), 0))
			return;
		met = try_call(&call, s, ++n);
		/* Gone already if the call was well. */
		sim_destroy(s->fd, s->made);
	}
	tap_diag("%s: %u faults", name, n - 1);
}

static bool subject_open(struct subject *s, const struct variant *v)
{
	struct simgpu_exec exec = { .flags = SIMGPU_EXEC_FENCE_OUT,
				    .duration_ns = 1000 };

	*s = (struct subject){ .fd = sim_open(), .create = v->create,
			       .fence = -1, .made = -1 };
	if (s->fd < 0)
		return false;
	s->create.ring = 64;
	s->create.memory = sim_object(s->fd, SIM_MEMORY);
	s->context = sim_create(s->fd, &s->create);
	if (!CHECK(s->context > 0) ||
	    !CHECK_EQ(sim_submit(s->fd, s->context, &exec, 1, 0), 0))
		return false;
	s->seqno = exec.seqno;
	s->fence = exec.out_fence;
	return CHECK_EQ(fence_wait(s->fence, 20000), 1);
}

static void case_variant(const struct variant *v)
{
	struct subject s;

	tap_start_case();
	if (faults_ready() && subject_open(&s, v)) {
		tap_diag("%s", v->name);
		for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
			try_all(&calls[i], &s);
		try_ending("destroy", call_destroy, &s);
		try_ending("kill", call_kill, &s);
		close(s.fence);
		close(s.fd);
		live_wait_zero();
	}
	tap_end_case(v->name);
}

/* Whether faults were met at all, and whether any made a call fail. */
static void case_met(void)
{
	tap_start_case();
	if (faults_ready()) {
		CHECK(faults_met > 0);
		CHECK(faults_failed > 0);
	}
	tap_diag("faults: %u met, %u made a call fail", faults_met,
		 faults_failed);
	tap_end_case("faults are met");
}

static void case_usable(void)
{
	tap_start_case();
	device_usable();
	live_wait_zero();
	tap_end_case("the device still works");
}

static bool is_tried(unsigned int i, unsigned int step)
{
	return i < VARIANTS_DRM || i >= VARIANTS_DRM + VARIANTS_DEPQ ||
	       (i - VARIANTS_DRM) % step == 0;
}

int main(int argc, char **argv)
{
	/*
	 * All shapes of drm_sched and the depq that decides itself, but of the
	 * other depq variants one in @step: they take long with debug checks.
	 */
	unsigned int step = argc > 1 ? (unsigned int)atoi(argv[1]) : 1;
	unsigned int variants = 0;

	if (!step || argc > 2) {
		fprintf(stderr, "usage: simgpu_failnth [STEP]\n");
		return 2;
	}
	for (unsigned int i = 0; i < VARIANTS; i++)
		variants += is_tried(i, step);
	tap_begin(variants + 2);
	for (unsigned int i = 0; i < VARIANTS; i++) {
		struct variant v = variant_at(i);

		if (is_tried(i, step))
			case_variant(&v);
	}
	case_met();
	case_usable();
	return tap_finish();
}
