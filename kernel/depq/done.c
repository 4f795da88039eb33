// SPDX-License-Identifier: GPL-2.0-only
#include "internal.h"
#include "trace.h"

/**
 * DOC: completion
 *
 * Jobs may complete in any order, on any CPU, in any context; they signal in the
 * order of their sequence numbers. Whoever completes a job marks it done and
 * then drains: takes done jobs off the front of @pending, one by
 * one, and signals each with the lock of the queue released. Both happen
 * under &depq_queue.signal_lock, so that no job overtakes another in between.
 *
 * That is a lock, not a flag that leaves the jobs of others to the thread that
 * has set it: a thread that drains may be preempted between two jobs, and a job
 * completed elsewhere would wait until it runs again, however urgent its waiter.
 * With the lock, whoever completes a job signals it itself. Without PREEMPT_RT
 * the holder is not preempted; on PREEMPT_RT it inherits the priority of
 * whoever waits for the lock. The lock is released after each job, so nobody
 * waits for more than one signal per preceding job.
 *
 * The queue's reference to a job that has signalled is dropped by:
 *
 * ======================  ===================================================
 * %DEPQ_PUT_IRQ           the drainer, when it has released the lock for good
 * %DEPQ_PUT_WORKER        the worker, which is kicked
 * %DEPQ_PUT_SUBMIT        depq_job_init(), a few at a time; after 100 ms, delayed
 *                         work drops the rest
 * %DEPQ_PUT_AUTO          the drainer, if the driver allows it
 *                         (%DEPQ_QUEUE_PUT_IRQ); else depq_job_init(), a few
 *                         at a time, and threads that have waited
 *                         (depq_queue_wait_end()). The worker is kicked if
 *                         neither is to come: no job of the queue is being
 *                         prepared or on the hardware, and no thread has
 *                         announced that it waits
 * ======================  ===================================================
 *
 * The drainer accesses neither a job nor the queue once these operations can have
 * dropped the last reference; the unlock itself may come later, which is why
 * there is a grace period before the release of a queue.
 */

/* How long finished jobs wait for the next submitter. */
#define DEPQ_REAP_DELAY_MS 100

/* Jobs that are taken off a queue at a time, with interrupts off. */
#define DEPQ_REAP_BATCH 64U

static void depq_reap_arm(struct depq_queue *queue)
{
	unsigned long delay = msecs_to_jiffies(DEPQ_REAP_DELAY_MS);

	lockdep_assert_held(&queue->lock);
	queue->reap_armed = true;
	depq_queue_get(queue);
	if (!queue_delayed_work(queue->dev->release_wq, &queue->reap_work,
				queue->error ? 0 : delay))
		depq_queue_put(queue);
}

/**
 * depq_signal_lock() - take the locks for signalling jobs
 * @queue: the queue
 * @flags: for depq_signal_unlock()
 *
 * Context: any; not under a lock of a finished fence or another lock of depq.
 */
void depq_signal_lock(struct depq_queue *queue, unsigned long *flags)
	__acquires(&queue->signal_lock) __acquires(&queue->lock)
{
	spin_lock_irqsave(&queue->signal_lock, *flags);
	spin_lock(&queue->lock);
}

/**
 * depq_signal_unlock() - undo depq_signal_lock()
 * @queue: the queue
 * @flags: from there
 *
 * Context: any.
 */
void depq_signal_unlock(struct depq_queue *queue, unsigned long flags)
	__releases(&queue->lock) __releases(&queue->signal_lock)
{
	spin_unlock(&queue->lock);
	spin_unlock_irqrestore(&queue->signal_lock, flags);
}

/* Returns the next job to signal, if it is done. */
static struct depq_job *depq_queue_next_done(struct depq_queue *queue)
{
	struct depq_job *job;

	lockdep_assert_held(&queue->lock);
	job = list_first_entry_or_null(&queue->pending, struct depq_job, link);
	return job && job->state == DEPQ_JOB_DONE ? job : NULL;
}

/**
 * depq_queue_drain() - signal jobs that are done and next in order
 * @queue: the queue; the caller has a reference or is inside RCU
 * @flags: from depq_signal_lock(); its locks are released and taken again in
 *	between
 * @reaped: jobs for depq_put_all() once the locks are released
 *
 * Context: any; after depq_signal_lock().
 */
void depq_queue_drain(struct depq_queue *queue, unsigned long *flags,
		      struct list_head *reaped)
	__must_hold(&queue->lock)
{
	struct depq_job *job = depq_queue_next_done(queue);

	lockdep_assert_held(&queue->signal_lock);
	while (job) {
		list_del(&job->link);
		queue->stats.pending--;
		queue->stats.done++;
		queue->stats.failed += !!job->error;
		spin_unlock(&queue->lock);

		trace_depq_job_done(queue, job);
		if (job->error)
			dma_fence_set_error(job->finished, job->error);
		WARN_ON_ONCE(dma_fence_check_and_signal(job->finished));

		spin_lock(&queue->lock);
		queue->jobs--;
		job->state = DEPQ_JOB_SIGNALLED;
		list_add_tail(&job->link, &queue->done);
		if (queue->put_irq)
			depq_queue_take(queue, 1, DEPQ_WHERE_IRQ, reaped);
		job = depq_queue_next_done(queue);
		if (job) {
			/* Let interrupts in, and whoever waits for the lock. */
			depq_signal_unlock(queue, *flags);
			depq_signal_lock(queue, flags);
			/* Whoever had the lock may have signalled that job. */
			job = depq_queue_next_done(queue);
		}
	}

	/* Waiters check under the lock: see depq_queue_leave(). */
	if (waitqueue_active(&queue->wait))
		wake_up_all(&queue->wait);
	if (queue->put == DEPQ_PUT_SUBMIT && !queue->reap_armed &&
	    !list_empty(&queue->done))
		depq_reap_arm(queue);
}

