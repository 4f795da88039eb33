// SPDX-License-Identifier: GPL-2.0-only
/*
 * pack-full: every waking task goes to the first CPU with room for it.
 *
 * Tunables: fill, the highest load of a CPU, with the task (default 80 %);
 * slice (default 4 ms).
 *
 * Bad for tasks that wake to work in parallel: they all wait on the first CPU
 * until its load shows that it is full.
 */
#include "policy.h"

/* The highest load of a CPU, in parts of 1024. */
const volatile u64 fill = 819;

static s32 place(struct task_struct *p, s32 prev, u64 now)
{
	return lowest_with_room(p, prev, now, task_share(p, now), fill);
}

POLICY(pack_full);
