// SPDX-License-Identifier: GPL-2.0-only
/*
 * unverified: dereferences a pointer that may be NULL, so that the kernel's
 * verifier rejects it.
 *
 * For tests: a run with it must fail, with the verifier's message.
 */
#include "scx.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, u64);
} slices SEC(".maps");

void POLICY_OP(unverified_enqueue, struct task_struct *p, u64 enq_flags)
{
	u64 *slice = bpf_task_storage_get(&slices, p, NULL, 0);

	scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, *slice, enq_flags);
}

SEC(".struct_ops.link")
struct sched_ext_ops unverified = {
	.enqueue = (void *)unverified_enqueue,
	.name = "unverified",
};

char _license[] SEC("license") = "GPL";
