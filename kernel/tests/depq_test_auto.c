// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: queues that decide for themselves
 *
 * With %DEPQ_PUT_AUTO and the driver's permissions, a queue decides who runs a job
 * and who drops its reference to it. Each case sets up a situation and counts.
 */

#include "depq_test_suites.h"

/* Jobs at a time: more than a submitter reaps, fewer than a worker runs. */
#define BATCH 40

/* Opens a queue of the design; ends the case if it does not decide itself. */
static struct dt_queue *auto_queue(struct dt *dt)
{
	if (dt->design->backend == &dt_drm || dt->design->put != DEPQ_PUT_AUTO)
		kunit_skip(dt->test, "the queue does not choose who reaps");
	return dt_queue(dt);
}

static bool runs_in_softirqs(const struct dt *dt)
{
	/* A follow worker runs all jobs that have a level itself. */
	return dt->design->flags & DEPQ_QUEUE_SOFTIRQ &&
	       dt->design->kind != DEPQ_WORKER_FOLLOW;
}

static bool puts_in_irqs(const struct dt *dt)
{
	return dt->design->flags & DEPQ_QUEUE_PUT_IRQ;
}

static struct depq_stats stats_of(struct dt_queue *queue)
{
	struct depq_stats stats;

	depq_queue_read_stats(&queue->depq, &stats);
	return stats;
}

/* Jobs unblocked by an interrupt are run by a softirq, if the driver allows it. */
static void interrupts_run(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = auto_queue(dt), *before = dt_queue(dt);
	struct dt_record *first, *job;
	struct dt_job_args args = { .deps = &first, .n_deps = 1 };
	struct depq_stats stats;

	/* So long that the other is submitted before it ends. */
	first = dt_submit_for(before, 20000000);
	job = dt_submit(queue, &args);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	stats = stats_of(queue);
	KUNIT_EXPECT_EQ(test, stats.bypassed, 0);
	KUNIT_EXPECT_EQ(test, stats.softirqs, runs_in_softirqs(dt));
	KUNIT_EXPECT_EQ(test, stats.kicks, !runs_in_softirqs(dt));
	dt_hw_advance(queue->engine, 1);
	dt_settle(dt);
}

/* A softirq raised in a thread would wake a thread: the worker is woken. */
static void threads_wake_the_worker(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = auto_queue(dt);
	struct dt_job_args args = { .fence = dt_user_fence(dt) };
	struct dt_record *job = dt_submit(queue, &args);
	struct depq_stats stats;

	dma_fence_signal(args.fence);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	stats = stats_of(queue);
	KUNIT_EXPECT_EQ(test, stats.softirqs, 0);
	KUNIT_EXPECT_EQ(test, stats.kicks, 1);
	dt_hw_advance(queue->engine, 1);
	dt_settle(dt);
}

/* However many jobs wait, a thread that unblocks them wakes the worker once. */
static void one_wakeup_for_a_batch(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = auto_queue(dt);
	struct dt_job_args first = { .fence = dt_user_fence(dt) };
	struct dt_job_args args = { };
	struct dt_record *job = dt_submit(queue, &first);
	struct depq_stats stats;
	u32 i;

	for (i = 1; i < BATCH; i++)
		job = dt_submit(queue, &args);
	KUNIT_EXPECT_EQ(test, stats_of(queue).kicks, 0);
	dma_fence_signal(first.fence);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	stats = stats_of(queue);
	KUNIT_EXPECT_EQ(test, stats.softirqs, 0);
	KUNIT_EXPECT_EQ(test, stats.kicks, 1);
	dt_hw_advance(queue->engine, BATCH);
	dt_settle(dt);
}

