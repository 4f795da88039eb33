// SPDX-License-Identifier: GPL-2.0-only
/*
 * refused: for a while every task waits in the queue of all CPUs; then a task is
 * put into a queue that does not exist, for which the kernel ejects the policy.
 *
 * Tunables: after, the time before that (default 20 ms).
 *
 * For tests: a run with it must fail, with the kernel's message.
 */
#include "scx.h"

/* The time before that, in nanoseconds. */
const volatile u64 after = 20000000;

#define NO_QUEUE	0x5eedULL

static u64 since;

void POLICY_OP(refused_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 now = bpf_ktime_get_ns(), queue = SCX_DSQ_GLOBAL;

	/* Two CPUs may both see 0; then the later time counts. */
	if (!since)
		since = now;
	if (now - since >= after)
		queue = NO_QUEUE;
	scx_bpf_dsq_insert(p, queue, 4000000, enq_flags);
}

SEC(".struct_ops.link")
struct sched_ext_ops refused = {
	.enqueue = (void *)refused_enqueue,
	.name = "refused",
};

char _license[] SEC("license") = "GPL";
