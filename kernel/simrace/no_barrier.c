// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: no barrier
 *
 * Two threads compete for something that only one may have. Each sets its flag,
 * and succeeds if the flag of the other is not set. The fix is a full barrier
 * between the write and the read.
 *
 * Fails if both read before either write is visible, as x86 allows: a store may
 * stay in the CPU's store buffer while the CPU continues. Does not fail on a
 * machine that makes each store visible at once.
 */

#include <linux/atomic.h>
#include <linux/bug.h>

#include <asm/barrier.h>

#include "simrace.h"

static bool no_barrier_wants[2];
static atomic_t no_barrier_owners;

static int no_barrier_prepare(void)
{
	WRITE_ONCE(no_barrier_wants[0], false);
	WRITE_ONCE(no_barrier_wants[1], false);
	atomic_set(&no_barrier_owners, 0);
	return 0;
}

static void no_barrier_enter(unsigned int me)
{
	WRITE_ONCE(no_barrier_wants[me], true);
	if (simrace_fixed())
		/* The write comes before the read, as in the other thread. */
		smp_mb();
	if (!READ_ONCE(no_barrier_wants[!me]))
		atomic_inc(&no_barrier_owners);
}

static void no_barrier_first(void)
{
	no_barrier_enter(0);
}

static void no_barrier_second(void)
{
	no_barrier_enter(1);
}

static void no_barrier_check(void)
{
	WARN_ONCE(atomic_read(&no_barrier_owners) > 1, "simrace: two owners\n");
}

const struct simrace_race simrace_no_barrier = {
	.name = "no-barrier",
	.parts = 2,
	.spread_ns = 1000,
	.prepare = no_barrier_prepare,
	.part = { { no_barrier_first }, { no_barrier_second } },
	.check = no_barrier_check,
};