/* A softirq runs a few of many jobs, and leaves the others to the worker. */
static void softirqs_are_short(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = auto_queue(dt), *before = dt_queue(dt);
	struct dt_record *first, *job;
	struct dt_job_args args = { .deps = &first, .n_deps = 1 };
	struct depq_stats stats;
	u32 i;

	if (!runs_in_softirqs(dt))
		kunit_skip(test, "no job is run in a softirq");
	first = dt_submit_for(before, 50000000);
	job = dt_submit(queue, &args);
	args.n_deps = 0;
	for (i = 1; i < BATCH; i++)
		job = dt_submit(queue, &args);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	stats = stats_of(queue);
	KUNIT_EXPECT_EQ(test, stats.softirqs, 1);
	KUNIT_EXPECT_EQ(test, stats.kicks, 1);
	dt_hw_advance(queue->engine, BATCH);
	dt_settle(dt);
}

/* After the last submission all jobs are reaped, and no timer was needed. */
static void nothing_is_left(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = auto_queue(dt);
	struct depq_stats stats;
	u32 i;

	for (i = 0; i < BATCH; i++)
		dt_submit_for(queue, 1000 + 1000000 * (i % 8 == 7));
	KUNIT_EXPECT_TRUE(test, dt_wait(dt, dt_zero(dt, &dt->jobs)));
	stats = stats_of(queue);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(queue->depq.reap_armed));
	KUNIT_EXPECT_EQ(test, stats.put_delayed, 0);
	KUNIT_EXPECT_EQ(test, stats.put_irq, puts_in_irqs(dt) ? BATCH : 0);
	KUNIT_EXPECT_EQ(test, stats.put_irq + stats.put_submit +
			stats.put_worker, BATCH);
	dt_settle(dt);
}

/* Jobs that a waiting thread will reap do not wake the worker. */
static void who_waits_puts(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = auto_queue(dt);
	struct dt_job_args args = { };
	struct dt_record *job;
	struct depq_stats stats;

	if (puts_in_irqs(dt)) {
		KUNIT_EXPECT_FALSE(test, depq_queue_wait_begin(&queue->depq));
		return;
	}
	dt_stop(queue);
	job = dt_submit(queue, &args);
	dt_start(queue);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	stats = stats_of(queue);
	KUNIT_EXPECT_EQ(test, stats.kicks, 1);
	KUNIT_ASSERT_TRUE(test, depq_queue_wait_begin(&queue->depq));
	dt_hw_advance(queue->engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_is_released(job)));
	depq_queue_wait_end(&queue->depq);
	KUNIT_EXPECT_TRUE(test, dt_wait(dt, dt_is_released(job)));
	stats = stats_of(queue);
	KUNIT_EXPECT_EQ(test, stats.kicks, 1);
	KUNIT_EXPECT_EQ(test, stats.put_submit, 1);
	dt_settle(dt);
}

/* A job being prepared would reap others; if it is aborted, the worker does. */
static void given_up(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = auto_queue(dt);
	struct dt_job_args args = { };
	struct dt_record *job, *next;
	struct depq_stats stats;
	u64 kicks;

	if (puts_in_irqs(dt))
		kunit_skip(test, "whoever signals reaps");
	job = dt_submit(queue, &args);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	next = dt_prepare(queue, &args);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, next);
	kicks = stats_of(queue).kicks;
	dt_hw_advance(queue->engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_is_released(job)));
	KUNIT_EXPECT_EQ(test, stats_of(queue).kicks, kicks);
	dt_abort(next);
	KUNIT_EXPECT_TRUE(test, dt_wait(dt, dt_is_released(job)));
	stats = stats_of(queue);
	KUNIT_EXPECT_EQ(test, stats.kicks, kicks + 1);
	KUNIT_EXPECT_EQ(test, stats.put_worker, 1);
	dt_settle(dt);
}

static struct kunit_case autos[] = {
	DT_CASE(interrupts_run),
	DT_CASE(threads_wake_the_worker),
	DT_CASE(one_wakeup_for_a_batch),
	DT_CASE(softirqs_are_short),
	DT_CASE(nothing_is_left),
	DT_CASE(who_waits_puts),
	DT_CASE(given_up),
	{ }
};

DT_SUITE(dt_auto_suite, autos);
