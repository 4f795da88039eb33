// SPDX-License-Identifier: GPL-2.0-only
#include <linux/workqueue.h>

#include "internal.h"

/**
 * DOC: workers that are workqueues
 *
 * All but the system's are ordered and have WQ_MEM_RECLAIM: jobs may have to
 * run before memory can be freed.
 */

static int depq_worker_system_start(struct depq_worker *worker,
				    const char *name)
{
	worker->wq = system_percpu_wq;
	return 0;
}

static void depq_worker_system_stop(struct depq_worker *worker)
{
}

static int depq_worker_wq_start(struct depq_worker *worker, const char *name)
{
	worker->wq = alloc_ordered_workqueue("%s", WQ_MEM_RECLAIM, name);
	return worker->wq ? 0 : -ENOMEM;
}

static int depq_worker_highpri_start(struct depq_worker *worker,
				     const char *name)
{
	worker->wq = alloc_ordered_workqueue("%s",
					     WQ_MEM_RECLAIM | WQ_HIGHPRI, name);
	return worker->wq ? 0 : -ENOMEM;
}

static void depq_worker_wq_stop(struct depq_worker *worker)
{
	destroy_workqueue(worker->wq);
}

static void depq_worker_wq_work(struct work_struct *work)
{
	depq_queue_work(container_of(work, struct depq_queue, work));
}

static void depq_worker_wq_prepare(struct depq_queue *queue)
{
	INIT_WORK(&queue->work, depq_worker_wq_work);
}

static bool depq_worker_wq_kick(struct depq_worker *worker,
				struct depq_queue *queue)
{
	return queue_work(worker->wq, &queue->work);
}

/* DEPQ_WORKER_SYSTEM */
const struct depq_worker_ops depq_worker_system_ops = {
	.start = depq_worker_system_start,
	.stop = depq_worker_system_stop,
	.prepare = depq_worker_wq_prepare,
	.kick = depq_worker_wq_kick,
};

/* DEPQ_WORKER_WQ */
const struct depq_worker_ops depq_worker_wq_ops = {
	.start = depq_worker_wq_start,
	.stop = depq_worker_wq_stop,
	.prepare = depq_worker_wq_prepare,
	.kick = depq_worker_wq_kick,
};

/* DEPQ_WORKER_HIGHPRI */
const struct depq_worker_ops depq_worker_highpri_ops = {
	.start = depq_worker_highpri_start,
	.stop = depq_worker_wq_stop,
	.prepare = depq_worker_wq_prepare,
	.kick = depq_worker_wq_kick,
};
