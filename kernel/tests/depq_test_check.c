// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the checker
 *
 * Called by the mock engine and the designs whenever a job is run, leaves the
 * engine, is signalled or is released. It tracks these for each queue, and fails
 * the case if one of the following does not hold:
 *
 * - jobs are run in the order of their submission, each at most once, one at a
 *   time, never in an interrupt, after their dependencies, not while the queue
 *   is stopped, and not once it was killed (one may have been on its way)
 * - no more credits are in flight than the limit, unless it is a lone job
 * - finished fences are signalled in the order of submission, each exactly
 *   once, after the fences the job depends on, before the job is released;
 *   one that was not run has an error
 * - jobs are released exactly once
 *
 * A dependency on a job of the same queue is met by the order in the queue: it
 * says nothing about when a job is run, only about when it is signalled.
 */

#include <linux/preempt.h>

#include "depq_test.h"

/* Fails the case; the message names design, queue and job. */
#define dt_broken(rec, fmt, ...)					\
	KUNIT_FAIL((rec)->queue->dt->test, "queue %p job %u: " fmt,	\
		   (rec)->queue, (rec)->index, ##__VA_ARGS__)

static bool dt_fence_signalled(struct dma_fence *fence)
{
	return test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &fence->flags);
}

/* Returns the number of dependencies that keep a job from being run. */
static u32 dt_open_to_run(struct dt_record *rec)
{
	const struct dt_backend *be = rec->queue->dt->design->backend;
	u32 i, n = 0;

	for (i = 0; i < rec->n_deps; i++)
		if (rec->deps[i]->context != rec->finished->context &&
		    !dt_fence_signalled(rec->deps[i]) &&
		    !(be->pipelined && be->pipelined(rec, rec->deps[i])))
			n++;
	return n;
}

/* Returns the number of dependencies that keep a job from being signalled. */
static u32 dt_open_to_signal(struct dt_record *rec)
{
	u32 i, n = 0;

	for (i = 0; i < rec->n_deps; i++)
		n += !dt_fence_signalled(rec->deps[i]);
	return n;
}

/* Counts credits; for drm_sched and with an arbiter the limit is of the engine. */
static void dt_check_credits(struct dt_record *rec)
{
	struct dt_queue *queue = rec->queue;
	struct dt_engine *engine = queue->engine;
	bool whole = queue->dt->design->backend == &dt_drm || engine->arbiter;
	unsigned long flags;
	u32 credits, jobs;

	spin_lock_irqsave(&engine->lock, flags);
	rec->on_engine = true;
	queue->credits += rec->args.credits;
	queue->in_flight++;
	engine->credits += rec->args.credits;
	engine->in_flight++;
	credits = whole ? engine->credits : queue->credits;
	jobs = whole ? engine->in_flight : queue->in_flight;
	spin_unlock_irqrestore(&engine->lock, flags);
	if (credits > engine->limits.credit_limit && jobs > 1)
		dt_broken(rec, "%u credits in flight, limit %u", credits,
			  engine->limits.credit_limit);
}

/**
 * dt_check_run - called before a job is run
 * @rec: the job
 *
 * Context: that of run_job().
 */
void dt_check_run(struct dt_record *rec)
{
	struct dt_queue *queue = rec->queue;
	unsigned long flags;

	if (!in_task() && (in_hardirq() ||
			   !(queue->dt->design->flags & DEPQ_QUEUE_SOFTIRQ)))
		dt_broken(rec, "run in an interrupt");
	if (atomic_inc_return(&rec->runs) != 1)
		dt_broken(rec, "run %d times", atomic_read(&rec->runs));
	if (atomic_inc_return(&queue->running) != 1)
		dt_broken(rec, "run while another one is");
	if (dt_open_to_run(rec))
		dt_broken(rec, "run before %u dependencies",
			  dt_open_to_run(rec));
	spin_lock_irqsave(&queue->check, flags);
	if (rec->index <= queue->last_run)
		dt_broken(rec, "run after job %u", queue->last_run);
	queue->last_run = rec->index;
	if (queue->stopped)
		dt_broken(rec, "run while stopped");
	/* run_job() may have been on its way when the queue was killed. */
	if (queue->killed && ++queue->late_runs > 1)
		dt_broken(rec, "run after the queue was killed");
	spin_unlock_irqrestore(&queue->check, flags);
	rec->run_pid = current->pid;
	rec->run_prio = current->normal_prio;
	dt_check_credits(rec);
}

/**
 * dt_check_ran - called before run_job() returns
 * @rec: the job
 *
 * Context: that of run_job().
 */
void dt_check_ran(struct dt_record *rec)
{
	atomic_dec(&rec->queue->running);
}

