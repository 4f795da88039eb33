// SPDX-License-Identifier: GPL-2.0-or-later
/* Translation blocks: what each contains, and which were seen before. */

#include "count.h"

#include <stdlib.h>
#include <string.h>

#define MARK_LENGTH 8
static const uint8_t MARK[7] = { 0x0f, 0x1f, 0x84, 0x00, 0, 0x7a, 0x73 };

struct block **blocks;
uint32_t blocks_used;
static uint32_t blocks_room;
static uint32_t *block_table;
static uint32_t block_table_size;

bool begin_blocks(void)
{
	block_table_size = 1 << 18;
	block_table = calloc(block_table_size, sizeof(*block_table));
	return block_table;
}

enum mark mark_of(const uint8_t *code, size_t size)
{
	if (size != MARK_LENGTH || memcmp(code, MARK, 4) ||
	    memcmp(code + 5, MARK + 5, 2) || code[7] != 0x61)
		return MARK_NONE;
	return code[4] <= MARK_GIVE ? (enum mark)code[4] : MARK_NONE;
}

static enum entry entry_of(uint64_t address)
{
	if (address >= map.vectors_from && address < map.vectors_to)
		return ENTRY_INTERRUPT;
	for (int i = 0; i < map.entries_used; i++)
		if (map.entries[i] == address)
			return map.kinds[i];
	return ENTRY_NONE;
}

/* Returns the start of the function at an address. */
uint64_t function_at(uint64_t address)
{
	uint32_t from = 0, to = map.functions_used;

	if (!(address >> 63))
		return FUNCTION_USER;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (map.functions[middle] <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || address - map.functions[from - 1] >= map.longest)
		return FUNCTION_NONE;
	return map.functions[from - 1];
}

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

/* Whether a function is a trampoline: the map lists them in order. */
bool passes_on(uint64_t function)
{
	return bsearch(&function, map.passing, (size_t)map.passing_used,
		       sizeof(*map.passing), compare);
}

static void find_segments(struct block *block)
{
	struct segment *last = NULL;

	block->segments = grown(NULL, SEGMENTS * sizeof(*last));
	for (uint32_t i = 0; i < block->length; i++) {
		uint64_t function = function_at(block->address + block->offsets[i]);

		if (!last || (last->function != function && block->segments_used < SEGMENTS)) {
			last = &block->segments[block->segments_used++];
			*last = (struct segment){ function, 0 };
		}
		last->length++;
	}
	if (block->segments_used == 1) {
		block->own_segment = *block->segments;
		free(block->segments);
		block->segments = &block->own_segment;
		return;
	}
	block->segments = grown(block->segments, block->segments_used * sizeof(*last));
}

/* Returns the effect of the last instruction of a block on the call stack. */
static enum leaves leaves_of(const uint8_t *code, size_t size)
{
	size_t at = 0;

	/* Prefixes for segments, sizes and repetition, and REX. */
	while (at + 1 < size && (code[at] == 0x26 || code[at] == 0x2e || code[at] == 0x36 ||
				 (code[at] >= 0x3e && code[at] <= 0x4f) ||
				 (code[at] >= 0x64 && code[at] <= 0x67) ||
				 code[at] == 0xf2 || code[at] == 0xf3))
		at++;
	switch (code[at]) {
	case 0xe8:
		return LEAVES_CALL;
	case 0xff:
		return at + 1 < size && (code[at + 1] >> 3 & 7) == 2 ? LEAVES_CALL : LEAVES_NOT;
	case 0xc2:
	case 0xc3:
		return LEAVES_RETURN;
	case 0xcf:
		return LEAVES_INTERRUPT;
	default:
		return LEAVES_NOT;
	}
}

/* Keeps the bytes of a block. */
static void keep_code(struct block *block, const struct qemu_plugin_tb *tb)
{
	uint8_t code[16];

	for (size_t i = 0; i < block->length; i++) {
		size_t size = qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, i),
						    code, sizeof(code));

		if (size > sizeof(code))
			size = sizeof(code);
		block->code = grown(block->code, block->code_length + size);
		memcpy(block->code + block->code_length, code, size);
		block->code_length += (uint32_t)size;
	}
}

static struct block *new_block(const struct qemu_plugin_tb *tb, uint64_t hash)
{
	size_t length = qemu_plugin_tb_n_insns(tb);
	struct block *block = grown(NULL, sizeof(*block));
	uint8_t code[16];
	size_t size;

	memset(block, 0, sizeof(*block));
	block->address = qemu_plugin_tb_vaddr(tb);
	block->hash = hash;
	block->length = (uint32_t)length;
	block->offsets = grown(NULL, length * sizeof(*block->offsets));
	for (size_t i = 0; i < length; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		block->offsets[i] = (uint16_t)(qemu_plugin_insn_vaddr(insn) -
					       block->address);
	}
	size = qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, length - 1),
				     code, sizeof(code));
	block->end = block->address + block->offsets[length - 1] + size;
	block->reads_clock = (size == 2 && code[0] == 0x0f && code[1] == 0x31) ||
			     (size == 3 && code[0] == 0x0f && code[1] == 0x01 &&
			      code[2] == 0xf9);
	block->halts = size == 1 && code[0] == 0xf4;
	block->entry = entry_of(block->address);
	block->leaves = leaves_of(code, size);
	if (!(block->address >> 63))
		keep_code(block, tb);
	if (map.functions_used)
		find_segments(block);
	block->switches = block->address == map.switch_to;
	for (int i = 0; i < probes_used; i++)
		if (probes[i].address == block->address)
			block->probe = i + 1;
	return block;
}

static uint64_t hash_of(const struct qemu_plugin_tb *tb)
{
	uint64_t hash = 0xcbf29ce484222325ULL ^ qemu_plugin_tb_vaddr(tb);
	size_t length = qemu_plugin_tb_n_insns(tb);
	uint8_t code[16];

	for (size_t i = 0; i < length; i++) {
		size_t size = qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, i),
						    code, sizeof(code));

		hash = (hash ^ size) * 0x100000001b3ULL;
		for (size_t j = 0; j < size && j < sizeof(code); j++)
			hash = (hash ^ code[j]) * 0x100000001b3ULL;
	}
	return hash ^ hash >> 29;
}

static void remember(struct block *block)
{
	uint32_t slot = block->hash & (block_table_size - 1);

	while (block_table[slot])
		slot = (slot + 1) & (block_table_size - 1);
	block_table[slot] = block->id + 1;
}

struct block *find_block(const struct qemu_plugin_tb *tb)
{
	uint64_t hash = hash_of(tb), address = qemu_plugin_tb_vaddr(tb);
	uint32_t slot = hash & (block_table_size - 1);
	struct block *block;

	while (block_table[slot]) {
		block = blocks[block_table[slot] - 1];
		if (block->hash == hash && block->address == address &&
		    block->length == qemu_plugin_tb_n_insns(tb))
			return block;
		slot = (slot + 1) & (block_table_size - 1);
	}
	if (blocks_used == blocks_room) {
		blocks_room = blocks_room ? 2 * blocks_room : 65536;
		blocks = grown(blocks, blocks_room * sizeof(struct block *));
	}
	block = new_block(tb, hash);
	block->id = blocks_used;
	blocks[blocks_used++] = block;
	remember(block);
	if (blocks_used > block_table_size / 2) {
		free(block_table);
		block_table_size *= 2;
		block_table = calloc(block_table_size, sizeof(*block_table));
		if (!block_table)
			abort();
		for (uint32_t i = 0; i < blocks_used; i++)
			remember(blocks[i]);
	}
	return block;
}
