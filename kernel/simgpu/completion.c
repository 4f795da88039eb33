// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: completion
 *
 * Drivers signal the fences of finished jobs in different contexts. The module
 * parameter "completion" chooses one:
 *
 * ===========  =============================================================
 * hardirq      the interrupt handler itself
 * thread       a SCHED_FIFO thread of the engine with the priority that
 *              threaded interrupt handlers have
 * work         a work item of the engine on a workqueue with WQ_HIGHPRI
 * ===========  =============================================================
 *
 * In each case the interrupt handler starts the next job of the engine, as
 * hardware does without the CPU; only signalling is deferred. Code that ends
 * jobs elsewhere (a reset, a job that fails in run_job) signals their
 * fences itself, together with all deferred ones.
 *
 * Interrupts can be coalesced: the engine raises one when "coalesce_jobs" jobs
 * are done, or "coalesce_us" after the first of them.
 */

#include <linux/sched.h>
#include <linux/string.h>

#include "engine.h"

/*
 * Returns when the jobs in @running require an interrupt: when the first one ends
 * or, with coalescing, when enough have ended or the first has waited long enough.
 */
static ktime_t engine_due(struct simgpu_engine *engine)
{
	struct simgpu_job *job = engine_first(engine);
	u32 left = engine->dev->coalesce_jobs;
	ktime_t end, latest;

	if (!job)
		return KTIME_MAX;
	end = job->t_end;
	if (left == 1 || end == KTIME_MAX)
		return end;
	latest = ktime_add_ns(end, engine->dev->coalesce_ns);
	while (--left && end < latest) {
		if (list_is_last(&job->link, &engine->running))
			return latest;
		job = list_next_entry(job, link);
		if (engine->dev->parallel)
			end = job->t_end;
		else if (job_hangs(job))
			end = KTIME_MAX;
		else
			end = ktime_add_ns(max(end, job->t_end),
					   job->duration_ns);
	}
	return min(end, latest);
}

/**
 * simgpu_engine_program() - set the timer for the next event
 * @engine: the engine
 *
 * If there is none, the timer may still expire, which does no harm.
 *
 * Context: any, under the engine's lock.
 */
void simgpu_engine_program(struct simgpu_engine *engine)
{
	ktime_t next = engine->storm ? 0 : engine_due(engine);
	struct simgpu_job *job;

	lockdep_assert_held(&engine->lock);
	list_for_each_entry(job, &engine->late, link)
		next = min(next, job->t_end);
	/* If there is no next event, an old timer is harmless. */
	if (next != KTIME_MAX)
		hrtimer_start(&engine->timer, next, HRTIMER_MODE_ABS);
}

static const char * const completion_names[] = {
	[SIMGPU_COMPLETION_HARDIRQ] = "hardirq",
	[SIMGPU_COMPLETION_THREAD] = "thread",
	[SIMGPU_COMPLETION_WORK] = "work",
};

/**
 * simgpu_completion_find() - look up a way to complete jobs by name
 * @name: as given for the module parameter
 *
 * Context: any.
 * Return: enum simgpu_completion, or -EINVAL.
 */
int simgpu_completion_find(const char *name)
{
	return match_string(completion_names, ARRAY_SIZE(completion_names),
			    name);
}

static void completion_thread(struct kthread_work *work)
{
	simgpu_engine_signal(container_of(work, struct simgpu_engine,
					  thread_work));
}

static void completion_work(struct work_struct *work)
{
	simgpu_engine_signal(container_of(work, struct simgpu_engine,
					  done_work));
}

/**
 * simgpu_completion_defer() - have the thread or work item signal @done soon
 * @engine: the engine
 *
 * Context: any; not if fences are signalled in the interrupt.
 */
void simgpu_completion_defer(struct simgpu_engine *engine)
{
	if (engine->thread)
		kthread_queue_work(engine->thread, &engine->thread_work);
	else
		queue_work(engine->dev->done_wq, &engine->done_work);
}

/**
 * simgpu_completion_init() - create what signals the fences of an engine
 * @engine: the engine; &simgpu_device.completion is set
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM, with everything undone.
 */
int simgpu_completion_init(struct simgpu_engine *engine)
{
	struct kthread_worker *thread;

	kthread_init_work(&engine->thread_work, completion_thread);
	INIT_WORK(&engine->done_work, completion_work);
	if (engine->dev->completion != SIMGPU_COMPLETION_THREAD)
		return 0;
	thread = kthread_run_worker(0, "irq/simgpu-%u", engine->index);
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	sched_set_fifo(thread->task);
	engine->thread = thread;
	return 0;
}

/**
 * simgpu_completion_fini() - undo simgpu_completion_init()
 * @engine: the engine; its timer is cancelled and it has no jobs
 *
 * Context: process; may sleep.
 */
void simgpu_completion_fini(struct simgpu_engine *engine)
{
	cancel_work_sync(&engine->done_work);
	if (engine->thread)
		kthread_destroy_worker(engine->thread);
}
