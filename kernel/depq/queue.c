// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/string.h>

#include "internal.h"
#include "trace.h"

/**
 * DOC: queues
 *
 * The states of a queue. States further down the table take precedence; all
 * fields are protected by &depq_queue.lock.
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
 * - its creator, until depq_queue_put(),
 * - each job, from depq_job_init() until its last reference is put,
 * - depq_queue_work() or depq_queue_softirq(), from the time it is requested
 *   (@kicked) to its end,
 * - the timeout work and the delayed work that drops references to jobs, while
 *   they are armed or running.
 *
 * So none of these is in progress when the last reference is put. That may
 * happen in a hard interrupt, when the last job is put; therefore it only
 * queues the release work, which runs after an RCU grace period: whoever
 * completes a job may be about to release the lock of the queue while another
 * CPU drops the last reference. For this, completion is an RCU read-side section.
 *
 * Lock order: a lock of a hardware fence, then @signal_lock, then a lock of a
 * finished fence, then @lock; under @lock only those of the wait queue, timers,
 * workqueues, follow workers and arbiters. Under @lock, no driver is called, and
 * fences are only read. Under @signal_lock, the callbacks of a finished fence are
 * called, and no other foreign code.
 *
 * &depq_queue.runner is the token to run jobs. Only the task that has set it,
 * under @lock while it was NULL, may call run_job() and change @dep. Before it
 * releases @lock, a task that gives up the token checks the queue again,
 * and so does everyone who makes progress possible (depq_queue_want_kick()), so
 * that no wake-up is lost.
 *
 * The token has no priority inheritance. It needs none against other submitters:
 * those of one queue call depq_job_commit() one after another, under a lock of
 * the driver, which has it (on PREEMPT_RT; a mutex elsewhere). A job behind one
 * that the worker is running waits for the worker, which has its own priority or,
 * if it is a follow worker, that of the most urgent waiter. Not covered: only
 * the next submitter waits for one that was preempted in run_job().
 *
 * Fields:
 *
 * - @queued, @pending, @done: jobs that wait to be run; that are on the hardware,
 *   or done but waiting for an earlier job; that have signalled and wait
 *   until the queue's reference to them is dropped,
 * - @credits: of the jobs in @pending that are not done,
 * - @jobs: between depq_job_init() and the signal; limited by @max_queued,
 * - @signal_lock: held while a job signals; see done.c,
 * - @dep: the fence that the first job in @queued waits for, once its callback is
 *   installed; @dep_done once that was called,
 * - @reapers: threads between depq_queue_wait_begin() and depq_queue_wait_end(),
 * - @put_irq: whoever signals a job drops the queue's reference to it,
 * - @kicked, @softirq: depq_queue_work() was requested, or the softirq instead,
 * - @tdr_armed, @reap_armed: a work holds a reference and will run,
 * - @tdr_forced: the timeout work shall ask the driver regardless of the time,
 * - @urgent, @lingering, @linger, @linger_end, @level: see follow_count.c,
 * - @head_since: when the first job on the hardware became the first.
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
 * depq_queue_init() - initialise a queue
 * @queue: memory for it; freed by &depq_ops.release_queue
 * @args: its parameters
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
	/* A follow worker's level only matters for jobs that it runs itself. */
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
 * The queue is released when the last reference is put; jobs hold references
 * too. Cancels nothing; see depq_queue_kill().
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
 * depq_queue_state() - get the state of a queue
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
 * depq_queue_note() - trace a change of a queue's state
 * @queue: the queue
 * @old: its previous state
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
 * depq_queue_yield() - leave the engine to other queues, as this one is blocked
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
	/* The end of the next job would have reaped what has finished. */
	kick = depq_queue_want_kick(queue);
	spin_unlock_irq(&queue->lock);
	if (kick)
		depq_worker_kick(queue);
	depq_arbiter_dispatch(queue->contender);
	spin_lock_irq(&queue->lock);
}

/**
 * depq_queue_stop() - stop running jobs
 * @queue: the queue
 *
 * Returns when no job is being run. Jobs on the hardware continue. Stops nest.
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
 * depq_queue_kill_locked() - make a queue fail from now on
 * @queue: the queue
 * @error: the error; only the first kill sets it
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
	/* For threads that wait for room. */
	wake_up_all(&queue->wait);
	return depq_queue_want_kick(queue);
}

/**
 * depq_queue_kill() - cancel all jobs of a queue and accept no more
 * @queue: the queue
 * @error: the error of these jobs, -1 to -MAX_ERRNO
 *
 * Jobs not yet run fail in order, after their dependencies; the driver is
 * asked to reset those on the hardware. Does not wait for any of
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
 * As if the timeout of that job had expired. Does nothing if no job is on the
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
 * For submitters that need the memory now. Counts as &depq_stats.put_submit.
 *
 * Context: as &depq_ops.release_job.
 */
void depq_queue_reap(struct depq_queue *queue)
{
	depq_reap(queue, U32_MAX, DEPQ_WHERE_SUBMIT);
}
EXPORT_SYMBOL_GPL(depq_queue_reap);

/**
 * depq_queue_wait_begin() - announce a waiter that will reap jobs afterwards
 * @queue: the queue, whose memory the caller keeps valid
 *
 * For threads that are about to wait for a job of the queue: jobs that finish
 * before depq_queue_wait_end() are left to them, and do not wake the worker. Only
 * useful with %DEPQ_PUT_AUTO.
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
 * depq_queue_wait_end() - reap what finished during the wait
 * @queue: the queue
 *
 * To be called however the wait ended. Counts as &depq_stats.put_submit.
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
	/* Jobs that signal from here on see one reaper less. */
	depq_reap(queue, U32_MAX, DEPQ_WHERE_SUBMIT);
	depq_queue_put(queue);
}
EXPORT_SYMBOL_GPL(depq_queue_wait_end);

/**
 * depq_queue_read_stats() - read the statistics of a queue
 * @queue: the queue
 * @stats: filled in with a consistent snapshot
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
