/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMRACE_H
#define SIMRACE_H

#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/types.h>

struct task_struct;

#define SIMRACE_PARTS_MAX	4

/**
 * struct simrace_part - what one thread of a race does
 * @run: called once in each attempt; returns when the part is over
 */
struct simrace_part {
	void (*run)(void);
};

/**
 * struct simrace_race - a planted race
 * @name: value of the parameter race
 * @part: what the threads do
 * @parts: number of threads, each bound to a CPU: part N to CPU N, modulo the
 *	number of CPUs
 * @spread_ns: upper bound of the random delay of each part in each attempt
 * @prepare: called before each attempt, without other threads; may sleep.
 *	Returns 0 or an error that ends the run. May be NULL
 * @check: called after each attempt, without other threads; may sleep. Warns
 *	about what went wrong, and frees what @prepare allocated. May be NULL
 *
 * Unless simrace_fixed() is true a race fails with some interleavings: it warns,
 * oopses or hangs, as the same mistake in a driver would.
 */
struct simrace_race {
	const char *name;
	struct simrace_part part[SIMRACE_PARTS_MAX];
	unsigned int parts;
	u32 spread_ns;
	int (*prepare)(void);
	void (*check)(void);
};

bool simrace_fixed(void);
bool simrace_allocation_fails(void);
unsigned int simrace_cpu(unsigned int part);
struct task_struct *simrace_task(unsigned int part);
u32 simrace_draw(u32 below);
void simrace_sleep(u32 ns);

/* The first word of an object; it is overwritten before the object is freed. */
#define SIMRACE_ALIVE	0x600dda7aU
#define SIMRACE_DEAD	0x0badda7aU

/* Spins for @turns iterations of two instructions. Context: any. */
static __always_inline void simrace_spend(u32 turns)
{
	while (turns--)
		barrier();
}

extern const struct simrace_race simrace_lost_update;
extern const struct simrace_race simrace_check_then_act;
extern const struct simrace_race simrace_late_callback;
extern const struct simrace_race simrace_double_put;
extern const struct simrace_race simrace_missed_wakeup;
extern const struct simrace_race simrace_abba;
extern const struct simrace_race simrace_sleep_in_rcu;
extern const struct simrace_race simrace_no_barrier;
extern const struct simrace_race simrace_three_threads;
extern const struct simrace_race simrace_short_grace;
extern const struct simrace_race simrace_failed_alloc;
extern const struct simrace_race simrace_four_cpus;

#endif /* SIMRACE_H */
