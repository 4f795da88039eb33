// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts each instruction that a machine executes between two marks, by CPU,
 * task and translation block. The machine does not notice.
 *
 * The marks are instructions without effect executed by the agent: a long
 * NOP whose displacement is one of those below.
 *
 * A block is counted when it begins. It may be left before its end: by a
 * fault, or by QEMU, which executes an access to a device separately. So its
 * last instruction is marked too, and when the next block begins, a block
 * whose mark is missing is corrected by where the machine continues.
 *
 * All this uses callbacks. QEMU's inline operations are faster, but
 * with several CPUs they change the turns that these take.
 */

#include "api.h"
#include "count.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_MASK 0xfffULL

struct cpu cpus[CPUS];
unsigned int cpus_seen;
struct cpu *now;
/* Base addresses of the kernel's per-CPU data, in the order first seen. */
static uint64_t bases[CPUS];
struct probe probes[PROBES];
int probes_used;
enum window window;
struct checks checks;
static enum mark pending;

/*
 * The executing CPU. Under -icount, QEMU passes to a callback the number of the
 * CPU for which a block was translated, whichever executes it. But the kernel has
 * a separate per-CPU base for each, in one of two registers.
 */
static struct cpu *executing(void)
{
	uint64_t base;

	if (cpus_seen == 1)
		return &cpus[0];
	base = read_register(registers.gs_base);
	if (!(base >> 63))
		base = read_register(registers.kernel_gs_base);
	for (unsigned int i = 0; i < cpus_seen; i++) {
		if (!bases[i])
			bases[i] = base;
		if (bases[i] == base)
			return &cpus[i];
	}
	checks.unclear++;
	return now ? now : &cpus[0];
}

/* Returns the number of instructions of a block before this address, or -1. */
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
		uint64_t top = read_register(registers.rsp);

		/* After an interrupt the machine continues from what it pushed. */
		if (next->entry == ENTRY_TRAP_WITH_CODE)
			top += 8;
		if (!read_memory(top, &resumed, sizeof(resumed))) {
			checks.unclear += cpu->last_counted;
			return;
		}
	}
	executed = before(last, resumed);
	/*
	 * A trap of the last instruction comes after its mark. So does a
	 * deferred reading of the clock: with several CPUs, one that is
	 * ahead of another waits for it, and then tries again.
	 */
	if (cpu->whole && executed != (int)last->length - 1)
		return;
	if (executed < 0) {
		checks.unclear += cpu->last_counted;
		return;
	}
	cpu->executed -= last->length - (uint32_t)executed;
	if (map.functions_used)
		tree_correct(cpu, (uint32_t)executed, cpu->last_counted);
	if (cpu->last_counted) {
		checks.early++;
		count_part(cpu->task, last, (uint32_t)executed);
	}
	cpu->whole = false;
}

/*
 * The clock was read: what it shows beyond the instructions is skipped idle time,
 * which only changes if the CPU has halted.
 */
static void check_clock(struct cpu *cpu)
{
	uint64_t clock = read_register(registers.rdx) << 32 |
			 (read_register(registers.rax) & 0xffffffffULL);
	uint64_t offset = clock - cpu->executed;

	if (window == WINDOW_OPEN)
		checks.readings++;
	if (cpu->clock_known && window == WINDOW_OPEN) {
		int64_t leap = (int64_t)(offset - cpu->clock_offset);

		/* Several CPUs meet at declared costs, which take time. */
		if (leap < 0 || (leap > 0 && !cpu->halted && cpus_seen == 1))
			checks.mismatches++;
		cpu->skipped += leap;
	}
	cpu->clock_known = true;
	cpu->clock_offset = offset;
	cpu->halted = false;
}

static void open_window(void)
{
	forget_counts();
	tree_forget();
	cache_forget();
	for (int i = 0; i < probes_used; i++) {
		probes[i].entries = 0;
		memset(probes[i].buckets, 0, sizeof(probes[i].buckets));
	}
	for (unsigned int i = 0; i < CPUS; i++) {
		cpus[i].last_counted = false;
		cpus[i].skipped = 0;
	}
	checks = (struct checks){ 0 };
	window = WINDOW_OPEN;
}

