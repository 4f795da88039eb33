// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: timeouts, and the driver's verdicts on them
 */

#include <linux/delay.h>

#include "depq_test_suites.h"

static struct dt_queue *queue_with(struct dt *dt, enum dt_policy policy,
				   u32 hang_limit)
{
	struct dt_limits limits = {
		.timeout = DT_TIMEOUT,
		.policy = policy,
		.hang_limit = hang_limit,
		.credit_limit = 2,
	};

	return dt_queue_on(dt_engine(dt, &limits));
}

static struct dt_record *submit_faulty(struct dt_queue *queue,
				       enum dt_fault fault)
{
	struct dt_job_args args = {
		.fault = fault,
		.duration_ns = fault == DT_HANG ? 0 : 20000,
	};

	return dt_submit(queue, &args);
}

/* A job that hangs is reset, and fails. */
static void hang(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = queue_with(dt, DT_POLICY_RESET, 10);
	struct dt_record *job = submit_faulty(queue, DT_HANG);

	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, -ETIME);
	KUNIT_EXPECT_EQ(test, atomic_read(&job->timeouts), 1);
	dt_settle(dt);
}

/* Jobs on the engine behind the hung one are cancelled; others are not affected. */
static void hang_with_others(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = queue_with(dt, DT_POLICY_RESET, 10);
	struct dt_record *before = dt_submit_for(queue, 20000);
	struct dt_record *guilty = submit_faulty(queue, DT_HANG);
	struct dt_record *behind, *unrun, *later;

	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(before)));
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(guilty)));
	behind = dt_submit_for(queue, 20000);
	unrun = dt_submit_for(queue, 20000);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(behind)));
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(unrun)));
	later = dt_submit_for(queue, 20000);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(later)));
	KUNIT_EXPECT_EQ(test, before->error, 0);
	KUNIT_EXPECT_EQ(test, guilty->error, -ETIME);
	KUNIT_EXPECT_EQ(test, behind->error, -ECANCELED);
	KUNIT_EXPECT_EQ(test, unrun->error, 0);
	KUNIT_EXPECT_EQ(test, later->error, 0);
	dt_settle(dt);
}

/* After a reset, no one waits forever for an engine fence. */
static void hang_hw_fences(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = queue_with(dt, DT_POLICY_RESET, 10);
	struct dt_record *jobs[2];
	struct dma_fence *hw[2];
	int i;

	if (dt->design->backend == &dt_drm)
		kunit_skip(test, "drivers of drm_sched signal them themselves");
	for (i = 0; i < 2; i++) {
		jobs[i] = submit_faulty(queue, DT_HANG);
		hw[i] = dma_fence_get(&jobs[i]->hw->base);
	}
	for (i = 0; i < 2; i++) {
		/* A fence that does not signal is released nevertheless. */
		KUNIT_EXPECT_GT(test, dma_fence_wait_timeout(hw[i], false,
							     DT_PATIENCE), 0);
		KUNIT_EXPECT_TRUE(test, dt_wait(dt, dt_signalled(jobs[i])));
		KUNIT_EXPECT_EQ(test, dma_fence_get_status(hw[i]),
				jobs[i]->error);
		dma_fence_put(hw[i]);
	}
	KUNIT_EXPECT_EQ(test, jobs[0]->error, -ETIME);
	KUNIT_EXPECT_EQ(test, jobs[1]->error, -ECANCELED);
	dt_settle(dt);
}

/* A queue on another engine does not notice. */
static void hang_elsewhere(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = queue_with(dt, DT_POLICY_RESET, 10);
	struct dt_queue *other = queue_with(dt, DT_POLICY_RESET, 10);
	struct dt_record *guilty = submit_faulty(queue, DT_HANG);
	struct dt_record *job = NULL;

	while (!dt_signalled(guilty)) {
		job = dt_submit_for(other, 50000);
		KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
		KUNIT_ASSERT_EQ(test, job->error, 0);
		KUNIT_ASSERT_LE(test, other->jobs, 100000);
		usleep_range(500, 1000);
	}
	KUNIT_EXPECT_EQ(test, guilty->error, -ETIME);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->engine->timeouts), 0);
	dt_settle(dt);
}

/* The driver reports that the job is alive: it continues, and may be asked again. */
static void no_hang(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = queue_with(dt, DT_POLICY_NO_HANG, 0);
	struct dt_record *job = submit_faulty(queue, DT_HANG);

	KUNIT_ASSERT_TRUE(test,
			  dt_wait(dt, atomic_read(&job->timeouts) >= 2));
	KUNIT_EXPECT_FALSE(test, dt_signalled(job));
	KUNIT_EXPECT_EQ(test, dt_hw_advance(queue->engine, 1), 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, 0);
	dt_submit_for(queue, 20000);
	dt_settle(dt);
}

/* The driver is never asked about jobs that are fast enough, however many. */
static void busy_is_not_hung(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = queue_with(dt, DT_POLICY_RESET, 0);
	u64 each = jiffies_to_nsecs(DT_TIMEOUT) / 8;
	struct dt_record *job = NULL;
	u32 i;

	for (i = 0; i < 40; i++)
		job = dt_submit_for(queue, each);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&queue->engine->timeouts), 0);
	dt_settle(dt);
}

/* Nor about jobs that were handed over early and are behind others. */
static void waiting_is_not_hung(struct kunit *test)
{
	struct dt_limits limits = { .timeout = DT_TIMEOUT };
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	u64 each = jiffies_to_nsecs(DT_TIMEOUT) / 8;
	struct dt_record *job = NULL;
	u32 i;

	for (i = 0; i < 24; i++)
		job = dt_submit_for(queue, each);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&queue->engine->timeouts), 0);
	dt_settle(dt);
}

