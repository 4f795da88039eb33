// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: purgeable memory
 *
 * User space may declare that it does not need the contents of a GEM object
 * (&simgpu_gem_madvise). When memory is short, the kernel calls the shrinker, and
 * objects are purged, those first that have been unneeded for longest. A
 * purged object is as good as new: all zeros. User space learns
 * that it was purged when it declares that it needs the object again.
 *
 * ============  ====================  ====================================
 * state         on the list           ends with
 * ============  ====================  ====================================
 * needed        none, or needed       DONTNEED
 * unneeded      unneeded              WILLNEED, or the shrinker: purged
 * purged        needed                WILLNEED, DONTNEED (still purged then)
 * ============  ====================  ====================================
 *
 * Pages stay while they are in use: by a mapping of user space, a context whose
 * jobs write to them, or an importer. Taking those would free nothing. Exported
 * objects also stay, as other users may need their contents.
 *
 * Jobs that use an object may still be running. First, all idle objects are
 * purged. If that was not enough, the shrinker waits for the jobs of the others,
 * for at most %SIMGPU_RECLAIM_WAIT, and only
 *
 * - if the allocation may wait for anything (GFP_KERNEL): otherwise it may
 *   be needed to signal that very fence;
 * - not in kswapd, which must not be held up.
 *
 * So memory may depend on fences, and nothing on the way to signalling a fence
 * may depend on memory: workqueues on the way have %WQ_MEM_RECLAIM, and the
 * work is annotated with dma_fence_begin_signalling(). The kernel tells lockdep
 * that reclaim waits for fences (dma_resv_lockdep()); we tell it that reclaim takes
 * our mutexes when the shrinker is created, so that lockdep need not see memory
 * being short. The limit is for jobs that need user space to continue
 * (%SIMGPU_CONTROL_STOP), which no real driver may have.
 *
 * Locks: reservation -> &simgpu_shrinker.lru_mutex. The scan only uses trylock on
 * reservations, as their holders may be allocating.
 */

#include <linux/dma-resv.h>
#include <linux/jiffies.h>
#include <linux/llist.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/shmem_fs.h>
#include <linux/swap.h>
#include <linux/workqueue.h>

#include "../compat/shrinker.h"
#include "file.h"
#include "gem.h"

/* Total wait for the objects of one scan; hung jobs may take longer. */
#define SIMGPU_RECLAIM_WAIT	HZ

static struct simgpu_shrinker *shrinker_of(struct drm_gem_object *base)
{
	return &container_of(base->dev, struct simgpu_device, drm)->shrinker;
}

/* ---- Advice from user space ---- */

static u32 simgpu_advise(struct simgpu_object *object, u32 advice)
{
	struct drm_gem_object *base = &object->shmem.base;
	struct simgpu_shrinker *shrinker = shrinker_of(base);
	bool retained = !object->purged;

	dma_resv_assert_held(base->resv);
	WRITE_ONCE(object->unneeded, advice == SIMGPU_GEM_DONTNEED);
	if (object->unneeded) {
		object->listed = true;
		drm_gem_lru_move_tail(&shrinker->unneeded, base);
	} else {
		object->purged = false;
		/* The list that it is on may only be read under the mutex. */
		if (object->listed)
			drm_gem_lru_move_tail(&shrinker->needed, base);
	}
	return retained;
}

/**
 * simgpu_gem_madvise() - set whether an object is needed
 * @file: that has the handle
 * @args: in and out
 *
 * Context: process, sleeps.
 * Return: 0, -EINVAL, -ENOENT or -ERESTARTSYS.
 */
int simgpu_gem_madvise(struct simgpu_file *file,
		       struct simgpu_gem_madvise *args)
{
	struct drm_gem_object *base;
	int ret = -EINVAL;

