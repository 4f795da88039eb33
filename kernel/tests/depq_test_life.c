// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: how jobs and queues end
 *
 * Who drops the reference to a job, in which context; queues that end while jobs
 * are in flight; kill; fences that outlive both; allocations that fail.
 */

#include <linux/file.h>
#include <linux/sched.h>
#include <linux/sync_file.h>

#include "depq_test_suites.h"

/* A queue that was never used. */
static void close_idle(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);

	dt_close(queue);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_zero(dt, &dt->n_queues)));
}

/* Closed with jobs on the engine and others behind: all signal, in order. */
static void close_in_flight(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 4 };
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	struct dt_record *job = NULL;
	u32 i;

	/* So long that the last one is not run before the queue is closed. */
	for (i = 0; i < 50; i++)
		job = dt_submit_for(queue, 5000000);
	dt_close(queue);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, dt->design->backend->kill_error);
	dt_settle(dt);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_zero(dt, &dt->n_queues)));
}

/* The last reference is dropped with jobs in flight: they run, then it ends. */
static void drop_in_flight(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 4 };
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	struct dt_record *job = NULL;
	u32 i;

	if (!dt->design->backend->drop)
		kunit_skip(test, "drm_sched entities are not reference counted");
	for (i = 0; i < 50; i++)
		job = dt_submit_for(queue, 30000);
	dt_drop(queue);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, 0);
	KUNIT_EXPECT_EQ(test, queue->last_run, 50);
	dt_settle(dt);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_zero(dt, &dt->n_queues)));
}

/* The very last reference is dropped by the interrupt that ends the job. */
static void drop_in_interrupt(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job;

	if (!dt->design->backend->drop)
		kunit_skip(test, "drm_sched entities are not reference counted");
	job = dt_submit_for(queue, 5000000);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	dt_drop(queue);
	dt_settle(dt);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_zero(dt, &dt->n_queues)));
}

/* More jobs at once than are taken off the queue at a time. */
static void reap_many(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 1000 };
	struct dt_engine *engine;
	struct dt_queue *queue;
	struct depq_stats stats;
	struct dt_record *job = NULL;
	const u32 n = 200;
	u32 i;

	if (dt->design->backend == &dt_drm || dt->design->put != DEPQ_PUT_SUBMIT)
		kunit_skip(test, "finished jobs do not wait for a submitter");
	engine = dt_engine(dt, &limits);
	queue = dt_queue_on(engine);
	for (i = 0; i < n; i++)
		job = dt_submit(queue, NULL);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(engine) == n));
	KUNIT_EXPECT_EQ(test, dt_hw_advance(engine, n), n);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	depq_queue_reap(&queue->depq);
	depq_queue_read_stats(&queue->depq, &stats);
	KUNIT_EXPECT_EQ(test, stats.done, n);
	KUNIT_EXPECT_EQ(test, stats.put_submit, n);
	dt_settle(dt);
}

static bool puts_in_irqs(const struct dt_design *design)
{
	return design->put == DEPQ_PUT_IRQ ||
	       (design->put == DEPQ_PUT_AUTO &&
		design->flags & DEPQ_QUEUE_PUT_IRQ);
}

/*
 * Jobs are reaped by whom the design selects. If that is the interrupt, it does not
 * always release the job: the submitter or runner may drop its reference
 * later.
 */
static void who_puts(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	bool hardirq = !IS_ENABLED(CONFIG_PREEMPT_RT) &&
		       puts_in_irqs(dt->design);
	struct depq_stats stats;
	struct dt_record *job;
	u32 i, in_hardirq = 0;

	if (dt->design->backend == &dt_drm)
		kunit_skip(test, "drm_sched jobs are freed by its worker");
	for (i = 0; i < 4; i++) {
		job = dt_submit_for(queue, 5000000);
		KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
		if (dt->design->put == DEPQ_PUT_SUBMIT)
			continue;
		KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_is_released(job)));
		in_hardirq += job->release_hardirq;
	}
	if (hardirq)
		KUNIT_EXPECT_GT(test, in_hardirq, 0);
	else
		KUNIT_EXPECT_EQ(test, in_hardirq, 0);
	dt_settle(dt);
	depq_queue_read_stats(&queue->depq, &stats);
	KUNIT_EXPECT_EQ(test, stats.done, 4);
	KUNIT_EXPECT_EQ(test, stats.put_irq + stats.put_worker +
			stats.put_submit + stats.put_delayed, 4);
	if (puts_in_irqs(dt->design))
		KUNIT_EXPECT_EQ(test, stats.put_irq, 4);
	else if (dt->design->put == DEPQ_PUT_WORKER)
		KUNIT_EXPECT_EQ(test, stats.put_worker, 4);
	else if (dt->design->put == DEPQ_PUT_SUBMIT)
		KUNIT_EXPECT_EQ(test, stats.put_irq + stats.put_worker, 0);
	else
		KUNIT_EXPECT_EQ(test, stats.put_irq + stats.put_delayed, 0);
}

/* Jobs that wait are not run, and fail in order, with the error of the kill. */
static void kill_queued(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 1 };
	struct dt_queue *queue;
	struct dt_record *jobs[10], *job;
	u32 i;

	if (!dt->design->backend->kill)
		kunit_skip(test, "drm_sched cannot kill a queue that stays");
	queue = dt_queue_on(dt_engine(dt, &limits));
	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		jobs[i] = dt_submit(queue, NULL);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(jobs[0])));
	dt_kill(queue, -EOWNERDEAD);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(jobs[9])));
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		KUNIT_EXPECT_EQ(test, jobs[i]->error, -EOWNERDEAD);
		KUNIT_EXPECT_EQ(test, dt_ran(jobs[i]), i == 0);
	}
	job = dt_try_submit(queue, NULL);
	KUNIT_ASSERT_TRUE(test, IS_ERR(job));
	KUNIT_EXPECT_EQ(test, PTR_ERR(job), -EOWNERDEAD);
	dt_settle(dt);
}

