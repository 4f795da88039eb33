// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitmap.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include "follow.h"

/**
 * DOC: what queues count for with a worker that follows
 *
 * The rules are in worker_follow.c, which gives the thread what is needed.
 */

/* How long a queue without jobs keeps its level. */
static unsigned int follow_linger_ms = 20;
module_param(follow_linger_ms, uint, 0644);
MODULE_PARM_DESC(follow_linger_ms,
		 "how long workers keep the priority of who has no jobs any more (default 20: longer than a frame)");

static void depq_follow_count(struct depq_follow *follow, u16 level)
{
	lockdep_assert_held(&follow->lock);
	if (!follow->count[level]++) {
		__set_bit(level, follow->levels);
		WRITE_ONCE(follow->need,
			   find_first_bit(follow->levels, DEPQ_LEVELS));
	}
}

static void depq_follow_discount(struct depq_follow *follow, u16 level)
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

/**
 * depq_follow_unlinger() - a queue lingers no more
 * @follow: its worker
 * @queue: the queue, which does
 *
 * Context: any; the lock of @follow is held.
 */
void depq_follow_unlinger(struct depq_follow *follow, struct depq_queue *queue)
{
	lockdep_assert_held(&follow->lock);
	list_del_init(&queue->linger);
	depq_follow_discount(follow, queue->level);
}

/* The worker is to look, which it does as what it is now. */
static void depq_follow_relax(struct depq_follow *follow)
{
	kthread_queue_work(follow->worker, &follow->relax);
}

/**
 * depq_follow_enter() - count a job that waits for the worker
 * @queue: its queue
 * @job: the job
 * @level: of its submitter
 *
 * Context: process; the lock of the queue is held.
 * Return: whether the caller must call depq_follow_raise() once it has released
 * the lock
 */
bool depq_follow_enter(struct depq_queue *queue, struct depq_job *job,
		       u16 level)
{
	struct depq_follow *follow = queue->worker->follow;
	unsigned long flags;
	bool raise;

	lockdep_assert_held(&queue->lock);
	job->level = level;
	raw_spin_lock_irqsave(&follow->lock, flags);
	if (!list_empty(&queue->linger) && queue->level == level) {
		/* In a stream: the queue's count becomes the job's. */
		list_del_init(&queue->linger);
	} else {
		/* First the new, so that @need does not change twice. */
		depq_follow_count(follow, level);
		if (!list_empty(&queue->linger))
			depq_follow_unlinger(follow, queue);
	}
	raise = level < follow->target;
	raw_spin_unlock_irqrestore(&follow->lock, flags);
	return raise;
}

/**
 * depq_follow_leave() - a job does not wait for the worker any more
 * @queue: its queue, from whose @queued it was removed
 * @job: the job
 *
 * Context: the worker; the lock of the queue is held.
 */
void depq_follow_leave(struct depq_queue *queue, struct depq_job *job)
{
	struct depq_follow *follow = queue->worker->follow;
	unsigned int linger = READ_ONCE(follow_linger_ms);
	unsigned long flags;

	lockdep_assert_held(&queue->lock);
	raw_spin_lock_irqsave(&follow->lock, flags);
	if (!list_empty(&queue->queued) || queue->error || !linger) {
		depq_follow_discount(follow, job->level);
	} else {
		/* The job's count becomes the queue's. */
		queue->level = job->level;
		queue->linger_end = jiffies + msecs_to_jiffies(linger) + 1;
		list_add_tail(&queue->linger, &follow->lingers);
		if (!timer_pending(&follow->timer))
			mod_timer(&follow->timer, queue->linger_end);
	}
	raw_spin_unlock_irqrestore(&follow->lock, flags);
}

/**
 * depq_follow_forget() - a queue without jobs counts no more
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
	raw_spin_unlock_irqrestore(&follow->lock, flags);
	if (relax)
		depq_follow_relax(follow);
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
	struct depq_queue *queue, *next;
	unsigned long flags;
	bool relax;

	raw_spin_lock_irqsave(&follow->lock, flags);
	list_for_each_entry_safe(queue, next, &follow->lingers, linger) {
		if (time_before(jiffies, queue->linger_end)) {
			mod_timer(&follow->timer, queue->linger_end);
			break;
		}
		depq_follow_unlinger(follow, queue);
	}
	relax = follow->need != follow->target;
	raw_spin_unlock_irqrestore(&follow->lock, flags);
	if (relax)
		depq_follow_relax(follow);
}

