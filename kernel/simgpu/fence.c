// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "simgpu.h"

/**
 * DOC: engine fences
 *
 * The engine fence of a job is created before the job is committed, since
 * nothing may be allocated later. It refers neither to its job nor to its context,
 * as it may outlive both. drm_sched keeps it as the parent of the finished fence,
 * which user space may hold as a sync_file for as long as it likes. So a fence
 * keeps the module loaded until its memory is freed. That happens at once, into a
 * cache whose memory becomes nothing but other fences within a grace
 * period (SLAB_TYPESAFE_BY_RCU), so that fences cost no RCU callbacks.
 *
 * Engine fences may signal in any order, on a parallel engine
 * or because of faults. dma_fence_is_later() may be applied to fences of
 * the same context, and must then be right; so each fence has a context of its
 * own.
 *
 * An engine has no speeds to choose from, so it does not hurry for a deadline;
 * but debugfs shows that one was set.
 */

static struct kmem_cache *fence_cache;

/* They may outlive the device. */
static atomic_t fences = ATOMIC_INIT(0);

/* Deadlines set, those that were the earliest of their fence, and the last. */
static atomic64_t deadlines = ATOMIC64_INIT(0);
static atomic64_t earliest_deadlines = ATOMIC64_INIT(0);
static atomic64_t last_deadline = ATOMIC64_INIT(0);

static struct simgpu_fence *to_simgpu_fence(struct dma_fence *base)
{
	return container_of(base, struct simgpu_fence, base);
}

static const char *fence_driver_name(struct dma_fence *base)
{
	return "simgpu";
}

static const char *fence_timeline_name(struct dma_fence *base)
{
	return "engine";
}

static void fence_release(struct dma_fence *base)
{
	struct simgpu_fence *fence = to_simgpu_fence(base);

	if (fence->sched)
		simgpu_drm_sched_put(fence->sched);
	atomic_dec(&fences);
	/* simgpu_fence_exit() waits for callers in here. */
	rcu_read_lock();
	kmem_cache_free(fence_cache, fence);
	module_put(THIS_MODULE);
	rcu_read_unlock();
}

/* Old kernels have no deadlines. */
static void __maybe_unused fence_set_deadline(struct dma_fence *base,
					      ktime_t deadline)
{
	struct simgpu_fence *fence = to_simgpu_fence(base);
	unsigned long flags;
	bool earliest;

	spin_lock_irqsave(&fence->lock, flags);
	earliest = ktime_before(deadline, fence->deadline);
	if (earliest)
		fence->deadline = deadline;
	spin_unlock_irqrestore(&fence->lock, flags);
	atomic64_inc(&deadlines);
	if (!earliest)
		return;
	atomic64_inc(&earliest_deadlines);
	atomic64_set(&last_deadline, ktime_to_ns(deadline));
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_driver_name,
	.get_timeline_name = fence_timeline_name,
	.release = fence_release,
#ifdef HAVE_DMA_FENCE_DEADLINE
	.set_deadline = fence_set_deadline,
#endif
};

/* Runs once per object of the slab, which may hold several fences in turn. */
static void fence_construct(void *memory)
{
	struct simgpu_fence *fence = memory;

	spin_lock_init(&fence->lock);
}

/**
 * simgpu_fence_create() - allocate the engine fence of a job
 *
 * Context: process; may sleep. The caller keeps the module loaded.
 * Return: the fence, with one reference, or NULL.
 */
struct simgpu_fence *simgpu_fence_create(void)
{
	struct simgpu_fence *fence;

	fence = kmem_cache_alloc(fence_cache, GFP_KERNEL);
	if (!fence)
		return NULL;
	__module_get(THIS_MODULE);
	atomic_inc(&fences);
	fence->sched = NULL;
	fence->twice = false;
	fence->deadline = KTIME_MAX;
	INIT_LIST_HEAD(&fence->link);
	dma_fence_init(&fence->base, &fence_ops, &fence->lock,
		       dma_fence_context_alloc(1), 1);
	return fence;
}

/**
 * simgpu_fences() - get the number of existing engine fences
 *
 * Context: any.
 * Return: the number.
 */
int simgpu_fences(void)
{
	return atomic_read(&fences);
}

/**
 * simgpu_fence_show() - print statistics of deadlines
 * @m: the output
 *
 * Context: process.
 */
void simgpu_fence_show(struct seq_file *m)
{
	seq_printf(m, "given %lld\nearliest %lld\nlast_ns %lld\n",
		   (long long)atomic64_read(&deadlines),
		   (long long)atomic64_read(&earliest_deadlines),
		   (long long)atomic64_read(&last_deadline));
}

/**
 * simgpu_fence_bytes() - memory of an engine fence
 *
 * Context: any.
 * Return: the number of bytes.
 */
u32 simgpu_fence_bytes(void)
{
	return sizeof(struct simgpu_fence);
}

/**
 * simgpu_fence_init() - create the cache of fences
 *
 * Context: process, when the module is loaded.
 * Return: 0 or -ENOMEM.
 */
int simgpu_fence_init(void)
{
	fence_cache = kmem_cache_create("simgpu_fence",
					sizeof(struct simgpu_fence), 0,
					SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT |
					SLAB_TYPESAFE_BY_RCU, fence_construct);
	return fence_cache ? 0 : -ENOMEM;
}

/**
 * simgpu_fence_exit() - undo simgpu_fence_init()
 *
 * Context: process, when the module is unloaded: no fence exists then,
 * but the last ones may still be on their way through fence_free().
 */
void simgpu_fence_exit(void)
{
	/*
	 * Whoever drops the last reference to the module still returns through
	 * it: an interrupt ends within a grace period, and a preempted task
	 * has left the module once each task has slept or left the kernel.
	 */
	synchronize_rcu();
	synchronize_rcu_tasks();
	kmem_cache_destroy(fence_cache);
}
