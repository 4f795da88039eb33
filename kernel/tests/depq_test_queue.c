// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: who runs a job, and when
 *
 * Bypass and its limits, stop and start, dependencies, credits, back-pressure.
 */

#include <linux/delay.h>
#include <linux/sched/signal.h>

#include "depq_test_suites.h"

static bool has_bypass(struct dt *dt)
{
	return dt->design->flags & DEPQ_QUEUE_BYPASS;
}

/* In an idle queue the submitter runs the job if it may, otherwise the worker. */
static void who_runs(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job = dt_submit(queue, NULL);

	if (has_bypass(dt))
		KUNIT_EXPECT_TRUE(test, dt_ran(job));
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	KUNIT_EXPECT_EQ(test, job->run_pid == current->pid, has_bypass(dt));
	dt_hw_advance(queue->engine, 1);
	dt_settle(dt);
}

/* Behind a waiting job, none is run; afterwards the order is kept. */
static void behind_blocked_head(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_job_args args = { .fence = dt_user_fence(dt) };
	struct dt_record *head = dt_submit(queue, &args);
	struct dt_record *next = dt_submit(queue, NULL);

	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_ran(next)));
	KUNIT_EXPECT_FALSE(test, dt_ran(head));
	dma_fence_signal(args.fence);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(next)));
	KUNIT_EXPECT_NE(test, head->run_pid, current->pid);
	dt_hw_advance(queue->engine, 2);
	dt_settle(dt);
}

/* Likewise behind a job that lacks credits. */
static void behind_big_head(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 4 };
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	struct dt_job_args big = { .credits = 4 };
	struct dt_record *small, *head;

	if (dt->design->backend->no_credits)
		kunit_skip(test, "this drm_sched has no credits");
	dt_submit(queue, NULL);
	head = dt_submit(queue, &big);
	small = dt_submit(queue, NULL);
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_ran(small)));
	KUNIT_EXPECT_FALSE(test, dt_ran(head));
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(queue->engine) == 1));
	dt_hw_advance(queue->engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(head)));
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_ran(small)));
	dt_hw_advance(queue->engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(small)));
	dt_hw_advance(queue->engine, 1);
	dt_settle(dt);
}

/* A job that takes all credits there are is run, again and again. */
static void lone_job(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 3 };
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	struct dt_job_args args = { .credits = 3, .duration_ns = 1000 };
	u32 i;

	for (i = 0; i < 20; i++)
		dt_submit(queue, &args);
	dt_settle(dt);
	KUNIT_EXPECT_EQ(test, queue->last_run, 20);
}

/* A job that could never be run is refused. */
static void too_many_credits(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 3 };
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	struct dt_job_args args = { .credits = 4 };
	struct dt_record *job;

	if (dt->design->backend == &dt_drm)
		kunit_skip(test, "drm_sched warns, and runs it with fewer");
	job = dt_try_submit(queue, &args);
	KUNIT_ASSERT_TRUE(test, IS_ERR(job));
	KUNIT_EXPECT_EQ(test, PTR_ERR(job), -EINVAL);
	dt_settle(dt);
}

/* While stopped nothing is run, but what runs already ends. */
static void stop_start(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *before = dt_submit(queue, NULL);
	struct dt_record *after;

	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(before)));
	dt_stop(queue);
	after = dt_submit(queue, NULL);
	dt_hw_advance(queue->engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(before)));
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_ran(after)));
	dt_start(queue);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(after)));
	dt_hw_advance(queue->engine, 1);
	dt_settle(dt);
}

/* Each stop needs its own start. */
static void nested_stop(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_record *job;
	u32 i;

	if (!dt->design->backend->nests)
		kunit_skip(test, "drm_sched does not count its stops");
	for (i = 0; i < 3; i++)
		dt_stop(queue);
	job = dt_submit(queue, NULL);
	for (i = 0; i < 2; i++) {
		dt_start(queue);
		KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_ran(job)));
	}
	dt_start(queue);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	dt_hw_advance(queue->engine, 1);
	dt_settle(dt);
}

