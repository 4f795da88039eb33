// SPDX-License-Identifier: GPL-2.0-only
#include "backend.h"
#include "engine.h"
#include "trace.h"

/**
 * DOC: engines
 *
 * An engine executes a job by waiting until its time is over. A serial engine
 * executes one job after the other, back to back; a parallel one executes all
 * it was given at once. An hrtimer is its interrupt.
 *
 * The timer runs in hard interrupts, except on PREEMPT_RT: there the locks of
 * dma_fences sleep, and so nothing may signal a fence in a hard interrupt.
 * Hence the timer is not one of the _HARD kind, which makes it expire in a
 * softirq thread on PREEMPT_RT, and the locks here are plain spinlocks.
 *
 * States of a job, from the engine's point of view; all changes under
 * &simgpu_engine.lock:
 *
 * =========  ================  ===============  =====  ======================
 * state      engine's list     inflight         flags  exits
 * =========  ================  ===============  =====  ======================
 * outside    none              no                      run: waiting, executing
 *                                                      or (faults) reported
 * waiting    running           yes                     its turn: executing;
 *                                                      reset: outside
 * executing  running           yes                     interrupt: reported,
 *                                                      late or silent; reset:
 *                                                      outside
 * late       late              yes              done   interrupt: reported
 * silent     none              yes              done   recovery: reported
 * reported   none              yes              both   once all before it are
 *                                                      reported, where order
 *                                                      matters: given up
 * given up   none; its fence   no               both   -
 *            is in @done
 * =========  ================  ===============  =====  ======================
 *
 * While the job is in &simgpu_context.inflight, the engine holds a reference to
 * its fence and a pointer to the job, without a reference: jobs are freed only
 * after the engine fence was signalled or simgpu_engine_recover()
 * or simgpu_engine_cancel() took the job away, and both happen after the job
 * left that list, under the lock. From then on the engine only has the fence,
 * so a job may be freed while an interrupt on another CPU is about
 * to signal its fence, or is signalling it. The engine drops its reference when
 * dma_fence_signal() has returned.
 *
 * Fences are signalled with the lock released, in the order in which they were
 * added to &simgpu_engine.done: each is taken off that list and signalled under
 * &simgpu_engine.signal_lock. Whoever adds fences continues until the list is
 * empty, and does not leave them to another thread, which may be preempted; on
 * PREEMPT_RT the holder of that lock inherits the priority of its waiters.
 */

/* Signals the next fence, if there is one. Returns whether there are more. */
static bool engine_signal_next(struct simgpu_engine *engine)
{
	struct simgpu_fence *fence;
	unsigned long flags;
	bool more;

	/* Released after each fence, for interrupts and other waiters. */
	spin_lock_irqsave(&engine->signal_lock, flags);
	spin_lock(&engine->lock);
	fence = list_first_entry_or_null(&engine->done, struct simgpu_fence,
					 link);
	if (fence) {
		list_del_init(&fence->link);
		engine->signalling = true;
		spin_unlock(&engine->lock);
		dma_fence_signal(&fence->base);
		if (fence->twice)
			dma_fence_signal(&fence->base);
		dma_fence_put(&fence->base);
		spin_lock(&engine->lock);
		engine->signalling = false;
	}
	more = !list_empty(&engine->done);
	spin_unlock(&engine->lock);
	spin_unlock_irqrestore(&engine->signal_lock, flags);
	return more;
}

/**
 * simgpu_engine_signal() - signal the fences in @done
 * @engine: the engine
 *
 * Context: process, without locks.
 */
void simgpu_engine_signal(struct simgpu_engine *engine)
{
	bool cookie = dma_fence_begin_signalling();

	while (engine_signal_next(engine))
		cond_resched();
	dma_fence_end_signalling(cookie);
}

/**
 * simgpu_engine_unlock() - release the lock, and signal the fences in @done
 * @engine: the engine
 * @flags: from spin_lock_irqsave()
 *
 * Context: any but hard interrupts on PREEMPT_RT, under the engine's lock,
 *	which is the only one held.
 */
