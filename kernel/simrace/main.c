// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simrace
 *
 * Intentional races, each with its fix: ground truth for tools that find races.
 * Each race has a file with the mistake and the check that detects it.
 *
 *	insmod simrace.ko race=lost-update
 *	echo 1 > /sys/kernel/debug/simrace/run
 *
 * A write to run makes attempts at the race and returns when all are complete.
 * In each, the threads of the race wake at random times, do their part once,
 * and sleep again. With fixed=1 they do the same without the mistake.
 *
 * The windows are narrow: of a hundred runs with random timing a few fail, with
 * some races none. A thread that hangs is left alone: the run may be killed,
 * and run gives -EBUSY from then on.
 *
 * State of a run, all under simrace_lock except @left:
 *
 *	state	  threads	  exits
 *	idle	  none		  a write to run; exit
 *	running	  sleep or race	  all parts return: idle. A kill: stuck
 *	stuck	  some never end  none; they hold a reference to the module
 */

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "simrace.h"

/* Time from the release of an attempt to the earliest start of a part. */
#define SIMRACE_LEAD_NS		20000
/*
 * Maximum number of loop iterations, of two instructions, before a part. They
 * separate threads, which are in step where a machine orders their clock reads.
 */
#define SIMRACE_APART_TURNS	250
#define SIMRACE_ATTEMPTS_MAX	1000000

static const struct simrace_race * const simrace_races[] = {
	&simrace_lost_update,
	&simrace_check_then_act,
	&simrace_late_callback,
	&simrace_double_put,
	&simrace_missed_wakeup,
	&simrace_abba,
	&simrace_sleep_in_rcu,
	&simrace_no_barrier,
	&simrace_three_threads,
	&simrace_short_grace,
	&simrace_failed_alloc,
	&simrace_four_cpus,
};

static char *race = "lost-update";
module_param(race, charp, 0444);
MODULE_PARM_DESC(race, "which race: lost-update (default), check-then-act, late-callback, double-put, missed-wakeup, abba, sleep-in-rcu, no-barrier, three-threads, short-grace, failed-alloc, four-cpus");

static bool fixed;
module_param(fixed, bool, 0444);
MODULE_PARM_DESC(fixed, "without the mistake (default 0)");

static unsigned int attempts = 40;
module_param(attempts, uint, 0444);
MODULE_PARM_DESC(attempts, "attempts in a run (default 40)");

static unsigned int fail;
module_param(fail, uint, 0444);
MODULE_PARM_DESC(fail, "failed-alloc: one of so many allocations fails (default 0: none)");

/**
 * struct simrace_thread - a thread of a race
 * @task: the thread
 * @part: what it does in each attempt
 */
struct simrace_thread {
	struct task_struct *task;
	const struct simrace_part *part;
};

static const struct simrace_race *simrace_race;
static struct dentry *simrace_dir;

/* Protects what follows; what running threads read was written before. */
static DEFINE_MUTEX(simrace_lock);
static struct simrace_thread simrace_threads[SIMRACE_PARTS_MAX];
static bool simrace_stuck;
/* Number of the attempt that threads may make, and when it begins. */
static unsigned int simrace_attempt;
static ktime_t simrace_begin;
/* Parts of the attempt that have not returned. */
static atomic_t simrace_left;
static DECLARE_WAIT_QUEUE_HEAD(simrace_go);
static DECLARE_WAIT_QUEUE_HEAD(simrace_over);

/**
 * simrace_fixed() - whether races must not fail
 *
 * Context: any.
 * Return: the module's parameter fixed.
 */
bool simrace_fixed(void)
{
	return fixed;
}

/**
 * simrace_draw() - draw a random number
 * @below: limit of the number
 *
 * Context: any.
 * Return: a number below @below, or 0.
 */
u32 simrace_draw(u32 below)
{
	return mul_u32_u32(get_random_u32(), below) >> 32;
}

/**
 * simrace_allocation_fails() - whether an allocation is to fail on purpose
 *
 * Context: any.
 * Return: true at random, once in as many calls as the parameter fail says.
 */
bool simrace_allocation_fails(void)
{
	return fail && !simrace_draw(fail);
}

/**
 * simrace_cpu() - the CPU of a part
 * @part: number of the part
 *
 * Context: any.
 * Return: number of the CPU to which its thread is bound.
 */
unsigned int simrace_cpu(unsigned int part)
{
	return cpumask_nth(part % num_online_cpus(), cpu_online_mask);
}

/**
 * simrace_task() - the thread of a part
 * @part: number of the part
 *
 * Context: while attempts are made.
 * Return: the thread, which is there until the end of the run.
 */
