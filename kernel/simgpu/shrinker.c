// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: memory that user space can do without
 *
 * User space may say of a GEM object that it does not need what that holds
 * (&simgpu_gem_madvise). When memory is short, the kernel asks the shrinker, and
 * objects lose their pages, those first that have been unneeded for longest. An
 * object that has lost them is as good as new: zeros, and user space learns
 * of it when it says that it needs it again.
 *
 * ============  ====================  ====================================
 * state         on the list           ends with
 * ============  ====================  ====================================
 * needed        none, or needed       DONTNEED
 * unneeded      unneeded              WILLNEED, or the shrinker: purged
 * purged        needed                WILLNEED, DONTNEED (still purged then)
 * ============  ====================  ====================================
 *
 * Pages stay while somebody has them: a mapping of user space, a context whose
 * jobs write to them, an importer. To take those would free nothing. What is
 * exported is not ours alone to forget, and stays too.
 *
 * Jobs that use an object may still be running. First all that are idle are
 * taken. If that was not enough, the shrinker waits for the jobs of the others,
 * but for no longer than %SIMGPU_RECLAIM_WAIT, and only
 *
 * - where everything may be waited for (GFP_KERNEL): who allocates with less may
 *   be on the way to the very fence;
 * - not in kswapd, which has others to care for.
 *
 * So memory may depend on fences, and nothing that ends in the signal of a fence
 * may depend on memory: workqueues on the way have %WQ_MEM_RECLAIM, and what they
 * do is marked by dma_fence_begin_signalling(). That reclaim waits for fences is
 * known to lockdep from the kernel (dma_resv_lockdep()); that it takes our
 * mutexes we say when the shrinker is made, so that lockdep need not see memory
 * being short. The bound is for jobs that need user space to go on
 * (%SIMGPU_CONTROL_STOP): no real driver may have these.
 *
 * Locks: reservation → &simgpu_shrinker.lru_mutex. The scan only tries to lock
 * reservations, as their holders may be who allocates.
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

/* In all, for the objects of one scan; hung jobs may take longer. */
#define SIMGPU_RECLAIM_WAIT	HZ

static struct simgpu_shrinker *shrinker_of(struct drm_gem_object *base)
{
	return &container_of(base->dev, struct simgpu_device, drm)->shrinker;
}

/* ---- What user space says ---- */

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
		/* Which list it is on may be read under the mutex only. */
		if (object->listed)
			drm_gem_lru_move_tail(&shrinker->needed, base);
	}
	return retained;
}

/**
 * simgpu_gem_madvise() - whether an object is needed
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
	int error = -EINVAL;

	if (args->advice > SIMGPU_GEM_DONTNEED || args->pad)
		return -EINVAL;
	base = drm_gem_object_lookup(file->drm, args->handle);
	if (!base)
		return -ENOENT;
	/* Its pages are those of its exporter. */
	if (!base->import_attach)
		error = dma_resv_lock_interruptible(base->resv, NULL);
	if (!error) {
		args->retained = simgpu_advise(to_simgpu_object(base),
					       args->advice);
		dma_resv_unlock(base->resv);
	}
	drm_gem_object_put(base);
	return error == -EINTR ? -ERESTARTSYS : error;
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
 * @object: to which there is no reference any more
 *
 * That takes its reservation. A scan has a reference to each object that it looks
 * at, so the last one may be dropped in reclaim, which may have come from where
 * reservations are held. So what scans may meet is freed by a work item.
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
	 * What removes it later reads which list it is on without the mutex,
	 * and a scan has one on its stack for those it has looked at: that must
	 * not be it.
	 */
	drm_gem_lru_move_tail(&shrinker->needed, base);
	if (llist_add(&object->freed, &shrinker->freed))
		queue_work(system_unbound_wq, &shrinker->free_work);
}

/* ---- What the kernel asks ---- */

static bool simgpu_purgeable(struct simgpu_object *object)
{
	struct drm_gem_object *base = &object->shmem.base;

	dma_resv_assert_held(base->resv);
	return object->unneeded && !base->dma_buf && !object->shmem.pages &&
	       simgpu_object_resident(base);
}

/* Takes the pages of an object that no job uses; none comes meanwhile. */
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

/* Whether whoever wants memory may wait for a fence. */
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

/* ---- The device's ---- */

/**
 * simgpu_shrinker_init() - offer the memory of objects to the kernel
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
 * simgpu_shrinker_fini() - the opposite
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
 * simgpu_shrinker_show() - tell what may be taken and what was
 * @dev: the device
 * @m: where to
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
