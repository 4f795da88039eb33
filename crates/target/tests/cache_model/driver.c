// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Feeds the cache model from standard input: the bytes of a cache line, then
 * size and ways of L1i, L1d, L2 and the last level, then the number of CPUs.
 * Each further line is an access: a CPU, one of f, r and w, and the number of a
 * cache line. For each it prints a number whose bits say which caches missed.
 */

#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	struct geometry geometry;
	struct model *model;
	unsigned int cpus, cpu;
	uint64_t number;
	char kind;

	if (scanf("%" SCNu32, &geometry.line) != 1)
		return 2;
	for (int i = 0; i < LEVELS; i++)
		if (scanf("%" SCNu64 " %" SCNu32, &geometry.levels[i].size,
			  &geometry.levels[i].ways) != 2)
			return 2;
	if (scanf("%u", &cpus) != 1)
		return 2;
	model = new_model(&geometry, cpus);
	if (!model)
		return 3;
	while (scanf("%u %c %" SCNu64, &cpu, &kind, &number) == 3) {
		const char *kinds = "frw";
		const char *at = strchr(kinds, kind);

		if (!at || cpu >= cpus)
			return 2;
		printf("%u\n", model_access(model, cpu, number, (enum access)(at - kinds)));
	}
	return feof(stdin) ? 0 : 2;
}
