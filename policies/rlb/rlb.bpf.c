// SPDX-License-Identifier: GPL-2.0-only
/*
 * rlb: balances the load of CPUs. A waking task stays on its previous CPU if
 * that is free and its load does not exceed that of another by more than a
 * margin; else it goes to the CPU with the least recent load among those
 * that are free.
 *
 * Tunables: margin, by how much the load of a CPU may exceed another's before a
 * task moves (default 25 %); slice (default 4 ms).
 *
 * Bad when CPUs should sleep: tasks stay wherever they happen to be.
 */
#include "policy.h"

/* The permitted excess of load, in parts of 1024. */
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
