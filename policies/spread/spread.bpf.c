// SPDX-License-Identifier: GPL-2.0-only
/*
 * spread: a waking task gets the CPU with the least recent load among those
 * that are free. A CPU is claimed when it is chosen, so that tasks which
 * wake together go to different CPUs.
 *
 * Tunables: slice (default 4 ms).
 *
 * Bad when CPUs should sleep: every CPU gets its share of any load. And
 * where caches matter: a task seldom returns to its previous CPU.
 */
#include "policy.h"

static s32 place(struct task_struct *p, s32 prev, u64 now)
{
	return idlest(p, now);
}

POLICY(spread);
