/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMGPU_H
#define SIMGPU_H

#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_device.h>
#include <drm/drm_gem.h>
#include <drm/gpu_scheduler.h>

#include "../compat/compat.h"
#include "../include/depq.h"
#include "../uapi/simgpu.h"

#define SIMGPU_ENGINES_MAX 64
#define SIMGPU_SHARED_SCHEDS 2

/**
 * enum simgpu_completion - where the fences of finished jobs are signalled
 * @SIMGPU_COMPLETION_HARDIRQ: in the interrupt
 * @SIMGPU_COMPLETION_THREAD: in a thread, as with threaded interrupt handlers
 * @SIMGPU_COMPLETION_WORK: in a work item
 */
enum simgpu_completion {
	SIMGPU_COMPLETION_HARDIRQ,
	SIMGPU_COMPLETION_THREAD,
	SIMGPU_COMPLETION_WORK,
};

/**
 * struct simgpu_shrinker - takes pages when memory is short; see shrinker.c
 * @shrinker: the registered shrinker, or NULL
 * @lru_mutex: of both lists, for kernels whose devices have none
 * @needed: objects that were on @unneeded and are needed again
 * @unneeded: objects that may be purged, least recently advised first
 * @freed: objects without references that @free_work will free
 * @free_work: see simgpu_shrinker_free()
 * @wait_mutex: lets one thread at a time wait for jobs; protects @wait_end
 * @wait_end: end of the wait in jiffies
 * @purged: objects purged so far
 * @purged_pages: their pages
 * @waits: objects that were waited for
 * @timeouts: of these, objects that were not idle in time
 */
struct simgpu_shrinker {
	struct shrinker *shrinker;
	struct mutex lru_mutex;
	struct drm_gem_lru needed;
	struct drm_gem_lru unneeded;
	struct llist_head freed;
	struct work_struct free_work;
	struct mutex wait_mutex;
	unsigned long wait_end;
	atomic64_t purged;
	atomic64_t purged_pages;
	atomic64_t waits;
	atomic64_t timeouts;
};

struct seq_file;
struct simgpu_backend;
struct simgpu_context;
struct simgpu_device;
struct simgpu_drm_sched;
struct simgpu_job;

/**
 * struct simgpu_fence - the fence of a job on the engine
 * @base: signalled by the engine; keeps the module loaded
 * @lock: its lock
 * @link: in &simgpu_engine.done
 * @twice: the engine reports done twice
 * @deadline: the earliest that a waiter has set, or %KTIME_MAX; under @lock
 * @sched: kept until this fence is freed; see backend_drm.c. Or NULL.
 */
struct simgpu_fence {
	struct dma_fence base;
	spinlock_t lock;
	struct list_head link;
	bool twice;
	ktime_t deadline;
	struct simgpu_drm_sched *sched;
};

/**
 * struct simgpu_engine - executes jobs by letting time pass
 * @dev: the device
 * @index: number of the engine
 * @lock: protects the following, except @signal_lock; taken under no other
 *	spinlock of this module and under no fence lock: fences are signalled
 *	with it released
 * @running: jobs not yet done: serial in the order they were handed over,
 *	parallel by &simgpu_job.t_end
 * @late: jobs done whose interrupt is late
 * @reset_together: contexts that all lose their jobs when one of them hangs
 * @done: engine fences about to be signalled; each with a reference
 * @signal_lock: held while a fence is signalled; taken before @lock
 * @signalling: a fence that was in @done is being signalled
 * @timer: expires when the next interrupt is due
 * @thread: signals fences, unless the interrupt or a work item does
 * @thread_work: its work
 * @done_work: signals fences, if a work item does that
 * @storm: spurious interrupts to come
 * @busy_since: when @running became non-empty
 * @order: counts run_job calls
 * @interrupts: interrupts so far, spurious ones included
 * @deferred: interrupts after which the thread or work item signalled fences
 * @completed: jobs done
 * @busy_ns: time during which jobs were executed
 * @sched_mutex: protects @scheds and their &simgpu_drm_sched.users
 * @scheds: drm_sched that contexts share: with %SIMGPU_CREATE_SHARED, and with
 *	%SIMGPU_SHAPE_AMDGPU
 * @worker_mutex: protects @workers, @arbiter and @arbiter_users
 * @workers: depq workers shared by contexts with %SIMGPU_SHARE_ENGINE, one
 *	for each kind, created on first use
 * @arbiter: of depq contexts with %SIMGPU_CREATE_FAIR, or NULL if there are none
 * @arbiter_users: the number of these contexts
 */
