// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: workers that follow
 *
 * What the thread of a worker is, as the scheduler has it, while jobs of
 * submitters of all kinds wait for it, and when none does. Only for designs
 * with such a worker. Submitters are threads of their own, so that whatever
 * becomes of a case leaves nobody with a priority.
 *
 * Looks at normal_prio, for on PREEMPT_RT any lock lends priorities.
 */

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/rtmutex.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <uapi/linux/sched/types.h>

#include "../depq/internal.h"
#include "depq_test_suites.h"

/**
 * struct kind - how a submitter is scheduled, and its worker then
 * @policy: the submitter's
 * @priority: if realtime
 * @nice: if not
 * @worker: policy of the worker
 * @prio: of the worker, as normal_prio
 */
struct kind {
	u32 policy;
	u32 priority;
	int nice;
	u32 worker;
	int prio;
};

#define RT(p)	(MAX_RT_PRIO - 1 - (p))
#define FAIR(n)	(DEFAULT_PRIO + (n))
#define IDLE	FAIR(0)

static const struct kind kinds[] = {
	{ SCHED_NORMAL, 0, 0, SCHED_NORMAL, FAIR(0) },
	{ SCHED_NORMAL, 0, -1, SCHED_NORMAL, FAIR(-1) },
	{ SCHED_NORMAL, 0, -19, SCHED_NORMAL, FAIR(-19) },
	{ SCHED_NORMAL, 0, -20, SCHED_NORMAL, FAIR(-20) },
	{ SCHED_NORMAL, 0, 5, SCHED_NORMAL, FAIR(5) },
	{ SCHED_NORMAL, 0, 19, SCHED_NORMAL, FAIR(19) },
	{ SCHED_BATCH, 0, -7, SCHED_NORMAL, FAIR(-7) },
	{ SCHED_IDLE, 0, 0, SCHED_NORMAL, FAIR(19) },
	{ SCHED_FIFO, 1, 0, SCHED_FIFO, RT(1) },
	{ SCHED_FIFO, 50, 0, SCHED_FIFO, RT(50) },
	{ SCHED_FIFO, 99, 0, SCHED_FIFO, RT(99) },
	{ SCHED_RR, 1, 0, SCHED_RR, RT(1) },
	{ SCHED_RR, 50, 0, SCHED_RR, RT(50) },
	{ SCHED_DEADLINE, 0, 0, SCHED_FIFO, RT(99) },
};

static void become(const struct kind *kind)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = kind->policy,
		.sched_priority = kind->priority,
		.sched_nice = kind->nice,
	};
	unsigned long end = jiffies + DT_PATIENCE;

	if (kind->policy == SCHED_DEADLINE) {
		attr.sched_runtime = NSEC_PER_MSEC;
		attr.sched_deadline = 10 * NSEC_PER_MSEC;
		attr.sched_period = 10 * NSEC_PER_MSEC;
	}

	WARN_ON_ONCE(sched_setattr_nocheck(current, &attr));
	/*
	 * Who leaves SCHED_DEADLINE as the runtime ends stays marked as
	 * throttled until the zero-lag time. Back before that, the thread would
	 * never run again: the mark is there and no timer (Linux 6.1 and 6.12,
	 * whoever the thread is).
	 */
	while (kind->policy != SCHED_DEADLINE && current->dl.dl_throttled &&
	       time_before(jiffies, end))
		usleep_range(1000, 2000);
}

static const struct kind *kind_of(u32 policy, int priority_or_nice)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].policy == policy &&
		    (kinds[i].priority ?: kinds[i].nice) == priority_or_nice)
			return &kinds[i];
	return &kinds[0];
}

static struct task_struct *worker_of(struct dt_queue *queue)
{
	return queue->depq.worker->kthread->task;
}

/* Whether a worker becomes idle; only failures wait for long. */
static bool calms_down(struct depq_worker *worker)
{
	struct task_struct *task = worker->kthread->task;
	unsigned long end = jiffies + DT_PATIENCE;

	do {
		if (READ_ONCE(task->normal_prio) == IDLE &&
		    READ_ONCE(task->policy) == SCHED_NORMAL)
			return true;
		usleep_range(500, 1000);
	} while (time_before(jiffies, end));
	return false;
}

static bool follows(struct dt *dt)
{
	return dt->design->backend == &dt_depq &&
	       dt->design->kind == DEPQ_WORKER_FOLLOW;
}

/* Runs one thread on a queue. */
static void with_submitter(struct kunit *test,
			   void (*fn)(struct dt_thread *thread))
{
	struct dt *dt = test->priv;
	struct dt_thread *thread;
	struct dt_queue *queue;

	if (!follows(dt))
		kunit_skip(test, "its worker does not follow");
	queue = dt_queue(dt);
	thread = dt_threads(dt, 1, fn, NULL);
	thread->queue = queue;
	dt_threads_start(thread);
	dt_threads_join(thread);
	KUNIT_EXPECT_EQ(test, thread->errors, 0);
}

