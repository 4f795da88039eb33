/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_H
#define COMPAT_H

/*
 * All that differs between the kernels these modules are built for. HAVE_*
 * come from probe.sh, which looks for the thing itself and not for a version:
 * stable kernels change interfaces too.
 */

#include <linux/hrtimer.h>
#include <linux/kthread.h>

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

#endif /* COMPAT_H */
