// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: queues of one engine with an arbiter
 *
 * The division of the engine's time is computed from the times at which jobs
 * signalled: what each queue had got when the first of them ran out of jobs. No
 * case checks how long anything takes.
 */

#include "depq_test_suites.h"

/*
 * The duration of a job: much longer than handing one over, or else a queue whose
 * jobs wait for a CPU would ask for less of the engine than its rival. Handing over
 * takes longer on PREEMPT_RT, and longest on kernels with debug checks.
 */
#define JOB_NS (DT_KERNEL_CHECKS_ITSELF ? 2000000 : \
		IS_ENABLED(CONFIG_PREEMPT_RT) ? 200000 : 100000)

/* An engine with @credits, with or without an arbiter; skips drm_sched. */
static struct dt_engine *engine_of(struct dt *dt, u32 credits, bool arbiter)
{
	struct dt_limits limits = {
		.credit_limit = credits,
		.arbiter = arbiter,
	};

	if (dt->design->backend == &dt_drm)
		kunit_skip(dt->test, "drm_sched has no arbiter");
	if (dt->design->arbiter && !arbiter)
		kunit_skip(dt->test, "every engine of the design has an arbiter");
	return dt_engine(dt, &limits);
}

/*
 * Keeps the engine from what is submitted now, until it is advanced by @n. Needs
 * an arbiter: the mock engine executes whatever is on it.
 */
static void hold(struct dt_engine *engine, u32 n)
{
	struct dt_queue *queue;
	u32 i;

	if (!engine->arbiter)
		return;
	queue = dt_queue_on(engine);
	for (i = 0; i < n; i++)
		dt_submit(queue, NULL);
	KUNIT_ASSERT_TRUE(engine->dt->test,
			  dt_wait(engine->dt, dt_hw_busy(engine) == n));
}

/* Undoes hold(). */
static void let_go(struct dt_engine *engine, u32 n)
{
	if (engine->arbiter)
		KUNIT_EXPECT_EQ(engine->dt->test, dt_hw_advance(engine, n), n);
}

/**
 * struct demand - the jobs of a queue
 * @queue: the queue
 * @ns: length of a job
 * @n: jobs
 * @jobs: their records
 */
struct demand {
	struct dt_queue *queue;
	u64 ns;
	u32 n;
	struct dt_record **jobs;
};

