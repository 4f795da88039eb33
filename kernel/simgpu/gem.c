// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: GEM objects
 *
 * Memory from shmem, with everything that DRM's shmem helpers provide: handles,
 * mmap, PRIME. This file adds two uses of objects; shrinker.c purges them
 * when memory is short and user space does not need them.
 *
 * A context may have one that its jobs write to (&simgpu_create.memory). The
 * engine writes in interrupts, so the object is mapped into the kernel, and stays
 * in memory, from the creation of the context until the end of its teardown.
 *
 * A submission may name objects that its jobs use, for implicit synchronization:
 *
 * 1. look them up and lock their reservations, all or none;
 * 2. reserve one fence slot per job in each, and make each job depend on
 *    the existing fences: readers on writers, writers on all;
 * 3. commit the jobs and add their fences;
 * 4. unlock.
 *
 * User memory must not be accessed while reservations are locked, since
 * faults on mapped objects take these locks. So the results of a submission are
 * written before that, and the old contents are restored if step 2 fails.
 */

#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_vma_manager.h>

#include "../compat/drm_gem.h"
#include "backend.h"
#include "gem.h"
#include "submit.h"

#define SIMGPU_OBJECTS_MAX	64

static void simgpu_gem_free(struct drm_gem_object *base)
{
	simgpu_shrinker_free(to_simgpu_object(base));
}

#ifdef HAVE_DRM_FDINFO
static enum drm_gem_object_status simgpu_gem_status(struct drm_gem_object *base)
{
	enum drm_gem_object_status status = 0;

	if (simgpu_object_resident(base))
		status |= DRM_GEM_OBJECT_RESIDENT;
	if (READ_ONCE(to_simgpu_object(base)->unneeded))
		status |= DRM_GEM_OBJECT_PURGEABLE;
	return status;
}
#endif

static const struct drm_gem_object_funcs simgpu_gem_funcs = {
	.free = simgpu_gem_free,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = drm_gem_shmem_object_mmap,
#ifdef HAVE_DRM_FDINFO
	.status = simgpu_gem_status,
#endif
	.vm_ops = &drm_gem_shmem_vm_ops,
};

/**
 * simgpu_gem_alloc() - allocate an object for the shmem helpers of DRM
 * @drm: the device
 * @size: of the object
 *
 * Context: process, sleeps.
 * Return: the object, for the helpers to fill in, or -ENOMEM.
 */
struct drm_gem_object *simgpu_gem_alloc(struct drm_device *drm, size_t size)
{
	struct simgpu_object *object = kzalloc(sizeof(*object), GFP_KERNEL);

	if (!object)
		return ERR_PTR(-ENOMEM);
	object->shmem.base.funcs = &simgpu_gem_funcs;
	/* The CPU writes through mappings that shmem does not know about. */
	object->shmem.pages_mark_dirty_on_put = true;
	return &object->shmem.base;
}

/**
 * simgpu_gem_create() - create an object
 * @file: the file that will own it
 * @args: in and out
 *
 * Context: process, sleeps.
 * Return: 0, -EINVAL, -ENOMEM, or an error of drm_gem_handle_create().
 */
int simgpu_gem_create(struct simgpu_file *file, struct simgpu_gem_create *args)
{
	struct drm_gem_shmem_object *shmem;
	int ret;

	if (!args->size || args->size > SIMGPU_OBJECT_BYTES_MAX || args->flags ||
	    args->handle)
		return -EINVAL;
	args->size = PAGE_ALIGN(args->size);
	shmem = drm_gem_shmem_create(&file->dev->drm, args->size);
	if (IS_ERR(shmem))
		return PTR_ERR(shmem);
	ret = drm_gem_handle_create(file->drm, &shmem->base, &args->handle);
	/* The handle holds its own reference. */
	drm_gem_object_put(&shmem->base);
	return ret;
}

/**
 * simgpu_gem_mmap() - get the mmap() offset of an object
 * @file: the file that has the handle
 * @args: in and out
 *
 * Context: process, sleeps.
 * Return: 0, -EINVAL or -ENOENT.
 */
int simgpu_gem_mmap(struct simgpu_file *file, struct simgpu_gem_mmap *args)
{
	struct drm_gem_object *object;
	int ret = 0;

	if (args->pad)
		return -EINVAL;
	object = drm_gem_object_lookup(file->drm, args->handle);
	if (!object)
		return -ENOENT;
	/* Imported objects are mapped by their exporter. */
	if (object->import_attach)
		ret = -EINVAL;
	else
		args->offset = drm_vma_node_offset_addr(&object->vma_node);
	drm_gem_object_put(object);
	return ret;
}

/**
 * simgpu_memory_attach() - map the memory that the jobs of a context write to
 * @file: the file that has the handle
 * @handle: of the object; 0 for none
 * @memory: filled in; zeroed before
 *
 * Context: process, sleeps.
 * Return:
 * * 0 - success
 * * -ENOENT - there is no such handle
 * * -EINVAL - the CPU cannot write to the object as to normal memory
 * * -ENOMEM, or an error of the exporter of an imported object
 */
int simgpu_memory_attach(struct simgpu_file *file, u32 handle,
			 struct simgpu_memory *memory)
{
	struct drm_gem_object *object;
	struct iosys_map map;
	int ret;

	if (!handle)
		return 0;
	object = drm_gem_object_lookup(file->drm, handle);
	if (!object)
		return -ENOENT;
	ret = compat_gem_vmap(object, &map);
	if (!ret && map.is_iomem) {
		compat_gem_vunmap(object, &map);
		ret = -EINVAL;
	}
	if (ret) {
		drm_gem_object_put(object);
		return ret;
	}
	memory->object = object;
	memory->words = map.vaddr;
	memory->bytes = object->size;
	return 0;
}

