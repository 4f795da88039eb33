// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accesses of which it is known what they miss: walks over so many lines so
 * many times, two threads that write one line in turn so many times, and a
 * product of matrices, of which cachegrind says what it misses.
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
#define SIZE 64

static volatile unsigned char lines[4096 * LINE] __attribute__((aligned(4096)));
static volatile double a[SIZE][SIZE] __attribute__((aligned(4096)));
static volatile double b[SIZE][SIZE], product[SIZE][SIZE];
static volatile unsigned int turn __attribute__((aligned(LINE)));
static unsigned int turns;

static void walk(unsigned int count, unsigned int times)
{
	for (unsigned int i = 0; i < count; i++)
		lines[i * LINE] = 1;
	for (unsigned int j = 0; j < times; j++)
		for (unsigned int i = 0; i < count; i++)
			(void)lines[i * LINE];
}

static void *take_turns(void *data)
{
	unsigned int mine = (unsigned int)(uintptr_t)data;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(mine, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		exit(1);
	while (turn < turns)
		if (turn % 2 == mine)
			turn++;
	return NULL;
}

static void multiply(unsigned int times)
{
	/* What nobody has written is one page for all. */
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			a[i][j] = b[i][j] = 1;
	for (unsigned int n = 0; n < times; n++)
		for (int i = 0; i < SIZE; i++)
			for (int j = 0; j < SIZE; j++)
				for (int k = 0; k < SIZE; k++)
					product[i][j] += a[i][k] * b[k][j];
}

int main(int count, char **words)
{
	pthread_t other;

	if (count > 3 && !strcmp(words[1], "walk")) {
		for (int i = 2; i + 1 < count; i += 2)
			walk((unsigned int)atoi(words[i]), (unsigned int)atoi(words[i + 1]));
		return 0;
	}
	if (count == 3 && !strcmp(words[1], "multiply")) {
		multiply((unsigned int)atoi(words[2]));
		return product[1][1] < 0;
	}
	if (count != 3 || strcmp(words[1], "turns"))
		return 2;
	turns = (unsigned int)atoi(words[2]);
	if (pthread_create(&other, NULL, take_turns, (void *)1))
		return 1;
	take_turns(NULL);
	return pthread_join(other, NULL);
}
