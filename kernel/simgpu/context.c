// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: contexts
 *
 * A context is a queue of jobs on one engine. It belongs to an open file and
 * outlives it while the back end ends it:
 *
 * =========  ================================  =============================
 * state      references                        what may be called
 * =========  ================================  =============================
 * open       file, back end, jobs, ioctls      everything
 * killed     the same; @error is set           all but submissions
 * closed     back end, jobs, ioctls in flight  nothing of the back end except
 *                                              its own teardown
 * released   ioctls in flight                  nothing
 * =========  ================================  =============================
 *
 * open -> killed: SIMGPU_CONTROL_KILL. open, killed -> closed:
 * simgpu_context_destroy() or the end of the file. closed -> released:
 * simgpu_context_release(), which the back end calls when all jobs are freed.
 *
 * Functions of the back end are called under &simgpu_context.submit with @closed
 * false (simgpu_context_lock()), so none is running when the context is closed.
 *
 * Locks: while &simgpu_device.contexts_mutex is held, others are only taken with
 * mutex_trylock(). &simgpu_context.submit is held while the caller's memory
 * is accessed and while a job is handed over; &simgpu_context.ring_lock only
 * for a few loads and stores, never in interrupts.
 */

#include <linux/log2.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include "backend.h"
#include "file.h"

#define SIMGPU_CREDITS_DEFAULT		64
/* The default of amdgpu for jobs on a ring. */
#define SIMGPU_CREDITS_AMDGPU		2
#define SIMGPU_CREDITS_MAX		65536
#define SIMGPU_RING_DEFAULT		1024
#define SIMGPU_RING_MAX			65536
#define SIMGPU_TIMEOUT_US_DEFAULT	(5 * USEC_PER_SEC)
#define SIMGPU_TIMEOUT_US_MAX		(60 * USEC_PER_SEC)
#define SIMGPU_HANG_LIMIT_MAX		1000
#define SIMGPU_FREE_COST_MAX		NSEC_PER_MSEC

/**
 * simgpu_context_get() - take a reference
 * @context: the context, of which the caller holds or borrows a reference
 *
 * Context: any.
 * Return: @context.
 */
struct simgpu_context *simgpu_context_get(struct simgpu_context *context)
{
	kref_get(&context->ref);
	return context;
}

static void simgpu_context_free(struct kref *ref)
{
	struct simgpu_context *context =
		container_of(ref, struct simgpu_context, ref);
	struct simgpu_device *dev = context->dev;
	u32 i;

	might_sleep();
	mutex_lock(&dev->contexts_mutex);
	list_del(&context->link);
	mutex_unlock(&dev->contexts_mutex);

	for (i = 0; i < context->args.ring; i++)
		dma_fence_put(context->ring[i].fence);
	kvfree(context->ring);
	simgpu_memory_detach(&context->memory);
	simgpu_client_put(context->client);
	mutex_destroy(&context->submit);
	kfree(context);
	if (atomic_dec_and_test(&dev->live))
		complete(&dev->idle);
}

/**
 * simgpu_context_put() - drop a reference
 * @context: the context; freed with the last reference
 *
 * Context: any, hard interrupts included, if it is not the last; else process,
 * sleeps. See simgpu_job_free() for why jobs never hold the last.
 */
void simgpu_context_put(struct simgpu_context *context)
{
	kref_put(&context->ref, simgpu_context_free);
}

/**
 * simgpu_context_release() - called when the back end has ended the context
 * @context: all of its jobs are freed; must not be accessed after this
 *
 * Context: process, sleeps; on a workqueue that is destroyed before the module
 * is gone.
 */
void simgpu_context_release(struct simgpu_context *context)
{
	might_sleep();
	simgpu_context_put(context);
}

/*
 * Rejects arguments that the interface does not allow, and fills in defaults.
 * Return: 0 or -EINVAL.
 */
static int simgpu_create_check(const struct simgpu_device *dev,
			       struct simgpu_create *args)
{
	static const u32 flags[] = {
		[SIMGPU_DESIGN_DRM_SCHED] = SIMGPU_CREATE_SHARED |
					    SIMGPU_CREATE_HIGHPRI,
		[SIMGPU_DESIGN_DEPQ] = SIMGPU_CREATE_BYPASS |
				       SIMGPU_CREATE_FAIR,
		[SIMGPU_DESIGN_NONE] = 0,
	};

