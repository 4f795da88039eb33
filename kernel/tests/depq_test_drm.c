// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the drm_sched back end of the scenarios
 *
 * An engine has a scheduler, a queue is an entity on it. Credits and timeouts
 * are those of the scheduler.
 */

#include "../compat/drm_sched.h"
#include "depq_test.h"

static struct dt_record *dt_drm_rec(struct drm_sched_job *job)
{
	return container_of(job, struct dt_job, drm)->rec;
}

static struct dma_fence *dt_drm_run_job(struct drm_sched_job *job)
{
	return dt_hw_run(dt_drm_rec(job));
}

/*
 * A job that is alive goes back to the head of the list that drm_sched took it
 * from, unless that does so itself; starting the work makes it look at the list
 * again, in case the job ended meanwhile. After a reset, stop and start sort out the pending jobs.
 */
static enum drm_gpu_sched_stat dt_drm_timedout_job(struct drm_sched_job *job)
{
	struct drm_gpu_scheduler *sched = job->sched;

	drm_sched_wqueue_stop(sched);
	if (dt_hw_recover(dt_drm_rec(job)) == DEPQ_NO_HANG) {
		compat_sched_put_back(sched, job);
		drm_sched_wqueue_start(sched);
		return COMPAT_SCHED_NO_HANG;
	}
	drm_sched_stop(sched, job);
	compat_sched_start(sched);
	return COMPAT_SCHED_RESET;
}

/*
 * drm_sched frees a job as soon as its fence is marked as signalled. The
 * callbacks of the fence, which notify this test, may still be running on
 * another CPU: they are called with the lock of the fence held.
 */
static void dt_drm_await_callbacks(struct dt_record *rec)
{
	unsigned long flags;

	if (rec->state != DT_COMMITTED)
		return;
	dma_fence_lock_irqsave(rec->finished, flags);
	dma_fence_unlock_irqrestore(rec->finished, flags);
}

static void dt_drm_free_job(struct drm_sched_job *base)
{
	struct dt_job *job = container_of(base, struct dt_job, drm);

	drm_sched_job_cleanup(base);
	dt_drm_await_callbacks(job->rec);
	dt_released(job->rec);
	kfree(job);
}

static const struct drm_sched_backend_ops dt_drm_ops = {
	.run_job = dt_drm_run_job,
	.timedout_job = dt_drm_timedout_job,
	.free_job = dt_drm_free_job,
};

static int dt_drm_open(struct dt *dt)
{
	dt->tdr_wq = alloc_ordered_workqueue("depq_test_tdr", 0);
	return dt->tdr_wq ? 0 : -ENOMEM;
}

static void dt_drm_close(struct dt *dt)
{
	destroy_workqueue(dt->tdr_wq);
}

static int dt_drm_engine_open(struct dt_engine *engine)
{
	struct compat_sched_args args = {
		.ops = &dt_drm_ops,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = engine->limits.credit_limit,
		.timeout = engine->limits.timeout ?: MAX_SCHEDULE_TIMEOUT,
		.timeout_wq = engine->dt->tdr_wq,
		.name = "depq_test",
	};

	return compat_sched_init(&engine->drm, &args);
}

static void dt_drm_engine_close(struct dt_engine *engine)
{
	drm_sched_fini(&engine->drm);
}

static int dt_drm_queue_open(struct dt_queue *queue)
{
	struct drm_gpu_scheduler *sched = &queue->engine->drm;

	return drm_sched_entity_init(&queue->drm, queue->priority, &sched, 1,
				     NULL);
}

/* Not drm_sched_entity_destroy(), which waits until all jobs were run. */
static void dt_drm_queue_close(struct dt_queue *queue)
{
	drm_sched_entity_fini(&queue->drm);
	dt_queue_gone(queue);
}

static int dt_drm_job_init(struct dt_record *rec)
{
	return compat_sched_job_init(&rec->job->drm, &rec->queue->drm,
				     rec->args.credits);
}

static int dt_drm_job_dep(struct dt_record *rec, struct dma_fence *fence)
{
	return drm_sched_job_add_dependency(&rec->job->drm, fence);
}

static void dt_drm_job_commit(struct dt_record *rec)
{
	struct drm_sched_job *job = &rec->job->drm;

	drm_sched_job_arm(job);
	dt_committed(rec, &job->s_fence->finished);
	drm_sched_entity_push_job(job);
}

static void dt_drm_job_abort(struct dt_record *rec)
{
	dt_drm_free_job(&rec->job->drm);
}

static void dt_drm_stop(struct dt_queue *queue)
{
	drm_sched_wqueue_stop(&queue->engine->drm);
}

static void dt_drm_start(struct dt_queue *queue)
{
	drm_sched_wqueue_start(&queue->engine->drm);
}

/* Returns when that was done, so that it does not affect later submissions. */
static void dt_drm_trigger(struct dt_queue *queue)
{
	drm_sched_fault(&queue->engine->drm);
	/* Not flush_delayed_work(), which would run the next one too. */
	flush_work(&queue->engine->drm.work_tdr.work);
}

static void dt_drm_priority(struct dt_queue *queue, enum drm_sched_priority p)
{
	queue->priority = p;
	drm_sched_entity_set_priority(&queue->drm, p);
}

/* drm_sched waits for jobs of the same scheduler only to be run. */
static bool dt_drm_pipelined(struct dt_record *rec, struct dma_fence *fence)
{
	struct drm_sched_fence *s_fence = to_drm_sched_fence(fence);

	return s_fence && s_fence->sched == &rec->queue->engine->drm &&
	       dma_fence_is_signaled(&s_fence->scheduled);
}

static bool dt_drm_idle(struct dt_queue *queue)
{
	struct drm_gpu_scheduler *sched = &queue->engine->drm;
	bool idle;

	spin_lock(&sched->job_list_lock);
	idle = list_empty(&sched->pending_list);
	spin_unlock(&sched->job_list_lock);
	return idle && !compat_sched_credits(sched) &&
	       !spsc_queue_count(&queue->drm.job_queue);
}

const struct dt_backend dt_drm = {
	.name = "drm_sched",
	.open = dt_drm_open,
	.close = dt_drm_close,
	.engine_open = dt_drm_engine_open,
	.engine_close = dt_drm_engine_close,
	.queue_open = dt_drm_queue_open,
	.queue_close = dt_drm_queue_close,
	.job_init = dt_drm_job_init,
	.job_dep = dt_drm_job_dep,
	.job_commit = dt_drm_job_commit,
	.job_abort = dt_drm_job_abort,
	.stop = dt_drm_stop,
	.start = dt_drm_start,
	.kill_error = -ESRCH,
	.no_credits = !COMPAT_SCHED_CREDITS,
	.close_sleeps = !COMPAT_SCHED_CREDITS,
	.trigger = dt_drm_trigger,
	.priority = dt_drm_priority,
	.pipelined = dt_drm_pipelined,
	.idle = dt_drm_idle,
};
