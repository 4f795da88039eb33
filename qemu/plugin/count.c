// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts each instruction that a machine executes between two marks, by CPU,
 * task and translation block. The machine does not notice.
 *
 * The marks are instructions without effect which the agent executes: a long
 * NOP whose displacement is one of those below.
 *
 * A block is counted when it begins. It may be left before its end: by a
 * fault, or by QEMU, which executes an access to a device by itself. So its
 * last instruction is marked too, and when the next block begins, a block
 * whose mark is missing is corrected by where the machine goes on.
 *
 * All this happens by callbacks. QEMU's inline operations are faster, but
 * several CPUs then take other turns than without the plugin.
 */

#include "api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS 64
#define TASK_SLOTS 65536
#define ENTRIES 1024
#define PROBES 16
#define NAME_LENGTH 16
#define PAGE_MASK 0xfffULL

#define MARK_LENGTH 8
static const uint8_t MARK[7] = { 0x0f, 0x1f, 0x84, 0x00, 0, 0x7a, 0x73 };
enum mark { MARK_NONE, MARK_BEGIN, MARK_END, MARK_GIVE };

/* How the machine comes to a block. */
enum entry { ENTRY_NONE, ENTRY_INTERRUPT, ENTRY_TRAP, ENTRY_TRAP_WITH_CODE };

struct block {
	uint64_t address;
	uint64_t hash;
	uint32_t id;
	uint32_t length;
	uint16_t *offsets;
	enum entry entry;
	bool reads_clock;
	bool halts;
	bool switches;
	int probe;
};

struct task {
	uint64_t pointer;
	unsigned int cpu;
	int pid;
	int tgid;
	char name[NAME_LENGTH + 1];
	uint64_t *whole;
	uint32_t room;
	uint32_t id;
};

/* A block of which a task executed only the first instructions. */
struct part {
	uint32_t task;
	uint32_t block;
	uint32_t executed;
	uint64_t times;
};

struct probe {
	uint64_t address;
	char argument[8];
	struct qemu_plugin_register *handle;
	uint64_t entries;
	uint64_t buckets[65];
};

struct cpu {
	struct block *last;
	bool last_counted;
	bool whole;
	bool halted;
	bool clock_known;
	struct task *task;
	uint64_t executed;
	uint64_t clock_offset;
	uint64_t skipped;
};

enum window { WINDOW_BEFORE, WINDOW_OPEN, WINDOW_AFTER };

static struct cpu cpus[CPUS];
static unsigned int cpus_seen;
/* The CPU that executes. One thread executes all of them in turn. */
static struct cpu *now;
/* Where the kernel keeps what belongs to each CPU, as they were met. */
static uint64_t bases[CPUS];
static struct block **blocks;
static uint32_t blocks_used, blocks_room;
static uint32_t *block_table;
static uint32_t block_table_size;
static struct task **tasks;
static uint32_t tasks_used, tasks_room;
static struct task *task_table[TASK_SLOTS];
static struct part *parts;
static uint32_t parts_used, parts_room;
static struct probe probes[PROBES];
static int probes_used;

static enum window window;
static enum mark pending;
static uint64_t readings, mismatches, early, unclear;

static struct {
	char out[4096];
	char give[4096];
	uint64_t switch_to;
	uint64_t pid, tgid, comm;
	uint64_t entries[ENTRIES];
	enum entry kinds[ENTRIES];
	int entries_used;
	uint64_t vectors_from, vectors_to;
} told;

static struct qemu_plugin_register *rax, *rdx, *rsi, *rdi, *rsp;
static struct qemu_plugin_register *gs_base, *kernel_gs_base;
static struct garray *bytes;

static void *grown(void *memory, size_t size)
{
	void *more = realloc(memory, size);

	if (!more) {
		fprintf(stderr, "assize count: no memory\n");
		abort();
	}
	return more;
}

static uint64_t read_register(struct qemu_plugin_register *handle)
{
	uint64_t value = 0;

	g_byte_array_set_size(bytes, 0);
	if (!handle || qemu_plugin_read_register(handle, bytes) <= 0)
		return 0;
	memcpy(&value, bytes->data, bytes->length < 8 ? bytes->length : 8);
	return value;
}

static bool read_memory(uint64_t address, void *to, size_t length)
{
	g_byte_array_set_size(bytes, 0);
	if (!qemu_plugin_read_memory_vaddr(address, bytes, length))
		return false;
	memcpy(to, bytes->data, length);
	return true;
}

