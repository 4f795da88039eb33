// SPDX-License-Identifier: GPL-2.0-only
/*
 * pack-learn: packs short-running tasks as pack-burst does, but learns how
 * long a task runs from who wakes it. A thread that synchronises with others twice
 * per iteration runs for long after one wake-up, and only until it sleeps again
 * after the other; its last run predicts both wrongly. So the expected length
 * of a run is that of the last one after a wake-up by a task of the same name,
 * or by an interrupt.
 *
 * A task expected to run for a burst goes to the CPU of the waking task, if
 * that slept within 100 us when it last woke another, one for each such wake-up; else
 * to an idle CPU: its previous one, or the first, but CPU 0 last, which is left to
 * short tasks. If a waking task of this kind wakes one that is expected to run for
 * less than 100 us, that goes to its CPU too, ahead of others: no CPU wakes up for
 * it. Other tasks are packed as by pack-burst.
 *
 * Tunables: burst, the shortest length of a long run (default 1 ms);
 * fill, the highest load of a CPU, with the task (default 80 %); slice
 * (default 4 ms).
 *
 * Bad when tasks of one name are of different kinds, since they are not
 * distinguished; and until it has learned: each task has to be woken once by each
 * of its wakers, and to sleep once after it has woken another.
 */
#define POLICY_LONG(task)	((task)->ran_before >= burst || (task)->ran >= burst)
#define POLICY_FLAGS(p)		insert_flags(p)
#include "scx.h"

/* A run of this length is long, in nanoseconds. */
const volatile u64 burst = 1000000;
/* The highest load of a CPU, in parts of 1024. */
const volatile u64 fill = 819;

static u64 insert_flags(struct task_struct *p);

#include "burst.h"

/* The number of wakers for which a task remembers its run time; a power of 2. */
#define WAKERS		4
/* In place of a name: woken by an interrupt. */
#define BY_INTERRUPT	1ULL

/*
 * How deep in interrupts an x86 CPU is (Linux 6.15 and later). If it is not
 * available, wake-ups by an interrupt count as those of the interrupted task.
 */
extern const int __preempt_count __ksym __weak;
/* Its bits that count softirqs, hardirqs and NMIs. */
#define INTERRUPTS	0xffff00

/**
 * struct learned - state of a task in addition to struct task
 * @waker: what has woken it for this run, or 0
 * @next: index in @after to be overwritten next
 * @is_short: it is expected to run for less than HAND_OVER
 * @gave: its CPU was given to a long-running task since it first woke another
 * @after: how long it ran after a wake-up by each @waker
 */
struct learned {
	u64 waker;
	u32 next;
	bool is_short;
	bool gave;
	struct {
		u64 waker;
		u64 ran;
	} after[WAKERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct learned);
} all_learned SEC(".maps");

static __always_inline struct learned *learned_of(struct task_struct *p)
{
	return bpf_task_storage_get(&all_learned, p, NULL, 0);
}

static __always_inline bool in_interrupt(void)
{
	return &__preempt_count && *(int *)bpf_this_cpu_ptr(&__preempt_count) & INTERRUPTS;
}

/* Returns the index of the run after a wake-up by @waker, or WAKERS. */
static __always_inline u32 remembered(const struct learned *learned, u64 waker)
{
	u32 found = WAKERS, i;

	for_numbers(i, 0, WAKERS) {
		if (learned->after[i & (WAKERS - 1)].waker == waker) {
			found = i;
			break;
		}
	}
	return found;
}

static __always_inline u64 expected(const struct task *task, const struct learned *learned,
				    u64 waker)
{
	u32 at = remembered(learned, waker);

	return at < WAKERS ? learned->after[at & (WAKERS - 1)].ran : task->ran_before;
}

/* Short ones overtake, so that none of them waits for a long one. */
static u64 insert_flags(struct task_struct *p)
{
	struct learned *learned = learned_of(p);

	return learned && learned->is_short ? SCX_ENQ_HEAD : 0;
}

/* Returns the task's previous CPU if idle, or the first idle one but CPU 0, or 0. */
static __always_inline s32 idle_but_first(struct task_struct *p, s32 prev)
{
	s32 found = -1;
	u32 i;

	if (prev > 0 && cpu_of(prev) && may_use(p, prev) &&
	    scx_bpf_test_and_clear_cpu_idle(prev))
		return prev;
	for_numbers(i, 1, scx_bpf_nr_cpu_ids()) {
		if (may_use(p, i) && scx_bpf_test_and_clear_cpu_idle(i)) {
			found = i;
			break;
		}
	}
	if (found < 0 && may_use(p, 0) && scx_bpf_test_and_clear_cpu_idle(0))
		found = 0;
	return found;
}

/*
 * Returns the CPU of the task that wakes @p, if that is about to sleep: it slept at
 * once when it last woke another. Else -1.
 */
static __always_inline s32 handed_over(struct task_struct *p, u64 now, bool is_long,
				       bool is_short)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct learned *learned = learned_of(current);
	struct task *waker = task_of(current);
	u32 here = bpf_get_smp_processor_id();

	if (!waker || !learned)
		return -1;
	if (now - waker->woke >= HAND_OVER)
		learned->gave = scx_bpf_dsq_nr_queued(SCX_DSQ_LOCAL_ON | here) > 0;
	waker->woke = now;
	if (!waker->hands_over || !may_use(p, here))
		return -1;
	if (is_short)
		return here;
	if (!is_long || learned->gave)
		return -1;
	learned->gave = true;
	return here;
}

static s32 place(struct task_struct *p, s32 prev, u64 now)
{
	struct learned *learned = bpf_task_storage_get(&all_learned, p, NULL,
						       BPF_LOCAL_STORAGE_GET_F_CREATE);
	bool by_interrupt = in_interrupt(), is_long = false, is_short = false;
	struct task *task = task_of(p);
	s32 found = -1;

	/* A task that has never run is neither. */
	if (task && learned) {
		u64 waker = BY_INTERRUPT, ran;

		if (!by_interrupt)
			waker = *(u64 *)bpf_get_current_task_btf()->comm;
		ran = expected(task, learned, waker);
		is_long = ran >= burst;
		is_short = ran < HAND_OVER;
		learned->waker = waker;
		learned->is_short = is_short;
	}
	if (!by_interrupt)
		found = handed_over(p, now, is_long, is_short);
	if (found < 0 && !is_long)
		found = lowest_beside_long(p, prev, now, task ? share_at(&task->load, now) : 0);
	return found >= 0 ? found : idle_but_first(p, prev);
}

void POLICY_OP(pack_learn_quiescent, struct task_struct *p, u64 deq_flags)
{
	struct learned *learned = learned_of(p);
	struct task *task = task_of(p);
	u32 at;

	if (!(deq_flags & SCX_DEQ_SLEEP) || !learned || !task || !learned->waker)
		return;
	at = remembered(learned, learned->waker);
	if (at >= WAKERS)
		at = learned->next++;
	learned->after[at & (WAKERS - 1)].waker = learned->waker;
	learned->after[at & (WAKERS - 1)].ran = task->ran_before;
	learned->waker = 0;
}

POLICY(pack_learn, .tick = (void *)policy_tick, .quiescent = (void *)pack_learn_quiescent);