static void submit_demand(struct dt *dt, struct demand *demand)
{
	u32 i;

	demand->jobs = kunit_kcalloc(dt->test, demand->n, sizeof(*demand->jobs),
				     GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(dt->test, demand->jobs);
	for (i = 0; i < demand->n; i++)
		demand->jobs[i] = dt_submit_for(demand->queue, demand->ns);
}

/* Jobs that had ended by that time. All have ended now, so times are valid. */
static u32 ended_by(const struct demand *demand, ktime_t at)
{
	u32 n = 0;

	while (n < demand->n && demand->jobs[n]->finished->timestamp <= at)
		n++;
	return n;
}

/* Engine time of the best-served queue in percent of that of the worst. */
static u64 ratio_percent(const struct demand *demands, u32 n)
{
	u64 most = 0, least = U64_MAX, ns;
	ktime_t at = KTIME_MAX;
	u32 i;

	for (i = 0; i < n; i++)
		at = min(at, demands[i].jobs[demands[i].n - 1]->finished->timestamp);
	for (i = 0; i < n; i++) {
		ns = ended_by(&demands[i], at) * demands[i].ns;
		most = max(most, ns);
		least = min(least, ns);
	}
	return least ? div64_u64(100 * most, least) : U64_MAX;
}

/* Every second queue's jobs are longer by @uneven; all need the same total time. */
static u64 divide(struct dt *dt, u32 n, u32 n_jobs, u32 uneven, bool arbiter)
{
	struct dt_engine *engine = engine_of(dt, 2, arbiter);
	struct demand *demands;
	u32 i;

	demands = kunit_kcalloc(dt->test, n, sizeof(*demands), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(dt->test, demands);
	hold(engine, 2);
	/* The long ones first: few, so that they are soon not alone. */
	for (i = n; i-- > 0;) {
		demands[i].queue = dt_queue_on(engine);
		demands[i].ns = JOB_NS * (i & 1 ? uneven : 1);
		demands[i].n = n_jobs / (i & 1 ? uneven : 1);
		submit_demand(dt, &demands[i]);
	}
	let_go(engine, 2);
	dt_settle(dt);
	return ratio_percent(demands, n);
}

/*
 * Cases that compute shares run on the designs with arbiters, whose engine
 * reports its time, and on depq's default form, where depq measures it. That is
 * inexact on PREEMPT_RT, where fences signal late, in a thread.
 */
static void skip_if_not_exact(struct kunit *test)
{
	struct dt *dt = test->priv;

	if (dt->design->arbiter)
		return;
	if (!(dt->design->flags & DEPQ_QUEUE_SOFTIRQ))
		kunit_skip(test, "tried with the default form and with arbiters");
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "depq measures engine time, by late interrupts");
}

static void equal_demand(struct kunit *test)
{
	skip_if_not_exact(test);
	KUNIT_EXPECT_LE(test, divide(test->priv, 2, 40, 1, true), 110);
	KUNIT_EXPECT_LE(test, divide(test->priv, 16, 120, 1, true), 110);
}

/* Many queues take a while, so not with every design. */
static void equal_demand_of_many(struct kunit *test)
{
	struct dt *dt = test->priv;

	if (!dt->design->arbiter)
		kunit_skip(test, "tried with those designs that have arbiters");
	KUNIT_EXPECT_LE(test, divide(dt, 256, 24, 1, true), 110);
}

static void unequal_jobs(struct kunit *test)
{
	skip_if_not_exact(test);
	KUNIT_EXPECT_LE(test, divide(test->priv, 2, 160, 4, true), 110);
	KUNIT_EXPECT_LE(test, divide(test->priv, 16, 160, 4, true), 110);
}

/* The purpose of the arbiter: without it jobs are shared equally, not time. */
static void the_ring_divides_jobs(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, divide(test->priv, 2, 160, 4, false), 300);
}

/*
 * Jobs of a crowd that ended while one client waited that submits every few
 * rounds, except those that ended while it was submitting.
 */
static u32 overtaken(struct dt *dt, bool arbiter)
{
	struct dt_engine *engine = engine_of(dt, 2, arbiter);
	struct dt_queue *single;
	struct demand crowd[8] = { };
	struct dt_record *job, *waits[6];
	ktime_t since[ARRAY_SIZE(waits)];
	u32 i, j, n, most = 0;

	single = dt_queue_on(engine);
	job = dt_submit_for(single, JOB_NS);
	KUNIT_ASSERT_TRUE(dt->test, dt_wait(dt, dt_signalled(job)));
	hold(engine, 2);
	for (i = 0; i < ARRAY_SIZE(crowd); i++) {
		crowd[i].queue = dt_queue_on(engine);
		crowd[i].ns = JOB_NS;
		crowd[i].n = 40;
		submit_demand(dt, &crowd[i]);
	}
	let_go(engine, 2);
	for (j = 0; j < ARRAY_SIZE(waits); j++) {
		job = crowd[0].jobs[5 * j + 5];
		KUNIT_ASSERT_TRUE(dt->test, dt_wait(dt, dt_signalled(job)));
		waits[j] = dt_submit_for(single, JOB_NS / 5);
		since[j] = ktime_get();
		KUNIT_ASSERT_TRUE(dt->test,
				  dt_wait(dt, dt_signalled(waits[j])));
	}
	dt_settle(dt);
	for (j = 0; j < ARRAY_SIZE(waits); j++) {
		for (i = 0, n = 0; i < ARRAY_SIZE(crowd); i++)
			n += ended_by(&crowd[i], waits[j]->finished->timestamp) -
			     ended_by(&crowd[i], since[j]);
		most = max(most, n);
	}
	return most;
}

/* A client that needs less than its share only waits for what is on the engine. */
static void one_waits_beside_a_crowd(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, overtaken(test->priv, true), 3);
}

static void beside_a_crowd_the_ring_is_full(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, overtaken(test->priv, false), 8);
}

/*
 * Submits a job when the last one is done, against four queues that always have
 * jobs. Returns its jobs in percent of those of the worst-served other queue.
 */
