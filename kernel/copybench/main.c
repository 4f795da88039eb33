// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: copybench
 *
 * Times routines that copy, zero and sum bytes, the kernel's own
 * (routines.c) and others (own.c), through /dev/copybench; see
 * ../uapi/copybench.h.
 *
 * A file has two buffers, each of which user space has mapped completely.
 * They come from the page allocator, like most memory that the kernel copies from
 * and to. Once allocated they stay until the file is closed, which mappings
 * keep open: no lock is needed to use them, and none is held while a
 * routine takes a page fault.
 *
 * The size of a batch is limited, and cond_resched() is called before each.
 */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <asm/cpufeature.h>

#include "copybench.h"

static unsigned int leave_out;
module_param(leave_out, uint, 0444);
MODULE_PARM_DESC(leave_out,
		 "routines leave out so many bytes at the end, as a broken one would (default 0)");

/**
 * struct copybench_memory - a kernel buffer that routines work on
 * @length: its size in bytes
 * @start: its contents, in whole pages
 */
struct copybench_memory {
	size_t length;
	void *start;
};

/**
 * struct copybench_file - an open file
 * @from: the buffer to read from, NULL before it is mapped
 * @to: the buffer to write to, likewise
 */
struct copybench_file {
	struct copybench_memory *from;
	struct copybench_memory *to;
};

static void copybench_memory_free(struct copybench_memory *memory)
{
	if (!memory)
		return;
	free_pages_exact(memory->start, memory->length);
	kfree(memory);
}

static struct copybench_memory *copybench_memory_create(size_t length)
{
	struct copybench_memory *memory;

	memory = kmalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);
	if (!memory)
		return NULL;
	memory->length = length;
	memory->start = alloc_pages_exact(length, GFP_KERNEL_ACCOUNT | __GFP_ZERO |
					  __GFP_NOWARN);
	if (memory->start)
		return memory;
	kfree(memory);
	return NULL;
}

/* Context: process, under the mmap lock, sleeps. */
static int copybench_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct copybench_file *file = filp->private_data;
	size_t length = vma->vm_end - vma->vm_start;
	struct copybench_memory *memory, **place;

	if (!vma->vm_pgoff)
		place = &file->from;
	else if (vma->vm_pgoff == COPYBENCH_MAP_TO >> PAGE_SHIFT)
		place = &file->to;
	else
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED) || length > COPYBENCH_MEMORY_MAX)
		return -EINVAL;
	memory = copybench_memory_create(length);
	if (!memory)
		return -ENOMEM;
	/* Whoever sees the pointer sees the contents. */
	if (cmpxchg(place, NULL, memory)) {
		copybench_memory_free(memory);
		return -EBUSY;
	}
	return remap_pfn_range(vma, vma->vm_start,
			       virt_to_phys(memory->start) >> PAGE_SHIFT,
			       length, vma->vm_page_prot);
}

/* Resolves an address of a batch, if all of its places are permitted. */
static int copybench_place(struct copybench_memory *const *place, bool user,
			   u64 at, u64 span, unsigned long *found)
{
	struct copybench_memory *memory;

	if (user) {
		*found = at;
		return access_ok((void __user *)*found, span) ? 0 : -EFAULT;
	}
	/* Pairs with cmpxchg() in copybench_mmap(). */
	memory = smp_load_acquire(place);
	if (!memory || at > memory->length || span > memory->length - at)
		return -EINVAL;
	*found = (unsigned long)memory->start + at;
	return 0;
}

static int copybench_prepare(struct copybench_file *file,
			     const struct copybench_batch *batch,
			     const struct copybench_routine *routine,
			     struct copybench_run *run)
{
	u64 span;
	int ret;

	if (!batch->calls || batch->calls > COPYBENCH_CALLS_MAX ||
	    (u64)batch->calls * batch->length > COPYBENCH_WORK_MAX)
		return -EINVAL;
	if (batch->first >= batch->places || batch->step >= batch->places ||
	    (batch->places > 1 && batch->apart < batch->length))
		return -EINVAL;
	span = (u64)(batch->places - 1) * batch->apart + batch->length;
	if (routine->reads) {
		ret = copybench_place(&file->from, routine->from_user,
				      batch->from, span, &run->from);
		if (ret)
			return ret;
	}
	if (routine->writes) {
		ret = copybench_place(&file->to, routine->to_user, batch->to,
				      span, &run->to);
		if (ret)
			return ret;
	}
	run->length = batch->length - min(leave_out, batch->length);
	run->calls = batch->calls;
	run->at = (u64)batch->first * batch->apart;
	run->step = (u64)batch->step * batch->apart;
	run->end = (u64)batch->places * batch->apart;
	return 0;
}

static int copybench_batch(struct copybench_file *file,
			   struct copybench_batch *batch)
{
	const struct copybench_routine *routine;
	struct copybench_run run = {};
	u32 number;
	int ret;

	if (batch->version != COPYBENCH_VERSION)
		return -EPROTONOSUPPORT;
	if (batch->routine >= COPYBENCH_ROUTINES || batch->pad)
		return -EINVAL;
	number = array_index_nospec(batch->routine, COPYBENCH_ROUTINES);
	routine = &copybench_routines[number];
	if (!routine->calls)
		return -EOPNOTSUPP;
	ret = copybench_prepare(file, batch, routine, &run);
	if (ret)
		return ret;
	cond_resched();
	routine->calls(&run);
	batch->ticks = run.ticks;
	batch->left = run.left;
	batch->sum = run.sum;
	return 0;
}

/* Context: process, sleeps. */
static long copybench_ioctl(struct file *filp, unsigned int command,
			    unsigned long argument)
{
	void __user *user = (void __user *)argument;
	struct copybench_batch batch;
	int ret;

	if (command != COPYBENCH_IOC_BATCH)
		return -ENOTTY;
	if (copy_from_user(&batch, user, sizeof(batch)))
		return -EFAULT;
	ret = copybench_batch(filp->private_data, &batch);
	if (ret)
		return ret;
	return copy_to_user(user, &batch, sizeof(batch)) ? -EFAULT : 0;
}

/* Context: process, sleeps. */
static int copybench_open(struct inode *inode, struct file *filp)
{
	struct copybench_file *file;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	filp->private_data = file;
	return 0;
}

/* Context: process, sleeps; nothing is mapped any more. */
static int copybench_release(struct inode *inode, struct file *filp)
{
	struct copybench_file *file = filp->private_data;

	copybench_memory_free(file->from);
	copybench_memory_free(file->to);
	kfree(file);
	return 0;
}

static const struct file_operations copybench_fops = {
	.owner = THIS_MODULE,
	.open = copybench_open,
	.release = copybench_release,
	.mmap = copybench_mmap,
	.unlocked_ioctl = copybench_ioctl,
};

static struct miscdevice copybench_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "copybench",
	.fops = &copybench_fops,
	.mode = 0600,
};

module_misc_device(copybench_device);

MODULE_DESCRIPTION("The kernel's routines that copy, zero and add up, timed");
MODULE_LICENSE("GPL");
