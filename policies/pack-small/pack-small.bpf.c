// SPDX-License-Identifier: GPL-2.0-only
/*
 * pack-small: a small waking task goes to the first CPU with room for
 * it, others to an idle one. A task is small while its load is below a
 * threshold; one that has never run is small.
 *
 * Tunables: small, the threshold below which a task is small (default 20 %); fill,
 * the highest load of a CPU, with the task (default 80 %); slice (default
 * 4 ms).
 *
 * Bad when small tasks wake together and all of them matter: they wait for
 * each other on one CPU. A task that runs for long after a long sleep is small
 * when it wakes.
 */
#include "policy.h"

/* A task with less load than this is small, in parts of 1024. */
const volatile u64 small = 205;
/* The highest load of a CPU, in parts of 1024. */
const volatile u64 fill = 819;

static s32 place(struct task_struct *p, s32 prev, u64 now)
{
	u64 share = task_share(p, now);

	if (share >= small)
		return -1;
	return lowest_with_room(p, prev, now, share, fill);
}

POLICY(pack_small);
