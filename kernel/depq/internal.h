/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DEPQ_INTERNAL_H
#define DEPQ_INTERNAL_H

#include <linux/sched/prio.h>

#include "../compat/compat.h"
#include "../include/depq.h"

/**
 * enum depq_where - where the queue's reference to a job was dropped
 * @DEPQ_WHERE_IRQ: where the job was signalled
 * @DEPQ_WHERE_SUBMIT: in a submission
 * @DEPQ_WHERE_WORKER: in the worker
 * @DEPQ_WHERE_DELAYED: in the delayed work
 */
enum depq_where {
	DEPQ_WHERE_IRQ,
	DEPQ_WHERE_SUBMIT,
	DEPQ_WHERE_WORKER,
	DEPQ_WHERE_DELAYED,
};

/**
 * enum depq_queue_state - state of a queue; see the table in queue.c
 * @DEPQ_QUEUE_OPEN: runs jobs
 * @DEPQ_QUEUE_STOPPED: runs none until every stop was undone by a start
 * @DEPQ_QUEUE_TIMEOUT: runs none until the driver has given its verdict
 * @DEPQ_QUEUE_KILLED: runs none any more; queued jobs fail in order
 */
enum depq_queue_state {
	DEPQ_QUEUE_OPEN,
	DEPQ_QUEUE_STOPPED,
	DEPQ_QUEUE_TIMEOUT,
	DEPQ_QUEUE_KILLED,
};

/**
 * struct depq_worker_ops - operations of a kind of worker
 */
struct depq_worker_ops {
	/**
	 * @start: create what runs the work. Context: process, may sleep.
	 * Return: 0 or -ENOMEM, with everything undone
	 */
	int (*start)(struct depq_worker *worker, const char *name);
	/** @stop: destroy it; no work is queued. Context: process, may sleep. */
	void (*stop)(struct depq_worker *worker);
	/** @prepare: initialise the work of a queue. Context: any. */
	void (*prepare)(struct depq_queue *queue);
	/**
	 * @kick: arrange one call of depq_queue_work() for the queue. Context:
	 * any, with interrupts off or on, no lock of depq held.
	 * Return: whether it was queued; false if it already was
	 */
	bool (*kick)(struct depq_worker *worker, struct depq_queue *queue);
};

/**
 * struct depq_worker - runs the jobs that no submitter runs
 * @ref: held by the creator and by each queue
 * @ops: its kind
 * @wq: for kinds based on workqueues
 * @kthread: for kinds based on threads
 * @follow: for follow workers, else NULL
 */
struct depq_worker {
	struct kref ref;
	const struct depq_worker_ops *ops;
	union {
		struct workqueue_struct *wq;
		struct kthread_worker *kthread;
	};
	struct depq_follow *follow;
};

/* worker_wq.c, worker_kthread.c, worker_follow.c */
extern const struct depq_worker_ops depq_worker_system_ops;
extern const struct depq_worker_ops depq_worker_wq_ops;
extern const struct depq_worker_ops depq_worker_highpri_ops;
extern const struct depq_worker_ops depq_worker_kthread_ops;
extern const struct depq_worker_ops depq_worker_follow_ops;
extern const struct depq_worker_ops depq_worker_follow_min_ops;

void depq_worker_kthread_prepare(struct depq_queue *queue);
bool depq_worker_kthread_kick(struct depq_worker *worker,
			      struct depq_queue *queue);

/*
 * Levels of follow workers, the most urgent first: FIFO 99, RR 99, FIFO 98
 * ... RR 1, nice -20 ... 19.
 */
#define DEPQ_LEVEL_NICE	(2 * (MAX_RT_PRIO - 1))
#define DEPQ_LEVEL_IDLE	(DEPQ_LEVEL_NICE + NICE_TO_PRIO(0) - MAX_RT_PRIO)
#define DEPQ_LEVELS	(DEPQ_LEVEL_NICE + NICE_WIDTH)
#define DEPQ_LEVEL_NONE	DEPQ_LEVELS

struct sched_attr;

/* level.c */
u16 depq_level_of_submitter(bool min_nice);
u16 depq_level_highest(void);
void depq_level_attr(u16 level, struct sched_attr *attr);

