// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitmap.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include "follow.h"

/**
 * DOC: what queues count for with a worker that follows
 *
 * The rules are in worker_follow.c, which gives the thread what is needed.
 *
 * A queue counts once, for the most urgent job that it has queued, as long as it
 * is ready: as long as the worker has something to do for it. What waits itself,
 * for a dependency, for credits, for depq_queue_start() or for the verdict on a
 * timeout, is not made earlier by a worker that is more urgent, and whoever is
 * behind it on the same worker would have that for nothing.
 *
 * ==========  ===================  ========  =================================
 * state       @level               in        exits
 * ==========  ===================  ========  =================================
 * away        %DEPQ_LEVEL_NONE     no list   gets ready
 * ready       of the most urgent   no list   not ready any more: lingering, or
 *             job that is queued             away if the queue was killed
 * lingering   what it was before   @lingers  ready; time; much work of others;
 *                                            kill or release: away
 * ==========  ===================  ========  =================================
 *
 * Whoever makes a queue ready calls depq_queue_want_kick(), which looks. Who
 * ends the lingering from outside leaves &depq_queue.lingering alone, which only
 * the holder of the queue's lock writes: while it is not set, nobody else writes
 * @level, and it is enough to look at that.
 *
 * &depq_queue.urgent are those queued jobs after which there is none that is as
 * urgent, in their order, but for the last job, which always is one of them and
 * is left out: as long as all are of one level, the list is empty. The first is
 * what the queue counts for, each is less urgent than the one before, and there
 * are never more than levels.
 */

/* How long a queue without jobs keeps its level. */
static unsigned int follow_linger_ms = 20;
module_param(follow_linger_ms, uint, 0644);
MODULE_PARM_DESC(follow_linger_ms,
		 "how long workers keep the priority of who has no jobs any more (default 20: longer than a frame)");

/* Queues that are looked at with interrupts off. */
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

/* A queue counts for another level from now on, or for none. */
static void depq_follow_move(struct depq_follow *follow,
			     struct depq_queue *queue, u16 level)
{
	u16 old = queue->level;

	lockdep_assert_held(&follow->lock);
	if (level == old)
		return;
	WRITE_ONCE(queue->level, level);
	/* First the new, so that @need does not change twice. */
	if (level != DEPQ_LEVEL_NONE)
		depq_follow_add(follow, level);
	if (old != DEPQ_LEVEL_NONE)
		depq_follow_remove(follow, old);
}

/* A queue lingers no more. */
static void depq_follow_unlinger(struct depq_follow *follow,
				 struct depq_queue *queue)
{
	lockdep_assert_held(&follow->lock);
	list_del_init(&queue->linger);
	depq_follow_move(follow, queue, DEPQ_LEVEL_NONE);
}

/* The worker is to look, which it does as what it is now. */
static void depq_follow_relax(struct depq_follow *follow)
{
	kthread_queue_work(follow->worker, &follow->relax);
}

/**
 * depq_follow_insert() - keep @urgent, once another level comes in
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

/* A queue that is not ready any more. */
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
 * depq_follow_count() - count a queue as what it is now
 * @queue: the queue, for which depq_follow_differs() says true
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
		/* In a stream the level is the same. */
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
 * depq_follow_forget() - a queue that is not ready counts no more
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
 * Lets a batch of queues linger no more, the oldest first: those whose time is
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
 * depq_follow_unlinger_all() - no queue lingers any more
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
 * depq_follow_timer() - let those queues linger no more whose time is over
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
