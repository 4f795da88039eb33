/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMSTALL_H
#define SIMSTALL_H

#include <linux/types.h>

/* The shortest time between two stalls: the timer must be set in between. */
#define SIMSTALL_APART_NS	20000
#define SIMSTALL_LENGTH_MIN_NS	100
#define SIMSTALL_LENGTH_MAX_NS	100000000

/**
 * struct simstall_stall - a stall, planned and then recorded
 * @windings: how often to set the timer to %SIMSTALL_WINDING first
 * @ticks: the final setting of the timer
 * @turns: turns of a loop of two instructions, which determine its length
 * @planned_ns: the planned length
 * @begin: the time-stamp counter when it began; 0 if it has not
 * @end: the time-stamp counter just before it ended
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
 * struct simstall_control - progress of the planting
 * @left: stalls to come
 * @windings: settings of the timer before the next stall
 * @next: physical address of the next stall, below 4 GiB
 * @stopped: whether no stall may begin
 * @reserved: 0
 *
 * The stalls follow it in memory. The handler of system management interrupts
 * depends on this too.
 */
struct simstall_control {
	u32 left;
	u32 windings;
	u32 next;
	u32 stopped;
	u32 reserved[4];
};

/**
 * struct simstall_kind - a way to stall
 * @name: value of the parameter
 * @own: instructions of a stall in addition to its loop
 * @tail: instructions from the clock reading recorded as its end to the actual
 *	end
 * @init: prepares, once; sleeps
 * @start: starts the first stall, for which everything is planned; sleeps
 * @stop: once it returns, no stall will come or is in progress; sleeps
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
