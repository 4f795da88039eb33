// SPDX-License-Identifier: GPL-2.0-only
#include <linux/list_sort.h>

#include "backend.h"
#include "engine.h"

/**
 * DOC: recovery of engines
 *
 * Handling of jobs that take too long or are no longer wanted: they are
 * reported, left alone, or taken off the engine. See engine.c for their states.
 */

static void put_fences(struct list_head *fences)
{
	struct simgpu_fence *fence, *next;

	list_for_each_entry_safe(fence, next, fences, link) {
		list_del_init(&fence->link);
		dma_fence_put(&fence->base);
	}
}

/* Takes all jobs of the context off; the caller puts those in @dropped. */
static void engine_clear(struct simgpu_engine *engine,
			 struct simgpu_context *context,
			 const struct simgpu_job *guilty, int error,
			 struct list_head *dropped)
{
	struct simgpu_job *job, *next;
	ktime_t now = ktime_get();
	bool done;

	lockdep_assert_held(&engine->lock);
	list_for_each_entry_safe(job, next, &context->inflight, context_link) {
		done = job->hw_done;
		if (done)
			list_del_init(&job->link);
		else
			simgpu_engine_leave(engine, job, now);
		if (!done && context->backend->needs_order)
			dma_fence_set_error(&job->hw->base,
					    job == guilty ? -ETIME : error);
		if (done || context->backend->needs_order)
			simgpu_engine_give_up(job, &engine->done);
		else
			simgpu_engine_give_up(job, dropped);
	}
	simgpu_engine_program(engine);
}

/* For a reset: takes off the jobs that are reset with the guilty one. */
static void engine_clear_reset(struct simgpu_engine *engine,
			       const struct simgpu_job *guilty,
			       struct list_head *dropped)
{
	struct simgpu_context *context = guilty->context;

	if (list_empty(&context->reset_link)) {
		engine_clear(engine, context, guilty, -ECANCELED, dropped);
		return;
	}
	list_for_each_entry(context, &engine->reset_together, reset_link)
		engine_clear(engine, context, guilty, -ECANCELED, dropped);
}

/**
 * simgpu_engine_reset_together() - have a context reset with others
 * @context: the context; without jobs yet
 *
 * When a job of one of these contexts hangs, the jobs of all of them leave the
 * engine.
 *
 * Context: process. Takes the engine's lock.
 */
void simgpu_engine_reset_together(struct simgpu_context *context)
{
	struct simgpu_engine *engine = context->engine;

	spin_lock_irq(&engine->lock);
	list_add_tail(&context->reset_link, &engine->reset_together);
	spin_unlock_irq(&engine->lock);
}

/**
 * simgpu_engine_reset_alone() - undo simgpu_engine_reset_together()
 * @context: the context, whether that was called for it or not; the engine
 *	has no job of it
 *
 * Context: process. Takes the engine's lock.
 */
void simgpu_engine_reset_alone(struct simgpu_context *context)
{
	struct simgpu_engine *engine = context->engine;

	spin_lock_irq(&engine->lock);
	list_del_init(&context->reset_link);
	spin_unlock_irq(&engine->lock);
}

/**
 * simgpu_engine_cancel() - take all jobs of a context off the engine
 * @context: the context
 * @error: negative errno for the jobs that are not done, where the back end
 *	needs their fences signalled
 *
 * Jobs that are done already are signalled as they are. The jobs of other
 * contexts continue. When this returns, the engine has no job of the context
 * any more, but another CPU may still be signalling their fences.
 *
 * Context: any but hard interrupts on PREEMPT_RT, without locks. Takes the
 *	engine's lock.
 */
void simgpu_engine_cancel(struct simgpu_context *context, int error)
{
	struct simgpu_engine *engine = context->engine;
	LIST_HEAD(dropped);
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	engine_clear(engine, context, NULL, error, &dropped);
	simgpu_engine_unlock(engine, flags);
	put_fences(&dropped);
}