static u64 one_at_a_time(struct dt *dt, bool arbiter)
{
	struct dt_engine *engine = engine_of(dt, 2, arbiter);
	struct dt_queue *single;
	struct demand others[4] = { };
	struct dt_record *job;
	ktime_t at = KTIME_MAX;
	u32 i, n = 0, least = U32_MAX;
	const u32 last = 59;

	hold(engine, 2);
	single = dt_queue_on(engine);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		others[i].queue = dt_queue_on(engine);
		others[i].ns = JOB_NS;
		others[i].n = last + 1;
		submit_demand(dt, &others[i]);
	}
	let_go(engine, 2);
	while (!dt_signalled(others[0].jobs[last])) {
		job = dt_submit_for(single, JOB_NS);
		if (!dt_wait(dt, dt_signalled(job)))
			break;
		n++;
	}
	dt_settle(dt);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		at = min(at, others[i].jobs[last]->finished->timestamp);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		least = min(least, ended_by(&others[i], at));
	return 100 * n / max(least, 1u);
}

/* The last job of a queue that becomes empty counts, too. */
static void one_at_a_time_gets_a_share(struct kunit *test)
{
	u64 percent;

	skip_if_not_exact(test);
	percent = one_at_a_time(test->priv, true);
	KUNIT_EXPECT_LE(test, percent, 110);
	/* It is idle while it submits, but not all the time. */
	KUNIT_EXPECT_GE(test, percent, 10);
}

/* New queues begin behind, so they cannot keep another one waiting forever. */
static void new_queues_starve_nobody(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = engine_of(dt, 1, true);
	struct dt_queue *old = dt_queue_on(engine);
	struct dt_record *job;
	u32 i;

	job = dt_submit_for(old, 500000);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	hold(engine, 1);
	job = dt_submit(old, NULL);
	for (i = 0; i < 100 && !dt_ran(job); i++) {
		dt_submit(dt_queue_on(engine), NULL);
		KUNIT_ASSERT_EQ(test, dt_hw_advance(engine, 1), 1);
		KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(engine) == 1));
	}
	/* It has to wait for some: its previous usage still counts. */
	KUNIT_EXPECT_GE(test, i, 2);
	KUNIT_EXPECT_LT(test, i, 100);
	KUNIT_ASSERT_EQ(test, dt_hw_advance(engine, 1), 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(engine) == 1));
	dt_hw_advance(engine, 1);
	dt_settle(dt);
}

/* Being idle earns no credit: a late-comer does not catch up. */
static void idle_time_is_not_saved(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = engine_of(dt, 2, true);
	struct demand demands[2] = { };
	struct dt_record *job;
	u32 i;

	skip_if_not_exact(test);
	for (i = 0; i < 2; i++)
		demands[i].queue = dt_queue_on(engine);
	job = dt_submit_for(demands[0].queue, JOB_NS);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	/* As much time as the other queue needs in total. */
	job = dt_submit_for(demands[1].queue, 40 * JOB_NS);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	job = dt_submit_for(demands[1].queue, JOB_NS);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(job)));
	hold(engine, 2);
	for (i = 0; i < 2; i++) {
		demands[i].ns = JOB_NS;
		demands[i].n = 40;
		submit_demand(dt, &demands[i]);
	}
	dt_hw_advance(engine, 2);
	dt_settle(dt);
	/* The other's unbalanced job is one of forty. */
	KUNIT_EXPECT_LE(test, ratio_percent(demands, 2), 110);
}

/* Whether none of these was run within a while. */
static bool none_runs(struct dt *dt, struct dt_record *const *jobs, u32 n)
{
	u32 i;

	KUNIT_EXPECT_FALSE(dt->test, dt_wait_never(dt, false));
	for (i = 0; i < n; i++)
		if (dt_ran(jobs[i]))
			return false;
	return true;
}

/**
 * struct waiting - two queues of a held engine, with a job each
 * @engine: has one credit, and a job of another queue on it
 * @queues: the queues
 * @jobs: their jobs
 */
struct waiting {
	struct dt_engine *engine;
	struct dt_queue *queues[2];
	struct dt_record *jobs[2];
};

