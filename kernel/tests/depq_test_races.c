// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: races
 *
 * Threads on all CPUs submit while others, and the engine's interrupts, interfere.
 * The checker verifies the invariants; the threads only
 * make as much as possible happen at once. Their choices depend on
 * the seed, so a failure can be reproduced on a machine that is exact.
 */

#include <linux/delay.h>

#include "depq_test_suites.h"

#define SUBMITTERS	4
/* Jobs of each submitter. */
#define JOBS		60

/**
 * struct race - state of a race
 * @queue: the common queue
 * @faults: fraction of faulty jobs, in 1/256
 * @kinds: the possible faults
 * @n_kinds: their number
 * @disturb: what the last thread does repeatedly
 * @done: submitters that have ended
 * @refused: jobs that were not accepted
 */
struct race {
	struct dt_queue *queue;
	u32 faults;
	const enum dt_fault *kinds;
	u32 n_kinds;
	void (*disturb)(struct dt_thread *thread, struct dt_queue *queue);
	atomic_t done;
	atomic_t refused;
};

static u32 draw(struct dt_thread *thread, u32 below)
{
	return prandom_u32_state(&thread->random) % below;
}

/* Draws the parameters of a job. */
static void race_job(struct dt_thread *thread, struct race *race,
		     struct dt_record *prev)
{
	struct dt_job_args args = {
		.credits = 1 + draw(thread, 3),
		.duration_ns = 1 + draw(thread, 40000),
		.deps = &prev,
		.n_deps = prev && !draw(thread, 2),
	};
	struct dt_record *rec;

	if (race->n_kinds && draw(thread, 256) < race->faults) {
		args.fault = race->kinds[draw(thread, race->n_kinds)];
		args.run_cost_us = 1 + draw(thread, 50);
	}
	rec = dt_prepare(race->queue, &args);
	if (IS_ERR(rec)) {
		atomic_inc(&race->refused);
		return;
	}
	if (!draw(thread, 16))
		dt_abort(rec);
	else
		dt_commit(rec);
}

/* Submits, with pauses of all lengths, own and foreign dependencies. */
static void race_submit(struct dt_thread *thread, struct race *race)
{
	struct dt_job_args foreign = { };
	struct dt_record *prev;
	u32 i, n = dt_scaled(JOBS);

	for (i = 0; i < n; i++) {
		foreign.duration_ns = 1 + draw(thread, 40000);
		prev = dt_try_submit(thread->queue, &foreign);
		race_job(thread, race, IS_ERR(prev) ? NULL : prev);
		if (!draw(thread, 4))
			udelay(draw(thread, 50));
		if (!draw(thread, 8))
			usleep_range(1, 1 + draw(thread, 100));
	}
	atomic_inc(&race->done);
	wake_up_all(&thread->dt->wait);
}

static void race_thread(struct dt_thread *thread)
{
	struct race *race = thread->data;

	if (thread->index < SUBMITTERS) {
		race_submit(thread, race);
		return;
	}
	while (atomic_read(&race->done) < SUBMITTERS) {
		race->disturb(thread, race->queue);
		usleep_range(10, 50 + draw(thread, 400));
	}
}

static void race_run(struct kunit *test, struct race *race,
		     const struct dt_limits *limits)
{
	struct dt *dt = test->priv;
	struct dt_limits defaults = { .credit_limit = 6, .max_queued = 32 };
	struct dt_engine *others = dt_engine(dt, NULL);
	struct dt_thread *threads;
	u32 i;

	race->queue = dt_queue_on(dt_engine(dt, limits ?: &defaults));
	threads = dt_threads(dt, SUBMITTERS + !!race->disturb, race_thread,
			     race);
	for (i = 0; i < SUBMITTERS; i++)
		threads[i].queue = dt_queue_on(others);
	dt_threads_start(threads);
	dt_threads_join(threads);
	dt_settle(dt);
}

/* Checks that all jobs ran: none was refused, stopped for good or reset. */
static void race_all_ran(struct kunit *test, struct race *race)
{
	struct dt *dt = test->priv;
	struct dt_record *rec;

	KUNIT_EXPECT_EQ(test, atomic_read(&race->refused), 0);
	list_for_each_entry(rec, &dt->records, link)
		if (rec->state == DT_COMMITTED)
			KUNIT_EXPECT_EQ(test, atomic_read(&rec->runs), 1);
}

/* Submitters, worker and interrupts, all at the same queue. */
static void bypass_and_worker(struct kunit *test)
{
	struct race race = { };

	race_run(test, &race, NULL);
	race_all_ran(test, &race);
}

