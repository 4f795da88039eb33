// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simsched
 *
 * A driver that uses drm_sched as several drivers do and simgpu does not: it
 * ends entities that have jobs, and moves entities to other schedulers. It
 * reproduces bugs of drm_sched that have been fixed.
 *
 *	insmod simsched.ko what=kill
 *	echo 1 > /sys/kernel/debug/simsched/run
 *
 * A write to run makes attempts. With what=kill, job A of one entity waits for
 * two fences with one lock, job B of another for A. The first entity ends at a
 * drawn time, mostly when A has ended. B must end, and all fences must be
 * freed. With what=rebind, one thread arms a job while another gives its entity
 * two schedulers instead of one: it must have both.
 */

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/dma-fence.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "../compat/compat.h"
#include "../compat/drm_sched.h"

#define SIMSCHED_SCHEDULERS	2
#define SIMSCHED_CREDITS	16
/* How long the engine takes for a job. */
#define SIMSCHED_JOB_NS		3000
/* Fences from outside signal within this time. */
#define SIMSCHED_OUTSIDE_NS	40000
/* The most iterations of two instructions between the starts of threads. */
#define SIMSCHED_APART_TURNS	250
#define SIMSCHED_SPREAD_MAX_US	1000000
/* A job that should end, but has not after this time, is stuck. */
#define SIMSCHED_PATIENCE	msecs_to_jiffies(200)

static char *what = "kill";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "kill (default) or rebind");

static unsigned int attempts = 20;
module_param(attempts, uint, 0444);
MODULE_PARM_DESC(attempts, "attempts in a run (default 20)");

static unsigned int spread_us = 20000;
module_param(spread_us, uint, 0444);
MODULE_PARM_DESC(spread_us, "the other thread acts within this time (default 20000)");

/**
 * struct simsched_fence - a fence of the engine
 * @base: the fence; all have one lock, as those of a ring
 * @timer: signals it
 */
struct simsched_fence {
	struct dma_fence base;
	struct hrtimer timer;
};

static struct drm_gpu_scheduler simsched_schedulers[SIMSCHED_SCHEDULERS];
static struct drm_gpu_scheduler *simsched_list[SIMSCHED_SCHEDULERS];
static struct workqueue_struct *simsched_wq;
static struct dentry *simsched_dir;
/* The attempt that the parameter what selects. */
static int (*simsched_attempt)(void);

/* Protects the fences. */
static DEFINE_SPINLOCK(simsched_fence_lock);
static u64 simsched_context;
static atomic_t simsched_seqno = ATOMIC_INIT(0);
static atomic_t simsched_fences = ATOMIC_INIT(0);

/* Protects a run. */
static DEFINE_MUTEX(simsched_lock);
/* The entities of an attempt. */
static struct drm_sched_entity simsched_first, simsched_second;

static u32 simsched_draw(u32 below)
{
	return mul_u32_u32(get_random_u32(), below) >> 32;
}

static const char *simsched_fence_name(struct dma_fence *fence)
{
	return "simsched";
}

static void simsched_fence_release(struct dma_fence *fence)
{
	atomic_dec(&simsched_fences);
	dma_fence_free(fence);
}

static const struct dma_fence_ops simsched_fence_ops = {
	.get_driver_name = simsched_fence_name,
	.get_timeline_name = simsched_fence_name,
	.release = simsched_fence_release,
};

/* Context: hard interrupt. */
static enum hrtimer_restart simsched_fence_expire(struct hrtimer *timer)
{
	struct simsched_fence *fence;

	fence = container_of(timer, struct simsched_fence, timer);
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
	return HRTIMER_NORESTART;
}

/* Returns a fence of one of two contexts that signals after a time, or NULL. */
static struct dma_fence *simsched_fence_after(u32 ns, unsigned int context)
{
	struct simsched_fence *fence = kzalloc(sizeof(*fence), GFP_KERNEL);

