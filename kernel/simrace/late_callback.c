// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: late callback
 *
 * A timer watches an object, which another CPU frees. That CPU first cancels
 * the timer, but does not wait for a callback that is running. The fix is
 * hrtimer_cancel().
 *
 * Fails if the object is freed while the callback runs: it uses freed memory.
 */

#include <linux/bug.h>
#include <linux/hrtimer.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "../compat/compat.h"
#include "simrace.h"

/* Time from the preparation to the expiry, without the random spread. */
#define LATE_CALLBACK_AFTER_NS	25000
#define LATE_CALLBACK_SPREAD_NS	100000

struct late_callback_watch {
	u32 alive;
	struct hrtimer timer;
	u64 expired;
};

static struct late_callback_watch *late_callback_watch;

/* Context: hard interrupt of the timer. */
static enum hrtimer_restart late_callback_expire(struct hrtimer *timer)
{
	struct late_callback_watch *watch;

	watch = container_of(timer, struct late_callback_watch, timer);
	WARN_ONCE(READ_ONCE(watch->alive) != SIMRACE_ALIVE,
		  "simrace: a callback uses a freed object\n");
	return HRTIMER_NORESTART;
}

/* Context: interrupt on the CPU on which the timer is to expire. */
static void late_callback_arm(void *data)
{
	struct late_callback_watch *watch = data;
	u32 more_ns = simrace_draw(LATE_CALLBACK_SPREAD_NS);

	hrtimer_start(&watch->timer,
		      ns_to_ktime(LATE_CALLBACK_AFTER_NS + more_ns),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static int late_callback_prepare(void)
{
	struct late_callback_watch *watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	int ret;

	if (!watch)
		return -ENOMEM;
	watch->alive = SIMRACE_ALIVE;
	hrtimer_setup(&watch->timer, late_callback_expire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	late_callback_watch = watch;
	ret = smp_call_function_single(simrace_cpu(1), late_callback_arm, watch,
				       true);
	if (ret)
		kfree(watch);
	return ret;
}

static void late_callback_free(void)
{
	struct late_callback_watch *watch = late_callback_watch;

	if (simrace_fixed())
		hrtimer_cancel(&watch->timer);
	else
		hrtimer_try_to_cancel(&watch->timer);
	WRITE_ONCE(watch->alive, SIMRACE_DEAD);
	kfree(watch);
}

const struct simrace_race simrace_late_callback = {
	.name = "late-callback",
	.parts = 1,
	.spread_ns = LATE_CALLBACK_SPREAD_NS,
	.prepare = late_callback_prepare,
	.part = { { late_callback_free } },
};
