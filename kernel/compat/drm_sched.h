/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_DRM_SCHED_H
#define COMPAT_DRM_SCHED_H

/*
 * The interface of drm_sched, which also stable kernels change. HAVE_* come
 * from probe.sh.
 */

#include <drm/gpu_scheduler.h>

#ifndef HAVE_DRM_SCHED_INIT_ARGS
struct drm_sched_init_args {
	const struct drm_sched_backend_ops *ops;
	struct workqueue_struct *submit_wq;
	struct workqueue_struct *timeout_wq;
	u32 num_rqs;
	u32 credit_limit;
	unsigned int hang_limit;
	long timeout;
	atomic_t *score;
	const char *name;
	struct device *dev;
};
#endif

static inline int compat_sched_init(struct drm_gpu_scheduler *sched,
				    const struct drm_sched_init_args *args)
{
#ifdef HAVE_DRM_SCHED_INIT_ARGS
	return drm_sched_init(sched, args);
#elif defined(HAVE_DRM_SCHED_CREDITS)
	return drm_sched_init(sched, args->ops, args->submit_wq, args->num_rqs,
			      args->credit_limit, args->hang_limit,
			      args->timeout, args->timeout_wq, args->score,
			      args->name, args->dev);
#else
	return drm_sched_init(sched, args->ops, args->credit_limit,
			      args->hang_limit, args->timeout, args->timeout_wq,
			      args->score, args->name, args->dev);
#endif
}

static inline int compat_sched_job_init(struct drm_sched_job *job,
					struct drm_sched_entity *entity,
					u32 credits)
{
#ifdef HAVE_DRM_SCHED_CLIENT_ID
	return drm_sched_job_init(job, entity, credits, NULL, 0);
#elif defined(HAVE_DRM_SCHED_CREDITS)
	return drm_sched_job_init(job, entity, credits, NULL);
#else
	return drm_sched_job_init(job, entity, NULL);
#endif
}

/* Without credits every job counts as one. */
static inline u32 compat_sched_credits(struct drm_gpu_scheduler *sched)
{
#ifdef HAVE_DRM_SCHED_CREDITS
	return atomic_read(&sched->credit_count);
#else
	return atomic_read(&sched->hw_rq_count);
#endif
}

#ifndef HAVE_DRM_SCHED_WQUEUE
/* A kthread of its own in the place of workqueues. */
static inline void drm_sched_wqueue_stop(struct drm_gpu_scheduler *sched)
{
	kthread_park(sched->thread);
}

static inline void drm_sched_wqueue_start(struct drm_gpu_scheduler *sched)
{
	kthread_unpark(sched->thread);
}
#endif

/*
 * Call with the scheduler stopped, for a job that timedout_job was told of.
 * Before it did that, drm_sched took the job off its list, and it does not put
 * it back by itself, unless it knows of jobs that do not hang.
 */
static inline void compat_sched_put_back(struct drm_gpu_scheduler *sched,
					 struct drm_sched_job *job)
{
#ifndef HAVE_DRM_SCHED_NO_HANG
	spin_lock(&sched->job_list_lock);
	list_add(&job->list, &sched->pending_list);
	spin_unlock(&sched->job_list_lock);
#endif
}

#ifdef HAVE_DRM_SCHED_NO_HANG
#define COMPAT_SCHED_STAT DRM_GPU_SCHED_STAT_NO_HANG
#else
#define COMPAT_SCHED_STAT DRM_GPU_SCHED_STAT_NOMINAL
#endif

#ifdef HAVE_DRM_SCHED_PRIORITY_LOW
#define COMPAT_SCHED_PRIORITY_LOW DRM_SCHED_PRIORITY_LOW
#else
#define COMPAT_SCHED_PRIORITY_LOW DRM_SCHED_PRIORITY_MIN
#endif

#endif /* COMPAT_DRM_SCHED_H */
