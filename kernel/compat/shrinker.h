/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMPAT_SHRINKER_H
#define COMPAT_SHRINKER_H

/*
 * Shrinkers: old kernels register one that the driver has allocated and that
 * has no pointer for it. HAVE_* come from probe.sh.
 */

#include <linux/shrinker.h>
#include <linux/slab.h>

typedef unsigned long (*compat_shrinker_fn)(struct shrinker *shrinker,
					    struct shrink_control *sc);

#ifdef HAVE_SHRINKER_ALLOC

static inline struct shrinker *compat_shrinker_create(const char *name,
						      compat_shrinker_fn count,
						      compat_shrinker_fn scan,
						      void *private)
{
	struct shrinker *shrinker = shrinker_alloc(0, "%s", name);

	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker->private_data = private;
	shrinker_register(shrinker);
	return shrinker;
}

static inline void *compat_shrinker_private(const struct shrinker *shrinker)
{
	return shrinker->private_data;
}

#define compat_shrinker_destroy shrinker_free

#else

struct compat_shrinker {
	struct shrinker base;
	void *private;
};

static inline struct shrinker *compat_shrinker_create(const char *name,
						      compat_shrinker_fn count,
						      compat_shrinker_fn scan,
						      void *private)
{
	struct compat_shrinker *shrinker;

	shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);
	if (!shrinker)
		return NULL;
	shrinker->base.count_objects = count;
	shrinker->base.scan_objects = scan;
	shrinker->base.seeks = DEFAULT_SEEKS;
	shrinker->private = private;
	if (register_shrinker(&shrinker->base, "%s", name)) {
		kfree(shrinker);
		return NULL;
	}
	return &shrinker->base;
}

static inline void *compat_shrinker_private(struct shrinker *shrinker)
{
	return container_of(shrinker, struct compat_shrinker, base)->private;
}

static inline void compat_shrinker_destroy(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(container_of(shrinker, struct compat_shrinker, base));
}

#endif

#endif /* COMPAT_SHRINKER_H */
