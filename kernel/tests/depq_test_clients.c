// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: several clients of one engine
 *
 * Deep queues, ping-pong, and threads that submit and wait in various mixes, as
 * in the kernel's cases for drm_sched. They print how long it took and the
 * theoretical minimum; the time does not affect the result.
 */

#include <linux/delay.h>

#include "../compat/drm_sched.h"
#include "depq_test_suites.h"

static void report(struct kunit *test, ktime_t start, u64 ideal_us)
{
	kunit_info(test, "took %lld us, engine time %llu us",
		   ktime_us_delta(ktime_get(), start), ideal_us);
}

/* A first job that holds the engine, then many, one credit at a time. */
static void deep(struct kunit *test, u32 n_queues, bool chain)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 1 };
	struct dt_engine *engine = dt_engine(dt, &limits);
	struct dt_job_args args = { };
	struct dt_record *prev = NULL;
	struct dt_queue *queues[2];
	const u32 n = dt_scaled(400);
	ktime_t start;
	u32 i;

	for (i = 0; i < n_queues; i++)
		queues[i] = dt_queue_on(engine);
	for (i = 0; i <= n; i++) {
		args.deps = &prev;
		args.n_deps = chain && prev;
		args.duration_ns = i ? 50000 : 0;
		prev = dt_submit(queues[i % n_queues], &args);
	}
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(engine) == 1));
	start = ktime_get();
	KUNIT_ASSERT_EQ(test, dt_hw_advance(engine, 1), 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(prev)));
	report(test, start, n * 50);
	dt_settle(dt);
}

static void deep_queue(struct kunit *test)
{
	deep(test, 1, false);
}

static void ping_pong(struct kunit *test)
{
	deep(test, 2, true);
}

/**
 * struct client - what a client does repeatedly
 * @jobs: jobs to submit
 * @job_us: length of each, at full length
 * @sync: waits for the last one
 * @wait_us: sleeps this long, at full length
 * @priority: of its queue, if queues have one
 */
struct client {
	u32 jobs;
	u32 job_us;
	bool sync;
	u32 wait_us;
	enum drm_sched_priority priority;
};

#define HIGH	DRM_SCHED_PRIORITY_HIGH
#define NORMAL	DRM_SCHED_PRIORITY_NORMAL
#define LOW	COMPAT_SCHED_PRIORITY_LOW

/* All times are divided by this, as there are many designs. */
#define HASTE	10

static const struct client mixes[][2] = {
	{ { 1, 8000, false, 0, NORMAL }, { 1, 8000, false, 0, NORMAL } },
	{ { 1, 8000, false, 0, NORMAL }, { 1, 8000, false, 0, LOW } },
	{ { 1, 8000, false, 0, HIGH }, { 1, 8000, false, 0, NORMAL } },
	{ { 1, 8000, false, 0, HIGH }, { 1, 8000, false, 0, LOW } },
	{ { 1, 1500, true, 1500, NORMAL }, { 1, 2500, true, 2500, NORMAL } },
	{ { 1, 1500, true, 1500, NORMAL }, { 1, 2500, true, 2500, LOW } },
	{ { 1, 1500, true, 1500, HIGH }, { 1, 2500, true, 2500, NORMAL } },
	{ { 3, 2500, false, 500, LOW }, { 1, 500, true, 10000, NORMAL } },
	{ { 3, 2500, true, 2500, NORMAL }, { 1, 1000, true, 9000, NORMAL } },
	{ { 4, 50000, true, 1, NORMAL }, { 1, 1000, true, 9000, NORMAL } },
};

/* One client; in the normal form what it does alone in 100 ms, but for the haste. */
static void client_thread(struct dt_thread *thread)
{
	const struct client *client = thread->data;
	struct dt_job_args args = { };
	struct dt_record *job = NULL;
	u32 cycles, i, j;

	client += thread->index;
	args.duration_ns = client->job_us * 1000 / HASTE;
	cycles = dt_scaled(100000 / (client->jobs * client->job_us +
				     client->wait_us) + 1);
	for (i = 0; i < cycles; i++) {
		for (j = 0; j < client->jobs; j++) {
			job = dt_try_submit(thread->queue, &args);
			if (IS_ERR(job)) {
				thread->errors++;
				return;
			}
		}
		if (client->sync && !dt_wait(thread->dt, dt_signalled(job)))
			thread->errors++;
		if (client->wait_us)
			fsleep(client->wait_us / HASTE);
	}
	if (!dt_wait(thread->dt, dt_signalled(job)))
		thread->errors++;
}

static void run_mix(struct kunit *test, const struct client *mix, u32 credits)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = credits };
	struct dt_engine *engine = dt_engine(dt, &limits);
	struct dt_thread *threads;
	u32 i;

	threads = dt_threads(dt, 2, client_thread, (void *)mix);
	for (i = 0; i < 2; i++) {
		threads[i].queue = dt_queue_on(engine);
		if (dt->design->backend->priority)
			dt->design->backend->priority(threads[i].queue,
						      mix[i].priority);
	}
	dt_threads_start(threads);
	dt_threads_join(threads);
	KUNIT_EXPECT_EQ(test, threads[0].errors + threads[1].errors, 0);
	dt_settle(dt);
}