/* One of each: up at once, down when the worker looks, and back in the end. */
static void levels_thread(struct dt_thread *thread)
{
	struct dt_queue *queue = thread->queue;
	struct kunit *test = thread->dt->test;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct kind *kind = &kinds[i];
		struct dt_job_args args = { .duration_ns = 1000 };
		struct dt_record *rec;

		dt_stop(queue);
		become(kind);
		rec = dt_try_submit(queue, &args);
		if (IS_ERR(rec)) {
			thread->errors++;
			return;
		}
		if (kind->prio < IDLE) {
			KUNIT_EXPECT_EQ(test, worker_of(queue)->normal_prio,
					kind->prio);
			KUNIT_EXPECT_EQ(test, worker_of(queue)->policy,
					kind->worker);
		}
		dt_start(queue);
		KUNIT_EXPECT_TRUE(test, dt_wait(thread->dt,
						dt_signalled(rec)));
		KUNIT_EXPECT_EQ(test, rec->run_prio, kind->prio);
		become(&kinds[0]);
		KUNIT_EXPECT_TRUE(test, calms_down(queue->depq.worker));
	}
}

static void levels(struct kunit *test)
{
	with_submitter(test, levels_thread);
}

/* A stream: each job is run at the level that its submitter has by then. */
static void changes_thread(struct dt_thread *thread)
{
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct kunit *test = thread->dt->test;
	u32 i, n = dt_scaled(200);

	for (i = 0; i < n; i++) {
		const struct kind *kind;
		struct dt_record *rec;

		kind = &kinds[prandom_u32_state(&thread->random) %
			      ARRAY_SIZE(kinds)];
		become(kind);
		rec = dt_try_submit(queue, &args);
		if (IS_ERR(rec) || !dt_wait(thread->dt, dt_signalled(rec))) {
			thread->errors++;
			return;
		}
		/* With others on the worker it may be more urgent. */
		if (rec->run_pid == current->pid)
			continue;
		if (thread->n == 1 || !thread->dt->design->shared)
			KUNIT_EXPECT_EQ(test, rec->run_prio, kind->prio);
		else
			KUNIT_EXPECT_LE(test, rec->run_prio, kind->prio);
	}
	become(&kinds[0]);
}

static void changes(struct kunit *test)
{
	with_submitter(test, changes_thread);
}

/* The same of several, whose queues may share a worker. */
static void changes_of_several(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 64, .parallel = true };
	struct dt_engine *engine;
	struct dt_thread *threads;
	struct dt_queue *queues[4];
	u32 i;

	if (!follows(dt))
		kunit_skip(test, "its worker does not follow");
	engine = dt_engine(dt, &limits);
	for (i = 0; i < ARRAY_SIZE(queues); i++)
		queues[i] = dt_queue_on(engine);
	threads = dt_threads(dt, ARRAY_SIZE(queues), changes_thread, NULL);
	for (i = 0; i < ARRAY_SIZE(queues); i++)
		threads[i].queue = queues[i];
	dt_threads_start(threads);
	dt_threads_join(threads);
	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		KUNIT_EXPECT_EQ(test, threads[i].errors, 0);
		KUNIT_EXPECT_TRUE(test, calms_down(queues[i]->depq.worker));
	}
}

/* Of jobs that wait together, the most urgent counts, and no other. */
static void backlog_thread(struct dt_thread *thread)
{
	static const int prios[] = { RT(50), RT(50), RT(50), FAIR(-1), FAIR(0) };
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct kunit *test = thread->dt->test;
	struct dt_record *recs[5];
	u32 i;

	dt_stop(queue);
	for (i = 0; i < ARRAY_SIZE(recs); i++) {
		become(i == 0 || i == 4 ? kind_of(SCHED_NORMAL, 0) :
		       i == 1 ? kind_of(SCHED_NORMAL, 5) :
		       i == 2 ? kind_of(SCHED_FIFO, 50) :
				kind_of(SCHED_NORMAL, -1));
		recs[i] = dt_try_submit(queue, &args);
		if (IS_ERR(recs[i])) {
			thread->errors++;
			break;
		}
	}
	KUNIT_EXPECT_EQ(test, worker_of(queue)->normal_prio, RT(50));
	dt_start(queue);
	if (i == ARRAY_SIZE(recs)) {
		KUNIT_EXPECT_TRUE(test, dt_wait(thread->dt,
						dt_signalled(recs[4])));
		for (i = 0; i < ARRAY_SIZE(recs); i++)
			KUNIT_EXPECT_EQ(test, recs[i]->run_prio, prios[i]);
	}
	become(&kinds[0]);
	KUNIT_EXPECT_TRUE(test, calms_down(queue->depq.worker));
}

static void backlog(struct kunit *test)
{
	with_submitter(test, backlog_thread);
}

