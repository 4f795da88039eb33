/* SPDX-License-Identifier: GPL-2.0-only */
/* What is to be made of a line of the kernel's log. */
#ifndef KMSG_H
#define KMSG_H

#include <stdbool.h>
#include <string.h>

/*
 * Whether a line is KCSAN's about a data race in which neither access is in
 * the modules under test. The kernel has such races of its own, drm_sched as
 * well (strict KCSAN reports those that are meant, too), and they say nothing
 * about the modules. Who runs the test may list them.
 */
static inline bool is_race_elsewhere(const char *line)
{
	return strstr(line, "KCSAN: ") && !strstr(line, "[depq") &&
	       !strstr(line, "[simgpu]");
}

#endif /* KMSG_H */
