// SPDX-License-Identifier: GPL-2.0-or-later
/* Fails if the CPU stands still for STILL ns in a window of 100 us. */
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define PASSES 20
#define STILL 100000

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(void)
{
	int pass, failed = 0;

	for (pass = 0; pass < PASSES; pass++) {
		int64_t end;

		usleep(1000 + 177 * pass);
		end = now();
		/* 50,000 turns of two instructions. */
		__asm__ volatile("mov $50000, %%ecx\n1:\tdec %%ecx\n\tjnz 1b" ::: "ecx", "cc");
		failed |= now() - end > 100000 + STILL;
	}
	return failed;
}
