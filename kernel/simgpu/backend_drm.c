// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>

#include "backend.h"
#include "sched_drm.h"

/**
 * DOC: the drm_sched back end
 *
 * The kernel's own drm_sched, unmodified, used as the drivers of that kernel use
 * it. By default a context has its own scheduler with one entity, as with
 * firmware schedulers; with %SIMGPU_CREATE_SHARED the contexts of an engine
 * have an entity each on one scheduler with a run queue for every priority.
 * &simgpu_create.shape imitates a particular driver; sched_drm.c has the table.
 *
 * What drm_sched leaves to the driver, or gets wrong:
 *
 * - Finished fences are signalled when engine fences are, so the engine
 *   must signal these in order: &simgpu_backend.needs_order. For the same reason
 *   a job that fails in run_job while earlier ones are pending must not report
 *   that at once; simgpu_engine_run() takes care of this as well.
 * - On one scheduler, a job that depends on another one's finished fence waits
 *   only until that one was handed to the engine. On a serial engine its order
 *   does the rest; on a parallel engine the fences are marked not to be used
 *   in this way.
 * - A job that timed out was taken off the list of pending jobs and must be put
 *   back in any case, so that drm_sched frees it when its fence has
 *   signalled. drm_sched_stop() and drm_sched_start() would do so, but drop
 *   the engine fences of all jobs that continue. So here the scheduler's work is
 *   stopped, the engine recovers and signals the fences of the jobs it has
 *   dropped, with an error, and the work is started again, as xe does.
 *   In the shapes of panthor and amdgpu, drm_sched_stop() and drm_sched_start()
 *   are called, as in these drivers, and the fences are restored in between.
 *   Not while a context is stopped by its user, though: drm_sched_start()
 *   would let it run jobs.
 * - In the shape of amdgpu the entity of a context that is banned is marked as
 *   guilty, and drm_sched gives its jobs -ECANCELED before it hands them to
 *   run_job, which does not run them.
 * - drm_sched cannot cancel. A context that was killed, banned or closed has an
 *   error; its jobs are taken off the engine; those not yet run reach run_job in
 *   order and after their dependencies, and fail there. Its entity is
 *   torn down only when no job is left.
 * - drm_sched_fini() leaks pending jobs, and frees what callbacks of fences of
 *   the last job may still be using. It is called after all jobs were freed and
 *   a grace period has passed: callbacks run under the lock of a fence.
 * - A finished fence asks its scheduler for a name as long as it exists, which
 *   may be long after the scheduler's end. It also holds its parent, the
 *   engine fence, which therefore keeps the memory of the scheduler. For this
 *   reason only, a job that fails without a fence is given one.
 *
 * States of a context, besides those in context.c:
 *
 * =======  ==================  ===============================================
 * state    @error, @live       exits
 * =======  ==================  ===============================================
 * open     0, 1 + jobs         kill, more than hang_limit resets, device gone:
 *                              failing; closed: closing.
 * failing  set, 1 + jobs       closed: closing.
 * closing  set, 1 + jobs       drm_teardown() on teardown_wq has taken its jobs
 *                              off the engine and ended its stops: draining.
 * draining set, jobs           the last job was freed: ended.
 * ended    set, 0              a grace period later, drm_end() on teardown_wq
 *                              releases the context
 * =======  ==================  ===============================================
 *
 * @error changes once, by cmpxchg(). The reference to the context is held until
 * the state ended is left. The engine gets a job only if @error was 0 when run_job
 * began, and before jobs are taken off, the scheduler is stopped, which waits for
 * run_job: so none is added too late.
 */

/**
 * struct simgpu_drm_context - state of this back end for a context
 * @context: the context
 * @sched: its scheduler, or the engine's
 * @entity: its queue
 * @guilty: read by @entity: whether to cancel its jobs
 * @live: number of jobs, plus one until the context is closed
 * @error: error of jobs and submissions; 0 or negative errno; set once
 * @stops: stops without a start by this context; under the scheduler's lock
 * @end: runs when all jobs were freed and nobody accesses them any more
 */
struct simgpu_drm_context {
	struct simgpu_context *context;
	struct simgpu_drm_sched *sched;
	struct drm_sched_entity entity;
	atomic_t guilty;
	atomic_t live;
	int error;
	u32 stops;
	struct rcu_work end;
};

