/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef UAPI_SIMGPU_GEM_H
#define UAPI_SIMGPU_GEM_H

/* GEM objects of simgpu: creating, mapping, and using them in jobs. */

#include <linux/types.h>

/* The largest GEM object that %SIMGPU_GEM_CREATE allocates. */
#define SIMGPU_OBJECT_BYTES_MAX (64u << 20)

/**
 * struct simgpu_gem_create - create a GEM object
 * @size: in bytes, 1 to %SIMGPU_OBJECT_BYTES_MAX, rounded up to whole pages;
 *	out, the actual size
 * @handle: out
 * @flags: must be zero
 *
 * Its pages are zeroed. DRM_IOCTL_GEM_CLOSE or closing the file closes the
 * handle; the object is freed when the last user drops its reference.
 */
struct simgpu_gem_create {
	__u64 size;
	__u32 handle;
	__u32 flags;
};

/**
 * struct simgpu_gem_mmap - get the mmap() offset of a GEM object
 * @handle: of this file; -EINVAL for an imported object
 * @pad: must be zero
 * @offset: out, the offset for mmap() on the node
 */
struct simgpu_gem_mmap {
	__u32 handle;
	__u32 pad;
	__u64 offset;
};

/* &simgpu_gem_madvise.advice */
#define SIMGPU_GEM_WILLNEED	0	/* keep the contents */
#define SIMGPU_GEM_DONTNEED	1	/* contents may be discarded */

/**
 * struct simgpu_gem_madvise - say whether a GEM object may be purged
 * @handle: of this file; -EINVAL for an imported object
 * @advice: SIMGPU_GEM_*
 * @retained: out, 0 if the object was purged since it was last needed: it is
 *	all zeros then
 * @pad: must be zero
 *
 * Under memory pressure the kernel purges objects that are not needed, unless
 * they are mapped, exported or the memory of a context. If jobs still use such
 * an object, it may wait for their fences first.
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
 * @flags: %SIMGPU_OBJECT_WRITE; otherwise the jobs only read it
 *
 * Implicit synchronization, as for dma-bufs: the jobs wait for the fences of the
 * object (readers only for those of writers), and their fences are added to it.
 */
struct simgpu_object_use {
	__u32 handle;
	__u32 flags;
};

/* SIMGPU_IOWR() is defined in simgpu.h, which includes this file. */
#define SIMGPU_GEM_CREATE	SIMGPU_IOWR(9, simgpu_gem_create)
#define SIMGPU_GEM_MMAP	SIMGPU_IOWR(10, simgpu_gem_mmap)
#define SIMGPU_GEM_MADVISE	SIMGPU_IOWR(11, simgpu_gem_madvise)

#endif /* UAPI_SIMGPU_GEM_H */
