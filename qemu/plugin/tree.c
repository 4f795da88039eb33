// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call trees: who called what, for each thread of the machine.
 *
 * A thread has a stack of frames, which stays with it when it sleeps or moves
 * to another CPU. A call pushes a frame, and a return pops the frame whose
 * return address was where the machine took it from; so a return that is used
 * as a jump pops nothing. A jump into another function descends in the tree
 * but stays in its frame, unless it is made by a trampoline that passes
 * indirect calls on, which does not count as a caller. Interrupts are below a
 * separate node, since the interrupted code did not cause them; exceptions are
 * below the code that caused them.
 *
 * The position of a thread when the machine began is unknown. It is learned from
 * where it returns to: that function is inserted above everything before.
 */

#include "count.h"

#include <stdlib.h>
#include <string.h>

/* Kernel stacks do not cross a multiple of this. */
#define STACK_SIZE (16ULL << 10)
/* A deeper stack is taken for a mistake. */
#define FRAMES 512

enum frame_kind { FRAME_FIRST, FRAME_CALL, FRAME_ENTRY };

struct frame {
	enum frame_kind kind;
	/* The address of its return address, or the stack an exception returns to. */
	uint64_t stack;
	/* For a call: the return address. */
	uint64_t back;
	/* The function at its start, and the one it has jumped to. */
	struct node *base, *top;
};

struct node **nodes;
uint32_t nodes_used;
static uint32_t nodes_room;

static struct node *new_node(struct node *parent, uint64_t function)
{
	struct node *node = grown(NULL, sizeof(*node));

	*node = (struct node){ .function = function, .parent = parent };
	node->passes = passes_on(function);
	if (nodes_used == nodes_room) {
		nodes_room = nodes_room ? 2 * nodes_room : 4096;
		nodes = grown(nodes, nodes_room * sizeof(struct node *));
	}
	nodes[nodes_used++] = node;
	return node;
}

/* Returns the child for this function, and moves it to the front. */
static struct node *child(struct node *parent, uint64_t function)
{
	struct node **at = &parent->first;
	struct node *node;

	while (*at && (*at)->function != function)
		at = &(*at)->next;
	node = *at;
	if (!node)
		node = new_node(parent, function);
	else
		*at = node->next;
	node->next = parent->first;
	parent->first = node;
	return node;
}

struct thread *new_thread(struct task *task)
{
	struct thread *thread = grown(NULL, sizeof(*thread));

	*thread = (struct thread){ 0 };
	thread->root = new_node(NULL, FUNCTION_NONE);
	thread->root->task = task;
	thread->unknown = child(thread->root, FUNCTION_NONE);
	thread->unknown->unknown = true;
	return thread;
}

static void push(struct thread *thread, enum frame_kind kind, uint64_t stack,
		 uint64_t back, struct node *node)
{
	if (thread->frames_used == FRAMES) {
		checks.lost++;
		return;
	}
	if (thread->frames_used == thread->frames_room) {
		uint32_t room = thread->frames_room ? 2 * thread->frames_room : 32;

		thread->frames = grown(thread->frames, room * sizeof(struct frame));
		thread->frames_room = room;
	}
	thread->frames[thread->frames_used++] = (struct frame){
		kind, stack, back, node, node,
	};
	node->entered++;
}

static struct frame *top_of(const struct thread *thread)
{
	return &thread->frames[thread->frames_used - 1];
}

/* Records the current node of a thread. */
static void note_top(struct thread *thread)
{
	thread->top = thread->frames_used ? top_of(thread)->top : thread->user;
}

/* Returns the node of a thread without frames. */
static struct node *bottom(const struct thread *thread)
{
	return thread->known ? thread->root : thread->unknown;
}

/* Whether a frame is in this function, or was before it jumped on. */
static struct node *in_frame(const struct frame *frame, uint64_t function)
{
	struct node *node = frame->top;

	while (node != frame->base && node->function != function)
		node = node->parent;
	return node->function == function ? node : NULL;
}

/* The caller at an unknown place turned out to be this function. */
static void learn(struct thread *thread, uint64_t function)
{
	struct node *unknown = thread->unknown;
	struct node *caller = new_node(unknown, function);

	caller->first = unknown->first;
	for (struct node *node = caller->first; node; node = node->next)
		node->parent = caller;
	unknown->first = caller;
	thread->frames_used = 0;
	push(thread, FRAME_FIRST, 0, 0, caller);
	caller->entered--;
}

/* Finds the last call whose return address is here or, failing that, equals this. */
static uint32_t find_call(const struct thread *thread, uint64_t stack, uint64_t back)
{
	const struct frame *frames = thread->frames;
	uint32_t used;

	for (used = thread->frames_used; used > 0; used--)
		if (frames[used - 1].kind == FRAME_CALL && frames[used - 1].stack == stack)
			return used;
	/* error_entry() moves it. */
	for (used = thread->frames_used; used > 0; used--)
		if (frames[used - 1].kind != FRAME_CALL || frames[used - 1].back == back)
			break;
	return used && frames[used - 1].kind == FRAME_CALL ? used : 0;
}

static void returned(struct thread *thread, uint64_t from, uint64_t to, uint64_t function)
{
	uint32_t used = find_call(thread, from, to);

	if (used) {
		thread->frames_used = used - 1;
		return;
	}
	/* Frames whose return address was removed without a return. */
	while (thread->frames_used) {
		const struct frame *frame = top_of(thread);

		if (frame->kind != FRAME_CALL || frame->stack > from ||
		    (frame->stack ^ from) >= STACK_SIZE)
			break;
		thread->frames_used--;
	}
	if (!thread->known && thread->frames_used == 1 &&
	    !in_frame(top_of(thread), function))
		learn(thread, function);
}

