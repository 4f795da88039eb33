// SPDX-License-Identifier: GPL-2.0-or-later
/* A model of caches: which levels miss in each access to a line. */

#include "model.h"

#include <stdlib.h>
#include <string.h>

/*
 * An entry of a set is the line number plus one, doubled, so that no
 * entry is 0, which means none. In an L1d, the lowest bit means that its
 * CPU has modified the line.
 */
#define OWNED 1ULL

static uint64_t entry_of(uint64_t number)
{
	return (number + 1) << 1;
}

static bool is_of(uint64_t entry, uint64_t number)
{
	return (entry & ~OWNED) == entry_of(number);
}

static bool begin_cache(struct cache *cache, const struct shape *shape, uint32_t line)
{
	cache->ways = shape->ways;
	if (!line || !shape->ways)
		return false;
	cache->sets = shape->size / line / shape->ways;
	if (!cache->sets || cache->sets * shape->ways * line != shape->size)
		return false;
	cache->entries = calloc(cache->sets * cache->ways, sizeof(*cache->entries));
	return cache->entries;
}

/* Creates a model with empty caches; NULL for an invalid geometry. */
struct model *new_model(const struct geometry *geometry, unsigned int cpus)
{
	struct model *model = calloc(1, sizeof(*model));
	bool good = model && cpus && cpus <= MODEL_CPUS;

	for (unsigned int i = 0; good && i < cpus; i++)
		for (int level = LEVEL_L1I; good && level < LEVEL_LLC; level++)
			good = begin_cache(&model->own[i][level], &geometry->levels[level],
					   geometry->line);
	if (!good || !begin_cache(&model->last, &geometry->levels[LEVEL_LLC], geometry->line))
		return NULL;
	model->cpus = cpus;
	model->lines_room = 1 << 16;
	model->lines = calloc(model->lines_room, sizeof(*model->lines));
	return model->lines ? model : NULL;
}

static uint64_t *set_of(const struct cache *cache, uint64_t number)
{
	return cache->entries + number % cache->sets * cache->ways;
}

/* Finds a line in a cache, without counting as a use. */
static uint64_t *find(const struct cache *cache, uint64_t number)
{
	uint64_t *set = set_of(cache, number);

	for (uint32_t i = 0; i < cache->ways; i++)
		if (is_of(set[i], number))
			return &set[i];
	return NULL;
}

/* Finds a line and makes it the most recently used of its set. */
static uint64_t *use(struct cache *cache, uint64_t number)
{
	uint64_t *set = set_of(cache, number);
	uint64_t *found = find(cache, number);
	uint64_t entry;

	if (!found || found == set)
		return found;
	entry = *found;
	memmove(set + 1, set, (size_t)(found - set) * sizeof(*set));
	set[0] = entry;
	return set;
}

/* Puts a line into its set, and returns the replaced entry. */
static uint64_t put(struct cache *cache, uint64_t entry)
{
	uint64_t *set = set_of(cache, (entry >> 1) - 1);
	uint64_t replaced = set[cache->ways - 1];

	memmove(set + 1, set, (cache->ways - 1) * sizeof(*set));
	set[0] = entry;
	return replaced;
}

static void drop(struct cache *cache, uint64_t number)
{
	uint64_t *last = set_of(cache, number) + cache->ways - 1;
	uint64_t *found = find(cache, number);

	if (!found)
		return;
	memmove(found, found + 1, (size_t)(last - found) * sizeof(*found));
	*last = 0;
}

/* Returns the slot of a line in the table, existing or free. */
static struct line *slot_of(const struct model *model, uint64_t number)
{
	uint64_t mask = model->lines_room - 1;
	uint64_t slot = (number * 0x9e3779b97f4a7c15ULL) >> 20 & mask;

	while (model->lines[slot].number && model->lines[slot].number != number + 1)
		slot = (slot + 1) & mask;
	return &model->lines[slot];
}

static void grow(struct model *model)
{
	struct line *old = model->lines;
	uint64_t room = model->lines_room;

	model->lines_room *= 2;
	model->lines = calloc(model->lines_room, sizeof(*model->lines));
	if (!model->lines)
		abort();
	for (uint64_t i = 0; i < room; i++)
		if (old[i].number)
			*slot_of(model, old[i].number - 1) = old[i];
	free(old);
}