/* stop() returns only when the runner has come back. */
static void stop_waits_for_runner(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_job_args args = {
		.fault = DT_SLOW, .run_cost_us = 2000, .duration_ns = 1000,
		.fence = dt_user_fence(dt),
	};

	dt_submit(queue, &args);
	dma_fence_signal(args.fence);
	usleep_range(200, 400);
	dt_stop(queue);
	KUNIT_EXPECT_EQ(test, atomic_read(&queue->running), 0);
	dt_start(queue);
	dt_settle(dt);
}

/* A failed dependency counts as signalled. */
static void dep_error(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_job_args args = {
		.fence = dt_user_fence(dt), .duration_ns = 1000,
	};
	struct dt_record *job = dt_submit(queue, &args);

	dma_fence_set_error(args.fence, -EIO);
	dma_fence_signal(args.fence);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_TRUE(test, dt_ran(job));
	KUNIT_EXPECT_EQ(test, job->error, 0);
	dt_settle(dt);
}

/* A dependency that has already signalled is ignored. */
static void dep_signalled(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_job_args args = { .fence = dt_user_fence(dt) };
	struct dt_record *job;

	dma_fence_signal(args.fence);
	job = dt_submit(queue, &args);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	KUNIT_EXPECT_EQ(test, job->run_pid == current->pid, has_bypass(dt));
	dt_hw_advance(queue->engine, 1);
	dt_settle(dt);
}

/* A dependency that signals between prepare and commit. */
static void dep_signals_in_between(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue = dt_queue(dt);
	struct dt_job_args args = { .fence = dt_user_fence(dt) };
	struct dt_record *job = dt_prepare(queue, &args);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, job);
	dma_fence_signal(args.fence);
	dt_commit(job);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	dt_hw_advance(queue->engine, 1);
	dt_settle(dt);
}

/* Many dependencies, of which several are of one other queue. */
static void many_deps(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = dt_engine(dt, NULL);
	struct dt_queue *from = dt_queue_on(engine);
	struct dt_queue *other = dt_queue(dt), *to = dt_queue(dt);
	struct dt_record *deps[12], *job;
	struct dt_job_args args = { .deps = deps, .n_deps = ARRAY_SIZE(deps) };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(deps); i++)
		deps[i] = dt_submit(i % 3 ? from : other, NULL);
	job = dt_submit(to, &args);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(engine) == 8));
	dt_hw_advance(engine, 8);
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_ran(job)));
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(other->engine) == 4));
	dt_hw_advance(other->engine, 4);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
	dt_hw_advance(to->engine, 1);
	dt_settle(dt);
}

/* Of two jobs of a queue the later counts, whichever is added first. */
static void dep_on_two(struct kunit *test)
{
	struct dt *dt = test->priv;
	u32 first;

	for (first = 0; first < 2; first++) {
		struct dt_queue *from = dt_queue(dt), *to = dt_queue(dt);
		struct dt_record *deps[2], *early, *late, *job;
		struct dt_job_args args = { .deps = deps, .n_deps = 2 };

		early = dt_submit(from, NULL);
		late = dt_submit(from, NULL);
		deps[first] = early;
		deps[!first] = late;
		job = dt_submit(to, &args);
		KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(late)));
		KUNIT_ASSERT_EQ(test, dt_hw_advance(from->engine, 1), 1);
		KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(early)));
		KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, dt_ran(job)));
		dt_hw_advance(from->engine, 1);
		KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(job)));
		dt_hw_advance(to->engine, 1);
	}
	dt_settle(dt);
}

/* The engine ends jobs in any order; they are signalled in theirs. */
static void out_of_order(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue;
	struct dt_record *jobs[8];
	u32 i;

	dt->scrambled = true;
	queue = dt_queue(dt);
	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		jobs[i] = dt_submit(queue, NULL);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(queue->engine) == 8));
	for (i = ARRAY_SIZE(jobs) - 1; i; i--)
		KUNIT_EXPECT_TRUE(test, dt_hw_complete(jobs[i]));
	if (dt->design->backend->orders)
		KUNIT_EXPECT_FALSE(test,
				   dt_wait_never(dt, dt_signalled(jobs[1])));
	dt_hw_complete(jobs[0]);
	dt_settle(dt);
}

