// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * DOC: finished fences
 *
 * A finished fence lives as long as anybody holds a reference: jobs, sync_files,
 * waiters, jobs that depend on it. So it does not point to the queue,
 * not even to its name, and keeps this module loaded until its memory is back
 * with the allocator. It points to the hardware fence as long as the job does, to
 * pass on deadlines, but without a reference, which would keep the driver loaded.
 *
 * =========  ========================  ==========================  ==========
 * state      who may touch it          how it gets there           exits
 * =========  ========================  ==========================  ==========
 * private    submitter                 depq_job_init(); seqno 0    commit,
 *                                                                  put
 * armed      anybody with a reference  depq_job_commit() has       signal
 *                                      written the seqno under
 *                                      the lock of the queue
 * signalled  anybody with a reference  the drainer of the queue,   last put
 *                                      in the order of seqnos
 * freed      readers under RCU         last put, in any context    none
 * =========  ========================  ==========================  ==========
 *
 * The memory of a fence returns to the allocator at once and may become
 * another fence at once, but nothing else before an RCU grace period is over
 * (SLAB_TYPESAFE_BY_RCU). So readers under RCU must use
 * dma_fence_get_rcu_safe(), as for requests of i915. This saves an RCU
 * callback per job, and thus grace periods: at the rate of a
 * display, each one wakes the RCU threads several times, which costs more
 * context switches than submitting and completing the job.
 *
 * Sequence numbers are compared by their lower 32 bits, as dma_fence does by
 * default; a queue never has 2^31 jobs at a time.
 *
 * Waiters may set deadlines (dma_fence_set_deadline()) before a job is run or
 * after. The earliest is kept. Whichever comes second, the hardware fence or the
 * deadline, passes it on to the hardware fence; if both come at
 * once, both may.
 */

#define DEPQ_TIMELINE_BYTES sizeof_field(struct depq_queue, name)

/**
 * struct depq_fence - the finished fence of a job
 * @base: the fence
 * @lock: its lock; taken inside the lock of the hardware fence
 * @timeline: copy of the name of the queue
 * @deadline: the earliest, if %DEPQ_FENCE_HAS_DEADLINE is set; under @lock
 * @hw: the hardware fence, from when it is known until the job is released
 */
struct depq_fence {
	struct dma_fence base;
	spinlock_t lock;
	char timeline[DEPQ_TIMELINE_BYTES];
	ktime_t deadline;
	struct dma_fence __rcu *hw;
};

/* A bit of &dma_fence.flags. */
#define DEPQ_FENCE_HAS_DEADLINE	DMA_FENCE_FLAG_USER_BITS

static struct kmem_cache *depq_fence_cache;

static struct depq_fence *to_depq_fence(struct dma_fence *fence)
{
	return container_of(fence, struct depq_fence, base);
}

static const char *depq_fence_driver_name(struct dma_fence *fence)
{
	return "depq";
}

static const char *depq_fence_timeline_name(struct dma_fence *fence)
{
	return to_depq_fence(fence)->timeline;
}

static void depq_fence_release(struct dma_fence *fence)
{
	/* depq_fence_exit() waits for callers in here. */
	rcu_read_lock();
	kmem_cache_free(depq_fence_cache, to_depq_fence(fence));
	module_put(THIS_MODULE);
	rcu_read_unlock();
}

/* Stores a deadline. Returns whether it is the earliest. */
static bool depq_fence_keep_deadline(struct depq_fence *fence, ktime_t deadline)
{
	unsigned long flags;
	bool earliest;

	spin_lock_irqsave(&fence->lock, flags);
	earliest = !test_bit(DEPQ_FENCE_HAS_DEADLINE, &fence->base.flags) ||
		   ktime_before(deadline, fence->deadline);
	if (earliest) {
		fence->deadline = deadline;
		set_bit(DEPQ_FENCE_HAS_DEADLINE, &fence->base.flags);
	}
	spin_unlock_irqrestore(&fence->lock, flags);
	return earliest;
}

/* Old kernels have no deadlines. */
static void __maybe_unused
depq_fence_set_deadline(struct dma_fence *base, ktime_t deadline)
{
	struct depq_fence *fence = to_depq_fence(base);
	struct dma_fence *hw;

	if (!depq_fence_keep_deadline(fence, deadline))
		return;
	smp_mb(); /* pairs with depq_fence_set_hw() */
	rcu_read_lock();
	hw = dma_fence_get_rcu_safe(&fence->hw);
	rcu_read_unlock();
	if (hw)
		dma_fence_set_deadline(hw, deadline);
	dma_fence_put(hw);
}

