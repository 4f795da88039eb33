/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all placement policies share.
 *
 * A policy is a function place(), which chooses the CPU of a task that wakes.
 * A task that it places waits in the queue of that CPU. One that it does not
 * place takes an idle CPU, as the kernel chooses it, or else waits in the queue
 * of all CPUs, in which whoever has nothing else to do looks; a CPU that is idle
 * is woken for it. So do tasks whose time slice has ended while others wait:
 * what runs for long is spread by whatever policy, and no CPU is idle while a
 * task waits that might be there, unless a policy has placed it elsewhere.
 *
 * What is known of a CPU is written by that CPU, under the lock of its run
 * queue, and read by others without one. They may see an old sum with a new
 * time. Then one task is placed by a share that is off by what ran meanwhile,
 * and the next is not.
 */
#ifndef POLICIES_POLICY_H
#define POLICIES_POLICY_H

#include "load.h"

/* CPUs beyond these run tasks, but none is placed there. */
#define MAX_CPUS	64

/* Who sleeps so soon after a wake-up hands over to whom it woke, in nanoseconds. */
#define HAND_OVER	(100 * 1000)

/* How long a task runs while others wait, in nanoseconds. Default: 4 ms. */
const volatile u64 slice = 4 * MSEC;

/**
 * struct cpu - what is known of a CPU
 * @load: how much it has run
 * @claimed: when a task was last placed there that has not run yet, or 0
 * @long_task: what runs there has run for long the last time, too
 */
struct cpu {
	struct load load;
	u64 claimed;
	bool long_task;
};

static struct cpu cpus[MAX_CPUS];

static __always_inline struct cpu *cpu_of(u32 cpu)
{
	if (cpu >= MAX_CPUS)
		return NULL;
	/* Else the compiler may compute the address before it compares. */
	asm volatile("" : "+r"(cpu));
	return &cpus[cpu & (MAX_CPUS - 1)];
}

/**
 * struct task - what is known of a task
 * @load: how much it has run
 * @ran: how long it has run since it woke
 * @ran_before: how long it ran the last time, from its wake-up to its sleep
 * @woke: when it first woke another since it woke, or 0; pack-learn: when last
 * @hands_over: whether it slept at once when it last woke another
 */
struct task {
	struct load load;
	u64 ran;
	u64 ran_before;
	u64 woke;
	bool hands_over;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task);
} tasks SEC(".maps");

/* None for a task that has not run yet. */
static __always_inline struct task *task_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, NULL, 0);
}

static __always_inline u64 task_share(struct task_struct *p, u64 now)
{
	struct task *task = task_of(p);

	return task ? share_at(&task->load, now) : 0;
}

