// SPDX-License-Identifier: GPL-2.0-only
/*
 * pack-small: a small task that wakes goes to the first CPU that has room for
 * it, others to an idle one. A task is small as long as it has run less than a
 * share of the time; one that has never run is.
 *
 * Tunables: small, the share below which a task is small (default 20 %); fill,
 * how much of a CPU may have run, with the task (default 80 %); slice (default
 * 4 ms).
 *
 * Bad when small tasks wake together and each of them counts: they wait for
 * each other on one CPU. A task that runs for long after a long sleep is small
 * when it wakes.
 */
#include "policy.h"

/* A task that has run less than this is small, in parts of 1024. */
const volatile u64 small = 205;
/* How much of a CPU may have run, in parts of 1024. */
const volatile u64 fill = 819;

static s32 place(struct task_struct *p, s32 prev, u64 now)
{
	u64 share = task_share(p, now);

	if (share >= small)
		return -1;
	return lowest_with_room(p, prev, now, share, fill);
}

POLICY(pack_small);
