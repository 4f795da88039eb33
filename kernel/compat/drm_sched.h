/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_DRM_SCHED_H
#define COMPAT_DRM_SCHED_H

/*
 * The interface of drm_sched, which changes even in stable kernels. HAVE_* come
 * from probe.sh.
 */

#include <linux/kthread.h>

#include <drm/gpu_scheduler.h>

/* The arguments of drm_sched_init() that we use. */
struct compat_sched_args {
	const struct drm_sched_backend_ops *ops;
	struct workqueue_struct *submit_wq;
	struct workqueue_struct *timeout_wq;
	u32 num_rqs;
	u32 credit_limit;
	long timeout;
	const char *name;
	struct device *dev;
};

/* Old kernels use a thread: all have all run queues, and no workqueue. */
static inline int compat_sched_init(struct drm_gpu_scheduler *sched,
				    const struct compat_sched_args *args)
{
#ifdef HAVE_DRM_SCHED_INIT_ARGS
	const struct drm_sched_init_args init = {
		.ops = args->ops,
#ifdef HAVE_DRM_SCHED_WQUEUE
		.submit_wq = args->submit_wq,
		.num_rqs = args->num_rqs,
#endif
		.timeout_wq = args->timeout_wq,
		.credit_limit = args->credit_limit,
		.timeout = args->timeout,
		.name = args->name,
		.dev = args->dev,
	};

	return drm_sched_init(sched, &init);
#elif defined(HAVE_DRM_SCHED_WQUEUE)
	return drm_sched_init(sched, args->ops, args->submit_wq, args->num_rqs,
			      args->credit_limit, 0, args->timeout,
			      args->timeout_wq, NULL, args->name, args->dev);
#else
	return drm_sched_init(sched, args->ops, args->credit_limit, 0,
			      args->timeout, args->timeout_wq, NULL, args->name,
			      args->dev);
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

/*
 * Old kernels have no credits, and the teardown of an entity waits for the
 * dependencies of its jobs, which headers do not show separately.
 */
#ifdef HAVE_DRM_SCHED_CREDITS
#define COMPAT_SCHED_CREDITS true
#else
#define COMPAT_SCHED_CREDITS false
#endif

/* Without credits every job counts as one. */
static inline u32 compat_sched_credits(struct drm_gpu_scheduler *sched)
{
#ifdef HAVE_DRM_SCHED_CREDITS
	return atomic_read(&sched->credit_count);
#else
	return atomic_read(&sched->hw_rq_count);
#endif
}

static inline u32 compat_sched_credit_limit(struct drm_gpu_scheduler *sched)
{
#ifdef HAVE_DRM_SCHED_CREDITS
	return sched->credit_limit;
#else
	return sched->hw_submission_limit;
#endif
}

/* Else a kthread of the scheduler runs and frees jobs. */
#ifdef HAVE_DRM_SCHED_WQUEUE
#define COMPAT_SCHED_WQUEUE true
#else
#define COMPAT_SCHED_WQUEUE false
#endif

#ifndef HAVE_DRM_SCHED_WQUEUE
/* Old kernels use a kthread instead of workqueues. */
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
 * Call with the scheduler stopped, for a job whose timedout_job() was called.
 * drm_sched took the job off its list before that call, and does not put
 * it back by itself, unless it supports jobs that do not hang.
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

/* After drm_sched_stop(): cancels jobs that were not run. */
static inline void compat_sched_start(struct drm_gpu_scheduler *sched)
{
#if defined(HAVE_DRM_SCHED_START_ERRNO)
	drm_sched_start(sched, 0);
#elif defined(HAVE_DRM_SCHED_START_FULL)
	drm_sched_start(sched, true);
#else
	drm_sched_start(sched);
#endif
}

/* The result of timedout_job for a reset, and for a job that has not hung. */
#ifdef HAVE_DRM_SCHED_STAT_RESET
#define COMPAT_SCHED_RESET DRM_GPU_SCHED_STAT_RESET
#else
#define COMPAT_SCHED_RESET DRM_GPU_SCHED_STAT_NOMINAL
#endif

#ifdef HAVE_DRM_SCHED_NO_HANG
#define COMPAT_SCHED_NO_HANG DRM_GPU_SCHED_STAT_NO_HANG
#else
#define COMPAT_SCHED_NO_HANG COMPAT_SCHED_RESET
#endif

#ifdef HAVE_DRM_SCHED_PRIORITY_LOW
#define COMPAT_SCHED_PRIORITY_LOW DRM_SCHED_PRIORITY_LOW
#else
#define COMPAT_SCHED_PRIORITY_LOW DRM_SCHED_PRIORITY_MIN
#endif

#endif /* COMPAT_DRM_SCHED_H */
