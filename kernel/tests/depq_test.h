/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DEPQ_TEST_H
#define DEPQ_TEST_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/rtmutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <drm/gpu_scheduler.h>

#include "../compat/compat.h"
#include "../include/depq.h"
#include "depq_test_backend.h"
#include "tap.h"

/**
 * DOC: depq_test
 *
 * One set of scenarios, run on each design: drm_sched of the running kernel,
 * and depq with each combination of bypass, put and worker. The differences
 * between the two are behind &struct dt_backend. Below both is a mock engine,
 * above both are the scenarios, and next to them a checker, which is notified of
 * each run, completion, signal and release, and fails the case if an
 * invariant of the design is violated. The prefix of all names is dt_.
 *
 * depq_test_hw.c		the mock engine
 * depq_test_check.c		the checker: called from the engine and the designs
 * depq_test_fixture.c		set-up, waiting, unwinding
 * depq_test_job.c		submission
 * depq_test_thread.c		threads
 * depq_test_depq.c, _drm.c	the two designs, behind depq_test_backend.h
 * depq_test_main.c		module, debugfs, the table of designs
 * all others			scenarios
 *
 * Locks, and what they may be taken under:
 *
 * ==================  ==========================  =========================
 * lock                protects                    taken under
 * ==================  ==========================  =========================
 * dt_queue.submit     order of submission         nothing
 * dt_engine.lock      the ring                    nothing of ours
 * dt_queue.check      state of the checker        a fence's lock
 * dt.lock             lists of the fixture        nothing of ours
 * ==================  ==========================  =========================
 *
 * On PREEMPT_RT the lock of a fence sleeps, so nothing may signal a fence from
 * a hard interrupt. The timer has none of the _HARD modes: it expires in hard
 * interrupts on other kernels and in a thread on PREEMPT_RT. All locks are
 * spinlock_t for the same reason.
 */

struct dt;
struct dt_engine;
struct dt_queue;
struct dt_record;

/* True for a kernel with debug checks, which takes tens of times as long. */
#define DT_KERNEL_CHECKS_ITSELF \
	(IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_KCSAN) || \
	 IS_ENABLED(CONFIG_PROVE_LOCKING))

/* How long to wait for what must happen; only failures take that long. */
#define DT_PATIENCE	(20 * HZ)
/* How long to wait for what must not happen. */
#define DT_NEVER	(HZ / 50 + 1)
/* Timeout of jobs in scenarios that need one. */
#define DT_TIMEOUT	(HZ / 20 + 1)
/* No timeout, for drm_sched too. */
#define DT_NO_TIMEOUT	0

/**
 * enum dt_fault - the fault of a job
 * @DT_OK: nothing
 * @DT_HANG: the engine never finishes it
 * @DT_ERROR: the engine fails it with -EIO
 * @DT_LOST: it is done, but the engine does not report it; the timeout handler
 *	finds out
 * @DT_LATE: it is done, which is reported while the timeout handler is running,
 *	which resets nevertheless
 * @DT_DOUBLE: the engine reports twice that it is done
 * @DT_RUN_ERR: run_job() fails with -EIO
 * @DT_RUN_NULL: run_job() returns no fence
 * @DT_SIGNALLED: done before run_job() returns
 * @DT_SLOW: run_job() takes some time
 */
enum dt_fault {
	DT_OK,
	DT_HANG,
	DT_ERROR,
	DT_LOST,
	DT_LATE,
	DT_DOUBLE,
	DT_RUN_ERR,
	DT_RUN_NULL,
	DT_SIGNALLED,
	DT_SLOW,
};

/**
 * enum dt_policy - what the timeout handler does when a job hangs
 * @DT_POLICY_RESET: resets the engine: all that is on it fails
 * @DT_POLICY_NO_HANG: concludes that the job is alive
 * @DT_POLICY_GONE: finds that the device is gone
 */
enum dt_policy {
	DT_POLICY_RESET,
	DT_POLICY_NO_HANG,
	DT_POLICY_GONE,
};