static struct task *find_task(uint64_t pointer, unsigned int cpu, int pid)
{
	uint64_t key = (pointer >> 6) ^ ((uint64_t)cpu << 40) ^
		       ((uint64_t)(uint32_t)pid << 24);
	uint32_t slot = (key * 0x9e3779b97f4a7c15ULL) >> 48;
	struct task *task;

	while ((task = task_table[slot])) {
		if (task->pointer == pointer && task->cpu == cpu &&
		    task->pid == pid)
			return task;
		slot = (slot + 1) % TASK_SLOTS;
	}
	if (tasks_used + 1 >= TASK_SLOTS) {
		fprintf(stderr, "assize count: more than %d tasks\n",
			TASK_SLOTS - 1);
		abort();
	}
	if (tasks_used == tasks_room) {
		tasks_room = tasks_room ? 2 * tasks_room : 256;
		tasks = grown(tasks, tasks_room * sizeof(*tasks));
	}
	task = grown(NULL, sizeof(*task));
	memset(task, 0, sizeof(*task));
	task->pointer = pointer;
	task->cpu = cpu;
	task->pid = pid;
	task->id = tasks_used;
	tasks[tasks_used++] = task;
	task_table[slot] = task;
	return task;
}

/*
 * The CPU that executes. Under -icount QEMU tells a callback the number of the
 * CPU for which a block was translated, whichever executes it. The kernel has
 * a base of its own for each, in one of two registers.
 */
static struct cpu *executing(void)
{
	uint64_t base;

	if (cpus_seen == 1)
		return &cpus[0];
	base = read_register(gs_base);
	if (!(base >> 63))
		base = read_register(kernel_gs_base);
	for (unsigned int i = 0; i < cpus_seen; i++) {
		if (!bases[i])
			bases[i] = base;
		if (bases[i] == base)
			return &cpus[i];
	}
	unclear++;
	return now ? now : &cpus[0];
}

/* The task that __switch_to() was told to switch to. */
static struct task *switched_to(unsigned int cpu)
{
	uint64_t pointer = read_register(rsi);
	struct task *task;
	int pid = -1;

	read_memory(pointer + told.pid, &pid, sizeof(pid));
	task = find_task(pointer, cpu, pid);
	read_memory(pointer + told.tgid, &task->tgid, sizeof(task->tgid));
	read_memory(pointer + told.comm, task->name, NAME_LENGTH);
	return task;
}

static void count_whole(struct task *task, const struct block *block)
{
	if (block->id >= task->room) {
		uint32_t room = task->room ? task->room : 1024;

		while (room <= block->id)
			room *= 2;
		task->whole = grown(task->whole, room * sizeof(*task->whole));
		memset(task->whole + task->room, 0,
		       (room - task->room) * sizeof(*task->whole));
		task->room = room;
	}
	task->whole[block->id]++;
}

static void count_part(struct task *task, const struct block *block,
		       uint32_t executed)
{
	struct part *part;

	task->whole[block->id]--;
	if (!executed)
		return;
	for (uint32_t i = parts_used; i-- > 0;) {
		part = &parts[i];
		if (part->task == task->id && part->block == block->id &&
		    part->executed == executed) {
			part->times++;
			return;
		}
	}
	if (parts_used == parts_room) {
		parts_room = parts_room ? 2 * parts_room : 256;
		parts = grown(parts, parts_room * sizeof(*parts));
	}
	parts[parts_used++] = (struct part){ task->id, block->id, executed, 1 };
}

/* How many instructions of a block come before this address, or -1. */
static int before(const struct block *block, uint64_t address)
{
	for (uint32_t i = 0; i < block->length; i++) {
		uint64_t there = block->address + block->offsets[i];

		if (!((there ^ address) & PAGE_MASK))
			return (int)i;
	}
	return -1;
}

/* Corrects the count of a block that was not executed to its end. */
static void settle(struct cpu *cpu, const struct block *next)
{
	const struct block *last = cpu->last;
	uint64_t resumed = next->address;
	int executed;

	if (cpu->whole && next->entry < ENTRY_TRAP && !last->reads_clock)
		return;
	if (next->entry != ENTRY_NONE) {
		uint64_t top = read_register(rsp);

		/* An interrupted machine goes on from what it has pushed. */
		if (next->entry == ENTRY_TRAP_WITH_CODE)
			top += 8;
		if (!read_memory(top, &resumed, sizeof(resumed))) {
			unclear += cpu->last_counted;
			return;
		}
	}
	executed = before(last, resumed);
	/*
	 * A trap of the last instruction comes after its mark. So does a
	 * reading of the clock that is put off: of several CPUs one that is
	 * ahead of another waits for it, and then tries again.
	 */
	if (cpu->whole && executed != (int)last->length - 1)
		return;
	if (executed < 0) {
		unclear += cpu->last_counted;
		return;
	}
	cpu->executed -= last->length - (uint32_t)executed;
	if (cpu->last_counted) {
		early++;
		count_part(cpu->task, last, (uint32_t)executed);
	}
	cpu->whole = false;
}