	if (args->advice > SIMGPU_GEM_DONTNEED || args->pad)
		return -EINVAL;
	base = drm_gem_object_lookup(file->drm, args->handle);
	if (!base)
		return -ENOENT;
	/* An imported object's pages belong to its exporter. */
	if (!base->import_attach)
		ret = dma_resv_lock_interruptible(base->resv, NULL);
	if (!ret) {
		args->retained = simgpu_advise(to_simgpu_object(base),
					       args->advice);
		dma_resv_unlock(base->resv);
	}
	drm_gem_object_put(base);
	return ret == -EINTR ? -ERESTARTSYS : ret;
}

static void simgpu_shrinker_free_work(struct work_struct *work)
{
	struct simgpu_shrinker *shrinker =
		container_of(work, struct simgpu_shrinker, free_work);
	struct simgpu_object *object, *next;

	llist_for_each_entry_safe(object, next, llist_del_all(&shrinker->freed),
				  freed)
		drm_gem_shmem_object_free(&object->shmem.base);
}

/**
 * simgpu_shrinker_free() - free an object
 * @object: the object, without references
 *
 * Freeing takes its reservation. A scan holds a reference to each object that it
 * examines, so the last one may be dropped in reclaim, possibly while the
 * allocating thread holds reservations. So objects that scans may find are freed
 * by a work item.
 *
 * Context: process, sleeps; reclaim too.
 */
void simgpu_shrinker_free(struct simgpu_object *object)
{
	struct drm_gem_object *base = &object->shmem.base;
	struct simgpu_shrinker *shrinker = shrinker_of(base);

	if (!object->listed) {
		drm_gem_shmem_object_free(base);
		return;
	}
	/*
	 * The code that removes it later reads which list it is on without the
	 * mutex, and a scan has a list on its stack for objects that it has
	 * examined: that must not be the one.
	 */
	drm_gem_lru_move_tail(&shrinker->needed, base);
	if (llist_add(&object->freed, &shrinker->freed))
		queue_work(system_unbound_wq, &shrinker->free_work);
}

/* ---- Requests from the kernel ---- */

static bool simgpu_purgeable(struct simgpu_object *object)
{
	struct drm_gem_object *base = &object->shmem.base;

	dma_resv_assert_held(base->resv);
	return object->unneeded && !base->dma_buf && !object->shmem.pages &&
	       simgpu_object_resident(base);
}

/* Purges an object that no job uses; none is added meanwhile. */
static bool simgpu_purge(struct simgpu_object *object)
{
	struct drm_gem_object *base = &object->shmem.base;
	struct simgpu_shrinker *shrinker = shrinker_of(base);
	bool purge;

	if (!compat_gem_pages_trylock(&object->shmem))
		return false;
	purge = simgpu_purgeable(object);
	if (purge) {
		shmem_truncate_range(file_inode(base->filp), 0, (loff_t)-1);
		object->purged = true;
		drm_gem_lru_move_tail(&shrinker->needed, base);
		atomic64_inc(&shrinker->purged);
		atomic64_add(base->size >> PAGE_SHIFT, &shrinker->purged_pages);
	}
	compat_gem_pages_unlock(&object->shmem);
	return purge;
}

static COMPAT_GEM_SHRINK(simgpu_purge_idle)
{
	return dma_resv_test_signaled(base->resv, DMA_RESV_USAGE_BOOKKEEP) &&
	       simgpu_purge(to_simgpu_object(base));
}

static COMPAT_GEM_SHRINK(simgpu_purge_busy)
{
	struct simgpu_shrinker *shrinker = shrinker_of(base);
	long left = (long)(shrinker->wait_end - jiffies);

	lockdep_assert_held(&shrinker->wait_mutex);
	if (left <= 0 || !simgpu_purgeable(to_simgpu_object(base)))
		return false;
	atomic64_inc(&shrinker->waits);
	if (dma_resv_wait_timeout(base->resv, DMA_RESV_USAGE_BOOKKEEP, false,
				  left) <= 0) {
		atomic64_inc(&shrinker->timeouts);
		return false;
	}
	return simgpu_purge(to_simgpu_object(base));
}

static unsigned long simgpu_shrinker_count(struct shrinker *kernels,
					   struct shrink_control *sc)
{
	struct simgpu_device *dev = compat_shrinker_private(kernels);