/**
 * struct dt_limits - parameters of an engine's queues
 * @credit_limit: of a queue (depq), or of all queues of the engine (drm_sched, and
 *	with an arbiter)
 * @max_queued: jobs a queue takes; 0 for many
 * @timeout: jiffies for a job; %DT_NO_TIMEOUT for none
 * @hang_limit: resets after which a queue is banned
 * @policy: of the timeout handler
 * @parallel: the engine executes all jobs at once, not one after another
 * @arbiter: the queues (depq) share an arbiter
 */
struct dt_limits {
	u32 credit_limit;
	u32 max_queued;
	unsigned long timeout;
	u32 hang_limit;
	enum dt_policy policy;
	bool parallel;
	bool arbiter;
};

/**
 * struct dt_job_args - parameters of a job
 * @credits: 0 for one
 * @duration_ns: time on the engine; 0 if the test completes it
 * @fault: its fault
 * @run_cost_us: duration of %DT_SLOW
 * @gated: run_job() waits for &dt.gate; only if run_job() may sleep
 * @mutex: held by run_job() during that, or NULL
 * @deps: records of jobs to wait for
 * @n_deps: their number
 * @fence: a fence to wait for, or NULL; no reference is taken
 * @nonblock: fail rather than wait for room
 */
struct dt_job_args {
	u32 credits;
	u64 duration_ns;
	enum dt_fault fault;
	u32 run_cost_us;
	bool gated;
	struct rt_mutex *mutex;
	struct dt_record *const *deps;
	u32 n_deps;
	struct dma_fence *fence;
	bool nonblock;
};

/**
 * struct dt_fence - fence of a job on the engine
 * @base: the fence
 * @lock: its lock
 * @dt: the fixture, which waits for all of these to be freed
 * @rec: the job
 * @link: in &dt_engine.ring; the ring holds a reference
 * @t_end: when the engine is done with it; 0 if the test decides
 * @done: the engine is done; to be signalled
 */
struct dt_fence {
	struct dma_fence base;
	spinlock_t lock;
	struct dt *dt;
	struct dt_record *rec;
	struct list_head link;
	ktime_t t_end;
	bool done;
};

/**
 * struct dt_job - a job, freed when the design releases it
 * @drm: for drm_sched
 * @depq: for depq
 * @rec: its record
 */
struct dt_job {
	union {
		struct drm_sched_job drm;
		struct depq_job depq;
	};
	struct dt_record *rec;
};

/**
 * enum dt_state - progress of a submission
 * @DT_PREPARED: may still be aborted
 * @DT_COMMITTED: belongs to the design
 * @DT_ABORTED: was never committed
 */
enum dt_state {
	DT_PREPARED,
	DT_COMMITTED,
	DT_ABORTED,
};

/**
 * struct dt_record - the record of a job, kept until the case ends
 * @link: in &dt.records
 * @queue: its queue
 * @job: valid until released
 * @hw: its engine fence; the job's reference, put when released
 * @on_engine: it counts as credits in flight; under &dt_engine.lock
 * @finished: its finished fence, from commit on; our reference
 * @cb: called when @finished signals
 * @args: as submitted
 * @deps: finished fences it waits for; our references
 * @n_deps: their number
 * @index: number in its queue, from 1
 * @state: see &enum dt_state; written by the submitter
 * @runs: calls of run_job()
 * @handed: set when the engine has it, or at the start of run_job() if that
 *	takes some time or fails
 * @signals: of @finished
 * @releases: of the job
 * @timeouts: calls of timedout_job()
 * @error: of @finished, once signalled
 * @release_hardirq: it was released in a hard interrupt
 * @run_pid: thread that ran it
 * @run_prio: priority of that thread, not counting priority inheritance
 */
struct dt_record {
	struct list_head link;
	struct dt_queue *queue;
	struct dt_job *job;
	struct dt_fence *hw;
	bool on_engine;
	struct dma_fence *finished;
	struct dma_fence_cb cb;
	struct dt_job_args args;
	struct dma_fence **deps;
	u32 n_deps;
	u32 index;
	enum dt_state state;
	atomic_t runs;
	atomic_t handed;
	atomic_t signals;
	atomic_t releases;
	atomic_t timeouts;
	int error;
	bool release_hardirq;
	pid_t run_pid;
	int run_prio;
};