/*
 * The clock has been read: what it shows beyond the instructions is idle time
 * that was skipped, and so changes only if the CPU has halted.
 */
static void check_clock(struct cpu *cpu)
{
	uint64_t clock = read_register(rdx) << 32 |
			 (read_register(rax) & 0xffffffffULL);
	uint64_t offset = clock - cpu->executed;

	if (window == WINDOW_OPEN)
		readings++;
	if (cpu->clock_known && window == WINDOW_OPEN) {
		int64_t leap = (int64_t)(offset - cpu->clock_offset);

		/* Several CPUs meet at declared costs, which take time. */
		if (leap < 0 || (leap > 0 && !cpu->halted && cpus_seen == 1))
			mismatches++;
		cpu->skipped += leap;
	}
	cpu->clock_known = true;
	cpu->clock_offset = offset;
	cpu->halted = false;
}

static void open_window(void)
{
	for (uint32_t i = 0; i < tasks_used; i++)
		if (tasks[i]->whole)
			memset(tasks[i]->whole, 0,
			       tasks[i]->room * sizeof(*tasks[i]->whole));
	for (int i = 0; i < probes_used; i++) {
		probes[i].entries = 0;
		memset(probes[i].buckets, 0, sizeof(probes[i].buckets));
	}
	for (unsigned int i = 0; i < CPUS; i++) {
		cpus[i].last_counted = false;
		cpus[i].skipped = 0;
	}
	parts_used = 0;
	readings = 0;
	mismatches = 0;
	early = 0;
	unclear = 0;
	window = WINDOW_OPEN;
}

static void probe_entry(struct probe *probe)
{
	uint64_t value;
	int bucket = 0;

	probe->entries++;
	if (!probe->handle)
		return;
	for (value = read_register(probe->handle); value; value >>= 1)
		bucket++;
	probe->buckets[bucket]++;
}

static void block_begins(unsigned int number, void *data)
{
	struct cpu *cpu = executing();
	struct block *block = data;
	struct block *last = cpu->last;

	(void)number;
	now = cpu;
	if (last) {
		settle(cpu, block);
		if (last->reads_clock && cpu->whole)
			check_clock(cpu);
		if (last->halts)
			cpu->halted = true;
	}
	if (pending == MARK_BEGIN && window == WINDOW_BEFORE)
		open_window();
	else if (pending == MARK_END && window == WINDOW_OPEN)
		window = WINDOW_AFTER;
	pending = MARK_NONE;
	cpu->last = block;
	cpu->last_counted = window == WINDOW_OPEN;
	cpu->whole = block->length == 1;
	if (block->switches)
		cpu->task = switched_to((unsigned int)(cpu - cpus));
	cpu->executed += block->length;
	if (window == WINDOW_AFTER)
		return;
	count_whole(cpu->task, block);
	if (block->probe)
		probe_entry(&probes[block->probe - 1]);
}

static void block_ends(unsigned int number, void *data)
{
	(void)number;
	(void)data;
	now->whole = true;
}

static void marked(unsigned int number, void *data)
{
	(void)number;
	pending = (enum mark)(uintptr_t)data;
}

/* The agent gives a text away: its place, its length and its number. */
static void given(unsigned int number, void *data)
{
	uint64_t from = read_register(rsi), left = read_register(rdx);
	char path[4200];
	FILE *file;

	(void)number;
	(void)data;
	if (!told.give[0])
		return;
	snprintf(path, sizeof(path), "%s.%" PRIu64, told.give,
		 read_register(rdi));
	file = fopen(path, "w");
	if (!file)
		return;
	while (left) {
		size_t some = left < 65536 ? left : 65536;

		g_byte_array_set_size(bytes, 0);
		if (!qemu_plugin_read_memory_vaddr(from, bytes, some))
			break;
		if (fwrite(bytes->data, 1, some, file) != some)
			break;
		from += some;
		left -= some;
	}
	fclose(file);
	if (left)
		remove(path);
}

