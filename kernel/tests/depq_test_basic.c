// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: basic functions of a scheduler
 *
 * The cases that the kernel has for drm_sched with a mock engine, for every
 * design: single jobs, queues, dependencies, teardown, priorities, credits.
 */

#include <linux/delay.h>

#include "../compat/drm_sched.h"
#include "depq_test_suites.h"

/* A job ends when the engine says so, and not before. */
static void submit(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job = dt_submit(queue, NULL);

	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	KUNIT_ASSERT_FALSE(test, dt_wait_never(dt, dt_signalled(job)));
	KUNIT_ASSERT_FALSE(test, dt_is_released(job));
	KUNIT_ASSERT_EQ(test, dt_hw_advance(queue->engine, 1), 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, 0);
	dt_settle(dt);
}

/* A prepared job that is never committed leaves nothing behind. */
static void abandon(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_job_args args = { .fence = dt_user_fence(dt) };
	struct dt_record *job = dt_prepare(queue, &args);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, job);
	dt_abort(job);
	KUNIT_EXPECT_TRUE(test, dt_is_released(job));
	KUNIT_EXPECT_FALSE(test, dt_ran(job));
	dt_submit_for(queue, 10000);
	dt_settle(dt);
}

/* Jobs with a duration on some queues of one engine, in turn. */
static void stream(struct kunit *test, u32 n_queues, bool chain)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = dt_engine(dt, NULL);
	struct dt_job_args args = { .duration_ns = 100000 };
	struct dt_record *prev = NULL;
	struct dt_queue *queues[4];
	u32 i;

	for (i = 0; i < n_queues; i++)
		queues[i] = dt_queue_on(engine);
	for (i = 0; i < 100; i++) {
		args.deps = &prev;
		args.n_deps = chain && prev;
		prev = dt_submit(queues[i % n_queues], &args);
	}
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(prev)));
	dt_settle(dt);
	for (i = 0; i < n_queues; i++)
		KUNIT_EXPECT_EQ(test, queues[i]->last_run, 100 / n_queues);
}

static void one_queue(struct kunit *test)
{
	stream(test, 1, false);
}

static void chain_in_queue(struct kunit *test)
{
	stream(test, 1, true);
}

static void four_queues(struct kunit *test)
{
	stream(test, 4, false);
}

static void chain_across_queues(struct kunit *test)
{
	stream(test, 4, true);
}

/* Queues are closed while half of a chain across them has not been run. */
static void close_mid_chain(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = dt_engine(dt, NULL);
	struct dt_job_args args = { .duration_ns = 100000 };
	struct dt_record *prev = NULL, *mid = NULL;
	struct dt_queue *queues[4];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(queues); i++)
		queues[i] = dt_queue_on(engine);
	for (i = 0; i < 100; i++) {
		args.deps = &prev;
		args.n_deps = !!prev;
		prev = dt_submit(queues[i % 4], &args);
		if (i == 50)
			mid = prev;
	}
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(mid)));
	for (i = 0; i < ARRAY_SIZE(queues); i++)
		dt_close(queues[i]);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(prev)));
	dt_settle(dt);
	if (!dt_ran(prev))
		KUNIT_EXPECT_EQ(test, prev->error,
				dt->design->backend->kill_error);
}

/* A job that is on the engine when its queue is closed is cancelled. */
static void cancel(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job;

	if (!dt->design->backend->kill)
		kunit_skip(test, "this drm_sched has no cancel_job()");
	job = dt_submit(queue, NULL);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	dt_close(queue);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, -ECANCELED);
	dt_settle(dt);
}

/* Queues of each priority: all jobs end, and the urgent ones are not last. */
static void priorities(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 1 };
	struct dt_queue *queues[DRM_SCHED_PRIORITY_COUNT];
	struct dt_record *last[DRM_SCHED_PRIORITY_COUNT];
	const u32 low = COMPAT_SCHED_PRIORITY_LOW;
	const u32 urgent = DRM_SCHED_PRIORITY_KERNEL;
	struct dt_engine *engine;
	u32 i;

	if (!dt->design->backend->priority)
		kunit_skip(test, "depq queues have no priority of their own");
	engine = dt_engine(dt, &limits);
	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		queues[i] = dt_queue_on(engine);
		dt->design->backend->priority(queues[i], i);
	}
	/* Holds the engine until all have queued up. */
	dt_submit(queues[low], NULL);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(engine) == 1));
	for (i = 0; i < 100; i++)
		last[i % ARRAY_SIZE(queues)] =
			dt_submit_for(queues[i % ARRAY_SIZE(queues)], 100000);
	dt_hw_advance(engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(last[urgent])));
	KUNIT_EXPECT_FALSE(test, dt_signalled(last[low]));
	dt_settle(dt);
}

/* Priorities change while jobs are in flight. */
static void change_priorities(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queues[DRM_SCHED_PRIORITY_COUNT], *queue;
	struct dt_limits limits = { .credit_limit = 4 };
	struct dt_record *job = NULL;
	struct dt_engine *engine;
	u32 i;

	if (!dt->design->backend->priority)
		kunit_skip(test, "depq queues have no priority of their own");
	engine = dt_engine(dt, &limits);
	for (i = 0; i < ARRAY_SIZE(queues); i++)
		queues[i] = dt_queue_on(engine);
	for (i = 0; i < 1000; i++)
		job = dt_submit_for(queues[i % ARRAY_SIZE(queues)], 100000);
	for (i = 0; !dt_signalled(job) && i < 100000; i++) {
		queue = queues[i % ARRAY_SIZE(queues)];
		dt->design->backend->priority(queue, (queue->priority + 1) %
					      DRM_SCHED_PRIORITY_COUNT);
		usleep_range(200, 500);
	}
	dt_settle(dt);
}

/* A limit of one credit: the second job waits for the first. */
static void credits(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 1 };
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	struct dt_record *jobs[2];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		jobs[i] = dt_submit(queue, NULL);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(jobs[0])));
	KUNIT_ASSERT_FALSE(test, dt_wait_never(dt, dt_ran(jobs[1])));
	KUNIT_ASSERT_EQ(test, dt_hw_advance(queue->engine, 1), 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(jobs[1])));
	KUNIT_ASSERT_EQ(test, dt_hw_advance(queue->engine, 1), 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(jobs[1])));
	dt_settle(dt);
}

/* Credits of many sizes: the limit holds, and a big job is not overtaken. */
static void mixed_credits(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 7 };
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	struct dt_job_args args = { };
	u32 i;

	if (dt->design->backend->no_credits)
		kunit_skip(test, "this drm_sched has no credits");
	for (i = 0; i < 200; i++) {
		args.credits = 1 + prandom_u32_state(&dt->random) % 7;
		args.duration_ns = 1 + prandom_u32_state(&dt->random) % 20000;
		dt_submit(queue, &args);
	}
	dt_settle(dt);
	KUNIT_EXPECT_EQ(test, queue->last_run, 200);
}

static struct kunit_case basic[] = {
	DT_CASE(submit),
	DT_CASE(abandon),
	DT_CASE(one_queue),
	DT_CASE(chain_in_queue),
	DT_CASE(four_queues),
	DT_CASE(chain_across_queues),
	DT_CASE(close_mid_chain),
	DT_CASE(cancel),
	DT_CASE(priorities),
	DT_CASE(change_priorities),
	DT_CASE(credits),
	DT_CASE(mixed_credits),
	{ }
};

DT_SUITE(dt_basic_suite, basic);
