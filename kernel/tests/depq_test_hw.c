// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the mock engine
 *
 * Jobs are in a ring in the order in which they were handed over. A job
 * without a duration is completed by the test, with dt_hw_advance() or
 * dt_hw_complete(); one with a duration by the timer, after that time
 * following its predecessor or, on a parallel engine, concurrently.
 *
 * A completed job is first marked and then signalled, with the lock of the
 * engine released, by one drainer at a time, so that a serial engine signals in
 * order even if the test and the timer complete jobs at once.
 *
 * ==========  ================================  ==========================
 * state       who may change it                 exits
 * ==========  ================================  ==========================
 * no ring     dt_hw_run()                       in ring
 * in ring     test, timer: under engine->lock   done
 * done        the drainer: takes it out         signalled
 * in ring     dt_hw_recover(), dt_hw_flush()    taken out; signalled by depq
 *                                               or never
 * ==========  ================================  ==========================
 */

#include <linux/delay.h>

#include "depq_test.h"

static const char *dt_fence_name(struct dma_fence *fence)
{
	return "depq_test";
}

static void dt_fence_release(struct dma_fence *base)
{
	struct dt_fence *fence = container_of(base, struct dt_fence, base);
	struct dt *dt = fence->dt;

	dma_fence_free(base);
	/* The fixture goes away when it sees zero: nothing after this. */
	dt_count(dt, &dt->fences, -1);
}

static const struct dma_fence_ops dt_fence_ops = {
	.get_driver_name = dt_fence_name,
	.get_timeline_name = dt_fence_name,
	.release = dt_fence_release,
};

/**
 * dt_hw_fence - create a fence of the mock hardware
 * @dt: the fixture
 * @rec: the job, or NULL for a fence that the test itself signals
 *
 * Context: process, may sleep.
 * Return: the fence with one reference, or NULL.
 */
struct dt_fence *dt_hw_fence(struct dt *dt, struct dt_record *rec)
{
	struct dt_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return NULL;
	spin_lock_init(&fence->lock);
	INIT_LIST_HEAD(&fence->link);
	fence->dt = dt;
	fence->rec = rec;
	dt_count(dt, &dt->fences, 1);
	/* Each fence has its own context: jobs may end out of order. */
	dma_fence_init(&fence->base, &dt_fence_ops, &fence->lock,
		       dma_fence_context_alloc(1), 1);
	return fence;
}

/* Returns the next fence that may be removed. Context: under engine->lock. */
static struct dt_fence *dt_hw_next_done(struct dt_engine *engine)
{
	struct dt_fence *fence;

	lockdep_assert_held(&engine->lock);
	list_for_each_entry(fence, &engine->ring, link) {
		if (fence->done)
			return fence;
		if (!engine->limits.parallel && !engine->dt->scrambled)
			return NULL;
	}
	return NULL;
}

/* Signals a fence with the result of its job. Context: any. */
static void dt_hw_signal(struct dt_fence *fence)
{
	struct dt_record *rec = fence->rec;

	if (rec->args.fault == DT_ERROR)
		dma_fence_set_error(&fence->base, -EIO);
	dma_fence_signal(&fence->base);
	if (rec->args.fault == DT_DOUBLE)
		dma_fence_signal(&fence->base);
}

/* Signals completed jobs, in order. Context: any. */
static void dt_hw_drain(struct dt_engine *engine)
{
	struct dt_fence *fence;
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	if (engine->draining) {
		spin_unlock_irqrestore(&engine->lock, flags);
		return;
	}
	engine->draining = true;
	while ((fence = dt_hw_next_done(engine))) {
		list_del_init(&fence->link);
		dt_check_off(fence->rec);
		spin_unlock_irqrestore(&engine->lock, flags);
		if (fence->rec->args.fault != DT_LOST || engine->dt->forced)
			dt_hw_signal(fence);
		/* The ring's reference, only now that signal has returned. */
		dma_fence_put(&fence->base);
		spin_lock_irqsave(&engine->lock, flags);
	}
	engine->draining = false;
	spin_unlock_irqrestore(&engine->lock, flags);
	wake_up_all(&engine->dt->wait);
}

/* Sets the timer for the end of the next job. */
static void dt_hw_arm(struct dt_engine *engine)
{
	struct dt_fence *fence;
	ktime_t next = KTIME_MAX;

	lockdep_assert_held(&engine->lock);
	list_for_each_entry(fence, &engine->ring, link) {
		if (fence->t_end && !fence->done)
			next = min(next, fence->t_end);
		if (!engine->limits.parallel)
			break;
	}
	if (next != KTIME_MAX)
		hrtimer_start(&engine->timer, next, HRTIMER_MODE_ABS);
}