static void two_clients(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(mixes); i++)
		run_mix(test, mixes[i], 1);
}

static void two_clients_two_credits(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(mixes); i++)
		run_mix(test, mixes[i], 2);
}

static const struct client one_of_many = { 1, 100, true, 100, NORMAL };

/* All clients do the same; the index into the mix is always 0. */
static void many_thread(struct dt_thread *thread)
{
	struct dt_job_args args = { .duration_ns = one_of_many.job_us * 1000 };
	struct dt_record *job;
	u32 i, n = dt_scaled(10);

	for (i = 0; i < n; i++) {
		job = dt_try_submit(thread->queue, &args);
		if (IS_ERR(job) || !dt_wait(thread->dt, dt_signalled(job))) {
			thread->errors++;
			return;
		}
		fsleep(one_of_many.wait_us);
	}
}

static void many_clients(struct kunit *test)
{
	static const u32 counts[] = { 2, 3, 7, 13, 31 };
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 2 };
	struct dt_thread *threads;
	struct dt_engine *engine;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		engine = dt_engine(dt, &limits);
		threads = dt_threads(dt, counts[i], many_thread, NULL);
		for (j = 0; j < counts[i]; j++)
			threads[j].queue = dt_queue_on(engine);
		dt_threads_start(threads);
		dt_threads_join(threads);
		for (j = 0; j < counts[i]; j++)
			KUNIT_EXPECT_EQ(test, threads[j].errors, 0);
	}
	dt_settle(dt);
}

/* Submits jobs that the test completes later. */
static void parallel_thread(struct dt_thread *thread)
{
	u32 i;

	for (i = 0; i < 8; i++)
		if (IS_ERR(dt_try_submit(thread->queue, NULL)))
			thread->errors++;
}

/* Threads submit at once; then the engine does it all. */
static void parallel_submit(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = dt_engine(dt, NULL);
	struct dt_thread *threads = dt_threads(dt, 16, parallel_thread, NULL);
	u32 i;

	for (i = 0; i < 16; i++)
		threads[i].queue = dt_queue_on(engine);
	dt_threads_start(threads);
	dt_threads_join(threads);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, threads[i].errors, 0);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(engine) == 128));
	KUNIT_EXPECT_EQ(test, dt_hw_advance(engine, 128), 128);
	dt_settle(dt);
}

/* Keeps some jobs in flight, each thread with another length. */
static void window_thread(struct dt_thread *thread)
{
	struct dt_record *jobs[8] = { };
	struct dt_job_args args = {
		.duration_ns = 10000 * (thread->index + 1),
	};
	u32 i, n = max(dt_scaled(200) / (thread->index + 1), ARRAY_SIZE(jobs));

	for (i = 0; i < n + ARRAY_SIZE(jobs); i++) {
		struct dt_record **job = &jobs[i % ARRAY_SIZE(jobs)];

		if (*job && !dt_wait(thread->dt, dt_signalled(*job)))
			thread->errors++;
		*job = i < n ? dt_try_submit(thread->queue, &args) : NULL;
		if (IS_ERR(*job)) {
			thread->errors++;
			return;
		}
	}
}

static void interleaved_submit(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = dt_engine(dt, NULL);
	struct dt_thread *threads = dt_threads(dt, 16, window_thread, NULL);
	u32 i;

	for (i = 0; i < 16; i++)
		threads[i].queue = dt_queue_on(engine);
	dt_threads_start(threads);
	dt_threads_join(threads);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, threads[i].errors, 0);
	dt_settle(dt);
}

/* Clients move to another engine: an idle queue ends, another one begins. */
static void move_queues(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engines[3];
	struct dt_queue *queues[13];
	u32 i, at;

	for (i = 0; i < ARRAY_SIZE(engines); i++)
		engines[i] = dt_engine(dt, NULL);
	for (i = 0; i < ARRAY_SIZE(queues); i++)
		queues[i] = dt_queue_on(engines[i % ARRAY_SIZE(engines)]);
	for (i = 0; i < dt_scaled(300); i++) {
		at = prandom_u32_state(&dt->random) % ARRAY_SIZE(queues);
		dt_submit_for(queues[at], 30000);
		at = prandom_u32_state(&dt->random) % ARRAY_SIZE(queues);
		if (!dt->design->backend->idle(queues[at]))
			continue;
		dt_close(queues[at]);
		queues[at] = dt_queue_on(engines[i % ARRAY_SIZE(engines)]);
	}
	dt_settle(dt);
}

static struct kunit_case clients[] = {
	DT_CASE(deep_queue),
	DT_CASE(ping_pong),
	DT_CASE(two_clients),
	DT_CASE(two_clients_two_credits),
	DT_CASE(many_clients),
	DT_CASE(parallel_submit),
	DT_CASE(interleaved_submit),
	DT_CASE(move_queues),
	{ }
};

DT_SUITE(dt_client_suite, clients);
