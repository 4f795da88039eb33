// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

#include "internal.h"
#include "trace.h"

/**
 * DOC: running jobs
 *
 * The worker holds the token (&depq_queue.runner) and processes jobs in order:
 * waits for the dependencies of the first job, then runs it, until it is blocked.
 * It never sleeps while blocked; whatever unblocks it kicks it again. A submitter
 * that finds the queue empty processes its job itself. With %DEPQ_QUEUE_SOFTIRQ,
 * if an interrupt unblocks the queue, the softirq that follows it processes jobs,
 * and no thread is woken. Outside interrupts the worker is woken, because a
 * softirq raised in a thread would only wake another thread.
 *
 * =====================  ====================================================
 * blocked by             kicks the worker again
 * =====================  ====================================================
 * a dependency           its callback, in any context
 * credits                completion of a pending job, in any context
 * its arbiter            completion of a job of another queue, in any context
 * stopped                depq_queue_start()
 * timeout                end of the timeout work
 * another runner         its release of the token
 * =====================  ====================================================
 *
 * Each of these changes the queue under its lock and then asks
 * depq_queue_want_kick() under the same lock.
 */

/* Steps before the worker lets other queues that share it have a turn. */
#define DEPQ_RUN_STEPS 64

/* Steps in a softirq, which only interrupts preempt. */
#define DEPQ_SOFTIRQ_STEPS 16

/* Whether the holder of the token can make a step. */
static __always_inline bool depq_queue_ready(struct depq_queue *queue)
{
	struct depq_job *job;

	lockdep_assert_held(&queue->lock);
	if (list_empty(&queue->queued) || queue->tdr)
		return false;
	if (queue->stopped && !queue->error)
		return false;
	/*
	 * The holder of the token may be changing them. If there is one, the
	 * answer only affects the level of a follow worker.
	 */
	if (READ_ONCE(queue->dep))
		return READ_ONCE(queue->dep_done);
	job = list_first_entry(&queue->queued, struct depq_job, link);
	/* The holder of the token changes them without the lock; see above. */
	if (queue->error || data_race(!xa_empty(&job->deps)))
		return true;
	/* Likewise: the runner asks the arbiter itself, or when it leaves. */
	if (unlikely(queue->contender) && queue->runner)
		return depq_queue_fits(queue, job);
	return depq_queue_admits(queue, job);
}

/*
 * Whether the worker must come to put jobs. With %DEPQ_PUT_AUTO only if nobody
 * else will: all existing jobs wait for something in the queue, so none is
 * being prepared and none is on the hardware, and no thread waits. A job that only
 * waits for its turn counts as on the hardware.
 */
static __always_inline bool depq_queue_want_put(struct depq_queue *queue,
						bool ready)
{
	if (list_empty(&queue->done))
		return false;
	if (queue->put == DEPQ_PUT_WORKER)
		return true;
	return queue->put == DEPQ_PUT_AUTO && !ready && !queue->runner &&
	       !queue->reapers && queue->jobs == queue->stats.queued &&
	       (likely(!queue->contender) || !depq_arbiter_contends(queue));
}

/* Takes a reference for the kick if one is necessary. */
static __always_inline bool depq_queue_want(struct depq_queue *queue,
					    bool ready)
{
	bool put;

	if (queue->kicked)
		return false;
	put = depq_queue_want_put(queue, ready);
	ready = ready && !queue->runner;
	if (!put && !ready)
		return false;
	queue->kicked = true;
	queue->softirq = ready && queue->flags & DEPQ_QUEUE_SOFTIRQ &&
			 (in_hardirq() || in_serving_softirq());
	if (queue->softirq)
		queue->stats.softirqs++;
	else
		queue->stats.kicks++;
	depq_queue_get(queue);
	return true;
}

/**
 * depq_queue_want_kick() - whether the worker has something to do
 * @queue: the queue
 *
 * Must be called by everyone who may have made progress possible. If true, the
 * caller must call depq_worker_kick() once it has released the lock; a
 * reference was taken for that.
 *
 * Context: any; the lock of the queue is held.
 * Return: whether the caller must hand the queue to its worker
 */
