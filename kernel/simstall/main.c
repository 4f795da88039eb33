// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simstall
 *
 * Plants stalls of known length at known times: ground truth for stall detectors.
 * One CPU is taken away for a while, again and again, either by a system
 * management interrupt, which is invisible to the kernel, or by a timer
 * interrupt that keeps interrupts off.
 *
 *	insmod simstall.ko kind=smi cpu=0 length_ns=2000,20000 \
 *		period_ns=250000000 jitter_ns=50000000
 *	echo 7 > /sys/kernel/debug/simstall/start
 *	cat /sys/kernel/debug/simstall/log
 *	echo 1 > /sys/kernel/debug/simstall/stop
 *
 * Writing a seed to start begins planting. The seed determines the length of each
 * stall, one of the given ones, and its distance from the previous one: a period,
 * plus or minus the jitter. The first comes that long after the start.
 *
 * A stall is a counted loop, so on a machine whose clock counts instructions its
 * length is as planned; odd lengths are a nanosecond less. The code that stalls
 * reads its begin and end from the time-stamp counter. log lists the begin, length
 * and planned length of each, the first two in cycles, the last
 * in nanoseconds. The first line has the frequency of the counter, and the values
 * of the counter and of CLOCK_MONOTONIC when log was read.
 *
 * States, all under simstall_lock:
 *
 *	state	  calls allowed	 control	exits
 *	idle	  start, log	 is main's	start to planting; exit
 *	planting  stop, log	 is the kind's	stop to idle; exit by way of stop
 */

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/timex.h>

#include <asm/processor.h>
#include <asm/tsc.h>

#include "handler.h"
#include "simstall.h"

#define SIMSTALL_LENGTHS	16
#define SIMSTALL_COUNT_MAX	100000
#define SIMSTALL_PERIOD_MAX_NS	3600000000000ULL
/* The shortest setting of the timer. */
#define SIMSTALL_TICKS_MIN	8

static char *kind = "smi";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "smi or irqs-off (default smi)");

static unsigned int cpu;
module_param(cpu, uint, 0444);
MODULE_PARM_DESC(cpu, "the CPU that is stalled (default 0)");

static unsigned int length_ns[SIMSTALL_LENGTHS];
static unsigned int n_lengths;
module_param_array(length_ns, uint, &n_lengths, 0444);
MODULE_PARM_DESC(length_ns, "lengths to draw from, 100 ns to 100 ms; at most 16");

static unsigned long period_ns;
module_param(period_ns, ulong, 0444);
MODULE_PARM_DESC(period_ns, "from one stall to the next");

static unsigned long jitter_ns;
module_param(jitter_ns, ulong, 0444);
MODULE_PARM_DESC(jitter_ns, "at most so much less or more (default 0)");

static unsigned int count = 4096;
module_param(count, uint, 0444);
MODULE_PARM_DESC(count, "stalls that are planted at most (default 4096)");

static DEFINE_MUTEX(simstall_lock);
static const struct simstall_kind *simstall_kind;
static struct simstall_control *simstall_control;
static unsigned int simstall_order;
static struct dentry *simstall_dir;
/* Whether stalls are being planted. */
static bool simstall_planting;

static u64 simstall_draw(struct rnd_state *state, u64 below)
{
	u64 high = prandom_u32_state(state);
	u64 word = high << 32 | prandom_u32_state(state);

	return mul_u64_u64_shr(word, below, 64);
}

/*
 * Plans all stalls. The timer is set when a stall ends; rounding errors of its
 * ticks are corrected with the next stall.
 */
static void simstall_plan(u64 seed)
{
	struct simstall_stall *stall = simstall_first(simstall_control);
	/* When a stall is due, and when the timer will be set for it. */
	u64 due = 0, set = 0;
	struct rnd_state state;
	unsigned int i;

	prandom_seed_state(&state, seed);
	for (i = 0; i < count; i++, stall++) {
		u64 ticks;

		due += period_ns - jitter_ns;
		due += simstall_draw(&state, 2 * jitter_ns + 1);
		ticks = mul_u64_u32_div(due - min(due, set), PIT_TICK_RATE,
					NSEC_PER_SEC);
		ticks = max(ticks, SIMSTALL_TICKS_MIN);
		memset(stall, 0, sizeof(*stall));
		stall->windings = div_u64(ticks - SIMSTALL_TICKS_MIN,
					  SIMSTALL_WINDING);
		stall->ticks = ticks - (u64)stall->windings * SIMSTALL_WINDING;
		stall->planned_ns = length_ns[simstall_draw(&state, n_lengths)];
		stall->turns = (stall->planned_ns - simstall_kind->own) / 2;
		set += mul_u64_u32_div(ticks, NSEC_PER_SEC, PIT_TICK_RATE);
		set += stall->planned_ns;
	}
	stall = simstall_first(simstall_control);
	simstall_control->windings = stall->windings;
	simstall_control->next = virt_to_phys(stall);
	simstall_control->left = count;
	/* The plan is complete before the first stall may begin. */
	smp_store_release(&simstall_control->stopped, 0);
}