static void make_wait(struct dt *dt, struct waiting *waiting)
{
	u32 i;

	waiting->engine = engine_of(dt, 1, true);
	hold(waiting->engine, 1);
	for (i = 0; i < 2; i++) {
		waiting->queues[i] = dt_queue_on(waiting->engine);
		waiting->jobs[i] = dt_submit(waiting->queues[i], NULL);
	}
	KUNIT_EXPECT_TRUE(dt->test, none_runs(dt, waiting->jobs, 2));
}

/* The job on the engine completes, and then this one does. */
static void runs_next(struct waiting *waiting, struct dt_record *job)
{
	struct dt *dt = waiting->engine->dt;

	KUNIT_EXPECT_EQ(dt->test, dt_hw_advance(waiting->engine, 1), 1);
	KUNIT_ASSERT_TRUE(dt->test, dt_wait(dt, dt_ran(job)));
}

/* All jobs complete. */
static void end_wait(struct waiting *waiting)
{
	KUNIT_EXPECT_EQ(waiting->engine->dt->test,
			dt_hw_advance(waiting->engine, 1), 1);
	dt_settle(waiting->engine->dt);
}

/* A queue stopped while it waits lets others go first, then waits again. */
static void stop_while_waiting(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct waiting waiting;

	make_wait(dt, &waiting);
	dt_stop(waiting.queues[0]);
	runs_next(&waiting, waiting.jobs[1]);
	dt_start(waiting.queues[0]);
	KUNIT_EXPECT_TRUE(test, none_runs(dt, waiting.jobs, 1));
	runs_next(&waiting, waiting.jobs[0]);
	end_wait(&waiting);
}

/* The jobs of a queue that is killed fail without the engine; others go on. */
static void kill_while_waiting(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct waiting waiting;
	struct dt_record *killed;

	make_wait(dt, &waiting);
	killed = waiting.jobs[0];
	dt_kill(waiting.queues[0], -ENODEV);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(killed)));
	KUNIT_EXPECT_EQ(test, killed->error, -ENODEV);
	KUNIT_EXPECT_FALSE(test, dt_ran(killed));
	KUNIT_EXPECT_TRUE(test, none_runs(dt, &waiting.jobs[1], 1));
	runs_next(&waiting, waiting.jobs[1]);
	end_wait(&waiting);
}

/* A queue whose owner drops its reference while it waits runs its jobs. */
static void drop_while_waiting(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct waiting waiting;
	u32 i;

	make_wait(dt, &waiting);
	dt_drop(waiting.queues[0]);
	for (i = 0; i < 2; i++)
		runs_next(&waiting, waiting.jobs[i]);
	end_wait(&waiting);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, waiting.jobs[i]->error, 0);
}

/* A reset of a queue that has a job on the engine and one that waits. */
static void reset_while_waiting(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = engine_of(dt, 2, true);
	struct dt_job_args hang = { .fault = DT_HANG };
	struct dt_queue *queues[2];
	struct dt_record *guilty, *jobs[3];
	u32 i;

	engine->limits.policy = DT_POLICY_RESET;
	engine->limits.hang_limit = 10;
	for (i = 0; i < 2; i++)
		queues[i] = dt_queue_on(engine);
	guilty = dt_submit(queues[0], &hang);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(guilty)));
	jobs[0] = dt_submit(queues[1], NULL);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(jobs[0])));
	jobs[1] = dt_submit(queues[0], NULL);
	jobs[2] = dt_submit(queues[1], NULL);
	KUNIT_EXPECT_TRUE(test, none_runs(dt, &jobs[1], 2));
	dt->design->backend->trigger(queues[0]);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(guilty)));
	KUNIT_EXPECT_EQ(test, guilty->error, -ETIME);
	/* One credit is free: the queue that did not hang was longer off. */
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(engine) == 2));
	KUNIT_EXPECT_TRUE(test, dt_ran(jobs[2]));
	dt_hw_advance(engine, 2);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(jobs[1])));
	dt_hw_advance(engine, 1);
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_signalled(jobs[i])));
		KUNIT_EXPECT_EQ(test, jobs[i]->error, 0);
	}
	dt_settle(dt);
}

