// SPDX-License-Identifier: GPL-2.0-only
#include "internal.h"
#include "trace.h"

/**
 * DOC: timeouts
 *
 * There is one timer per queue, not per job. It is armed when a job is
 * run, unless it is armed already, and is not touched when jobs end. On expiry
 * it checks the oldest job on the hardware: if that has time left,
 * the timer is rearmed for the rest. So a stream of jobs costs one expiry per
 * timeout, not two timer updates per job.
 *
 * The deadline of a job is the timeout after it was run, or after the previous
 * job was done if that is later: a hardware queue works on one after the
 * other.
 *
 * When a job is overdue, &depq_queue.tdr keeps jobs from being run, the work
 * waits until the runner has left, so that every pending job has its hardware
 * fence and callback, and then asks the driver. Jobs may complete meanwhile.
 * The lock of the hardware fence arbitrates: if
 * dma_fence_remove_callback() returns true, the job is ours to finish; if
 * false, the callback has completed.
 *
 * ================  ==========================  ============================
 * work              reference to the queue      exits
 * ================  ==========================  ============================
 * idle              none                        a job is run; forced
 * armed             one                         time; forced
 * running           the same                    end; armed again with a new
 *                                               one while jobs are pending
 * ================  ==========================  ============================
 */

/**
 * depq_tdr_arm() - schedule the timeout work of a queue
 * @queue: the queue, to which the caller has a reference
 * @delay: jiffies
 *
 * Context: any; the lock of the queue is held.
 */
void depq_tdr_arm(struct depq_queue *queue, unsigned long delay)
{
	lockdep_assert_held(&queue->lock);
	queue->tdr_armed = true;
	depq_queue_get(queue);
	/* depq_tdr_force() may have queued it already, with a reference. */
	if (!queue_delayed_work(queue->dev->timeout_wq, &queue->tdr_work, delay))
		depq_queue_put(queue);
}

/**
 * depq_tdr_force() - run the timeout work of a queue now
 * @queue: the queue, to which the caller has a reference
 *
 * Context: any, but not under a lock of a fence or of the queue.
 */
void depq_tdr_force(struct depq_queue *queue)
{
	depq_queue_get(queue);
	if (mod_delayed_work(queue->dev->timeout_wq, &queue->tdr_work, 0))
		depq_queue_put(queue);
}

/* Returns the oldest job on the hardware. */
static struct depq_job *depq_tdr_oldest(struct depq_queue *queue)
{
	struct depq_job *job;

	lockdep_assert_held(&queue->lock);
	list_for_each_entry(job, &queue->pending, link)
		if (job->state == DEPQ_JOB_PENDING)
			return job;
	return NULL;
}

/*
 * The deadline of a job. A job that began late in a jiffy must not be cut
 * short, hence the additional one.
 */
static unsigned long depq_tdr_deadline(struct depq_queue *queue,
				       struct depq_job *job)
{
	unsigned long since = job->start;

	if (time_after(queue->head_since, since))
		since = queue->head_since;
	return since + queue->timeout + 1;
}

/* Returns the job about which to ask the driver. */
static struct depq_job *depq_tdr_overdue(struct depq_queue *queue)
{
	struct depq_job *job = depq_tdr_oldest(queue);

	if (!job) {
		queue->tdr_forced = false;
		return NULL;
	}
	if (queue->tdr_forced)
		return job;
	if (queue->timeout &&
	    time_after_eq(jiffies, depq_tdr_deadline(queue, job)))
		return job;
	return NULL;
}

/*
 * Counts a hang, and bans the queue if that exceeds the limit. Done before the
 * fence of the job signals, so that whoever waited for it sees the ban.
 */
static void depq_tdr_count(struct depq_queue *queue, enum depq_verdict verdict)
{
	bool kick = false;

	spin_lock_irq(&queue->lock);
	queue->stats.timedout += verdict == DEPQ_RESET;
	if (!queue->error && ++queue->hangs > queue->hang_limit)
		kick = depq_queue_kill_locked(queue, -ENODEV);
	spin_unlock_irq(&queue->lock);
	if (kick)
		depq_worker_kick(queue);
	if (queue->contender)
		depq_arbiter_dispatch(queue->contender);
}

/*
 * The hardware will not touch the job any more, so the driver will not signal
 * its fence; others who hold the fence must not wait forever. Unless the driver is
 * just signalling it: the lock of the fence arbitrates.
 */
