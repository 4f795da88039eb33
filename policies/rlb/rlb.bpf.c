// SPDX-License-Identifier: GPL-2.0-only
/*
 * rlb: balances what CPUs have run. A task that wakes stays where it was, as
 * long as nothing runs there and that CPU has not run more than another by a
 * margin; else it goes to the CPU that has run least lately, of those where
 * nothing runs.
 *
 * Tunables: margin, by how much a CPU may have run more than another before a
 * task moves (default 25 %); slice (default 4 ms).
 *
 * Bad when CPUs are to sleep: tasks stay wherever they happen to be.
 */
#include "policy.h"

/* By how much a CPU may have run more, in parts of 1024. */
const volatile u64 margin = 256;

static s32 place(struct task_struct *p, s32 prev, u64 now)
{
	s32 best = idlest(p, now);
	struct cpu *here = cpu_of(prev), *there = cpu_of(best);

	if (!here || !there || !may_use(p, prev) || is_taken(here, now))
		return best;
	if (share_at(&here->load, now) <= share_at(&there->load, now) + margin)
		return prev;
	return best;
}

POLICY(rlb);
