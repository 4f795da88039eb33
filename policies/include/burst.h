/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code of policies that pack short tasks next to long-running ones.
 *
 * The including file defines POLICY_LONG(), and the tunables burst and fill.
 */
#ifndef POLICIES_BURST_H
#define POLICIES_BURST_H

#include "policy.h"

/* Whether the task on a CPU is long-running, this time or usually. */
static __always_inline bool runs_long(const struct cpu *cpu, u64 now)
{
	const struct load *load = &cpu->load;

	return cpu->long_task || (load->runs && now > load->last && now - load->last >= burst);
}

/**
 * lowest_beside_long - find the first CPU with room that will be free soon
 * @p: the task
 * @prev: its previous CPU, whose load includes its share
 * @now: in nanoseconds
 * @share: load of the task
 *
 * Skips CPUs with long-running or waiting tasks.
 *
 * Return: its number, or -1 if there is none.
 */
static __always_inline s32 lowest_beside_long(struct task_struct *p, s32 prev, u64 now,
					      u64 share)
{
	s32 found = -1;
	u32 i;

	for_numbers(i, 0, scx_bpf_nr_cpu_ids()) {
		u64 more = (s32)i == prev ? 0 : share;
		struct cpu *cpu = cpu_of(i);

		if (!cpu || !may_use(p, i) || runs_long(cpu, now))
			continue;
		if (scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL_ON | i) > 0)
			continue;
		if (share_at(&cpu->load, now) + more < fill) {
			found = i;
			break;
		}
	}
	return found;
}

/* A long-running task yields its CPU to waiting tasks. */
void POLICY_OP(policy_tick, struct task_struct *p)
{
	u32 here = bpf_get_smp_processor_id();
	struct cpu *cpu = cpu_of(here);

	if (cpu && runs_long(cpu, bpf_ktime_get_ns()) &&
	    scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL_ON | here) > 0)
		scx_bpf_kick_cpu(here, SCX_KICK_PREEMPT);
}

#endif
