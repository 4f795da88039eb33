/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_DRM_GEM_H
#define COMPAT_DRM_GEM_H

/*
 * Mapping a GEM object into the kernel: who locks its reservation, and whether
 * drivers can call what does. Where they cannot, nobody locks it.
 */

#include <drm/drm_gem.h>

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

#endif /* COMPAT_DRM_GEM_H */
