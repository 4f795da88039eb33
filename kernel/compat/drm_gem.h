/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_DRM_GEM_H
#define COMPAT_DRM_GEM_H

#include <linux/mutex.h>

#include <drm/drm_device.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_shmem_helper.h>

/*
 * Mapping a GEM object into the kernel: who locks its reservation, and whether
 * drivers can call the function. If they cannot, nobody locks it.
 */

#if defined(HAVE_DRM_GEM_VMAP_UNLOCKED)
#define compat_gem_vmap drm_gem_vmap_unlocked
#define compat_gem_vunmap drm_gem_vunmap_unlocked
#elif defined(HAVE_DRM_GEM_VMAP)
#define compat_gem_vmap drm_gem_vmap
#define compat_gem_vunmap drm_gem_vunmap
#else
static inline int compat_gem_vmap(struct drm_gem_object *object,
				  struct iosys_map *map)
{
	return object->funcs->vmap(object, map);
}

static inline void compat_gem_vunmap(struct drm_gem_object *object,
				     struct iosys_map *map)
{
	object->funcs->vunmap(object, map);
}
#endif

/*
 * The lock for the pages of an object from shmem: its reservation, which the
 * caller holds, or also a mutex under which memory is allocated.
 */
static inline bool compat_gem_pages_trylock(struct drm_gem_shmem_object *shmem)
{
#ifdef HAVE_DRM_GEM_PAGES_LOCK
	return mutex_trylock(&shmem->pages_lock);
#else
	return true;
#endif
}

static inline void compat_gem_pages_unlock(struct drm_gem_shmem_object *shmem)
{
#ifdef HAVE_DRM_GEM_PAGES_LOCK
	mutex_unlock(&shmem->pages_lock);
#endif
}

/*
 * Lists of objects in order of last use: old kernels are given a
 * mutex, new ones use that of the device. The scan may lock other reservations
 * too, with a ticket, which is not used here.
 */
#ifdef HAVE_DRM_GEM_LRU_TICKET
typedef bool (*compat_gem_shrink_fn)(struct drm_gem_object *object,
				     struct ww_acquire_ctx *ticket);
#define COMPAT_GEM_SHRINK(name) \
	bool name(struct drm_gem_object *base, struct ww_acquire_ctx *ticket)
#else
typedef bool (*compat_gem_shrink_fn)(struct drm_gem_object *object);
#define COMPAT_GEM_SHRINK(name) bool name(struct drm_gem_object *base)
#endif

static inline void compat_gem_lru_init(struct drm_gem_lru *lru,
				       struct mutex *mutex)
{
#ifdef HAVE_DRM_GEM_LRU_MUTEX
	drm_gem_lru_init(lru);
#else
	drm_gem_lru_init(lru, mutex);
#endif
}

static inline struct mutex *compat_gem_lru_mutex(struct drm_device *drm,
						 struct mutex *mutex)
{
#ifdef HAVE_DRM_GEM_LRU_MUTEX
	return &drm->gem_lru_mutex;
#else
	return mutex;
#endif
}

static inline unsigned long compat_gem_lru_scan(struct drm_device *drm,
						struct drm_gem_lru *lru,
						unsigned int n,
						unsigned long *remaining,
						compat_gem_shrink_fn shrink)
{
#if defined(HAVE_DRM_GEM_LRU_MUTEX)
	return drm_gem_lru_scan(drm, lru, n, remaining, shrink, NULL);
#elif defined(HAVE_DRM_GEM_LRU_TICKET)
	return drm_gem_lru_scan(lru, n, remaining, shrink, NULL);
#else
	return drm_gem_lru_scan(lru, n, remaining, shrink);
#endif
}

#endif /* COMPAT_DRM_GEM_H */
