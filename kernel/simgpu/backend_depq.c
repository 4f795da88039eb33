// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: contexts on depq
 *
 * A context is one queue. Jobs that the submitter does not run are run by the
 * context's own worker, or by one that all such contexts of the engine or of the
 * device share. Shared workers are created on first use and stay until the
 * device goes away. The contexts of an engine with %SIMGPU_CREATE_FAIR share an
 * arbiter, which the first of them creates and the last one releases. The engine
 * reports to it how long jobs took.
 *
 * The queue does not limit how many jobs wait in it; the ring of the context
 * does, for both designs alike.
 *
 * Closing a context kills the queue and drops the context's reference to it.
 * Each job holds a reference to the queue; so when depq calls
 * release_queue, all jobs are freed, and the back end drops its reference to the
 * context, in which the queue is embedded.
 */

#include <linux/jiffies.h>
#include <linux/nospec.h>
#include <linux/sched.h>

#include "backend.h"
#include "file.h"

static struct simgpu_context *simgpu_queue_context(struct depq_queue *queue)
{
	return container_of(queue, struct simgpu_context, depq);
}

static struct simgpu_job *simgpu_depq_job(struct depq_job *job)
{
	return container_of(job, struct simgpu_job, depq);
}

static struct dma_fence *simgpu_depq_run(struct depq_job *job)
{
	/* Submissions come from user threads only, workers are kthreads. */
	return simgpu_engine_run(simgpu_depq_job(job),
				 !in_serving_softirq() &&
				 !(current->flags & PF_KTHREAD));
}

static enum depq_verdict simgpu_depq_timedout(struct depq_job *job)
{
	return simgpu_engine_recover(simgpu_depq_job(job));
}

static u64 simgpu_depq_engine_time(struct depq_job *job)
{
	return simgpu_depq_job(job)->engine_ns;
}

static void simgpu_depq_release_job(struct depq_job *job)
{
	simgpu_job_free(simgpu_depq_job(job));
}

/*
 * Returns the arbiter of the context's engine, created if necessary; or NULL if
 * the context has none.
 */
static struct depq_arbiter *simgpu_arbiter_get(struct simgpu_context *context)
{
	struct simgpu_engine *engine = context->engine;
	struct depq_arbiter *arbiter;

	if (!(context->args.flags & SIMGPU_CREATE_FAIR))
		return NULL;
	mutex_lock(&engine->worker_mutex);
	arbiter = engine->arbiter;
	if (!arbiter)
		arbiter = depq_arbiter_create(context->args.credit_limit);
	if (!IS_ERR(arbiter)) {
		engine->arbiter = arbiter;
		engine->arbiter_users++;
	}
	mutex_unlock(&engine->worker_mutex);
	return arbiter;
}

static void simgpu_arbiter_put(struct simgpu_context *context)
{
	struct simgpu_engine *engine = context->engine;

	if (!(context->args.flags & SIMGPU_CREATE_FAIR))
		return;
	mutex_lock(&engine->worker_mutex);
	if (!--engine->arbiter_users) {
		depq_arbiter_put(engine->arbiter);
		engine->arbiter = NULL;
	}
	mutex_unlock(&engine->worker_mutex);
}

static void simgpu_depq_release_queue(struct depq_queue *queue)
{
	struct simgpu_context *context = simgpu_queue_context(queue);

	simgpu_arbiter_put(context);
	simgpu_context_release(context);
}

static const struct depq_ops simgpu_depq_ops = {
	.run_job = simgpu_depq_run,
	.timedout_job = simgpu_depq_timedout,
	.engine_time = simgpu_depq_engine_time,
	.release_job = simgpu_depq_release_job,
	.release_queue = simgpu_depq_release_queue,
};

