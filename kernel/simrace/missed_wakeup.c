// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: missed wake-up
 *
 * One thread sleeps until an event; another sets the event and wakes the first.
 * The first checks for the event before it sets its task state. The fix is to
 * set the state before the check.
 *
 * Fails if the event and its wake-up happen in between: the thread then sleeps
 * for ever.
 */

#include <linux/sched.h>

#include "simrace.h"

static bool missed_wakeup_event;

static int missed_wakeup_prepare(void)
{
	missed_wakeup_event = false;
	return 0;
}

static void missed_wakeup_wait_fixed(void)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (READ_ONCE(missed_wakeup_event))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
}

static void missed_wakeup_wait(void)
{
	if (simrace_fixed()) {
		missed_wakeup_wait_fixed();
		return;
	}
	while (!READ_ONCE(missed_wakeup_event)) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
}

static void missed_wakeup_wake(void)
{
	WRITE_ONCE(missed_wakeup_event, true);
	wake_up_process(simrace_task(0));
}

const struct simrace_race simrace_missed_wakeup = {
	.name = "missed-wakeup",
	.parts = 2,
	.spread_ns = 10000,
	.prepare = missed_wakeup_prepare,
	.part = { { missed_wakeup_wait }, { missed_wakeup_wake } },
};