/**
 * struct dt_queue - a queue with the state of the checker
 * @link: in &dt.queues
 * @dt: the fixture
 * @engine: the engine of its jobs
 * @depq: the queue, for depq
 * @drm: the entity, for drm_sched
 * @worker: its worker, for depq
 * @priority: of the entity
 * @submit: serialises submission
 * @jobs: committed; under @submit
 * @credits: on the engine; under &dt_engine.lock
 * @in_flight: jobs on the engine; under &dt_engine.lock
 * @check: protects what follows
 * @last_run: index of the last job run
 * @last_signal: index of the last job signalled
 * @stopped: nested stops that have returned
 * @killed: a kill has returned
 * @late_runs: jobs that were run although killed
 * @running: calls of run_job() in progress
 * @closed: dt_close() was called
 * @held: its release waits for &dt.gate
 * @releasing: it has begun to wait
 * @live: the design has it
 */
struct dt_queue {
	struct list_head link;
	struct dt *dt;
	struct dt_engine *engine;
	union {
		struct depq_queue depq;
		struct drm_sched_entity drm;
	};
	struct depq_worker *worker;
	enum drm_sched_priority priority;
	struct mutex submit;
	u32 jobs;
	u32 credits;
	u32 in_flight;
	spinlock_t check;
	u32 last_run;
	u32 last_signal;
	u32 stopped;
	bool killed;
	u32 late_runs;
	atomic_t running;
	bool closed;
	bool held;
	bool releasing;
	bool live;
};

/**
 * struct dt_engine - mock hardware
 * @link: in &dt.engines
 * @dt: the fixture
 * @limits: of its queues
 * @drm: its scheduler, for drm_sched
 * @arbiter: of its queues, for depq, or NULL
 * @live: the scheduler was created
 * @lock: protects what follows
 * @ring: &struct dt_fence of jobs handed over, in order
 * @timer: expires when the next job is done
 * @free_at: when the last job with a duration is done
 * @draining: a thread is signalling done jobs, in order
 * @interrupts: expiries of @timer
 * @timeouts: calls of timedout_job()
 * @credits: in flight, for drm_sched
 * @in_flight: jobs on it
 */
struct dt_engine {
	struct list_head link;
	struct dt *dt;
	struct dt_limits limits;
	struct drm_gpu_scheduler drm;
	struct depq_arbiter *arbiter;
	bool live;
	spinlock_t lock;
	struct list_head ring;
	struct hrtimer timer;
	ktime_t free_at;
	bool draining;
	u64 interrupts;
	atomic_t timeouts;
	u32 credits;
	u32 in_flight;
};

/**
 * struct dt - fixture of a case
 * @test: the case
 * @design: what is tested
 * @random: for the case's thread
 * @wait: woken whenever something may have happened
 * @dev: for depq
 * @dev_live: @dev was initialised
 * @worker: shared by queues, for depq
 * @tdr_wq: timeouts, for drm_sched
 * @lock: protects the lists
 * @engines: all
 * @queues: all
 * @records: all
 * @gate: see &dt_job_args.gated
 * @user: fences that the test signals
 * @n_user: their number
 * @fences: engine fences that exist; under @wait's lock
 * @jobs: jobs that exist; under @wait's lock
 * @n_queues: queues that the design has; under @wait's lock
 * @n_threads: threads started and not joined; under @wait's lock
 * @scrambled: engines complete out of order, so drm_sched signals out of order
 * @forced: the case is being cleaned up
 */
struct dt {
	struct kunit *test;
	const struct dt_design *design;
	struct rnd_state random;
	wait_queue_head_t wait;
	struct depq_device dev;
	bool dev_live;
	struct depq_worker *worker;
	struct workqueue_struct *tdr_wq;
	spinlock_t lock;
	struct list_head engines;
	struct list_head queues;
	struct list_head records;
	struct completion gate;
	struct dma_fence *user[8];
	u32 n_user;
	u32 fences;
	u32 jobs;
	u32 n_queues;
	u32 n_threads;
	bool scrambled;
	bool forced;
};

/* depq_test_main.c */
extern u64 dt_seed;
extern unsigned int dt_scale;
const void *dt_gen_params(const void *prev, char *desc);
u32 dt_scaled(u32 n);