void simgpu_engine_unlock(struct simgpu_engine *engine, unsigned long flags)
	__releases(&engine->lock)
{
	bool more = !list_empty(&engine->done);

	lockdep_assert_held(&engine->lock);
	spin_unlock_irqrestore(&engine->lock, flags);
	while (more)
		more = engine_signal_next(engine);
}

/**
 * simgpu_engine_execute() - begin to execute a job
 * @job: the job; in @running or about to be
 * @start: when
 *
 * Context: any, under the engine's lock.
 */
void simgpu_engine_execute(struct simgpu_job *job, ktime_t start)
{
	job->t_start = start;
	job->t_end = job_hangs(job) ? KTIME_MAX :
				      ktime_add_ns(start, job->duration_ns);
}

/* Inserts into @running of a parallel engine, sorted by end, from the back. */
static void engine_sort_in(struct simgpu_engine *engine, struct simgpu_job *job)
{
	struct list_head *at = engine->running.prev;

	while (at != &engine->running &&
	       list_entry(at, struct simgpu_job, link)->t_end > job->t_end)
		at = at->prev;
	list_add(&job->link, at);
}

static void engine_accept(struct simgpu_engine *engine, struct simgpu_job *job)
{
	ktime_t now = ktime_get();
	bool idle = list_empty(&engine->running);

	lockdep_assert_held(&engine->lock);
	if (idle)
		engine->busy_since = now;
	job->t_end = now;
	if (idle || engine->dev->parallel)
		simgpu_engine_execute(job, now);
	if (engine->dev->parallel)
		engine_sort_in(engine, job);
	else
		list_add_tail(&job->link, &engine->running);
	if (engine_first(engine) == job || engine->dev->coalesce_jobs > 1)
		simgpu_engine_program(engine);
}

/**
 * simgpu_engine_leave() - take a job off @running
 * @engine: the engine; if it is serial, it continues with the next job
 * @job: the job, done or not
 * @at: the time
 *
 * Context: any, under the engine's lock.
 */
void simgpu_engine_leave(struct simgpu_engine *engine, struct simgpu_job *job,
			 ktime_t at)
{
	bool first = engine_first(engine) == job;
	ktime_t start;

	if (first || engine->dev->parallel)
		simgpu_engine_charge(engine, job, at);
	list_del_init(&job->link);
	if (list_empty(&engine->running)) {
		engine->busy_ns += ktime_sub(at, engine->busy_since);
	} else if (first && !engine->dev->parallel) {
		job = engine_first(engine);
		start = max(at, job->t_end);
		/* Idle in between: the next job ended before the interrupt. */
		engine->busy_since = ktime_add(engine->busy_since,
					       ktime_sub(start, at));
		simgpu_engine_execute(job, start);
	}
}

/**
 * simgpu_engine_give_up() - drop a job from the engine
 * @job: the job; not in @running or @late
 * @fences: list to add its fence to, with the engine's reference
 *
 * The job may be freed as soon as the lock is released.
 *
 * Context: any, under the engine's lock.
 */
void simgpu_engine_give_up(struct simgpu_job *job, struct list_head *fences)
{
	list_del_init(&job->context_link);
	job->on_engine = false;
	list_add_tail(&job->hw->link, fences);
}

/**
 * simgpu_engine_report() - report that a job is done
 * @engine: the engine
 * @job: the job; it is given up, and those that waited for it too,
 *	unless it has to wait itself for others of its context
 *
 * Context: any, under the engine's lock.
 */
void simgpu_engine_report(struct simgpu_engine *engine, struct simgpu_job *job)
{
	struct simgpu_context *context = job->context;

	lockdep_assert_held(&engine->lock);
	job->reported = true;
	if (!context->backend->needs_order) {
		simgpu_engine_give_up(job, &engine->done);
		return;
	}
	while (!list_empty(&context->inflight)) {
		job = list_first_entry(&context->inflight, struct simgpu_job,
				       context_link);
		if (!job->reported)
			return;
		simgpu_engine_give_up(job, &engine->done);
	}
}

/* The job is done: records this and writes its value to memory. */
static void engine_complete(struct simgpu_engine *engine,
			    struct simgpu_job *job, ktime_t now)
{
	job->hw_done = true;
	engine->completed++;
	if (job->write)
		WRITE_ONCE(job->context->memory.words[job->write_offset / 4],
			   job->write_value);
	WRITE_ONCE(job->slot->record.t_hw, ktime_to_ns(now));
	trace_simgpu_hw_done(job, job->fault == SIMGPU_FAULT_ERROR ?
				  job->fault_arg : 0);
}