bool depq_queue_want_kick(struct depq_queue *queue)
{
	bool ready;

	lockdep_assert_held(&queue->lock);
	if (!queue->worker->follow && queue->kicked)
		return false;
	ready = depq_queue_ready(queue);
	if (queue->worker->follow)
		depq_follow_update(queue, ready);
	return depq_queue_want(queue, ready);
}

/*
 * Callback of a hardware fence, under its lock, in any context. Whoever signals
 * the fence holds a reference until it has released that lock, so that the job
 * may drop its reference here.
 */
static void depq_hw_signalled(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	depq_job_done(container_of(cb, struct depq_job, hw_cb), fence->error);
}

/*
 * Hands a job to the hardware, after depq_job_start(). The caller holds the
 * token and a reference to the job, but not the lock.
 */
static __always_inline void depq_job_run(struct depq_queue *queue,
					 struct depq_job *job, bool in_submit)
{
	struct dma_fence *hw;

	lockdep_assert_not_held(&queue->lock);
	trace_depq_job_run(queue, job, in_submit);
	hw = queue->ops->run_job(job);
	if (IS_ERR_OR_NULL(hw)) {
		depq_job_done(job, PTR_ERR_OR_ZERO(hw));
		return;
	}
	job->hw = hw;
	depq_fence_set_hw(job->finished, hw);
	if (dma_fence_add_callback(hw, &job->hw_cb, depq_hw_signalled))
		depq_job_done(job, min(dma_fence_get_status(hw), 0));
}

/* Whether the submitter may run the job now; its dependencies are done. */
static bool depq_job_may_bypass(struct depq_queue *queue, struct depq_job *job)
{
	lockdep_assert_held(&queue->lock);
	return !queue->runner && list_empty(&queue->queued) &&
	       !queue->stopped && !queue->error && !queue->tdr &&
	       depq_queue_admits(queue, job);
}

/*
 * Callback of a dependency, under its lock, in any context. The queue stays
 * alive: its first job waits for us until dep_done is set, and after that the
 * memory stays for an RCU grace period.
 */