	if (args->design >= ARRAY_SIZE(flags) ||
	    args->flags & ~SIMGPU_CREATE_FREE_SLEEPS &
	    ~flags[array_index_nospec(args->design, ARRAY_SIZE(flags))])
		return -EINVAL;
	if (args->design != SIMGPU_DESIGN_DEPQ &&
	    (args->put || args->worker || args->share))
		return -EINVAL;
	if (args->shape > SIMGPU_SHAPE_AMDGPU ||
	    (args->shape && (args->design != SIMGPU_DESIGN_DRM_SCHED ||
			     args->flags & (SIMGPU_CREATE_SHARED |
					    SIMGPU_CREATE_HIGHPRI))))
		return -EINVAL;
	if (args->put > SIMGPU_PUT_AUTO ||
	    (args->put == SIMGPU_PUT_AUTO &&
	     args->flags & SIMGPU_CREATE_BYPASS) ||
	    args->worker > SIMGPU_WORKER_FOLLOW_MIN ||
	    args->share > SIMGPU_SHARE_DEVICE || args->engine >= dev->n_engines)
		return -EINVAL;
	if (args->priority > SIMGPU_PRIORITY_LOW ||
	    (args->priority && !simgpu_is_shared(args)))
		return -EINVAL;

	if (!args->credit_limit)
		args->credit_limit = args->shape == SIMGPU_SHAPE_AMDGPU ?
				     SIMGPU_CREDITS_AMDGPU :
				     SIMGPU_CREDITS_DEFAULT;
	if (!args->ring)
		args->ring = SIMGPU_RING_DEFAULT;
	if (!args->timeout_us)
		args->timeout_us = SIMGPU_TIMEOUT_US_DEFAULT;
	if (args->credit_limit > SIMGPU_CREDITS_MAX || args->ring < 2 ||
	    args->ring > SIMGPU_RING_MAX || !is_power_of_2(args->ring) ||
	    args->timeout_us > SIMGPU_TIMEOUT_US_MAX ||
	    args->hang_limit > SIMGPU_HANG_LIMIT_MAX ||
	    args->free_cost_ns > SIMGPU_FREE_COST_MAX || args->pad)
		return -EINVAL;
	return 0;
}

static const struct simgpu_backend *const simgpu_backends[] = {
	[SIMGPU_DESIGN_DRM_SCHED] = &simgpu_backend_drm,
	[SIMGPU_DESIGN_DEPQ] = &simgpu_backend_depq,
	[SIMGPU_DESIGN_NONE] = &simgpu_backend_none,
};

/*
 * Creates a context from checked arguments, with the reference of the file.
 * Takes over the memory, also on failure.
 */
static struct simgpu_context *
simgpu_context_make(struct simgpu_file *file, const struct simgpu_create *args,
		    struct simgpu_memory *memory)
{
	struct simgpu_device *dev = file->dev;
	struct simgpu_context *context;
	int error;

	context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	if (context)
		context->ring = kvcalloc(args->ring, sizeof(*context->ring),
					 GFP_KERNEL_ACCOUNT);
	if (!context || !context->ring) {
		kfree(context);
		simgpu_memory_detach(memory);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&context->ref);
	context->id = args->context;
	context->dev = dev;
	context->engine = &dev->engines[array_index_nospec(args->engine,
							   dev->n_engines)];
	context->backend =
		simgpu_backends[array_index_nospec(args->design,
						   ARRAY_SIZE(simgpu_backends))];
	context->args = *args;
	mutex_init(&context->submit);
	spin_lock_init(&context->ring_lock);
	INIT_LIST_HEAD(&context->inflight);
	INIT_LIST_HEAD(&context->reset_link);
	prandom_seed_state(&context->random, args->context);
	context->memory = *memory;
	context->client = simgpu_client_get(file->client);
	atomic_inc(&dev->live);
	mutex_lock(&dev->contexts_mutex);
	context->serial = ++dev->serials;
	list_add_tail(&context->link, &dev->contexts);
	mutex_unlock(&dev->contexts_mutex);

	/* Debugfs must not ask the back end yet. */
	context->closed = true;
	error = context->backend->context_init(context);
	if (error) {
		simgpu_context_put(context);
		return ERR_PTR(error);
	}
	simgpu_context_get(context);	/* the back end's */
	mutex_lock(&context->submit);
	context->closed = false;
	mutex_unlock(&context->submit);
	return context;
}

/**
 * simgpu_context_create() - create a context
 * @file: the file that will own it
 * @args: in and out
 *
 * Context: process, sleeps.
 * Return:
 * * 0 - success, @args->context is its number
 * * -EINVAL - not allowed
 * * -ENOENT - the file has no such GEM object
 * * -ENOSPC - the file has too many contexts
 * * -ENOMEM
 */