	if (!fence)
		return NULL;
	atomic_inc(&simsched_fences);
	dma_fence_init(&fence->base, &simsched_fence_ops, &simsched_fence_lock,
		       simsched_context + context,
		       atomic_inc_return(&simsched_seqno));
	hrtimer_setup(&fence->timer, simsched_fence_expire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	dma_fence_get(&fence->base);
	hrtimer_start(&fence->timer, ns_to_ktime(ns), HRTIMER_MODE_REL_HARD);
	return &fence->base;
}

static struct dma_fence *simsched_run_job(struct drm_sched_job *job)
{
	struct dma_fence *fence = simsched_fence_after(SIMSCHED_JOB_NS, 0);

	return fence ?: ERR_PTR(-ENOMEM);
}

static enum drm_gpu_sched_stat simsched_timedout_job(struct drm_sched_job *job)
{
	return COMPAT_SCHED_RESET;
}

static void simsched_free_job(struct drm_sched_job *job)
{
	drm_sched_job_cleanup(job);
	kfree(job);
}

static const struct drm_sched_backend_ops simsched_ops = {
	.run_job = simsched_run_job,
	.timedout_job = simsched_timedout_job,
	.free_job = simsched_free_job,
};

/*
 * Returns the finished fence of a new job that waits for fences, which are put, or
 * an error.
 */
static struct dma_fence *simsched_submit(struct drm_sched_entity *entity,
					 struct dma_fence **fences, size_t n)
{
	struct drm_sched_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	struct dma_fence *finished;
	size_t i;
	int ret;

	ret = job ? compat_sched_job_init(job, entity, 1) : -ENOMEM;
	for (i = 0; i < n; i++) {
		if (ret)
			dma_fence_put(fences[i]);
		else
			ret = drm_sched_job_add_dependency(job, fences[i]);
	}
	if (ret) {
		kfree(job);
		return ERR_PTR(ret);
	}
	drm_sched_job_arm(job);
	finished = dma_fence_get(&job->s_fence->finished);
	drm_sched_entity_push_job(job);
	return finished;
}

/* Waits for a fence and puts it. Returns whether it has signalled. */
static bool simsched_ends(struct dma_fence *fence)
{
	bool ended = dma_fence_wait_timeout(fence, false, SIMSCHED_PATIENCE) > 0;

	dma_fence_put(fence);
	return ended;
}

/* Sleeps until a random time, then spins until another. */
static void simsched_sleep(void)
{
	u32 ns = simsched_draw(spread_us * NSEC_PER_USEC);
	ktime_t end = ktime_add_ns(ktime_get(), ns);
	u32 turns = simsched_draw(SIMSCHED_APART_TURNS);

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&end, HRTIMER_MODE_ABS);
	while (turns--)
		barrier();
}

static int simsched_entity_init(struct drm_sched_entity *entity)
{
	return drm_sched_entity_init(entity, DRM_SCHED_PRIORITY_NORMAL,
				     simsched_list, 1, NULL);
}

/* The work of the other CPU in an attempt. */
static struct work_struct simsched_other;

static void simsched_begin_other(work_func_t function)
{
	INIT_WORK(&simsched_other, function);
	queue_work_on(cpumask_last(cpu_online_mask), simsched_wq,
		      &simsched_other);
}

static void simsched_kill(struct work_struct *work)
{
	simsched_sleep();
	drm_sched_entity_fini(&simsched_first);
}

/* Returns 0 if the first entity has had a job, and has one that waits. */
static int simsched_submit_both(struct dma_fence **last)
{
	struct dma_fence *fences[2], *fence;

	fence = simsched_submit(&simsched_first, NULL, 0);
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	simsched_ends(fence);
	/* Of two fences of one context, only the later is waited for. */
	fences[0] = simsched_fence_after(simsched_draw(SIMSCHED_OUTSIDE_NS), 0);
	fences[1] = simsched_fence_after(simsched_draw(SIMSCHED_OUTSIDE_NS), 1);
	if (!fences[0] || !fences[1]) {
		dma_fence_put(fences[0]);
		dma_fence_put(fences[1]);
		return -ENOMEM;
	}
	fence = simsched_submit(&simsched_first, fences, 2);
	if (IS_ERR(fence))
		return PTR_ERR(fence);
	*last = simsched_submit(&simsched_second, &fence, 1);
	return PTR_ERR_OR_ZERO(*last);
}

