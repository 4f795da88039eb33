// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/string.h>

#include "internal.h"
#include "trace.h"

/**
 * DOC: queues
 *
 * What a queue does. The states to the right win over those to the left; all
 * of it is under &depq_queue.lock.
 *
 * ========  ======================  ===================  ====================
 * state     fields                  runs jobs            exits
 * ========  ======================  ===================  ====================
 * open      none of the below       yes                  any of the below
 * stopped   stopped > 0             no                   last start
 * timeout   tdr                     no                   verdict
 * killed    error != 0              no; those queued     release
 *                                   fail with it, in
 *                                   order and after
 *                                   their dependencies
 * ========  ======================  ===================  ====================
 *
 * Who holds a reference to a queue:
 *
 * - its maker, until depq_queue_put(),
 * - each job, from depq_job_init() until its last reference is put,
 * - depq_queue_work() or depq_queue_softirq(), from the moment it is asked for
 *   (@kicked) to its end,
 * - the timeout work and the delayed work that drops references to jobs, while
 *   they are armed or running.
 *
 * So none of these is under way when the last reference is put. That may
 * happen in a hard interrupt, in the put of the last job; therefore it only
 * asks for the release work, which comes after an RCU grace period: whoever
 * completes a job may be about to release the lock of the queue while another
 * CPU drops its last reference. Completion is an RCU read-side section for this.
 *
 * Lock order: a lock of a hardware fence, then @signal_lock, then a lock of a
 * finished fence, then @lock; under @lock only the wait queue, timers,
 * workqueues, that of a worker that follows and that of an arbiter. No driver is
 * called and no fence is touched, except for reading, under @lock. Under
 * @signal_lock the callbacks of a finished fence are called, and nothing else of
 * others.
 *
 * &depq_queue.runner is the token to run jobs: the task that has set it, under
 * @lock while it was NULL, alone may call run_job() and change @dep. Before it
 * releases @lock, the task that releases the token looks at the queue again,
 * and so does everyone who makes progress possible (depq_queue_want_kick()), so
 * that no wake-up is lost.
 *
 * The token has no priority inheritance. It does not need any against other
 * submitters: those of one queue call depq_job_commit() one after the other,
 * under a lock of the driver, which has it (on PREEMPT_RT; a mutex elsewhere). A
 * job behind one that the worker is running waits for the worker, which runs as
 * what it is, or as the most urgent of those who wait if it follows. What is not
 * covered: behind a submitter that was preempted in run_job() nobody but the
 * next submitter waits.
 *
 * Fields:
 *
 * - @queued, @pending, @done: jobs that wait for their turn, that are with the
 *   hardware or wait for one before them to end, that have signalled and wait
 *   until the queue's reference to them is dropped,
 * - @credits: of the jobs in @pending that are not done,
 * - @jobs: between depq_job_init() and the signal; what @max_queued bounds,
 * - @signal_lock: held while a job signals; see done.c,
 * - @dep: what the first job in @queued waits for, once its callback is
 *   installed; @dep_done once it has been called,
 * - @reapers: threads between depq_queue_wait_begin() and its end,
 * - @put_irq: whoever signals a job drops the queue's reference to it,
 * - @kicked, @softirq: depq_queue_work() is asked for, or the softirq instead,
 * - @tdr_armed, @reap_armed: a work holds a reference and will look,
 * - @tdr_forced: the timeout work is to ask the driver whatever the time,
 * - @urgent, @lingering, @linger, @linger_end, @level: see follow_count.c,
 * - @head_since: when the first job that is with the hardware became that.
 */

static void depq_queue_release_work(struct work_struct *work)
{
	struct depq_queue *queue = container_of(to_rcu_work(work),
						struct depq_queue,
						release_work);
	struct depq_device *dev = queue->dev;

	WARN_ON_ONCE(queue->runner || queue->kicked);
	WARN_ON_ONCE(!list_empty(&queue->queued));
	WARN_ON_ONCE(!list_empty(&queue->pending));
	WARN_ON_ONCE(!list_empty(&queue->done));
	WARN_ON_ONCE(queue->credits || queue->jobs || queue->dep);
	WARN_ON_ONCE(delayed_work_pending(&queue->tdr_work));
	WARN_ON_ONCE(delayed_work_pending(&queue->reap_work));

	if (queue->worker->follow) {
		depq_follow_forget(queue);
		depq_owner_forget(queue);
	}
	if (queue->contender)
		depq_arbiter_forget(queue);
	spin_lock(&dev->lock);
	list_del(&queue->link);
	spin_unlock(&dev->lock);
	depq_worker_put(queue->worker);
	queue->ops->release_queue(queue);

	if (atomic_dec_and_test(&dev->live))
		complete(&dev->idle);
}