/* worker_follow.c, follow_count.c; only for follow workers */
int depq_follow_init(void);
void depq_follow_exit(void);
u16 depq_follow_level(struct depq_worker *worker);
void depq_follow_insert(struct depq_queue *queue, struct depq_job *job);
bool depq_follow_count(struct depq_queue *queue, bool ready);
void depq_follow_ask(struct depq_follow *follow);
void depq_follow_raise(struct depq_worker *worker);
void depq_follow_forget(struct depq_queue *queue);
bool depq_follow_is_off(struct depq_queue *queue, struct depq_job *job);
void depq_follow_settle(struct depq_worker *worker);
bool depq_follow_is_realtime(struct depq_worker *worker);
void depq_follow_pause(struct depq_worker *worker);
void depq_follow_read_stats(struct depq_worker *worker,
			    struct depq_stats *stats);

/* owner.c; only for follow workers */
int depq_owner_claim(struct depq_queue *queue);
void depq_owner_ready(struct depq_queue *queue, bool ready);
void depq_owner_forget(struct depq_queue *queue);
bool depq_owner_over(const struct depq_owner *owner);
struct depq_owner *depq_owner_begin(struct depq_queue *queue, u64 *since);
void depq_owner_charge(struct depq_owner *owner, u64 since, bool realtime);
void depq_owner_put(struct depq_owner *owner);

/* arbiter.c; only for queues with a contender */
/* The driver does not report the time. */
#define DEPQ_ENGINE_NS_MEASURE	U64_MAX
int depq_arbiter_join(struct depq_arbiter *arbiter, struct depq_queue *queue);
void depq_arbiter_forget(struct depq_queue *queue);
bool depq_arbiter_ask(struct depq_queue *queue, u32 credits);
bool depq_arbiter_contends(struct depq_queue *queue);
void depq_arbiter_start(struct depq_queue *queue, struct depq_job *job);
void depq_arbiter_end(struct depq_queue *queue, struct depq_job *job,
		      u64 engine_ns);
void depq_arbiter_withdraw(struct depq_queue *queue);
void depq_arbiter_dispatch(struct depq_contender *contender);

/* worker.c */
void depq_worker_prepare(struct depq_queue *queue);
void depq_worker_kick(struct depq_queue *queue);

/* fence.c */
int depq_fence_init(void);
void depq_fence_exit(void);
struct dma_fence *depq_fence_create(struct depq_queue *queue);
void depq_fence_set_hw(struct dma_fence *finished, struct dma_fence *hw);
void depq_fence_clear_hw(struct dma_fence *finished);

/* queue.c */
enum depq_queue_state depq_queue_state(struct depq_queue *queue);
void depq_queue_note(struct depq_queue *queue, enum depq_queue_state old);
bool depq_queue_kill_locked(struct depq_queue *queue, int error);
void depq_queue_yield(struct depq_queue *queue);

/* job.c */
struct dma_fence *depq_job_next_dep(struct depq_job *job);

/* run.c */
bool depq_queue_want_kick(struct depq_queue *queue);
void depq_queue_work(struct depq_queue *queue);
void depq_queue_softirq(struct tasklet_struct *tasklet);

/* done.c */
void depq_job_done(struct depq_job *job, int error);
void depq_signal_lock(struct depq_queue *queue, unsigned long *flags);
void depq_signal_unlock(struct depq_queue *queue, unsigned long flags);
void depq_queue_drain(struct depq_queue *queue, unsigned long *flags,
		      struct list_head *reaped);
u32 depq_queue_take(struct depq_queue *queue, u32 most,
		    enum depq_where where, struct list_head *reaped);
void depq_put_all(struct list_head *reaped);
void depq_reap(struct depq_queue *queue, u32 most, enum depq_where where);
void depq_reap_force(struct depq_queue *queue);
void depq_reap_work(struct work_struct *work);

/* timeout.c */
void depq_tdr_arm(struct depq_queue *queue, unsigned long delay);
void depq_tdr_force(struct depq_queue *queue);
void depq_tdr_work(struct work_struct *work);

/* Short, and on the path of every job that its submitter runs. */

/**
 * depq_queue_fits() - whether there are credits for a job
 * @queue: the queue
 * @job: the job
 *
 * Context: any; the lock of the queue is held.
 * Return: true if so. Always true if nothing is in flight, since no job has more
 * credits than the limit.
 */
static inline bool depq_queue_fits(struct depq_queue *queue,
				   struct depq_job *job)
{
	lockdep_assert_held(&queue->lock);
	return job->credits <= queue->credit_limit - queue->credits;
}

/**
 * depq_queue_admits() - whether the first job may go to the hardware
 * @queue: the queue
 * @job: its first job, whose dependencies are done
 *
 * Context: any; the lock of the queue is held, and the caller is the runner or
 * there is none.
 * Return: true if so. If only its arbiter refuses, the queue waits for its turn.
 */
