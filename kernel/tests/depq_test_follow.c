// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: follow workers
 *
 * The scheduling of a worker's thread while jobs of
 * all kinds of submitters wait for it, and when none does. Only for designs
 * with such a worker. Submitters are separate threads, so that a failed
 * case leaves no thread with a changed priority.
 *
 * Checks normal_prio, as on PREEMPT_RT any lock may lend a priority.
 */

#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <uapi/linux/sched/types.h>

#include "depq_test_follow.h"

static const struct dt_kind kinds[] = {
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

/**
 * dt_become - change the scheduling of the caller
 * @kind: the new scheduling
 *
 * Context: a thread of a scenario.
 */
void dt_become(const struct dt_kind *kind)
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
	 * A thread that leaves SCHED_DEADLINE just as its runtime ends stays
	 * marked as throttled until the zero-lag time. If it returned before
	 * that, it would never run again: the mark is set, but no timer is
	 * (Linux 6.1 and 6.12, for any thread).
	 */
	while (kind->policy != SCHED_DEADLINE && current->dl.dl_throttled &&
	       time_before(jiffies, end))
		usleep_range(1000, 2000);
}

/**
 * dt_kind - look up a way to be scheduled
 * @policy: SCHED_*
 * @priority_or_nice: its parameter, 0 for SCHED_DEADLINE
 *
 * Return: it, or that of an ordinary thread if it is not in the table.
 */
const struct dt_kind *dt_kind(u32 policy, int priority_or_nice)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].policy == policy &&
		    (kinds[i].priority ?: kinds[i].nice) == priority_or_nice)
			return &kinds[i];
	return &kinds[0];
}

/**
 * dt_worker_task - the thread that runs the jobs of a queue
 * @queue: the queue, of a design whose worker follows
 *
 * Return: the thread.
 */
struct task_struct *dt_worker_task(struct dt_queue *queue)
{
	return queue->depq.worker->kthread->task;
}

/**
 * dt_calms_down - whether a worker returns to its state without jobs
 * @worker: the worker
 *
 * Only failures wait for long.
 *
 * Context: process, may sleep.
 */
bool dt_calms_down(struct depq_worker *worker)
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

/**
 * dt_follows - whether the design has a follow worker
 * @dt: the fixture
 */
bool dt_follows(struct dt *dt)
{
	return dt->design->backend == &dt_depq &&
	       dt->design->kind == DEPQ_WORKER_FOLLOW;
}

/**
 * dt_hold - keep a worker in run_job(), at the level of the caller
 * @thread: the caller
 * @queue: where to submit the job for that, which is stopped first so that no
 *	submitter runs it
 * @mutex: for run_job() to hold, or NULL
 *
 * Context: a thread of a scenario, may sleep.
 * Return: whether the worker is in run_job(); it stays there until dt_let_go().
 */
bool dt_hold(struct dt_thread *thread, struct dt_queue *queue,
	     struct rt_mutex *mutex)
{
	struct dt_job_args args = {
		.duration_ns = 1000, .gated = true, .mutex = mutex,
	};
	struct dt_record *rec;

	reinit_completion(&thread->dt->gate);
	dt_stop(queue);
	rec = dt_try_submit(queue, &args);
	dt_start(queue);
	return !IS_ERR(rec) && dt_wait(thread->dt, dt_ran(rec));
}

/**
 * dt_let_go - undo dt_hold()
 * @thread: the caller
 *
 * Context: a thread of a scenario.
 */
void dt_let_go(struct dt_thread *thread)
{
	complete_all(&thread->dt->gate);
}

/**
 * dt_with_submitter - run one thread on a queue
 * @test: the case, which is skipped if the worker does not follow
 * @fn: function of the thread
 *
 * Context: the case's thread.
 */
void dt_with_submitter(struct kunit *test,
		       void (*fn)(struct dt_thread *thread))
{
	struct dt *dt = test->priv;
	struct dt_thread *thread;
	struct dt_queue *queue;

	if (!dt_follows(dt))
		kunit_skip(test, "its worker does not follow");
	queue = dt_queue(dt);
	thread = dt_threads(dt, 1, fn, NULL);
	thread->queue = queue;
	dt_threads_start(thread);
	dt_threads_join(thread);
	KUNIT_EXPECT_EQ(test, thread->errors, 0);
}

/* One job of each kind: raised at once, lowered before the next job and at the end. */
static void levels_thread(struct dt_thread *thread)
{
	struct dt_queue *queue = thread->queue;
	struct kunit *test = thread->dt->test;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct dt_kind *kind = &kinds[i];
		struct dt_job_args args = { .duration_ns = 1000 };
		struct dt_record *rec;

		if (!dt_hold(thread, queue, NULL)) {
			thread->errors++;
			return;
		}
		dt_become(kind);
		rec = dt_try_submit(queue, &args);
		if (IS_ERR(rec)) {
			thread->errors++;
			return;
		}
		if (kind->prio < IDLE) {
			KUNIT_EXPECT_EQ(test, dt_worker_task(queue)->normal_prio,
					kind->prio);
			KUNIT_EXPECT_EQ(test, dt_worker_task(queue)->policy,
					kind->worker);
		}
		dt_let_go(thread);
		KUNIT_EXPECT_TRUE(test, dt_wait(thread->dt,
						dt_signalled(rec)));
		KUNIT_EXPECT_EQ(test, rec->run_prio, kind->prio);
		dt_become(dt_kind(SCHED_NORMAL, 0));
		KUNIT_EXPECT_TRUE(test, dt_calms_down(queue->depq.worker));
	}
}