/* A full queue returns an error to nonblocking submitters. */
static void full_nonblock(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .max_queued = 3 };
	struct dt_queue *queue = dt_queue_on(dt_engine(dt, &limits));
	struct dt_job_args args = { .nonblock = true };
	struct dt_record *jobs[3], *job;
	u32 i;

	if (dt->design->backend == &dt_drm)
		kunit_skip(test, "drm_sched queues take any number of jobs");
	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		jobs[i] = dt_submit(queue, &args);
	job = dt_try_submit(queue, &args);
	KUNIT_ASSERT_TRUE(test, IS_ERR(job));
	KUNIT_EXPECT_EQ(test, PTR_ERR(job), -EAGAIN);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(jobs[0])));
	dt_hw_advance(queue->engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(jobs[0])));
	/* There is room soon after the signal, not before it. */
	args.nonblock = false;
	dt_submit(queue, &args);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(queue->engine) == 3));
	dt_hw_advance(queue->engine, 3);
	dt_settle(dt);
}

/* Submits one job; its error, if any, is what is counted. */
static void one_job_thread(struct dt_thread *thread)
{
	struct dt_job_args args = { .duration_ns = 1000 };
	struct dt_record *job;

	allow_signal(SIGKILL);
	job = dt_try_submit(thread->queue, &args);
	if (IS_ERR(job))
		thread->errors = -PTR_ERR(job);
}

/* A submitter that waits for room, and what it was waiting for. */
static struct dt_thread *wait_for_room(struct kunit *test,
				       struct dt_queue **queue,
				       struct dt_record **job)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .max_queued = 1 };
	struct dt_thread *thread;

	if (dt->design->backend == &dt_drm)
		kunit_skip(test, "drm_sched queues take any number of jobs");
	*queue = dt_queue_on(dt_engine(dt, &limits));
	*job = dt_submit(*queue, NULL);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(*job)));
	thread = dt_threads(dt, 1, one_job_thread, NULL);
	thread->queue = *queue;
	dt_threads_start(thread);
	KUNIT_EXPECT_FALSE(test, dt_wait_never(dt, (*queue)->jobs > 1));
	return thread;
}

/* A submitter that waits for room continues when there is some. */
static void full_wait(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue;
	struct dt_record *job;
	struct dt_thread *thread = wait_for_room(test, &queue, &job);

	dt_hw_advance(queue->engine, 1);
	dt_threads_join(thread);
	KUNIT_EXPECT_EQ(test, thread->errors, 0);
	KUNIT_EXPECT_EQ(test, queue->jobs, 2);
	dt_settle(dt);
}

/* A fatal signal ends the wait for room. */
static void signal_in_wait(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue;
	struct dt_record *job;
	struct dt_thread *thread = wait_for_room(test, &queue, &job);

	if (thread->task)
		send_sig(SIGKILL, thread->task, 1);
	dt_threads_join(thread);
	KUNIT_EXPECT_EQ(test, thread->errors, ERESTARTSYS);
	KUNIT_EXPECT_EQ(test, queue->jobs, 1);
	dt_hw_advance(queue->engine, 1);
	dt_settle(dt);
}

/* A kill ends it too. */
static void kill_in_wait(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_queue *queue;
	struct dt_record *job;
	struct dt_thread *thread = wait_for_room(test, &queue, &job);

	dt_kill(queue, -ECONNRESET);
	dt_threads_join(thread);
	KUNIT_EXPECT_EQ(test, thread->errors, ECONNRESET);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	KUNIT_EXPECT_EQ(test, job->error, -ECONNRESET);
	dt_settle(dt);
}

static struct kunit_case queues[] = {
	DT_CASE(who_runs),
	DT_CASE(behind_blocked_head),
	DT_CASE(behind_big_head),
	DT_CASE(lone_job),
	DT_CASE(too_many_credits),
	DT_CASE(stop_start),
	DT_CASE(nested_stop),
	DT_CASE(stop_waits_for_runner),
	DT_CASE(dep_error),
	DT_CASE(dep_signalled),
	DT_CASE(dep_signals_in_between),
	DT_CASE(many_deps),
	DT_CASE(dep_on_two),
	DT_CASE(out_of_order),
	DT_CASE(full_nonblock),
	DT_CASE(full_wait),
	DT_CASE(signal_in_wait),
	DT_CASE(kill_in_wait),
	{ }
};

DT_SUITE(dt_queue_suite, queues);
