// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <uapi/linux/sched/types.h>

#include "follow.h"
#include "trace.h"

/**
 * DOC: follow workers
 *
 * A thread that is scheduled like whoever waits for it. Each job that its
 * submitter does not run itself carries a level (level.c), and the worker
 * has the most urgent level of all jobs in ready queues: those that wait only
 * for the worker (follow_count.c).
 *
 * The level is raised by the submission, before the worker is woken, even if
 * the worker is awake but waits for a CPU; or by the worker, if that is faster.
 * If a queue becomes ready later, by a dependency that signals, by a
 * completion that returns credits or by depq_queue_start(), it is raised at once
 * too. That may be in an interrupt or under locks, where the scheduler may not
 * be called; so the raiser is woken, a thread as urgent as any worker may become,
 * which raises the worker before anything less urgent runs. A
 * job with several dependencies raises the worker with each, since the worker
 * installs the callback of the next one.
 *
 * The level is lowered only by the worker, before the next job that it runs or
 * when it is idle. A level outlives the readiness of a queue by follow_linger_ms,
 * so that it does not go up and down with each job of a stream. The next job of
 * the same queue ends that, so that a submitter that has become less urgent is
 * served as such from its next job on; so does the end of the queue. Lingering
 * does not cover much work of others: once less urgent jobs have kept the worker
 * busy for %DEPQ_FOLLOW_OTHERS_NS, it ends for all queues.
 *
 * RLIMIT_RTTIME of a process limits the realtime work that workers do for it too
 * (owner.c). Other limits do not apply: the worker keeps its own affinity and stays
 * in the root control group, so neither the cpuset nor cpu.max of the submitter
 * limit it. A module cannot move it: kthread_associate_blkcg() charges block I/O
 * only, and cgroup_attach_task_all() skips the default hierarchy. An administrator
 * can move and bind it. A nice value weighs against the groups beside it, not
 * against their threads.
 *
 * &depq_follow.lock is the innermost lock of depq and is taken in any context;
 * &depq_follow.apply is taken in process context with interrupts on, where the
 * scheduler is called, and @lock inside it. @need changes under @lock, @target
 * under both, @applied under @apply. So whoever counts a level sees the level that
 * the worker was lowered to, or the worker sees the new level.
 *
 * Both locks are raw, @apply for two reasons. The worker takes it, and a lock
 * that sleeps on PREEMPT_RT would lend the worker the priority of a waiter,
 * even a deadline, while its own is being changed. And its holder is
 * not preempted: nobody waits longer than the scheduler takes to change one
 * thread, once per CPU, and no level remains unapplied because its holder
 * does not get to run.
 *
 * The scheduler may refuse: a thread that has inherited a deadline keeps its own
 * policy until it has given that back (sched_setattr() returns -EBUSY), and a worker
 * may inherit one through any lock that it shares with others: on PREEMPT_RT
 * that of a queue or of a fence, anywhere an rt_mutex that run_job() takes. Then
 * @target and @applied stay at what the thread has, so that the next caller
 * tries again, and so does the worker before it runs its next job. It holds no
 * lock there, and inherits nothing. If it is preempted before that, at its old
 * priority, the raiser tries again every %DEPQ_FOLLOW_RETRY_NS.
 */

/* Lingering ends after this much less urgent work. */
#define DEPQ_FOLLOW_OTHERS_NS	(200 * NSEC_PER_USEC)

/* When to ask the scheduler again. */
#define DEPQ_FOLLOW_RETRY_NS	(100 * NSEC_PER_USEC)

/* Raises workers where the caller cannot. */
static struct kthread_worker *depq_raiser;

/**
 * depq_follow_level() - get the level of a job that is submitted now
 * @worker: the worker that will run it
 *
 * Not under a contended lock, whose waiters might lend their priority.
 *
 * Context: process.
 * Return: the level, for depq_follow_append()
 */
u16 depq_follow_level(struct depq_worker *worker)
{
	return depq_level_of_submitter(worker->follow->min_nice);
}

/* Applies a level. Returns whether the thread has it now. */
static bool depq_follow_set(struct depq_follow *follow, u16 old, u16 level)
{
	struct task_struct *task = follow->worker->task;
	struct sched_attr attr = { .size = sizeof(attr) };
	int ret;

	lockdep_assert_held(&follow->apply);
	/* Set by the administrator. Changing it might sleep. */
	if (READ_ONCE(task->policy) == SCHED_DEADLINE)
		return false;
	depq_level_attr(level, &attr);
	trace_depq_worker_prio(task, &attr, level < old);
	ret = sched_setattr_nocheck(task, &attr);
	WARN_ON_ONCE(ret && ret != -EBUSY);
	return !ret;
}

