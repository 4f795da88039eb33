// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

#include "internal.h"
#include "trace.h"

/**
 * DOC: jobs
 *
 * ============================ ================= ======== ===================
 * state                        owner             lock     exits
 * ============================ ================= ======== ===================
 * %DEPQ_JOB_INIT               submitter         none     commit, put
 * %DEPQ_JOB_QUEUED             queue (@queued)   queue's  run, cancel
 * %DEPQ_JOB_PENDING            queue (@pending)  queue's  hardware, reset
 * %DEPQ_JOB_DONE               queue (@pending)  queue's  all before it are
 *                                                         signalled
 * %DEPQ_JOB_SIGNALLED          queue (@done)     queue's  dropped by whom
 *                                                         &enum depq_put says
 * %DEPQ_JOB_REAPED             other references  none     last put
 * ============================ ================= ======== ===================
 *
 * ============================ ==============================================
 * state                        who moves it on, in which context
 * ============================ ==============================================
 * %DEPQ_JOB_INIT               submitter, process
 * %DEPQ_JOB_QUEUED             runner of the queue, process
 * %DEPQ_JOB_PENDING            callback of the hardware fence, any context
 *                              with the lock of that fence; or the timeout
 *                              work, process, once it has removed the callback
 * %DEPQ_JOB_DONE               holder of &depq_queue.signal_lock, any context
 * %DEPQ_JOB_SIGNALLED          drainer, submitter, worker or delayed work
 * ============================ ==============================================
 *
 * References: the submitter's, from depq_job_init() until it drops it; the
 * queue's, from depq_job_commit() until the job is reaped; one while the worker
 * runs it and one while the timeout work handles it. The job holds its finished
 * fence, the hardware fence once there is one, the queue, and each dependency
 * until that has signalled. Dependencies are dropped in process context or in a
 * softirq, all of them before the job is run, since the last reference to the job
 * may be dropped in a hard interrupt.
 *
 * Fields: @deps by index, the first possible one at @next_dep, changed by
 * the submitter, then by the runner of the queue; @link in one of the lists of
 * the queue, or in a list of jobs whose reference is about to be dropped; @start
 * when it was handed to the hardware, or when the driver last reported it
 * alive; @error the error that it will signal.
 */

/*
 * The most finished jobs that a submitter drops. More than the one it adds,
 * so that the list shrinks; few, so that no submitter pays for all others.
 */
#define DEPQ_SUBMIT_REAP 4

static bool depq_queue_has_room(struct depq_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	return queue->jobs < queue->max_queued || queue->error;
}

/* Counts a job in, after waiting for room if necessary. */
static int depq_queue_enter(struct depq_queue *queue, u32 flags)
{
	int ret = 0;

	spin_lock_irq(&queue->lock);
	if (!depq_queue_has_room(queue)) {
		if (flags & DEPQ_JOB_NONBLOCK)
			ret = -EAGAIN;
		else
			ret = wait_event_interruptible_lock_irq(queue->wait,
								depq_queue_has_room(queue),
								queue->lock);
	}
	if (queue->error)
		ret = queue->error;
	if (!ret)
		queue->jobs++;
	spin_unlock_irq(&queue->lock);
	return ret;
}

