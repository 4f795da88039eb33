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
 * A dependency queue. Jobs enter in the order of their sequence numbers, wait for
 * the fences they depend on and for credits, go to the hardware in that order,
 * and signal their finished fences in that order. One queue feeds one hardware
 * queue. Several queues may share a worker, and those of one engine may share an
 * arbiter, which divides the time of the engine among them.
 *
 * A submission has two halves. The first may allocate, sleep and fail:
 * depq_job_init(), depq_job_add_dep(). The second cannot fail and allocates
 * nothing: depq_job_commit(). Between the two, the driver allocates whatever
 * else it needs (its hardware fence, a sync_file for depq_job_fence()).
 *
 * depq_job_init() returns with one reference to the job, the submitter's.
 * depq_job_commit() takes another one for the queue, so the submitter may access
 * the job until it calls depq_job_put(). Dropping a job that was never committed
 * discards it; its fence never signals.
 *
 * Jobs are run by the submitter itself, if the queue has %DEPQ_QUEUE_BYPASS and
 * nothing blocks the job, else by the worker. Whoever runs a job holds the
 * runner token of the queue (which is not a lock), so that there is never more
 * than one.
 *
 * When a job is done, its finished fence is signalled in the context where the
 * hardware fence was, usually a hard interrupt. &enum depq_put selects who then
 * drops the queue's reference to the job.
 *
 * All locks are spinlock_t: on PREEMPT_RT they sleep, and so do those of
 * fences. There, nothing may signal a fence from a hard interrupt, and no
 * function here needs to be called from one.
 */

struct depq_arbiter;
struct depq_contender;
struct depq_device;
struct depq_owner;
struct depq_job;
struct depq_queue;
struct depq_worker;

/* &depq_queue_args.flags */
/* The submitter runs the job if it can; run_job() must not sleep. */
#define DEPQ_QUEUE_BYPASS	BIT(0)
/*
 * If an interrupt unblocks a job, the softirq that follows it runs the job;
 * run_job() must be safe there. Ignored with a follow worker.
 */
#define DEPQ_QUEUE_SOFTIRQ	BIT(1)
/*
 * With %DEPQ_PUT_AUTO: release_job() is safe in hard interrupts, and costs about
 * as much as signalling a fence.
 */
#define DEPQ_QUEUE_PUT_IRQ	BIT(2)

/**
 * enum depq_put - where the queue drops its reference to a finished job
 * @DEPQ_PUT_WORKER: in the worker, which is woken for it
 * @DEPQ_PUT_IRQ: at once, wherever the job signals; release_job() must be safe
 *	in hard interrupts
 * @DEPQ_PUT_SUBMIT: in the next submission or, if there is none, delayed work
 * @DEPQ_PUT_AUTO: where the job signals, if the queue has %DEPQ_QUEUE_PUT_IRQ;
 *	else in the next submission, or in a thread that has waited
 *	(depq_queue_wait_begin()), or, if neither is to come, in the worker. No
 *	timer.
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
 * enum depq_verdict - the driver's diagnosis of a job that took too long
 * @DEPQ_NO_HANG: the job is alive and gets another full period. Also the
 *	answer if only the completion was lost and the driver has now
 *	signalled the hardware fence.
 * @DEPQ_RESET: the hardware queue was reset and will not touch any pending job
 *	of this queue. The job fails with -ETIME, those pending behind it
 *	with -ECANCELED; those not yet run are run. A queue that was
 *	reset more than hang_limit times is banned: killed with -ENODEV. In a
 *	queue that was already killed, all fail with the error of the kill.
 * @DEPQ_GONE: the device is gone. The queue is killed with -ENODEV and its
 *	pending jobs fail with that error.
 */
enum depq_verdict {
	DEPQ_NO_HANG,
	DEPQ_RESET,
	DEPQ_GONE,
};

/**
 * struct depq_ops - driver callbacks of a queue
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
	 * * a hardware fence, with a reference for the caller of run_job(); it
	 *   may have signalled already. Whoever signals it must hold another
	 *   reference until dma_fence_signal() has returned. It
	 *   must not be a finished fence of depq, whose lock is taken inside
	 *   that of the hardware fence.
	 * * NULL - the job is done
	 * * ERR_PTR() - the job has failed with that error
	 */
	struct dma_fence *(*run_job)(struct depq_job *job);

	/**
	 * @timedout_job: the oldest pending job exceeded the timeout, or
	 * depq_queue_trigger_timeout() or depq_queue_kill() was called. No job
	 * is run during the call, but the hardware may complete jobs. The
	 * driver may signal hardware fences of pending jobs itself, with an
	 * error or without. After %DEPQ_RESET or %DEPQ_GONE, depq signals the
	 * remaining ones with the error of their job, after its finished
	 * fence.
	 *
	 * Context: process, on the device's workqueue for timeouts, never two
	 * at a time for one device. Must not allocate, and must not wait for
	 * fences of this device or for release_queue(): memory reclaim may
	 * wait for the jobs that this finishes.
	 */
	enum depq_verdict (*timedout_job)(struct depq_job *job);

	/**
	 * @engine_time: return how long, in nanoseconds, the engine executed a
	 * job that is done or was removed from it. Called once for each job of a
	 * queue with an arbiter. May be NULL: then the time between the ends of
	 * two jobs counts for the second one, which is correct if the engine
	 * executes jobs one after another, with an interrupt for each that is
	 * not late.
	 *
	 * Context: that of the hardware fence's signal.
	 */
	u64 (*engine_time)(struct depq_job *job);

	/**
	 * @release_job: free the job; the last reference was dropped. Its
	 * dependencies and fences were released before.
	 *
	 * Context: any if the queue has %DEPQ_PUT_IRQ, or %DEPQ_PUT_AUTO with
	 * %DEPQ_QUEUE_PUT_IRQ, or if the driver signals in interrupts and holds
	 * its own references to jobs; else process.
	 */
	void (*release_job)(struct depq_job *job);

	/**
	 * @release_queue: free the queue; the last reference was dropped.
	 *
	 * Context: process, on the device's workqueue for releases, after a
	 * grace period, when depq no longer accesses the queue.
	 * May allocate and sleep: no timeout waits for it.
	 */
	void (*release_queue)(struct depq_queue *queue);
};