struct task_struct *simrace_task(unsigned int part)
{
	return simrace_threads[part].task;
}

static void simrace_sleep_until(ktime_t end)
{
	/* Another part may wake this one before the time. */
	do {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout(&end, HRTIMER_MODE_ABS);
	} while (ktime_before(ktime_get(), end));
}

/**
 * simrace_sleep() - sleep for a time
 * @ns: how long at least
 *
 * Context: a part; sleeps.
 */
void simrace_sleep(u32 ns)
{
	simrace_sleep_until(ktime_add_ns(ktime_get(), ns));
}

static int simrace_thread(void *data)
{
	struct simrace_thread *thread = data;
	unsigned int made = 0;

	for (;;) {
		wait_event_idle(simrace_go,
				READ_ONCE(simrace_attempt) != made ||
				kthread_should_stop());
		if (kthread_should_stop())
			return 0;
		/* Pairs with the release of the attempt, for when it begins. */
		made = smp_load_acquire(&simrace_attempt);
		simrace_sleep_until(ktime_add_ns(simrace_begin,
						 simrace_draw(simrace_race->spread_ns)));
		simrace_spend(simrace_draw(SIMRACE_APART_TURNS));
		thread->part->run();
		if (atomic_dec_and_test(&simrace_left))
			wake_up(&simrace_over);
	}
}

/* Returns 0, or -EINTR if a kill came before all parts returned. */
static int simrace_make_attempt(void)
{
	int ret = simrace_race->prepare ? simrace_race->prepare() : 0;

	if (ret)
		return ret;
	atomic_set(&simrace_left, simrace_race->parts);
	simrace_begin = ktime_add_ns(ktime_get(), SIMRACE_LEAD_NS);
	/* Pairs with the acquire in a thread: what was set up is seen. */
	smp_store_release(&simrace_attempt, simrace_attempt + 1);
	wake_up_all(&simrace_go);
	if (wait_event_killable(simrace_over, !atomic_read(&simrace_left))) {
		simrace_stuck = true;
		__module_get(THIS_MODULE);
		return -EINTR;
	}
	if (simrace_race->check)
		simrace_race->check();
	return 0;
}

static void simrace_end_threads(void)
{
	unsigned int i;

	for (i = 0; i < simrace_race->parts; i++) {
		if (simrace_threads[i].task)
			kthread_stop(simrace_threads[i].task);
		simrace_threads[i].task = NULL;
	}
}

static int simrace_begin_threads(void)
{
	unsigned int i;

	simrace_attempt = 0;
	for (i = 0; i < simrace_race->parts; i++) {
		struct simrace_thread *thread = &simrace_threads[i];
		struct task_struct *task;

		task = kthread_create(simrace_thread, thread, "simrace/%u", i);
		if (IS_ERR(task))
			return PTR_ERR(task);
		thread->part = &simrace_race->part[i];
		thread->task = task;
		kthread_bind(task, simrace_cpu(i));
		wake_up_process(task);
	}
	return 0;
}

static int simrace_run(void *data, u64 value)
{
	unsigned int i;
	int ret;

	if (mutex_lock_killable(&simrace_lock))
		return -EINTR;
	ret = simrace_stuck ? -EBUSY : simrace_begin_threads();
	for (i = 0; !ret && i < attempts; i++)
		ret = simrace_make_attempt();
	if (!simrace_stuck)
		simrace_end_threads();
	mutex_unlock(&simrace_lock);
	return ret;
}

DEFINE_DEBUGFS_ATTRIBUTE(simrace_run_fops, NULL, simrace_run, "%llu\n");

static int __init simrace_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(simrace_races); i++) {
		if (sysfs_streq(simrace_races[i]->name, race))
			simrace_race = simrace_races[i];
	}
	if (!simrace_race) {
		pr_err("simrace: race: there is no %s\n", race);
		return -EINVAL;
	}
	if (!attempts || attempts > SIMRACE_ATTEMPTS_MAX) {
		pr_err("simrace: attempts: not 1 to 1000000\n");
		return -EINVAL;
	}
	simrace_dir = debugfs_create_dir("simrace", NULL);
	debugfs_create_file_unsafe("run", 0200, simrace_dir, NULL,
				   &simrace_run_fops);
	return 0;
}

static void __exit simrace_exit(void)
{
	debugfs_remove(simrace_dir);
}

module_init(simrace_init);
module_exit(simrace_exit);

MODULE_DESCRIPTION("Races on purpose, each with its fix");
MODULE_LICENSE("GPL");
