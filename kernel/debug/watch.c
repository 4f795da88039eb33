// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a program in a debug kernel and reports the kernel's messages.
 *
 * usage: watch [-u MODULE]... [-f] [-l] [-- PROGRAM [ARGUMENT]...]
 *   -u MODULE  remove this module after the program has ended
 *   -f         make allocations of the program fail, as configured in debugfs
 *   -l         look for leaked memory after everything is removed
 *
 * Without a program, it reports the kernel's messages so far. The program's
 * output is passed through. The report follows on standard error:
 *
 *   watch: program exit STATUS | program signal NUMBER
 *   watch: remove MODULE ERRNO
 *   watch: lockdep 0|1 | absent
 *   watch: tainted BITS
 *   watch: leaks COUNT | absent
 *   leak: a line of the report of kmemleak
 *   kernel: a line of the kernel's log
 *   watch: lost RECORDS
 *   watch: end
 *
 * The exit status is 0 whatever the program did: the reader of the report judges.
 * Linked statically; needs no other files.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODULES_MAX	8
/* Fences hold their module until a grace period after they are freed. */
#define REMOVE_TRIES	200
#define REMOVE_PAUSE_US	100000
/* kmemleak ignores younger memory; see MSECS_MIN_AGE there. */
#define LEAK_AGE_S	6

static const char *const kmemleak = "/sys/kernel/debug/kmemleak";

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return done;
}

static void run_program(char **argv, bool fail)
{
	int status;
	pid_t child = fork();

	if (child < 0) {
		fprintf(stderr, "watch: fork: %s\n", strerror(errno));
		exit(3);
	}
	if (!child) {
		if (fail && !write_file("/proc/self/make-it-fail", "1")) {
			fprintf(stderr, "watch: make-it-fail: %s\n",
				strerror(errno));
			_exit(127);
		}
		execv(argv[0], argv);
		fprintf(stderr, "watch: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (waitpid(child, &status, 0) != child) {
		fprintf(stderr, "watch: wait: %s\n", strerror(errno));
		exit(3);
	}
	if (WIFEXITED(status))
		fprintf(stderr, "watch: program exit %d\n",
			WEXITSTATUS(status));
	else
		fprintf(stderr, "watch: program signal %d\n",
			WTERMSIG(status));
}

static void remove_module(const char *name)
{
	int tries, error = 0;

	for (tries = 0; tries < REMOVE_TRIES; tries++) {
		error = 0;
		if (!syscall(SYS_delete_module, name, O_NONBLOCK))
			break;
		error = errno;
		if (error != EAGAIN && error != EBUSY)
			break;
		usleep(REMOVE_PAUSE_US);
	}
	fprintf(stderr, "watch: remove %s %d\n", name, error);
}

static void tell_lockdep(void)
{
	FILE *file = fopen("/proc/lockdep_stats", "re");
	char line[256];
	int on;

	if (!file) {
		fprintf(stderr, "watch: lockdep absent\n");
		return;
	}
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " debug_locks: %d", &on) == 1)
			fprintf(stderr, "watch: lockdep %d\n", on);
	}
	fclose(file);
}

static void tell_tainted(void)
{
	FILE *file = fopen("/proc/sys/kernel/tainted", "re");
	unsigned long bits;

	if (file && fscanf(file, "%lu", &bits) == 1)
		fprintf(stderr, "watch: tainted %lu\n", bits);
	if (file)
		fclose(file);
}

/* Memory counts as leaked if it did not change between two scans. */
static void tell_leaks(void)
{
	const char *begin = "unreferenced object";
	char line[512];
	int count = 0;
	FILE *file;

	sleep(LEAK_AGE_S);
	if (!write_file(kmemleak, "scan") || !write_file(kmemleak, "scan")) {
		fprintf(stderr, "watch: leaks absent\n");
		return;
	}
	file = fopen(kmemleak, "re");
	if (!file) {
		fprintf(stderr, "watch: leaks absent\n");
		return;
	}
	while (fgets(line, sizeof(line), file)) {
		count += !strncmp(line, begin, strlen(begin));
		fprintf(stderr, "leak: %s", line);
	}
	fclose(file);
	fprintf(stderr, "watch: leaks %d\n", count);
}

/* A record is `LEVEL,SEQUENCE,TIME,FLAGS;TEXT`, then lines that begin with a
 * space. Each read returns one.
 */
static void tell_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	unsigned long lost = 0;
	char record[8192];
	char *text, *end;
	ssize_t length;

	if (fd < 0) {
		fprintf(stderr, "watch: log absent\n");
		return;
	}
	for (;;) {
		length = read(fd, record, sizeof(record) - 1);
		if (length < 0 && errno == EPIPE) {
			lost++;
			continue;
		}
		if (length <= 0)
			break;
		record[length] = 0;
		text = strchr(record, ';');
		if (!text)
			continue;
		end = strchr(text, '\n');
		if (end)
			*end = 0;
		fprintf(stderr, "kernel: %s\n", text + 1);
	}
	close(fd);
	fprintf(stderr, "watch: lost %lu\n", lost);
}

int main(int argc, char **argv)
{
	const char *modules[MODULES_MAX];
	bool leaks = false, fail = false;
	int option, i, n = 0;

	while ((option = getopt(argc, argv, "+u:fl")) != -1) {
		if (option == 'u' && n < MODULES_MAX)
			modules[n++] = optarg;
		else if (option == 'f')
			fail = true;
		else if (option == 'l')
			leaks = true;
		else
			return 2;
	}
	if (optind < argc)
		run_program(argv + optind, fail);
	for (i = 0; i < n; i++)
		remove_module(modules[i]);
	if (leaks)
		tell_leaks();
	tell_lockdep();
	tell_tainted();
	tell_log();
	fprintf(stderr, "watch: end\n");
	return 0;
}
