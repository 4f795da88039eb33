/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DEPQ_H
#define DEPQ_H

#include <linux/dma-fence.h>
#include <linux/interrupt.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

/**
 * DOC: depq
 *
 * A dependency queue: jobs go in at one end in the order of their sequence
 * numbers, wait there for the fences they depend on and for credits, are
 * handed to the hardware in that order, and signal their finished fences in
 * that order. One queue feeds one hardware queue; several queues may share a
 * worker, and those of one engine an arbiter, which divides the time of the engine
 * among them.
 *
 * A submission has two halves. The first may allocate, sleep and fail:
 * depq_job_init(), depq_job_add_dep(). The second cannot fail and allocates
 * nothing: depq_job_commit(). Between the two the driver allocates whatever
 * else it needs (its hardware fence, a sync_file for depq_job_fence()).
 *
 * depq_job_init() gives the submitter one reference to the job, which stays
 * its own: depq_job_commit() takes another one for the queue, so that the job
 * is safe to look at until the submitter calls depq_job_put(). A job that is
 * dropped without having been committed is thrown away; its fence never signals.
 *
 * Who runs a job is decided for each job: the submitter itself, if the queue
 * has %DEPQ_QUEUE_BYPASS and nothing is in the way, else the worker. Whoever
 * it is holds the runner token of the queue (not a lock), so that there is
 * never more than one.
 *
 * When a job is done, its finished fence is signalled from wherever the
 * hardware fence was, usually a hard interrupt. Who then drops the queue's
 * reference to the job is chosen by &enum depq_put.
 *
 * All locks are spinlock_t: on PREEMPT_RT they sleep, and so do those of
 * fences. There nothing may signal a fence from a hard interrupt, and nothing
 * here needs to be called from one.
 */

struct depq_arbiter;
struct depq_contender;
struct depq_device;
struct depq_owner;
struct depq_job;
struct depq_queue;
struct depq_worker;

/* What &depq_queue_args.flags may hold. */
/* The submitter runs the job where it can; run_job() must not sleep. */
#define DEPQ_QUEUE_BYPASS	BIT(0)
/*
 * If an interrupt removes what was in the way of a job, the softirq that follows
 * it runs the job; run_job() must be safe there. Not with a worker that follows.
 */
#define DEPQ_QUEUE_SOFTIRQ	BIT(1)
/*
 * With %DEPQ_PUT_AUTO: release_job() is safe in hard interrupts, and costs about
 * as much as signalling a fence.
 */
#define DEPQ_QUEUE_PUT_IRQ	BIT(2)

/**
 * enum depq_put - where the queue drops its reference to a finished job
 * @DEPQ_PUT_WORKER: the worker, which is woken for it
 * @DEPQ_PUT_IRQ: whoever signals, at once; release_job() must be safe in
 *	hard interrupts
 * @DEPQ_PUT_SUBMIT: the next submitter, or, if none comes, a delayed work
 * @DEPQ_PUT_AUTO: whoever signals, if the queue has %DEPQ_QUEUE_PUT_IRQ; else
 *	the next submitter, or whoever has waited (depq_queue_wait_begin()), or,
 *	if neither is to come, the worker. No timer.
 */
enum depq_put {
	DEPQ_PUT_WORKER,
	DEPQ_PUT_IRQ,
	DEPQ_PUT_SUBMIT,
	DEPQ_PUT_AUTO,
	/* private: */
	DEPQ_PUT_COUNT
};

/**
 * enum depq_verdict - what the driver found when a job took too long
 * @DEPQ_NO_HANG: the job is alive; it gets another full period. Also the
 *	answer where only the completion was lost and the driver has now
 *	signalled the hardware fence.
 * @DEPQ_RESET: the hardware queue was reset and will not touch any job that
 *	is pending in this queue. The job fails with -ETIME, those pending
 *	behind it with -ECANCELED, those not yet run go on. A queue that was
 *	reset more than hang_limit times is banned: killed with -ENODEV. In a
 *	queue that was killed before, all fail with the error of the kill.
 * @DEPQ_GONE: the device is gone. The queue is killed with -ENODEV and its
 *	pending jobs fail with that.
 */
enum depq_verdict {
	DEPQ_NO_HANG,
	DEPQ_RESET,
	DEPQ_GONE,
};

/**
 * struct depq_ops - what a driver does for a queue
 */