#define DEPQ_QUEUE_FLAGS \
	(DEPQ_QUEUE_BYPASS | DEPQ_QUEUE_SOFTIRQ | DEPQ_QUEUE_PUT_IRQ)

static bool depq_queue_args_valid(const struct depq_queue_args *args)
{
	const struct depq_ops *ops = args->ops;

	return args->dev && args->worker && args->name && ops &&
	       ops->run_job && ops->timedout_job && ops->release_job &&
	       ops->release_queue && !(args->flags & ~DEPQ_QUEUE_FLAGS) &&
	       (u32)args->put < DEPQ_PUT_COUNT && args->credit_limit &&
	       args->max_queued && args->timeout < MAX_JIFFY_OFFSET;
}

/**
 * depq_queue_init() - make a queue
 * @queue: memory for it; freed by &depq_ops.release_queue
 * @args: how it is to be
 *
 * Context: process.
 * Return:
 * * 0 - the queue has one reference, the caller's
 * * -EINVAL - an argument is out of range
 * * -ENOMEM - out of memory, with an arbiter
 */
int depq_queue_init(struct depq_queue *queue,
		    const struct depq_queue_args *args)
{
	if (!depq_queue_args_valid(args))
		return -EINVAL;

	memset(queue, 0, sizeof(*queue));
	if (args->arbiter && depq_arbiter_join(args->arbiter, queue))
		return -ENOMEM;
	kref_init(&queue->ref);
	queue->dev = args->dev;
	queue->ops = args->ops;
	queue->worker = depq_worker_get(args->worker);
	queue->flags = args->flags;
	/* The level of a worker that follows is that of what it runs itself. */
	if (queue->worker->follow)
		queue->flags &= ~DEPQ_QUEUE_SOFTIRQ;
	queue->put = args->put;
	queue->put_irq = args->put == DEPQ_PUT_IRQ ||
			 (args->put == DEPQ_PUT_AUTO &&
			  args->flags & DEPQ_QUEUE_PUT_IRQ);
	queue->credit_limit = args->credit_limit;
	queue->max_queued = args->max_queued;
	queue->hang_limit = args->hang_limit;
	queue->timeout = args->timeout;
	queue->fence_context = dma_fence_context_alloc(1);
	strscpy(queue->name, args->name, sizeof(queue->name));

	spin_lock_init(&queue->signal_lock);
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->queued);
	INIT_LIST_HEAD(&queue->pending);
	INIT_LIST_HEAD(&queue->done);
	INIT_LIST_HEAD(&queue->urgent);
	INIT_LIST_HEAD(&queue->linger);
	queue->level = DEPQ_LEVEL_NONE;
	init_waitqueue_head(&queue->wait);
	depq_worker_prepare(queue);
	tasklet_setup(&queue->tasklet, depq_queue_softirq);
	INIT_DELAYED_WORK(&queue->tdr_work, depq_tdr_work);
	INIT_DELAYED_WORK(&queue->reap_work, depq_reap_work);
	INIT_RCU_WORK(&queue->release_work, depq_queue_release_work);

	atomic_inc(&queue->dev->live);
	spin_lock(&queue->dev->lock);
	list_add_tail(&queue->link, &queue->dev->queues);
	spin_unlock(&queue->dev->lock);
	return 0;
}
EXPORT_SYMBOL_GPL(depq_queue_init);

/**
 * depq_queue_get() - take a reference
 * @queue: the queue, to which the caller has a reference
 *
 * Context: any.
 * Return: @queue
 */
struct depq_queue *depq_queue_get(struct depq_queue *queue)
{
	kref_get(&queue->ref);
	return queue;
}
EXPORT_SYMBOL_GPL(depq_queue_get);

static void depq_queue_release(struct kref *ref)
{
	struct depq_queue *queue = container_of(ref, struct depq_queue, ref);

	queue_rcu_work(queue->dev->release_wq, &queue->release_work);
}

/**
 * depq_queue_put() - put a reference
 * @queue: the queue, or NULL
 *
 * The queue goes when the last reference is put, which jobs hold too. This
 * cancels nothing; depq_queue_kill() does.
 *
 * Context: any.
 */
