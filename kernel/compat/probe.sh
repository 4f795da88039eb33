#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Prints -DHAVE_... for what the headers of a kernel have. It looks only into
# headers that the modules include: a change of those has them built again.
# usage: probe.sh INCLUDE...: directories in the order of the compiler's search
set -eu
includes=$*

# probe NAME FILE TEXT: whether the file that the compiler finds holds the text.
probe() {
	for include in $includes; do
		[ -e "$include/$2" ] || continue
		if grep -q -- "$3" "$include/$2" 2>/dev/null; then
			printf -- '-DHAVE_%s ' "$1"
		fi
		return 0
	done
}

probe DEVNODE_CONST linux/device.h '(\*devnode)(const struct device'
probe DMA_FENCE_CHECK linux/dma-fence.h 'dma_fence_check_and_signal('
probe DMA_FENCE_DEADLINE linux/dma-fence.h '(\*set_deadline)('
probe DRM_DRIVER_DATE drm/drm_drv.h 'char \*date;'
probe DRM_FDINFO drm/drm_drv.h '(\*show_fdinfo)('
probe DRM_GEM_LRU_MUTEX drm/drm_device.h 'struct mutex gem_lru_mutex;'
probe DRM_GEM_LRU_TICKET drm/drm_gem.h 'struct ww_acquire_ctx \*ticket'
probe DRM_GEM_PAGES_LOCK drm/drm_gem_shmem_helper.h 'struct mutex pages_lock;'
probe DRM_GEM_VMAP drm/drm_gem.h 'int drm_gem_vmap('
probe DRM_GEM_VMAP_UNLOCKED drm/drm_gem.h 'int drm_gem_vmap_unlocked('
probe DRM_SCHED_INIT_ARGS drm/gpu_scheduler.h '^struct drm_sched_init_args'
probe DRM_SCHED_CREDITS drm/gpu_scheduler.h 'credit_count;'
probe DRM_SCHED_CLIENT_ID drm/gpu_scheduler.h 'u64 drm_client_id);'
probe DRM_SCHED_NO_HANG drm/gpu_scheduler.h 'DRM_GPU_SCHED_STAT_NO_HANG,'
probe DRM_SCHED_PRIORITY_LOW drm/gpu_scheduler.h 'DRM_SCHED_PRIORITY_LOW,'
probe DRM_SCHED_START_ERRNO drm/gpu_scheduler.h 'drm_sched_start(.*int errno'
probe DRM_SCHED_START_FULL drm/gpu_scheduler.h 'drm_sched_start(.*bool full'
probe DRM_SCHED_STAT_RESET drm/gpu_scheduler.h 'DRM_GPU_SCHED_STAT_RESET,'
probe DRM_SCHED_WQUEUE drm/gpu_scheduler.h 'drm_sched_wqueue_stop('
probe FAUX_DEVICE linux/device/faux.h 'faux_device_create('
probe HRTIMER_SETUP linux/hrtimer.h 'hrtimer_setup('
probe KTHREAD_RUN_WORKER linux/kthread.h 'kthread_run_worker('
probe PLATFORM_REMOVE_INT linux/platform_device.h 'int (\*remove)(struct platform_device'
probe REP_MOVS_ALTERNATIVE asm/uaccess_64.h 'rep_movs_alternative'
probe SHRINKER_ALLOC linux/shrinker.h '\*shrinker_alloc('
probe SYSTEM_PERCPU_WQ linux/workqueue.h '\*system_percpu_wq;'
probe WQ_PERCPU linux/workqueue.h '^[[:space:]]WQ_PERCPU'
