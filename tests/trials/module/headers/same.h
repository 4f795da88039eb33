/* SPDX-License-Identifier: GPL-2.0-only */
/* Found before the kernel's own linux/hrtimer.h, and nothing but that. */
#include_next <linux/hrtimer.h>
