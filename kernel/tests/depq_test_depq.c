// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the depq back end of the scenarios
 */

#include "depq_test.h"

static struct dt_record *dt_depq_rec(struct depq_job *job)
{
	return container_of(job, struct dt_job, depq)->rec;
}

static struct dma_fence *dt_depq_run_job(struct depq_job *job)
{
	return dt_hw_run(dt_depq_rec(job));
}

static enum depq_verdict dt_depq_timedout_job(struct depq_job *job)
{
	return dt_hw_recover(dt_depq_rec(job));
}

static void dt_depq_release_job(struct depq_job *base)
{
	struct dt_job *job = container_of(base, struct dt_job, depq);

	dt_released(job->rec);
	kfree(job);
}

static void dt_depq_release_queue(struct depq_queue *base)
{
	struct dt_queue *queue = container_of(base, struct dt_queue, depq);

	KUNIT_EXPECT_EQ(queue->dt->test, atomic_read(&queue->running), 0);
	if (queue->held) {
		WRITE_ONCE(queue->releasing, true);
		wake_up_all(&queue->dt->wait);
		/* Ends with the case, if not before. */
		wait_for_completion(&queue->dt->gate);
	}
	dt_queue_gone(queue);
}

static u64 dt_depq_engine_time(struct depq_job *job)
{
	return dt_depq_rec(job)->args.duration_ns;
}

static const struct depq_ops dt_depq_ops = {
	.run_job = dt_depq_run_job,
	.timedout_job = dt_depq_timedout_job,
	.release_job = dt_depq_release_job,
	.release_queue = dt_depq_release_queue,
};

/* For an engine that reports how long jobs took; for the other, depq measures. */
static const struct depq_ops dt_depq_timing_ops = {
	.run_job = dt_depq_run_job,
	.timedout_job = dt_depq_timedout_job,
	.engine_time = dt_depq_engine_time,
	.release_job = dt_depq_release_job,
	.release_queue = dt_depq_release_queue,
};

static int dt_depq_open(struct dt *dt)
{
	int ret = depq_device_init(&dt->dev, "depq_test");

	if (ret)
		return ret;
	if (!dt->design->shared)
		return 0;
	dt->worker = depq_worker_create(dt->design->kind, "depq_test");
	if (IS_ERR(dt->worker)) {
		depq_device_fini(&dt->dev);
		return PTR_ERR(dt->worker);
	}
	return 0;
}

static void dt_depq_close(struct dt *dt)
{
	/* Queues drop their workers before they are released. */
	depq_device_fini(&dt->dev);
	if (dt->worker)
		depq_worker_put(dt->worker);
}

static int dt_depq_engine_open(struct dt_engine *engine)
{
	struct depq_arbiter *arbiter;

	if (!engine->dt->design->arbiter && !engine->limits.arbiter)
		return 0;
	arbiter = depq_arbiter_create(engine->limits.credit_limit);
	if (IS_ERR(arbiter))
		return PTR_ERR(arbiter);
	engine->arbiter = arbiter;
	return 0;
}

static void dt_depq_engine_close(struct dt_engine *engine)
{
	depq_arbiter_put(engine->arbiter);
}

static int dt_depq_queue_open(struct dt_queue *queue)
{
	const struct dt_design *design = queue->dt->design;
	const struct dt_limits *limits = &queue->engine->limits;
	struct depq_queue_args args = {
		.dev = &queue->dt->dev,
		.ops = design->arbiter ? &dt_depq_timing_ops : &dt_depq_ops,
		.arbiter = queue->engine->arbiter,
		.name = "depq_test",
		.flags = design->flags,
		.put = design->put,
		.credit_limit = limits->credit_limit,
		.max_queued = limits->max_queued,
		.timeout = limits->timeout,
		.hang_limit = limits->hang_limit,
	};
	int ret;

	args.worker = design->shared ? depq_worker_get(queue->dt->worker) :
				       depq_worker_create(design->kind,
							  "depq_test");
	if (IS_ERR(args.worker))
		return PTR_ERR(args.worker);
	ret = depq_queue_init(&queue->depq, &args);
	/* The queue has a reference of its own. */
	depq_worker_put(args.worker);
	return ret;
}

static void dt_depq_queue_close(struct dt_queue *queue)
{
	depq_queue_kill(&queue->depq, -ECANCELED);
	depq_queue_put(&queue->depq);
}

static void dt_depq_drop(struct dt_queue *queue)
{
	depq_queue_put(&queue->depq);
}

static int dt_depq_job_init(struct dt_record *rec)
{
	return depq_job_init(&rec->job->depq, &rec->queue->depq,
			     rec->args.credits,
			     rec->args.nonblock ? DEPQ_JOB_NONBLOCK : 0);
}

static int dt_depq_job_dep(struct dt_record *rec, struct dma_fence *fence)
{
	return depq_job_add_dep(&rec->job->depq, fence);
}

static struct dma_fence *dt_depq_job_fence(struct dt_record *rec)
{
	return depq_job_fence(&rec->job->depq);
}

static void dt_depq_job_commit(struct dt_record *rec)
{
	/* The record may forget the job while it is being committed. */
	struct depq_job *job = &rec->job->depq;
	u64 seqno;

	dt_committed(rec, depq_job_fence(job));
	seqno = depq_job_commit(job);
	if (seqno != rec->index || rec->finished->seqno != seqno)
		KUNIT_FAIL(rec->queue->dt->test, "job %u got seqno %llu",
			   rec->index, seqno);
	depq_job_put(job);
}

static void dt_depq_job_abort(struct dt_record *rec)
{
	depq_job_put(&rec->job->depq);
}

static void dt_depq_stop(struct dt_queue *queue)
{
	depq_queue_stop(&queue->depq);
}

static void dt_depq_start(struct dt_queue *queue)
{
	depq_queue_start(&queue->depq);
}

static void dt_depq_kill(struct dt_queue *queue, int error)
{
	depq_queue_kill(&queue->depq, error);
}

static void dt_depq_trigger(struct dt_queue *queue)
{
	depq_queue_trigger_timeout(&queue->depq);
}

static bool dt_depq_idle(struct dt_queue *queue)
{
	struct depq_stats stats;

	depq_queue_read_stats(&queue->depq, &stats);
	return !stats.credits && !stats.queued && !stats.pending;
}

const struct dt_backend dt_depq = {
	.name = "depq",
	.open = dt_depq_open,
	.close = dt_depq_close,
	.engine_open = dt_depq_engine_open,
	.engine_close = dt_depq_engine_close,
	.queue_open = dt_depq_queue_open,
	.queue_close = dt_depq_queue_close,
	.drop = dt_depq_drop,
	.job_init = dt_depq_job_init,
	.job_dep = dt_depq_job_dep,
	.job_fence = dt_depq_job_fence,
	.job_commit = dt_depq_job_commit,
	.job_abort = dt_depq_job_abort,
	.stop = dt_depq_stop,
	.start = dt_depq_start,
	.nests = true,
	.orders = true,
	.kill = dt_depq_kill,
	.kill_error = -ECANCELED,
	.trigger = dt_depq_trigger,
	.idle = dt_depq_idle,
};