/**
 * struct depq_device - common state of the queues of a device
 * @name: for messages
 * @timeout_wq: handles timeouts; ordered, with a rescuer thread for when memory
 *	is short
 * @release_wq: drops references to finished jobs that no submitter has dropped,
 *	and releases queues; ordered
 * @lock: protects @queues
 * @queues: all live queues
 * @live: their number, plus one while the device exists
 * @idle: completed when @live becomes zero
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
 * @DEPQ_WORKER_SYSTEM: the system workqueue. For measurements only: it does not
 *	guarantee progress when memory is short.
 * @DEPQ_WORKER_WQ: a dedicated ordered workqueue
 * @DEPQ_WORKER_HIGHPRI: a dedicated workqueue with WQ_HIGHPRI
 * @DEPQ_WORKER_KTHREAD: a kthread_worker
 * @DEPQ_WORKER_FOLLOW: a kthread_worker with the scheduling parameters of the most
 *	urgent submitter whose job waits only for it; see worker_follow.c
 * @DEPQ_WORKER_FOLLOW_MIN: the same, but any negative nice value counts as -20.
 *	For measurements only.
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
 * struct depq_queue_args - parameters of a queue
 * @dev: the device it belongs to
 * @ops: driver callbacks
 * @worker: runs its jobs; the queue takes a reference
 * @arbiter: chooses between this and the other queues of its engine; the queue
 *	takes a reference. NULL: only its credits limit what it submits.
 * @name: copied
 * @flags: %DEPQ_QUEUE_BYPASS, %DEPQ_QUEUE_SOFTIRQ, %DEPQ_QUEUE_PUT_IRQ
 * @put: where the reference to a finished job is dropped
 * @credit_limit: the most credits in flight; 1 or more
 * @max_queued: the most jobs between depq_job_init() and signal; 1 or more
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
 * struct depq_stats - statistics of a queue since it was initialised
 * @submitted: jobs committed
 * @bypassed: of these, run by their submitter
 * @done: finished fences signalled, whatever the error
 * @failed: of these, with an error
 * @cancelled: of these, never run because the queue was killed
 * @timedout: verdicts %DEPQ_RESET on a job that had not completed well by then
 * @no_hang: verdicts %DEPQ_NO_HANG
 * @put_irq: jobs put by whoever signalled
 * @put_submit: jobs put by a submitter
 * @put_worker: jobs put by the worker
 * @put_delayed: jobs put by the delayed work
 * @kicks: times the worker was kicked
 * @softirqs: times a softirq was raised instead
 * @raises: times a follow worker's priority was raised
 * @lowers: times it was lowered
 * @credits: currently in flight
 * @queued: jobs currently waiting to be run
 * @pending: jobs currently on the hardware
 * @banned: whether the queue is banned or killed
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
 * struct depq_queue - a queue; embedded in a struct of the driver
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

	/* Protected by this lock, unless noted otherwise: */
	spinlock_t lock;
	struct list_head queued;
	struct list_head pending;
	struct list_head done;
	struct task_struct *runner;
	u64 seqno;
	u32 credits;
	u32 jobs;	/* between init and signal */
	u32 stopped;
	u32 hangs;
	int error;	/* not 0 once killed or banned */
	u32 reapers;	/* threads that will reap after waiting */
	bool put_irq;	/* constant */
	bool kicked;	/* the worker or softirq was kicked */
	bool softirq;	/* it was the softirq; constant while @kicked */
	bool tdr;
	bool tdr_armed;
	bool tdr_forced;
	bool reap_armed;
	bool dep_done;
	struct dma_fence *dep;		/* awaited by the runner */
	struct dma_fence_cb dep_cb;
	unsigned long head_since;	/* jiffies */
	struct depq_stats stats;

	wait_queue_head_t wait;		/* for room, or for no runner */
	union {
		struct work_struct work;
		struct kthread_work kwork;
	};
	struct tasklet_struct tasklet;
	struct delayed_work tdr_work;
	struct delayed_work reap_work;
	struct rcu_work release_work;
	struct list_head link;		/* in dev->queues */

	/* For a follow worker; see depq/follow_count.c. */
	struct list_head urgent;
	bool lingering;
	struct list_head linger;	/* under the worker's lock */
	unsigned long linger_end;	/* jiffies; likewise */
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
 * enum depq_job_state - state of a job; see the table in depq/job.c
 * @DEPQ_JOB_INIT: owned by the submitter
 * @DEPQ_JOB_QUEUED: has a sequence number, waits to be run
 * @DEPQ_JOB_PENDING: on the hardware
 * @DEPQ_JOB_DONE: completed by the hardware
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
 * struct depq_job - a job; embedded in a struct of the driver
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
	u16 level;	/* for a follow worker */
	struct list_head urgent;	/* in queue->urgent */
};

/* Flags of depq_job_init() */
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
