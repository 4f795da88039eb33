/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DEPQ_FOLLOW_H
#define DEPQ_FOLLOW_H

#include <linux/hrtimer.h>
#include <linux/timer.h>

#include "internal.h"

/**
 * struct depq_follow - state of a follow worker
 * @worker: the thread
 * @min_nice: any negative nice value counts as the least
 * @lock: protects what follows
 * @count: number of queues at each level
 * @levels: bitmap of levels whose @count is not zero
 * @need: the first of @levels, or %DEPQ_LEVEL_IDLE
 * @target: the level that the thread has, or gets from the holder of @apply
 * @applied: the level that it has
 * @others_ns: for how long jobs less urgent than the worker's level have kept
 *	it busy since the last one that was not. Only used by the worker.
 * @others_since: local_clock() from which on to add to it; or 0
 * @lingers: queues that count although they are not ready, the oldest first
 * @raises: times the level went up
 * @lowers: times the level went down
 * @apply: held while the scheduling attributes of the worker are changed
 * @timer: ends the lingering of queues
 * @relax: makes the worker recheck its level when it has nothing else to do
 * @raise: makes the raiser raise the worker
 * @retry: queues @raise after the scheduler has refused
 */
struct depq_follow {
	struct kthread_worker *worker;
	bool min_nice;

	raw_spinlock_t lock;
	u32 count[DEPQ_LEVELS];
	DECLARE_BITMAP(levels, DEPQ_LEVELS);
	u16 need;
	u16 target;
	u16 applied;
	u64 others_ns;
	u64 others_since;
	struct list_head lingers;
	u64 raises;
	u64 lowers;

	raw_spinlock_t apply;
	struct timer_list timer;
	struct kthread_work relax;
	struct kthread_work raise;
	struct hrtimer retry;
};

/* follow_count.c */
void depq_follow_unlinger_all(struct depq_follow *follow);
void depq_follow_timer(struct timer_list *timer);

#endif /* DEPQ_FOLLOW_H */
