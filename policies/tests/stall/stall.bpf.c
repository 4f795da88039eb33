// SPDX-License-Identifier: GPL-2.0-only
/*
 * stall: for a while every task waits in the queue of all CPUs; then all tasks
 * except kernel threads are forgotten, for which the kernel's watchdog
 * ejects the policy, after at most five seconds.
 *
 * Tunables: after, the time before that (default 20 ms).
 *
 * For tests: a run with it must fail, with the kernel's message.
 */
#include "scx.h"

/* The time before that, in nanoseconds. */
const volatile u64 after = 20000000;

static u64 since;

void POLICY_OP(stall_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 now = bpf_ktime_get_ns();

	/* Two CPUs may both see 0; then the later time counts. */
	if (!since)
		since = now;
	if (now - since < after || p->flags & PF_KTHREAD)
		scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, 4000000, enq_flags);
}

SEC(".struct_ops.link")
struct sched_ext_ops stall = {
	.enqueue = (void *)stall_enqueue,
	.timeout_ms = 5000,
	.name = "stall",
};

char _license[] SEC("license") = "GPL";
