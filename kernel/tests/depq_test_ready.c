// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: follow workers, and jobs that wait for something else
 *
 * A job counts for a follow worker while it waits only for that worker,
 * and then at once, even if the scheduler refuses at first.
 */

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/rtmutex.h>
#include <linux/sched.h>

#include "depq_test_follow.h"

/* Whether a worker takes over a level; only failures wait for long. */
static bool rises(struct depq_worker *worker, int prio)
{
	struct task_struct *task = worker->kthread->task;
	unsigned long end = jiffies + DT_PATIENCE;

	while (READ_ONCE(task->normal_prio) != prio && time_before(jiffies, end))
		usleep_range(500, 1000);
	return READ_ONCE(task->normal_prio) == prio;
}

/**
 * struct wait - an urgent job that waits, next to others on the same engine
 * @fence: what the job waits for
 * @others: queue of the others
 */
struct wait {
	struct dma_fence *fence;
	struct dt_queue *others;
};

/* A waiting job boosts nobody; when it no longer waits, it is served. */
static void waiting_thread(struct dt_thread *thread)
{
	struct wait *wait = thread->data;
	struct dt_job_args args = { .duration_ns = 10 * NSEC_PER_MSEC };
	struct dt_job_args waits = {
		.duration_ns = 1000, .fence = wait->fence,
	};
	struct depq_worker *worker = thread->queue->depq.worker;
	struct kunit *test = thread->dt->test;
	struct dt_record *urgent, *rec;
	u32 i, n = dt_scaled(40);

	dt_become(dt_kind(SCHED_FIFO, 50));
	urgent = dt_try_submit(thread->queue, &waits);
	dt_become(dt_kind(SCHED_NORMAL, 19));
	for (i = 0; i < n; i++) {
		/* As in dt_hold(): the worker must run it. */
		dt_stop(wait->others);
		rec = dt_try_submit(wait->others, &args);
		dt_start(wait->others);
		if (IS_ERR(rec) || !dt_wait(thread->dt, dt_signalled(rec)))
			thread->errors++;
		else
			KUNIT_EXPECT_EQ(test, rec->run_prio, FAIR(19));
	}
	/* One that shares the worker is in its way, another one is not. */
	thread->errors += !dt_hold(thread, wait->others, NULL);
	dma_fence_signal(wait->fence);
	if (thread->dt->design->shared)
		KUNIT_EXPECT_TRUE(test, rises(worker, RT(50)));
	dt_let_go(thread);
	if (IS_ERR(urgent) || !dt_wait(thread->dt, dt_signalled(urgent)))
		thread->errors++;
	else
		KUNIT_EXPECT_EQ(test, urgent->run_prio, RT(50));
	dt_become(dt_kind(SCHED_NORMAL, 0));
	KUNIT_EXPECT_TRUE(test, dt_calms_down(worker));
}

static void waiting(struct kunit *test)
{
	struct dt_limits limits = { .credit_limit = 64, .parallel = true };
	struct dt *dt = test->priv;
	struct dt_engine *engine;
	struct dt_thread *thread;
	struct wait *wait;

	if (!dt_follows(dt))
		kunit_skip(test, "its worker does not follow");
	wait = kunit_kcalloc(test, 1, sizeof(*wait), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, wait);
	wait->fence = dt_user_fence(dt);
	engine = dt_engine(dt, &limits);
	wait->others = dt_queue_on(engine);
	thread = dt_threads(dt, 1, waiting_thread, wait);
	thread->queue = dt_queue_on(engine);
	dt_threads_start(thread);
	dt_threads_join(thread);
	KUNIT_EXPECT_EQ(test, thread->errors, 0);
	dt_settle(dt);
}

/* What the job waits for is signalled in the engine's interrupt. */
static void interrupt_thread(struct dt_thread *thread)
{
	struct dt_queue *others = thread->data, *queue = thread->queue;
	struct dt_job_args first = { .duration_ns = 2 * NSEC_PER_MSEC };
	struct dt_record *before, *rec = ERR_PTR(-ENODATA);
	struct dt_job_args second = {
		.duration_ns = 1000, .deps = &before, .n_deps = 1,
	};
	struct kunit *test = thread->dt->test;

	dt_stop(queue);
	before = dt_try_submit(others, &first);
	if (!IS_ERR(before)) {
		dt_become(dt_kind(SCHED_RR, 50));
		rec = dt_try_submit(queue, &second);
		dt_become(dt_kind(SCHED_NORMAL, 0));
	}
	/* Stopped or not, its dependency has not been met. */
	KUNIT_EXPECT_EQ(test, dt_worker_task(queue)->normal_prio, IDLE);
	dt_start(queue);
	KUNIT_EXPECT_EQ(test, dt_worker_task(queue)->normal_prio, IDLE);
	if (IS_ERR(rec) || !dt_wait(thread->dt, dt_signalled(rec)))
		thread->errors++;
	else
		KUNIT_EXPECT_EQ(test, rec->run_prio, RT(50));
	KUNIT_EXPECT_TRUE(test, dt_calms_down(queue->depq.worker));
}