/* The uAPI numbers workers and ways to release as depq does. */
static_assert(SIMGPU_WORKER_SYSTEM == (int)DEPQ_WORKER_SYSTEM);
static_assert(SIMGPU_WORKER_WQ == (int)DEPQ_WORKER_WQ);
static_assert(SIMGPU_WORKER_HIGHPRI == (int)DEPQ_WORKER_HIGHPRI);
static_assert(SIMGPU_WORKER_KTHREAD == (int)DEPQ_WORKER_KTHREAD);
static_assert(SIMGPU_WORKER_FOLLOW == (int)DEPQ_WORKER_FOLLOW);
static_assert(SIMGPU_WORKER_FOLLOW_MIN == (int)DEPQ_WORKER_FOLLOW_MIN);
static_assert(SIMGPU_PUT_WORKER == (int)DEPQ_PUT_WORKER);
static_assert(SIMGPU_PUT_IRQ == (int)DEPQ_PUT_IRQ);
static_assert(SIMGPU_PUT_SUBMIT == (int)DEPQ_PUT_SUBMIT);
static_assert(SIMGPU_PUT_AUTO == (int)DEPQ_PUT_AUTO);

/* Jobs that take longer to free are not freed in completions. */
#define SIMGPU_FREE_CHEAP_NS	1000

/* The flags that a driver with these properties would set. */
static u32 simgpu_depq_flags(const struct simgpu_create *args)
{
	u32 flags;

	if (args->put != SIMGPU_PUT_AUTO)
		return args->flags & SIMGPU_CREATE_BYPASS ?
		       DEPQ_QUEUE_BYPASS : 0;
	flags = DEPQ_QUEUE_BYPASS | DEPQ_QUEUE_SOFTIRQ;
	if (!(args->flags & SIMGPU_CREATE_FREE_SLEEPS) &&
	    args->free_cost_ns <= SIMGPU_FREE_CHEAP_NS)
		flags |= DEPQ_QUEUE_PUT_IRQ;
	return flags;
}

/* Returns a shared worker, created on first use, with a new reference. */
static struct depq_worker *simgpu_shared_worker(struct mutex *mutex,
						struct depq_worker **workers,
						enum depq_worker_kind kind,
						const char *name)
{
	struct depq_worker *worker;

	kind = array_index_nospec(kind, DEPQ_WORKER_COUNT);
	mutex_lock(mutex);
	worker = workers[kind];
	if (!worker) {
		worker = depq_worker_create(kind, name);
		if (!IS_ERR(worker))
			workers[kind] = worker;
	}
	if (!IS_ERR(worker))
		depq_worker_get(worker);
	mutex_unlock(mutex);
	return worker;
}

static struct depq_worker *simgpu_depq_worker(struct simgpu_context *context,
					      const char *name)
{
	struct simgpu_engine *engine = context->engine;
	struct simgpu_device *dev = context->dev;
	enum depq_worker_kind kind = context->args.worker;
	char shared[16];

	switch (context->args.share) {
	case SIMGPU_SHARE_ENGINE:
		snprintf(shared, sizeof(shared), "simgpu%u", engine->index);
		return simgpu_shared_worker(&engine->worker_mutex,
					    engine->workers, kind, shared);
	case SIMGPU_SHARE_DEVICE:
		return simgpu_shared_worker(&dev->worker_mutex, dev->workers,
					    kind, "simgpu");
	default:
		return depq_worker_create(kind, name);
	}
}

static int simgpu_depq_init(struct simgpu_context *context)
{
	struct depq_queue_args args = {
		.dev = &context->dev->depq,
		.ops = &simgpu_depq_ops,
		.flags = simgpu_depq_flags(&context->args),
		.put = context->args.put,
		.credit_limit = context->args.credit_limit,
		.max_queued = U32_MAX,
		.timeout = usecs_to_jiffies(context->args.timeout_us),
		.hang_limit = context->args.hang_limit,
	};
	char name[24];
	int ret;

	snprintf(name, sizeof(name), "simgpu%u-%u", context->engine->index,
		 context->id);
	args.name = name;
	args.worker = simgpu_depq_worker(context, name);
	if (IS_ERR(args.worker))
		return PTR_ERR(args.worker);
	args.arbiter = simgpu_arbiter_get(context);
	if (IS_ERR(args.arbiter)) {
		ret = PTR_ERR(args.arbiter);
	} else {
		ret = depq_queue_init(&context->depq, &args);
		if (ret)
			simgpu_arbiter_put(context);
	}
	depq_worker_put(args.worker);
	return ret;
}

