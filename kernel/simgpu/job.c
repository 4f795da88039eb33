// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: jobs
 *
 * A job is the common state of both designs and the engine for one job. It holds
 * a reference to its context and to its engine fence, and nothing else.
 *
 * ==========  =============  ==========================  ====================
 * state       owner          references held             ends with
 * ==========  =============  ==========================  ====================
 * allocated   submitter      context, engine fence       simgpu_job_free()
 * prepared    submitter      the same                    back end's job_abort
 * committed   queue, engine  the same                    back end's release
 * ==========  =============  ==========================  ====================
 *
 * &simgpu_job.slot is set when the job is committed, and never before.
 */

#include <linux/slab.h>

#include "file.h"

static struct kmem_cache *simgpu_job_cache;

/**
 * simgpu_job_init() - create the cache of jobs
 *
 * Context: process, sleeps.
 * Return: 0 or -ENOMEM.
 */
int simgpu_job_init(void)
{
	/* The user decides how many there are, so the user is charged. */
	simgpu_job_cache = KMEM_CACHE(simgpu_job,
				      SLAB_ACCOUNT | SLAB_HWCACHE_ALIGN);
	return simgpu_job_cache ? 0 : -ENOMEM;
}

/**
 * simgpu_job_exit() - undo simgpu_job_init(); all jobs are freed
 *
 * Context: process, sleeps.
 */
void simgpu_job_exit(void)
{
	kmem_cache_destroy(simgpu_job_cache);
}

/**
 * simgpu_job_alloc() - allocate a job
 * @context: its context; the job takes a reference
 *
 * Context: process, sleeps.
 * Return: the job, zeroed except for its context, or NULL.
 */
struct simgpu_job *simgpu_job_alloc(struct simgpu_context *context)
{
	struct simgpu_job *job;

	job = kmem_cache_zalloc(simgpu_job_cache, GFP_KERNEL);
	if (!job)
		return NULL;
	INIT_LIST_HEAD(&job->link);
	job->context = simgpu_context_get(context);
	atomic_inc(&context->dev->jobs);
	return job;
}

static void job_destroy(struct simgpu_job *job)
{
	struct simgpu_context *context = job->context;

	WARN_ON_ONCE(READ_ONCE(job->on_engine));
	if (job->slot) {
		simgpu_burn(context->args.free_cost_ns);
		atomic64_inc(&context->released);
	}
	if (job->hw)
		dma_fence_put(&job->hw->base);
	atomic_dec(&context->dev->jobs);
	kmem_cache_free(simgpu_job_cache, job);
	simgpu_context_put(context);
}

static void job_destroy_sleeping(struct simgpu_job *job)
{
	struct simgpu_device *dev = job->context->dev;

	might_sleep();
	mutex_lock(&dev->free_mutex);
	job_destroy(job);
	mutex_unlock(&dev->free_mutex);
}

/**
 * simgpu_job_free_work() - free jobs that a completion could not free
 * @work: &simgpu_device.free_work
 *
 * Context: process, sleeps.
 */
void simgpu_job_free_work(struct work_struct *work)
{
	struct simgpu_device *dev = container_of(work, struct simgpu_device,
						 free_work);
	struct llist_node *jobs = llist_del_all(&dev->free_jobs);
	struct simgpu_job *job, *next;

	jobs = llist_reverse_order(jobs);
	llist_for_each_entry_safe(job, next, jobs, free_link)
		job_destroy_sleeping(job);
}

/* Whether the jobs of a context are freed in completions. */
static bool job_freed_in_completion(const struct simgpu_context *context)
{
	return context->args.design == SIMGPU_DESIGN_NONE ||
	       (context->args.design == SIMGPU_DESIGN_DEPQ &&
		context->args.put == SIMGPU_PUT_IRQ);
}

/**
 * simgpu_job_free() - free a job
 * @job: the job, which no queue and no engine refers to any more
 *
 * With %SIMGPU_CREATE_FREE_SLEEPS, possibly later, in a work item.
 *
 * The reference to the context is never the last one where that matters: the
 * back end holds one until all jobs of the context were passed to this function.
 *
 * Context: any, hard interrupts included; but process with
 * %SIMGPU_CREATE_FREE_SLEEPS if the design does not free jobs in completions.
 */
void simgpu_job_free(struct simgpu_job *job)
{
	struct simgpu_device *dev = job->context->dev;

	if (!(job->context->args.flags & SIMGPU_CREATE_FREE_SLEEPS)) {
		job_destroy(job);
	} else if (job_freed_in_completion(job->context)) {
		if (llist_add(&job->free_link, &dev->free_jobs))
			queue_work(dev->teardown_wq, &dev->free_work);
	} else {
		job_destroy_sleeping(job);
	}
}
