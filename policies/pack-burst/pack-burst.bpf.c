// SPDX-License-Identifier: GPL-2.0-only
/*
 * pack-burst: packs short-running tasks, and wakes CPUs at once for long-running
 * ones. A task whose last run, from wake-up to sleep, was shorter
 * than a burst goes to the first CPU with room for it that has no
 * long-running and no waiting task. Other tasks go to an idle CPU:
 * their previous one, or the first; but to the CPU of the waking task
 * if that slept within 100 us when it last woke another. So a task that wakes
 * others and waits for them leaves its CPU to one of them, which saves the cost of
 * waking another CPU. A task that runs for longer than a burst while others wait
 * for its CPU yields it at the next tick and continues elsewhere.
 *
 * Tunables: burst, the shortest length of a long run (default 1 ms);
 * fill, the highest load of a CPU, with the task (default 80 %); slice
 * (default 4 ms).
 *
 * Bad when the length of a run does not predict the next: the first long run of a
 * task is where short ones are packed, for a tick or a slice; and a task that is
 * expected to sleep at once and does not keeps those it woke waiting until the tick.
 */
#define POLICY_LONG(task)	((task)->ran_before >= burst || (task)->ran >= burst)
#include "scx.h"

/* A run of this length is long, in nanoseconds. */
const volatile u64 burst = 1000000;
/* The highest load of a CPU, in parts of 1024. */
const volatile u64 fill = 819;

#include "burst.h"

static __always_inline s32 first_idle(struct task_struct *p, s32 prev)
{
	s32 found = -1;
	u32 i;

	if (cpu_of(prev) && may_use(p, prev) && scx_bpf_test_and_clear_cpu_idle(prev))
		return prev;
	for_numbers(i, 0, scx_bpf_nr_cpu_ids()) {
		if (may_use(p, i) && scx_bpf_test_and_clear_cpu_idle(i)) {
			found = i;
			break;
		}
	}
	return found;
}

/*
 * Returns the CPU of the waking task, if that is about to sleep: it slept at
 * once when it last woke another. Else -1.
 */
static __always_inline s32 handed_over(struct task_struct *p, u64 now)
{
	struct task *waker = task_of(bpf_get_current_task_btf());
	u32 here = bpf_get_smp_processor_id();

	if (!waker)
		return -1;
	if (!waker->woke)
		waker->woke = now;
	if (!waker->hands_over || !may_use(p, here) ||
	    scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL_ON | here) > 0)
		return -1;
	return here;
}

static s32 place(struct task_struct *p, s32 prev, u64 now)
{
	struct task *task = task_of(p);
	u64 share = task ? share_at(&task->load, now) : 0;
	s32 found;

	if (task && POLICY_LONG(task))
		found = handed_over(p, now);
	else
		found = lowest_beside_long(p, prev, now, share);
	return found >= 0 ? found : first_idle(p, prev);
}

POLICY(pack_burst, .tick = (void *)policy_tick);
