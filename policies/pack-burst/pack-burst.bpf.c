// SPDX-License-Identifier: GPL-2.0-only
/*
 * pack-burst: packs tasks that run shortly, and wakes CPUs at once for those
 * that run for long. A task whose last run, from its wake-up to its sleep, took
 * less than a burst goes to the first CPU that has room for it, on which nothing
 * that runs for long runs and for which nothing waits. Others go to an idle CPU:
 * that on which they were, or the first; but to the CPU of the task that wakes
 * them if that task slept within 100 us when it last woke another. So who wakes
 * others and waits for them leaves its CPU to one of them, and none of that CPU's
 * wake-ups is paid for. What runs for longer than a burst while others wait for
 * its CPU gives it up at the next tick and goes on elsewhere.
 *
 * Tunables: burst, the length of a run from which on it is long (default 1 ms);
 * fill, how much of a CPU may have run, with the task (default 80 %); slice
 * (default 4 ms).
 *
 * Bad when the length of a run says nothing of the next: the first long run of a
 * task is where short ones are packed, for a tick or a slice; and a task that is
 * expected to sleep at once and does not keeps whom it woke waiting until the tick.
 */
#define POLICY_LONG(task)	((task)->ran_before >= burst || (task)->ran >= burst)
#include "scx.h"

/* A run of this length is long, in nanoseconds. */
const volatile u64 burst = 1000000;
/* How much of a CPU may have run, in parts of 1024. */
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
 * The CPU of the task that wakes this one, if that is about to sleep: it slept at
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
