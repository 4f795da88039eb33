/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_H
#define COMPAT_H

/*
 * All that differs between the kernels these modules are built for. HAVE_*
 * come from probe.sh, which looks for the thing itself and not for a version:
 * stable kernels change interfaces too.
 */

#include <linux/hrtimer.h>

#ifndef HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* COMPAT_H */