/* depq_test_fixture.c */
int dt_init(struct kunit *test);
void dt_exit(struct kunit *test);
struct dt_engine *dt_engine(struct dt *dt, const struct dt_limits *limits);
struct dt_queue *dt_queue_try(struct dt_engine *engine);
struct dt_queue *dt_queue_on(struct dt_engine *engine);
struct dt_queue *dt_queue(struct dt *dt);
void dt_close(struct dt_queue *queue);
void dt_drop(struct dt_queue *queue);
void dt_count(struct dt *dt, u32 *counter, int by);
bool dt_zero(struct dt *dt, const u32 *counter);
void dt_stop(struct dt_queue *queue);
void dt_start(struct dt_queue *queue);
void dt_kill(struct dt_queue *queue, int error);
void dt_settle(struct dt *dt);
struct dma_fence *dt_user_fence(struct dt *dt);
void dt_queue_gone(struct dt_queue *queue);

/* depq_test_job.c */
struct dt_record *dt_prepare(struct dt_queue *queue,
			     const struct dt_job_args *args);
void dt_commit(struct dt_record *rec);
void dt_abort(struct dt_record *rec);
struct dt_record *dt_try_submit(struct dt_queue *queue,
				const struct dt_job_args *args);
struct dt_record *dt_submit(struct dt_queue *queue,
			    const struct dt_job_args *args);
struct dt_record *dt_submit_for(struct dt_queue *queue, u64 duration_ns);
void dt_record_free(struct dt_record *rec);

/* depq_test_hw.c */
void dt_hw_init(struct dt_engine *engine);
void dt_hw_fini(struct dt_engine *engine);
struct dt_fence *dt_hw_fence(struct dt *dt, struct dt_record *rec);
struct dma_fence *dt_hw_run(struct dt_record *rec);
u32 dt_hw_advance(struct dt_engine *engine, u32 n);
bool dt_hw_complete(struct dt_record *rec);
u32 dt_hw_busy(struct dt_engine *engine);
enum depq_verdict dt_hw_recover(struct dt_record *rec);
void dt_hw_flush(struct dt_engine *engine);
void dt_hw_spurious(struct dt_engine *engine);

/**
 * struct dt_thread - a thread of a scenario
 * @dt: the fixture
 * @fn: its function, which must return by itself
 * @queue: a queue for it
 * @data: for use by the scenario
 * @index: number, from 0
 * @n: number of threads
 * @errors: error count of @fn
 * @random: its own
 * @ended: completed when it ends
 * @task: itself
 */
struct dt_thread {
	struct dt *dt;
	void (*fn)(struct dt_thread *thread);
	struct dt_queue *queue;
	void *data;
	u32 index;
	u32 n;
	u32 errors;
	struct rnd_state random;
	struct completion ended;
	struct task_struct *task;
};

/* depq_test_thread.c */
struct dt_thread *dt_threads(struct dt *dt, u32 n,
			     void (*fn)(struct dt_thread *thread), void *data);
void dt_threads_start(struct dt_thread *threads);
void dt_threads_join(struct dt_thread *threads);

/* depq_test_check.c */
void dt_check_run(struct dt_record *rec);
void dt_check_ran(struct dt_record *rec);
void dt_check_off(struct dt_record *rec);
void dt_check_signal(struct dma_fence *fence, struct dma_fence_cb *cb);
void dt_check_end(struct dt *dt);
void dt_committed(struct dt_record *rec, struct dma_fence *finished);
void dt_released(struct dt_record *rec);

/* Not @runs: after seeing that, the test may let the engine complete the job. */
static inline bool dt_ran(const struct dt_record *rec)
{
	return atomic_read(&rec->handed);
}

static inline bool dt_signalled(const struct dt_record *rec)
{
	return atomic_read(&rec->signals);
}

static inline bool dt_is_released(const struct dt_record *rec)
{
	return atomic_read(&rec->releases);
}

/* Whether the condition became true in time. */
#define dt_wait(dt, condition) \
	(wait_event_timeout((dt)->wait, condition, DT_PATIENCE) != 0)

/* Whether a condition that must not become true did so. */
#define dt_wait_never(dt, condition) \
	(wait_event_timeout((dt)->wait, condition, DT_NEVER) != 0)

#endif /* DEPQ_TEST_H */