/* Nothing is left of who is killed, with jobs or lingering. */
static void killed_thread(struct dt_thread *thread)
{
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct dt_record *rec;
	u32 i;

	become(kind_of(SCHED_FIFO, 50));
	dt_stop(queue);
	for (i = 0; i < 10; i++) {
		rec = dt_try_submit(queue, &args);
		thread->errors += IS_ERR(rec);
	}
	become(&kinds[0]);
	if (worker_of(queue)->normal_prio != RT(50))
		thread->errors++;
	dt_kill(queue, -EOWNERDEAD);
	thread->errors += !calms_down(queue->depq.worker);
	dt_start(queue);
}

static void killed(struct kunit *test)
{
	with_submitter(test, killed_thread);
}

/* What has no jobs lingers; what is closed does not, whoever has the worker. */
static void closed_thread(struct dt_thread *thread)
{
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct depq_worker *worker = depq_worker_get(queue->depq.worker);
	struct dt_record *rec;

	become(kind_of(SCHED_RR, 50));
	dt_stop(queue);
	rec = dt_try_submit(queue, &args);
	dt_start(queue);
	become(&kinds[0]);
	if (IS_ERR(rec) || !dt_wait(thread->dt, dt_signalled(rec))) {
		thread->errors++;
	} else {
		thread->errors += rec->run_prio != RT(50);
		dt_close(queue);
		thread->errors += !calms_down(worker);
	}
	depq_worker_put(worker);
}

static void closed(struct kunit *test)
{
	with_submitter(test, closed_thread);
}

/**
 * struct loan - a worker that has inherited a deadline
 * @mutex: held by the worker, wanted by a thread with a deadline
 * @held: the worker has it
 * @fence: what the job waits for that takes it
 */
struct loan {
	struct rt_mutex mutex;
	struct completion held;
	struct dma_fence *fence;
};

/* Whether somebody with a deadline waits for a lock of the worker's. */
static bool inherits(struct depq_worker *worker)
{
	struct task_struct *task = worker->kthread->task;
	unsigned long end = jiffies + DT_PATIENCE;

	while (READ_ONCE(task->prio) >= 0 && time_before(jiffies, end))
		usleep_range(500, 1000);
	return READ_ONCE(task->prio) < 0;
}

static void lend(struct loan *loan)
{
	wait_for_completion(&loan->held);
	become(kind_of(SCHED_DEADLINE, 0));
	rt_mutex_lock(&loan->mutex);
	rt_mutex_unlock(&loan->mutex);
	become(&kinds[0]);
}

static void inherited_thread(struct dt_thread *thread)
{
	struct loan *loan = thread->data;
	struct dt_job_args holder = {
		.duration_ns = 1000, .gated = true, .mutex = &loan->mutex,
		.fence = loan->fence,
	};
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct kunit *test = thread->dt->test;
	struct dt_record *first, *second;

	if (thread->index) {
		lend(loan);
		return;
	}
	/* The fence keeps a submitter that may from running it itself. */
	first = dt_try_submit(queue, &holder);
	dma_fence_signal(loan->fence);
	thread->errors += IS_ERR(first) ||
			  !dt_wait(thread->dt, dt_ran(first));
	complete(&loan->held);
	KUNIT_EXPECT_TRUE(test, inherits(queue->depq.worker));
	become(kind_of(SCHED_FIFO, 50));
	second = dt_try_submit(queue, &args);
	KUNIT_EXPECT_EQ(test, worker_of(queue)->policy, SCHED_NORMAL);
	become(&kinds[0]);
	complete_all(&thread->dt->gate);
	if (IS_ERR(second) || !dt_wait(thread->dt, dt_signalled(second)))
		thread->errors++;
	else
		KUNIT_EXPECT_EQ(test, second->run_prio, RT(50));
	KUNIT_EXPECT_TRUE(test, calms_down(queue->depq.worker));
}

/*
 * The scheduler refuses to change a thread that has inherited a deadline. It
 * gets its level as soon as it has given back what was lent.
 */
static void inherited_deadline(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_thread *threads;
	struct loan *loan;

	if (!follows(dt))
		kunit_skip(test, "its worker does not follow");
	loan = kunit_kcalloc(test, 1, sizeof(*loan), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, loan);
	rt_mutex_init(&loan->mutex);
	init_completion(&loan->held);
	loan->fence = dt_user_fence(dt);
	threads = dt_threads(dt, 2, inherited_thread, loan);
	threads[0].queue = dt_queue(dt);
	dt_threads_start(threads);
	dt_threads_join(threads);
	KUNIT_EXPECT_EQ(test, threads[0].errors, 0);
	dt_settle(dt);
}

static struct kunit_case follow[] = {
	DT_CASE(levels),
	DT_CASE(changes),
	DT_CASE(changes_of_several),
	DT_CASE(backlog),
	DT_CASE(killed),
	DT_CASE(closed),
	DT_CASE(inherited_deadline),
	{ }
};

DT_SUITE(dt_follow_suite, follow);
