// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Passes the machine's fetches, reads and writes to the model of caches.
 *
 * A fetch is counted for an instruction when it is executed, unless the previous one
 * in its block is in the same line. Data accesses are those of instructions to
 * RAM. Devices are left out, and so is what a CPU accesses by itself: page
 * tables, descriptors, and what an interrupt pushes.
 *
 * Lines are numbered by physical addresses. QEMU provides those of data. For
 * instructions it provides the address in its own memory, where RAM is a
 * file that is mapped as a whole; so their offset in that file is looked up.
 * The first data accesses check that this is right.
 */

#include "count.h"
#include "model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* RAM of a microvm continues at 4 GiB if there is more than this. */
#define LOW_END (3ULL << 30)
#define HIGH_BEGIN (4ULL << 30)
#define MAPPINGS 1024
/* The list of mappings is read at most this often. */
#define READINGS 64
/* The number of accesses whose data are compared with the assumed place in RAM. */
#define COMPARED 4096

/* A part of a file that QEMU has mapped. */
struct mapping {
	uint64_t from, to, offset;
};

/* Lines of code at one offset in a block. */
struct fetch {
	uint64_t address;
	uint64_t first, last;
};

/* The misses of a task by the instruction at one address. */
struct missed {
	const struct task *task;
	uint64_t address;
	uint64_t times[MISSES];
};

static struct geometry geometry;
static struct model *model;
static struct mapping mappings[MAPPINGS];
static int mappings_used, mappings_read;
/* The distance from an offset in RAM's file to its address in QEMU's memory. */
static uint64_t ram;
static bool ram_known;
static struct missed *missed;
static uint32_t missed_used, missed_room;
static uint32_t *missed_table;
static uint32_t missed_size;
static uint64_t fetches, reads, writes, unplaced, compared, totals[MISSES];

/* Reads the geometry from the map: caches are modelled. */
bool take_cache(const char *text)
{
	struct shape *levels = geometry.levels;

	return sscanf(text,
		      "%" SCNu32 " %" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu32
		      " %" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu32,
		      &geometry.line,
		      &levels[LEVEL_L1I].size, &levels[LEVEL_L1I].ways,
		      &levels[LEVEL_L1D].size, &levels[LEVEL_L1D].ways,
		      &levels[LEVEL_L2].size, &levels[LEVEL_L2].ways,
		      &levels[LEVEL_LLC].size, &levels[LEVEL_LLC].ways) == 9 &&
	       geometry.line;
}

static void find_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	uint64_t from, to, offset, inode;
	char line[8192];

	mappings_read++;
	mappings_used = 0;
	while (file && mappings_used < MAPPINGS && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64,
			   &from, &to, &offset, &inode) == 4 && inode)
			mappings[mappings_used++] = (struct mapping){ from, to, offset };
	}
	if (file)
		fclose(file);
}

/* Returns the mapping that contains an address in QEMU's memory. */
static const struct mapping *mapping_at(uint64_t place)
{
	for (;;) {
		for (int i = 0; i < mappings_used; i++)
			if (place >= mappings[i].from && place < mappings[i].to)
				return &mappings[i];
		if (mappings_read == READINGS)
			return NULL;
		find_mappings();
	}
}

/* Finds the physical address for an address in QEMU's memory. */
static bool find_physical(uint64_t place, uint64_t *address)
{
	const struct mapping *mapping = mapping_at(place);
	uint64_t offset;

	if (!mapping)
		return false;
	offset = place - mapping->from + mapping->offset;
	if (!ram_known)
		ram = place - offset;
	ram_known = true;
	*address = offset < LOW_END ? offset : offset - LOW_END + HIGH_BEGIN;
	return ram == place - offset;
}

/* Whether the machine sees the data that the assumed place in RAM has. */
static bool is_placed(uint64_t virtual, uint64_t address)
{
	uint64_t place = ram + (address < LOW_END ? address : address - HIGH_BEGIN + LOW_END);
	uint8_t byte;

	return mapping_at(place) && read_memory(virtual, &byte, sizeof(byte)) &&
	       byte == *(const uint8_t *)(uintptr_t)place;
}

static uint32_t *slot_of(const struct task *task, uint64_t address)
{
	uint64_t key = (address ^ (uint64_t)task->id << 40) * 0x9e3779b97f4a7c15ULL;
	uint32_t slot = (uint32_t)(key >> 32) & (missed_size - 1);

	while (missed_table[slot]) {
		const struct missed *one = &missed[missed_table[slot] - 1];

		if (one->task == task && one->address == address)
			break;
		slot = (slot + 1) & (missed_size - 1);
	}
	return &missed_table[slot];
}