/* Returns the level to apply if it is more urgent, or if lowering is allowed. */
static u16 depq_follow_aim(struct depq_follow *follow, bool less)
{
	u16 old = follow->target;
	u16 need;

	raw_spin_lock_irq(&follow->lock);
	need = follow->need;
	if (need > old && !less)
		need = old;
	follow->target = need;
	follow->raises += need < old;
	follow->lowers += need > old;
	raw_spin_unlock_irq(&follow->lock);
	return need;
}

/* The thread kept its level. Returns whether a more urgent one is lacking. */
static bool depq_follow_undo(struct depq_follow *follow, u16 old, u16 level)
{
	bool lacks;

	raw_spin_lock_irq(&follow->lock);
	follow->target = old;
	follow->raises -= level < old;
	follow->lowers -= level > old;
	lacks = level < old && !bitmap_empty(follow->levels, DEPQ_LEVELS);
	raw_spin_unlock_irq(&follow->lock);
	return lacks;
}

/* Applies the needed level if it is more urgent, or if lowering is allowed. */
static void depq_follow_apply(struct depq_follow *follow, bool less)
{
	bool retry = false;
	u16 level, old;

	lockdep_assert_irqs_enabled();
	raw_spin_lock(&follow->apply);
	old = follow->target;
	level = depq_follow_aim(follow, less);
	/* @apply serialises changes; setting the same level again takes time too. */
	if (level != old) {
		if (depq_follow_set(follow, old, level))
			WRITE_ONCE(follow->applied, level);
		else
			retry = depq_follow_undo(follow, old, level);
	}
	raw_spin_unlock(&follow->apply);
	if (retry)
		hrtimer_start(&follow->retry, ns_to_ktime(DEPQ_FOLLOW_RETRY_NS),
			      HRTIMER_MODE_REL_HARD);
}

/**
 * depq_follow_raise() - raise the worker to the needed level
 * @worker: the worker, after depq_follow_count()
 *
 * Does not wake it.
 *
 * Context: process, interrupts on, no lock held. Does not sleep itself.
 */
void depq_follow_raise(struct depq_worker *worker)
{
	depq_follow_apply(worker->follow, false);
}

/**
 * depq_follow_ask() - have the raiser raise the worker to the needed level
 * @follow: of the worker, after depq_follow_count()
 *
 * Context: any; the lock of the queue may be held.
 */
void depq_follow_ask(struct depq_follow *follow)
{
	/* If it is queued already, it will see the level. */
	kthread_queue_work(depq_raiser, &follow->raise);
}

static void depq_follow_raise_work(struct kthread_work *work)
{
	depq_follow_apply(container_of(work, struct depq_follow, raise), false);
}

/* In hard interrupts on PREEMPT_RT too, as the running thread may block others. */
static enum hrtimer_restart depq_follow_retry(struct hrtimer *timer)
{
	depq_follow_ask(container_of(timer, struct depq_follow, retry));
	return HRTIMER_NORESTART;
}

/* Returns for how long less urgent jobs have kept the worker busy. */
static u64 depq_follow_others(struct depq_follow *follow, u16 level)
{
	u64 now;

	if (level <= READ_ONCE(follow->applied)) {
		follow->others_ns = 0;
		follow->others_since = 0;
		return 0;
	}
	now = local_clock();
	if (follow->others_since)
		follow->others_ns += now - follow->others_since;
	follow->others_since = now;
	return follow->others_ns;
}

/**
 * depq_follow_is_off() - whether the worker's level must be settled
 * @queue: the queue whose next job it is about to run
 * @job: that job
 *
 * Context: the worker; the lock of the queue is held.
 * Return: whether to call depq_follow_settle() first
 */
bool depq_follow_is_off(struct depq_queue *queue, struct depq_job *job)
{
	struct depq_follow *follow = queue->worker->follow;

	lockdep_assert_held(&queue->lock);
	return depq_follow_others(follow, job->level) > DEPQ_FOLLOW_OTHERS_NS ||
	       READ_ONCE(follow->need) != READ_ONCE(follow->applied);
}

/**
 * depq_follow_settle() - set the worker to the needed level, up or down
 * @worker: the worker, which is the caller
 *
 * The level may still be too low afterwards, if the administrator has
 * given the worker a deadline.
 *
 * Context: process, interrupts on, no lock held. The caller may be preempted
 * at once.
 */
void depq_follow_settle(struct depq_worker *worker)
{
	struct depq_follow *follow = worker->follow;

	lockdep_assert_irqs_enabled();
	if (follow->others_ns > DEPQ_FOLLOW_OTHERS_NS) {
		depq_follow_unlinger_all(follow);
		follow->others_ns = 0;
	}
	depq_follow_apply(follow, true);
}

/**
 * depq_follow_is_realtime() - whether the worker has a realtime priority
 * @worker: the worker, which is the caller
 *
 * Context: process.
 * Return: whether it has, as far as set by following
 */
bool depq_follow_is_realtime(struct depq_worker *worker)
{
	return READ_ONCE(worker->follow->applied) < DEPQ_LEVEL_NICE;
}