struct depq_ops {
	/**
	 * @run_job: hand the job to the hardware. Called once for each job,
	 * in order, by the holder of the runner token.
	 *
	 * Context: process, or a softirq if the queue has %DEPQ_QUEUE_SOFTIRQ;
	 * inside a dma_fence signalling section: must not allocate. May sleep
	 * unless the queue has %DEPQ_QUEUE_BYPASS or %DEPQ_QUEUE_SOFTIRQ. No
	 * lock of depq is held.
	 * Return:
	 * * a hardware fence, of which the caller of run_job() gets a
	 *   reference; it may have signalled already. Whoever signals it holds
	 *   a reference of its own until dma_fence_signal() has returned. It
	 *   must not be a finished fence of depq: its lock is taken inside
	 *   that of the hardware fence.
	 * * NULL - the job is done
	 * * ERR_PTR() - the job has failed with that error
	 */
	struct dma_fence *(*run_job)(struct depq_job *job);

	/**
	 * @timedout_job: the oldest pending job took longer than the timeout,
	 * or depq_queue_trigger_timeout() or depq_queue_kill() asked. No job
	 * is run meanwhile; the hardware may complete jobs meanwhile. The
	 * driver may signal hardware fences of pending jobs itself, with an
	 * error or without; those that it has not signalled when it answers
	 * %DEPQ_RESET or %DEPQ_GONE are signalled for it with the error of
	 * their job, after the finished fence of that.
	 *
	 * Context: process, on the device's workqueue for timeouts, never two
	 * at a time for one device. Must not allocate, and must not wait for
	 * fences of this device or for release_queue(): memory reclaim may
	 * wait for the jobs that this ends.
	 */
	enum depq_verdict (*timedout_job)(struct depq_job *job);

	/**
	 * @engine_time: for how long the engine has executed a job that is done
	 * or was taken off it, in nanoseconds. Called once for each job of a
	 * queue with an arbiter. May be NULL: then what passes between the ends
	 * of two jobs is taken for the time of the second, which is right where
	 * an engine executes one after the other and has an interrupt for each
	 * that is not late.
	 *
	 * Context: that of the hardware fence's signal.
	 */
	u64 (*engine_time)(struct depq_job *job);

	/**
	 * @release_job: the last reference to the job was dropped; free it.
	 * Its dependencies and fences have been let go.
	 *
	 * Context: any if the queue has %DEPQ_PUT_IRQ, or %DEPQ_PUT_AUTO with
	 * %DEPQ_QUEUE_PUT_IRQ, or if the driver signals in interrupts and holds
	 * references of its own, else process.
	 */
	void (*release_job)(struct depq_job *job);

	/**
	 * @release_queue: the last reference to the queue was dropped; free it.
	 *
	 * Context: process, on the device's workqueue for releases, after a
	 * grace period in which nobody of depq can still look at the queue.
	 * May allocate and sleep: no timeout waits for it.
	 */
	void (*release_queue)(struct depq_queue *queue);
};

/**
 * struct depq_device - what the queues of a device share
 * @name: for messages
 * @timeout_wq: ordered, with a thread that is kept for when memory is short:
 *	handles timeouts
 * @release_wq: ordered: drops references to finished jobs that no submitter
 *	has dropped, and releases queues
 * @lock: protects @queues
 * @queues: all queues that are alive
 * @live: their number, plus one while the device lives
 * @idle: completed when @live has become zero
 */
struct depq_device {
	const char *name;
	struct workqueue_struct *timeout_wq;
	struct workqueue_struct *release_wq;
	spinlock_t lock;
	struct list_head queues;
	atomic_t live;
	struct completion idle;
};

int depq_device_init(struct depq_device *dev, const char *name);
void depq_device_fini(struct depq_device *dev);

/**
 * enum depq_worker_kind - what runs the jobs that no submitter runs
 * @DEPQ_WORKER_SYSTEM: the kernel's system workqueue. To measure with only:
 *	it gives no guarantee of progress when memory is short.
 * @DEPQ_WORKER_WQ: an ordered workqueue of its own
 * @DEPQ_WORKER_HIGHPRI: a workqueue of its own with WQ_HIGHPRI
 * @DEPQ_WORKER_KTHREAD: a kthread_worker
 * @DEPQ_WORKER_FOLLOW: a kthread_worker that is scheduled as the most urgent of
 *	those whose jobs wait for it and for nothing else; see worker_follow.c
 * @DEPQ_WORKER_FOLLOW_MIN: the same, but any negative nice value counts as -20.
 *	To measure with only.
 */