	return max(READ_ONCE(dev->shrinker.unneeded.count), 0L);
}

/* Whether the allocating thread may wait for a fence. */
static bool simgpu_may_wait(const struct shrink_control *sc)
{
	return (sc->gfp_mask & GFP_KERNEL) == GFP_KERNEL && !current_is_kswapd();
}

static unsigned long simgpu_shrinker_scan(struct shrinker *kernels,
					  struct shrink_control *sc)
{
	struct simgpu_device *dev = compat_shrinker_private(kernels);
	struct simgpu_shrinker *shrinker = &dev->shrinker;
	unsigned long freed, remaining = 0;

	freed = compat_gem_lru_scan(&dev->drm, &shrinker->unneeded,
				    sc->nr_to_scan, &remaining,
				    simgpu_purge_idle);
	if (freed < sc->nr_to_scan && remaining && simgpu_may_wait(sc)) {
		mutex_lock(&shrinker->wait_mutex);
		shrinker->wait_end = jiffies + SIMGPU_RECLAIM_WAIT;
		freed += compat_gem_lru_scan(&dev->drm, &shrinker->unneeded,
					     sc->nr_to_scan - freed, &remaining,
					     simgpu_purge_busy);
		mutex_unlock(&shrinker->wait_mutex);
	}
	return freed ?: SHRINK_STOP;
}

/* ---- Set-up and clean-up ---- */

/**
 * simgpu_shrinker_init() - register the shrinker
 * @dev: the device
 *
 * Context: process, sleeps.
 * Return: 0 or -ENOMEM.
 */
int simgpu_shrinker_init(struct simgpu_device *dev)
{
	struct simgpu_shrinker *shrinker = &dev->shrinker;

	mutex_init(&shrinker->lru_mutex);
	mutex_init(&shrinker->wait_mutex);
	init_llist_head(&shrinker->freed);
	INIT_WORK(&shrinker->free_work, simgpu_shrinker_free_work);
	compat_gem_lru_init(&shrinker->needed, &shrinker->lru_mutex);
	compat_gem_lru_init(&shrinker->unneeded, &shrinker->lru_mutex);

	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(&shrinker->wait_mutex);
	might_lock(compat_gem_lru_mutex(&dev->drm, &shrinker->lru_mutex));
	fs_reclaim_release(GFP_KERNEL);

	shrinker->shrinker = compat_shrinker_create("drm-simgpu",
						    simgpu_shrinker_count,
						    simgpu_shrinker_scan, dev);
	return shrinker->shrinker ? 0 : -ENOMEM;
}

/**
 * simgpu_shrinker_fini() - undo simgpu_shrinker_init()
 * @dev: the device, which has no objects any more
 *
 * Context: process, sleeps.
 */
void simgpu_shrinker_fini(struct simgpu_device *dev)
{
	struct simgpu_shrinker *shrinker = &dev->shrinker;

	if (shrinker->shrinker)
		compat_shrinker_destroy(shrinker->shrinker);
	flush_work(&shrinker->free_work);
	WARN_ON_ONCE(!list_empty(&shrinker->unneeded.list));
	mutex_destroy(&shrinker->wait_mutex);
	mutex_destroy(&shrinker->lru_mutex);
}

/**
 * simgpu_shrinker_show() - print what may be purged and what was
 * @dev: the device
 * @m: the output
 *
 * Context: process.
 */
void simgpu_shrinker_show(struct simgpu_device *dev, struct seq_file *m)
{
	struct simgpu_shrinker *shrinker = &dev->shrinker;

	seq_printf(m, "unneeded_pages %ld\npurged %lld\npurged_pages %lld\nwaits %lld\ntimeouts %lld\n",
		   READ_ONCE(shrinker->unneeded.count),
		   (long long)atomic64_read(&shrinker->purged),
		   (long long)atomic64_read(&shrinker->purged_pages),
		   (long long)atomic64_read(&shrinker->waits),
		   (long long)atomic64_read(&shrinker->timeouts));
}