/**
 * depq_follow_pause() - called before the worker turns to something else
 * @worker: the worker, which is the caller
 *
 * Context: process, interrupts on, no lock held.
 */
void depq_follow_pause(struct depq_worker *worker)
{
	struct depq_follow *follow = worker->follow;

	if (follow->others_since) {
		follow->others_ns += local_clock() - follow->others_since;
		follow->others_since = 0;
	}
	if (READ_ONCE(follow->need) != READ_ONCE(follow->applied))
		depq_follow_apply(follow, true);
}

static void depq_follow_relax_work(struct kthread_work *work)
{
	struct depq_follow *follow = container_of(work, struct depq_follow,
						  relax);

	depq_follow_apply(follow, true);
}

/**
 * depq_follow_read_stats() - read how often the level has changed
 * @worker: the worker
 * @stats: whose @raises and @lowers are filled in
 *
 * Context: any.
 */
void depq_follow_read_stats(struct depq_worker *worker,
			    struct depq_stats *stats)
{
	struct depq_follow *follow = worker->follow;
	unsigned long flags;

	raw_spin_lock_irqsave(&follow->lock, flags);
	stats->raises = follow->raises;
	stats->lowers = follow->lowers;
	raw_spin_unlock_irqrestore(&follow->lock, flags);
}

static int depq_follow_start(struct depq_worker *worker, const char *name)
{
	struct depq_follow *follow = kzalloc(sizeof(*follow),
					     GFP_KERNEL_ACCOUNT);
	int ret;

	if (!follow)
		return -ENOMEM;
	ret = depq_worker_kthread_ops.start(worker, name);
	if (ret) {
		kfree(follow);
		return ret;
	}
	follow->worker = worker->kthread;
	raw_spin_lock_init(&follow->lock);
	follow->need = DEPQ_LEVEL_IDLE;
	follow->target = DEPQ_LEVEL_IDLE;
	follow->applied = DEPQ_LEVEL_IDLE;
	INIT_LIST_HEAD(&follow->lingers);
	raw_spin_lock_init(&follow->apply);
	timer_setup(&follow->timer, depq_follow_timer, 0);
	kthread_init_work(&follow->relax, depq_follow_relax_work);
	kthread_init_work(&follow->raise, depq_follow_raise_work);
	hrtimer_setup(&follow->retry, depq_follow_retry, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_HARD);
	worker->follow = follow;
	return 0;
}

static int depq_follow_min_start(struct depq_worker *worker, const char *name)
{
	int ret = depq_follow_start(worker, name);

	if (!ret)
		worker->follow->min_nice = true;
	return ret;
}

static void depq_follow_stop(struct depq_worker *worker)
{
	struct depq_follow *follow = worker->follow;

	WARN_ON_ONCE(!list_empty(&follow->lingers));
	WARN_ON_ONCE(!bitmap_empty(follow->levels, DEPQ_LEVELS));
	/* It queues work for the thread, but does not restart itself. */
	timer_delete_sync(&follow->timer);
	/* A running one may have queued another; that one cannot. */
	kthread_cancel_work_sync(&follow->raise);
	hrtimer_cancel(&follow->retry);
	kthread_cancel_work_sync(&follow->raise);
	depq_worker_kthread_ops.stop(worker);
	kfree(follow);
}

/**
 * depq_follow_init() - start the raiser
 *
 * It is as urgent as follow_rt_max currently lets workers become.
 *
 * Context: process, may sleep.
 * Return:
 * * 0 - success
 * * -ENOMEM, -EINTR - it could not be started
 */
int depq_follow_init(void)
{
	struct sched_attr attr = { .size = sizeof(attr) };

	depq_raiser = kthread_run_worker(0, "depq-raise");
	if (IS_ERR(depq_raiser))
		return PTR_ERR(depq_raiser);
	depq_level_attr(depq_level_highest(), &attr);
	WARN_ON_ONCE(sched_setattr_nocheck(depq_raiser->task, &attr));
	return 0;
}

/**
 * depq_follow_exit() - undo depq_follow_init()
 *
 * Context: process, may sleep; no worker exists.
 */
void depq_follow_exit(void)
{
	kthread_destroy_worker(depq_raiser);
}

/* Queues are handed to the thread as for any other kthread worker. */

/* DEPQ_WORKER_FOLLOW */
const struct depq_worker_ops depq_worker_follow_ops = {
	.start = depq_follow_start,
	.stop = depq_follow_stop,
	.prepare = depq_worker_kthread_prepare,
	.kick = depq_worker_kthread_kick,
};

/* DEPQ_WORKER_FOLLOW_MIN */
const struct depq_worker_ops depq_worker_follow_min_ops = {
	.start = depq_follow_min_start,
	.stop = depq_follow_stop,
	.prepare = depq_worker_kthread_prepare,
	.kick = depq_worker_kthread_kick,
};