static const struct dma_fence_ops depq_fence_ops = {
	.get_driver_name = depq_fence_driver_name,
	.get_timeline_name = depq_fence_timeline_name,
	.release = depq_fence_release,
#ifdef HAVE_DMA_FENCE_DEADLINE
	.set_deadline = depq_fence_set_deadline,
#endif
};

/* Runs once per object of the slab, which may hold several fences in turn. */
static void depq_fence_construct(void *memory)
{
	struct depq_fence *fence = memory;

	spin_lock_init(&fence->lock);
}

/**
 * depq_fence_create() - allocate a finished fence
 * @queue: the queue of its job
 *
 * Context: process, may sleep.
 * Return:
 * * the fence, with one reference and without a sequence number
 * * NULL - out of memory
 */
struct dma_fence *depq_fence_create(struct depq_queue *queue)
{
	struct depq_fence *fence;

	fence = kmem_cache_alloc(depq_fence_cache, GFP_KERNEL);
	if (!fence)
		return NULL;

	/* The caller's module depends on this one, so it cannot be unloaded. */
	__module_get(THIS_MODULE);
	memcpy(fence->timeline, queue->name, sizeof(fence->timeline));
	RCU_INIT_POINTER(fence->hw, NULL);
	dma_fence_init(&fence->base, &depq_fence_ops, &fence->lock,
		       queue->fence_context, 0);
	return &fence->base;
}

/**
 * depq_fence_set_hw() - record that the job was handed to the hardware
 * @finished: its finished fence
 * @hw: its hardware fence; the job keeps a reference until
 *	depq_fence_clear_hw()
 *
 * Context: any, under no lock of a fence.
 */
void depq_fence_set_hw(struct dma_fence *finished, struct dma_fence *hw)
{
	struct depq_fence *fence = to_depq_fence(finished);
	unsigned long flags;
	ktime_t deadline;

	rcu_assign_pointer(fence->hw, hw);
	smp_mb(); /* pairs with depq_fence_set_deadline() */
	if (!test_bit(DEPQ_FENCE_HAS_DEADLINE, &finished->flags))
		return;
	spin_lock_irqsave(&fence->lock, flags);
	deadline = fence->deadline;
	spin_unlock_irqrestore(&fence->lock, flags);
	dma_fence_set_deadline(hw, deadline);
}

/**
 * depq_fence_clear_hw() - called before the job drops its hardware fence
 * @finished: its finished fence
 *
 * Context: any.
 */
void depq_fence_clear_hw(struct dma_fence *finished)
{
	RCU_INIT_POINTER(to_depq_fence(finished)->hw, NULL);
}

/**
 * depq_fence_bytes() - memory used by one finished fence
 *
 * Context: any.
 * Return: bytes used by the allocator
 */
u32 depq_fence_bytes(void)
{
	return kmem_cache_size(depq_fence_cache);
}
EXPORT_SYMBOL_GPL(depq_fence_bytes);

/**
 * depq_fence_init() - prepare for depq_fence_create()
 *
 * Context: process, may sleep.
 * Return:
 * * 0 - success
 * * -ENOMEM - out of memory
 */
int depq_fence_init(void)
{
	depq_fence_cache = kmem_cache_create("depq_fence",
					     sizeof(struct depq_fence), 0,
					     SLAB_TYPESAFE_BY_RCU |
					     SLAB_ACCOUNT,
					     depq_fence_construct);
	return depq_fence_cache ? 0 : -ENOMEM;
}

/**
 * depq_fence_exit() - undo depq_fence_init()
 *
 * Context: process, may sleep. No fence exists any more, but the last ones may
 * still be on their way back to the allocator.
 */
void depq_fence_exit(void)
{
	/*
	 * Whoever drops the last reference to the module still returns through
	 * it: an interrupt ends within a grace period, and a preempted task
	 * has left the module once each task has slept or left the kernel.
	 */
	synchronize_rcu();
	synchronize_rcu_tasks();
	kmem_cache_destroy(depq_fence_cache);
}
