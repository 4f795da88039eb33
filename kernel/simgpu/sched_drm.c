// SPDX-License-Identifier: GPL-2.0-only
#include <linux/nospec.h>
#include <linux/slab.h>

#include "sched_drm.h"

/**
 * DOC: schedulers of the drm_sched back end
 *
 * A scheduler belongs to one context, or to an engine as long as that has
 * contexts with %SIMGPU_CREATE_SHARED or %SIMGPU_SHAPE_AMDGPU, which have a
 * scheduler each. Its memory stays while there are engine
 * fences of its jobs; see backend_drm.c for the reason.
 *
 * ========  =================================  ==============================
 * state     kept by                            what may be called
 * ========  =================================  ==============================
 * running   its contexts                       everything; stop: stopped.
 * stopped   its contexts, and each by a count  everything; as many starts:
 *           of its stops                       running
 * ended     engine fences                      simgpu_drm_sched_put(); its
 *                                              name is still read
 * ========  =================================  ==============================
 *
 * Running and stopped change under &simgpu_drm_sched.lock. A scheduler ends
 * when its last context leaves, at which time it has no jobs.
 */

/*
 * The choices of the drivers in Linux 6.12. All of them have timeouts on an
 * ordered workqueue: of the GT in xe, of the reset in panthor, of the reset
 * domain in amdgpu. xe and panthor do not use drm_sched's priorities.
 */
static const struct simgpu_drm_shape drm_shapes[] = {
	[SIMGPU_SHAPE_XE] = {
		.wq = SIMGPU_DRM_WQ_OWN,
		.recovery = SIMGPU_DRM_PAUSE,
	},
	[SIMGPU_SHAPE_PANTHOR] = {
		.wq = SIMGPU_DRM_WQ_UNBOUND,
		.recovery = SIMGPU_DRM_DETACH,
	},
	[SIMGPU_SHAPE_AMDGPU] = {
		.per_engine = true,
		.wq = SIMGPU_DRM_WQ_OWN,
		.recovery = SIMGPU_DRM_RING,
	},
};

/**
 * simgpu_drm_shape() - how a context uses drm_sched
 * @args: its arguments, checked
 *
 * Context: any.
 * Return: the choices of its shape or, without one, of its flags.
 */
struct simgpu_drm_shape simgpu_drm_shape(const struct simgpu_create *args)
{
	const struct simgpu_drm_shape by_flags = {
		.per_engine = args->flags & SIMGPU_CREATE_SHARED,
		.wq = args->flags & SIMGPU_CREATE_HIGHPRI ?
		      SIMGPU_DRM_WQ_HIGHPRI : SIMGPU_DRM_WQ_OWN,
		.recovery = SIMGPU_DRM_PAUSE,
	};

	if (!args->shape)
		return by_flags;
	return drm_shapes[array_index_nospec(args->shape,
					     ARRAY_SIZE(drm_shapes))];
}

static struct workqueue_struct *sched_wq(const struct simgpu_device *dev,
					 enum simgpu_drm_wq wq)
{
	switch (wq) {
	case SIMGPU_DRM_WQ_HIGHPRI:
		return dev->highpri_wq;
	case SIMGPU_DRM_WQ_UNBOUND:
		return dev->unbound_wq;
	default:
		return NULL;	/* drm_sched makes one */
	}
}

/**
 * simgpu_drm_sched_stop() - stop the scheduler from running and freeing jobs
 * @sched: the scheduler
 *
 * Stops nest; each needs its simgpu_drm_sched_start().
 *
 * Context: process, under @sched->lock; sleeps until its current work is
 *	done.
 */
void simgpu_drm_sched_stop(struct simgpu_drm_sched *sched)
{
	lockdep_assert_held(&sched->lock);
	if (!sched->stops++)
		drm_sched_wqueue_stop(&sched->base);
}

/**
 * simgpu_drm_sched_start() - undo one stop
 * @sched: the scheduler; continues when the last stop was undone
 *
 * Context: process, under @sched->lock.
 */
void simgpu_drm_sched_start(struct simgpu_drm_sched *sched)
{
	lockdep_assert_held(&sched->lock);
	if (!WARN_ON_ONCE(!sched->stops) && !--sched->stops)
		drm_sched_wqueue_start(&sched->base);
}

