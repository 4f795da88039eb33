/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMGPU_SCHED_DRM_H
#define SIMGPU_SCHED_DRM_H

#include "../compat/drm_sched.h"
#include "simgpu.h"

/**
 * struct simgpu_drm_sched - a scheduler, of one context or of an engine
 * @ref: memory only: the engine or context, and engine fences
 * @base: the scheduler
 * @lock: protects @stops, and keeps stop and start of the scheduler together
 * @stops: stops without a start, of all contexts
 * @rcu: frees it after a grace period
 */
struct simgpu_drm_sched {
	struct kref ref;
	struct drm_gpu_scheduler base;
	struct mutex lock;	/* stops and starts */
	u32 stops;
	struct rcu_head rcu;
};

struct simgpu_drm_sched *
simgpu_drm_sched_join(struct simgpu_context *context,
		      const struct drm_sched_backend_ops *ops);
void simgpu_drm_sched_leave(struct simgpu_context *context,
			    struct simgpu_drm_sched *sched);
void simgpu_drm_sched_stop(struct simgpu_drm_sched *sched);
void simgpu_drm_sched_start(struct simgpu_drm_sched *sched);

#endif /* SIMGPU_SCHED_DRM_H */