static int simsched_attempt_kill(void)
{
	struct dma_fence *last;
	int ret;

	ret = simsched_entity_init(&simsched_first);
	if (ret)
		return ret;
	ret = simsched_entity_init(&simsched_second);
	if (ret)
		return ret;
	ret = simsched_submit_both(&last);
	simsched_begin_other(simsched_kill);
	flush_work(&simsched_other);
	if (!ret)
		WARN_ONCE(!simsched_ends(last),
			  "simsched: a job never ends that waited for a killed one\n");
	drm_sched_entity_fini(&simsched_second);
	return ret;
}

static void simsched_rebind(struct work_struct *work)
{
	simsched_sleep();
	drm_sched_entity_modify_sched(&simsched_first, simsched_list, 2);
}

static int simsched_attempt_rebind(void)
{
	struct dma_fence *fence;
	int ret;

	ret = simsched_entity_init(&simsched_first);
	if (ret)
		return ret;
	/* Of one scheduler drm_sched remembers no list unless it is told again. */
	drm_sched_entity_modify_sched(&simsched_first, simsched_list, 1);
	simsched_begin_other(simsched_rebind);
	simsched_sleep();
	fence = simsched_submit(&simsched_first, NULL, 0);
	flush_work(&simsched_other);
	WARN_ONCE(!simsched_first.sched_list,
		  "simsched: an entity has lost its list of schedulers\n");
	if (!IS_ERR(fence))
		simsched_ends(fence);
	drm_sched_entity_fini(&simsched_first);
	return PTR_ERR_OR_ZERO(fence);
}

/* Fences are freed by RCU, and with them those that they refer to. */
static void simsched_check_fences(void)
{
	int i;

	for (i = 0; i < 3; i++)
		rcu_barrier();
	WARN_ONCE(atomic_read(&simsched_fences), "simsched: a fence is never freed\n");
}

static int simsched_run(void *data, u64 value)
{
	unsigned int i;
	int ret = 0;

	if (mutex_lock_killable(&simsched_lock))
		return -EINTR;
	for (i = 0; !ret && i < attempts; i++)
		ret = simsched_attempt();
	if (!ret)
		simsched_check_fences();
	mutex_unlock(&simsched_lock);
	return ret;
}

DEFINE_DEBUGFS_ATTRIBUTE(simsched_run_fops, NULL, simsched_run, "%llu\n");

static void simsched_fini(unsigned int n)
{
	while (n--)
		drm_sched_fini(simsched_list[n]);
	destroy_workqueue(simsched_wq);
}

static int __init simsched_init(void)
{
	const struct compat_sched_args args = {
		.ops = &simsched_ops,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = SIMSCHED_CREDITS,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = "simsched",
	};
	unsigned int i;

	if (sysfs_streq(what, "kill"))
		simsched_attempt = simsched_attempt_kill;
	else if (sysfs_streq(what, "rebind"))
		simsched_attempt = simsched_attempt_rebind;
	if (!simsched_attempt || spread_us > SIMSCHED_SPREAD_MAX_US) {
		pr_err("simsched: what: neither kill nor rebind, or spread_us: more than a second\n");
		return -EINVAL;
	}
	simsched_wq = alloc_workqueue("simsched", WQ_PERCPU, 0);
	if (!simsched_wq)
		return -ENOMEM;
	simsched_context = dma_fence_context_alloc(2);
	for (i = 0; i < SIMSCHED_SCHEDULERS; i++) {
		int ret = compat_sched_init(&simsched_schedulers[i], &args);

		if (ret) {
			simsched_fini(i);
			return ret;
		}
		simsched_list[i] = &simsched_schedulers[i];
	}
	simsched_dir = debugfs_create_dir("simsched", NULL);
	debugfs_create_file_unsafe("run", 0200, simsched_dir, NULL,
				   &simsched_run_fops);
	return 0;
}

static void __exit simsched_exit(void)
{
	debugfs_remove(simsched_dir);
	simsched_fini(SIMSCHED_SCHEDULERS);
	/* RCU callbacks that free fences are code of this module. */
	rcu_barrier();
}

module_init(simsched_init);
module_exit(simsched_exit);

MODULE_DESCRIPTION("Uses of drm_sched that have failed");
MODULE_LICENSE("GPL");
