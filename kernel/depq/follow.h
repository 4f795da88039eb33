/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DEPQ_FOLLOW_H
#define DEPQ_FOLLOW_H

#include <linux/hrtimer.h>
#include <linux/timer.h>

#include "internal.h"

/**
 * struct depq_follow - what a worker knows of those it works for
 * @worker: the thread
 * @min_nice: any negative nice value counts as the least
 * @lock: protects what follows
 * @count: queues of each level
 * @levels: those that @count is not zero for
 * @need: the first of @levels, or %DEPQ_LEVEL_IDLE
 * @target: what the thread has, or gets from the holder of @apply
 * @applied: what it has
 * @others_ns: for how long less urgent jobs than the worker has a level for
 *	have kept it since the last that was not. The worker's own.
 * @others_since: local_clock() from which on there is more to add; or 0
 * @lingers: queues that count although they are not ready, the oldest first
 * @raises: times the level went up
 * @lowers: times it went down
 * @apply: held while the scheduler's settings of the worker are changed
 * @timer: lets queues linger no longer
 * @relax: lets the worker look at its level when it has nothing else to do
 * @raise: has the raiser raise the worker
 * @retry: queues @raise when the scheduler has refused
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
