/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMGPU_SCHED_DRM_H
#define SIMGPU_SCHED_DRM_H

#include <linux/seq_file.h>

#include "../compat/drm_sched.h"
#include "simgpu.h"

/**
 * enum simgpu_drm_wq - the workqueue that runs and frees jobs
 * @SIMGPU_DRM_WQ_OWN: ordered, of the scheduler
 * @SIMGPU_DRM_WQ_HIGHPRI: one of the device, with WQ_HIGHPRI
 * @SIMGPU_DRM_WQ_UNBOUND: one of the device, with WQ_UNBOUND
 */
enum simgpu_drm_wq {
	SIMGPU_DRM_WQ_OWN,
	SIMGPU_DRM_WQ_HIGHPRI,
	SIMGPU_DRM_WQ_UNBOUND,
};

/**
 * enum simgpu_drm_recovery - the recovery from a job that takes too long
 * @SIMGPU_DRM_PAUSE: stop the work of the scheduler, take jobs of the context
 *	off the engine, start the work again
 * @SIMGPU_DRM_DETACH: the same with drm_sched_stop() and drm_sched_start(),
 *	which detach all its jobs from their engine fences and attach them again
 * @SIMGPU_DRM_RING: the same, and take jobs of all contexts of the scheduler
 *	off the engine
 */
enum simgpu_drm_recovery {
	SIMGPU_DRM_PAUSE,
	SIMGPU_DRM_DETACH,
	SIMGPU_DRM_RING,
};

/**
 * struct simgpu_drm_shape - how drm_sched is used
 * @per_engine: one scheduler for the contexts of an engine, with a run queue for
 *	each priority; else one for each context, with one run queue
 * @wq: the workqueue
 * @recovery: the recovery from a job that takes too long
 */
struct simgpu_drm_shape {
	bool per_engine;
	enum simgpu_drm_wq wq;
	enum simgpu_drm_recovery recovery;
};

/**
 * struct simgpu_drm_sched - a scheduler, of one context or of an engine
 * @ref: memory only: held by the engine or context, and by engine fences
 * @base: the scheduler
 * @id: number of the scheduler, from 1
 * @users: contexts on it; under &simgpu_engine.sched_mutex if it is an engine's
 * @lock: protects @stops, and serialises stop and start of the scheduler
 * @stops: stops without a start, by all contexts
 * @rcu: frees it after a grace period
 */
struct simgpu_drm_sched {
	struct kref ref;
	struct drm_gpu_scheduler base;
	u32 id;
	u32 users;
	struct mutex lock;	/* stops and starts */
	u32 stops;
	struct rcu_head rcu;
};

struct simgpu_drm_shape simgpu_drm_shape(const struct simgpu_create *args);
struct simgpu_drm_sched *
simgpu_drm_sched_join(struct simgpu_context *context,
		      const struct drm_sched_backend_ops *ops);
void simgpu_drm_sched_leave(struct simgpu_context *context,
			    struct simgpu_drm_sched *sched);
void simgpu_drm_sched_stop(struct simgpu_drm_sched *sched);
void simgpu_drm_sched_start(struct simgpu_drm_sched *sched);
void simgpu_drm_sched_show(const struct simgpu_device *dev,
			   const struct simgpu_drm_sched *sched,
			   struct seq_file *m);

#endif /* SIMGPU_SCHED_DRM_H */
