// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitmap.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include "follow.h"

/**
 * DOC: levels of queues with a follow worker
 *
 * The rules are in worker_follow.c, which applies the level to the thread.
 *
 * A queue counts once, with the level of its most urgent queued job, while it
 * is ready: while the worker has something to do for it. A queue that is blocked
 * itself, by a dependency, by credits, until depq_queue_start() or the verdict on
 * a timeout, would not proceed earlier with a more urgent worker, and other queues
 * on the same worker would profit without a reason.
 *
 * ==========  ===================  ========  =================================
 * state       @level               in        exits
 * ==========  ===================  ========  =================================
 * away        %DEPQ_LEVEL_NONE     no list   becomes ready
 * ready       of the most urgent   no list   not ready any more: lingering, or
 *             job that is queued             away if the queue was killed
 * lingering   its previous level   @lingers  ready; time; much work of others;
 *                                            kill or release: away
 * ==========  ===================  ========  =================================
 *
 * Whoever makes a queue ready calls depq_queue_want_kick(), which checks. Others
 * who end the lingering leave &depq_queue.lingering unchanged, which only
 * the holder of the queue's lock writes: while it is not set, nobody else writes
 * @level, and checking @level is enough.
 *
 * &depq_queue.urgent contains, in order, the queued jobs that are not followed by
 * an equally urgent one, except the last job, which always qualifies and
 * is left out: while all jobs have the same level, the list is empty. The first
 * entry sets the level of the queue, each is less urgent than the previous one,
 * and there are never more entries than levels.
 */

/* How long a queue without jobs keeps its level. */
static unsigned int follow_linger_ms = 20;
module_param(follow_linger_ms, uint, 0644);
MODULE_PARM_DESC(follow_linger_ms,
		 "how long workers keep the priority of who has no jobs any more (default 20: longer than a frame)");

/* Queues processed at a time with interrupts off. */
#define FOLLOW_BATCH 32

static void depq_follow_add(struct depq_follow *follow, u16 level)
{
	lockdep_assert_held(&follow->lock);
	if (!follow->count[level]++) {
		__set_bit(level, follow->levels);
		WRITE_ONCE(follow->need,
			   find_first_bit(follow->levels, DEPQ_LEVELS));
	}
}

static void depq_follow_remove(struct depq_follow *follow, u16 level)
{
	u16 need;

	lockdep_assert_held(&follow->lock);
	if (!WARN_ON_ONCE(!follow->count[level]) && !--follow->count[level]) {
		__clear_bit(level, follow->levels);
		need = find_first_bit(follow->levels, DEPQ_LEVELS);
		WRITE_ONCE(follow->need,
			   need == DEPQ_LEVELS ? DEPQ_LEVEL_IDLE : need);
	}
}

/* Changes the level that a queue counts for, possibly to none. */
static void depq_follow_move(struct depq_follow *follow,
			     struct depq_queue *queue, u16 level)
{
	u16 old = queue->level;

	lockdep_assert_held(&follow->lock);
	if (level == old)
		return;
	WRITE_ONCE(queue->level, level);
	/* Add the new level first, so that @need does not change twice. */
	if (level != DEPQ_LEVEL_NONE)
		depq_follow_add(follow, level);
	if (old != DEPQ_LEVEL_NONE)
		depq_follow_remove(follow, old);
}

/* Ends the lingering of a queue. */
static void depq_follow_unlinger(struct depq_follow *follow,
				 struct depq_queue *queue)
{
	lockdep_assert_held(&follow->lock);
	list_del_init(&queue->linger);
	depq_follow_move(follow, queue, DEPQ_LEVEL_NONE);
}

/* Lets the worker recheck its level, at its current priority. */
static void depq_follow_relax(struct depq_follow *follow)
{
	kthread_queue_work(follow->worker, &follow->relax);
}

/**
 * depq_follow_insert() - update @urgent for a job with a different level
 * @queue: the queue
 * @job: the job, last in @queued; its level is not that of the one before
 *
 * Context: process; the lock of the queue is held.
 */
void depq_follow_insert(struct depq_queue *queue, struct depq_job *job)
{
	struct depq_job *last = list_prev_entry(job, link), *before;

	lockdep_assert_held(&queue->lock);
	if (last->level < job->level) {
		list_add_tail(&last->urgent, &queue->urgent);
		return;
	}
	list_for_each_entry_safe_reverse(last, before, &queue->urgent,
					 urgent) {
		if (last->level < job->level)
			break;
		list_del_init(&last->urgent);
	}
}

