/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of caches. It does not depend on QEMU, so it can be tested
 * separately.
 *
 * Each CPU has an L1i, an L1d and an L2; all share a last level. Each consists of
 * sets with a number of ways and LRU replacement.
 * A level neither includes nor excludes another: a line is put into
 * all levels that missed, and one that leaves a level stays in the
 * others. Stores allocate; a modified line is written to the next level when
 * it leaves its own.
 */
#ifndef ASSIZE_PLUGIN_MODEL_H
#define ASSIZE_PLUGIN_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* The most CPUs: a line has a bit for each. */
#define MODEL_CPUS 64

enum access { ACCESS_FETCH, ACCESS_READ, ACCESS_WRITE };

/* The events of an access, as bit numbers of the result. */
enum miss { MISS_L1I, MISS_L1D, MISS_L2, MISS_LLC, MISS_TRANSFER, MISSES };

enum level { LEVEL_L1I, LEVEL_L1D, LEVEL_L2, LEVEL_LLC, LEVELS };

struct shape {
	/* Bytes of all its lines. */
	uint64_t size;
	uint32_t ways;
};

struct geometry {
	uint32_t line;
	struct shape levels[LEVELS];
};

struct cache {
	uint64_t sets;
	uint32_t ways;
	/* The lines of each set, the most recently used first. */
	uint64_t *entries;
};

/* Which CPUs have a line, and which of them has modified it. */
struct line {
	uint64_t number;
	uint64_t holders;
	uint32_t owner;
};

struct model {
	unsigned int cpus;
	struct cache own[MODEL_CPUS][LEVEL_LLC];
	struct cache last;
	struct line *lines;
	uint64_t lines_used, lines_room;
};

struct model *new_model(const struct geometry *geometry, unsigned int cpus);
unsigned int model_access(struct model *model, unsigned int cpu, uint64_t number,
			  enum access access);

#endif