/* Handles the end of the first job in @running. */
static void engine_finish(struct simgpu_engine *engine, struct simgpu_job *job,
			  ktime_t now)
{
	ktime_t end = job->t_end;

	simgpu_engine_leave(engine, job, end);
	/* The delay of a coalesced interrupt does not count for the job. */
	engine_complete(engine, job,
			engine->dev->coalesce_jobs > 1 ? end : now);
	switch (job->fault) {
	case SIMGPU_FAULT_LOST:
		return;
	case SIMGPU_FAULT_LATE:
		job->t_end = ktime_add_ns(end, job->fault_arg);
		list_add_tail(&job->link, &engine->late);
		return;
	case SIMGPU_FAULT_ERROR:
		dma_fence_set_error(&job->hw->base, -(int)job->fault_arg);
		break;
	case SIMGPU_FAULT_STORM:
		engine->storm += job->fault_arg;
		break;
	case SIMGPU_FAULT_DOUBLE:
		job->hw->twice = true;
		break;
	}
	simgpu_engine_report(engine, job);
}

static enum hrtimer_restart engine_interrupt(struct hrtimer *timer)
{
	struct simgpu_engine *engine =
		container_of(timer, struct simgpu_engine, timer);
	struct simgpu_job *job, *next;
	unsigned long flags;
	bool defer;
	ktime_t now;

	spin_lock_irqsave(&engine->lock, flags);
	engine->interrupts++;
	if (engine->storm)
		engine->storm--;
	now = ktime_get();
	for (job = engine_first(engine); job && job->t_end <= now;
	     job = engine_first(engine))
		engine_finish(engine, job, now);
	list_for_each_entry_safe(job, next, &engine->late, link) {
		if (job->t_end > now)
			continue;
		list_del_init(&job->link);
		simgpu_engine_report(engine, job);
	}
	simgpu_engine_program(engine);
	if (engine->dev->completion == SIMGPU_COMPLETION_HARDIRQ) {
		simgpu_engine_unlock(engine, flags);
	} else {
		defer = !list_empty(&engine->done);
		engine->deferred += defer;
		spin_unlock_irqrestore(&engine->lock, flags);
		if (defer)
			simgpu_completion_defer(engine);
	}
	/* Restarted under the lock, since others start it as well. */
	return HRTIMER_NORESTART;
}

static void engine_enter(struct simgpu_job *job)
{
	dma_fence_get(&job->hw->base);
	job->on_engine = true;
	list_add_tail(&job->context_link, &job->context->inflight);
}

/*
 * Ends the job in run_job, with or without an error. If the order of fences
 * matters and earlier ones are pending, it ends after these, and true is
 * returned: then run_job must return the fence.
 */
static bool engine_end_later(struct simgpu_engine *engine,
			     struct simgpu_job *job, int error)
{
	struct simgpu_context *context = job->context;

	lockdep_assert_held(&engine->lock);
	INIT_LIST_HEAD(&job->link);
	if (!error)
		engine_complete(engine, job, ktime_get());
	if (!context->backend->needs_order ||
	    (list_empty(&context->inflight) && list_empty(&engine->done) &&
	     !engine->signalling))
		return false;
	if (error)
		dma_fence_set_error(&job->hw->base, error);
	job->hw_done = true;
	engine_enter(job);
	simgpu_engine_report(engine, job);
	return true;
}

/**
 * simgpu_engine_fail() - fail a job that is not to run
 * @job: the job; the engine must not know it
 * @error: negative errno
 *
 * To be called instead of simgpu_engine_run().
 *
 * Context: process, without locks; does not sleep or allocate. Takes the
 *	engine's lock.
 * Return: the engine fence with a reference; it has been signalled with the
 *	error, or will be after those of the context's jobs before.
 */
struct dma_fence *simgpu_engine_fail(struct simgpu_job *job, int error)
{
	struct simgpu_engine *engine = job->context->engine;
	struct dma_fence *fence = dma_fence_get(&job->hw->base);
	unsigned long flags;
	bool later;