/* A queue that waits for a dependency keeps no other from the engine. */
static void blocked_queues_hold_nothing(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = engine_of(dt, 1, true);
	struct dt_queue *blocked = dt_queue_on(engine);
	struct dt_queue *other = dt_queue_on(engine);
	struct dt_job_args args = { .fence = dt_user_fence(dt) };
	struct dt_record *jobs[3];

	jobs[0] = dt_submit(blocked, &args);
	jobs[1] = dt_submit(other, NULL);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(jobs[1])));
	jobs[2] = dt_submit(other, NULL);
	/* It joins those that wait. */
	dma_fence_signal(args.fence);
	KUNIT_EXPECT_TRUE(test, none_runs(dt, jobs, 1));
	dt_hw_advance(engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(engine) == 1));
	dt_hw_advance(engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(jobs[0]) && dt_ran(jobs[2])));
	dt_hw_advance(engine, 1);
	dt_settle(dt);
}

/* If there is room and no queue waits, the submitter runs the job. */
static void room_wakes_nobody(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = engine_of(dt, 2, true);
	struct dt_queue *queue = dt_queue_on(engine);
	struct depq_stats stats;

	if (!(dt->design->flags & DEPQ_QUEUE_BYPASS))
		kunit_skip(test, "the queue has no bypass");
	dt_submit(dt_queue_on(engine), NULL);
	dt_submit(queue, NULL);
	KUNIT_EXPECT_EQ(test, dt_hw_busy(engine), 2);
	depq_queue_read_stats(&queue->depq, &stats);
	KUNIT_EXPECT_EQ(test, stats.bypassed, 1);
	KUNIT_EXPECT_EQ(test, stats.kicks + stats.softirqs, 0);
	/* No room: it waits, and nobody is woken for that. */
	dt_submit(queue, NULL);
	depq_queue_read_stats(&queue->depq, &stats);
	KUNIT_EXPECT_EQ(test, stats.bypassed, 1);
	KUNIT_EXPECT_EQ(test, stats.kicks + stats.softirqs, 0);
	dt_hw_advance(engine, 2);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_hw_busy(engine) == 1));
	dt_hw_advance(engine, 1);
	dt_settle(dt);
}

/* A job with more credits than are free waits, one with all of them goes alone. */
static void credits_of_the_engine(struct kunit *test)
{
	struct dt *dt = test->priv;
	struct dt_engine *engine = engine_of(dt, 3, true);
	struct dt_job_args large = { .credits = 3 };
	struct dt_queue *queues[2];
	struct dt_record *jobs[3];
	u32 i;

	for (i = 0; i < 2; i++)
		queues[i] = dt_queue_on(engine);
	hold(engine, 1);
	jobs[0] = dt_submit(queues[0], &large);
	/* There is room for it, but it is not its turn. */
	jobs[1] = dt_submit(queues[1], NULL);
	KUNIT_EXPECT_TRUE(test, none_runs(dt, jobs, 2));
	dt_hw_advance(engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(jobs[0])));
	KUNIT_EXPECT_TRUE(test, none_runs(dt, &jobs[1], 1));
	dt_hw_advance(engine, 1);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(jobs[1])));
	dt_hw_advance(engine, 1);
	dt_settle(dt);
}

static struct kunit_case arbiter[] = {
	DT_CASE(equal_demand),
	DT_CASE(equal_demand_of_many),
	DT_CASE(unequal_jobs),
	DT_CASE(the_ring_divides_jobs),
	DT_CASE(one_waits_beside_a_crowd),
	DT_CASE(beside_a_crowd_the_ring_is_full),
	DT_CASE(one_at_a_time_gets_a_share),
	DT_CASE(new_queues_starve_nobody),
	DT_CASE(idle_time_is_not_saved),
	DT_CASE(stop_while_waiting),
	DT_CASE(kill_while_waiting),
	DT_CASE(drop_while_waiting),
	DT_CASE(reset_while_waiting),
	DT_CASE(blocked_queues_hold_nothing),
	DT_CASE(room_wakes_nobody),
	DT_CASE(credits_of_the_engine),
	{ }
};

DT_SUITE(dt_arbiter_suite, arbiter);
