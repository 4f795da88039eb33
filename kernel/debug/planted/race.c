// SPDX-License-Identifier: GPL-2.0-only
/* Two threads that write the same word, with nothing between them. */

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "planted.h"

static u64 planted_count;

static int planted_racer(void *end)
{
	while (time_before(jiffies, (unsigned long)end)) {
		planted_count++;
		cond_resched();
	}
	/* Stays until kthread_stop(), which alone may let the task go. */
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

int planted_data_race(void)
{
	void *end = (void *)(jiffies + HZ / 2);
	struct task_struct *racers[2];
	size_t i, n;

	for (n = 0; n < ARRAY_SIZE(racers); n++) {
		racers[n] = kthread_run(planted_racer, end, "planted/%zu", n);
		if (IS_ERR(racers[n]))
			break;
	}
	for (i = 0; i < n; i++)
		kthread_stop(racers[i]);
	return n == ARRAY_SIZE(racers) ? 0 : PTR_ERR(racers[n]);
}