static struct simgpu_job *to_job(struct drm_sched_job *base)
{
	return container_of(base, struct simgpu_job, drm);
}

/* Only the first error counts. */
static void drm_fail(struct simgpu_drm_context *drm, int error)
{
	cmpxchg(&drm->error, 0, error);
}

static void drm_put_live(struct simgpu_drm_context *drm)
{
	if (atomic_dec_and_test(&drm->live))
		queue_rcu_work(drm->context->dev->teardown_wq, &drm->end);
}

static struct dma_fence *drm_run_job(struct drm_sched_job *base)
{
	struct simgpu_job *job = to_job(base);
	int error = READ_ONCE(job->context->drm->error);
	struct dma_fence *fence;

	if (error)
		return simgpu_engine_fail(job, error);
	fence = simgpu_engine_run(job, false);
	if (IS_ERR_OR_NULL(fence))
		base->s_fence->parent = dma_fence_get(&job->hw->base);
	return fence;
}

/* As in amdgpu: drm_sched has given the jobs of a guilty entity an error. */
static struct dma_fence *drm_run_job_of_ring(struct drm_sched_job *base)
{
	int error = base->s_fence->finished.error;

	if (error)
		return simgpu_engine_fail(to_job(base), error);
	return drm_run_job(base);
}

static void drm_count(struct simgpu_drm_context *drm, enum depq_verdict verdict)
{
	struct simgpu_context *context = drm->context;

	switch (verdict) {
	case DEPQ_NO_HANG:
		atomic64_inc(&context->no_hang);
		break;
	case DEPQ_RESET:
		if (atomic64_inc_return(&context->timedout) >
		    context->args.hang_limit)
			drm_fail(drm, -ENODEV);
		break;
	case DEPQ_GONE:
		drm_fail(drm, -ENODEV);
		break;
	}
}

/*
 * Context: process, on tdr_wq. The scheduler does not free the job while this
 * runs, and drm_sched_fini() waits for it.
 */
static enum drm_gpu_sched_stat drm_timedout_job(struct drm_sched_job *base)
{
	struct simgpu_job *job = to_job(base);
	struct simgpu_drm_context *drm = job->context->drm;
	struct simgpu_drm_sched *sched = drm->sched;

	mutex_lock(&sched->lock);
	simgpu_drm_sched_stop(sched);
	drm_count(drm, simgpu_engine_recover(job));
	compat_sched_put_back(&sched->base, base);
	/* From here on the job and its context may have been freed. */
	simgpu_drm_sched_start(sched);
	mutex_unlock(&sched->lock);
	/*
	 * Also if the device is gone: other contexts of this scheduler will
	 * detect that themselves.
	 */
	return COMPAT_SCHED_NO_HANG;
}

/*
 * Likewise, but the jobs of the scheduler are detached from their engine fences
 * in between. It drops these fences, whose memory is needed as long as the
 * finished fences exist, so they are restored.
 */
static enum drm_gpu_sched_stat
drm_timedout_job_detached(struct drm_sched_job *base)
{
	struct simgpu_job *job = to_job(base);
	struct simgpu_drm_context *drm = job->context->drm;
	struct simgpu_drm_sched *sched = drm->sched;
	struct drm_sched_job *other;

	mutex_lock(&sched->lock);
	if (sched->stops) {
		mutex_unlock(&sched->lock);
		return drm_timedout_job(base);
	}
	drm_sched_stop(&sched->base, base);
	drm_count(drm, simgpu_engine_recover(job));
	if (READ_ONCE(drm->error) && drm->entity.guilty)
		drm_sched_increase_karma(base);
	list_for_each_entry(other, &sched->base.pending_list, list)
		other->s_fence->parent = dma_fence_get(&to_job(other)->hw->base);
	/* From here on the job and its context may have been freed. */
	compat_sched_start(&sched->base);
	mutex_unlock(&sched->lock);
	return COMPAT_SCHED_RESET;
}

static void drm_free_job(struct drm_sched_job *base)
{
	struct simgpu_job *job = to_job(base);
	struct simgpu_drm_context *drm = job->context->drm;

	drm_sched_job_cleanup(base);
	simgpu_job_free(job);
	drm_put_live(drm);
}

static const struct drm_sched_backend_ops drm_ops = {
	.run_job = drm_run_job,
	.timedout_job = drm_timedout_job,
	.free_job = drm_free_job,
};

