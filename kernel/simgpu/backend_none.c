// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: contexts without a queue
 *
 * The minimum that any queue must do: the submitter waits for the dependencies of
 * its job and hands it to the engine, the fence of the engine is the finished
 * fence, and the job is freed where that signals. There is no thread, no credit
 * and no timeout, so this is not a design for a driver but a reference:
 * what the other designs cost beyond this is the cost of the queue.
 *
 * The fences of a context are one timeline, which the engine signals in order.
 * A dependency on an earlier job of the same context is dropped, as in the other
 * designs: the engine executes them in order, or all at once if it is parallel.
 *
 * The wait for dependencies is under &simgpu_context.submit, also with
 * %SIMGPU_SUBMIT_NONBLOCK, and can be interrupted by a signal. Closing or
 * killing the context from another thread waits for its end.
 *
 * =========  ==================  ===============================================
 * context    jobs                exits
 * =========  ==================  ===============================================
 * open       1 + jobs            simgpu_none_close(): closing
 * closing    jobs                the last job is freed: ending
 * ending     0                   none_end() on teardown_wq: released
 * =========  ==================  ===============================================
 */

#include "backend.h"
#include "file.h"

/* The context loses a job, or is closed. Context: any. */
static void none_put(struct simgpu_context *context)
{
	if (atomic_dec_and_test(&context->none.jobs))
		queue_work(context->dev->teardown_wq, &context->teardown);
}

static void none_free(struct simgpu_job *job)
{
	struct simgpu_context *context = job->context;

	/* The back end holds its reference until the last job is counted. */
	simgpu_job_free(job);
	none_put(context);
}

static void none_end(struct work_struct *work)
{
	simgpu_context_release(container_of(work, struct simgpu_context,
					    teardown));
}

static int simgpu_none_init(struct simgpu_context *context)
{
	atomic_set(&context->none.jobs, 1);
	context->none.fence_context = dma_fence_context_alloc(1);
	INIT_WORK(&context->teardown, none_end);
	return 0;
}

static void simgpu_none_close(struct simgpu_context *context)
{
	simgpu_engine_cancel(context, -ECANCELED);
	none_put(context);
}

static int simgpu_none_job_init(struct simgpu_job *job, u32 credits,
				bool nonblock)
{
	struct simgpu_context *context = job->context;

	lockdep_assert_held(&context->submit);
	/* Nobody else has the fence yet. A job that is aborted leaves a gap. */
	job->hw->base.context = context->none.fence_context;
	job->hw->base.seqno = ++context->none.seqno;
	atomic_inc(&context->none.jobs);
	return 0;
}

static int simgpu_none_add_dep(struct simgpu_job *job, struct dma_fence *fence)
{
	long ret = 0;

	might_sleep();
	if (fence->context != job->context->none.fence_context)
		ret = dma_fence_wait(fence, true);
	dma_fence_put(fence);
	return ret;
}

static struct dma_fence *simgpu_none_fence(struct simgpu_job *job)
{
	return &job->hw->base;
}

/*
 * Callback of the engine fence, under its lock, in any context. Whoever signals
 * the fence holds a reference to it.
 */
static void none_signalled(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	none_free(container_of(cb, struct simgpu_job, none));
}

static void simgpu_none_commit(struct simgpu_job *job)
{
	struct dma_fence *hw = dma_fence_get(&job->hw->base);
	struct dma_fence *fence;

	/* The engine does not know the fence yet, so it cannot have signalled. */
	WARN_ON_ONCE(dma_fence_add_callback(hw, &job->none, none_signalled));
	fence = simgpu_engine_run(job, true);
	/* If it has signalled, the job is gone. */
	if (IS_ERR_OR_NULL(fence)) {
		if (IS_ERR(fence))
			dma_fence_set_error(hw, PTR_ERR(fence));
		dma_fence_signal(hw);
	} else {
		dma_fence_put(fence);
	}
	dma_fence_put(hw);
}

static int simgpu_none_control(struct simgpu_context *context, u32 command,
			       u64 arg)
{
	if (command != SIMGPU_CONTROL_KILL)
		return -EOPNOTSUPP;
	simgpu_engine_cancel(context, -(int)arg);
	return 0;
}

static void simgpu_none_stats(struct simgpu_context *context,
			      struct simgpu_stats *stats)
{
	lockdep_assert_held(&context->submit);
	stats->bypassed = context->submitted;
	/* No submission is in progress, so all existing jobs were committed. */
	stats->pending = atomic_read(&context->none.jobs) - 1;
}

static u32 simgpu_none_fence_bytes(void)
{
	return 0;
}

const struct simgpu_backend simgpu_backend_none = {
	.name = "none",
	.needs_order = true,
	.context_init = simgpu_none_init,
	.context_close = simgpu_none_close,
	.job_init = simgpu_none_job_init,
	.job_add_dep = simgpu_none_add_dep,
	.job_fence = simgpu_none_fence,
	.job_commit = simgpu_none_commit,
	.job_abort = none_free,
	.control = simgpu_none_control,
	.stats = simgpu_none_stats,
	.queue_bytes = sizeof_field(struct simgpu_context, none),
	.job_bytes = sizeof_field(struct simgpu_job, none),
	.fence_bytes = simgpu_none_fence_bytes,
};