/**
 * simgpu_memory_detach() - undo simgpu_memory_attach()
 * @memory: of a context that no longer writes to it; or none
 *
 * Context: process, sleeps.
 */
void simgpu_memory_detach(struct simgpu_memory *memory)
{
	struct iosys_map map = IOSYS_MAP_INIT_VADDR(memory->words);

	might_sleep();
	if (!memory->object)
		return;
	compat_gem_vunmap(memory->object, &map);
	drm_gem_object_put(memory->object);
	memory->object = NULL;
}

/**
 * simgpu_objects_get() - look up the objects that a submission names
 * @s: the submission; call simgpu_objects_put() even on failure
 *
 * Context: process, sleeps.
 * Return: 0, -EINVAL, -EFAULT, -ENOENT or -ENOMEM.
 */
int simgpu_objects_get(struct simgpu_submission *s)
{
	const struct simgpu_object_use __user *user =
		u64_to_user_ptr(s->args->objects);
	struct simgpu_uses *uses;
	u32 i;

	if (s->args->n_objects > SIMGPU_OBJECTS_MAX)
		return -EINVAL;
	if (!s->args->n_objects)
		return 0;
	uses = kzalloc(struct_size(uses, objects, s->args->n_objects),
		       GFP_KERNEL_ACCOUNT);
	if (!uses)
		return -ENOMEM;
	s->uses = uses;
	for (i = 0; i < s->args->n_objects; i++) {
		struct simgpu_object_use use;

		if (copy_from_user(&use, user + i, sizeof(use)))
			return -EFAULT;
		if (use.flags & ~SIMGPU_OBJECT_FLAGS)
			return -EINVAL;
		uses->objects[i] = drm_gem_object_lookup(s->file->drm,
							 use.handle);
		if (!uses->objects[i])
			return -ENOENT;
		uses->n++;
		if (use.flags & SIMGPU_OBJECT_WRITE)
			uses->written |= BIT_ULL(i);
	}
	return 0;
}

/**
 * simgpu_objects_put() - undo simgpu_objects_get(), complete or not
 * @s: the submission
 *
 * Context: process, sleeps.
 */
void simgpu_objects_put(struct simgpu_submission *s)
{
	struct simgpu_uses *uses = s->uses;

	if (!uses)
		return;
	while (uses->n)
		drm_gem_object_put(uses->objects[--uses->n]);
	kfree(uses);
}

static bool simgpu_object_written(const struct simgpu_submission *s, u32 i)
{
	return s->uses->written & BIT_ULL(i);
}

/* Makes a job depend on the fences of an object. */
static int simgpu_object_deps(struct simgpu_submission *s, u32 i,
			      struct simgpu_job *job)
{
	enum dma_resv_usage usage =
		dma_resv_usage_rw(simgpu_object_written(s, i));
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	int ret = 0;

	dma_resv_for_each_fence(&cursor, s->uses->objects[i]->resv, usage, fence) {
		ret = simgpu_alloc_step(s);
		if (ret)
			break;
		ret = s->context->backend->job_add_dep(job,
						       dma_fence_get(fence));
		if (ret)
			break;
	}
	return ret;
}

static int simgpu_objects_prepare(struct simgpu_submission *s)
{
	int ret;
	u32 i, j;

	for (i = 0; i < s->uses->n; i++) {
		struct dma_resv *resv = s->uses->objects[i]->resv;

		ret = simgpu_alloc_step(s);
		if (!ret)
			ret = dma_resv_reserve_fences(resv, s->args->n_execs);
		for (j = 0; j < s->args->n_execs && !ret; j++)
			ret = simgpu_object_deps(s, i, s->jobs[j].job);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * simgpu_objects_lock() - make the jobs depend on the fences of the objects
 * @s: the submission, prepared
 *
 * Context: process, sleeps; under &simgpu_context.submit.
 * Return:
 * * 0 - the caller must call simgpu_objects_unlock(); user memory must not be
 *   touched before
 * * -EINVAL - an object is listed twice
 * * -ENOMEM
 * * -ERESTARTSYS - a signal was received
 */
int simgpu_objects_lock(struct simgpu_submission *s)
{
	struct simgpu_uses *uses = s->uses;
	int ret;

	if (!uses)
		return 0;
	ret = drm_gem_lock_reservations(uses->objects, uses->n, &uses->ticket);
	if (ret)
		return ret == -EALREADY ? -EINVAL :
		       ret == -EINTR ? -ERESTARTSYS : ret;
	ret = simgpu_objects_prepare(s);
	if (ret)
		simgpu_objects_unlock(s);
	return ret;
}

/**
 * simgpu_objects_add() - add the fence of a job to the objects that it uses
 * @s: the submission, with its objects locked
 * @fence: the finished fence of one of its jobs
 *
 * Context: process; allocates nothing.
 */
void simgpu_objects_add(struct simgpu_submission *s, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; s->uses && i < s->uses->n; i++)
		dma_resv_add_fence(s->uses->objects[i]->resv, fence,
				   simgpu_object_written(s, i) ?
				   DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
}

/**
 * simgpu_objects_unlock() - undo simgpu_objects_lock()
 * @s: the submission
 *
 * Context: process.
 */
void simgpu_objects_unlock(struct simgpu_submission *s)
{
	struct simgpu_uses *uses = s->uses;

	if (uses)
		drm_gem_unlock_reservations(uses->objects, uses->n,
					    &uses->ticket);
}