static void depq_dep_signalled(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct depq_queue *queue = container_of(cb, struct depq_queue, dep_cb);
	unsigned long flags;
	bool kick;

	rcu_read_lock();
	spin_lock_irqsave(&queue->lock, flags);
	queue->dep_done = true;
	kick = depq_queue_want_kick(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (kick)
		depq_worker_kick(queue);
	rcu_read_unlock();
}

/*
 * Installs the callback on the first dependency that has not signalled. It may
 * be called before this returns.
 */
static void depq_queue_await_dep(struct depq_queue *queue, struct depq_job *job)
{
	struct dma_fence *fence;

	while ((fence = depq_job_next_dep(job))) {
		trace_depq_dep_wait(queue, job, fence);
		xa_erase_bh(&job->deps, job->next_dep);
		WRITE_ONCE(queue->dep_done, false);
		WRITE_ONCE(queue->dep, fence);
		if (!dma_fence_add_callback(fence, &queue->dep_cb,
					    depq_dep_signalled))
			return;
		WRITE_ONCE(queue->dep, NULL);
		dma_fence_put(fence);
	}
}

/*
 * Makes a job that was just queued wait for its dependencies, if it is the first.
 * This way, the worker is not woken just for that, at a stale priority: it is
 * kicked once a job can run, with the level of that job.
 */
static void depq_queue_begin_wait(struct depq_queue *queue,
				  struct depq_job *job)
	__must_hold(&queue->lock)
{
	if (queue->runner || !list_is_first(&job->link, &queue->queued))
		return;
	queue->runner = current;
	spin_unlock_irq(&queue->lock);
	depq_queue_await_dep(queue, job);
	spin_lock_irq(&queue->lock);
	depq_queue_leave(queue);
}

/**
 * depq_job_commit() - hand a job to its queue
 * @job: the job
 *
 * Gives the job its sequence number and its place in the queue in one step, so
 * that both orders are the same. Takes a reference for the queue; the caller
 * keeps its own. May call &depq_ops.run_job if the queue has
 * %DEPQ_QUEUE_BYPASS. From here on the fence is certain to signal. Allocates
 * nothing.
 *
 * Context: process, interrupts on. Does not sleep itself.
 * Return: the sequence number of the job
 */
u64 depq_job_commit(struct depq_job *job)
{
	struct depq_queue *queue = job->queue;
	struct depq_worker *worker = queue->worker;
	bool cookie, bypass, kick, ready, raise = false;
	u16 level = 0;
	u64 seqno;

	lockdep_assert_irqs_enabled();
	cookie = dma_fence_begin_signalling();
	if (worker->follow)
		level = depq_follow_level(worker);
	bypass = (queue->flags & DEPQ_QUEUE_BYPASS) &&
		 (xa_empty(&job->deps) || !depq_job_next_dep(job));

	spin_lock_irq(&queue->lock);
	WARN_ON_ONCE(job->state != DEPQ_JOB_INIT);
	seqno = ++queue->seqno;
	job->finished->seqno = seqno;
	depq_job_get(job);
	queue->stats.submitted++;
	bypass = bypass && depq_job_may_bypass(queue, job);
	trace_depq_job_queue(queue, job, bypass);
	if (bypass) {
		queue->stats.bypassed++;
		queue->runner = current;
		depq_job_start(queue, job);
		spin_unlock_irq(&queue->lock);

		depq_job_run(queue, job, true);

		spin_lock_irq(&queue->lock);
		depq_queue_leave(queue);
	} else {
		job->state = DEPQ_JOB_QUEUED;
		queue->stats.queued++;
		job->level = level;
		list_add_tail(&job->link, &queue->queued);
		if (worker->follow)
			depq_follow_append(queue, job);
		if (!xa_empty(&job->deps))
			depq_queue_begin_wait(queue, job);
	}
	ready = depq_queue_ready(queue);
	if (worker->follow && depq_follow_differs(queue, ready))
		raise = depq_follow_count(queue, ready);
	kick = depq_queue_want(queue, ready);
	spin_unlock_irq(&queue->lock);
	/* Even if it was woken before: it may be waiting for a CPU. */
	if (raise)
		depq_follow_raise(worker);
	if (kick)
		depq_worker_kick(queue);
	dma_fence_end_signalling(cookie);
	return seqno;
}
EXPORT_SYMBOL_GPL(depq_job_commit);

/* Fails a job that will not be run; earlier ones may still be pending. */
static void depq_queue_cancel(struct depq_queue *queue, struct depq_job *job,
			      unsigned long *flags)
	__must_hold(&queue->lock)
{
	LIST_HEAD(reaped);

	/* No other holder of the token can take the job off @queued meanwhile. */
	spin_unlock_irqrestore(&queue->lock, *flags);
	depq_signal_lock(queue, flags);

	list_move_tail(&job->link, &queue->pending);
	queue->stats.queued--;
	queue->stats.pending++;
	queue->stats.cancelled++;
	job->state = DEPQ_JOB_DONE;
	job->error = queue->error;
	if (queue->worker->follow)
		depq_follow_leave(queue, job, depq_queue_ready(queue));
	depq_queue_drain(queue, flags, &reaped);
	depq_signal_unlock(queue, *flags);
	depq_put_all(&reaped);
	spin_lock_irqsave(&queue->lock, *flags);
}

/* Runs the first job; the caller holds the token, and nothing blocks the job. */
static void depq_queue_run_first(struct depq_queue *queue, struct depq_job *job,
				 unsigned long *flags)
	__must_hold(&queue->lock)
{
	struct depq_worker *worker = queue->worker;
	struct depq_owner *owner = NULL;
	u64 since = 0;

	/* Its completion may drop the queue's reference to it at once. */
	depq_job_get(job);
	list_del(&job->link);
	queue->stats.queued--;
	depq_job_start(queue, job);
	if (unlikely(queue->owner))
		owner = depq_owner_begin(queue, &since);
	if (worker->follow)
		depq_follow_leave(queue, job, depq_queue_ready(queue));
	spin_unlock_irqrestore(&queue->lock, *flags);
	depq_job_run(queue, job, false);
	depq_job_put(job);
	if (owner)
		depq_owner_charge(owner, since, depq_follow_is_realtime(worker));
	spin_lock_irqsave(&queue->lock, *flags);
}

/*
 * One step of the worker, with the token and the lock, which is released and
 * taken again in between. Returns false if the queue is blocked.
 */
static bool depq_queue_step(struct depq_queue *queue, unsigned long *flags)
	__must_hold(&queue->lock)
{
	struct depq_worker *worker = queue->worker;
	struct dma_fence *dep = queue->dep;
	struct depq_job *job;

	if (!depq_queue_ready(queue))
		return false;
	if (dep) {
		queue->dep = NULL;
		spin_unlock_irqrestore(&queue->lock, *flags);
		dma_fence_put(dep);
		spin_lock_irqsave(&queue->lock, *flags);
		return true;
	}

	job = list_first_entry(&queue->queued, struct depq_job, link);
	if (!xa_empty(&job->deps)) {
		spin_unlock_irqrestore(&queue->lock, *flags);
		depq_queue_await_dep(queue, job);
		spin_lock_irqsave(&queue->lock, *flags);
		if (worker->follow)
			depq_follow_update(queue, depq_queue_ready(queue));
		return true;
	}
	if (queue->error) {
		depq_queue_cancel(queue, job, flags);
		return true;
	}
	/* Its process may have used up its realtime budget meanwhile. */
	if (unlikely(queue->owner))
		depq_follow_update(queue, true);
	if (worker->follow && depq_follow_is_off(queue, job)) {
		spin_unlock_irqrestore(&queue->lock, *flags);
		depq_follow_settle(worker);
		spin_lock_irqsave(&queue->lock, *flags);
		/* Whatever the result, the job is run if it still may be. */
		if (queue->error || !depq_queue_ready(queue))
			return true;
	}
	if (!depq_queue_admits(queue, job))
		return false;

	depq_queue_run_first(queue, job, flags);
	return true;
}

/* Makes steps until the queue is blocked. Returns whether it is. */
static bool depq_queue_serve(struct depq_queue *queue, int steps)
{
	unsigned long flags;
	bool stuck = true;

	spin_lock_irqsave(&queue->lock, flags);
	queue->kicked = false;
	/* Another runner will check the queue when it leaves. */
	if (!queue->runner && depq_queue_ready(queue)) {
		queue->runner = current;
		do {
			stuck = !depq_queue_step(queue, &flags);
		} while (!stuck && --steps);
		depq_queue_leave(queue);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return stuck;
}

/**
 * depq_queue_work() - process a queue in the worker
 * @queue: the queue, after depq_worker_kick(); its reference is put here
 *
 * Context: process, may sleep if &depq_ops.run_job does.
 */
void depq_queue_work(struct depq_queue *queue)
{
	unsigned long flags;
	bool cookie, kick;

	might_sleep();
	cookie = dma_fence_begin_signalling();
	depq_queue_serve(queue, DEPQ_RUN_STEPS);
	if (queue->put == DEPQ_PUT_WORKER || queue->put == DEPQ_PUT_AUTO)
		depq_reap(queue, U32_MAX, DEPQ_WHERE_WORKER);
	if (queue->worker->follow)
		depq_follow_pause(queue->worker);

	spin_lock_irqsave(&queue->lock, flags);
	kick = depq_queue_want_kick(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
	dma_fence_end_signalling(cookie);
	if (kick)
		depq_worker_kick(queue);
	depq_queue_put(queue);
}

/**
 * depq_queue_softirq() - process a queue in a softirq instead of the worker
 * @tasklet: &depq_queue.tasklet, after depq_worker_kick(); the reference to the
 *	queue is put here
 *
 * What remains after a few steps is left to the worker, which the scheduler
 * controls.
 *
 * Context: softirq. The memory of the queue stays for an RCU grace period, and so
 * until the tasklet has returned.
 */
void depq_queue_softirq(struct tasklet_struct *tasklet)
{
	struct depq_queue *queue = from_tasklet(queue, tasklet, tasklet);
	unsigned long flags;
	bool cookie, kick, stuck;

	cookie = dma_fence_begin_signalling();
	stuck = depq_queue_serve(queue, DEPQ_SOFTIRQ_STEPS);
	spin_lock_irqsave(&queue->lock, flags);
	kick = depq_queue_want_kick(queue);
	if (kick && queue->softirq && !stuck) {
		queue->softirq = false;
		queue->stats.softirqs--;
		queue->stats.kicks++;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	dma_fence_end_signalling(cookie);
	if (kick)
		depq_worker_kick(queue);
	depq_queue_put(queue);
}
