// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: jobs of the scenarios
 *
 * A job is prepared, which may fail, and then committed or aborted. The job
 * itself is freed when the design releases it; a record stays until the case
 * ends, so that scenarios can check what happened to the job.
 */

#include "depq_test.h"

/* Frees the allocations of dt_prepare(), except the design's job. */
static void dt_unprepare(struct dt_record *rec)
{
	struct dt *dt = rec->queue->dt;

	dma_fence_put(&rec->hw->base);
	dt_count(dt, &dt->jobs, -1);
}

/* Allocates memory for a job. Return: 0 or -ENOMEM, with everything undone. */
static int dt_alloc(struct dt *dt, struct dt_record *rec)
{
	rec->job = kzalloc(sizeof(*rec->job), GFP_KERNEL);
	rec->hw = dt_hw_fence(dt, rec);
	rec->deps = kcalloc(rec->args.n_deps + 1, sizeof(*rec->deps),
			    GFP_KERNEL);
	if (rec->job && rec->hw && rec->deps) {
		rec->job->rec = rec;
		dt_count(dt, &dt->jobs, 1);
		return 0;
	}
	kfree(rec->job);
	if (rec->hw)
		dma_fence_put(&rec->hw->base);
	kfree(rec->deps);
	return -ENOMEM;
}

/* Adds a dependency; the record keeps a reference. */
static int dt_add_dep(struct dt_record *rec, struct dma_fence *fence)
{
	const struct dt_backend *be = rec->queue->dt->design->backend;

	rec->deps[rec->n_deps++] = dma_fence_get(fence);
	return be->job_dep(rec, dma_fence_get(fence));
}

static int dt_add_deps(struct dt_record *rec)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < rec->args.n_deps; i++)
		ret = dt_add_dep(rec, rec->args.deps[i]->finished);
	if (!ret && rec->args.fence)
		ret = dt_add_dep(rec, rec->args.fence);
	return ret;
}

/**
 * dt_prepare - prepare a job
 * @queue: its queue
 * @args: its parameters; NULL for a job that the test completes
 *
 * Context: process, may sleep, also in threads of a scenario.
 * Return: its record, or the design's error.
 */
struct dt_record *dt_prepare(struct dt_queue *queue,
			     const struct dt_job_args *args)
{
	const struct dt_backend *be = queue->dt->design->backend;
	struct dt *dt = queue->dt;
	struct dt_record *rec = kzalloc(sizeof(*rec), GFP_KERNEL);
	int ret;

	if (!rec)
		return ERR_PTR(-ENOMEM);
	rec->queue = queue;
	if (args)
		rec->args = *args;
	if (!rec->args.credits)
		rec->args.credits = 1;
	ret = dt_alloc(dt, rec);
	if (ret) {
		kfree(rec);
		return ERR_PTR(ret);
	}
	ret = be->job_init(rec);
	if (ret) {
		kfree(rec->job);
		dt_unprepare(rec);
		goto err_free;
	}
	ret = dt_add_deps(rec);
	if (ret) {
		rec->state = DT_ABORTED;
		be->job_abort(rec);
		goto err_free;
	}
	rec->args.deps = NULL;
	spin_lock_irq(&dt->lock);
	list_add_tail(&rec->link, &dt->records);
	spin_unlock_irq(&dt->lock);
	return rec;

err_free:
	INIT_LIST_HEAD(&rec->link);
	dt_record_free(rec);
	return ERR_PTR(ret);
}

/**
 * dt_commit - submit a prepared job
 * @rec: the job
 *
 * Context: process, may sleep, also in threads of a scenario.
 */
void dt_commit(struct dt_record *rec)
{
	struct dt_queue *queue = rec->queue;

	mutex_lock(&queue->submit);
	rec->index = ++queue->jobs;
	queue->dt->design->backend->job_commit(rec);
	mutex_unlock(&queue->submit);
}

/**
 * dt_abort - discard a prepared job
 * @rec: the job
 *
 * Context: process, may sleep.
 */
void dt_abort(struct dt_record *rec)
{
	rec->state = DT_ABORTED;
	rec->queue->dt->design->backend->job_abort(rec);
}

/**
 * dt_try_submit - submit a job
 * @queue: its queue
 * @args: its parameters; NULL for a job that the test completes
 *
 * Context: process, may sleep, also in threads of a scenario.
 * Return: its record, or the design's error.
 */
struct dt_record *dt_try_submit(struct dt_queue *queue,
				const struct dt_job_args *args)
{
	struct dt_record *rec = dt_prepare(queue, args);

	if (!IS_ERR(rec))
		dt_commit(rec);
	return rec;
}

/**
 * dt_submit - submit a job, which must succeed
 * @queue: its queue
 * @args: its parameters; NULL for a job that the test completes
 *
 * Context: the case's thread.
 * Return: its record.
 */
struct dt_record *dt_submit(struct dt_queue *queue,
			    const struct dt_job_args *args)
{
	struct dt_record *rec = dt_try_submit(queue, args);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(queue->dt->test, rec);
	return rec;
}

/**
 * dt_submit_for - submit a job that takes some time
 * @queue: its queue
 * @duration_ns: its duration
 *
 * Context: the case's thread.
 * Return: its record.
 */
struct dt_record *dt_submit_for(struct dt_queue *queue, u64 duration_ns)
{
	struct dt_job_args args = { .duration_ns = duration_ns };

	return dt_submit(queue, &args);
}

/**
 * dt_record_free - free the record of a job
 * @rec: the job, which is released
 *
 * Context: process.
 */
void dt_record_free(struct dt_record *rec)
{
	u32 i;

	list_del(&rec->link);
	for (i = 0; i < rec->n_deps; i++)
		dma_fence_put(rec->deps[i]);
	dma_fence_put(rec->finished);
	kfree(rec->deps);
	kfree(rec);
}
