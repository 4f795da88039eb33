// SPDX-License-Identifier: GPL-2.0-only
/* What must not happen between commit and signal of a fence. */

#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/completion.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "planted.h"

/*
 * Reclaim may wait for the very fence that the section must signal. Memory is
 * not short here: lockdep must detect it from the order alone.
 */
int planted_alloc_while_signalling(void)
{
	bool cookie = dma_fence_begin_signalling();

	kfree(kmalloc(64, GFP_KERNEL));
	dma_fence_end_signalling(cookie);
	return 0;
}

static DEFINE_SPINLOCK(planted_fence_lock);
static DECLARE_COMPLETION(planted_expired);

static enum hrtimer_restart planted_interrupt(struct hrtimer *timer)
{
	unsigned long flags;

	spin_lock_irqsave(&planted_fence_lock, flags);
	spin_unlock_irqrestore(&planted_fence_lock, flags);
	complete(&planted_expired);
	return HRTIMER_NORESTART;
}

/*
 * A lock that an interrupt handler takes, taken by a process with interrupts
 * enabled. The two do not coincide here.
 */
int planted_signal_unsafe_lock(void)
{
	struct hrtimer timer;

	spin_lock(&planted_fence_lock);
	spin_unlock(&planted_fence_lock);

	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer.function = planted_interrupt;
	hrtimer_start(&timer, ms_to_ktime(1), HRTIMER_MODE_REL);
	wait_for_completion(&planted_expired);
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	return 0;
}