	spin_lock_irqsave(&engine->lock, flags);
	later = engine_end_later(engine, job, error);
	simgpu_engine_unlock(engine, flags);
	if (!later) {
		dma_fence_set_error(fence, error);
		dma_fence_signal(fence);
	}
	return fence;
}

/**
 * simgpu_engine_run() - run_job of all back ends
 * @job: the job; the engine must not know it, and the caller keeps it alive
 *	until the engine fence was signalled or the job was taken away
 * @in_submit: whether the submitter itself runs it
 *
 * Context: process, without locks; does not sleep or allocate, but uses up the
 *	CPU for &simgpu_job.run_cost_ns. Takes the engine's lock.
 * Return:
 * * the engine fence with a reference; it may have been signalled
 * * NULL - the job is done
 * * ERR_PTR() - the job has failed with that error; -ENODEV if the device is
 *   gone
 */
struct dma_fence *simgpu_engine_run(struct simgpu_job *job, bool in_submit)
{
	struct simgpu_engine *engine = job->context->engine;
	struct simgpu_record *record = &job->slot->record;
	struct dma_fence *fence = &job->hw->base;
	struct dma_fence *result = fence;
	bool accept = false, later = false;
	unsigned long flags;

	WRITE_ONCE(record->t_run, ktime_get_ns());
	if (in_submit)
		WRITE_ONCE(record->flags, record->flags | SIMGPU_RECORD_INLINE);
	trace_simgpu_run(job, in_submit);
	simgpu_burn(job->run_cost_ns);

	spin_lock_irqsave(&engine->lock, flags);
	WRITE_ONCE(record->order, ++engine->order);
	if (READ_ONCE(engine->dev->gone))
		result = ERR_PTR(-ENODEV);
	else if (job->fault == SIMGPU_FAULT_RUN_ERROR)
		result = ERR_PTR(-(long)job->fault_arg);
	else if (job->fault == SIMGPU_FAULT_RUN_NULL)
		result = NULL;
	else if (job->fault != SIMGPU_FAULT_INSTANT)
		accept = true;
	if (accept) {
		engine_enter(job);
		engine_accept(engine, job);
	} else {
		later = engine_end_later(engine, job, PTR_ERR_OR_ZERO(result));
	}
	if (accept || later)
		result = fence;
	if (IS_ERR_OR_NULL(result)) {
		simgpu_engine_unlock(engine, flags);
		return result;
	}
	/* As soon as the lock is released the job may be gone. */
	dma_fence_get(fence);
	simgpu_engine_unlock(engine, flags);
	if (!accept && !later)
		dma_fence_signal(fence);
	return fence;
}

/**
 * simgpu_engine_init() - initialise an engine
 * @engine: the engine; zeroed memory
 * @dev: the device
 * @index: which engine of the device
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM; simgpu_engine_fini() in any case.
 */
int simgpu_engine_init(struct simgpu_engine *engine, struct simgpu_device *dev,
		       u32 index)
{
	engine->dev = dev;
	engine->index = index;
	spin_lock_init(&engine->signal_lock);
	spin_lock_init(&engine->lock);
	INIT_LIST_HEAD(&engine->running);
	INIT_LIST_HEAD(&engine->late);
	INIT_LIST_HEAD(&engine->reset_together);
	INIT_LIST_HEAD(&engine->done);
	/* Not _HARD: see above. */
	hrtimer_setup(&engine->timer, engine_interrupt, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);
	mutex_init(&engine->sched_mutex);
	mutex_init(&engine->worker_mutex);
	return simgpu_completion_init(engine);
}

/**
 * simgpu_engine_fini() - clean up an engine
 * @engine: the engine; all its contexts must have ended
 *
 * Context: process; may sleep.
 */
void simgpu_engine_fini(struct simgpu_engine *engine)
{
	might_sleep();
	hrtimer_cancel(&engine->timer);
	simgpu_completion_fini(engine);
	WARN_ON_ONCE(!list_empty(&engine->running) ||
		     !list_empty(&engine->late) || !list_empty(&engine->done));
	mutex_destroy(&engine->worker_mutex);
	mutex_destroy(&engine->sched_mutex);
}