static enum mark mark_of(const uint8_t *code, size_t size)
{
	if (size != MARK_LENGTH || memcmp(code, MARK, 4) ||
	    memcmp(code + 5, MARK + 5, 2) || code[7] != 0x61)
		return MARK_NONE;
	return code[4] <= MARK_GIVE ? (enum mark)code[4] : MARK_NONE;
}

static enum entry entry_of(uint64_t address)
{
	if (address >= told.vectors_from && address < told.vectors_to)
		return ENTRY_INTERRUPT;
	for (int i = 0; i < told.entries_used; i++)
		if (told.entries[i] == address)
			return told.kinds[i];
	return ENTRY_NONE;
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
	block->reads_clock = (size == 2 && code[0] == 0x0f && code[1] == 0x31) ||
			     (size == 3 && code[0] == 0x0f && code[1] == 0x01 &&
			      code[2] == 0xf9);
	block->halts = size == 1 && code[0] == 0xf4;
	block->entry = entry_of(block->address);
	block->switches = block->address == told.switch_to;
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

static struct block *find_block(const struct qemu_plugin_tb *tb)
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

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t length = qemu_plugin_tb_n_insns(tb);
	struct block *block = NULL;
	uint8_t code[16];

	(void)id;
	if (told.out[0]) {
		block = find_block(tb);
		qemu_plugin_register_vcpu_tb_exec_cb(tb, block_begins,
						     REGISTERS_READ, block);
	}
	for (size_t i = 0; i < length; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t size = qemu_plugin_insn_data(insn, code, sizeof(code));
		enum mark mark = mark_of(code, size);

		if (mark == MARK_GIVE)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, given, REGISTERS_READ, NULL);
		else if (mark != MARK_NONE && block)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, marked, REGISTERS_UNUSED,
				(void *)(uintptr_t)mark);
		if (block && length > 1 && i == length - 1)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, block_ends, REGISTERS_UNUSED, NULL);
	}
}

static void cpu_begins(plugin_id id, unsigned int number)
{
	struct garray *all;

	(void)id;
	if (number >= CPUS)
		abort();
	if (number >= cpus_seen)
		cpus_seen = number + 1;
	cpus[number].task = find_task(0, number, -1);
	if (rax)
		return;
	bytes = g_byte_array_new();
	all = qemu_plugin_get_registers();
	for (unsigned int i = 0; i < all->length; i++) {
		struct register_name *one = (struct register_name *)all->data + i;
		struct {
			const char *name;
			struct qemu_plugin_register **to;
		} wanted[] = { { "rax", &rax }, { "rdx", &rdx }, { "rsi", &rsi },
			       { "rdi", &rdi }, { "rsp", &rsp },
			       { "gs_base", &gs_base },
			       { "k_gs_base", &kernel_gs_base } };

		for (size_t j = 0; j < sizeof(wanted) / sizeof(*wanted); j++)
			if (!strcmp(one->name, wanted[j].name))
				*wanted[j].to = one->handle;
		for (int j = 0; j < probes_used; j++)
			if (!strcmp(one->name, probes[j].argument))
				probes[j].handle = one->handle;
	}
}

static void write_blocks(FILE *file)
{
	bool *used = calloc(blocks_used + 1, sizeof(*used));

	if (!used)
		abort();
	for (uint32_t i = 0; i < tasks_used; i++)
		for (uint32_t j = 0; j < tasks[i]->room && j < blocks_used; j++)
			used[j] |= tasks[i]->whole[j] != 0;
	for (uint32_t i = 0; i < parts_used; i++)
		used[parts[i].block] = true;
	for (uint32_t i = 0; i < blocks_used; i++) {
		if (!used[i])
			continue;
		fprintf(file, "block %u %" PRIx64, i, blocks[i]->address);
		for (uint32_t j = 0; j < blocks[i]->length; j++)
			fprintf(file, "%c%x", j ? ',' : ' ',
				blocks[i]->offsets[j]);
		fputc('\n', file);
	}
	free(used);
}

static void write_tasks(FILE *file)
{
	for (uint32_t i = 0; i < tasks_used; i++) {
		const struct task *task = tasks[i];

		fprintf(file, "task %u %u %d %d %s\n", i, task->cpu, task->pid,
			task->tgid, task->name);
		for (uint32_t j = 0; j < task->room && j < blocks_used; j++)
			if (task->whole[j])
				fprintf(file, "whole %u %u %" PRIu64 "\n", i, j,
					task->whole[j]);
	}
	for (uint32_t i = 0; i < parts_used; i++)
		fprintf(file, "part %u %u %u %" PRIu64 "\n", parts[i].task,
			parts[i].block, parts[i].executed, parts[i].times);
}

