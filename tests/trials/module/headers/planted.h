/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Found before the kernel's own linux/hrtimer.h: whoever starts a timer keeps
 * the CPU busy for 100 us first.
 */
#ifndef TRIAL_HRTIMER_H
#define TRIAL_HRTIMER_H

#define TRIAL_HRTIMER_US 100

#include_next <linux/hrtimer.h>
#include <asm/delay.h>

static inline void trial_hrtimer_start(struct hrtimer *timer, ktime_t time,
				       const enum hrtimer_mode mode)
{
	udelay(TRIAL_HRTIMER_US);
	hrtimer_start(timer, time, mode);
}

#define hrtimer_start trial_hrtimer_start

#endif