/* The engine lost the completion; the driver finds it. */
static void lost_completion(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = queue_with(dt, DT_POLICY_RESET, 0);
	struct dt_record *job = submit_faulty(queue, DT_LOST);
	struct dt_record *next;

	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&job->timeouts), 1);
	next = dt_submit_for(queue, 20000);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(next)));
	KUNIT_EXPECT_EQ(test, next->error, 0);
	dt_settle(dt);
}

/* The completion comes during the timeout handling: the job is well. */
static void late_completion(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = queue_with(dt, DT_POLICY_RESET, 10);
	struct dt_job_args args = { .fault = DT_LATE };
	struct dt_record *job = dt_submit(queue, &args), *next;

	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&job->timeouts), 1);
	next = dt_submit_for(queue, 20000);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(next)));
	KUNIT_EXPECT_EQ(test, next->error, 0);
	dt_settle(dt);
}

/* A driver takes long to release another queue; timeouts still work. */
static void hang_beside_release(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *other = dt_queue(dt);
	struct dt_record *job;

	if (dt->design->backend == &dt_drm)
		kunit_skip(test, "drivers of drm_sched release entities themselves");
	other->held = true;
	dt_drop(other);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, READ_ONCE(other->releasing)));
	job = submit_faulty(queue_with(dt, DT_POLICY_RESET, 10), DT_HANG);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, -ETIME);
	complete_all(&dt->gate);
	dt_settle(dt);
}

/* A queue that hangs too often is banned. */
static void ban(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_record *job, *unrun;
	struct dt_queue *queue;
	u32 i;

	if (!dt->design->backend->kill)
		kunit_skip(test, "drm_sched leaves bans to its drivers");
	queue = queue_with(dt, DT_POLICY_RESET, 2);
	for (i = 0; i < 2; i++) {
		job = submit_faulty(queue, DT_HANG);
		KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
		KUNIT_EXPECT_EQ(test, job->error, -ETIME);
	}
	job = submit_faulty(queue, DT_HANG);
	submit_faulty(queue, DT_HANG);
	unrun = dt_submit_for(queue, 20000);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(unrun)));
	KUNIT_EXPECT_EQ(test, job->error, -ETIME);
	KUNIT_EXPECT_FALSE(test, dt_ran(unrun));
	KUNIT_EXPECT_EQ(test, unrun->error, -ENODEV);
	job = dt_try_submit(queue, NULL);
	KUNIT_ASSERT_TRUE(test, IS_ERR(job));
	KUNIT_EXPECT_EQ(test, PTR_ERR(job), -ENODEV);
	dt_settle(dt);
}

/* The reset fails: nothing is ever run again. */
static void gone(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_record *job, *unrun;
	struct dt_queue *queue;

	if (!dt->design->backend->kill)
		kunit_skip(test, "drm_sched leaves a lost device to its driver");
	queue = queue_with(dt, DT_POLICY_GONE, 10);
	job = submit_faulty(queue, DT_HANG);
	submit_faulty(queue, DT_HANG);
	unrun = dt_submit_for(queue, 20000);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(unrun)));
	KUNIT_EXPECT_EQ(test, job->error, -ENODEV);
	KUNIT_EXPECT_FALSE(test, dt_ran(unrun));
	KUNIT_EXPECT_EQ(test, unrun->error, -ENODEV);
	/* The engine no longer touches its jobs. */
	dt_hw_flush(queue->engine);
	dt_settle(dt);
}

/* A timeout is triggered before it is due. */
static void trigger(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .hang_limit = 10 };
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	struct dt_record *job;

	/* With nothing to ask about. */
	dt->design->backend->trigger(queue);
	job = submit_faulty(queue, DT_HANG);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(queue->engine) == 1));
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_signalled(job)));
	dt->design->backend->trigger(queue);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, -ETIME);
	dt_submit_for(queue, 20000);
	dt_settle(dt);
}

/* A job hangs in a stopped queue: it is handled nevertheless. */
static void hang_while_stopped(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = queue_with(dt, DT_POLICY_RESET, 10);
	struct dt_record *job, *unrun;

	if (!dt->design->backend->nests)
		kunit_skip(test, "a reset starts a stopped drm_sched");
	job = submit_faulty(queue, DT_HANG);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	dt_stop(queue);
	unrun = dt_submit_for(queue, 20000);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, -ETIME);
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_ran(unrun)));
	dt_start(queue);
	dt_settle(dt);
	KUNIT_EXPECT_EQ(test, unrun->error, 0);
}

/* A queue is closed while its job hangs, and no timeout is set. */
static void close_hung(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job;

	if (!dt->design->backend->kill)
		kunit_skip(test, "this drm_sched has no cancel_job()");
	job = submit_faulty(queue, DT_HANG);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	dt_close(queue);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, -ECANCELED);
	dt_settle(dt);
}

static struct kunit_case resets[] = {
	DT_CASE(hang),
	DT_CASE(hang_with_others),
	DT_CASE(hang_hw_fences),
	DT_CASE(hang_elsewhere),
	DT_CASE(no_hang),
	DT_CASE(busy_is_not_hung),
	DT_CASE(waiting_is_not_hung),
	DT_CASE(lost_completion),
	DT_CASE(late_completion),
	DT_CASE(hang_beside_release),
	DT_CASE(ban),
	DT_CASE(gone),
	DT_CASE(trigger),
	DT_CASE(hang_while_stopped),
	DT_CASE(close_hung),
	{ }
};

DT_SUITE(dt_reset_suite, resets);