static const struct drm_sched_backend_ops drm_ops_detached = {
	.run_job = drm_run_job,
	.timedout_job = drm_timedout_job_detached,
	.free_job = drm_free_job,
};

static const struct drm_sched_backend_ops drm_ops_of_ring = {
	.run_job = drm_run_job_of_ring,
	.timedout_job = drm_timedout_job_detached,
	.free_job = drm_free_job,
};

/* Indexed by &simgpu_drm_shape.recovery. */
static const struct drm_sched_backend_ops *const drm_ops_for[] = {
	[SIMGPU_DRM_PAUSE] = &drm_ops,
	[SIMGPU_DRM_DETACH] = &drm_ops_detached,
	[SIMGPU_DRM_RING] = &drm_ops_of_ring,
};

/* Runs when all jobs were freed and a grace period has passed. */
static void drm_end(struct work_struct *work)
{
	struct rcu_work *end = to_rcu_work(work);
	struct simgpu_drm_context *drm =
		container_of(end, struct simgpu_drm_context, end);
	struct simgpu_context *context = drm->context;

	simgpu_engine_reset_alone(context);
	drm_sched_entity_fini(&drm->entity);
	simgpu_drm_sched_leave(context, drm->sched);
	kfree(drm);
	simgpu_context_release(context);
}

/* Takes the jobs of the context off the engine; the error was set before. */
static void drm_cancel(struct simgpu_drm_context *drm)
{
	struct simgpu_drm_sched *sched = drm->sched;

	/* Stopped: otherwise run_job, not seeing the error, might add one. */
	mutex_lock(&sched->lock);
	simgpu_drm_sched_stop(sched);
	simgpu_engine_cancel(drm->context, READ_ONCE(drm->error));
	simgpu_drm_sched_start(sched);
	mutex_unlock(&sched->lock);
}

static void drm_teardown(struct work_struct *work)
{
	struct simgpu_context *context =
		container_of(work, struct simgpu_context, teardown);
	struct simgpu_drm_context *drm = context->drm;
	struct simgpu_drm_sched *sched = drm->sched;

	drm_cancel(drm);
	mutex_lock(&sched->lock);
	for (; drm->stops; drm->stops--)
		simgpu_drm_sched_start(sched);
	mutex_unlock(&sched->lock);
	drm_put_live(drm);
}

static void drm_context_close(struct simgpu_context *context)
{
	drm_fail(context->drm, -ECANCELED);
	queue_work(context->dev->teardown_wq, &context->teardown);
}

static enum drm_sched_priority drm_priority(const struct simgpu_create *args)
{
	if (!simgpu_is_shared(args))
		return 0;	/* the only run queue */
	switch (args->priority) {
	case SIMGPU_PRIORITY_HIGH:
		return DRM_SCHED_PRIORITY_HIGH;
	case SIMGPU_PRIORITY_LOW:
		return COMPAT_SCHED_PRIORITY_LOW;
	default:
		return DRM_SCHED_PRIORITY_NORMAL;
	}
}

static int drm_context_init(struct simgpu_context *context)
{
	const struct simgpu_drm_shape shape = simgpu_drm_shape(&context->args);
	bool ring = shape.recovery == SIMGPU_DRM_RING;
	struct simgpu_drm_context *drm;
	struct drm_gpu_scheduler *base;
	int ret;

	if (!COMPAT_SCHED_WQUEUE && context->args.shape && !shape.per_engine)
		return -EOPNOTSUPP;
	drm = kzalloc(sizeof(*drm), GFP_KERNEL_ACCOUNT);
	if (!drm)
		return -ENOMEM;
	drm->context = context;
	atomic_set(&drm->live, 1);
	INIT_RCU_WORK(&drm->end, drm_end);
	INIT_WORK(&context->teardown, drm_teardown);
	drm->sched = simgpu_drm_sched_join(context,
					   drm_ops_for[shape.recovery]);
	if (IS_ERR(drm->sched)) {
		ret = PTR_ERR(drm->sched);
		goto free;
	}
	base = &drm->sched->base;
	ret = drm_sched_entity_init(&drm->entity, drm_priority(&context->args),
				    &base, 1, ring ? &drm->guilty : NULL);
	if (ret)
		goto put;
	context->drm = drm;
	if (ring)
		simgpu_engine_reset_together(context);
	return 0;
put:
	simgpu_drm_sched_leave(context, drm->sched);
free:
	kfree(drm);
	return ret;
}

