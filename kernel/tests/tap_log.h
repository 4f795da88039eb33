/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_LOG_H
#define TAP_LOG_H

#include "tap.h"

int tap_reserve(void);
int tap_reset(void);
unsigned int tap_lost(void);
void __printf(3, 0) tap_vline(unsigned int level, const char *mark,
			      const char *fmt, va_list args);
void __printf(2, 3) tap_line(unsigned int level, const char *fmt, ...);

#endif /* TAP_LOG_H */