/**
 * dt_check_off - called when a job leaves the engine, before its fence signals
 * @rec: the job; no effect if it has left before
 *
 * Under the lock under which the engine forgets it: as soon as that is
 * released a reset may come, which no longer finds the job there, and after
 * which the design counts it no more.
 *
 * Context: any, under the lock of the engine.
 */
void dt_check_off(struct dt_record *rec)
{
	struct dt_engine *engine = rec->queue->engine;

	lockdep_assert_held(&engine->lock);
	if (!rec->on_engine)
		return;
	rec->on_engine = false;
	rec->queue->credits -= rec->args.credits;
	rec->queue->in_flight--;
	engine->credits -= rec->args.credits;
	engine->in_flight--;
}

/*
 * Whether the design promises to signal a job in order. drm_sched signals when
 * the driver does, so not if the engine completes out of order, and not for
 * jobs that it does not complete.
 */
static bool dt_signals_in_order(struct dt_record *rec)
{
	struct dt_queue *queue = rec->queue;

	if (queue->dt->design->backend->orders)
		return true;
	return !queue->dt->scrambled && !queue->engine->limits.parallel &&
	       rec->args.fault != DT_LOST && rec->args.fault != DT_RUN_ERR &&
	       rec->args.fault != DT_RUN_NULL &&
	       rec->args.fault != DT_SIGNALLED;
}

/**
 * dt_check_signal - called when a finished fence has signalled
 * @fence: the fence
 * @cb: &dt_record.cb
 *
 * Context: any, under the lock of the fence.
 */
void dt_check_signal(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct dt_record *rec = container_of(cb, struct dt_record, cb);
	struct dt_queue *queue = rec->queue;
	unsigned long flags;

	rec->error = fence->error;
	if (dt_is_released(rec))
		dt_broken(rec, "signalled after its release");
	if (dt_open_to_signal(rec))
		dt_broken(rec, "signalled before %u dependencies",
			  dt_open_to_signal(rec));
	if (!dt_ran(rec) && !fence->error)
		dt_broken(rec, "signalled without an error, but never run");
	spin_lock_irqsave(&queue->check, flags);
	if (dt_signals_in_order(rec)) {
		if (rec->index <= queue->last_signal)
			dt_broken(rec, "signalled after job %u",
				  queue->last_signal);
		queue->last_signal = max(queue->last_signal, rec->index);
	}
	spin_unlock_irqrestore(&queue->check, flags);
	if (atomic_inc_return(&rec->signals) != 1)
		dt_broken(rec, "signalled again");
	wake_up_all(&queue->dt->wait);
}

/**
 * dt_committed - called before a job is committed
 * @rec: the job
 * @finished: its finished fence
 *
 * Context: process, under &dt_queue.submit.
 */
void dt_committed(struct dt_record *rec, struct dma_fence *finished)
{
	rec->finished = dma_fence_get(finished);
	rec->state = DT_COMMITTED;
	if (dma_fence_add_callback(finished, &rec->cb, dt_check_signal))
		dt_broken(rec, "signalled before it was committed");
}

/**
 * dt_released - called when the design releases a job, which is freed next
 * @rec: the job
 *
 * Context: any.
 */
void dt_released(struct dt_record *rec)
{
	struct dt *dt = rec->queue->dt;

	rec->release_hardirq = in_hardirq();
	if (rec->state == DT_COMMITTED && !dt_signalled(rec))
		dt_broken(rec, "released before it was signalled");
	if (rec->state == DT_PREPARED)
		dt_broken(rec, "released, but never committed");
	rec->job = NULL;
	if (atomic_inc_return(&rec->releases) != 1) {
		dt_broken(rec, "released again");
		return;
	}
	dma_fence_put(&rec->hw->base);
	dt_count(dt, &dt->jobs, -1);
}

/**
 * dt_check_end - checks that no job is left
 * @dt: the fixture
 *
 * Context: process.
 */
void dt_check_end(struct dt *dt)
{
	struct dt_engine *engine;
	struct dt_record *rec;

	list_for_each_entry(rec, &dt->records, link) {
		if (rec->state != DT_COMMITTED)
			continue;
		KUNIT_EXPECT_EQ(dt->test, atomic_read(&rec->signals), 1);
		KUNIT_EXPECT_EQ(dt->test, atomic_read(&rec->releases), 1);
	}
	list_for_each_entry(engine, &dt->engines, link) {
		KUNIT_EXPECT_EQ(dt->test, dt_hw_busy(engine), 0);
		KUNIT_EXPECT_EQ(dt->test, engine->credits, 0);
		KUNIT_EXPECT_EQ(dt->test, engine->in_flight, 0);
	}
}