enum depq_worker_kind {
	DEPQ_WORKER_SYSTEM,
	DEPQ_WORKER_WQ,
	DEPQ_WORKER_HIGHPRI,
	DEPQ_WORKER_KTHREAD,
	DEPQ_WORKER_FOLLOW,
	DEPQ_WORKER_FOLLOW_MIN,
	/* private: */
	DEPQ_WORKER_COUNT
};

struct depq_worker *depq_worker_create(enum depq_worker_kind kind,
				       const char *name);
struct depq_worker *depq_worker_get(struct depq_worker *worker);
void depq_worker_put(struct depq_worker *worker);

struct depq_arbiter *depq_arbiter_create(u32 credit_limit);
struct depq_arbiter *depq_arbiter_get(struct depq_arbiter *arbiter);
void depq_arbiter_put(struct depq_arbiter *arbiter);

/**
 * struct depq_queue_args - how a queue is to be
 * @dev: the device it belongs to
 * @ops: what the driver does for it
 * @worker: runs its jobs; the queue takes a reference of its own
 * @arbiter: chooses between it and the other queues of its engine; the queue takes a
 *	reference of its own. NULL: it hands over what its own credits allow.
 * @name: copied
 * @flags: %DEPQ_QUEUE_BYPASS, %DEPQ_QUEUE_SOFTIRQ, %DEPQ_QUEUE_PUT_IRQ
 * @put: where the reference to a finished job is dropped
 * @credit_limit: credits in flight at most; 1 or more
 * @max_queued: jobs between depq_job_init() and the end at most; 1 or more
 * @timeout: jiffies a job may take on the hardware; 0 for no limit
 * @hang_limit: resets after which the queue is banned
 */
struct depq_queue_args {
	struct depq_device *dev;
	const struct depq_ops *ops;
	struct depq_worker *worker;
	struct depq_arbiter *arbiter;
	const char *name;
	u32 flags;
	enum depq_put put;
	u32 credit_limit;
	u32 max_queued;
	unsigned long timeout;
	u32 hang_limit;
};

/**
 * struct depq_stats - what a queue has done since it was made
 * @submitted: jobs committed
 * @bypassed: of these, run by their submitter
 * @done: finished fences signalled, whatever the error
 * @failed: of these, with an error
 * @cancelled: of these, never run because the queue was killed
 * @timedout: verdicts %DEPQ_RESET on a job that had not ended well meanwhile
 * @no_hang: verdicts %DEPQ_NO_HANG
 * @put_irq: jobs put by whoever signalled
 * @put_submit: jobs put by a submitter
 * @put_worker: jobs put by the worker
 * @put_delayed: jobs put by the delayed work
 * @kicks: times the worker was asked to run
 * @softirqs: times a softirq was asked to run instead of it
 * @raises: times its worker became more urgent, if it follows
 * @lowers: times its worker became less urgent
 * @credits: in flight now
 * @queued: jobs not yet run now
 * @pending: jobs with the hardware now
 * @banned: whether the queue is banned or killed now
 */
struct depq_stats {
	u64 submitted;
	u64 bypassed;
	u64 done;
	u64 failed;
	u64 cancelled;
	u64 timedout;
	u64 no_hang;
	u64 put_irq;
	u64 put_submit;
	u64 put_worker;
	u64 put_delayed;
	u64 kicks;
	u64 softirqs;
	u64 raises;
	u64 lowers;
	u32 credits;
	u32 queued;
	u32 pending;
	bool banned;
};

/**
 * struct depq_queue - a queue; embedded in what the driver keeps for it
 *
 * Drivers use only depq_queue_*(). The fields are described in depq/queue.c.
 */
struct depq_queue {
	/* private: */
	struct kref ref;
	struct depq_device *dev;
	const struct depq_ops *ops;
	struct depq_worker *worker;
	struct depq_contender *contender;	/* or NULL; see depq/arbiter.c */
	u32 flags;
	enum depq_put put;
	u32 credit_limit;
	u32 max_queued;
	u32 hang_limit;
	unsigned long timeout;
	u64 fence_context;
	char name[24];

	spinlock_t signal_lock;