/**
 * depq_job_done() - complete a job, or fail it
 * @job: the job, pending; the caller must not access it after this
 * @error: 0 or the error
 *
 * Context: any, maybe under a lock of a hardware fence.
 */
void depq_job_done(struct depq_job *job, int error)
{
	struct depq_queue *queue = job->queue;
	u64 engine_ns = DEPQ_ENGINE_NS_MEASURE;
	struct depq_contender *contender;
	unsigned long flags;
	LIST_HEAD(reaped);
	bool cookie, kick;

	cookie = dma_fence_begin_signalling();
	rcu_read_lock();
	contender = queue->contender;
	if (unlikely(contender) && queue->ops->engine_time)
		engine_ns = queue->ops->engine_time(job);
	depq_signal_lock(queue, &flags);
	if (WARN_ON_ONCE(job->state != DEPQ_JOB_PENDING)) {
		kick = false;
		goto unlock;
	}
	WARN_ON_ONCE(queue->credits < job->credits);
	if (list_is_first(&job->link, &queue->pending))
		queue->head_since = jiffies;
	job->state = DEPQ_JOB_DONE;
	job->error = error;
	queue->credits -= job->credits;
	if (unlikely(contender))
		depq_arbiter_end(queue, job, engine_ns);
	depq_queue_drain(queue, &flags, &reaped);
	kick = depq_queue_want_kick(queue);
unlock:
	depq_signal_unlock(queue, flags);
	if (kick)
		depq_worker_kick(queue);
	if (unlikely(contender))
		depq_arbiter_dispatch(contender);
	depq_put_all(&reaped);
	rcu_read_unlock();
	dma_fence_end_signalling(cookie);
}

/**
 * depq_queue_take() - take signalled jobs off the queue
 * @queue: the queue
 * @most: the most to take
 * @where: where their references will be dropped
 * @reaped: list to add them to; for depq_put_all() once the lock is released
 *
 * Context: any; the lock of the queue is held.
 * Return: the number taken
 */
u32 depq_queue_take(struct depq_queue *queue, u32 most,
		    enum depq_where where, struct list_head *reaped)
{
	struct depq_job *job, *next;
	u32 taken = 0;

	lockdep_assert_held(&queue->lock);
	list_for_each_entry_safe(job, next, &queue->done, link) {
		if (taken == most)
			break;
		taken++;
		list_move_tail(&job->link, reaped);
		job->state = DEPQ_JOB_REAPED;
		trace_depq_job_put(queue, job, where);
		switch (where) {
		case DEPQ_WHERE_IRQ:
			queue->stats.put_irq++;
			break;
		case DEPQ_WHERE_SUBMIT:
			queue->stats.put_submit++;
			break;
		case DEPQ_WHERE_WORKER:
			queue->stats.put_worker++;
			break;
		case DEPQ_WHERE_DELAYED:
			queue->stats.put_delayed++;
			break;
		}
	}
	return taken;
}

/**
 * depq_put_all() - drop the queue's references to jobs
 * @reaped: from depq_queue_take()
 *
 * Context: as &depq_ops.release_job; the lock of the queue is not held. The
 * queue may go with the last of its jobs.
 */
void depq_put_all(struct list_head *reaped)
{
	struct depq_job *job, *next;

	list_for_each_entry_safe(job, next, reaped, link)
		depq_job_put(job);
}

/**
 * depq_reap() - drop the queue's references to signalled jobs
 * @queue: the queue, to which the caller has a reference
 * @most: the most to drop
 * @where: where this happens
 *
 * Context: as &depq_ops.release_job.
 */
void depq_reap(struct depq_queue *queue, u32 most, enum depq_where where)
{
	unsigned long flags;
	LIST_HEAD(reaped);
	u32 batch, taken;

	do {
		batch = min(most, DEPQ_REAP_BATCH);
		spin_lock_irqsave(&queue->lock, flags);
		taken = depq_queue_take(queue, batch, where, &reaped);
		spin_unlock_irqrestore(&queue->lock, flags);
		depq_put_all(&reaped);
		INIT_LIST_HEAD(&reaped);
		most -= taken;
	} while (most && taken == batch);
}

/**
 * depq_reap_force() - run the delayed work now, if it is armed
 * @queue: the queue, to which the caller has a reference
 *
 * Context: any, but not under a lock of a fence.
 */
void depq_reap_force(struct depq_queue *queue)
{
	if (!READ_ONCE(queue->reap_armed))
		return;
	/* Each queueing of the work holds a reference. */
	depq_queue_get(queue);
	if (mod_delayed_work(queue->dev->release_wq, &queue->reap_work, 0))
		depq_queue_put(queue);
}

/**
 * depq_reap_work() - drop the references that no submitter has dropped
 * @work: &depq_queue.reap_work; drops its reference to the queue
 *
 * Context: process, on the workqueue of the device for releases.
 */
void depq_reap_work(struct work_struct *work)
{
	struct depq_queue *queue = container_of(to_delayed_work(work),
						struct depq_queue, reap_work);

	spin_lock_irq(&queue->lock);
	queue->reap_armed = false;
	spin_unlock_irq(&queue->lock);
	depq_reap(queue, U32_MAX, DEPQ_WHERE_DELAYED);
	depq_queue_put(queue);
}