static struct simgpu_drm_sched *sched_create(struct simgpu_context *context,
					     const struct drm_sched_backend_ops *ops)
{
	const struct simgpu_create *args = &context->args;
	const struct simgpu_drm_shape shape = simgpu_drm_shape(args);
	struct simgpu_device *dev = context->dev;
	const struct compat_sched_args init = {
		.ops = ops,
		.submit_wq = sched_wq(dev, shape.wq),
		.timeout_wq = dev->tdr_wq,
		.num_rqs = shape.per_engine ? DRM_SCHED_PRIORITY_COUNT : 1,
		.credit_limit = args->credit_limit,
		.timeout = usecs_to_jiffies(args->timeout_us),
		.name = "simgpu",
		.dev = dev->drm.dev,
	};
	struct simgpu_drm_sched *sched;
	int err;

	sched = kzalloc(sizeof(*sched), GFP_KERNEL_ACCOUNT);
	if (!sched)
		return ERR_PTR(-ENOMEM);
	kref_init(&sched->ref);
	sched->id = atomic_inc_return(&dev->drm_scheds);
	sched->users = 1;
	mutex_init(&sched->lock);
	err = compat_sched_init(&sched->base, &init);
	if (err) {
		kfree(sched);
		return ERR_PTR(err);
	}
	return sched;
}

static void sched_free(struct kref *ref)
{
	struct simgpu_drm_sched *sched =
		container_of(ref, struct simgpu_drm_sched, ref);

	/* A finished fence without references may still be read. */
	kfree_rcu(sched, rcu);
}

/**
 * simgpu_drm_sched_put() - drop a reference to the memory of a scheduler
 * @sched: the scheduler
 *
 * Context: any.
 */
void simgpu_drm_sched_put(struct simgpu_drm_sched *sched)
{
	kref_put(&sched->ref, sched_free);
}

static void sched_end(struct simgpu_drm_sched *sched)
{
	/*
	 * The work that frees jobs may have queued the other one after that
	 * was cancelled; drm_sched_fini() cancels it again. That matters
	 * if the workqueue does not belong to the scheduler.
	 */
	drm_sched_wqueue_stop(&sched->base);
	drm_sched_fini(&sched->base);
	mutex_destroy(&sched->lock);
	simgpu_drm_sched_put(sched);
}

/* Returns where the engine stores the scheduler shared by such contexts. */
static struct simgpu_drm_sched **shared_sched(struct simgpu_context *context)
{
	return &context->engine->scheds[!!context->args.shape];
}

/**
 * simgpu_drm_sched_join() - create or find the scheduler of a context
 * @context: the context; its credit limit becomes that of the scheduler
 * @ops: its callbacks
 *
 * Context: process; may sleep. Takes &simgpu_engine.sched_mutex.
 * Return: the scheduler, until simgpu_drm_sched_leave(), or an ERR_PTR().
 */
struct simgpu_drm_sched *
simgpu_drm_sched_join(struct simgpu_context *context,
		      const struct drm_sched_backend_ops *ops)
{
	struct simgpu_engine *engine = context->engine;
	struct simgpu_drm_sched *sched, **shared;

	if (!simgpu_is_shared(&context->args))
		return sched_create(context, ops);
	shared = shared_sched(context);
	mutex_lock(&engine->sched_mutex);
	sched = *shared;
	if (sched) {
		sched->users++;
	} else {
		sched = sched_create(context, ops);
		if (!IS_ERR(sched))
			*shared = sched;
	}
	if (!IS_ERR(sched))
		context->args.credit_limit =
			compat_sched_credit_limit(&sched->base);
	mutex_unlock(&engine->sched_mutex);
	return sched;
}

/**
 * simgpu_drm_sched_leave() - release the scheduler of a context
 * @context: the context; its entity is finished, all its jobs are freed, and a
 *	grace period has passed since
 * @sched: the scheduler; ended if no other context uses it
 *
 * Context: process; sleeps, but not for jobs. Takes
 *	&simgpu_engine.sched_mutex.
 */
void simgpu_drm_sched_leave(struct simgpu_context *context,
			    struct simgpu_drm_sched *sched)
{
	struct simgpu_engine *engine = context->engine;

	if (!simgpu_is_shared(&context->args)) {
		sched_end(sched);
		return;
	}
	mutex_lock(&engine->sched_mutex);
	if (!--sched->users) {
		*shared_sched(context) = NULL;
		sched_end(sched);
	}
	mutex_unlock(&engine->sched_mutex);
}

/**
 * simgpu_drm_sched_show() - print the scheduler and its workqueue
 * @dev: the device
 * @sched: a scheduler
 * @m: gets its number, and the workqueue that drm_sched has for it
 *
 * Context: process.
 */
void simgpu_drm_sched_show(const struct simgpu_device *dev,
			   const struct simgpu_drm_sched *sched,
			   struct seq_file *m)
{
	const char *name = "thread";

#ifdef HAVE_DRM_SCHED_WQUEUE
	if (sched->base.submit_wq == dev->unbound_wq)
		name = "unbound";
	else if (sched->base.submit_wq == dev->highpri_wq)
		name = "highpri";
	else
		name = sched->base.own_submit_wq ? "own" : "other";
#endif
	seq_printf(m, "%u %s", sched->id, name);
}
