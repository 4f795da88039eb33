/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code of all placement policies.
 *
 * A policy is a function place(), which chooses the CPU of a waking task.
 * A task that it places waits in the queue of that CPU. One that it does not
 * place takes an idle CPU chosen by the kernel, or else waits in the queue
 * of all CPUs, which every CPU without other work checks; an idle CPU
 * is woken for it. The same holds for tasks whose time slice has ended while others
 * wait: long-running tasks are spread by every policy, and no CPU is idle while a
 * task waits that could run there, unless a policy has placed it elsewhere.
 *
 * The state of a CPU is written by that CPU, under the lock of its run
 * queue, and read by others without it. They may see an old sum with a new
 * time. Then one task is placed by a share that lacks the time that ran meanwhile,
 * and the next is not. This is harmless.
 */
#ifndef POLICIES_POLICY_H
#define POLICIES_POLICY_H

#include "load.h"

/* CPUs beyond these run tasks, but none is placed there. */
#define MAX_CPUS	64

/* A task that sleeps this soon after waking another hands over, in nanoseconds. */
#define HAND_OVER	(100 * 1000)

/* How long a task runs while others wait, in nanoseconds. Default: 4 ms. */
const volatile u64 slice = 4 * MSEC;

/**
 * struct cpu - state of a CPU
 * @load: its load
 * @claimed: when a task that has not run yet was last placed there, or 0
 * @long_task: the task there was long-running the last time too
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
	/* Else the compiler may compute the address before the comparison. */
	asm volatile("" : "+r"(cpu));
	return &cpus[cpu & (MAX_CPUS - 1)];
}

/**
 * struct task - state of a task
 * @load: its load
 * @ran: how long it has run since it woke
 * @ran_before: how long it ran the last time, from wake-up to sleep
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

/* NULL for a task that has not run yet. */
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

/* Whether a task runs there, or is about to. */
static __always_inline bool is_taken(const struct cpu *cpu, u64 now)
{
	return cpu->load.runs || now - cpu->claimed < MSEC;
}

/**
 * idlest - find the CPU with the least load among those without a running task
 * @p: the task, which must be allowed on it
 * @now: in nanoseconds
 *
 * Return: its number, or -1 if all of them run something.
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
 * lowest_with_room - find the first CPU with room for a task
 * @p: the task
 * @prev: its previous CPU, whose load includes its share
 * @now: in nanoseconds
 * @share: load of the task
 * @fill: the highest permitted load of the CPU, with the task
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
 * Returns the CPU of a waking task, or -1 for any idle CPU. Defined
 * by each policy.
 */
static s32 place(struct task_struct *p, s32 prev, u64 now);

#ifndef POLICY_FLAGS
/* The flags for enqueueing a placed task on its CPU. */
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
		 * Two tasks that wake at once may choose the same CPU. One of
		 * them then waits until the other sleeps or its slice ends.
		 */
		chosen->claimed = now;
		scx_bpf_test_and_clear_cpu_idle(cpu);
		idle = true;
	} else {
		cpu = scx_bpf_select_cpu_dfl(p, prev, wake_flags, &idle);
	}
	/* The local queue is that of the returned CPU. */
	if (idle)
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice, POLICY_FLAGS(p));
	return cpu;
}

void POLICY_OP(policy_enqueue, struct task_struct *p, u64 enq_flags)
{
	s32 cpu;

	/* Per-CPU threads serve what waits on their CPU. */
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
/* Whether a task counts as long-running. */
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
 * @called: its name, with _ instead of -
 * @more: additional operations
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
