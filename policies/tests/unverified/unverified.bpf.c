// SPDX-License-Identifier: GPL-2.0-only
/*
 * unverified: reads through a pointer that may be none, so that the kernel's
 * verifier does not let it in.
 *
 * For tests: a run with it must fail, with what the verifier said.
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
