/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DEPQ_TEST_FOLLOW_H
#define DEPQ_TEST_FOLLOW_H

#include <linux/sched/prio.h>

#include "../depq/internal.h"
#include "depq_test_suites.h"

/**
 * struct dt_kind - scheduling of a submitter, and of its worker
 * @policy: the submitter's policy
 * @priority: its priority, if realtime
 * @nice: if not
 * @worker: policy of the worker
 * @prio: of the worker, as normal_prio
 */
struct dt_kind {
	u32 policy;
	u32 priority;
	int nice;
	u32 worker;
	int prio;
};

/* As normal_prio has it. */
#define RT(p)	(MAX_RT_PRIO - 1 - (p))
#define FAIR(n)	(DEFAULT_PRIO + (n))
#define IDLE	FAIR(0)

/* depq_test_follow.c */
void dt_become(const struct dt_kind *kind);
const struct dt_kind *dt_kind(u32 policy, int priority_or_nice);
struct task_struct *dt_worker_task(struct dt_queue *queue);
bool dt_calms_down(struct depq_worker *worker);
bool dt_follows(struct dt *dt);
bool dt_hold(struct dt_thread *thread, struct dt_queue *queue,
	     struct rt_mutex *mutex);
void dt_let_go(struct dt_thread *thread);
void dt_with_submitter(struct kunit *test,
		       void (*fn)(struct dt_thread *thread));

#endif /* DEPQ_TEST_FOLLOW_H */