	/* All below: under this lock, unless said otherwise. */
	spinlock_t lock;
	struct list_head queued;
	struct list_head pending;
	struct list_head done;
	struct task_struct *runner;
	u64 seqno;
	u32 credits;
	u32 jobs;	/* between init and end */
	u32 stopped;
	u32 hangs;
	int error;	/* not 0 once killed or banned */
	u32 reapers;	/* will put what has signalled when they have waited */
	bool put_irq;	/* constant */
	bool kicked;	/* the worker or the softirq will come */
	bool softirq;	/* the latter; constant while @kicked */
	bool tdr;
	bool tdr_armed;
	bool tdr_forced;
	bool reap_armed;
	bool dep_done;
	struct dma_fence *dep;		/* of the holder of the token */
	struct dma_fence_cb dep_cb;
	unsigned long head_since;	/* jiffies */
	struct depq_stats stats;

	wait_queue_head_t wait;		/* for room, and for no runner */
	union {
		struct work_struct work;
		struct kthread_work kwork;
	};
	struct tasklet_struct tasklet;
	struct delayed_work tdr_work;
	struct delayed_work reap_work;
	struct rcu_work release_work;
	struct list_head link;		/* in dev->queues */

	/* For a worker that follows; see depq/follow_count.c. */
	struct list_head urgent;
	bool lingering;
	struct list_head linger;	/* under the worker's lock */
	unsigned long linger_end;	/* jiffies; the same */
	u16 level;
	struct depq_owner *owner;	/* see depq/owner.c */
	bool owner_ready;
};

int depq_queue_init(struct depq_queue *queue,
		    const struct depq_queue_args *args);
struct depq_queue *depq_queue_get(struct depq_queue *queue);
void depq_queue_put(struct depq_queue *queue);
void depq_queue_stop(struct depq_queue *queue);
void depq_queue_start(struct depq_queue *queue);
void depq_queue_kill(struct depq_queue *queue, int error);
void depq_queue_trigger_timeout(struct depq_queue *queue);
void depq_queue_reap(struct depq_queue *queue);
bool depq_queue_wait_begin(struct depq_queue *queue);
void depq_queue_wait_end(struct depq_queue *queue);
void depq_queue_read_stats(struct depq_queue *queue, struct depq_stats *stats);

/**
 * enum depq_job_state - where a job is; see the table in depq/job.c
 * @DEPQ_JOB_INIT: belongs to the submitter
 * @DEPQ_JOB_QUEUED: has its sequence number, waits for its turn
 * @DEPQ_JOB_PENDING: with the hardware
 * @DEPQ_JOB_DONE: the hardware is done with it
 * @DEPQ_JOB_SIGNALLED: its finished fence has signalled
 * @DEPQ_JOB_REAPED: the queue's reference was dropped
 */
enum depq_job_state {
	DEPQ_JOB_INIT,
	DEPQ_JOB_QUEUED,
	DEPQ_JOB_PENDING,
	DEPQ_JOB_DONE,
	DEPQ_JOB_SIGNALLED,
	DEPQ_JOB_REAPED,
};

/**
 * struct depq_job - a job; embedded in what the driver keeps for it
 *
 * Drivers use only depq_job_*(). The fields are described in depq/job.c.
 */
struct depq_job {
	/* private: */
	struct kref ref;
	struct depq_queue *queue;
	struct dma_fence *finished;
	struct dma_fence *hw;
	struct dma_fence_cb hw_cb;
	struct xarray deps;
	unsigned long next_dep;
	struct list_head link;
	unsigned long start;		/* jiffies */
	u32 credits;
	int error;
	enum depq_job_state state;	/* under queue->lock */
	u16 level;	/* for a worker that follows */
	struct list_head urgent;	/* in queue->urgent */
};

/* Flags of depq_job_init(). */
/* Fail with -EAGAIN instead of waiting for room in the queue. */
#define DEPQ_JOB_NONBLOCK	BIT(0)

int depq_job_init(struct depq_job *job, struct depq_queue *queue, u32 credits,
		  u32 flags);
int depq_job_add_dep(struct depq_job *job, struct dma_fence *fence);
struct dma_fence *depq_job_fence(struct depq_job *job);
u64 depq_job_commit(struct depq_job *job);
struct depq_job *depq_job_get(struct depq_job *job);
void depq_job_put(struct depq_job *job);
u32 depq_fence_bytes(void);

#endif /* DEPQ_H */
