// SPDX-License-Identifier: GPL-2.0-only
/*
 * pack-full: every task that wakes goes to the first CPU that has room for it.
 *
 * Tunables: fill, how much of a CPU may have run, with the task (default 80 %);
 * slice (default 4 ms).
 *
 * Bad for whatever wakes to work in parallel: until the first CPU is known to be
 * full, all of it waits there.
 */
#include "policy.h"

/* How much of a CPU may have run, in parts of 1024. */
const volatile u64 fill = 819;

static s32 place(struct task_struct *p, s32 prev, u64 now)
{
	return lowest_with_room(p, prev, now, task_share(p, now), fill);
}

POLICY(pack_full);