static int drm_job_init(struct simgpu_job *job, u32 credits, bool nonblock)
{
	struct simgpu_drm_context *drm = job->context->drm;
	int err = READ_ONCE(drm->error);

	if (err)
		return err;
	err = compat_sched_job_init(&job->drm, &drm->entity, credits);
	if (err)
		return err;
	atomic_inc(&drm->live);
	return 0;
}

static int drm_job_add_dep(struct simgpu_job *job, struct dma_fence *fence)
{
	return drm_sched_job_add_dependency(&job->drm, fence);
}

static void drm_job_arm(struct simgpu_job *job)
{
	drm_sched_job_arm(&job->drm);
#ifdef DRM_SCHED_FENCE_DONT_PIPELINE
	if (job->context->dev->parallel)
		set_bit(DRM_SCHED_FENCE_DONT_PIPELINE,
			&job->drm.s_fence->finished.flags);
#endif
}

static struct dma_fence *drm_job_fence(struct simgpu_job *job)
{
	return &job->drm.s_fence->finished;
}

static void drm_job_commit(struct simgpu_job *job)
{
	struct simgpu_drm_sched *sched = job->context->drm->sched;

	kref_get(&sched->ref);
	job->hw->sched = sched;
	drm_sched_entity_push_job(&job->drm);
}

static void drm_job_abort(struct simgpu_job *job)
{
	drm_free_job(&job->drm);
}

static int drm_control(struct simgpu_context *context, u32 command, u64 arg)
{
	struct simgpu_drm_context *drm = context->drm;
	struct simgpu_drm_sched *sched = drm->sched;
	int ret = 0;

	switch (command) {
	case SIMGPU_CONTROL_STOP:
		mutex_lock(&sched->lock);
		drm->stops++;
		simgpu_drm_sched_stop(sched);
		mutex_unlock(&sched->lock);
		break;
	case SIMGPU_CONTROL_START:
		mutex_lock(&sched->lock);
		if (drm->stops) {
			drm->stops--;
			simgpu_drm_sched_start(sched);
		} else {
			ret = -EINVAL;
		}
		mutex_unlock(&sched->lock);
		break;
	case SIMGPU_CONTROL_KILL:
		drm_fail(drm, -(int)arg);
		drm_cancel(drm);
		break;
	case SIMGPU_CONTROL_TIMEOUT:
		drm_sched_fault(&sched->base);
		break;
	default:
		ret = -EINVAL;
	}
	return ret;
}

static void drm_stats(struct simgpu_context *context,
		      struct simgpu_stats *stats)
{
	struct simgpu_drm_context *drm = context->drm;
	struct drm_gpu_scheduler *base = &drm->sched->base;
	struct drm_sched_job *job;

	stats->banned = !!READ_ONCE(drm->error);
	stats->timedout = atomic64_read(&context->timedout);
	stats->no_hang = atomic64_read(&context->no_hang);
	stats->credits = compat_sched_credits(base);
	stats->pending = 0;
	spin_lock(&base->job_list_lock);
	list_for_each_entry(job, &base->pending_list, list)
		if (to_job(job)->context == context &&
		    !dma_fence_is_signaled(&job->s_fence->finished))
			stats->pending++;
	spin_unlock(&base->job_list_lock);
}

static void drm_show(struct simgpu_context *context, struct seq_file *m)
{
	simgpu_drm_sched_show(context->dev, context->drm->sched, m);
}

static u32 drm_fence_bytes(void)
{
	return sizeof(struct drm_sched_fence);
}

const struct simgpu_backend simgpu_backend_drm = {
	.name = "drm_sched",
	.needs_order = true,
	.context_init = drm_context_init,
	.context_close = drm_context_close,
	.job_init = drm_job_init,
	.job_add_dep = drm_job_add_dep,
	.job_arm = drm_job_arm,
	.job_fence = drm_job_fence,
	.job_commit = drm_job_commit,
	.job_abort = drm_job_abort,
	.control = drm_control,
	.stats = drm_stats,
	.show = drm_show,
	.queue_bytes = sizeof(struct drm_gpu_scheduler) +
		       sizeof(struct drm_sched_entity),
	.job_bytes = sizeof(struct drm_sched_job),
	.fence_bytes = drm_fence_bytes,
};