void depq_queue_put(struct depq_queue *queue)
{
	if (queue)
		kref_put(&queue->ref, depq_queue_release);
}
EXPORT_SYMBOL_GPL(depq_queue_put);

/**
 * depq_queue_state() - what a queue does
 * @queue: the queue
 *
 * Context: any; the lock of the queue is held.
 * Return: its state
 */
enum depq_queue_state depq_queue_state(struct depq_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	if (queue->error)
		return DEPQ_QUEUE_KILLED;
	if (queue->tdr)
		return DEPQ_QUEUE_TIMEOUT;
	return queue->stopped ? DEPQ_QUEUE_STOPPED : DEPQ_QUEUE_OPEN;
}

/**
 * depq_queue_note() - trace that a queue has changed its state
 * @queue: the queue
 * @old: what it did before
 *
 * Context: any; the lock of the queue is held.
 */
void depq_queue_note(struct depq_queue *queue, enum depq_queue_state old)
{
	enum depq_queue_state new = depq_queue_state(queue);

	if (new != old)
		trace_depq_queue_state(queue, old, new);
}

/**
 * depq_queue_yield() - leave the engine to others: something else is in the way
 * @queue: the queue, with a contender, to which the caller has a reference
 *
 * Context: process, interrupts off; the lock of the queue is held. Releases it and
 * takes it again.
 */
void depq_queue_yield(struct depq_queue *queue)
	__must_hold(&queue->lock)
{
	bool kick;

	depq_arbiter_withdraw(queue);
	/* Whoever ends the next job was to reap what has finished. */
	kick = depq_queue_want_kick(queue);
	spin_unlock_irq(&queue->lock);
	if (kick)
		depq_worker_kick(queue);
	depq_arbiter_dispatch(queue->contender);
	spin_lock_irq(&queue->lock);
}

/**
 * depq_queue_stop() - run no more jobs
 * @queue: the queue
 *
 * Returns when no job is being run. Those with the hardware go on. Stops nest.
 *
 * Context: process, may sleep; not from &depq_ops.run_job.
 */
void depq_queue_stop(struct depq_queue *queue)
{
	enum depq_queue_state old;

	might_sleep();
	spin_lock_irq(&queue->lock);
	old = depq_queue_state(queue);
	queue->stopped++;
	depq_queue_note(queue, old);
	if (queue->contender)
		depq_queue_yield(queue);
	if (!WARN_ON_ONCE(queue->runner == current))
		wait_event_lock_irq(queue->wait, !queue->runner, queue->lock);
	spin_unlock_irq(&queue->lock);
}
EXPORT_SYMBOL_GPL(depq_queue_stop);

/**
 * depq_queue_start() - undo one depq_queue_stop()
 * @queue: the queue
 *
 * Context: any.
 */
void depq_queue_start(struct depq_queue *queue)
{
	enum depq_queue_state old;
	unsigned long flags;
	bool kick;

	spin_lock_irqsave(&queue->lock, flags);
	old = depq_queue_state(queue);
	if (!WARN_ON_ONCE(!queue->stopped))
		queue->stopped--;
	depq_queue_note(queue, old);
	kick = depq_queue_want_kick(queue);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (kick)
		depq_worker_kick(queue);
}
EXPORT_SYMBOL_GPL(depq_queue_start);

/**
 * depq_queue_kill_locked() - let a queue fail from now on
 * @queue: the queue
 * @error: what with; the first kill decides
 *
 * If it has a contender, the caller calls depq_arbiter_dispatch() once it has
 * released the lock.
 *
 * Context: any; the lock of the queue is held.
 * Return: whether depq_worker_kick() must be called
 */
bool depq_queue_kill_locked(struct depq_queue *queue, int error)
{
	enum depq_queue_state old = depq_queue_state(queue);

	if (!queue->error)
		queue->error = error;
	depq_queue_note(queue, old);
	if (queue->worker->follow)
		depq_follow_forget(queue);
	if (queue->contender)
		depq_arbiter_withdraw(queue);
	/* For those who wait for room. */
	wake_up_all(&queue->wait);
	return depq_queue_want_kick(queue);
}

/**
 * depq_queue_kill() - cancel all jobs of a queue and take no more
 * @queue: the queue
 * @error: what they fail with, -1 to -MAX_ERRNO
 *
 * Jobs not yet run fail in their turn, after their dependencies; the driver is
 * asked to reset those that are with the hardware. Does not wait for any of
 * that.
 *
 * Context: any, but not under a lock of a fence.
 */