/* Returns the state of a line, which is kept from its first miss on. */
static struct line *line_of(struct model *model, uint64_t number)
{
	struct line *line = slot_of(model, number);

	if (line->number)
		return line;
	if (model->lines_used >= model->lines_room / 2) {
		grow(model);
		line = slot_of(model, number);
	}
	model->lines_used++;
	line->number = number + 1;
	return line;
}

/* A modified line is written to the last level. */
static void write_back(struct model *model, uint64_t number)
{
	if (!use(&model->last, number))
		put(&model->last, entry_of(number));
}

/* A line has left a cache of a CPU, which may not have it any more. */
static void left(struct model *model, unsigned int cpu, uint64_t number)
{
	struct line *line = slot_of(model, number);

	for (int level = LEVEL_L1I; level < LEVEL_LLC; level++)
		if (find(&model->own[cpu][level], number))
			return;
	line->holders &= ~(1ULL << cpu);
	if (line->owner == cpu + 1) {
		line->owner = 0;
		write_back(model, number);
	}
}

static void put_second(struct model *model, unsigned int cpu, uint64_t number)
{
	uint64_t replaced = put(&model->own[cpu][LEVEL_L2], entry_of(number));

	if (replaced)
		left(model, cpu, (replaced >> 1) - 1);
}

static void put_first(struct model *model, unsigned int cpu, enum level level, uint64_t entry)
{
	uint64_t replaced = put(&model->own[cpu][level], entry);
	uint64_t number = (replaced >> 1) - 1;

	if (!replaced)
		return;
	if (replaced & OWNED && !use(&model->own[cpu][LEVEL_L2], number))
		put_second(model, cpu, number);
	left(model, cpu, number);
}

/* Brings a line that missed in the first level to its CPU. */
static unsigned int bring(struct model *model, unsigned int cpu, struct line *line)
{
	uint64_t number = line->number - 1;
	unsigned int missed = 1 << MISS_L2;

	if (use(&model->own[cpu][LEVEL_L2], number))
		return 0;
	if (line->owner && line->owner != cpu + 1) {
		uint64_t *entry = find(&model->own[line->owner - 1][LEVEL_L1D], number);

		/* The CPU that has modified it keeps it, but not exclusively. */
		if (entry)
			*entry &= ~OWNED;
		line->owner = 0;
		write_back(model, number);
		missed |= 1 << MISS_TRANSFER;
	} else if (!line->owner && !use(&model->last, number)) {
		missed |= 1 << MISS_LLC;
		put(&model->last, entry_of(number));
	}
	line->holders |= 1ULL << cpu;
	put_second(model, cpu, number);
	return missed;
}

/* Invalidates a line on all other CPUs. */
static void own(struct model *model, unsigned int cpu, struct line *line)
{
	for (unsigned int other = 0; other < model->cpus; other++) {
		if (other == cpu || !(line->holders >> other & 1))
			continue;
		for (int level = LEVEL_L1I; level < LEVEL_LLC; level++)
			drop(&model->own[other][level], line->number - 1);
	}
	line->holders = 1ULL << cpu;
	line->owner = cpu + 1;
}

/* Simulates an access of a CPU to a line; returns a bit for each event. */
unsigned int model_access(struct model *model, unsigned int cpu, uint64_t number,
			  enum access access)
{
	enum level level = access == ACCESS_FETCH ? LEVEL_L1I : LEVEL_L1D;
	struct cache *first = &model->own[cpu][level];
	uint64_t *entry = use(first, number);
	unsigned int missed = 0;
	struct line *line;

	if (entry && (access != ACCESS_WRITE || *entry & OWNED))
		return 0;
	line = line_of(model, number);
	if (!entry) {
		uint64_t owned = level == LEVEL_L1D && line->owner == cpu + 1 ? OWNED : 0;

		missed = 1 << (level == LEVEL_L1I ? MISS_L1I : MISS_L1D);
		missed |= bring(model, cpu, line);
		put_first(model, cpu, level, entry_of(number) | owned);
		entry = set_of(first, number);
	}
	if (access == ACCESS_WRITE && !(*entry & OWNED)) {
		own(model, cpu, line);
		*entry |= OWNED;
	}
	return missed;
}
