// SPDX-License-Identifier: GPL-2.0-only
/* Locks taken in the wrong order, and sleeping where that is not allowed. */

#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "planted.h"

static DEFINE_MUTEX(planted_a);
static DEFINE_MUTEX(planted_b);

/* One thread does both, so nothing locks up; lockdep must see the order. */
int planted_lock_inversion(void)
{
	mutex_lock(&planted_a);
	mutex_lock(&planted_b);
	mutex_unlock(&planted_b);
	mutex_unlock(&planted_a);

	mutex_lock(&planted_b);
	mutex_lock(&planted_a);
	mutex_unlock(&planted_a);
	mutex_unlock(&planted_b);
	return 0;
}

static DEFINE_SPINLOCK(planted_lock);
static DEFINE_RAW_SPINLOCK(planted_raw_lock);

/* On PREEMPT_RT the inner one sleeps. */
int planted_raw_lock_nesting(void)
{
	raw_spin_lock(&planted_raw_lock);
	spin_lock(&planted_lock);
	spin_unlock(&planted_lock);
	raw_spin_unlock(&planted_raw_lock);
	return 0;
}

int planted_sleep_in_atomic(void)
{
	spin_lock(&planted_lock);
	might_sleep();
	spin_unlock(&planted_lock);
	return 0;
}
