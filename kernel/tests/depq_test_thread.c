// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: threads of the scenarios
 *
 * Created together, started together on all CPUs in turn, and joined together.
 * Threads must not use KUNIT_ASSERT_*(); the functions they call instead return
 * errors.
 */

#include <linux/kthread.h>
#include <linux/sched/task.h>

#include "depq_test.h"

static int dt_thread_fn(void *data)
{
	struct dt_thread *thread = data;

	thread->fn(thread);
	/* The module may go afterwards; this function is not in it. */
	kthread_complete_and_exit(&thread->ended, 0);
}

/**
 * dt_threads - create threads, without starting them
 * @dt: the fixture
 * @n: their number
 * @fn: their function
 * @data: for all of them
 *
 * Context: the case's thread. There must be no assertion between this and
 * dt_threads_join().
 * Return: the threads, which are freed when the case ends.
 */
struct dt_thread *dt_threads(struct dt *dt, u32 n,
			     void (*fn)(struct dt_thread *thread), void *data)
{
	struct dt_thread *threads;
	u32 i;

	threads = kunit_kcalloc(dt->test, n, sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(dt->test, threads);
	for (i = 0; i < n; i++) {
		threads[i].dt = dt;
		threads[i].fn = fn;
		threads[i].data = data;
		threads[i].index = i;
		threads[i].n = n;
		init_completion(&threads[i].ended);
		prandom_seed_state(&threads[i].random,
				   prandom_u32_state(&dt->random));
	}
	return threads;
}

/**
 * dt_threads_start - start threads
 * @threads: from dt_threads()
 *
 * Context: the case's thread.
 */
void dt_threads_start(struct dt_thread *threads)
{
	struct dt *dt = threads->dt;
	u32 i, cpu = cpumask_first(cpu_online_mask);

	for (i = 0; i < threads->n; i++) {
		struct task_struct *task;

		task = kthread_create(dt_thread_fn, &threads[i], "dt/%u", i);
		if (IS_ERR(task)) {
			KUNIT_FAIL(dt->test, "thread %u: error %ld", i,
				   PTR_ERR(task));
			continue;
		}
		threads[i].task = get_task_struct(task);
		dt_count(dt, &dt->n_threads, 1);
		kthread_bind(task, cpu);
		cpu = cpumask_next(cpu, cpu_online_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_online_mask);
	}
	for (i = 0; i < threads->n; i++)
		if (threads[i].task)
			wake_up_process(threads[i].task);
}

/**
 * dt_threads_join - wait until threads have ended
 * @threads: from dt_threads()
 *
 * Context: the case's thread.
 */
void dt_threads_join(struct dt_thread *threads)
{
	struct dt *dt = threads->dt;
	u32 i;

	for (i = 0; i < threads->n; i++) {
		if (!threads[i].task)
			continue;
		/* Each step of a thread has its own, shorter patience. */
		if (wait_for_completion_timeout(&threads[i].ended,
						3 * DT_PATIENCE)) {
			dt_count(dt, &dt->n_threads, -1);
			put_task_struct(threads[i].task);
		} else {
			struct task_struct *task = threads[i].task;

			KUNIT_FAIL(dt->test,
				   "thread %u does not end: state %x policy %u prio %d throttled %u",
				   i, READ_ONCE(task->__state), task->policy,
				   task->prio, task->dl.dl_throttled);
		}
	}
}