/* Ends an exception or interrupt, if one has begun with this stack. */
static void resumed(struct thread *thread, uint64_t stack)
{
	for (uint32_t used = thread->frames_used; used > 0; used--) {
		const struct frame *frame = &thread->frames[used - 1];

		if (frame->kind == FRAME_ENTRY && frame->stack == stack) {
			thread->frames_used = used - 1;
			return;
		}
	}
}

static bool is_user(uint64_t function)
{
	return function == FUNCTION_USER;
}

/*
 * Applies the effect of the last block, which was executed completely, on the
 * stack: execution continues in a function at an address.
 */
static void leave(struct thread *thread, const struct block *last, uint64_t function,
		  uint64_t address, uint64_t stack)
{
	if (is_user(function) || is_user(last->segments[0].function) ||
	    !thread->frames_used)
		return;
	if (last->leaves == LEAVES_CALL)
		push(thread, FRAME_CALL, stack, last->end, child(top_of(thread)->top, function));
	else if (last->leaves == LEAVES_RETURN)
		returned(thread, stack - 8, address, function);
	else
		resumed(thread, stack);
}

/* Sets the node of a thread for its next instructions. */
static struct node *arrive(struct thread *thread, uint64_t function)
{
	struct frame *frame;
	struct node *node;

	if (is_user(function)) {
		thread->frames_used = 0;
		thread->known = true;
		if (!thread->user)
			thread->user = child(thread->root, FUNCTION_USER);
		return thread->user;
	}
	if (!thread->frames_used) {
		push(thread, FRAME_FIRST, 0, 0, child(bottom(thread), function));
		return top_of(thread)->top;
	}
	frame = top_of(thread);
	if (frame->top->function == function)
		return frame->top;
	node = in_frame(frame, function);
	if (node) {
		frame->top = node;
		return node;
	}
	/* A trampoline is not the caller. */
	if (!frame->top->passes) {
		node = child(frame->top, function);
	} else {
		node = child(frame->top->parent, function);
		if (frame->base == frame->top)
			frame->base = node;
	}
	node->entered++;
	frame->top = node;
	return node;
}

static void follow(struct cpu *cpu, struct thread *thread, const struct block *last,
		   const struct block *next)
{
	uint64_t function = next->segments[0].function;
	uint64_t pushed[4];
	struct node *parent;

	if (next->entry == ENTRY_NONE) {
		if (!last || !cpu->whole || last->leaves == LEAVES_NOT)
			return;
		/* Most returns go to where the last call came from. */
		if (last->leaves == LEAVES_RETURN && thread->frames_used &&
		    top_of(thread)->kind == FRAME_CALL &&
		    top_of(thread)->back == next->address)
			thread->frames_used--;
		else
			leave(thread, last, function, next->address,
			      read_register(registers.rsp));
		return;
	}
	/* The interrupted context: its address, segment, flags and stack. */
	if (!read_memory(read_register(registers.rsp) +
			 (next->entry == ENTRY_TRAP_WITH_CODE ? 8 : 0),
			 pushed, sizeof(pushed))) {
		memset(pushed, 0, sizeof(pushed));
		checks.lost++;
	}
	if (last && cpu->whole && last->leaves != LEAVES_NOT)
		leave(thread, last, function_at(pushed[0]), pushed[0], pushed[3]);
	if (!(pushed[0] >> 63)) {
		thread->frames_used = 0;
		thread->known = true;
	}
	if (next->entry == ENTRY_INTERRUPT)
		parent = child(thread->root, FUNCTION_INTERRUPTS);
	else if (thread->frames_used)
		parent = top_of(thread)->top;
	else
		parent = bottom(thread);
	push(thread, FRAME_ENTRY, pushed[3], 0, child(parent, function));
}

/*
 * Follows a CPU from its last block to the next: before a thread
 * switch, if the block performs one.
 */
void tree_follow(struct cpu *cpu, const struct block *last, const struct block *next)
{
	struct thread *thread = cpu->task->thread;

	follow(cpu, thread, last, next);
	note_top(thread);
}

/* Counts a block with other functions than the one its thread is in. */
void tree_place(struct cpu *cpu, const struct block *block)
{
	struct thread *thread = cpu->task->thread;

	for (uint32_t i = 0; i < block->segments_used; i++) {
		const struct segment *segment = &block->segments[i];
		struct node *node = arrive(thread, segment->function);

		node->own += segment->length;
		cpu->nodes[i] = node;
	}
	note_top(thread);
}

/* Subtracts the part of a block that was not executed. */
void tree_correct(struct cpu *cpu, uint32_t executed, bool counted)
{
	const struct block *block = cpu->last;
	struct thread *thread = cpu->task->thread;
	uint32_t from = block->length;

	for (uint32_t i = block->segments_used; i-- > 0;) {
		uint32_t length = block->segments[i].length;

		from -= length;
		if (from >= executed && i) {
			if (counted)
				cpu->nodes[i]->own -= length;
			if (thread->frames_used)
				top_of(thread)->top = cpu->nodes[i - 1];
			continue;
		}
		if (counted)
			cpu->nodes[i]->own -= from + length - executed;
		break;
	}
	note_top(thread);
}

/* Restarts counting. */
void tree_forget(void)
{
	for (uint32_t i = 0; i < nodes_used; i++) {
		nodes[i]->own = 0;
		nodes[i]->entered = 0;
	}
}