/* Even in a killed queue a job does not signal before what it depends on. */
static void kill_waits_for_dep(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_job_args args = { .fence = dt_user_fence(dt) };
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job, *next;

	if (!dt->design->backend->kill)
		kunit_skip(test, "drm_sched cannot kill a queue that stays");
	job = dt_submit(queue, &args);
	next = dt_submit(queue, NULL);
	dt_kill(queue, -EOWNERDEAD);
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_signalled(next)));
	KUNIT_EXPECT_FALSE(test, dt_signalled(job));
	dma_fence_signal(args.fence);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(next)));
	KUNIT_EXPECT_FALSE(test, dt_ran(job));
	KUNIT_EXPECT_EQ(test, job->error, -EOWNERDEAD);
	dt_settle(dt);
}

/* The same when it is closed; a dependency that never comes holds nobody up. */
static void close_waits_for_dep(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_job_args args = {};
	struct dt_record *job;
	struct dt_queue *queue;

	if (dt->design->backend->close_sleeps)
		kunit_skip(test, "this drm_sched waits for dependencies in close");
	args.fence = dt_user_fence(dt);
	queue = dt_queue(dt);
	job = dt_submit(queue, &args);
	dt_close(queue);
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_signalled(job)));
	dma_fence_signal(args.fence);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_FALSE(test, dt_ran(job));
	dt_settle(dt);
}

/* A stopped queue that is killed does not wait to be started. */
static void kill_stopped(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job;

	if (!dt->design->backend->kill)
		kunit_skip(test, "drm_sched cannot kill a queue that stays");
	dt_stop(queue);
	job = dt_submit(queue, NULL);
	dt_kill(queue, -EOWNERDEAD);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_FALSE(test, dt_ran(job));
	dt_settle(dt);
	dt_start(queue);
}

/* The first kill decides; more of them change nothing. */
static void kill_twice(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job;

	if (!dt->design->backend->kill)
		kunit_skip(test, "drm_sched cannot kill a queue that stays");
	job = dt_submit(queue, NULL);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	dt_kill(queue, -EOWNERDEAD);
	dt_kill(queue, -ECONNRESET);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, -EOWNERDEAD);
	dt_settle(dt);
}

/* A sync_file made before commit outlives job, queue and what made them. */
static void sync_file_outlives(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_job_args args = { .duration_ns = 100000 };
	struct dt_queue *queue = dt_queue(dt);
	struct dma_fence *fence;
	struct sync_file *file;
	struct dt_record *job;

	if (!dt->design->backend->job_fence)
		kunit_skip(test, "drm_sched fences exist from commit on");
	job = dt_prepare(queue, &args);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, job);
	file = sync_file_create(dt->design->backend->job_fence(job));
	dt_commit(job);
	KUNIT_ASSERT_NOT_NULL(test, file);
	fence = dma_fence_get(file->fence);
	KUNIT_EXPECT_EQ(test, fence->context, job->finished->context);
	dt_drop(queue);
	KUNIT_EXPECT_TRUE(test, dt_wait(dt, dt_zero(dt, &dt->n_queues)));
	KUNIT_EXPECT_EQ(test, dma_fence_get_status(fence), 1);
	KUNIT_EXPECT_GT(test, strlen(fence->ops->get_timeline_name(fence)), 0);
	KUNIT_EXPECT_GT(test, strlen(fence->ops->get_driver_name(fence)), 0);
	dma_fence_put(fence);
	fput(file->file);
	dt_settle(dt);
}

#ifdef CONFIG_FAULT_INJECTION
/* Makes each allocation of a submission fail in turn. */
static void failing_allocation(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_job_args args = {
		.duration_ns = 1000, .fence = dt_user_fence(dt),
	};
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job;
	unsigned int left;
	u32 n;

	for (n = 1; n < 100; n++) {
		current->fail_nth = n;
		job = dt_prepare(queue, &args);
		left = current->fail_nth;
		current->fail_nth = 0;
		if (!IS_ERR(job))
			break;
		KUNIT_EXPECT_EQ(test, PTR_ERR(job), -ENOMEM);
		KUNIT_EXPECT_EQ(test, left, 0);
	}
	KUNIT_ASSERT_FALSE(test, IS_ERR(job));
	dt_abort(job);
	if (n == 1)
		kunit_skip(test, "failslab is off, or spares sleeping callers");
	kunit_info(test, "%u allocations failed", n - 1);
	dt_settle(dt);
}
#else
static void failing_allocation(struct kunit *test)
{
	kunit_skip(test, "this kernel has no fault injection");
}
#endif

static struct kunit_case life[] = {
	DT_CASE(close_idle),
	DT_CASE(close_in_flight),
	DT_CASE(drop_in_flight),
	DT_CASE(drop_in_interrupt),
	DT_CASE(reap_many),
	DT_CASE(who_puts),
	DT_CASE(kill_queued),
	DT_CASE(kill_waits_for_dep),
	DT_CASE(close_waits_for_dep),
	DT_CASE(kill_stopped),
	DT_CASE(kill_twice),
	DT_CASE(sync_file_outlives),
	DT_CASE(failing_allocation),
	{ }
};

DT_SUITE(dt_life_suite, life);