static int simstall_start(void *data, u64 seed)
{
	int ret = -EBUSY;

	mutex_lock(&simstall_lock);
	if (!simstall_planting) {
		simstall_plan(seed);
		simstall_planting = true;
		simstall_kind->start();
		ret = 0;
	}
	mutex_unlock(&simstall_lock);
	return ret;
}

DEFINE_DEBUGFS_ATTRIBUTE(simstall_start_fops, NULL, simstall_start, "%llu\n");

static int simstall_stop(void *data, u64 value)
{
	mutex_lock(&simstall_lock);
	if (simstall_planting) {
		simstall_kind->stop();
		simstall_planting = false;
	}
	mutex_unlock(&simstall_lock);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(simstall_stop_fops, NULL, simstall_stop, "%llu\n");

static int simstall_log_show(struct seq_file *file, void *data)
{
	struct simstall_stall *stall = simstall_first(simstall_control);
	u64 before, now_ns;
	unsigned int i;

	mutex_lock(&simstall_lock);
	before = rdtsc_ordered();
	now_ns = ktime_get_ns();
	seq_printf(file, "%s cpu %u tsc_khz %u tsc %llu monotonic_ns %llu\n",
		   simstall_kind->name, cpu, tsc_khz,
		   before + (rdtsc_ordered() - before) / 2, now_ns);
	for (i = 0; i < count; i++, stall++) {
		/* Its end is written last. */
		u64 end = smp_load_acquire(&stall->end);

		if (!end)
			break;
		seq_printf(file, "%llu %llu %u\n", stall->begin,
			   end - stall->begin + simstall_kind->tail,
			   stall->planned_ns);
	}
	mutex_unlock(&simstall_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(simstall_log);

static const char * __init simstall_mistake(void)
{
	u32 longest = 0;
	unsigned int i;

	if (!n_lengths)
		return "length_ns: none is given";
	for (i = 0; i < n_lengths; i++) {
		if (length_ns[i] < SIMSTALL_LENGTH_MIN_NS ||
		    length_ns[i] > SIMSTALL_LENGTH_MAX_NS)
			return "length_ns: not 100 ns to 100 ms";
		longest = max(longest, length_ns[i]);
	}
	if (!count || count > SIMSTALL_COUNT_MAX)
		return "count: not 1 to 100000";
	if (period_ns > SIMSTALL_PERIOD_MAX_NS)
		return "period_ns: more than an hour";
	if (jitter_ns > period_ns ||
	    period_ns - jitter_ns < longest + SIMSTALL_APART_NS)
		return "period_ns less jitter_ns: not longer than the longest stall by 20 us";
	if (cpu >= nr_cpu_ids || !cpu_online(cpu))
		return "cpu: there is none of this number";
	return NULL;
}

static void simstall_free(void)
{
	free_pages((unsigned long)simstall_control, simstall_order);
}

static int __init simstall_init(void)
{
	const char *mistake = simstall_mistake();
	unsigned long pages;
	int ret;

	if (sysfs_streq(kind, simstall_smi.name))
		simstall_kind = &simstall_smi;
	else if (sysfs_streq(kind, simstall_irqs_off.name))
		simstall_kind = &simstall_irqs_off;
	else
		mistake = "kind: neither smi nor irqs-off";
	if (mistake) {
		pr_err("simstall: %s\n", mistake);
		return -EINVAL;
	}
	simstall_order = get_order(sizeof(*simstall_control) +
				   count * sizeof(struct simstall_stall));
	pages = __get_free_pages(GFP_KERNEL | GFP_DMA32 | __GFP_ZERO,
				 simstall_order);
	if (!pages)
		return -ENOMEM;
	simstall_control = (struct simstall_control *)pages;
	/* A timer interrupt may be pending for the new recipient. */
	simstall_control->stopped = 1;
	ret = simstall_kind->init(simstall_control, cpu);
	if (ret) {
		simstall_free();
		return ret;
	}
	simstall_dir = debugfs_create_dir("simstall", NULL);
	debugfs_create_file_unsafe("start", 0200, simstall_dir, NULL,
				   &simstall_start_fops);
	debugfs_create_file_unsafe("stop", 0200, simstall_dir, NULL,
				   &simstall_stop_fops);
	debugfs_create_file("log", 0400, simstall_dir, NULL, &simstall_log_fops);
	return 0;
}

static void __exit simstall_exit(void)
{
	debugfs_remove(simstall_dir);
	simstall_stop(NULL, 0);
	simstall_kind->exit();
	simstall_free();
}

module_init(simstall_init);
module_exit(simstall_exit);

MODULE_DESCRIPTION("Stalls of known length at known moments");
MODULE_LICENSE("GPL");