static int by_end(void *priv, const struct list_head *a,
		  const struct list_head *b)
{
	return list_entry(a, struct simgpu_job, link)->t_end >
	       list_entry(b, struct simgpu_job, link)->t_end;
}

/* Restarts the jobs that were executing. */
static void engine_restart(struct simgpu_engine *engine)
{
	struct simgpu_job *job;
	ktime_t now = ktime_get();

	lockdep_assert_held(&engine->lock);
	if (engine->dev->parallel) {
		list_for_each_entry(job, &engine->running, link) {
			simgpu_engine_charge(engine, job, now);
			simgpu_engine_execute(job, now);
		}
		list_sort(NULL, &engine->running, by_end);
	}
	/* On a serial engine, the first one started when the guilty one left. */
	simgpu_engine_program(engine);
}

/* Reports jobs that are done but not reported, such as a lost interrupt. */
static void engine_report_all(struct simgpu_engine *engine,
			      struct simgpu_context *context)
{
	struct simgpu_job *job, *next;
	LIST_HEAD(unreported);

	lockdep_assert_held(&engine->lock);
	/* Collect first: reporting one job may give up several. */
	list_for_each_entry(job, &context->inflight, context_link) {
		if (!job->hw_done || job->reported)
			continue;
		list_del_init(&job->link);
		list_add_tail(&job->link, &unreported);
	}
	list_for_each_entry_safe(job, next, &unreported, link) {
		list_del_init(&job->link);
		simgpu_engine_report(engine, job);
	}
}

/* Returns the verdict on a job that takes too long, after a reset if needed. */
static enum depq_verdict engine_judge(struct simgpu_engine *engine,
				      struct simgpu_job *job,
				      struct list_head *dropped)
{
	struct simgpu_context *context = job->context;
	bool executing = job->on_engine && !job->hw_done &&
			 (engine->dev->parallel || engine_first(engine) == job);
	int error;

	lockdep_assert_held(&engine->lock);
	if (executing && job->fault == SIMGPU_FAULT_GONE)
		WRITE_ONCE(engine->dev->gone, true);
	if (READ_ONCE(engine->dev->gone)) {
		engine_clear(engine, context, NULL, -ENODEV, dropped);
		return DEPQ_GONE;
	}
	error = READ_ONCE(context->error);
	if (error || READ_ONCE(context->closed)) {
		engine_clear(engine, context, NULL, error ?: -ECANCELED,
			     dropped);
		return DEPQ_RESET;
	}
	if (executing && job->fault == SIMGPU_FAULT_HANG) {
		engine_clear_reset(engine, job, dropped);
		engine_restart(engine);
		return DEPQ_RESET;
	}
	engine_report_all(engine, context);
	return DEPQ_NO_HANG;
}

/**
 * simgpu_engine_recover() - timedout_job of both back ends
 * @job: the job that takes too long; kept alive by the caller, who ensures
 *	that no job of the context is run meanwhile
 *
 * A job that is done but was not reported is reported now. One that waits for its
 * turn, or executes and will end, is left alone. If the job hangs, the
 * engine is reset: it loses all jobs of the context, and of those that are reset
 * with it (simgpu_engine_reset_together()); jobs of other contexts start
 * over. The jobs of a killed or closed context are taken off in any case.
 *
 * Context: process, without locks; does not sleep or allocate. Takes the
 *	engine's lock.
 * Return:
 * * %DEPQ_NO_HANG - all is well
 * * %DEPQ_RESET - the engine has no job of the context any more
 * * %DEPQ_GONE - likewise, and the device is gone
 */
enum depq_verdict simgpu_engine_recover(struct simgpu_job *job)
{
	struct simgpu_engine *engine = job->context->engine;
	enum depq_verdict verdict;
	LIST_HEAD(dropped);
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	verdict = engine_judge(engine, job, &dropped);
	simgpu_engine_unlock(engine, flags);
	put_fences(&dropped);
	return verdict;
}
