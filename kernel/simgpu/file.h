/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMGPU_FILE_H
#define SIMGPU_FILE_H

#include <linux/fs.h>
#include <linux/uidgid.h>
#include <linux/xarray.h>

#include "simgpu.h"

/**
 * struct simgpu_file - an open file
 * @dev: the device
 * @contexts: by number; each entry is a reference. NULL while the context is
 *	being made.
 * @memory: a reference
 * @owner: who opened it
 */
struct simgpu_file {
	struct simgpu_device *dev;
	struct xarray contexts;
	struct simgpu_memory *memory;
	kuid_t owner;
};

/* ioctl.c */
extern const struct file_operations simgpu_fops;
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

/* memory.c */
struct simgpu_memory *simgpu_memory_create(void);
struct simgpu_memory *simgpu_memory_get(struct simgpu_memory *memory);
void simgpu_memory_put(struct simgpu_memory *memory);
int simgpu_memory_map(struct simgpu_memory *memory,
		      struct vm_area_struct *vma);

/* job.c */
int simgpu_job_init(void);
void simgpu_job_exit(void);

/* debugfs.c */
void simgpu_debugfs_init(struct simgpu_device *dev);
void simgpu_debugfs_exit(void);

/* backend_depq.c */
void simgpu_depq_put_workers(struct simgpu_device *dev);

#endif /* SIMGPU_FILE_H */
