/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef UAPI_SIMGPU_GEM_H
#define UAPI_SIMGPU_GEM_H

/* GEM objects of simgpu: how they are made and mapped, and how jobs use them. */

#include <linux/types.h>

/* The largest GEM object that %SIMGPU_GEM_CREATE makes. */
#define SIMGPU_OBJECT_BYTES_MAX (64u << 20)

/**
 * struct simgpu_gem_create - make a GEM object
 * @size: in bytes, 1 to %SIMGPU_OBJECT_BYTES_MAX, rounded up to whole pages;
 *	out, the size that it has
 * @handle: out
 * @flags: must be zero
 *
 * Its pages are zero. It goes with DRM_IOCTL_GEM_CLOSE, with the file, or when
 * the last that uses it does.
 */
struct simgpu_gem_create {
	__u64 size;
	__u32 handle;
	__u32 flags;
};

/**
 * struct simgpu_gem_mmap - where to map a GEM object
 * @handle: of this file; -EINVAL for one that was imported
 * @pad: must be zero
 * @offset: out, what to give to mmap() of the node
 */
struct simgpu_gem_mmap {
	__u32 handle;
	__u32 pad;
	__u64 offset;
};

/* &simgpu_gem_madvise.advice */
#define SIMGPU_GEM_WILLNEED	0	/* keep what it holds */
#define SIMGPU_GEM_DONTNEED	1	/* may be lost if memory is short */

/**
 * struct simgpu_gem_madvise - say whether what a GEM object holds may be lost
 * @handle: of this file; -EINVAL for one that was imported
 * @advice: SIMGPU_GEM_*
 * @retained: out, 0 if the object has lost its pages since it was last needed:
 *	all it holds is zeros then
 * @pad: must be zero
 *
 * The kernel takes the pages of an object that is not needed when memory is
 * short, unless they are mapped, exported or the memory of a context. If jobs
 * still use it, it may wait for their fences first.
 */
struct simgpu_gem_madvise {
	__u32 handle;
	__u32 advice;
	__u32 retained;
	__u32 pad;
};

/* &simgpu_object_use.flags */
#define SIMGPU_OBJECT_WRITE	(1u << 0)
#define SIMGPU_OBJECT_FLAGS	0x1u

/**
 * struct simgpu_object_use - a GEM object that the jobs of a submission use
 * @handle: of this file
 * @flags: %SIMGPU_OBJECT_WRITE, else they read only
 *
 * Implicit synchronization, as dma-bufs have it: the jobs wait for those whose
 * fences the object has, readers only for writers, and it gets their fences.
 */
struct simgpu_object_use {
	__u32 handle;
	__u32 flags;
};

/* SIMGPU_IOWR() is that of simgpu.h, which includes this file. */
#define SIMGPU_GEM_CREATE	SIMGPU_IOWR(9, simgpu_gem_create)
#define SIMGPU_GEM_MMAP	SIMGPU_IOWR(10, simgpu_gem_mmap)
#define SIMGPU_GEM_MADVISE	SIMGPU_IOWR(11, simgpu_gem_madvise)

#endif /* UAPI_SIMGPU_GEM_H */
