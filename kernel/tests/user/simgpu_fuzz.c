// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simgpu_fuzz - random calls of the simgpu user interface
 *
 *	simgpu_fuzz [SEED [CALLS [THREADS]]]
 *
 * Threads share one pool of files, contexts and fences and make random calls.
 * Most calls use existing objects, so that they pass the checks and
 * reach the queues; the rest have a field, a size, a pointer or a descriptor
 * from a list of hostile values. The pool is tracked loosely: another thread
 * may have destroyed a context or closed a fence meanwhile, which is
 * intended.
 *
 * Jobs last microseconds and time-outs are short, so that a million calls
 * take seconds. SIMGPU_FAULT_GONE is left out: it ends the device.
 *
 * The random numbers of each thread follow from the seed and the number of the
 * thread. The calls do not: what a number picks depends on what is in the pool
 * at that moment, so on the other threads, on timers and on results. A seed
 * repeats a run in the exact machine only, whatever its number of CPUs, and
 * there only with the same kernel, modules, program and arguments; elsewhere,
 * or after a change of the modules, it is one more run of the same kind.
 */

#include <signal.h>

#include "fuzz.h"

struct tap tap;

static const char *const op_names[OPS] = {
	"INFO", "CREATE", "DESTROY", "SUBMIT", "WAIT", "READ", "STATS",
	"INJECT", "CONTROL", "raw ioctl", "reopen", "close fence", "poll",
	"mmap", "DRM",
};

/* How often, in a thousand. */
static const unsigned int op_weights[OPS] = {
	10, 16, 8, 440, 130, 50, 50, 20, 55, 60, 1, 45, 15, 10, 90,
};

static void *fuzz(void *data)
{
	struct fuzzer *f = data;

	while (f->calls--) {
		uint32_t r = below(f, 1000);
		unsigned int op = 0;
		int ret;

		while (op < OPS - 1 && r >= op_weights[op])
			r -= op_weights[op++];
		ret = -ops[op](f);
		f->counts[op][ret >= 0 && ret < 159 ? ret : 159]++;
	}
	return NULL;
}

static void on_signal(int signal)
{
	(void)signal;
}

static void start(struct fuzzer *f, uint64_t seed, unsigned int n,
		  unsigned long calls)
{
	f->random = seed * 0x9e3779b97f4a7c15ull + n;
	random_next(&f->random);
	f->calls = calls;
	f->memory = mmap(NULL, MEMORY + 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->memory == MAP_FAILED ||
	    munmap(f->memory + MEMORY, 4096) ||
	    pthread_create(&f->thread, NULL, fuzz, f)) {
		fprintf(stderr, "simgpu_fuzz: no memory for a thread\n");
		exit(1);
	}
}

/* Counts by operation and errno, as one line for each operation. */
static void report(const struct fuzzer *fuzzers, unsigned int threads)
{
	for (unsigned int op = 0; op < OPS; op++) {
		char line[900];
		size_t at = 0;

		for (unsigned int e = 0; e < 160; e++) {
			unsigned long n = 0;

			for (unsigned int t = 0; t < threads; t++)
				n += fuzzers[t].counts[op][e];
			if (!n || at > sizeof(line) - 40)
				continue;
			at += (size_t)snprintf(line + at, sizeof(line) - at,
				" %s %lu", e == 0 ? "ok" : e == 159 ? "other" :
				strerrorname_np((int)e) ?: "?", n);
		}
		tap_diag("%-11s%s", op_names[op], at ? line : " none");
	}
}

/* Waits, and interrupts threads that wait for too long in the kernel. */
static void join_all(struct fuzzer *fuzzers, unsigned int threads)
{
	for (unsigned int t = 0; t < threads; t++) {
		unsigned int tries = 0;

		for (;;) {
			struct timespec until;

			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_nsec += 10 * 1000 * 1000;
			if (until.tv_nsec >= 1000000000) {
				until.tv_nsec -= 1000000000;
				until.tv_sec++;
			}
			if (!pthread_timedjoin_np(fuzzers[t].thread, NULL,
						  &until))
				break;
			for (unsigned int i = t; i < threads; i++)
				pthread_kill(fuzzers[i].thread, SIGUSR1);
			tries++;
		}
		if (tries > 1)
			tap_diag("thread %u was interrupted %u times", t, tries);
		if (fuzzers[t].unmapped_again)
			tap_diag("thread %u could not unmap %lu times", t,
				 fuzzers[t].unmapped_again);
	}
}

/*
 * The caller may make allocations of this program fail. That is for the calls and
 * for the jobs; the final checks must be spared, and so must this.
 */
static void faults_off(void)
{
	ssize_t n = -1;

	for (unsigned int tries = 0; n != 1 && tries < 1000; tries++) {
		int fd = open("/proc/self/make-it-fail", O_WRONLY | O_CLOEXEC);

		if (fd < 0 && errno == ENOENT)
			return; /* nothing fails in this kernel */
		if (fd < 0)
			continue;
		n = write(fd, "0", 1);
		close(fd);
	}
	CHECK_EQ(n, 1);
}

static void finish_case(const char *name)
{
	tap_end_case(name);
	tap_start_case();
}

static void run(uint64_t seed, unsigned long calls, unsigned int threads)
{
	static struct fuzzer fuzzers[THREADS_MAX];
	uint64_t begin = now_ns(), end;
	unsigned long done = 0;

	for (unsigned int i = 0; i < FILES; i++)
		files[i].fd = sim_open();
	engines = sim_engines(files[0].fd);
	for (unsigned int t = 0; t < threads; t++)
		start(&fuzzers[t], seed, t,
		      calls / threads + (t < calls % threads));
	join_all(fuzzers, threads);
	end = now_ns();
	faults_off();
	for (unsigned int i = 0; i < FILES; i++)
		close(files[i].fd);
	for (unsigned int i = 0; i < FENCES; i++) {
		if (fences[i] <= 0)
			continue;
		if (fence_wait(fences[i], 20000) != 1)
			tap_fail("fence %d never signals", fences[i]);
		close(fences[i]);
	}
	report(fuzzers, threads);
	for (unsigned int t = 0; t < threads; t++)
		for (unsigned int op = 0; op < OPS; op++)
			for (unsigned int e = 0; e < 160; e++)
				done += fuzzers[t].counts[op][e];
	tap_diag("%lu calls in %.3f s of guest time", done,
		 (double)(end - begin) / 1e9);
	CHECK_EQ(done, calls);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	unsigned long calls = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000000;
	unsigned int threads = argc > 3 ? (unsigned int)atoi(argv[3]) : 4;
	struct sigaction action = { .sa_handler = on_signal };
	int kmsg = kmsg_open(), fds;

	tap_begin(5);
	debugfs_mount();
	if (!threads || threads > THREADS_MAX)
		threads = 4;
	tap_diag("seed %llu, %lu calls, %u threads", (unsigned long long)seed,
		 calls, threads);
	sigaction(SIGUSR1, &action, NULL);
	fds = fds_open();

	tap_start_case();
	run(seed, calls, threads);
	finish_case("all calls return and all fences signal");
	CHECK_EQ(fds_open(), fds);
	finish_case("no descriptor is left open");
	live_wait_zero();
	finish_case("nothing is left alive");
	device_usable();
	live_wait_zero();
	finish_case("the device executes jobs");
	if (kmsg < 0)
		tap_skip("no /dev/kmsg");
	else
		kmsg_complaints(kmsg);
	finish_case("the kernel has not complained");
	return tap_finish();
}
