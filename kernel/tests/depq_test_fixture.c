// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: set-up and clean-up
 *
 * A case creates engines, queues and jobs, and need not clean up: dt_exit()
 * does, also after a failed assertion. It signals the fences that the test
 * still has to signal, starts stopped queues, closes the queues, and makes the
 * engines complete or reset their jobs, until the design has released all
 * jobs and queues. If that takes too long, the case fails, and its memory
 * is leaked, because it may still be in use.
 *
 * ==========  ====================  =====================================
 * object      created by            gone when
 * ==========  ====================  =====================================
 * dt          dt_init()             dt_exit(), all counts being zero
 * dt_engine   dt_engine()           dt_exit()
 * dt_queue    dt_queue_on()         dt_exit(); the design's part before,
 *                                   by dt_close(), dt_drop()
 * dt_record   dt_prepare()          dt_exit()
 * dt_job      dt_prepare()          released by the design
 * dt_fence    dt_hw_fence()         last reference is put
 * ==========  ====================  =====================================
 */

#include <linux/module.h>

#include "depq_test.h"

/**
 * dt_count - change one of the counts that dt_exit() waits for
 * @dt: the fixture
 * @counter: one of its counts
 * @by: what to add
 *
 * After the last count has become zero the fixture must not be accessed, so the
 * lock covers the wake-up too.
 *
 * Context: any.
 */
void dt_count(struct dt *dt, u32 *counter, int by)
{
	unsigned long flags;

	spin_lock_irqsave(&dt->wait.lock, flags);
	*counter += by;
	if (!*counter)
		wake_up_all_locked(&dt->wait);
	spin_unlock_irqrestore(&dt->wait.lock, flags);
}

/**
 * dt_zero - check one of the counts
 * @dt: the fixture
 * @counter: one of its counts
 *
 * Context: process.
 * Return: whether it is zero, and whoever made it so no longer uses the fixture.
 */
bool dt_zero(struct dt *dt, const u32 *counter)
{
	bool zero;

	spin_lock_irq(&dt->wait.lock);
	zero = !*counter;
	spin_unlock_irq(&dt->wait.lock);
	return zero;
}

/**
 * dt_init - create the fixture of a case
 * @test: the case
 *
 * Context: the case's thread.
 * Return: 0 or -errno.
 */
int dt_init(struct kunit *test)
{
	const struct dt_design *design = test->param_value;
	struct dt *dt = kzalloc(sizeof(*dt), GFP_KERNEL);
	const char *c;
	u64 seed = dt_seed;
	int ret;

	if (!dt)
		return -ENOMEM;
	for (c = test->name; *c; c++)
		seed = seed * 31 + *c;
	for (c = design->name; *c; c++)
		seed = seed * 31 + *c;
	prandom_seed_state(&dt->random, seed);
	dt->test = test;
	dt->design = design;
	init_waitqueue_head(&dt->wait);
	init_completion(&dt->gate);
	spin_lock_init(&dt->lock);
	INIT_LIST_HEAD(&dt->engines);
	INIT_LIST_HEAD(&dt->queues);
	INIT_LIST_HEAD(&dt->records);
	ret = design->backend->open(dt);
	if (ret) {
		kfree(dt);
		return ret;
	}
	test->priv = dt;
	return 0;
}

/**
 * dt_engine - create an engine
 * @dt: the fixture
 * @limits: parameters of its queues; NULL for practically no limits
 *
 * Context: the case's thread.
 * Return: the engine.
 */
struct dt_engine *dt_engine(struct dt *dt, const struct dt_limits *limits)
{
	struct dt_engine *engine = kzalloc(sizeof(*engine), GFP_KERNEL);
	int ret = 0;

	KUNIT_ASSERT_NOT_NULL(dt->test, engine);
	engine->dt = dt;
	if (limits)
		engine->limits = *limits;
	if (!engine->limits.credit_limit)
		engine->limits.credit_limit = 1 << 20;
	if (!engine->limits.max_queued)
		engine->limits.max_queued = 1 << 20;
	dt_hw_init(engine);
	spin_lock_irq(&dt->lock);
	list_add_tail(&engine->link, &dt->engines);
	spin_unlock_irq(&dt->lock);
	if (dt->design->backend->engine_open)
		ret = dt->design->backend->engine_open(engine);
	KUNIT_ASSERT_EQ(dt->test, ret, 0);
	engine->live = true;
	return engine;
}

/**
 * dt_queue_try - create a queue, if possible
 * @engine: the engine of its jobs
 *
 * Context: process, may sleep, also in threads of a scenario.
 * Return: the queue or an error.
 */