/* Makes room for one more entry. */
static void grow_missed(void)
{
	missed_size = missed_size ? 2 * missed_size : 1 << 14;
	missed_room = missed_size / 2;
	missed = grown(missed, missed_room * sizeof(*missed));
	free(missed_table);
	missed_table = calloc(missed_size, sizeof(*missed_table));
	if (!missed_table)
		abort();
	for (uint32_t i = 0; i < missed_used; i++)
		*slot_of(missed[i].task, missed[i].address) = i + 1;
}

static void count_missed(uint64_t address, unsigned int bits)
{
	const struct task *task = now->task;
	uint32_t *slot;

	if (missed_used == missed_room)
		grow_missed();
	slot = slot_of(task, address);
	if (!*slot) {
		missed[missed_used++] = (struct missed){ .task = task, .address = address };
		*slot = missed_used;
	}
	for (int i = 0; i < MISSES; i++) {
		if (!(bits >> i & 1))
			continue;
		missed[*slot - 1].times[i]++;
		totals[i]++;
	}
}

/* Accesses lines on the executing CPU, by the instruction at an address. */
static void access_lines(uint64_t first, uint64_t last, enum access access, uint64_t address)
{
	unsigned int cpu = (unsigned int)(now - cpus);
	unsigned int bits = 0;

	if (!model) {
		model = new_model(&geometry, cpus_seen);
		if (!model) {
			fprintf(stderr, "assize count: no caches of this geometry\n");
			abort();
		}
	}
	for (uint64_t line = first; line <= last; line++)
		bits |= model_access(model, cpu, line, access);
	if (bits && window == WINDOW_OPEN)
		count_missed(address, bits);
}

static void fetched(unsigned int number, void *data)
{
	const struct fetch *fetch = data;

	(void)number;
	if (!now || window == WINDOW_AFTER)
		return;
	fetches++;
	access_lines(fetch->first, fetch->last, ACCESS_FETCH, fetch->address);
}

static void accessed(unsigned int number, uint32_t info, uint64_t virtual, void *data)
{
	const struct qemu_plugin_hwaddr *found;
	uint64_t address, size;
	bool store;

	(void)number;
	if (!now || window == WINDOW_AFTER)
		return;
	found = qemu_plugin_get_hwaddr(info, virtual);
	if (!found) {
		unplaced++;
		return;
	}
	if (qemu_plugin_hwaddr_is_io(found))
		return;
	address = qemu_plugin_hwaddr_phys_addr(found);
	size = 1ULL << qemu_plugin_mem_size_shift(info);
	store = qemu_plugin_mem_is_store(info);
	if (store)
		writes++;
	else
		reads++;
	if (compared < COMPARED && ram_known) {
		compared++;
		unplaced += !is_placed(virtual, address);
	}
	access_lines(address / geometry.line, (address + size - 1) / geometry.line,
		     store ? ACCESS_WRITE : ACCESS_READ, (uint64_t)(uintptr_t)data);
}

/* Makes QEMU pass the accesses of a block to the model, if there is one. */
void cache_translated(const struct qemu_plugin_tb *tb)
{
	uint64_t before = UINT64_MAX;

	for (size_t i = 0; geometry.line && i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		uint64_t place = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(insn);
		uint64_t first, last, begin;
		struct fetch *fetch;

		qemu_plugin_register_vcpu_mem_cb(insn, accessed, REGISTERS_UNUSED, MEMORY_BOTH,
						 (void *)(uintptr_t)address);
		if (!place || !find_physical(place, &begin)) {
			unplaced++;
			continue;
		}
		first = begin / geometry.line;
		last = (begin + qemu_plugin_insn_size(insn) - 1) / geometry.line;
		if (first == before && last == before)
			continue;
		fetch = grown(NULL, sizeof(*fetch));
		*fetch = (struct fetch){ address, first == before ? last : first, last };
		qemu_plugin_register_vcpu_insn_exec_cb(insn, fetched, REGISTERS_UNUSED, fetch);
		before = last;
	}
}

/* Restarts counting, with the caches as they are. */
void cache_forget(void)
{
	missed_used = 0;
	if (missed_size)
		memset(missed_table, 0, missed_size * sizeof(*missed_table));
	memset(totals, 0, sizeof(totals));
	fetches = 0;
	reads = 0;
	writes = 0;
}

static void write_times(FILE *file, const uint64_t times[MISSES])
{
	for (int i = 0; i < MISSES; i++)
		fprintf(file, " %" PRIu64, times[i]);
	fputc('\n', file);
}

/* Writes the numbers of misses and of accesses. */
void write_missed(FILE *file)
{
	if (!geometry.line)
		return;
	for (uint32_t i = 0; i < missed_used; i++) {
		fprintf(file, "missed %u %" PRIx64, missed[i].task->id, missed[i].address);
		write_times(file, missed[i].times);
	}
	fprintf(file, "cache %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, fetches, reads,
		writes, unplaced);
	write_times(file, totals);
}
