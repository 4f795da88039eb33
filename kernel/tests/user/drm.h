/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef TEST_DRM_H
#define TEST_DRM_H

/*
 * The parts of DRM's own interface (include/uapi/drm/drm.h) that the tests use,
 * as not every build machine has the header.
 */

#include <linux/ioctl.h>
#include <linux/types.h>

struct drm_version {
	int version_major;
	int version_minor;
	int version_patchlevel;
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t desc_len;
	char *desc;
};

struct drm_gem_close {
	__u32 handle;
	__u32 pad;
};

struct drm_get_cap {
	__u64 capability;
	__u64 value;
};

struct drm_prime_handle {
	__u32 handle;
	__u32 flags;
	__s32 fd;
};

struct drm_syncobj_create {
	__u32 handle;
	__u32 flags;
};

struct drm_syncobj_destroy {
	__u32 handle;
	__u32 pad;
};

struct drm_syncobj_handle {
	__u32 handle;
	__u32 flags;
	__s32 fd;
	__u32 pad;
};

struct drm_syncobj_timeline_wait {
	__u64 handles;
	__u64 points;
	__s64 timeout_nsec;
	__u32 count_handles;
	__u32 flags;
	__u32 first_signaled;
	__u32 pad;
};

struct drm_syncobj_array {
	__u64 handles;
	__u32 count_handles;
	__u32 pad;
};

struct drm_syncobj_timeline_array {
	__u64 handles;
	__u64 points;
	__u32 count_handles;
	__u32 flags;
};

#define DRM_CAP_PRIME			0x5
#define DRM_CAP_SYNCOBJ			0x13
#define DRM_CAP_SYNCOBJ_TIMELINE	0x14

#define DRM_CLOEXEC	O_CLOEXEC
#define DRM_RDWR	O_RDWR

#define DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL	(1 << 0)

#define DRM_IOCTL_VERSION	_IOWR('d', 0x00, struct drm_version)
#define DRM_IOCTL_GEM_CLOSE	_IOW('d', 0x09, struct drm_gem_close)
#define DRM_IOCTL_GET_CAP	_IOWR('d', 0x0c, struct drm_get_cap)
#define DRM_IOCTL_PRIME_HANDLE_TO_FD _IOWR('d', 0x2d, struct drm_prime_handle)
#define DRM_IOCTL_PRIME_FD_TO_HANDLE _IOWR('d', 0x2e, struct drm_prime_handle)
#define DRM_IOCTL_SYNCOBJ_CREATE _IOWR('d', 0xbf, struct drm_syncobj_create)
#define DRM_IOCTL_SYNCOBJ_DESTROY _IOWR('d', 0xc0, struct drm_syncobj_destroy)
#define DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD \
	_IOWR('d', 0xc1, struct drm_syncobj_handle)
#define DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE \
	_IOWR('d', 0xc2, struct drm_syncobj_handle)
#define DRM_IOCTL_SYNCOBJ_RESET	_IOWR('d', 0xc4, struct drm_syncobj_array)
#define DRM_IOCTL_SYNCOBJ_SIGNAL _IOWR('d', 0xc5, struct drm_syncobj_array)
#define DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT \
	_IOWR('d', 0xca, struct drm_syncobj_timeline_wait)
#define DRM_IOCTL_SYNCOBJ_QUERY \
	_IOWR('d', 0xcb, struct drm_syncobj_timeline_array)
#define DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL \
	_IOWR('d', 0xcd, struct drm_syncobj_timeline_array)

#endif /* TEST_DRM_H */