static void interrupt(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *others;
	struct dt_thread *thread;

	if (!dt_follows(dt))
		kunit_skip(test, "its worker does not follow");
	others = dt_queue(dt);
	thread = dt_threads(dt, 1, interrupt_thread, others);
	thread->queue = dt_queue(dt);
	dt_threads_start(thread);
	dt_threads_join(thread);
	KUNIT_EXPECT_EQ(test, thread->errors, 0);
	dt_settle(dt);
}

/* Stopped queues do not count; one that is started does. */
static void stopped_thread(struct dt_thread *thread)
{
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct kunit *test = thread->dt->test;
	struct dt_record *rec;

	dt_become(dt_kind(SCHED_FIFO, 50));
	dt_stop(queue);
	rec = dt_try_submit(queue, &args);
	dt_become(dt_kind(SCHED_NORMAL, 0));
	KUNIT_EXPECT_EQ(test, dt_worker_task(queue)->normal_prio, IDLE);
	dt_start(queue);
	if (IS_ERR(rec) || !dt_wait(thread->dt, dt_signalled(rec)))
		thread->errors++;
	else
		KUNIT_EXPECT_EQ(test, rec->run_prio, RT(50));
	KUNIT_EXPECT_TRUE(test, dt_calms_down(queue->depq.worker));
}

static void stopped(struct kunit *test)
{
	dt_with_submitter(test, stopped_thread);
}

/**
 * struct loan - a worker that inherits a deadline
 * @mutex: held by the worker, wanted by a thread with a deadline
 * @held: the worker has it
 */
struct loan {
	struct rt_mutex mutex;
	struct completion held;
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
	dt_become(dt_kind(SCHED_DEADLINE, 0));
	rt_mutex_lock(&loan->mutex);
	rt_mutex_unlock(&loan->mutex);
	dt_become(dt_kind(SCHED_NORMAL, 0));
}

static void inherited_thread(struct dt_thread *thread)
{
	struct loan *loan = thread->data;
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct kunit *test = thread->dt->test;
	struct dt_record *rec;

	if (thread->index) {
		lend(loan);
		return;
	}
	thread->errors += !dt_hold(thread, queue, &loan->mutex);
	complete(&loan->held);
	KUNIT_EXPECT_TRUE(test, inherits(queue->depq.worker));
	dt_become(dt_kind(SCHED_FIFO, 50));
	rec = dt_try_submit(queue, &args);
	KUNIT_EXPECT_EQ(test, dt_worker_task(queue)->policy, SCHED_NORMAL);
	dt_become(dt_kind(SCHED_NORMAL, 0));
	dt_let_go(thread);
	if (IS_ERR(rec) || !dt_wait(thread->dt, dt_signalled(rec)))
		thread->errors++;
	else
		KUNIT_EXPECT_EQ(test, rec->run_prio, RT(50));
	KUNIT_EXPECT_TRUE(test, dt_calms_down(queue->depq.worker));
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

	if (!dt_follows(dt))
		kunit_skip(test, "its worker does not follow");
	loan = kunit_kcalloc(test, 1, sizeof(*loan), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, loan);
	rt_mutex_init(&loan->mutex);
	init_completion(&loan->held);
	threads = dt_threads(dt, 2, inherited_thread, loan);
	threads[0].queue = dt_queue(dt);
	dt_threads_start(threads);
	dt_threads_join(threads);
	KUNIT_EXPECT_EQ(test, threads[0].errors, 0);
	dt_settle(dt);
}

static struct kunit_case ready[] = {
	DT_CASE(waiting),
	DT_CASE(interrupt),
	DT_CASE(stopped),
	DT_CASE(inherited_deadline),
	{ }
};

DT_SUITE(dt_ready_suite, ready);
