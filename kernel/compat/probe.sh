#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Prints -DHAVE_... for what the headers of a kernel have.
# usage: probe.sh SRCTREE
set -eu
include=$1/include

# probe NAME FILE TEXT: whether the file holds the text.
probe() {
	if grep -q -- "$3" "$include/$2" 2>/dev/null; then
		printf -- '-DHAVE_%s ' "$1"
	fi
}

probe DRM_SCHED_INIT_ARGS drm/gpu_scheduler.h '^struct drm_sched_init_args'
probe HRTIMER_SETUP linux/hrtimer.h 'hrtimer_setup('
probe KTHREAD_RUN_WORKER linux/kthread.h 'kthread_run_worker('
