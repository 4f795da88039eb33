// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: stalls with interrupts off
 *
 * A kernel timer interrupts the CPU, and its handler spins with
 * interrupts off. Whatever ran there is delayed by that, plus the time of the
 * interrupt itself.
 *
 * With the parameter rival, the length of a stall is decided halfway to it:
 * timers of both CPUs fire at the same instant, not near a tick, and take a
 * lock. If the rival gets it first, the stall is as short as possible. What the
 * CPUs do before and after does not affect that stall.
 */

#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timex.h>

#include <asm/tsc.h>

#include "../compat/compat.h"
#include "handler.h"
#include "simstall.h"

static struct simstall_control *irqs_off_control;
static struct hrtimer irqs_off_timer;
static unsigned int irqs_off_cpu;
/* The next stall. Owned by the timer while it is armed. */
static struct simstall_stall *irqs_off_next;

static int rival = -1;
module_param(rival, int, 0644);
MODULE_PARM_DESC(rival, "irqs-off: a CPU that may win a race and shorten a stall (default -1: none)");

/* Loop iterations for which a CPU holds the lock, so that others contend. */
#define IRQS_OFF_HELD	500
/* Loop iterations of the shortest stall. */
#define IRQS_OFF_SHORTEST	40
/* Timers that fire nearer to a tick than this may have to wait for it. */
#define IRQS_OFF_TICK_NS	100000

/* Protects whether the next stall is decided, and by whom. */
static DEFINE_RAW_SPINLOCK(irqs_off_lock);
static bool irqs_off_decided, irqs_off_lost;
static struct hrtimer irqs_off_rival_timer;
static call_single_data_t irqs_off_rival_call;
/* Time of the next decision, its distance from the stall, and if pending. */
static ktime_t irqs_off_race_at;
static u64 irqs_off_lead_ns;
static bool irqs_off_racing;

static void irqs_off_spin(u32 turns)
{
	asm volatile("1: decl %0\n\tjnz 1b" : "+r" (turns) : : "cc");
}

/* Context: hard interrupt of a timer. */
static noinline void irqs_off_race(bool is_rival)
{
	raw_spin_lock(&irqs_off_lock);
	if (!irqs_off_decided) {
		irqs_off_decided = true;
		irqs_off_lost = is_rival;
		irqs_off_spin(IRQS_OFF_HELD);
	}
	raw_spin_unlock(&irqs_off_lock);
}

static enum hrtimer_restart irqs_off_rival_races(struct hrtimer *timer)
{
	irqs_off_race(true);
	return HRTIMER_NORESTART;
}

/* Context: interrupt on the rival. */
static void irqs_off_arm_rival(void *unused)
{
	hrtimer_start(&irqs_off_rival_timer, irqs_off_race_at,
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

/* Returns the time from the end of the previous stall to the start of this one. */
static u64 irqs_off_delay_ns(const struct simstall_stall *stall)
{
	u64 ticks = (u64)stall->windings * SIMSTALL_WINDING + stall->ticks;

	return mul_u64_u32_div(ticks, NSEC_PER_SEC, PIT_TICK_RATE);
}

/* Returns how much later a race has to be, so that a tick makes neither CPU late. */
static u64 irqs_off_past_tick_ns(ktime_t at)
{
	u64 since_tick;

	div64_u64_rem(ktime_to_ns(at) + IRQS_OFF_TICK_NS, TICK_NSEC, &since_tick);
	return since_tick < 2 * IRQS_OFF_TICK_NS ? 2 * IRQS_OFF_TICK_NS : 0;
}

/*
 * Returns when the timer is to fire for the next stall: for the stall, or for the
 * race that decides it. Context: interrupts are off.
 */
static ktime_t irqs_off_next_at(void)
{
	u64 delay_ns = irqs_off_delay_ns(irqs_off_next);
	ktime_t now = ktime_get();
	int cpu = READ_ONCE(rival);

	irqs_off_lost = false;
	irqs_off_racing = cpu >= 0 && cpu < nr_cpu_ids && cpu_online(cpu);
	if (!irqs_off_racing)
		return ktime_add_ns(now, delay_ns);
	irqs_off_decided = false;
	irqs_off_race_at = ktime_add_ns(now, delay_ns / 2);
	irqs_off_race_at = ktime_add_ns(irqs_off_race_at,
					irqs_off_past_tick_ns(irqs_off_race_at));
	irqs_off_lead_ns = delay_ns / 2;
	smp_call_function_single_async(cpu, &irqs_off_rival_call);
	return irqs_off_race_at;
}

/* Context: hard interrupt of the timer, even where others are threaded. */
static enum hrtimer_restart irqs_off_stall(struct hrtimer *timer)
{
	struct simstall_stall *stall = irqs_off_next;
	u32 turns = stall->turns;
	u64 end;

	if (irqs_off_racing) {
		irqs_off_racing = false;
		irqs_off_race(false);
		hrtimer_set_expires(timer, ktime_add_ns(irqs_off_race_at,
							irqs_off_lead_ns));
		return HRTIMER_RESTART;
	}
	if (irqs_off_lost)
		turns = IRQS_OFF_SHORTEST;
	stall->begin = rdtsc_ordered();
	asm volatile("1: decl %0\n\tjnz 1b" : "+r" (turns) : : "cc");
	end = rdtsc_ordered();
	/* Whoever sees the end sees the whole stall. */
	smp_store_release(&stall->end, end);
	if (!--irqs_off_control->left)
		return HRTIMER_NORESTART;
	irqs_off_next = stall + 1;
	hrtimer_set_expires(timer, irqs_off_next_at());
	return HRTIMER_RESTART;
}

static int irqs_off_init(struct simstall_control *control, unsigned int cpu)
{
	irqs_off_control = control;
	irqs_off_cpu = cpu;
	hrtimer_setup(&irqs_off_timer, irqs_off_stall, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
	hrtimer_setup(&irqs_off_rival_timer, irqs_off_rival_races, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
	INIT_CSD(&irqs_off_rival_call, irqs_off_arm_rival, NULL);
	return 0;
}

/* Context: interrupt on the CPU to be stalled. */
static void irqs_off_arm(void *unused)
{
	hrtimer_start(&irqs_off_timer, irqs_off_next_at(),
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

static void irqs_off_start(void)
{
	irqs_off_next = simstall_first(irqs_off_control);
	smp_call_function_single(irqs_off_cpu, irqs_off_arm, NULL, true);
}

/* Context: interrupt on any CPU that may be about to arm the rival's timer. */
static void irqs_off_is_over(void *unused)
{
}

static void irqs_off_stop(void)
{
	hrtimer_cancel(&irqs_off_timer);
	on_each_cpu(irqs_off_is_over, NULL, true);
	hrtimer_cancel(&irqs_off_rival_timer);
}

static void irqs_off_exit(void)
{
}

const struct simstall_kind simstall_irqs_off = {
	.name = "irqs-off",
	.own = 6,
	.tail = 0,
	.init = irqs_off_init,
	.start = irqs_off_start,
	.stop = irqs_off_stop,
	.exit = irqs_off_exit,
};
