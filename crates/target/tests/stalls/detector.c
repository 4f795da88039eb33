// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Detects stalls: reads the time-stamp counter continuously on one CPU, and
 * prints the beginning and length of each gap longer than a threshold.
 *
 * usage: detector CPU MILLISECONDS THRESHOLD_NS WARM_UP_MILLISECONDS
 *
 * On the exact machine the counter counts nanoseconds. The first line is the
 * beginning and end of the watch.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <x86intrin.h>

#define GAPS 65536

static uint64_t begins[GAPS], lengths[GAPS];

static unsigned int look(uint64_t from, uint64_t to, uint64_t threshold)
{
	uint64_t last = from, now;
	unsigned int found = 0;

	for (;;) {
		now = __rdtsc();
		if (now - last > threshold && found < GAPS) {
			begins[found] = last;
			lengths[found++] = now - last;
			/* Do not count the recording as a gap. */
			now = __rdtsc();
		}
		if (now >= to)
			return found;
		last = now;
	}
}

int main(int argc, char **argv)
{
	uint64_t from, to, warm;
	unsigned int found, i;
	cpu_set_t cpus;

	if (argc != 5)
		return 2;
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || mlockall(MCL_CURRENT))
		return 3;
	warm = __rdtsc();
	from = warm + strtoull(argv[4], NULL, 10) * 1000000;
	look(warm, from, UINT64_MAX);
	from = __rdtsc();
	to = from + strtoull(argv[2], NULL, 10) * 1000000;
	found = look(from, to, strtoull(argv[3], NULL, 10));
	printf("%llu %llu\n", (unsigned long long)from, (unsigned long long)to);
	for (i = 0; i < found; i++)
		printf("%llu %llu\n", (unsigned long long)begins[i],
		       (unsigned long long)lengths[i]);
	return 0;
}
