// SPDX-License-Identifier: GPL-2.0-only
/*
 * spread: a task that wakes gets the CPU that has run least lately, of those
 * where nothing runs. A CPU is claimed when it is chosen, so that tasks which
 * wake together go to different CPUs.
 *
 * Tunables: slice (default 4 ms).
 *
 * Bad when CPUs are to sleep: every CPU gets its part of whatever there is. And
 * where caches count: a task seldom comes back to where it was.
 */
#include "policy.h"

static s32 place(struct task_struct *p, s32 prev, u64 now)
{
	return idlest(p, now);
}

POLICY(spread);