struct dt_queue *dt_queue_try(struct dt_engine *engine)
{
	struct dt *dt = engine->dt;
	struct dt_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL);
	int ret;

	if (!queue)
		return ERR_PTR(-ENOMEM);
	queue->dt = dt;
	queue->engine = engine;
	queue->priority = DRM_SCHED_PRIORITY_NORMAL;
	mutex_init(&queue->submit);
	spin_lock_init(&queue->check);
	ret = dt->design->backend->queue_open(queue);
	if (ret) {
		kfree(queue);
		return ERR_PTR(ret);
	}
	queue->live = true;
	dt_count(dt, &dt->n_queues, 1);
	spin_lock_irq(&dt->lock);
	list_add_tail(&queue->link, &dt->queues);
	spin_unlock_irq(&dt->lock);
	return queue;
}

/**
 * dt_queue_on - create a queue
 * @engine: the engine of its jobs
 *
 * Context: the case's thread.
 * Return: the queue.
 */
struct dt_queue *dt_queue_on(struct dt_engine *engine)
{
	struct dt_queue *queue = dt_queue_try(engine);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(engine->dt->test, queue);
	return queue;
}

/**
 * dt_queue - create a queue on a new engine, without limits
 * @dt: the fixture
 *
 * Context: the case's thread.
 * Return: the queue.
 */
struct dt_queue *dt_queue(struct dt *dt)
{
	return dt_queue_on(dt_engine(dt, NULL));
}

/**
 * dt_queue_gone - called when the design has released a queue
 * @queue: the queue
 *
 * Context: process.
 */
void dt_queue_gone(struct dt_queue *queue)
{
	if (!queue->live)
		KUNIT_FAIL(queue->dt->test, "queue %p released again", queue);
	queue->live = false;
	dt_count(queue->dt, &queue->dt->n_queues, -1);
}

/**
 * dt_close - close a queue, and cancel jobs not yet run
 * @queue: the queue
 *
 * Context: process, may sleep, also in threads of a scenario.
 */
void dt_close(struct dt_queue *queue)
{
	queue->closed = true;
	queue->dt->design->backend->queue_close(queue);
	/* The design may have released it, but the memory stays. */
	spin_lock_irq(&queue->check);
	queue->killed = true;
	spin_unlock_irq(&queue->check);
}

/**
 * dt_drop - end a queue after its jobs were run
 * @queue: the queue
 *
 * Context: process.
 */
void dt_drop(struct dt_queue *queue)
{
	queue->closed = true;
	queue->dt->design->backend->drop(queue);
}

/**
 * dt_stop - stop a queue, and inform the checker
 * @queue: the queue
 *
 * Context: process, may sleep, also in threads of a scenario.
 */
void dt_stop(struct dt_queue *queue)
{
	queue->dt->design->backend->stop(queue);
	spin_lock_irq(&queue->check);
	queue->stopped++;
	spin_unlock_irq(&queue->check);
}

/**
 * dt_start - undo dt_stop()
 * @queue: the queue
 *
 * Context: process, may sleep, also in threads of a scenario.
 */
void dt_start(struct dt_queue *queue)
{
	spin_lock_irq(&queue->check);
	queue->stopped--;
	spin_unlock_irq(&queue->check);
	queue->dt->design->backend->start(queue);
}

/**
 * dt_kill - kill a queue, and inform the checker
 * @queue: the queue
 * @error: error of its jobs
 *
 * Context: process, may sleep, also in threads of a scenario.
 */
void dt_kill(struct dt_queue *queue, int error)
{
	queue->dt->design->backend->kill(queue, error);
	spin_lock_irq(&queue->check);
	queue->killed = true;
	spin_unlock_irq(&queue->check);
}

/**
 * dt_user_fence - create a fence that the test or else dt_exit() signals
 * @dt: the fixture
 *
 * Context: the case's thread.
 * Return: the fence; the fixture's reference.
 */
struct dma_fence *dt_user_fence(struct dt *dt)
{
	struct dt_fence *fence;

	KUNIT_ASSERT_LE(dt->test, dt->n_user + 1, ARRAY_SIZE(dt->user));
	fence = dt_hw_fence(dt, NULL);
	KUNIT_ASSERT_NOT_NULL(dt->test, fence);
	dt->user[dt->n_user++] = &fence->base;
	return &fence->base;
}