/* Handles a queue that is no longer ready. */
static void depq_follow_linger(struct depq_follow *follow,
			       struct depq_queue *queue)
{
	unsigned int linger = READ_ONCE(follow_linger_ms);

	if (queue->error || !linger) {
		depq_follow_move(follow, queue, DEPQ_LEVEL_NONE);
		return;
	}
	queue->lingering = true;
	queue->linger_end = jiffies + msecs_to_jiffies(linger) + 1;
	list_add_tail(&queue->linger, &follow->lingers);
	if (!timer_pending(&follow->timer))
		mod_timer(&follow->timer, queue->linger_end);
}

/**
 * depq_follow_count() - update the level that a queue counts for
 * @queue: the queue, for which depq_follow_differs() returned true
 * @ready: whether the worker has something to do for it
 *
 * Context: any; the lock of the queue is held.
 * Return: whether the worker must be raised: by depq_follow_raise() once the
 * lock is released, or by depq_follow_ask()
 */
bool depq_follow_count(struct depq_queue *queue, bool ready)
{
	struct depq_follow *follow = queue->worker->follow;
	bool raise = false;
	unsigned long flags;
	u16 level;

	lockdep_assert_held(&queue->lock);
	depq_owner_ready(queue, ready);
	raw_spin_lock_irqsave(&follow->lock, flags);
	if (ready) {
		level = depq_follow_level_of(queue);
		/* For a stream of jobs, the level is the same. */
		if (queue->lingering)
			list_del_init(&queue->linger);
		queue->lingering = false;
		depq_follow_move(follow, queue, level);
		raise = level < follow->target;
	} else {
		depq_follow_linger(follow, queue);
	}
	raw_spin_unlock_irqrestore(&follow->lock, flags);
	return raise;
}

/**
 * depq_follow_forget() - make a queue that is not ready count no more
 * @queue: the queue
 *
 * Context: any; the lock of the queue is held, or nobody else has the queue.
 */
void depq_follow_forget(struct depq_queue *queue)
{
	struct depq_follow *follow = queue->worker->follow;
	unsigned long flags;
	bool relax = false;

	raw_spin_lock_irqsave(&follow->lock, flags);
	if (!list_empty(&queue->linger)) {
		depq_follow_unlinger(follow, queue);
		relax = follow->need != follow->target;
	}
	queue->lingering = false;
	raw_spin_unlock_irqrestore(&follow->lock, flags);
	if (relax)
		depq_follow_relax(follow);
}

/*
 * Ends the lingering of a batch of queues, the oldest first: those whose time is
 * over, or all. Returns whether there are more of them.
 */
static bool depq_follow_expire(struct depq_follow *follow, bool all)
{
	struct depq_queue *queue, *next;
	int left = FOLLOW_BATCH;

	lockdep_assert_held(&follow->lock);
	list_for_each_entry_safe(queue, next, &follow->lingers, linger) {
		if (!all && time_before(jiffies, queue->linger_end)) {
			mod_timer(&follow->timer, queue->linger_end);
			return false;
		}
		if (!left--)
			return true;
		depq_follow_unlinger(follow, queue);
	}
	return false;
}

/**
 * depq_follow_unlinger_all() - end the lingering of all queues
 * @follow: the worker
 *
 * Context: the worker, interrupts on, no lock held.
 */
void depq_follow_unlinger_all(struct depq_follow *follow)
{
	bool more;

	lockdep_assert_irqs_enabled();
	do {
		raw_spin_lock_irq(&follow->lock);
		more = depq_follow_expire(follow, true);
		raw_spin_unlock_irq(&follow->lock);
	} while (more);
}

/**
 * depq_follow_timer() - end the lingering of queues whose time is over
 * @timer: &depq_follow.timer
 *
 * Context: the timer's.
 */
void depq_follow_timer(struct timer_list *timer)
{
	struct depq_follow *follow = container_of(timer, struct depq_follow,
						  timer);
	unsigned long flags;
	bool relax, more;

	do {
		raw_spin_lock_irqsave(&follow->lock, flags);
		more = depq_follow_expire(follow, false);
		relax = follow->need != follow->target;
		raw_spin_unlock_irqrestore(&follow->lock, flags);
	} while (more);
	if (relax)
		depq_follow_relax(follow);
}