static void depq_tdr_signal_hw(struct dma_fence *hw, int error)
{
	unsigned long flags;

	dma_fence_lock_irqsave(hw, flags);
	if (!test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &hw->flags)) {
		dma_fence_set_error(hw, error);
		dma_fence_signal_locked(hw);
	}
	dma_fence_unlock_irqrestore(hw, flags);
}

/*
 * Finishes all jobs still on the hardware, which will not touch them
 * any more; no more are added. They fail with the error of the queue if it was
 * already killed, else @guilty with -ETIME and the others with -ECANCELED.
 */
static void depq_tdr_fail(struct depq_queue *queue, struct depq_job *guilty,
			  enum depq_verdict verdict)
{
	bool counted = false;
	struct depq_job *job;
	int killed, error;
	bool hung;

	spin_lock_irq(&queue->lock);
	killed = queue->error;
	while ((job = depq_tdr_oldest(queue))) {
		depq_job_get(job);
		spin_unlock_irq(&queue->lock);
		if (dma_fence_remove_callback(job->hw, &job->hw_cb)) {
			if (job == guilty) {
				depq_tdr_count(queue, verdict);
				counted = true;
			}
			error = killed ?: job == guilty ? -ETIME : -ECANCELED;
			depq_job_done(job, error);
			depq_tdr_signal_hw(job->hw, error);
		}
		depq_job_put(job);
		spin_lock_irq(&queue->lock);
	}
	/* The driver may have signalled the hardware fence, with an error. */
	hung = !counted && guilty->error;
	spin_unlock_irq(&queue->lock);
	if (hung)
		depq_tdr_count(queue, verdict);
}

/* Carries out the driver's verdict. */
static void depq_tdr_apply(struct depq_queue *queue, struct depq_job *job,
			   enum depq_verdict verdict)
{
	bool kick = false;

	spin_lock_irq(&queue->lock);
	if (verdict == DEPQ_GONE)
		kick = depq_queue_kill_locked(queue, -ENODEV);
	if (verdict == DEPQ_NO_HANG) {
		queue->stats.no_hang++;
		job->start = jiffies;
	}
	spin_unlock_irq(&queue->lock);
	if (kick)
		depq_worker_kick(queue);
	if (queue->contender)
		depq_arbiter_dispatch(queue->contender);
	if (verdict != DEPQ_NO_HANG)
		depq_tdr_fail(queue, job, verdict);
}

/*
 * Asks the driver about the oldest job, if it is still overdue once the runner
 * has left. The lock is held, but released and taken again in between.
 */
static void depq_tdr_handle(struct depq_queue *queue)
{
	enum depq_queue_state old = depq_queue_state(queue);
	enum depq_verdict verdict;
	struct depq_job *job;

	queue->tdr = true;
	depq_queue_note(queue, old);
	if (queue->contender)
		depq_queue_yield(queue);
	wait_event_lock_irq(queue->wait, !queue->runner, queue->lock);

	job = depq_tdr_overdue(queue);
	if (job) {
		queue->tdr_forced = false;
		depq_job_get(job);
		spin_unlock_irq(&queue->lock);
		verdict = queue->ops->timedout_job(job);
		trace_depq_timeout(queue, job, verdict);
		depq_tdr_apply(queue, job, verdict);
		depq_job_put(job);
		spin_lock_irq(&queue->lock);
	}

	old = depq_queue_state(queue);
	queue->tdr = false;
	depq_queue_note(queue, old);
}

/**
 * depq_tdr_work() - check for jobs that take too long
 * @work: &depq_queue.tdr_work; its reference to the queue is put here
 *
 * Context: process, may sleep; on the workqueue of the device for timeouts.
 */
void depq_tdr_work(struct work_struct *work)
{
	struct depq_queue *queue = container_of(to_delayed_work(work),
						struct depq_queue, tdr_work);
	struct depq_job *job;
	unsigned long left;
	bool cookie, kick;

	might_sleep();
	cookie = dma_fence_begin_signalling();
	spin_lock_irq(&queue->lock);
	queue->tdr_armed = false;
	if (depq_tdr_overdue(queue))
		depq_tdr_handle(queue);

	job = depq_tdr_oldest(queue);
	if (job && queue->timeout && !queue->tdr_armed) {
		left = depq_tdr_deadline(queue, job) - jiffies;
		depq_tdr_arm(queue, (long)left > 0 ? left : 0);
	}
	kick = depq_queue_want_kick(queue);
	spin_unlock_irq(&queue->lock);
	if (kick)
		depq_worker_kick(queue);
	dma_fence_end_signalling(cookie);
	depq_queue_put(queue);
}
