/* SPDX-License-Identifier: GPL-2.0-only */
/* Classification of kernel log lines. */
#ifndef KMSG_H
#define KMSG_H

#include <stdbool.h>
#include <string.h>

/*
 * Whether a line is from KCSAN about a data race in which neither access is in
 * the modules under test. The kernel has such races itself, including drm_sched
 * (strict KCSAN also reports intentional ones), and they say nothing
 * about the modules. The caller of the test may list them.
 */
static inline bool is_race_elsewhere(const char *line)
{
	return strstr(line, "KCSAN: ") && !strstr(line, "[depq") &&
	       !strstr(line, "[simgpu]");
}

#endif /* KMSG_H */