/* Marks jobs that are done by now. Context: under engine->lock. */
static void dt_hw_expire(struct dt_engine *engine)
{
	struct dt_fence *fence;
	ktime_t now = ktime_get();

	lockdep_assert_held(&engine->lock);
	list_for_each_entry(fence, &engine->ring, link) {
		if (fence->t_end && fence->t_end <= now)
			fence->done = true;
		else if (!engine->limits.parallel)
			break;
	}
}

/* The interrupt. May be spurious, like real interrupts. */
static enum hrtimer_restart dt_hw_timer(struct hrtimer *timer)
{
	struct dt_engine *engine = container_of(timer, struct dt_engine, timer);
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	engine->interrupts++;
	dt_hw_expire(engine);
	spin_unlock_irqrestore(&engine->lock, flags);
	dt_hw_drain(engine);
	spin_lock_irqsave(&engine->lock, flags);
	/* hrtimer_start() may be called here and elsewhere at once. */
	dt_hw_arm(engine);
	spin_unlock_irqrestore(&engine->lock, flags);
	return HRTIMER_NORESTART;
}

/**
 * dt_hw_spurious - raise a spurious interrupt
 * @engine: the engine
 *
 * Context: any.
 */
void dt_hw_spurious(struct dt_engine *engine)
{
	hrtimer_start(&engine->timer, ktime_get(), HRTIMER_MODE_ABS);
}

/* Puts a job into the ring. */
static void dt_hw_enter(struct dt_engine *engine, struct dt_record *rec)
{
	struct dt_fence *fence = rec->hw;
	unsigned long flags;
	ktime_t start = ktime_get();

	dma_fence_get(&fence->base);
	spin_lock_irqsave(&engine->lock, flags);
	if (rec->args.duration_ns && rec->args.fault != DT_HANG) {
		if (!engine->limits.parallel)
			start = max(start, engine->free_at);
		fence->t_end = ktime_add_ns(start, rec->args.duration_ns);
		engine->free_at = fence->t_end;
	}
	list_add_tail(&fence->link, &engine->ring);
	atomic_set(&rec->handed, 1);
	dt_hw_arm(engine);
	spin_unlock_irqrestore(&engine->lock, flags);
}

/* Refuses to put a job into the ring. */
static void dt_hw_refuse(struct dt_engine *engine, struct dt_record *rec)
{
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	dt_check_off(rec);
	spin_unlock_irqrestore(&engine->lock, flags);
}

/* Whether run_job() is slow or fails. */
static bool dt_hw_hesitates(const struct dt_record *rec)
{
	switch (rec->args.fault) {
	case DT_SLOW:
	case DT_RUN_ERR:
	case DT_RUN_NULL:
	case DT_SIGNALLED:
		return true;
	default:
		return rec->args.gated;
	}
}

/**
 * dt_hw_run - run_job() of both designs
 * @rec: the job
 *
 * Context: as run_job().
 * Return: as run_job().
 */
struct dma_fence *dt_hw_run(struct dt_record *rec)
{
	struct dt_queue *queue = rec->queue;
	struct dma_fence *fence = &rec->hw->base;

	dt_check_run(rec);
	if (rec->args.mutex)
		rt_mutex_lock(rec->args.mutex);
	if (dt_hw_hesitates(rec)) {
		atomic_set(&rec->handed, 1);
		wake_up_all(&queue->dt->wait);
	}
	if (rec->args.gated)
		wait_for_completion_timeout(&queue->dt->gate, DT_PATIENCE);
	if (rec->args.mutex)
		rt_mutex_unlock(rec->args.mutex);
	if (rec->args.fault == DT_SLOW)
		udelay(rec->args.run_cost_us);
	dma_fence_get(fence);
	switch (rec->args.fault) {
	case DT_RUN_ERR:
	case DT_RUN_NULL:
		dt_hw_refuse(queue->engine, rec);
		dma_fence_put(fence);
		fence = rec->args.fault == DT_RUN_ERR ? ERR_PTR(-EIO) : NULL;
		break;
	case DT_SIGNALLED:
		dt_hw_refuse(queue->engine, rec);
		dma_fence_signal(fence);
		break;
	default:
		dt_hw_enter(queue->engine, rec);
		break;
	}
	dt_check_ran(rec);
	wake_up_all(&queue->dt->wait);
	return fence;
}

/**
 * dt_hw_advance - complete the oldest jobs
 * @engine: the engine
 * @n: the number to complete
 *
 * Context: any.
 * Return: the number completed.
 */
u32 dt_hw_advance(struct dt_engine *engine, u32 n)
{
	struct dt_fence *fence;
	unsigned long flags;
	u32 found = 0;

	spin_lock_irqsave(&engine->lock, flags);
	list_for_each_entry(fence, &engine->ring, link) {
		if (found == n)
			break;
		if (fence->done)
			continue;
		fence->done = true;
		found++;
	}
	spin_unlock_irqrestore(&engine->lock, flags);
	dt_hw_drain(engine);
	return found;
}

