// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/kthread.h>

#include "internal.h"

/**
 * DOC: workers that are threads
 *
 * A dedicated thread wakes up without asking the workqueue code for a worker,
 * and the administrator can give it a priority.
 */

static int depq_worker_kthread_start(struct depq_worker *worker,
				     const char *name)
{
	struct kthread_worker *kthread = kthread_run_worker(0, "%s", name);

	if (IS_ERR(kthread))
		return PTR_ERR(kthread);
	worker->kthread = kthread;
	return 0;
}

static void depq_worker_kthread_stop(struct depq_worker *worker)
{
	kthread_destroy_worker(worker->kthread);
}

static void depq_worker_kthread_work(struct kthread_work *work)
{
	depq_queue_work(container_of(work, struct depq_queue, kwork));
}

/**
 * depq_worker_kthread_prepare() - &depq_worker_ops.prepare of all threads
 * @queue: the queue
 *
 * Context: any.
 */
void depq_worker_kthread_prepare(struct depq_queue *queue)
{
	kthread_init_work(&queue->kwork, depq_worker_kthread_work);
}

/**
 * depq_worker_kthread_kick() - &depq_worker_ops.kick of all threads
 * @worker: the worker
 * @queue: the queue
 *
 * Context: any.
 * Return: whether it was queued
 */
bool depq_worker_kthread_kick(struct depq_worker *worker,
			      struct depq_queue *queue)
{
	return kthread_queue_work(worker->kthread, &queue->kwork);
}

/* DEPQ_WORKER_KTHREAD */
const struct depq_worker_ops depq_worker_kthread_ops = {
	.start = depq_worker_kthread_start,
	.stop = depq_worker_kthread_stop,
	.prepare = depq_worker_kthread_prepare,
	.kick = depq_worker_kthread_kick,
};
