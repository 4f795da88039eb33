// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: faults of single jobs
 *
 * Each places a job with a fault between good ones, some of which are submitted
 * with it and some after it, and checks the results of all of them.
 */

#include <linux/delay.h>

#include "depq_test_suites.h"

/* The jobs before, with and after the fault. */
struct victims {
	struct dt_queue *queue;
	struct dt_record *before;
	struct dt_record *faulty;
	struct dt_record *after;
};

static struct victims submit_fault(struct dt *dt, struct dt_queue *queue,
				   const struct dt_job_args *args)
{
	struct victims v = { .queue = queue };

	v.before = dt_submit_for(queue, 20000);
	v.faulty = dt_submit(queue, args);
	v.after = dt_submit_for(queue, 20000);
	return v;
}

/* A fault that needs no timeout: only the job itself has the error. */
static void passing_fault(struct kunit *test, enum dt_fault fault, int error)
{
	struct dt_job_args args = { .duration_ns = 20000, .fault = fault };
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct victims v;
	u32 i;

	args.run_cost_us = 500;
	for (i = 0; i < 3; i++) {
		v = submit_fault(dt, queue, &args);
		KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(v.after)));
		KUNIT_EXPECT_EQ(test, v.before->error, 0);
		KUNIT_EXPECT_EQ(test, v.faulty->error, error);
		KUNIT_EXPECT_EQ(test, v.after->error, 0);
	}
	/* Alone, so that the submitter runs it where it may. */
	dt_settle(dt);
	v.faulty = dt_submit(queue, &args);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(v.faulty)));
	KUNIT_EXPECT_EQ(test, v.faulty->error, error);
	dt_settle(dt);
}

static void hw_error(struct kunit *test)
{
	passing_fault(test, DT_ERROR, -EIO);
}

static void double_completion(struct kunit *test)
{
	passing_fault(test, DT_DOUBLE, 0);
}

static void run_error(struct kunit *test)
{
	passing_fault(test, DT_RUN_ERR, -EIO);
}

static void run_null(struct kunit *test)
{
	passing_fault(test, DT_RUN_NULL, 0);
}

static void presignalled(struct kunit *test)
{
	passing_fault(test, DT_SIGNALLED, 0);
}

static void slow_run(struct kunit *test)
{
	passing_fault(test, DT_SLOW, 0);
}

/* Many jobs that end inside run_job(): no recursion, no lost wake-up. */
static void many_presignalled(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 1 };
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	struct dt_job_args args = { };
	u32 i;

	for (i = 0; i < 300; i++) {
		args.fault = prandom_u32_state(&dt->random) % 2 ?
			     DT_SIGNALLED : DT_RUN_NULL;
		args.fence = i == 0 ? dt_user_fence(dt) : NULL;
		dt_submit(queue, &args);
	}
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, queue->last_run));
	dma_fence_signal(dt->user[0]);
	dt_settle(dt);
	KUNIT_EXPECT_EQ(test, queue->last_run, 300);
}

/* Interrupts without anything to report. */
static void spurious_interrupts(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job = dt_submit(queue, NULL);
	u64 before = READ_ONCE(queue->engine->interrupts);
	u32 i;

	for (i = 0; i < 5; i++) {
		dt_hw_spurious(queue->engine);
		usleep_range(200, 400);
	}
	KUNIT_EXPECT_GT(test, READ_ONCE(queue->engine->interrupts), before);
	KUNIT_EXPECT_FALSE(test, dt_signalled(job));
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	dt_hw_advance(queue->engine, 1);
	dt_settle(dt);
}

/* The worker is kept busy by another queue, or by its own job. */
static void delayed_worker(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *busy = dt_queue(dt), *queue = dt_queue(dt);
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_job_args blocker = {
		.duration_ns = 1000, .fence = dt_user_fence(dt),
	};
	struct dt_record *job = NULL;
	u32 i;

	/* run_job() may not sleep where submitters run jobs. */
	if (dt->design->flags & DEPQ_QUEUE_BYPASS) {
		blocker.fault = DT_SLOW;
		blocker.run_cost_us = 5000;
	} else {
		blocker.gated = true;
	}
	dt_submit(busy, &blocker);
	dt_submit(queue, &blocker);
	dma_fence_signal(blocker.fence);
	for (i = 0; i < 20; i++)
		job = dt_submit(i % 2 ? busy : queue, &args);
	if (blocker.gated)
		KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_signalled(job)));
	complete_all(&dt->gate);
	dt_settle(dt);
	KUNIT_EXPECT_EQ(test, queue->last_run, 11);
}

/* A chain through many queues whose first fence fails is run all the same. */
static void error_does_not_spread(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_job_args args = { .duration_ns = 1000, .fault = DT_ERROR };
	struct dt_record *prev, *jobs[8];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		args.deps = &prev;
		args.n_deps = i > 0;
		jobs[i] = dt_submit(dt_queue(dt), &args);
		prev = jobs[i];
		args.fault = DT_OK;
	}
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(prev)));
	KUNIT_EXPECT_EQ(test, jobs[0]->error, -EIO);
	for (i = 1; i < ARRAY_SIZE(jobs); i++)
		KUNIT_EXPECT_EQ(test, jobs[i]->error, 0);
	dt_settle(dt);
}

static struct kunit_case faults[] = {
	DT_CASE(hw_error),
	DT_CASE(double_completion),
	DT_CASE(run_error),
	DT_CASE(run_null),
	DT_CASE(presignalled),
	DT_CASE(many_presignalled),
	DT_CASE(slow_run),
	DT_CASE(spurious_interrupts),
	DT_CASE(delayed_worker),
	DT_CASE(error_does_not_spread),
	{ }
};

DT_SUITE(dt_fault_suite, faults);
