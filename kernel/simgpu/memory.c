// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the memory that jobs write to
 *
 * One piece for each open file. User space maps it, jobs write dwords to it
 * when the engine is done with them, from whatever context that happens in.
 * So it lives as long as the file, a mapping (which holds the file) or a
 * context (which outlives the file while it is torn down).
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "file.h"

/**
 * simgpu_memory_create() - allocate memory for jobs to write to
 *
 * Context: process, sleeps.
 * Return: the memory, zeroed, with one reference, or NULL.
 */
struct simgpu_memory *simgpu_memory_create(void)
{
	struct simgpu_memory *memory;

	memory = kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);
	if (!memory)
		return NULL;
	memory->words = vmalloc_user(SIMGPU_MEMORY_BYTES);
	if (!memory->words) {
		kfree(memory);
		return NULL;
	}
	kref_init(&memory->ref);
	return memory;
}

/**
 * simgpu_memory_get() - take a reference
 * @memory: of which the caller holds or borrows one
 *
 * Context: any.
 * Return: @memory.
 */
struct simgpu_memory *simgpu_memory_get(struct simgpu_memory *memory)
{
	kref_get(&memory->ref);
	return memory;
}

static void simgpu_memory_free(struct kref *ref)
{
	struct simgpu_memory *memory =
		container_of(ref, struct simgpu_memory, ref);

	vfree(memory->words);
	kfree(memory);
}

/**
 * simgpu_memory_put() - give a reference back
 * @memory: freed with the last
 *
 * Context: process, sleeps.
 */
void simgpu_memory_put(struct simgpu_memory *memory)
{
	might_sleep();
	kref_put(&memory->ref, simgpu_memory_free);
}

/**
 * simgpu_memory_map() - map the memory into a process
 * @memory: of the file that is mapped
 * @vma: shared, within %SIMGPU_MEMORY_BYTES from offset 0
 *
 * Context: process, under the mmap lock.
 * Return: 0, or -EINVAL if @vma is not like that, or what
 * remap_vmalloc_range() fails with.
 */
int simgpu_memory_map(struct simgpu_memory *memory,
		      struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_pgoff)
		return -EINVAL;
	if (vma->vm_end - vma->vm_start > SIMGPU_MEMORY_BYTES)
		return -EINVAL;
	return remap_vmalloc_range(vma, memory->words, 0);
}