static __always_inline bool may_use(struct task_struct *p, u32 cpu)
{
	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

/* Whether something runs there, or is about to. */
static __always_inline bool is_taken(const struct cpu *cpu, u64 now)
{
	return cpu->load.runs || now - cpu->claimed < MSEC;
}

/**
 * idlest - the CPU that has run least of those where nothing runs
 * @p: which may use it
 * @now: in nanoseconds
 *
 * Return: its number, or -1 if something runs on all of them.
 */
static __always_inline s32 idlest(struct task_struct *p, u64 now)
{
	u64 least = ~0ULL;
	s32 best = -1;
	u32 i;

	for_numbers(i, 0, scx_bpf_nr_cpu_ids()) {
		struct cpu *cpu = cpu_of(i);
		u64 load;

		if (!cpu || !may_use(p, i) || is_taken(cpu, now))
			continue;
		load = load_at(&cpu->load, now);
		if (load < least) {
			least = load;
			best = i;
		}
	}
	return best;
}

/**
 * lowest_with_room - the first CPU that a task does not fill
 * @p: the task
 * @prev: where it was; its share is part of what that CPU has run
 * @now: in nanoseconds
 * @share: of the task
 * @fill: how much a CPU may have run, with the task
 *
 * Return: its number, or -1 if all are filled.
 */
static __always_inline s32 lowest_with_room(struct task_struct *p, s32 prev, u64 now,
					    u64 share, u64 fill)
{
	s32 found = -1;
	u32 i;

	for_numbers(i, 0, scx_bpf_nr_cpu_ids()) {
		u64 more = (s32)i == prev ? 0 : share;
		struct cpu *cpu = cpu_of(i);

		if (cpu && may_use(p, i) && share_at(&cpu->load, now) + more < fill) {
			found = i;
			break;
		}
	}
	return found;
}

/*
 * Where a task that wakes is to run, or -1 for wherever a CPU is idle. Defined
 * by each policy.
 */
static s32 place(struct task_struct *p, s32 prev, u64 now);

#ifndef POLICY_FLAGS
/* With what flags a task that has been placed is put into the queue of its CPU. */
#define POLICY_FLAGS(p)		0
#endif

s32 POLICY_OP(policy_select_cpu, struct task_struct *p, s32 prev, u64 wake_flags)
{
	u64 now = bpf_ktime_get_ns();
	s32 cpu = place(p, prev, now);
	struct cpu *chosen = cpu_of(cpu);
	bool idle = false;

	if (chosen) {
		/*
		 * Two that wake at once may choose the same CPU. One of them
		 * then waits until the other sleeps or its slice ends.
		 */
		chosen->claimed = now;
		scx_bpf_test_and_clear_cpu_idle(cpu);
		idle = true;
	} else {
		cpu = scx_bpf_select_cpu_dfl(p, prev, wake_flags, &idle);
	}
	/* The local queue is that of the CPU which is returned. */
	if (idle)
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice, POLICY_FLAGS(p));
	return cpu;
}

void POLICY_OP(policy_enqueue, struct task_struct *p, u64 enq_flags)
{
	s32 cpu;

	/* Threads that belong to a CPU serve what waits there. */
	if (p->nr_cpus_allowed == 1) {
		u64 head = p->flags & PF_KTHREAD ? SCX_ENQ_HEAD : 0;

		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice, enq_flags | head);
		return;
	}
	scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, slice, enq_flags);
	/* If a CPU becomes idle just now, it finds the task in the queue. */
	cpu = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	if (cpu >= 0)
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
}

#ifndef POLICY_LONG
/* Whether a task counts as one that runs for long. */
#define POLICY_LONG(task)	false
#endif

void POLICY_OP(policy_running, struct task_struct *p)
{
	struct task *task = bpf_task_storage_get(&tasks, p, NULL,
						 BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct cpu *cpu = cpu_of(bpf_get_smp_processor_id());
	u64 now = bpf_ktime_get_ns();

	/* Without memory for it, the task counts as one that has never run. */
	if (task)
		load_set(&task->load, now, true);
	if (cpu) {
		load_set(&cpu->load, now, true);
		cpu->claimed = 0;
		cpu->long_task = task && POLICY_LONG(task);
	}
}

void POLICY_OP(policy_stopping, struct task_struct *p, bool runnable)
{
	struct cpu *cpu = cpu_of(bpf_get_smp_processor_id());
	struct task *task = task_of(p);
	u64 now = bpf_ktime_get_ns();

	if (cpu) {
		load_set(&cpu->load, now, false);
		cpu->long_task = false;
	}
	if (!task)
		return;
	if (task->load.runs)
		task->ran += now - task->load.last;
	load_set(&task->load, now, false);
	if (!runnable) {
		task->ran_before = task->ran;
		task->ran = 0;
		if (task->woke)
			task->hands_over = now - task->woke < HAND_OVER;
		task->woke = 0;
	}
}

/**
 * POLICY - the operations of a policy
 * @called: its name, with _ for -
 * @more: other operations
 */
#define POLICY(called, more...)						\
	SEC(".struct_ops.link")						\
	struct sched_ext_ops called = {					\
		.select_cpu = (void *)policy_select_cpu,		\
		.enqueue = (void *)policy_enqueue,			\
		.running = (void *)policy_running,			\
		.stopping = (void *)policy_stopping,			\
		.timeout_ms = 5000,					\
		.name = #called,					\
		##more							\
	}

char _license[] SEC("license") = "GPL";

#endif
