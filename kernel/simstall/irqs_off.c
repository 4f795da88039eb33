// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: stalls with interrupts off
 *
 * A kernel timer interrupts the CPU, and its handler spins with
 * interrupts off. Whatever ran there is delayed by that, plus the time of the
 * interrupt itself.
 */

#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/smp.h>
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

/* Returns the time from the end of the previous stall to the start of this one. */
static u64 irqs_off_delay_ns(const struct simstall_stall *stall)
{
	u64 ticks = (u64)stall->windings * SIMSTALL_WINDING + stall->ticks;

	return mul_u64_u32_div(ticks, NSEC_PER_SEC, PIT_TICK_RATE);
}

/* Context: hard interrupt of the timer, even where others are threaded. */
static enum hrtimer_restart irqs_off_stall(struct hrtimer *timer)
{
	struct simstall_stall *stall = irqs_off_next;
	u32 turns = stall->turns;
	u64 delay_ns, end;

	stall->begin = rdtsc_ordered();
	asm volatile("1: decl %0\n\tjnz 1b" : "+r" (turns) : : "cc");
	end = rdtsc_ordered();
	/* Whoever sees the end sees the whole stall. */
	smp_store_release(&stall->end, end);
	if (!--irqs_off_control->left)
		return HRTIMER_NORESTART;
	irqs_off_next = stall + 1;
	delay_ns = irqs_off_delay_ns(irqs_off_next);
	hrtimer_set_expires(timer, ktime_add_ns(ktime_get(), delay_ns));
	return HRTIMER_RESTART;
}

static int irqs_off_init(struct simstall_control *control, unsigned int cpu)
{
	irqs_off_control = control;
	irqs_off_cpu = cpu;
	hrtimer_setup(&irqs_off_timer, irqs_off_stall, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

/* Context: interrupt on the CPU to be stalled. */
static void irqs_off_arm(void *unused)
{
	hrtimer_start(&irqs_off_timer,
		      ns_to_ktime(irqs_off_delay_ns(irqs_off_next)),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void irqs_off_start(void)
{
	irqs_off_next = simstall_first(irqs_off_control);
	smp_call_function_single(irqs_off_cpu, irqs_off_arm, NULL, true);
}

static void irqs_off_stop(void)
{
	hrtimer_cancel(&irqs_off_timer);
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
