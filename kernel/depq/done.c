// SPDX-License-Identifier: GPL-2.0-only
#include "internal.h"
#include "trace.h"

/**
 * DOC: completion
 *
 * Jobs may be done in any order, on any CPU, in any context; they signal in the
 * order of their sequence numbers. Whoever finishes a job marks it done and
 * then drains: takes those that are done off the front of @pending, one after
 * the other, and signals each with the lock of the queue released. Both happen
 * under &depq_queue.signal_lock, so that no job overtakes another in between.
 *
 * That is a lock and not a mark that leaves the jobs of others to whoever has
 * set it: a thread that drains may be preempted between two jobs, and a job that
 * is done elsewhere would wait until it runs again, however urgent its waiter.
 * With the lock, whoever finishes a job signals it itself. Without PREEMPT_RT
 * the holder is not preempted; on PREEMPT_RT it inherits the priority of
 * whoever waits for the lock. The lock is released after each job, so nobody
 * waits for more than one to signal for each that came before it.
 *
 * The queue's reference to a job that has signalled is dropped by:
 *
 * ======================  ===================================================
 * %DEPQ_PUT_IRQ           the drainer, when it has released the lock for good
 * %DEPQ_PUT_WORKER        the worker, which is kicked
 * %DEPQ_PUT_SUBMIT        depq_job_init(), a few at a time; what is left
 *                         after 100 ms, a delayed work
 * %DEPQ_PUT_AUTO          the drainer, if the driver allows it
 *                         (%DEPQ_QUEUE_PUT_IRQ); else depq_job_init(), a few
 *                         at a time, and whoever has waited
 *                         (depq_queue_wait_end()). The worker is kicked where
 *                         neither is to come: no job of the queue is being
 *                         prepared or with the hardware, and nobody has
 *                         announced that he waits
 * ======================  ===================================================
 *
 * The drainer touches neither a job nor the queue once these can have dropped
 * the last reference; that the unlock itself may come after that is what the grace
 * period before the release of a queue is for.
 */

/* How long finished jobs wait for a submitter. */
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
 * depq_signal_lock() - take the locks under which jobs signal
 * @queue: the queue
 * @flags: for depq_signal_unlock()
 *
 * Context: any; under no lock of a finished fence and no other of depq.
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

/* The job that is next to signal, if it is done. */
static struct depq_job *depq_queue_next_done(struct depq_queue *queue)
{
	struct depq_job *job;

	lockdep_assert_held(&queue->lock);
	job = list_first_entry_or_null(&queue->pending, struct depq_job, link);
	return job && job->state == DEPQ_JOB_DONE ? job : NULL;
}

/**
 * depq_queue_drain() - signal those jobs that are next in order and done
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
			/* Let in interrupts, and whoever waits for the lock. */
			depq_signal_unlock(queue, *flags);
			depq_signal_lock(queue, flags);
			/* Whoever had the lock may have signalled that job. */
			job = depq_queue_next_done(queue);
		}
	}

	/* Who waits has looked under the lock: see depq_queue_leave(). */
	if (waitqueue_active(&queue->wait))
		wake_up_all(&queue->wait);
	if (queue->put == DEPQ_PUT_SUBMIT && !queue->reap_armed &&
	    !list_empty(&queue->done))
		depq_reap_arm(queue);
}

/**
 * depq_job_done() - the hardware is done with a job, or will not do it
 * @job: the job, pending; what the caller knows of it may be stale after this
 * @error: 0 or what went wrong
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
 * depq_queue_take() - take jobs that have signalled off the queue
 * @queue: the queue
 * @most: how many at most
 * @where: who will drop their references
 * @reaped: where they go; for depq_put_all() once the lock is released
 *
 * Context: any; the lock of the queue is held.
 * Return: how many were taken
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
 * depq_reap() - drop the references to jobs that have signalled
 * @queue: the queue, to which the caller has a reference
 * @most: how many at most
 * @where: who does it
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
 * depq_reap_force() - have the delayed work come now, if it is armed
 * @queue: the queue, to which the caller has a reference
 *
 * Context: any, but not under a lock of a fence.
 */
void depq_reap_force(struct depq_queue *queue)
{
	if (!READ_ONCE(queue->reap_armed))
		return;
	/* Each time the work is queued it has a reference of its own. */
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
