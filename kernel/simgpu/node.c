// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the DRM nodes
 *
 * The driver has a render node, and the primary node that DRM gives to every
 * driver. Our ioctls work the same on both and bypass drm_ioctl(),
 * which has other rules (see the user interface): it ignores additional fields of
 * a larger struct, writes back after failures, and cannot undo a creation whose
 * result cannot be written. All other ioctls are DRM's.
 *
 * Once the device was unbound from its driver, every command is -ENODEV. Open
 * files, mappings and jobs in flight stay; what they need is freed with the last
 * of them.
 */

#include <linux/compat.h>
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_ioctl.h>

#include "file.h"

static int simgpu_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct simgpu_device *dev = container_of(drm, struct simgpu_device,
						 drm);
	struct simgpu_file *file;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	file->client = simgpu_client_create(dev);
	if (!file->client) {
		kfree(file);
		return -ENOMEM;
	}
	file->dev = dev;
	file->drm = drm_file;
	file->owner = current_fsuid();
	xa_init_flags(&file->contexts, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	drm_file->driver_priv = file;
	return 0;
}

static void simgpu_postclose(struct drm_device *drm, struct drm_file *drm_file)
{
	struct simgpu_file *file = drm_file->driver_priv;

	simgpu_context_close_all(file);
	simgpu_client_put(file->client);
	kfree(file);
}

static bool simgpu_is_ours(unsigned int cmd)
{
	return _IOC_NR(cmd) >= DRM_COMMAND_BASE && _IOC_NR(cmd) < DRM_COMMAND_END;
}

/* Returns the error for a command that is refused without a closer look, or 0. */
static long simgpu_refuse(const struct drm_file *drm_file, unsigned int cmd)
{
	const struct simgpu_file *file = drm_file->driver_priv;

	/* DRM only looks at the number, and would take TCGETS for its own. */
	if (_IOC_TYPE(cmd) != SIMGPU_IOC)
		return -ENOTTY;
	return READ_ONCE(file->dev->gone) ? -ENODEV : 0;
}

static long simgpu_unlocked_ioctl(struct file *filp, unsigned int cmd,
				  unsigned long arg)
{
	struct drm_file *drm_file = filp->private_data;
	long ret = simgpu_refuse(drm_file, cmd);

	if (ret)
		return ret;
	return simgpu_is_ours(cmd) ? simgpu_ioctl(drm_file, cmd, arg) :
				     drm_ioctl(filp, cmd, arg);
}

#ifdef CONFIG_COMPAT
static long simgpu_compat_ioctl(struct file *filp, unsigned int cmd,
				unsigned long arg)
{
	struct drm_file *drm_file = filp->private_data;
	long ret = simgpu_refuse(drm_file, cmd);

	if (ret)
		return ret;
	/* The structs are the same for 32 bit: no pointers, no holes. */
	return simgpu_is_ours(cmd) ?
	       simgpu_ioctl(drm_file, cmd, (unsigned long)compat_ptr(arg)) :
	       drm_compat_ioctl(filp, cmd, arg);
}
#endif

static const struct file_operations simgpu_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = simgpu_unlocked_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = simgpu_compat_ioctl,
#endif
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
#ifdef FOP_UNSIGNED_OFFSET
	.fop_flags = FOP_UNSIGNED_OFFSET,
#endif
#ifdef HAVE_DRM_FDINFO
	.show_fdinfo = drm_show_fdinfo,
#else
	.show_fdinfo = simgpu_show_fdinfo,
#endif
};

const struct drm_driver simgpu_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = simgpu_open,
	.postclose = simgpu_postclose,
	.release = simgpu_device_release,
#ifdef HAVE_DRM_FDINFO
	.show_fdinfo = simgpu_fdinfo,
#endif
	.gem_create_object = simgpu_gem_alloc,
	DRM_GEM_SHMEM_DRIVER_OPS,
	.fops = &simgpu_fops,
	.name = "simgpu",
	.desc = "Mock GPU with drm_sched and depq queues",
#ifdef HAVE_DRM_DRIVER_DATE
	.date = "20250101",
#endif
	.major = SIMGPU_VERSION,
};

/* ---- Permission bits of the render node ---- */

static umode_t node_mode;

/* The name is DRM's. */
#ifdef HAVE_DEVNODE_CONST
static char *node_devnode(const struct device *dev, umode_t *mode, kuid_t *uid,
			  kgid_t *gid)
#else
static char *node_devnode(struct device *dev, umode_t *mode, kuid_t *uid,
			  kgid_t *gid)
#endif
{
	if (mode)
		*mode = node_mode;
	return NULL;
}

/* That of DRM's minors, which leaves the permissions to the kernel. */
static const struct device_type node_type = {
	.name = "drm_minor",
	.devnode = node_devnode,
};

/**
 * simgpu_node_mode() - set who may open the render node
 * @dev: the device, not yet registered
 * @mode: permission bits
 *
 * For devtmpfs; udev, if it runs, has its own rules.
 *
 * Context: process, one device at a time.
 */
void simgpu_node_mode(struct simgpu_device *dev, umode_t mode)
{
	node_mode = mode;
	dev->drm.render->kdev->type = &node_type;
}
