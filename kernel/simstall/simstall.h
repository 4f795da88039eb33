/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMSTALL_H
#define SIMSTALL_H

#include <linux/types.h>

/* Between the moments of two stalls at least: a timer must be set anew. */
#define SIMSTALL_APART_NS	20000
#define SIMSTALL_LENGTH_MIN_NS	100
#define SIMSTALL_LENGTH_MAX_NS	100000000

/**
 * struct simstall_stall - a stall, planned and then recorded
 * @windings: how often the timer is set to %SIMSTALL_WINDING before it
 * @ticks: and then to so many ticks
 * @turns: of a loop of two instructions, which is how long it takes
 * @planned_ns: the length that was drawn
 * @begin: the time-stamp counter when it began; 0 if it has not
 * @end: when it was about to end
 *
 * The handler of system management interrupts knows where these lie.
 */
struct simstall_stall {
	u32 windings;
	u32 ticks;
	u32 turns;
	u32 planned_ns;
	u64 begin;
	u64 end;
};

/**
 * struct simstall_control - where the planting is
 * @left: stalls to come
 * @windings: windings of the timer before the next
 * @next: physical address of the next, below 4 GiB
 * @stopped: whether none may begin, yet or any more
 * @reserved: 0
 *
 * Stalls lie right behind it. The handler of system management interrupts
 * knows this too.
 */
struct simstall_control {
	u32 left;
	u32 windings;
	u32 next;
	u32 stopped;
	u32 reserved[4];
};

/**
 * struct simstall_kind - how stalls are made
 * @name: as the parameter gives it
 * @own: instructions of a stall beside its loop
 * @tail: instructions from the reading of the clock that is recorded as its
 *	end to its end
 * @init: gets ready, once; sleeps
 * @start: has the first stall come, for which all is planned; sleeps
 * @stop: no stall comes or is under way once it returns; sleeps
 * @exit: undoes @init; sleeps
 */
struct simstall_kind {
	const char *name;
	u32 own;
	u32 tail;
	int (*init)(struct simstall_control *control, unsigned int cpu);
	void (*start)(void);
	void (*stop)(void);
	void (*exit)(void);
};

extern const struct simstall_kind simstall_smi;
extern const struct simstall_kind simstall_irqs_off;

/* The first of the stalls behind @control. */
static inline struct simstall_stall *
simstall_first(struct simstall_control *control)
{
	return (struct simstall_stall *)(control + 1);
}

#endif /* SIMSTALL_H */