static inline bool depq_queue_admits(struct depq_queue *queue,
				     struct depq_job *job)
{
	return depq_queue_fits(queue, job) &&
	       (likely(!queue->contender) ||
		depq_arbiter_ask(queue, job->credits));
}

/**
 * depq_follow_append() - account for a job that was just queued
 * @queue: its queue
 * @job: the job, last in @queued, with its level
 *
 * The caller checks depq_follow_differs() before it releases the lock.
 *
 * Context: process; the lock of the queue is held.
 */
static inline void depq_follow_append(struct depq_queue *queue,
				      struct depq_job *job)
{
	lockdep_assert_held(&queue->lock);
	if (!list_is_first(&job->link, &queue->queued) &&
	    list_prev_entry(job, link)->level != job->level)
		depq_follow_insert(queue, job);
}

/**
 * depq_follow_level_of() - the level of a queue if it is ready
 * @queue: the queue, which has jobs queued
 *
 * Context: any; the lock of the queue is held.
 * Return: the level of the most urgent job, or nice 0 if its process has used up
 * its realtime budget
 */
static inline u16 depq_follow_level_of(struct depq_queue *queue)
{
	u16 level;

	lockdep_assert_held(&queue->lock);
	if (list_empty(&queue->urgent))
		level = list_last_entry(&queue->queued, struct depq_job,
					link)->level;
	else
		level = list_first_entry(&queue->urgent, struct depq_job,
					 urgent)->level;
	if (unlikely(queue->owner) && level < DEPQ_LEVEL_NICE &&
	    depq_owner_over(queue->owner))
		level = DEPQ_LEVEL_IDLE;
	return level;
}

/**
 * depq_follow_differs() - whether the level of a queue must be updated
 * @queue: the queue
 * @ready: whether the worker has something to do for it
 *
 * Context: any; the lock of the queue is held.
 * Return: whether to call depq_follow_count()
 */
static inline bool depq_follow_differs(struct depq_queue *queue, bool ready)
{
	lockdep_assert_held(&queue->lock);
	if (ready)
		return queue->lingering ||
		       queue->level != depq_follow_level_of(queue);
	return !queue->lingering && queue->level != DEPQ_LEVEL_NONE;
}

/**
 * depq_follow_update() - update a queue's level, and raise the worker if necessary
 * @queue: the queue
 * @ready: whether the worker has something to do for it
 *
 * Context: any; the lock of the queue is held.
 */
static inline void depq_follow_update(struct depq_queue *queue, bool ready)
{
	if (depq_follow_differs(queue, ready) &&
	    depq_follow_count(queue, ready))
		depq_follow_ask(queue->worker->follow);
}

/**
 * depq_follow_leave() - a job no longer waits for the worker
 * @queue: its queue, from whose @queued it was removed
 * @job: the job
 * @ready: whether the worker has more to do for the queue
 *
 * Context: the worker; the lock of the queue is held.
 */
static inline void depq_follow_leave(struct depq_queue *queue,
				     struct depq_job *job, bool ready)
{
	lockdep_assert_held(&queue->lock);
	if (!list_empty(&job->urgent))
		list_del_init(&job->urgent);
	depq_follow_update(queue, ready);
}

/**
 * depq_queue_leave() - release the token
 * @queue: the queue
 *
 * Context: process; the lock of the queue is held. The caller asks
 * depq_queue_want_kick() before it releases it.
 */
static inline void depq_queue_leave(struct depq_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	WARN_ON_ONCE(queue->runner != current);
	queue->runner = NULL;
	/*
	 * A waiter is on the wait queue before it checks the runner under the
	 * lock that we hold; so either this sees it, or it sees the change.
	 */
	if (waitqueue_active(&queue->wait))
		wake_up_all(&queue->wait);
}

/**
 * depq_job_start() - account for a job that is about to be run
 * @queue: the queue
 * @job: the job; in no list
 *
 * Context: process; the lock of the queue is held, and the token.
 */
static inline void depq_job_start(struct depq_queue *queue,
				  struct depq_job *job)
{
	lockdep_assert_held(&queue->lock);
	job->state = DEPQ_JOB_PENDING;
	job->start = jiffies;
	queue->credits += job->credits;
	if (unlikely(queue->contender))
		depq_arbiter_start(queue, job);
	queue->stats.pending++;
	list_add_tail(&job->link, &queue->pending);
	if (queue->timeout && !queue->tdr_armed)
		depq_tdr_arm(queue, queue->timeout + 1);
}

#endif /* DEPQ_INTERNAL_H */
