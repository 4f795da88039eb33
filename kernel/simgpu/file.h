/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMGPU_FILE_H
#define SIMGPU_FILE_H

#include <linux/fs.h>
#include <linux/uidgid.h>
#include <linux/xarray.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "simgpu.h"

/**
 * struct simgpu_file - an open file
 * @dev: the device
 * @drm: the DRM file
 * @contexts: by number; each entry is a reference. NULL while the context is
 *	being created.
 * @client: its usage; a reference
 * @owner: the user who opened it
 */
struct simgpu_file {
	struct simgpu_device *dev;
	struct drm_file *drm;
	struct xarray contexts;
	struct simgpu_client *client;
	kuid_t owner;
};

/* ioctl.c */
long simgpu_ioctl(struct drm_file *drm_file, unsigned int cmd,
		  unsigned long arg);
bool simgpu_fault_valid(u32 fault, u64 arg);
bool simgpu_may_disturb(const struct simgpu_file *file, bool others);

/* context.c */
int simgpu_context_create(struct simgpu_file *file, struct simgpu_create *args);
int simgpu_context_destroy(struct simgpu_file *file, u32 id);
void simgpu_context_close_all(struct simgpu_file *file);
struct simgpu_context *simgpu_context_find(struct simgpu_file *file, u32 id);
int simgpu_context_lock(struct simgpu_context *context);
struct dma_fence *simgpu_context_fence(struct simgpu_context *context,
				       u64 seqno);

/* submit.c */
int simgpu_submit(struct simgpu_file *file, const struct simgpu_submit *args,
		  u64 t_enter);

/* record.c */
bool simgpu_record_snapshot(struct simgpu_context *context, u64 seqno,
			    struct simgpu_record *record);
int simgpu_wait(struct simgpu_file *file, struct simgpu_wait *args);
int simgpu_read(struct simgpu_file *file, struct simgpu_read *args);
void simgpu_stats_locked(struct simgpu_context *context,
			 struct simgpu_stats *stats);
int simgpu_stats(struct simgpu_file *file, struct simgpu_stats *args);

/* shrinker.c */
int simgpu_gem_madvise(struct simgpu_file *file,
		       struct simgpu_gem_madvise *args);
int simgpu_shrinker_init(struct simgpu_device *dev);
void simgpu_shrinker_fini(struct simgpu_device *dev);
void simgpu_shrinker_show(struct simgpu_device *dev, struct seq_file *m);

/* gem.c; see submit.h for its part in submissions */
struct drm_gem_object *simgpu_gem_alloc(struct drm_device *drm, size_t size);
int simgpu_gem_create(struct simgpu_file *file, struct simgpu_gem_create *args);
int simgpu_gem_mmap(struct simgpu_file *file, struct simgpu_gem_mmap *args);
int simgpu_memory_attach(struct simgpu_file *file, u32 handle,
			 struct simgpu_memory *memory);
void simgpu_memory_detach(struct simgpu_memory *memory);

/* client.c */
struct simgpu_client *simgpu_client_create(struct simgpu_device *dev);
struct simgpu_client *simgpu_client_get(struct simgpu_client *client);
void simgpu_client_put(struct simgpu_client *client);
void simgpu_fdinfo(struct drm_printer *p, struct drm_file *drm_file);
void simgpu_show_fdinfo(struct seq_file *m, struct file *filp);

/* node.c */
extern const struct drm_driver simgpu_driver;
void simgpu_node_mode(struct simgpu_device *dev, umode_t mode);

/* main.c */
void simgpu_device_release(struct drm_device *drm);
int simgpu_probe(struct device *parent);
void simgpu_remove(struct device *parent);

/* bus.c */
int simgpu_bus_add(void);
void simgpu_bus_remove(void);

/* job.c */
int simgpu_job_init(void);
void simgpu_job_exit(void);

/* debugfs.c */
void simgpu_debugfs_init(struct simgpu_device *dev);
void simgpu_debugfs_exit(void);

/* backend_depq.c */
void simgpu_depq_put_workers(struct simgpu_device *dev);

#endif /* SIMGPU_FILE_H */