static void close_window(void)
{
	/* Other tasks are named when they leave their CPU. */
	for (unsigned int i = 0; i < cpus_seen; i++)
		if (cpus[i].task)
			name_task(cpus[i].task);
	window = WINDOW_AFTER;
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

/*
 * Writes the counts as soon as they cannot change any more: when each CPU
 * has begun a block after the window. Not at exit, where QEMU may be killed
 * before the file is complete.
 */
static void write_once_settled(void)
{
	static bool written;

	if (written)
		return;
	for (unsigned int i = 0; i < cpus_seen; i++)
		if (cpus[i].last_counted)
			return;
	write_counts();
	written = true;
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
	if (map.functions_used && window != WINDOW_AFTER &&
	    (block->entry != ENTRY_NONE || (last && last->leaves != LEAVES_NOT)))
		tree_follow(cpu, last, block);
	if (pending == MARK_BEGIN && window == WINDOW_BEFORE)
		open_window();
	else if (pending == MARK_END && window == WINDOW_OPEN)
		close_window();
	pending = MARK_NONE;
	cpu->last = block;
	cpu->last_counted = window == WINDOW_OPEN;
	cpu->whole = block->length == 1;
	if (block->switches)
		cpu->task = switched_to(cpu->task, (unsigned int)(cpu - cpus));
	cpu->executed += block->length;
	if (window == WINDOW_AFTER) {
		write_once_settled();
		return;
	}
	count_whole(cpu->task, block);
	if (map.functions_used)
		tree_count(cpu, block);
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

/* Handles a text from the agent: its address, length and number. */
static void given(unsigned int number, void *data)
{
	uint64_t from = read_register(registers.rsi);
	uint64_t length = read_register(registers.rdx);
	char path[4200];

	(void)number;
	(void)data;
	if (!map.give[0])
		return;
	snprintf(path, sizeof(path), "%s.%" PRIu64, map.give,
		 read_register(registers.rdi));
	copy_memory(from, length, path);
}

static void on_instruction(struct qemu_plugin_insn *insn, execution_callback done,
			   enum register_use use, uintptr_t data)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, done, use, (void *)data);
}

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t length = qemu_plugin_tb_n_insns(tb);
	struct block *block = NULL;
	uint8_t code[16];

	(void)id;
	if (map.out[0]) {
		block = find_block(tb);
		qemu_plugin_register_vcpu_tb_exec_cb(tb, block_begins, REGISTERS_READ, block);
	}
	for (size_t i = 0; i < length; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t size = qemu_plugin_insn_data(insn, code, sizeof(code));
		enum mark mark = mark_of(code, size);

		if (mark == MARK_GIVE)
			on_instruction(insn, given, REGISTERS_READ, 0);
		else if (mark != MARK_NONE && block)
			on_instruction(insn, marked, REGISTERS_UNUSED, mark);
		if (block && length > 1 && i == length - 1)
			on_instruction(insn, block_ends, REGISTERS_UNUSED, 0);
	}
	if (block)
		cache_translated(tb);
}

static void cpu_begins(plugin_id id, unsigned int number)
{
	(void)id;
	if (number >= CPUS)
		abort();
	if (number >= cpus_seen)
		cpus_seen = number + 1;
	cpus[number].task = find_task(0, number, -1);
	find_registers();
}

static void ended(plugin_id id, void *data)
{
	(void)id;
	(void)data;
	/* A CPU that has slept since the end of the window has nothing to settle. */
	for (unsigned int i = 0; i < cpus_seen; i++)
		cpus[i].last_counted = false;
	write_once_settled();
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
		fprintf(stderr, "assize count: it needs an x86_64 machine and version %d\n",
			API_VERSION);
		return 1;
	}
	for (int i = 0; i < count; i++) {
		if (!strncmp(words[i], "out=", 4)) {
			snprintf(map.out, sizeof(map.out), "%s", words[i] + 4);
		} else if (!strncmp(words[i], "give=", 5)) {
			snprintf(map.give, sizeof(map.give), "%s", words[i] + 5);
		} else if (strncmp(words[i], "kernel=", 7) || !take_all(words[i] + 7)) {
			fprintf(stderr, "assize count: bad word '%s'\n", words[i]);
			return 1;
		}
	}
	if (!begin_blocks())
		return 1;
	qemu_plugin_register_vcpu_init_cb(id, cpu_begins);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