int simgpu_context_create(struct simgpu_file *file, struct simgpu_create *args)
{
	struct simgpu_memory memory = {};
	struct simgpu_context *context;
	int ret;

	ret = simgpu_create_check(file->dev, args);
	if (ret)
		return ret;
	/* A reserved entry: nobody finds it, and its number is not reused. */
	ret = xa_alloc(&file->contexts, &args->context, NULL,
		       XA_LIMIT(1, SIMGPU_CONTEXTS_MAX), GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret == -EBUSY ? -ENOSPC : ret;
	ret = simgpu_memory_attach(file, args->memory, &memory);
	context = ret ? ERR_PTR(ret) :
			  simgpu_context_make(file, args, &memory);
	if (IS_ERR(context)) {
		xa_erase(&file->contexts, args->context);
		return PTR_ERR(context);
	}
	/* The entry exists, so this allocates nothing. */
	xa_store(&file->contexts, args->context, context, GFP_KERNEL_ACCOUNT);
	return 0;
}

/* Makes the back end end the context, and drops the file's reference. */
static void simgpu_context_close(struct simgpu_context *context)
{
	mutex_lock(&context->submit);
	context->closed = true;
	mutex_unlock(&context->submit);
	context->backend->context_close(context);
	simgpu_context_put(context);
}

/**
 * simgpu_context_destroy() - close a context
 * @file: the file that owns it
 * @id: its number
 *
 * Does not wait for its jobs.
 *
 * Context: process, sleeps.
 * Return: 0, or -ENOENT if there is none.
 */
int simgpu_context_destroy(struct simgpu_file *file, u32 id)
{
	struct simgpu_context *context;

	/* Not xa_erase(): an entry that is being created must stay. */
	xa_lock(&file->contexts);
	context = xa_load(&file->contexts, id);
	if (context)
		__xa_erase(&file->contexts, id);
	xa_unlock(&file->contexts);
	if (!context)
		return -ENOENT;
	simgpu_context_close(context);
	return 0;
}

/**
 * simgpu_context_close_all() - close all contexts of a file
 * @file: the file, which nobody else uses any more
 *
 * Context: process, sleeps.
 */
void simgpu_context_close_all(struct simgpu_file *file)
{
	struct simgpu_context *context;
	unsigned long id;

	xa_for_each(&file->contexts, id, context)
		simgpu_context_close(context);
	xa_destroy(&file->contexts);
}

/**
 * simgpu_context_find() - look up a context
 * @file: the file that owns it
 * @id: its number
 *
 * Context: process.
 * Return: the context with a reference for the caller, or NULL.
 */
struct simgpu_context *simgpu_context_find(struct simgpu_file *file, u32 id)
{
	struct simgpu_context *context;

	xa_lock(&file->contexts);
	context = xa_load(&file->contexts, id);
	if (context)
		kref_get(&context->ref);
	xa_unlock(&file->contexts);
	return context;
}

/**
 * simgpu_context_lock() - lock a context to call its back end
 * @context: its @submit is taken
 *
 * Context: process, sleeps.
 * Return:
 * * 0 - the caller must mutex_unlock() it
 * * -ENOENT - it was closed meanwhile
 * * -ERESTARTSYS - a signal was received
 */
int simgpu_context_lock(struct simgpu_context *context)
{
	if (mutex_lock_interruptible(&context->submit))
		return -ERESTARTSYS;
	if (context->closed) {
		mutex_unlock(&context->submit);
		return -ENOENT;
	}
	return 0;
}

/**
 * simgpu_context_fence() - get the finished fence of a job
 * @context: the context of the job
 * @seqno: its sequence number
 *
 * Context: process.
 * Return: the fence with a reference for the caller, or NULL if there is no
 * such job or it has left the ring.
 */
struct dma_fence *simgpu_context_fence(struct simgpu_context *context,
				       u64 seqno)
{
	struct simgpu_slot *slot;
	struct dma_fence *fence = NULL;

	/*
	 * Pairs with simgpu_commit(): before the job was committed its fence
	 * may be without context and number.
	 */
	if (!seqno || seqno > smp_load_acquire(&context->seqno))
		return NULL;
	slot = &context->ring[seqno & (context->args.ring - 1)];
	spin_lock(&context->ring_lock);
	if (slot->record.seqno == seqno)
		fence = dma_fence_get(slot->fence);
	spin_unlock(&context->ring_lock);
	return fence;
}