void depq_queue_kill(struct depq_queue *queue, int error)
{
	unsigned long flags;
	bool kick, force;

	if (WARN_ON_ONCE(error >= 0 || error < -MAX_ERRNO))
		error = -EINVAL;

	spin_lock_irqsave(&queue->lock, flags);
	kick = depq_queue_kill_locked(queue, error);
	queue->tdr_forced = !list_empty(&queue->pending);
	/* If there is nothing to reset, drop the armed work's reference. */
	force = queue->tdr_forced || queue->tdr_armed;
	spin_unlock_irqrestore(&queue->lock, flags);

	if (kick)
		depq_worker_kick(queue);
	if (queue->contender)
		depq_arbiter_dispatch(queue->contender);
	if (force)
		depq_tdr_force(queue);
	depq_reap_force(queue);
}
EXPORT_SYMBOL_GPL(depq_queue_kill);

/**
 * depq_queue_trigger_timeout() - ask the driver about the oldest pending job
 * @queue: the queue
 *
 * As if the timeout of that job were over. Does nothing if no job is with the
 * hardware. Does not wait.
 *
 * Context: any, but not under a lock of a fence.
 */
void depq_queue_trigger_timeout(struct depq_queue *queue)
{
	unsigned long flags;
	bool force;

	spin_lock_irqsave(&queue->lock, flags);
	force = !list_empty(&queue->pending);
	queue->tdr_forced |= force;
	spin_unlock_irqrestore(&queue->lock, flags);
	if (force)
		depq_tdr_force(queue);
}
EXPORT_SYMBOL_GPL(depq_queue_trigger_timeout);

/**
 * depq_queue_reap() - drop the queue's references to all finished jobs
 * @queue: the queue
 *
 * For submitters that want memory back now. Counts as &depq_stats.put_submit.
 *
 * Context: as &depq_ops.release_job.
 */
void depq_queue_reap(struct depq_queue *queue)
{
	depq_reap(queue, U32_MAX, DEPQ_WHERE_SUBMIT);
}
EXPORT_SYMBOL_GPL(depq_queue_reap);

/**
 * depq_queue_wait_begin() - announce a caller that waits and reaps jobs then
 * @queue: the queue, whose memory the caller keeps
 *
 * For threads that are about to wait for a job of the queue: what finishes until
 * depq_queue_wait_end() is left to them, and wakes no worker. Only of use with
 * %DEPQ_PUT_AUTO.
 *
 * Context: any.
 * Return: whether to call depq_queue_wait_end(); else nothing was done
 */
bool depq_queue_wait_begin(struct depq_queue *queue)
{
	unsigned long flags;

	if (queue->put != DEPQ_PUT_AUTO || queue->put_irq ||
	    !kref_get_unless_zero(&queue->ref))
		return false;
	spin_lock_irqsave(&queue->lock, flags);
	queue->reapers++;
	spin_unlock_irqrestore(&queue->lock, flags);
	return true;
}
EXPORT_SYMBOL_GPL(depq_queue_wait_begin);

/**
 * depq_queue_wait_end() - reap what has finished meanwhile
 * @queue: the queue
 *
 * However the wait ended. Counts as &depq_stats.put_submit.
 *
 * Context: as &depq_ops.release_job.
 */
void depq_queue_wait_end(struct depq_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	WARN_ON_ONCE(!queue->reapers);
	queue->reapers--;
	spin_unlock_irqrestore(&queue->lock, flags);
	/* What signals from here on finds one less. */
	depq_reap(queue, U32_MAX, DEPQ_WHERE_SUBMIT);
	depq_queue_put(queue);
}
EXPORT_SYMBOL_GPL(depq_queue_wait_end);

/**
 * depq_queue_read_stats() - read what a queue has done
 * @queue: the queue
 * @stats: filled in, as it was at one moment
 *
 * Context: any.
 */
void depq_queue_read_stats(struct depq_queue *queue, struct depq_stats *stats)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	*stats = queue->stats;
	stats->credits = queue->credits;
	stats->banned = queue->error;
	spin_unlock_irqrestore(&queue->lock, flags);
	if (queue->worker->follow)
		depq_follow_read_stats(queue->worker, stats);
}
EXPORT_SYMBOL_GPL(depq_queue_read_stats);
