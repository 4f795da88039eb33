/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMGPU_SUBMIT_H
#define SIMGPU_SUBMIT_H

#include <linux/sync_file.h>
#include <linux/ww_mutex.h>

#include <drm/drm_syncobj.h>

#include "file.h"

/**
 * struct simgpu_prepared - one job of a submission
 * @exec: as given, later with the results
 * @job: NULL until the back end has prepared it
 * @sync_file: for user space, or NULL
 * @fd: reserved for it, or -1
 * @syncobj: gets the fence; a reference, or NULL
 * @chain: for its timeline, or NULL
 */
struct simgpu_prepared {
	struct simgpu_exec exec;
	struct simgpu_job *job;
	struct sync_file *sync_file;
	int fd;
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
};

/**
 * struct simgpu_uses - the GEM objects that the jobs of a submission use
 * @ticket: for their locks
 * @written: which of them are written, a bit each
 * @n: number of @objects
 * @objects: each with a reference
 */
struct simgpu_uses {
	struct ww_acquire_ctx ticket;
	u64 written;
	u32 n;
	struct drm_gem_object *objects[];
};

/**
 * struct simgpu_submission - a submission in progress
 * @file: whose contexts dependencies may name
 * @context: where the jobs go
 * @args: as given
 * @t_enter: when it began
 * @jobs: @args->n_execs of them
 * @uses: the objects that the jobs use, or NULL
 * @random: new state of the context's generator; stored only if the submission
 *	succeeds
 * @fault_skip: likewise
 * @fault_count: likewise
 * @fail: make an allocation fail
 * @fail_after: number of allocations that succeed first
 */
struct simgpu_submission {
	struct simgpu_file *file;
	struct simgpu_context *context;
	const struct simgpu_submit *args;
	u64 t_enter;
	struct simgpu_prepared *jobs;
	struct simgpu_uses *uses;
	struct rnd_state random;
	u32 fault_skip;
	u32 fault_count;
	bool fail;
	u64 fail_after;
};

/* gem.c */
int simgpu_objects_get(struct simgpu_submission *s);
void simgpu_objects_put(struct simgpu_submission *s);
int simgpu_objects_lock(struct simgpu_submission *s);
void simgpu_objects_add(struct simgpu_submission *s, struct dma_fence *fence);
void simgpu_objects_unlock(struct simgpu_submission *s);

/* prepare.c */
int simgpu_alloc_step(struct simgpu_submission *s);
int simgpu_prepare(struct simgpu_submission *s, struct simgpu_prepared *p);
void simgpu_unprepare(struct simgpu_submission *s);

#endif /* SIMGPU_SUBMIT_H */