static void ended(plugin_id id, void *data)
{
	uint64_t skipped = 0;
	FILE *file;

	(void)id;
	(void)data;
	if (!told.out[0])
		return;
	file = fopen(told.out, "w");
	if (!file)
		return;
	for (unsigned int i = 0; i < CPUS; i++)
		skipped += cpus[i].skipped;
	fputs("assize.counts/1\n", file);
	write_blocks(file);
	write_tasks(file);
	for (int i = 0; i < probes_used; i++) {
		fprintf(file, "entries %d %" PRIu64 "\n", i, probes[i].entries);
		for (int j = 0; j < 65; j++)
			if (probes[i].buckets[j])
				fprintf(file, "bucket %d %d %" PRIu64 "\n", i, j,
					probes[i].buckets[j]);
	}
	fprintf(file,
		"window %s cpus %u readings %" PRIu64 " mismatches %" PRIu64
		" early %" PRIu64 " unclear %" PRIu64 " skipped %" PRIu64 "\n",
		window == WINDOW_AFTER ? "closed" : "open", cpus_seen, readings,
		mismatches, early, unclear, skipped);
	fputs("end\n", file);
	fclose(file);
}

/* One line of what the plugin is told. */
static bool take(const char *line)
{
	char word[16];
	uint64_t a, b;

	if (sscanf(line, "switch %" SCNx64, &told.switch_to) == 1 ||
	    sscanf(line, "pid %" SCNu64, &told.pid) == 1 ||
	    sscanf(line, "tgid %" SCNu64, &told.tgid) == 1 ||
	    sscanf(line, "comm %" SCNu64, &told.comm) == 1)
		return true;
	if (sscanf(line, "vectors %" SCNx64 " %" SCNx64, &a, &b) == 2) {
		told.vectors_from = a;
		told.vectors_to = b;
		return true;
	}
	if (sscanf(line, "probe %" SCNx64 " %7s", &a, word) == 2 &&
	    probes_used < PROBES) {
		probes[probes_used].address = a;
		memcpy(probes[probes_used++].argument, word, 8);
		return true;
	}
	if (sscanf(line, "entry %" SCNx64 " %" SCNu64, &a, &b) == 2 &&
	    told.entries_used < ENTRIES && b <= ENTRY_TRAP_WITH_CODE) {
		told.entries[told.entries_used] = a;
		told.kinds[told.entries_used++] = (enum entry)b;
		return true;
	}
	return false;
}

static bool take_all(const char *path)
{
	char line[256];
	FILE *file = fopen(path, "r");
	bool good = file;

	while (good && fgets(line, sizeof(line), file)) {
		good = take(line);
		if (!good)
			fprintf(stderr, "assize count: %s: what is %s", path, line);
	}
	if (file)
		fclose(file);
	return good;
}

__attribute__((visibility("default"))) extern int qemu_plugin_version;
int qemu_plugin_version = API_VERSION;

__attribute__((visibility("default"))) int
qemu_plugin_install(plugin_id id, const struct qemu_info *info, int count,
		    char **words);

int qemu_plugin_install(plugin_id id, const struct qemu_info *info, int count,
			char **words)
{
	if (info->version.oldest > API_VERSION ||
	    info->version.current < API_VERSION || !info->system ||
	    strcmp(info->target, "x86_64")) {
		fprintf(stderr, "assize count: it needs an x86_64 machine and "
			"version %d of the plugin interface\n", API_VERSION);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		if (!strncmp(words[i], "out=", 4)) {
			snprintf(told.out, sizeof(told.out), "%s", words[i] + 4);
		} else if (!strncmp(words[i], "give=", 5)) {
			snprintf(told.give, sizeof(told.give), "%s", words[i] + 5);
		} else if (strncmp(words[i], "told=", 5) || !take_all(words[i] + 5)) {
			fprintf(stderr, "assize count: bad word '%s'\n", words[i]);
			return 1;
		}
	}
	block_table_size = 1 << 18;
	block_table = calloc(block_table_size, sizeof(*block_table));
	if (!block_table)
		return 1;
	qemu_plugin_register_vcpu_init_cb(id, cpu_begins);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