/* Whether all open queues hold neither jobs nor credits. */
static bool dt_idle(struct dt *dt)
{
	struct dt_queue *queue;

	list_for_each_entry(queue, &dt->queues, link)
		if (!queue->closed && !dt->design->backend->idle(queue))
			return false;
	return true;
}

/**
 * dt_settle - check that all submitted jobs end and leave nothing behind
 * @dt: the fixture
 *
 * Context: the case's thread.
 */
void dt_settle(struct dt *dt)
{
	KUNIT_ASSERT_TRUE(dt->test, dt_wait(dt, dt_zero(dt, &dt->jobs)));
	KUNIT_ASSERT_TRUE(dt->test, dt_wait(dt, dt_idle(dt)));
	dt_check_end(dt);
}

/* Whether a job waits for an engine that will not signal it. */
static void dt_force(struct dt *dt)
{
	const struct dt_backend *be = dt->design->backend;
	struct dt_engine *engine;
	struct dt_record *rec;

	list_for_each_entry(engine, &dt->engines, link)
		dt_hw_flush(engine);
	list_for_each_entry(rec, &dt->records, link) {
		if (rec->state == DT_COMMITTED && dt_ran(rec) &&
		    !dt_signalled(rec) && rec->hw->done && !rec->queue->closed)
			be->trigger(rec->queue);
	}
}

/* Unblocks everything that the test may have blocked. */
static void dt_release_all(struct dt *dt)
{
	struct dt_record *rec;
	struct dt_queue *queue;
	u32 i;

	dt->forced = true;
	complete_all(&dt->gate);
	for (i = 0; i < dt->n_user; i++)
		dma_fence_signal(dt->user[i]);
	list_for_each_entry(rec, &dt->records, link)
		if (rec->state == DT_PREPARED)
			dt_abort(rec);
	list_for_each_entry(queue, &dt->queues, link)
		while (queue->stopped)
			dt_start(queue);
	for (i = 0; i < 10 && !dt_zero(dt, &dt->jobs); i++) {
		dt_force(dt);
		wait_event_timeout(dt->wait, dt_zero(dt, &dt->jobs), HZ / 50);
	}
	list_for_each_entry(queue, &dt->queues, link)
		if (!queue->closed)
			dt_close(queue);
	for (i = 0; i < 100 && !dt_zero(dt, &dt->jobs); i++) {
		dt_force(dt);
		wait_event_timeout(dt->wait, dt_zero(dt, &dt->jobs), HZ / 5);
	}
}

static void dt_free(struct dt *dt)
{
	struct dt_engine *engine, *next_engine;
	struct dt_queue *queue, *next_queue;
	struct dt_record *rec, *next_rec;
	u32 i;

	list_for_each_entry_safe(rec, next_rec, &dt->records, link)
		dt_record_free(rec);
	for (i = 0; i < dt->n_user; i++)
		dma_fence_put(dt->user[i]);
	KUNIT_EXPECT_TRUE(dt->test, dt_wait(dt, dt_zero(dt, &dt->fences)));
	if (!dt_zero(dt, &dt->fences)) {
		__module_get(THIS_MODULE);
		return;
	}
	list_for_each_entry_safe(queue, next_queue, &dt->queues, link)
		kfree(queue);
	list_for_each_entry_safe(engine, next_engine, &dt->engines, link)
		kfree(engine);
	kfree(dt);
}

/**
 * dt_exit - clean up after a case
 * @test: the case
 *
 * Context: a thread of its own, after that of the case has ended.
 */
void dt_exit(struct kunit *test)
{
	struct dt *dt = test->priv;
	const struct dt_backend *be;
	struct dt_engine *engine;

	if (!dt)
		return;
	be = dt->design->backend;
	if (!dt_zero(dt, &dt->n_threads)) {
		KUNIT_FAIL(test, "%u threads hang", dt->n_threads);
		__module_get(THIS_MODULE);
		return;
	}
	dt_release_all(dt);
	KUNIT_EXPECT_TRUE(test, dt_wait(dt, dt_zero(dt, &dt->n_queues)));
	if (!dt_zero(dt, &dt->jobs) || !dt_zero(dt, &dt->n_queues)) {
		KUNIT_FAIL(test, "%u jobs and %u queues are never released",
			   dt->jobs, dt->n_queues);
		__module_get(THIS_MODULE);
		return;
	}
	dt_check_end(dt);
	list_for_each_entry(engine, &dt->engines, link) {
		if (engine->live && be->engine_close)
			be->engine_close(engine);
		dt_hw_fini(engine);
	}
	be->close(dt);
	dt_free(dt);
}