struct simgpu_engine {
	struct simgpu_device *dev;
	u32 index;
	spinlock_t lock;
	struct list_head running;
	struct list_head late;
	struct list_head reset_together;
	struct list_head done;
	spinlock_t signal_lock;
	bool signalling;
	struct hrtimer timer;
	struct kthread_worker *thread;
	struct kthread_work thread_work;
	struct work_struct done_work;
	u64 storm;
	ktime_t busy_since;
	u64 order;
	u64 interrupts;
	u64 deferred;
	u64 completed;
	u64 busy_ns;
	struct mutex sched_mutex;
	struct simgpu_drm_sched *scheds[SIMGPU_SHARED_SCHEDS];
	struct mutex worker_mutex;
	struct depq_worker *workers[DEPQ_WORKER_COUNT];
	struct depq_arbiter *arbiter;
	u32 arbiter_users;
};

/**
 * struct simgpu_client - usage of an open file
 * @ref: held by the file and its contexts
 * @id: number of the client, counting all that ever existed
 * @busy_ns: for each engine, the time it executed jobs of the client, except
 *	the job that it executes now; under the engine's lock
 */
struct simgpu_client {
	struct kref ref;
	u64 id;
	u64 busy_ns[];
};

/**
 * struct simgpu_device - the device
 * @drm: the DRM device; dropping its last reference frees everything
 * @ready: initialisation is complete
 * @depq: common state of all depq queues
 * @tdr_wq: ordered; timeouts of drm_sched
 * @highpri_wq: of drm_sched contexts with %SIMGPU_CREATE_HIGHPRI
 * @unbound_wq: of drm_sched contexts with %SIMGPU_SHAPE_PANTHOR
 * @done_wq: signals fences of engines, if work items do that
 * @teardown_wq: ends closed contexts, and frees jobs that a completion
 *	could not free
 * @free_jobs: these jobs
 * @free_work: frees them
 * @free_mutex: held while a job of a context with %SIMGPU_CREATE_FREE_SLEEPS is
 *	freed
 * @worker_mutex: protects @workers
 * @workers: depq workers shared by contexts with %SIMGPU_SHARE_DEVICE
 * @live: contexts that exist, closed or not, plus one
 * @idle: completed when @live becomes zero
 * @clients: number of files opened so far
 * @jobs: number of jobs that exist
 * @shrinker: takes pages of GEM objects
 * @contexts_mutex: protects @contexts and @serials
 * @contexts: all contexts that exist
 * @serials: number of contexts created so far
 * @drm_scheds: number of drm_sched schedulers created so far
 * @gone: a reset has failed: everything fails with -ENODEV until the next device
 * @parallel: engines execute all their jobs at once, else one after another
 * @completion: where fences are signalled
 * @coalesce_jobs: number of completed jobs for which an engine interrupts once
 * @coalesce_ns: the longest delay of the interrupt after the first of these
 * @n_engines: number of @engines
 * @engines: the engines
 */
struct simgpu_device {
	struct drm_device drm;
	bool ready;
	struct depq_device depq;
	struct workqueue_struct *tdr_wq;
	struct workqueue_struct *highpri_wq;
	struct workqueue_struct *unbound_wq;
	struct workqueue_struct *done_wq;
	struct workqueue_struct *teardown_wq;
	struct llist_head free_jobs;
	struct work_struct free_work;
	struct mutex free_mutex;
	struct mutex worker_mutex;
	struct depq_worker *workers[DEPQ_WORKER_COUNT];
	atomic_t live;
	struct completion idle;
	atomic64_t clients;
	atomic_t jobs;
	struct simgpu_shrinker shrinker;
	struct mutex contexts_mutex;
	struct list_head contexts;
	u64 serials;
	atomic_t drm_scheds;
	bool gone;
	bool parallel;
	enum simgpu_completion completion;
	u32 coalesce_jobs;
	u64 coalesce_ns;
	u32 n_engines;
	struct simgpu_engine engines[SIMGPU_ENGINES_MAX];
};

