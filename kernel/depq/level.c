// SPDX-License-Identifier: GPL-2.0-only
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/deadline.h>
#include <linux/sched/prio.h>
#include <linux/sched/signal.h>
#include <uapi/linux/sched/types.h>

#include "internal.h"

/**
 * DOC: levels of follow workers
 *
 * The level of a submitter, and the scheduling of the worker at that level:
 *
 * ==================  =======================================================
 * submitter           the worker, while it has a job of the submitter
 * ==================  =======================================================
 * SCHED_FIFO          SCHED_FIFO with the same priority, but not above the
 *                     module parameter follow_rt_max
 * SCHED_RR            SCHED_RR likewise; at equal priorities FIFO wins
 * SCHED_DEADLINE      SCHED_FIFO with 99, capped likewise, if the submitter
 *                     could set that itself (CAP_SYS_NICE, RLIMIT_RTPRIO),
 *                     else according to its nice value. A worker with a deadline
 *                     would need its own bandwidth, which may be refused,
 *                     and would be throttled for everybody's jobs.
 * SCHED_OTHER, BATCH  SCHED_OTHER with the same nice value
 * SCHED_IDLE          SCHED_OTHER with nice 19: others may wait for its fences
 * with follow_rt_max  realtime submitters count as nice -20
 * = 0
 * none                SCHED_OTHER with nice 0
 * ==================  =======================================================
 *
 * The submitter's priority at the time counts, including one inherited from a
 * waiter of a mutex. But a thread does not get through its worker what it could
 * not set itself: an inherited priority counts only as far as its capabilities,
 * RLIMIT_RTPRIO and RLIMIT_NICE allow. Its own priority needs no such
 * check, because setting the same again is always allowed.
 */

static unsigned int follow_rt_max = MAX_RT_PRIO - 1;
module_param(follow_rt_max, uint, 0644);
MODULE_PARM_DESC(follow_rt_max,
		 "highest realtime priority of workers that follow, 0 to 99 (default 99)");

/* Including deadlines, for which the result of rt_prio() depends on the kernel. */
static bool depq_prio_realtime(int prio)
{
	return prio < MAX_RT_PRIO;
}

static u16 depq_level_rt(int priority, bool rr)
{
	priority = min_t(int, priority, READ_ONCE(follow_rt_max));
	if (priority < 1)
		return DEPQ_LEVEL_NICE;
	return 2 * (MAX_RT_PRIO - 1 - min(priority, MAX_RT_PRIO - 1)) + rr;
}

static u16 depq_level_nice(bool min_nice, int nice)
{
	if (min_nice && nice < 0)
		nice = MIN_NICE;
	return DEPQ_LEVEL_NICE + nice - MIN_NICE;
}

/*
 * For a thread with an inherited priority or a deadline: the better of its own
 * priority, and as much of the former as it could set itself.
 */
static noinline u16 depq_level_allowed(bool min_nice, int prio)
{
	bool all = ns_capable_noaudit(&init_user_ns, CAP_SYS_NICE);
	int own = current->normal_prio;
	unsigned long limit;
	u16 level;

	if (depq_prio_realtime(own) && !dl_prio(own))
		level = depq_level_rt(MAX_RT_PRIO - 1 - own,
				      current->policy == SCHED_RR);
	else
		level = depq_level_nice(min_nice, task_nice(current));

	if (depq_prio_realtime(prio)) {
		limit = all ? MAX_RT_PRIO - 1 : rlimit(RLIMIT_RTPRIO);
		limit = min_t(unsigned long, limit, MAX_RT_PRIO - 1 - prio);
		if (limit)
			level = min(level, depq_level_rt(limit, false));
	} else {
		limit = all ? NICE_WIDTH : rlimit(RLIMIT_NICE);
		limit = min_t(unsigned long, limit,
			      nice_to_rlimit(PRIO_TO_NICE(prio)));
		if (limit)
			level = min(level,
				    depq_level_nice(min_nice,
						    rlimit_to_nice(limit)));
	}
	return level;
}

/**
 * depq_level_highest() - the most urgent level currently allowed
 *
 * Context: any.
 * Return: the level
 */
u16 depq_level_highest(void)
{
	return depq_level_rt(MAX_RT_PRIO - 1, false);
}

/**
 * depq_level_of_submitter() - the level of a job submitted now
 * @min_nice: any negative nice value counts as the least
 *
 * Context: process.
 * Return: the level
 */
u16 depq_level_of_submitter(bool min_nice)
{
	int prio = READ_ONCE(current->prio);

	/* Check this first: prio and normal_prio may differ in nice value. */
	if (unlikely(current->policy == SCHED_IDLE &&
		     !depq_prio_realtime(prio)))
		return DEPQ_LEVELS - 1;
	if (unlikely(prio < current->normal_prio || dl_prio(prio)))
		return depq_level_allowed(min_nice, prio);
	if (depq_prio_realtime(prio))
		return depq_level_rt(MAX_RT_PRIO - 1 - prio,
				     current->policy == SCHED_RR);
	return depq_level_nice(min_nice, PRIO_TO_NICE(prio));
}

/**
 * depq_level_attr() - scheduling attributes of a worker at a level
 * @level: the level
 * @attr: zeroed except for its size; filled in
 *
 * Context: any.
 */
void depq_level_attr(u16 level, struct sched_attr *attr)
{
	if (level < DEPQ_LEVEL_NICE) {
		attr->sched_policy = level & 1 ? SCHED_RR : SCHED_FIFO;
		attr->sched_priority = MAX_RT_PRIO - 1 - level / 2;
	} else {
		attr->sched_policy = SCHED_NORMAL;
		attr->sched_nice = level - DEPQ_LEVEL_NICE + MIN_NICE;
	}
}
