/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DEPQ_TEST_BACKEND_H
#define DEPQ_TEST_BACKEND_H

#include <drm/gpu_scheduler.h>

#include "../include/depq.h"

struct dt;
struct dt_engine;
struct dt_queue;
struct dt_record;

/**
 * struct dt_design - a design to test
 * @name: for the results
 * @backend: drm_sched or depq
 * @flags: of depq queues
 * @put: of depq queues
 * @kind: of depq workers
 * @shared: all queues of a case share a worker
 * @arbiter: the queues of an engine share an arbiter
 */
struct dt_design {
	char name[40];
	const struct dt_backend *backend;
	u32 flags;
	enum depq_put put;
	enum depq_worker_kind kind;
	bool shared;
	bool arbiter;
};

/**
 * struct dt_backend - operations of a design
 *
 * Members that may be NULL are marked; a scenario that needs one is skipped if
 * it is NULL, with the reason.
 */
struct dt_backend {
	/** @name: for the results */
	const char *name;
	/** @open: create what queues share. Return: 0 or -errno */
	int (*open)(struct dt *dt);
	/** @close: undo @open. All queues have ended. */
	void (*close)(struct dt *dt);
	/** @engine_open: may be NULL. Return: 0 or -errno */
	int (*engine_open)(struct dt_engine *engine);
	/** @engine_close: may be NULL. None of its jobs exists any more. */
	void (*engine_close)(struct dt_engine *engine);
	/** @queue_open: Return: 0 or -errno */
	int (*queue_open)(struct dt_queue *queue);
	/**
	 * @queue_close: no more jobs will come; those not yet run are
	 * cancelled. Called once. May wait for the runner, not for fences.
	 */
	void (*queue_close)(struct dt_queue *queue);
	/** @job_init: Return: 0 or -errno */
	int (*job_init)(struct dt_record *rec);
	/** @job_dep: takes the reference. Return: 0 or -errno */
	int (*job_dep)(struct dt_record *rec, struct dma_fence *fence);
	/** @job_fence: before commit; may be NULL. No reference is taken. */
	struct dma_fence *(*job_fence)(struct dt_record *rec);
	/** @job_commit: calls dt_committed() before the job can run */
	void (*job_commit)(struct dt_record *rec);
	/** @job_abort: instead of @job_commit; frees the job */
	void (*job_abort)(struct dt_record *rec);
	/** @stop: no job is run when this has returned */
	void (*stop)(struct dt_queue *queue);
	/** @start: undo one @stop */
	void (*start)(struct dt_queue *queue);
	/** @nests: stops are counted */
	bool nests;
	/** @orders: signals in order even if the engine does not */
	bool orders;
	/**
	 * @drop: no more jobs will come, but existing ones are run. Called
	 * instead of @queue_close; may be NULL.
	 */
	void (*drop)(struct dt_queue *queue);
	/** @kill: may be NULL */
	void (*kill)(struct dt_queue *queue, int error);
	/** @no_credits: every job counts as one, whatever it requests */
	bool no_credits;
	/** @close_sleeps: @queue_close waits for dependencies of its jobs */
	bool close_sleeps;
	/** @kill_error: error of jobs not yet run at @queue_close */
	int kill_error;
	/** @trigger: act as if the oldest job had timed out */
	void (*trigger)(struct dt_queue *queue);
	/** @priority: may be NULL */
	void (*priority)(struct dt_queue *queue, enum drm_sched_priority prio);
	/**
	 * @pipelined: whether a dependency is on the same engine, so that the
	 * order there meets it and only its run must come first. May be NULL.
	 */
	bool (*pipelined)(struct dt_record *rec, struct dma_fence *fence);
	/** @idle: Return: whether it holds neither jobs nor credits */
	bool (*idle)(struct dt_queue *queue);
};

extern const struct dt_backend dt_depq;
extern const struct dt_backend dt_drm;

#endif /* DEPQ_TEST_BACKEND_H */