/**
 * struct simgpu_memory - memory that the jobs of a context write to
 * @object: a reference, or NULL if there is none
 * @words: its kernel mapping
 * @bytes: its size
 */
struct simgpu_memory {
	struct drm_gem_object *object;
	u32 *words;
	size_t bytes;
};

/**
 * struct simgpu_slot - one entry in the ring of a context
 * @fence: finished fence of the job with this @record.seqno; a reference of
 *	the ring. Under &simgpu_context.ring_lock.
 * @record: what happened; the fields t_run, t_hw, order and flags are written
 *	by whoever runs or completes the job, which still exists then, with
 *	WRITE_ONCE(), and read at any time; t_done and error are taken from
 *	@fence when read
 */
struct simgpu_slot {
	struct dma_fence *fence;
	struct simgpu_record record;
};

/**
 * struct simgpu_context - a queue of jobs on one engine
 * @ref: held by the file, the back end until simgpu_context_release(), and jobs
 * @link: in &simgpu_device.contexts
 * @id: its number in its file, from 1
 * @serial: its number among all contexts ever created, from 1
 * @dev: the device
 * @engine: where its jobs go
 * @backend: drm_sched, depq or none
 * @args: as given, with defaults filled in
 * @submit: serialises submissions: ring, random numbers and, for drm_sched,
 *	arm and push belong together
 * @ring_lock: protects @ring's fences
 * @ring: the last @args.ring jobs; slot of a seqno: seqno & (@args.ring - 1)
 * @seqno: of the newest committed job; written under @submit with
 *	smp_store_release()
 * @random: for durations; under @submit
 * @fault: injected fault; under @submit, as are the next three
 * @fault_arg: its argument
 * @fault_skip: number of jobs that succeed first
 * @fault_count: number of jobs that fail after that; 0 for all
 * @memory: memory that jobs write to
 * @client: usage of its file; a reference
 * @closed: destroyed: the back end may be gone and must not be called; under
 *	@submit
 * @error: error of submissions once killed, else 0; under @submit
 * @stops: stops without a start; under @submit
 * @submitted: jobs; under @submit
 * @failed: failed jobs that are no longer in the ring; under @submit
 * @bypassed: jobs run by the submitter
 * @released: jobs freed
 * @timedout: resets
 * @no_hang: timeouts of jobs that were alive
 * @teardown: ends the context when it is closed
 * @inflight: its jobs whose engine fence was not yet queued to be signalled,
 *	in the order of run_job; under the engine's lock
 * @reset_link: in &simgpu_engine.reset_together, or empty; under the engine's
 *	lock
 * @drm: state of the drm_sched back end
 * @depq: state of the depq back end
 * @none: state of the back end without a queue
 * @none.jobs: jobs that exist, plus one until the context is closed
 * @none.fence_context: timeline of its engine fences
 * @none.seqno: of the newest of these; under @submit
 */
struct simgpu_context {
	struct kref ref;
	struct list_head link;
	u32 id;
	u64 serial;
	struct simgpu_device *dev;
	struct simgpu_engine *engine;
	const struct simgpu_backend *backend;
	struct simgpu_create args;
	struct mutex submit;
	spinlock_t ring_lock;
	struct simgpu_slot *ring;
	u64 seqno;
	struct rnd_state random;
	u32 fault;
	u64 fault_arg;
	u32 fault_skip;
	u32 fault_count;
	struct simgpu_memory memory;
	struct simgpu_client *client;
	bool closed;
	int error;
	u32 stops;
	u64 submitted;
	u64 failed;
	atomic64_t bypassed;
	atomic64_t released;
	atomic64_t timedout;
	atomic64_t no_hang;
	struct work_struct teardown;
	struct list_head inflight;
	struct list_head reset_link;
	union {
		struct simgpu_drm_context *drm;
		struct depq_queue depq;
		struct {
			atomic_t jobs;
			u64 fence_context;
			u64 seqno;
		} none;
	};
};

