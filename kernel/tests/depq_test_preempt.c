// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: threads that are preempted while they signal
 *
 * A thread of ordinary priority completes a job, and is preempted in
 * the middle of that by a realtime thread that has nothing to do
 * with the queue. A second job is then completed by a thread that is more urgent
 * than both. Its finished fence must not have to wait for the first thread, which
 * only runs again when the thread in between lets it.
 */

#include <linux/delay.h>
#include <linux/sched.h>
#include <uapi/linux/sched/types.h>

#include "depq_test_suites.h"

/* The longest time that the thread in between keeps the CPU. */
#define HOG_NS	(300 * NSEC_PER_MSEC)

/**
 * struct preempt - state shared by the threads
 * @jobs: the first, whose signal is interrupted, and the second
 * @cb: on the finished fence of the first
 * @begin: the thread in between may take the CPU
 * @taken: it has it
 * @signalled_ns: from the completion of the second job to its signal
 * @waited_ns: how long the thread in between kept the CPU
 * @gave_up: the second job had not signalled by then
 */
struct preempt {
	struct dt_record *jobs[2];
	struct dma_fence_cb cb;
	struct completion begin;
	struct completion taken;
	u64 signalled_ns;
	u64 waited_ns;
	bool gave_up;
};

static void become_fifo(u32 priority)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_FIFO,
		.sched_priority = priority,
	};

	WARN_ON_ONCE(sched_setattr_nocheck(current, &attr));
}

/* The first job is signalling, on the CPU of the thread in between. */
static void first_signals(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	complete(&container_of(cb, struct preempt, cb)->begin);
}

/* Completes the first job: on the first CPU. */
static void ordinary(struct preempt *p)
{
	dma_fence_signal(&p->jobs[0]->hw->base);
}

/* Completes the second job: on the second CPU, if there is one. */
static void victim(struct preempt *p)
{
	u64 begin;

	become_fifo(60);
	wait_for_completion_timeout(&p->taken, DT_PATIENCE);
	begin = ktime_get_ns();
	dma_fence_signal(&p->jobs[1]->hw->base);
	while (!dt_signalled(p->jobs[1]) && !READ_ONCE(p->gave_up))
		usleep_range(50, 100);
	p->signalled_ns = ktime_get_ns() - begin;
}

/* On the first CPU. */
static void in_between(struct preempt *p)
{
	u64 begin;

	become_fifo(50);
	wait_for_completion_timeout(&p->begin, DT_PATIENCE);
	begin = ktime_get_ns();
	complete(&p->taken);
	while (!dt_signalled(p->jobs[1])) {
		if (ktime_get_ns() - begin > HOG_NS) {
			WRITE_ONCE(p->gave_up, true);
			break;
		}
		/* For the victim, where the kernel is not preempted and has one CPU. */
		cond_resched();
	}
	p->waited_ns = ktime_get_ns() - begin;
}

static void preempt_thread(struct dt_thread *thread)
{
	static void (*const roles[])(struct preempt *p) = {
		ordinary, victim, in_between,
	};

	/* Threads are bound to two CPUs in turn; the other two wait by then. */
	if (!thread->index)
		usleep_range(2000, 3000);
	roles[thread->index](thread->data);
}

/* A more urgent completion does not wait for a thread that was preempted. */
static void preempted_signaller(struct kunit *test)
{
	struct dt_job_args args = { .fault = DT_HANG };
	struct dt *dt = test->priv;
	struct dt_queue *queue;
	struct dt_thread *threads;
	struct preempt p = { };
	int i;

	if (dt->design->backend == &dt_drm)
		kunit_skip(test, "drm_sched signals each job in its own callback");
	/* Bound to the first CPU and to the second in turn. */
	if (num_online_cpus() > 2)
		kunit_skip(test, "one or two CPUs are needed");
	queue = dt_queue(dt);
	init_completion(&p.begin);
	init_completion(&p.taken);
	for (i = 0; i < 2; i++)
		p.jobs[i] = dt_submit(queue, &args);
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(p.jobs[0])));
	KUNIT_ASSERT_TRUE(test, dt_wait(dt, dt_ran(p.jobs[1])));
	KUNIT_ASSERT_EQ(test, dma_fence_add_callback(p.jobs[0]->finished, &p.cb,
						     first_signals), 0);
	threads = dt_threads(dt, 3, preempt_thread, &p);
	dt_threads_start(threads);
	dt_threads_join(threads);
	KUNIT_EXPECT_FALSE(test, p.gave_up);
	kunit_info(test, "signalled after %llu ns, CPU taken for %llu ns\n",
		   p.signalled_ns, p.waited_ns);
	dt_hw_flush(queue->engine);
	dt_settle(dt);
}

static struct kunit_case preemptions[] = {
	DT_CASE(preempted_signaller),
	{ }
};

DT_SUITE(dt_preempt_suite, preemptions);