/* Counts a job out that was never committed. */
static void depq_queue_exit(struct depq_queue *queue)
{
	unsigned long flags;
	bool kick;

	spin_lock_irqsave(&queue->lock, flags);
	queue->jobs--;
	/* As in depq_queue_leave(). */
	if (waitqueue_active(&queue->wait))
		wake_up_all(&queue->wait);
	/* The job that would have dropped others will not come. */
	kick = depq_queue_want_kick(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (kick)
		depq_worker_kick(queue);
}

/**
 * depq_job_init() - initialise a job
 * @job: memory for it; freed by &depq_ops.release_job
 * @queue: the queue it will go to
 * @credits: used while it is on the hardware, 1 to the queue's limit
 * @flags: %DEPQ_JOB_NONBLOCK or 0
 *
 * Reaps a few finished jobs if the queue has %DEPQ_PUT_SUBMIT or %DEPQ_PUT_AUTO.
 * Waits for room in the queue. On failure nothing was done to @job.
 *
 * Context: process, may sleep; not in a dma_fence signalling section.
 * Return:
 * * 0 - the job has one reference, the caller's; drop it with depq_job_put()
 *   after depq_job_commit(), or without a commit to give up
 * * -EINVAL - @credits or @flags are out of range
 * * -ENOMEM - out of memory
 * * -EAGAIN - no room, with %DEPQ_JOB_NONBLOCK
 * * -ERESTARTSYS - a signal came while waiting for room
 * * the error of the queue - it was killed or banned
 */
int depq_job_init(struct depq_job *job, struct depq_queue *queue, u32 credits,
		  u32 flags)
{
	struct dma_fence *finished;
	int ret;

	might_sleep();
	if (!credits || credits > queue->credit_limit ||
	    (flags & ~DEPQ_JOB_NONBLOCK))
		return -EINVAL;

	/*
	 * Here and not in the commit: this half may take its time, and it is
	 * about to allocate what this frees. If the list seems empty a moment
	 * too early, the next submitter reaps the job.
	 */
	if ((queue->put == DEPQ_PUT_SUBMIT || queue->put == DEPQ_PUT_AUTO) &&
	    !list_empty(&queue->done))
		depq_reap(queue, DEPQ_SUBMIT_REAP, DEPQ_WHERE_SUBMIT);

	if (queue->worker->follow) {
		ret = depq_owner_claim(queue);
		if (ret)
			return ret;
	}
	ret = depq_queue_enter(queue, flags);
	if (ret)
		return ret;
	finished = depq_fence_create(queue);
	if (!finished) {
		depq_queue_exit(queue);
		return -ENOMEM;
	}

	kref_init(&job->ref);
	job->queue = depq_queue_get(queue);
	job->finished = finished;
	job->hw = NULL;
	xa_init_flags(&job->deps, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_BH |
				  XA_FLAGS_ACCOUNT);
	job->next_dep = 0;
	INIT_LIST_HEAD(&job->link);
	INIT_LIST_HEAD(&job->urgent);
	job->credits = credits;
	job->error = 0;
	job->state = DEPQ_JOB_INIT;
	return 0;
}
EXPORT_SYMBOL_GPL(depq_job_init);

/**
 * depq_job_add_dep() - make a job wait for a fence
 * @job: the job, not yet committed
 * @fence: the fence, or NULL. Consumes the caller's reference, also on failure.
 *
 * Of several fences with the same context only the latest counts. Fences of the
 * job's own queue are dropped: jobs are run in order anyway. A dependency that
 * has signalled an error counts as signalled.
 *
 * Context: process, may sleep; not in a dma_fence signalling section.
 * Return:
 * * 0 - success
 * * -ENOMEM - out of memory
 */
int depq_job_add_dep(struct depq_job *job, struct dma_fence *fence)
{
	struct dma_fence *old;
	unsigned long index;
	u32 id;
	int ret;

	might_sleep();
	if (!fence)
		return 0;

	WARN_ON_ONCE(job->state != DEPQ_JOB_INIT);
	trace_depq_dep_add(job->queue, job, fence);
	if (fence->context == job->queue->fence_context ||
	    dma_fence_is_signaled(fence)) {
		dma_fence_put(fence);
		return 0;
	}

	xa_for_each(&job->deps, index, old) {
		if (old->context != fence->context)
			continue;
		if (dma_fence_is_later(fence, old)) {
			/* Replaces an entry, so it allocates nothing. */
			xa_store_bh(&job->deps, index, fence, GFP_KERNEL);
			fence = old;
		}
		dma_fence_put(fence);
		return 0;
	}

	ret = xa_alloc_bh(&job->deps, &id, fence, xa_limit_32b, GFP_KERNEL);
	if (ret)
		dma_fence_put(fence);
	return ret;
}
EXPORT_SYMBOL_GPL(depq_job_add_dep);

/**
 * depq_job_next_dep() - find the next dependency of a job
 * @job: the job; the caller is its submitter or the runner of the queue
 *
 * Drops dependencies that have signalled.
 *
 * Context: process or softirq, interrupts on.
 * Return: the first dependency that has not signalled, at &depq_job.next_dep; the
 * job keeps the reference. NULL if there is none left.
 */
struct dma_fence *depq_job_next_dep(struct depq_job *job)
{
	struct dma_fence *fence;

	while ((fence = xa_find(&job->deps, &job->next_dep, ULONG_MAX,
				XA_PRESENT))) {
		if (!dma_fence_is_signaled(fence))
			return fence;
		xa_erase_bh(&job->deps, job->next_dep);
		dma_fence_put(fence);
	}
	WARN_ON_ONCE(!xa_empty(&job->deps));
	return NULL;
}

/**
 * depq_job_fence() - get the finished fence of a job
 * @job: the job
 *
 * It may be given to others only after the job was committed; before that it
 * has no sequence number.
 *
 * Context: any.
 * Return: the fence; the job keeps the reference
 */
struct dma_fence *depq_job_fence(struct depq_job *job)
{
	return job->finished;
}
EXPORT_SYMBOL_GPL(depq_job_fence);

/**
 * depq_job_get() - take a reference
 * @job: the job, to which the caller has a reference
 *
 * Context: any.
 * Return: @job
 */
struct depq_job *depq_job_get(struct depq_job *job)
{
	kref_get(&job->ref);
	return job;
}
EXPORT_SYMBOL_GPL(depq_job_get);

static void depq_job_abort(struct depq_job *job)
{
	struct dma_fence *fence;
	unsigned long index;

	xa_for_each(&job->deps, index, fence) {
		xa_erase_bh(&job->deps, index);
		dma_fence_put(fence);
	}
	depq_queue_exit(job->queue);
}

static void depq_job_release(struct kref *ref)
{
	struct depq_job *job = container_of(ref, struct depq_job, ref);
	struct depq_queue *queue = job->queue;

	if (job->state == DEPQ_JOB_INIT)
		depq_job_abort(job);
	else
		WARN_ON_ONCE(job->state != DEPQ_JOB_REAPED);
	WARN_ON_ONCE(!xa_empty(&job->deps));

	depq_fence_clear_hw(job->finished);
	dma_fence_put(job->hw);
	dma_fence_put(job->finished);
	queue->ops->release_job(job);
	depq_queue_put(queue);
}

/**
 * depq_job_put() - drop a reference
 * @job: the job, or NULL
 *
 * Context: any. If the job was not committed: process.
 */
void depq_job_put(struct depq_job *job)
{
	if (job)
		kref_put(&job->ref, depq_job_release);
}
EXPORT_SYMBOL_GPL(depq_job_put);
