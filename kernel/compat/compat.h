/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_H
#define COMPAT_H

/*
 * All differences between the kernels that these modules are built for. HAVE_*
 * come from probe.sh, which tests for the feature itself rather than a version:
 * stable kernels change interfaces too.
 */

#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/workqueue.h>

#ifndef HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#ifndef HAVE_KTHREAD_RUN_WORKER
#define kthread_run_worker(flags, ...) kthread_create_worker(flags, __VA_ARGS__)
#endif

/* If these are missing, every fence uses a lock of its owner. */
#ifndef dma_fence_lock_irqsave
#define dma_fence_lock_irqsave(fence, flags) \
	spin_lock_irqsave((fence)->lock, flags)
#define dma_fence_unlock_irqrestore(fence, flags) \
	spin_unlock_irqrestore((fence)->lock, flags)
#endif

/* The workqueue of schedule_work(). */
#ifndef HAVE_SYSTEM_PERCPU_WQ
#define system_percpu_wq system_wq
#endif

/* In old kernels, workqueues are per CPU unless WQ_UNBOUND is given. */
#ifndef HAVE_WQ_PERCPU
#define WQ_PERCPU 0
#endif

/* Whether the fence had already signalled; old kernels return an error then. */
#ifndef HAVE_DMA_FENCE_CHECK
static inline bool dma_fence_check_and_signal(struct dma_fence *fence)
{
	return dma_fence_signal(fence);
}
#endif

/* Old ones have no deadlines. */
#ifndef HAVE_DMA_FENCE_DEADLINE
static inline void dma_fence_set_deadline(struct dma_fence *fence,
					  ktime_t deadline)
{
}
#endif

#endif /* COMPAT_H */