static void levels(struct kunit *test)
{
	dt_with_submitter(test, levels_thread);
}

/* A stream: each job runs at the current level of its submitter. */
static void changes_thread(struct dt_thread *thread)
{
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct kunit *test = thread->dt->test;
	u32 i, n = dt_scaled(200);

	for (i = 0; i < n; i++) {
		const struct dt_kind *kind;
		struct dt_record *rec;

		kind = &kinds[prandom_u32_state(&thread->random) %
			      ARRAY_SIZE(kinds)];
		dt_become(kind);
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
	dt_become(dt_kind(SCHED_NORMAL, 0));
}

static void changes(struct kunit *test)
{
	dt_with_submitter(test, changes_thread);
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

	if (!dt_follows(dt))
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
		KUNIT_EXPECT_TRUE(test, dt_calms_down(queues[i]->depq.worker));
	}
}

/* Of jobs that wait together, only the most urgent counts. */
static void backlog_thread(struct dt_thread *thread)
{
	static const int prios[] = { RT(50), RT(50), RT(50), FAIR(-1), FAIR(0) };
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct kunit *test = thread->dt->test;
	struct dt_record *recs[5];
	u32 i;

	thread->errors += !dt_hold(thread, queue, NULL);
	for (i = 0; i < ARRAY_SIZE(recs); i++) {
		dt_become(i == 0 || i == 4 ? dt_kind(SCHED_NORMAL, 0) :
		       i == 1 ? dt_kind(SCHED_NORMAL, 5) :
		       i == 2 ? dt_kind(SCHED_FIFO, 50) :
				dt_kind(SCHED_NORMAL, -1));
		recs[i] = dt_try_submit(queue, &args);
		if (IS_ERR(recs[i])) {
			thread->errors++;
			break;
		}
	}
	KUNIT_EXPECT_EQ(test, dt_worker_task(queue)->normal_prio, RT(50));
	dt_let_go(thread);
	if (i == ARRAY_SIZE(recs)) {
		KUNIT_EXPECT_TRUE(test, dt_wait(thread->dt,
						dt_signalled(recs[4])));
		for (i = 0; i < ARRAY_SIZE(recs); i++)
			KUNIT_EXPECT_EQ(test, recs[i]->run_prio, prios[i]);
	}
	dt_become(dt_kind(SCHED_NORMAL, 0));
	KUNIT_EXPECT_TRUE(test, dt_calms_down(queue->depq.worker));
}

static void backlog(struct kunit *test)
{
	dt_with_submitter(test, backlog_thread);
}

/* A killed submitter has no more effect, with jobs or lingering. */
static void killed_thread(struct dt_thread *thread)
{
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct dt_record *rec;
	u32 i;

	thread->errors += !dt_hold(thread, queue, NULL);
	dt_become(dt_kind(SCHED_FIFO, 50));
	for (i = 0; i < 10; i++) {
		rec = dt_try_submit(queue, &args);
		thread->errors += IS_ERR(rec);
	}
	dt_become(dt_kind(SCHED_NORMAL, 0));
	if (dt_worker_task(queue)->normal_prio != RT(50))
		thread->errors++;
	dt_kill(queue, -EOWNERDEAD);
	dt_let_go(thread);
	thread->errors += !dt_calms_down(queue->depq.worker);
}

static void killed(struct kunit *test)
{
	dt_with_submitter(test, killed_thread);
}

/* A queue without jobs lingers; a closed one does not, whoever shares the worker. */
static void closed_thread(struct dt_thread *thread)
{
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_queue *queue = thread->queue;
	struct depq_worker *worker = depq_worker_get(queue->depq.worker);
	struct dt_record *rec;

	dt_become(dt_kind(SCHED_RR, 50));
	dt_stop(queue);
	rec = dt_try_submit(queue, &args);
	dt_start(queue);
	dt_become(dt_kind(SCHED_NORMAL, 0));
	if (IS_ERR(rec) || !dt_wait(thread->dt, dt_signalled(rec))) {
		thread->errors++;
	} else {
		thread->errors += rec->run_prio != RT(50);
		dt_close(queue);
		thread->errors += !dt_calms_down(worker);
	}
	depq_worker_put(worker);
}

static void closed(struct kunit *test)
{
	dt_with_submitter(test, closed_thread);
}

static struct kunit_case follow[] = {
	DT_CASE(levels),
	DT_CASE(changes),
	DT_CASE(changes_of_several),
	DT_CASE(backlog),
	DT_CASE(killed),
	DT_CASE(closed),
	{ }
};

DT_SUITE(dt_follow_suite, follow);
