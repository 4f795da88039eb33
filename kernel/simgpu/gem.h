/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMGPU_GEM_H
#define SIMGPU_GEM_H

#include <linux/fs.h>
#include <linux/llist.h>

#include "../compat/drm_gem.h"
#include "simgpu.h"

/**
 * struct simgpu_object - a GEM object
 * @shmem: state of DRM's helpers
 * @unneeded: may be purged; under its reservation, as is @purged
 * @purged: was purged since it was last needed
 * @listed: scans of the shrinker may find it, as it was unneeded; likewise
 * @freed: link to the next object to be freed
 */
struct simgpu_object {
	struct drm_gem_shmem_object shmem;
	bool unneeded;
	bool purged;
	bool listed;
	struct llist_node freed;
};

static inline struct simgpu_object *
to_simgpu_object(struct drm_gem_object *base)
{
	return container_of(to_drm_gem_shmem_obj(base), struct simgpu_object,
			    shmem);
}

/* Whether the object has pages in memory; once mapped, it has all of them. */
static inline bool simgpu_object_resident(const struct drm_gem_object *base)
{
	return base->filp && READ_ONCE(base->filp->f_mapping->nrpages);
}

/* shrinker.c */
void simgpu_shrinker_free(struct simgpu_object *object);

#endif /* SIMGPU_GEM_H */
