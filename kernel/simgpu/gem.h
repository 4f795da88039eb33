/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMGPU_GEM_H
#define SIMGPU_GEM_H

#include <linux/fs.h>
#include <linux/llist.h>

#include "../compat/drm_gem.h"
#include "simgpu.h"

/**
 * struct simgpu_object - a GEM object
 * @shmem: what DRM's helpers know of it
 * @unneeded: its pages may be taken; under its reservation, as is @purged
 * @purged: they were, since it was last needed
 * @listed: scans of the shrinker may meet it, as it has been unneeded; likewise
 * @freed: to the next that is to be freed
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

/* Whether pages of the object are in memory; all are, once it was mapped. */
static inline bool simgpu_object_resident(const struct drm_gem_object *base)
{
	return base->filp && READ_ONCE(base->filp->f_mapping->nrpages);
}

/* shrinker.c */
void simgpu_shrinker_free(struct simgpu_object *object);

#endif /* SIMGPU_GEM_H */
