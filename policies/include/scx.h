/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel types that placement policies use.
 *
 * Only the fields in use are declared. Their offsets are filled in when
 * a policy is loaded, from the type information of the running kernel,
 * so one object works on every kernel that has sched_ext with these functions
 * (6.13 and later).
 */
#ifndef POLICIES_SCX_H
#define POLICIES_SCX_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
/* From linux/types.h, used by the declarations of helpers. */
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef _Bool bool;

#define true	1
#define false	0
#define NULL	((void *)0)

/* Numbers of the user interface, which do not change. */
enum {
	BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_F_NO_PREALLOC = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define KERNEL_TYPE	__attribute__((preserve_access_index))

struct cpumask {
	unsigned long bits[1];
} KERNEL_TYPE;

struct sched_ext_entity {
	u64 slice;
} KERNEL_TYPE;

struct task_struct {
	unsigned int flags;
	char comm[16];
	int nr_cpus_allowed;
	/*
	 * A const struct cpumask *. For a struct that a field points to, the
	 * compiler only records the name, but libbpf needs the full type of
	 * arguments of kernel functions.
	 */
	const void *cpus_ptr;
	struct sched_ext_entity scx;
} KERNEL_TYPE;

/* In the flags of a task: it is a kernel thread. */
#define PF_KTHREAD	0x00200000

/* The operations used by any policy; the kernel matches them by name. */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*tick)(struct task_struct *p);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*quiescent)(struct task_struct *p, u64 deq_flags);
	u32 timeout_ms;
	char name[128];
};

/* Queues: of the current CPU, of a given CPU, of all CPUs. */
#define SCX_DSQ_GLOBAL		0x8000000000000001ULL
#define SCX_DSQ_LOCAL		0x8000000000000002ULL
#define SCX_DSQ_LOCAL_ON	0xc000000000000000ULL

#define SCX_ENQ_HEAD		(1ULL << 16)

#define SCX_DEQ_SLEEP		(1ULL << 0)

#define SCX_KICK_IDLE		(1ULL << 0)
#define SCX_KICK_PREEMPT	(1ULL << 1)

s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags,
			   bool *is_idle) __ksym;
void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice,
			u64 enq_flags) __ksym;
s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym;
void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
s32 scx_bpf_pick_idle_cpu(const struct cpumask *cpus_allowed, u64 flags) __ksym;
bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;
u32 scx_bpf_nr_cpu_ids(void) __ksym;
bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym;

struct bpf_iter_num {
	u64 opaque[1];
} __attribute__((aligned(8)));

int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;

/*
 * Loops over the numbers from first to last - 1. A loop of this form is
 * verified once, whatever its length; one that counts by itself is verified turn
 * by turn, with every possible state of each. Clang forgets the type of a
 * function that only ends a scope, so it is named.
 */
#define for_numbers(number, first, last)					\
	for (struct bpf_iter_num all						\
			__attribute__((cleanup(bpf_iter_num_destroy))),		\
		*once __attribute__((unused)) =					\
			(bpf_iter_num_new(&all, (first), (last)),		\
			 (void)bpf_iter_num_destroy, NULL);			\
	     ({									\
		int *next = bpf_iter_num_next(&all);				\
										\
		next && ((number) = *next, true);				\
	     });)

#define POLICY_OP(name, args...)	SEC("struct_ops/" #name) BPF_PROG(name, ##args)

#endif