/* Jobs that end in all possible ways, most of them at once. */
static void all_endings(struct kunit *test)
{
	static const enum dt_fault kinds[] = {
		DT_ERROR, DT_DOUBLE, DT_RUN_ERR, DT_RUN_NULL, DT_SIGNALLED,
		DT_SLOW,
	};
	struct race race = {
		.faults = 128, .kinds = kinds, .n_kinds = ARRAY_SIZE(kinds),
	};

	race_run(test, &race, NULL);
	race_all_ran(test, &race);
}

/* The engine ends jobs in any order. */
static void parallel_engine(struct kunit *test)
{
	struct dt_limits limits = { .credit_limit = 20, .parallel = true };
	struct race race = { };

	race_run(test, &race, &limits);
	race_all_ran(test, &race);
}

static void disturb_stop(struct dt_thread *thread, struct dt_queue *queue)
{
	u32 i, n = 1;

	if (thread->dt->design->backend->nests)
		n += draw(thread, 3);
	for (i = 0; i < n; i++)
		dt_stop(queue);
	udelay(draw(thread, 30));
	for (i = 0; i < n; i++)
		dt_start(queue);
}

static void stops(struct kunit *test)
{
	struct race race = { .disturb = disturb_stop };

	race_run(test, &race, NULL);
	race_all_ran(test, &race);
}

static void disturb_trigger(struct dt_thread *thread, struct dt_queue *queue)
{
	thread->dt->design->backend->trigger(queue);
}

/* Constant timeouts of jobs that are well. */
static void false_alarms(struct kunit *test)
{
	struct dt_limits limits = {
		.credit_limit = 6, .max_queued = 32,
		.policy = DT_POLICY_NO_HANG, .timeout = 10 * HZ,
	};
	struct race race = { .disturb = disturb_trigger };

	race_run(test, &race, &limits);
	race_all_ran(test, &race);
}

/* Constant resets. */
static void resets_under_load(struct kunit *test)
{
	static const enum dt_fault kinds[] = { DT_HANG, DT_LOST, DT_LATE };
	struct dt_limits limits = {
		.credit_limit = 6, .max_queued = 32, .timeout = DT_TIMEOUT,
		.hang_limit = U32_MAX,
	};
	struct race race = {
		.faults = 8, .kinds = kinds, .n_kinds = ARRAY_SIZE(kinds),
		.disturb = disturb_trigger,
	};

	race_run(test, &race, &limits);
}

static void disturb_kill(struct dt_thread *thread, struct dt_queue *queue)
{
	/* One that dies before it has seen a job would be no race. */
	if (!READ_ONCE(queue->jobs))
		return;
	usleep_range(1, 1 + draw(thread, 8000));
	dt_kill(queue, -EOWNERDEAD);
}

/* A queue dies while jobs are prepared, committed, run and ended. */
static void kill(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct race race = { .disturb = disturb_kill };

	if (!dt->design->backend->kill)
		kunit_skip(test, "drm_sched cannot kill a queue that stays");
	race_run(test, &race, NULL);
	KUNIT_EXPECT_GT(test, race.queue->jobs, 0);
}

/* Makes a queue, fills it, and drops it in one way or another. */
static void close_thread(struct dt_thread *thread)
{
	const struct dt_backend *be = thread->dt->design->backend;
	struct dt_job_args args = { };
	u32 i, j, n = dt_scaled(8);

	for (i = 0; i < n; i++) {
		struct dt_queue *queue = dt_queue_try(thread->data);

		if (IS_ERR(queue)) {
			thread->errors++;
			return;
		}
		for (j = draw(thread, 12); j; j--) {
			args.duration_ns = 1 + draw(thread, 60000);
			if (IS_ERR(dt_try_submit(queue, &args)))
				thread->errors++;
		}
		if (draw(thread, 2))
			udelay(draw(thread, 100));
		if (be->drop && draw(thread, 2))
			dt_drop(queue);
		else
			dt_close(queue);
	}
}

/* Queues come and go on all CPUs, with jobs in flight. */
static void closes(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_limits limits = { .credit_limit = 64, .parallel = true };
	struct dt_engine *engine = dt_engine(dt, &limits);
	struct dt_thread *threads;
	u32 i;

	threads = dt_threads(dt, SUBMITTERS, close_thread, engine);
	dt_threads_start(threads);
	dt_threads_join(threads);
	for (i = 0; i < SUBMITTERS; i++)
		KUNIT_EXPECT_EQ(test, threads[i].errors, 0);
	dt_settle(dt);
	KUNIT_EXPECT_TRUE(test, dt_wait(dt, dt_zero(dt, &dt->n_queues)));
}

static struct kunit_case races[] = {
	DT_CASE(bypass_and_worker),
	DT_CASE(all_endings),
	DT_CASE(parallel_engine),
	DT_CASE(stops),
	DT_CASE(false_alarms),
	DT_CASE(resets_under_load),
	DT_CASE(kill),
	DT_CASE(closes),
	{ }
};

DT_SUITE(dt_race_suite, races);