static void simgpu_depq_close(struct simgpu_context *context)
{
	/* A queue that was killed ends even if it is stopped. */
	depq_queue_kill(&context->depq, -ECANCELED);
	depq_queue_put(&context->depq);
}

static int simgpu_depq_job_init(struct simgpu_job *job, u32 credits,
				bool nonblock)
{
	return depq_job_init(&job->depq, &job->context->depq, credits,
			     nonblock ? DEPQ_JOB_NONBLOCK : 0);
}

static int simgpu_depq_add_dep(struct simgpu_job *job, struct dma_fence *fence)
{
	return depq_job_add_dep(&job->depq, fence);
}

static struct dma_fence *simgpu_depq_fence(struct simgpu_job *job)
{
	return depq_job_fence(&job->depq);
}

static void simgpu_depq_commit(struct simgpu_job *job)
{
	depq_job_commit(&job->depq);
	depq_job_put(&job->depq);	/* ours; the queue has its own */
}

static void simgpu_depq_abort(struct simgpu_job *job)
{
	depq_job_put(&job->depq);
}

static int simgpu_depq_control(struct simgpu_context *context, u32 command,
			       u64 arg)
{
	struct depq_queue *queue = &context->depq;

	switch (command) {
	case SIMGPU_CONTROL_STOP:
		depq_queue_stop(queue);
		return 0;
	case SIMGPU_CONTROL_START:
		depq_queue_start(queue);
		return 0;
	case SIMGPU_CONTROL_KILL:
		depq_queue_kill(queue, -(int)arg);
		return 0;
	case SIMGPU_CONTROL_TIMEOUT:
		depq_queue_trigger_timeout(queue);
		return 0;
	default:
		return -EINVAL;
	}
}

static bool simgpu_depq_wait_begin(struct simgpu_context *context)
{
	return depq_queue_wait_begin(&context->depq);
}

static void simgpu_depq_wait_end(struct simgpu_context *context)
{
	depq_queue_wait_end(&context->depq);
}

static void simgpu_depq_stats(struct simgpu_context *context,
			      struct simgpu_stats *stats)
{
	struct depq_stats depq;

	depq_queue_read_stats(&context->depq, &depq);
	stats->banned = depq.banned;
	stats->bypassed = depq.bypassed;
	stats->done = depq.done;
	stats->failed = depq.failed;
	stats->timedout = depq.timedout;
	stats->no_hang = depq.no_hang;
	stats->put_irq = depq.put_irq;
	stats->put_submit = depq.put_submit;
	stats->put_worker = depq.put_worker;
	stats->put_delayed = depq.put_delayed;
	stats->kicks = depq.kicks;
	stats->raises = depq.raises;
	stats->lowers = depq.lowers;
	stats->softirqs = depq.softirqs;
	stats->credits = depq.credits;
	stats->queued = depq.queued;
	stats->pending = depq.pending;
}

/**
 * simgpu_depq_put_workers() - drop the references to shared workers
 * @dev: the device, which has no contexts any more
 *
 * Context: process, sleeps.
 */
void simgpu_depq_put_workers(struct simgpu_device *dev)
{
	int kind;
	u32 i;

	for (kind = 0; kind < DEPQ_WORKER_COUNT; kind++) {
		if (dev->workers[kind])
			depq_worker_put(dev->workers[kind]);
		for (i = 0; i < dev->n_engines; i++)
			if (dev->engines[i].workers[kind])
				depq_worker_put(dev->engines[i].workers[kind]);
	}
}

const struct simgpu_backend simgpu_backend_depq = {
	.name = "depq",
	.context_init = simgpu_depq_init,
	.context_close = simgpu_depq_close,
	.job_init = simgpu_depq_job_init,
	.job_add_dep = simgpu_depq_add_dep,
	.job_fence = simgpu_depq_fence,
	.job_commit = simgpu_depq_commit,
	.job_abort = simgpu_depq_abort,
	.wait_begin = simgpu_depq_wait_begin,
	.wait_end = simgpu_depq_wait_end,
	.control = simgpu_depq_control,
	.stats = simgpu_depq_stats,
	.queue_bytes = sizeof(struct depq_queue),
	.job_bytes = sizeof(struct depq_job),
	.fence_bytes = depq_fence_bytes,
};