/**
 * struct simgpu_job - a job
 * @drm: for drm_sched
 * @depq: for depq
 * @none: without a queue: callback of the engine fence
 * @context: holds a reference
 * @slot: its entry in the ring; valid until the finished fence has
 *	signalled
 * @hw: its engine fence, allocated before the job is committed; the job's
 *	reference
 * @link: in &simgpu_engine.running or &simgpu_engine.late
 * @context_link: in &simgpu_context.inflight
 * @free_link: in &simgpu_device.free_jobs
 * @duration_ns: time on the engine
 * @run_cost_ns: CPU time of run_job
 * @t_end: when the engine is done; on a serial engine, until the job is
 *	first, when it was handed over; under the engine's lock
 * @t_start: when the engine began to execute it; under the engine's lock
 * @engine_ns: how long it was executed, not counting since @t_start; under the
 *	engine's lock until it has left the engine
 * @fault: SIMGPU_FAULT_*
 * @fault_arg: depends on @fault
 * @write_offset: see &simgpu_exec
 * @write_value: see &simgpu_exec
 * @write: whether to write
 * @on_engine: in &simgpu_context.inflight; under the engine's lock
 * @hw_done: the engine is done with it, reported or not; under the lock
 * @reported: the engine has interrupted for it; under the lock
 */
struct simgpu_job {
	union {
		struct drm_sched_job drm;
		struct depq_job depq;
		struct dma_fence_cb none;
	};
	struct simgpu_context *context;
	struct simgpu_slot *slot;
	struct simgpu_fence *hw;
	struct list_head link;
	struct list_head context_link;
	struct llist_node free_link;
	u64 duration_ns;
	u64 run_cost_ns;
	ktime_t t_end;
	ktime_t t_start;
	u64 engine_ns;
	u32 fault;
	u64 fault_arg;
	u32 write_offset;
	u32 write_value;
	bool write;
	bool on_engine;
	bool hw_done;
	bool reported;
};

/* sched_drm.c */
void simgpu_drm_sched_put(struct simgpu_drm_sched *sched);

/* fence.c: engine fences */
int simgpu_fence_init(void);
void simgpu_fence_exit(void);
struct simgpu_fence *simgpu_fence_create(void);
int simgpu_fences(void);
u32 simgpu_fence_bytes(void);
void simgpu_fence_show(struct seq_file *m);

/* engine.c */
int simgpu_engine_init(struct simgpu_engine *engine, struct simgpu_device *dev,
		       u32 index);
void simgpu_engine_fini(struct simgpu_engine *engine);
struct dma_fence *simgpu_engine_run(struct simgpu_job *job, bool in_submit);
enum depq_verdict simgpu_engine_recover(struct simgpu_job *job);
struct dma_fence *simgpu_engine_fail(struct simgpu_job *job, int error);
void simgpu_engine_cancel(struct simgpu_context *context, int error);
void simgpu_engine_reset_together(struct simgpu_context *context);
void simgpu_engine_reset_alone(struct simgpu_context *context);

/* completion.c */
int simgpu_completion_find(const char *name);

/* context.c */
struct simgpu_context *simgpu_context_get(struct simgpu_context *context);
void simgpu_context_put(struct simgpu_context *context);
void simgpu_context_release(struct simgpu_context *context);

/* Whether the context is on a scheduler with contexts of other files. */
static inline bool simgpu_is_shared(const struct simgpu_create *args)
{
	return args->flags & SIMGPU_CREATE_SHARED ||
	       args->shape == SIMGPU_SHAPE_AMDGPU;
}

/* Keeps the CPU busy. */
static inline void simgpu_burn(u64 ns)
{
	u64 end = ktime_get_ns() + ns;

	while (ns && ktime_get_ns() < end)
		cpu_relax();
}

/* job.c */
void simgpu_job_free_work(struct work_struct *work);
struct simgpu_job *simgpu_job_alloc(struct simgpu_context *context);
void simgpu_job_free(struct simgpu_job *job);

#endif /* SIMGPU_H */
