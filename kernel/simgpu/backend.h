/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMGPU_BACKEND_H
#define SIMGPU_BACKEND_H

#include "simgpu.h"

struct seq_file;

/**
 * struct simgpu_backend - operations of a design
 *
 * A job goes through job_init, job_add_dep*, then either job_arm and
 * job_commit or job_abort. The caller has checked the arguments.
 * All but context_init, context_close and those marked otherwise are called
 * under &simgpu_context.submit, and none after context_close.
 */
struct simgpu_backend {
	/** @name: for messages and debugfs */
	const char *name;
	/**
	 * @needs_order: the queue layer signals the finished fence as soon as
	 * the engine fence is signalled. So the engine signals the engine
	 * fences of a context in the order of run_job and, after a reset, those
	 * of the jobs that it dropped, with an error.
	 */
	bool needs_order;
	/**
	 * @context_init: create the queue. Context: process, may sleep.
	 * Return: 0 or a negative errno, with everything undone.
	 */
	int (*context_init)(struct simgpu_context *context);
	/**
	 * @context_close: no more jobs will be submitted: cancel those not
	 * yet run, reset those on the engine, and end the queue when all are
	 * released. Does not wait. The back end finally calls
	 * simgpu_context_release(). Context: process, may sleep.
	 */
	void (*context_close)(struct simgpu_context *context);
	/**
	 * @job_init: Context: process, under &simgpu_context.submit.
	 * Return: 0, -ENOMEM, -EAGAIN (nonblock), -ERESTARTSYS, or the error
	 * the context was killed or banned with.
	 */
	int (*job_init)(struct simgpu_job *job, u32 credits, bool nonblock);
	/**
	 * @job_add_dep: takes the caller's reference to the fence, also on
	 * failure. Return: 0, -ENOMEM or, if it waits, -ERESTARTSYS.
	 */
	int (*job_add_dep)(struct simgpu_job *job, struct dma_fence *fence);
	/**
	 * @job_arm: make the finished fence valid; job_commit() must
	 * follow. Cannot fail, allocates nothing. NULL if the fence is valid
	 * after job_init().
	 */
	void (*job_arm)(struct simgpu_job *job);
	/**
	 * @job_fence: the finished fence; no reference is taken. Called after
	 * job_arm().
	 */
	struct dma_fence *(*job_fence)(struct simgpu_job *job);
	/**
	 * @job_commit: push; cannot fail, allocates nothing. After that the
	 * job belongs to the queue and may be freed before this returns.
	 * &simgpu_job.slot was set before.
	 */
	void (*job_commit)(struct simgpu_job *job);
	/** @job_abort: called after job_init instead of job_commit; frees the job */
	void (*job_abort)(struct simgpu_job *job);
	/**
	 * @wait_begin: a thread is about to wait for a job, without
	 * &simgpu_context.submit. Return: whether to call @wait_end. May be NULL
	 */
	bool (*wait_begin)(struct simgpu_context *context);
	/** @wait_end: the thread has waited; may free jobs */
	void (*wait_end)(struct simgpu_context *context);
	/**
	 * @control: stop, start, kill, trigger timeout. Return: 0 or -errno,
	 * -EOPNOTSUPP if the design lacks the command. Every start is preceded
	 * by its stop; a context may be closed while it is stopped.
	 */
	int (*control)(struct simgpu_context *context, u32 command, u64 arg);
	/** @stats: fill in the statistics of the back end */
	void (*stats)(struct simgpu_context *context,
		      struct simgpu_stats *stats);
	/**
	 * @show: print for debugfs which queue this is. NULL if the
	 * arguments of the context say it already.
	 */
	void (*show)(struct simgpu_context *context, struct seq_file *m);
	/** @queue_bytes: for &struct simgpu_info */
	u32 queue_bytes;
	/** @job_bytes: likewise */
	u32 job_bytes;
	/** @fence_bytes: likewise, once modules are loaded */
	u32 (*fence_bytes)(void);
};

/* backend_drm.c, backend_depq.c, backend_none.c */
extern const struct simgpu_backend simgpu_backend_drm;
extern const struct simgpu_backend simgpu_backend_depq;
extern const struct simgpu_backend simgpu_backend_none;

#endif /* SIMGPU_BACKEND_H */
