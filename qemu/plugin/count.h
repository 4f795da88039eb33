/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of the counter: blocks, tasks, CPUs, and the map
 * of the guest's kernel.
 */
#ifndef ASSIZE_PLUGIN_COUNT_H
#define ASSIZE_PLUGIN_COUNT_H

#include "api.h"

#include <stdio.h>

#define CPUS 64
#define TASK_SLOTS 65536
#define ENTRIES 1024
#define PROBES 16
#define NAME_LENGTH 16
#define SEGMENTS 16
#define PASSING 4096

enum mark { MARK_NONE, MARK_BEGIN, MARK_END, MARK_GIVE };

/* How the machine enters a block. */
enum entry { ENTRY_NONE, ENTRY_INTERRUPT, ENTRY_TRAP, ENTRY_TRAP_WITH_CODE };

/* How a block transfers control to the next, other than falling through or jumping. */
enum leaves { LEAVES_NOT, LEAVES_CALL, LEAVES_RETURN, LEAVES_INTERRUPT };

/* Placeholders for functions without an address. */
enum { FUNCTION_USER, FUNCTION_NONE, FUNCTION_INTERRUPTS };

/* Instructions of a block that belong to one function. */
struct segment {
	uint64_t function;
	uint32_t length;
};

/* The fields used on every execution come first. */
struct block {
	uint64_t address;
	uint64_t end;
	uint32_t id;
	uint32_t length;
	enum entry entry;
	enum leaves leaves;
	bool reads_clock;
	bool halts;
	bool switches;
	int probe;
	uint32_t segments_used;
	/* Points to a member at first, since most blocks have only one. */
	struct segment *segments;
	struct segment own_segment;
	uint64_t hash;
	uint16_t *offsets;
	/* Outside the kernel: its bytes, by which its program is found. */
	uint8_t *code;
	uint32_t code_length;
};

/* A function in a call tree. */
struct node {
	uint64_t function;
	struct node *parent, *first, *next;
	/* Its own instructions, and how often it was entered. */
	uint64_t own, entered;
	/* For the root of a thread: one of its tasks. */
	struct task *task;
	/* A placeholder for unknown callers. */
	bool unknown;
	/* A trampoline that passes calls on. */
	bool passes;
};

struct frame;

/* A thread, whichever CPU it is on. */
struct thread {
	/* The node for its next instructions, if they are in that function. */
	struct node *top;
	struct frame *frames;
	uint32_t frames_used, frames_room;
	struct node *root, *user;
	/* The parent of everything executed at an unknown place. */
	struct node *unknown;
	bool known;
};

/* A thread on one CPU. */
struct task {
	struct thread *thread;
	uint64_t pointer;
	unsigned int cpu;
	int pid;
	int tgid;
	char name[NAME_LENGTH + 1];
	/* When the name was read, as a count of names read of all tasks. */
	uint64_t named;
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
	/* The nodes that counted the segments of the last block. */
	struct node *nodes[SEGMENTS];
};

enum window { WINDOW_BEFORE, WINDOW_OPEN, WINDOW_AFTER };

/* The map of the guest's kernel that was passed to the plugin. */
struct kernel_map {
	char out[4096];
	char give[4096];
	uint64_t switch_to;
	uint64_t pid, tgid, comm;
	uint64_t entries[ENTRIES];
	enum entry kinds[ENTRIES];
	int entries_used;
	uint64_t vectors_from, vectors_to;
	/* The start addresses of functions, in order; enables call trees. */
	uint64_t *functions;
	uint32_t functions_used, functions_room;
	/* Those that only pass a call on. */
	uint64_t passing[PASSING];
	int passing_used;
	/* The length of the longest function. */
	uint64_t longest;
};

/* The registers that are read. */
struct registers {
	struct qemu_plugin_register *rax, *rdx, *rsi, *rdi, *rsp;
	struct qemu_plugin_register *gs_base, *kernel_gs_base;
};

/* Consistency checks of the counts. */
struct checks {
	uint64_t readings, mismatches, early, unclear, lost;
};

extern struct cpu cpus[CPUS];
/* The executing CPU. One thread executes all of them in turn. */
extern struct cpu *now;
extern unsigned int cpus_seen;
extern struct probe probes[PROBES];
extern int probes_used;
extern enum window window;
extern struct checks checks;
extern struct kernel_map map;
extern struct registers registers;
extern struct block **blocks;
extern uint32_t blocks_used;
extern struct task **tasks;
extern uint32_t tasks_used;
extern struct part *parts;
extern uint32_t parts_used;
extern struct node **nodes;
extern uint32_t nodes_used;

/* machine.c */
void *grown(void *memory, size_t size);
uint64_t read_register(struct qemu_plugin_register *handle);
bool read_memory(uint64_t address, void *to, size_t length);
bool copy_memory(uint64_t from, uint64_t length, const char *path);
void find_registers(void);

/* blocks.c */
bool begin_blocks(void);
enum mark mark_of(const uint8_t *code, size_t size);
struct block *find_block(const struct qemu_plugin_tb *tb);
uint64_t function_at(uint64_t address);
bool passes_on(uint64_t function);

/* tasks.c */
struct task *find_task(uint64_t pointer, unsigned int cpu, int pid);
void name_task(struct task *task);
struct task *switched_to(struct task *from, unsigned int cpu);
void make_room(struct task *task, const struct block *block);
void count_part(struct task *task, const struct block *block, uint32_t executed);
void forget_counts(void);

/* Gives a thread its last name on all CPUs. */
void settle_names(void);

/* tree.c */
struct thread *new_thread(struct task *task);
void tree_follow(struct cpu *cpu, const struct block *last, const struct block *next);
void tree_place(struct cpu *cpu, const struct block *block);
void tree_correct(struct cpu *cpu, uint32_t executed, bool counted);
void tree_forget(void);

/* Counts a block that has begun, for its task. */
static inline void count_whole(struct task *task, const struct block *block)
{
	if (block->id >= task->room)
		make_room(task, block);
	task->whole[block->id]++;
}

/* Counts a block that has begun, at its place in the call tree. */
static inline void tree_count(struct cpu *cpu, const struct block *block)
{
	struct node *node = cpu->task->thread->top;

	/* Most blocks are in the function that their thread is in. */
	if (block->segments_used != 1 || !node ||
	    node->function != block->own_segment.function) {
		tree_place(cpu, block);
		return;
	}
	node->own += block->length;
	cpu->nodes[0] = node;
}

/* cache.c */
bool take_cache(const char *text);
void cache_translated(const struct qemu_plugin_tb *tb);
void cache_forget(void);
void write_missed(FILE *file);

/* map.c */
bool take_all(const char *path);

/* written.c */
void write_counts(void);

#endif
