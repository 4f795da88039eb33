// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Executes a loop whose length hangs on one thing that a level can set.
 *
 * usage: probe UNITS SOURCE [ARGUMENT]...
 *        probe put PATH TEXT
 *        probe fail
 *
 * The loop has UNITS units of two million instructions, or three times as
 * many where what SOURCE looks at is as the planted level makes it:
 *
 *   argument TEXT WORD   TEXT holds WORD
 *   environment NAME WORD  the variable holds WORD
 *   file PATH WORD       the file holds WORD
 *   exists PATH          the file is there
 *   policy NAME          the placement policy of this name decides
 *   release WORD         the kernel's release begins with WORD
 *   cpus NUMBER          there are so many CPUs
 *   memory MIB           there is at least so much memory
 *   built                the program was built with -DTIMES=3
 *   library              trial_times() of libtrial says 3 (-DLIBRARY)
 *   nothing              never
 *   read PATH            no loop: the file is read UNITS times
 *
 * It prints how long the loop took, and how long the fastest of its ten parts:
 * where others use the CPU too, that one was left alone.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifndef TIMES
#define TIMES 1
#endif

#ifdef LIBRARY
int trial_times(void);
#else
static int trial_times(void)
{
	return 1;
}
#endif

/* Rounds of two instructions in a unit. */
#define ROUNDS 1000000L
/* Parts of the loop. */
#define PARTS 10

/* Two builds that differ in this alone do the same. */
#ifdef NOTE
const char note[] __attribute__((used)) = NOTE;
#endif

static void die(const char *what)
{
	fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* What the kernel says of the placement policy that decides. */
#define POLICY "/sys/kernel/sched_ext/root"

static bool file_holds(const char *path, const char *word)
{
	static char text[1 << 16];
	size_t length = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	while ((got = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	if (got < 0)
		die(path);
	close(fd);
	text[length] = '\0';
	return strstr(text, word);
}

static bool release_begins(const char *word)
{
	struct utsname name;

	if (uname(&name))
		die("uname");
	return !strncmp(name.release, word, strlen(word));
}

static bool memory_is(long mib)
{
	int64_t pages = sysconf(_SC_PHYS_PAGES);

	return pages * sysconf(_SC_PAGESIZE) >= (int64_t)mib << 20;
}

static bool exists(const char *path)
{
	struct stat data;

	return !stat(path, &data);
}

/* Whether the source, which has its arguments, is as it was planted. */
static bool planted(int count, char **words)
{
	const char *source = words[0];
	const char *first = count > 1 ? words[1] : "";
	const char *second = count > 2 ? words[2] : "";
	const char *value;

	if (count == 3 && !strcmp(source, "argument"))
		return strstr(first, second);
	if (count == 3 && !strcmp(source, "environment")) {
		value = getenv(first);
		return value && strstr(value, second);
	}
	if (count == 3 && !strcmp(source, "file"))
		return file_holds(first, second);
	if (count == 2 && !strcmp(source, "exists"))
		return exists(first);
	if (count == 2 && !strcmp(source, "policy"))
		return file_holds(POLICY "/ops", first);
	if (count == 2 && !strcmp(source, "release"))
		return release_begins(first);
	if (count == 2 && !strcmp(source, "cpus"))
		return sysconf(_SC_NPROCESSORS_ONLN) == atol(first);
	if (count == 2 && !strcmp(source, "memory"))
		return memory_is(atol(first));
	if (count == 1 && !strcmp(source, "built"))
		return TIMES == 3;
	if (count == 1 && !strcmp(source, "library"))
		return trial_times() == 3;
	if (count == 1 && !strcmp(source, "nothing"))
		return false;
	errno = EINVAL;
	die(source);
	return false;
}

static void spin(long rounds)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
}

static void read_often(const char *path, long times)
{
	char text[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	while (times--)
		if (pread(fd, text, sizeof(text), 0) < 0)
			die(path);
	close(fd);
}

static void put(const char *path, const char *text)
{
	ssize_t length = (ssize_t)strlen(text);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, (size_t)length) != length || close(fd))
		die(path);
}

static int64_t now(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_MONOTONIC, &time))
		die("clock_gettime");
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Executes the loop in parts and tells how long they took. */
static void measure(long units, const char *path)
{
	int64_t fastest = INT64_MAX, begun = now(), from = begun, to;
	int part;

	for (part = 0; part < PARTS; part++) {
		if (path)
			read_often(path, units / PARTS);
		else
			spin(units * ROUNDS / PARTS);
		to = now();
		if (to - from < fastest)
			fastest = to - from;
		from = to;
	}
	printf("loop_time: %lld ns\n", (long long)(from - begun));
	printf("loop_fastest: %lld ns\n", (long long)fastest);
}

int main(int argc, char **argv)
{
	long units;

	if (argc == 4 && !strcmp(argv[1], "put")) {
		put(argv[2], argv[3]);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "fail"))
		return 1;
	if (argc < 3) {
		fprintf(stderr, "usage: probe UNITS SOURCE [ARGUMENT]...\n");
		return 2;
	}
	units = atol(argv[1]);
	if (argc == 4 && !strcmp(argv[2], "read"))
		measure(units, argv[3]);
	else
		measure(planted(argc - 2, argv + 2) ? 3 * units : units, NULL);
	return 0;
}