/**
 * dt_hw_complete - complete one job, whatever its place in the ring
 * @rec: the job
 *
 * A serial engine signals it after its predecessors.
 *
 * Context: any.
 * Return: whether it was on the engine.
 */
bool dt_hw_complete(struct dt_record *rec)
{
	struct dt_engine *engine = rec->queue->engine;
	struct dt_fence *fence;
	unsigned long flags;
	bool found = false;

	spin_lock_irqsave(&engine->lock, flags);
	list_for_each_entry(fence, &engine->ring, link) {
		if (fence->rec == rec) {
			fence->done = true;
			found = true;
		}
	}
	spin_unlock_irqrestore(&engine->lock, flags);
	dt_hw_drain(engine);
	return found;
}

/**
 * dt_hw_busy - get the number of jobs
 * @engine: the engine
 *
 * Context: any.
 * Return: jobs in the ring.
 */
u32 dt_hw_busy(struct dt_engine *engine)
{
	unsigned long flags;
	u32 n;

	spin_lock_irqsave(&engine->lock, flags);
	n = list_count_nodes(&engine->ring);
	spin_unlock_irqrestore(&engine->lock, flags);
	return n;
}

/* Takes jobs off the engine: of one queue, or all if NULL. */
static void dt_hw_take(struct dt_engine *engine, struct dt_queue *queue,
		       struct list_head *taken)
{
	struct dt_fence *fence, *next;
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	list_for_each_entry_safe(fence, next, &engine->ring, link) {
		if (queue && fence->rec->queue != queue)
			continue;
		list_move_tail(&fence->link, taken);
		dt_check_off(fence->rec);
	}
	dt_hw_arm(engine);
	spin_unlock_irqrestore(&engine->lock, flags);
}

/*
 * Resets a queue's jobs on the engine. depq fails the jobs itself; drm_sched
 * needs their fences signalled with an error, the guilty job's first.
 */
static void dt_hw_reset(struct dt_record *guilty)
{
	struct dt_queue *queue = guilty->queue;
	bool signal = queue->dt->design->backend == &dt_drm;
	struct dt_fence *fence, *next;
	LIST_HEAD(taken);

	dt_hw_take(queue->engine, signal ? NULL : queue, &taken);
	list_for_each_entry_safe(fence, next, &taken, link) {
		list_del_init(&fence->link);
		if (signal) {
			dma_fence_set_error(&fence->base, fence->rec == guilty ?
					    -ETIME : -ECANCELED);
			dma_fence_signal(&fence->base);
		}
		dma_fence_put(&fence->base);
	}
}

/**
 * dt_hw_recover - timedout_job() of both designs
 * @rec: the job that took too long
 *
 * Context: process, may sleep.
 * Return: the verdict.
 */
enum depq_verdict dt_hw_recover(struct dt_record *rec)
{
	struct dt_engine *engine = rec->queue->engine;
	enum dt_policy policy = engine->limits.policy;
	struct dma_fence *hw = &rec->hw->base;

	atomic_inc(&rec->timeouts);
	atomic_inc(&engine->timeouts);
	if (rec->queue->dt->forced)
		policy = DT_POLICY_RESET;
	if (rec->args.fault == DT_LOST && !dma_fence_is_signaled(hw) &&
	    rec->hw->done) {
		dt_hw_signal(rec->hw);
		wake_up_all(&rec->queue->dt->wait);
		return DEPQ_NO_HANG;
	}
	if (rec->args.fault == DT_LATE) {
		/* Between the timeout and the reset. */
		dt_hw_complete(rec);
		usleep_range(100, 200);
	}
	if (policy == DT_POLICY_RESET)
		dt_hw_reset(rec);
	wake_up_all(&rec->queue->dt->wait);
	if (policy == DT_POLICY_NO_HANG)
		return DEPQ_NO_HANG;
	return policy == DT_POLICY_GONE ? DEPQ_GONE : DEPQ_RESET;
}

/**
 * dt_hw_flush - complete all jobs at once
 * @engine: the engine
 *
 * Context: any.
 */
void dt_hw_flush(struct dt_engine *engine)
{
	dt_hw_advance(engine, U32_MAX);
}

/**
 * dt_hw_init - initialise an engine
 * @engine: the engine
 *
 * Context: process.
 */
void dt_hw_init(struct dt_engine *engine)
{
	spin_lock_init(&engine->lock);
	INIT_LIST_HEAD(&engine->ring);
	hrtimer_setup(&engine->timer, dt_hw_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);
}

/**
 * dt_hw_fini - clean up an engine
 * @engine: the engine; no job is on it
 *
 * Context: process, may sleep.
 */
void dt_hw_fini(struct dt_engine *engine)
{
	hrtimer_cancel(&engine->timer);
}
