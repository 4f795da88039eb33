// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * DOC: workers
 *
 * A worker runs the jobs that no submitter runs, and drops the references of
 * queues with %DEPQ_PUT_WORKER to finished jobs. Any number of queues may share
 * one. A kind of worker is a &struct depq_worker_ops in a separate file, plus a
 * line in depq_worker_kinds.
 *
 * A queue is handed to its worker at most once at a time: &depq_queue.kicked
 * means that it was and that depq_queue_work() has not begun yet. That call
 * owns a reference to the queue. The queue holds one to the worker, so a
 * worker has no work when its last reference is put. That always happens in
 * process context, on the workqueue of a device for releases or in the driver,
 * never on the worker itself.
 */

static const struct depq_worker_ops * const depq_worker_kinds[] = {
	[DEPQ_WORKER_SYSTEM] = &depq_worker_system_ops,
	[DEPQ_WORKER_WQ] = &depq_worker_wq_ops,
	[DEPQ_WORKER_HIGHPRI] = &depq_worker_highpri_ops,
	[DEPQ_WORKER_KTHREAD] = &depq_worker_kthread_ops,
	[DEPQ_WORKER_FOLLOW] = &depq_worker_follow_ops,
	[DEPQ_WORKER_FOLLOW_MIN] = &depq_worker_follow_min_ops,
};

static_assert(ARRAY_SIZE(depq_worker_kinds) == DEPQ_WORKER_COUNT);

/**
 * depq_worker_create() - create a worker
 * @kind: its kind
 * @name: name of its workqueue or thread
 *
 * Context: process, may sleep.
 * Return:
 * * the worker, with one reference
 * * ERR_PTR(-EINVAL) - there is no such kind
 * * ERR_PTR(-ENOMEM) - out of memory
 * * ERR_PTR(-EINTR) - the caller was killed while the thread was being created
 */
struct depq_worker *depq_worker_create(enum depq_worker_kind kind,
				       const char *name)
{
	struct depq_worker *worker;
	int ret;

	might_sleep();
	if ((u32)kind >= DEPQ_WORKER_COUNT)
		return ERR_PTR(-EINVAL);
	/* The kind may come from user space. */
	kind = array_index_nospec(kind, DEPQ_WORKER_COUNT);

	worker = kzalloc(sizeof(*worker), GFP_KERNEL_ACCOUNT);
	if (!worker)
		return ERR_PTR(-ENOMEM);

	kref_init(&worker->ref);
	worker->ops = depq_worker_kinds[kind];
	ret = worker->ops->start(worker, name);
	if (ret) {
		kfree(worker);
		return ERR_PTR(ret);
	}
	return worker;
}
EXPORT_SYMBOL_GPL(depq_worker_create);

/**
 * depq_worker_get() - take a reference
 * @worker: the worker, to which the caller has a reference
 *
 * Context: any.
 * Return: @worker
 */
struct depq_worker *depq_worker_get(struct depq_worker *worker)
{
	kref_get(&worker->ref);
	return worker;
}
EXPORT_SYMBOL_GPL(depq_worker_get);

static void depq_worker_release(struct kref *ref)
{
	struct depq_worker *worker = container_of(ref, struct depq_worker, ref);

	worker->ops->stop(worker);
	kfree(worker);
}

/**
 * depq_worker_put() - put a reference
 * @worker: the worker, or NULL
 *
 * Context: process, may sleep.
 */
void depq_worker_put(struct depq_worker *worker)
{
	might_sleep();
	if (worker)
		kref_put(&worker->ref, depq_worker_release);
}
EXPORT_SYMBOL_GPL(depq_worker_put);

/**
 * depq_worker_prepare() - initialise the work of a queue
 * @queue: the queue; its worker is set
 *
 * Context: any.
 */
void depq_worker_prepare(struct depq_queue *queue)
{
	queue->worker->ops->prepare(queue);
}

/**
 * depq_worker_kick() - hand a queue to its worker or to a softirq
 * @queue: the queue, for which depq_queue_want_kick() returned true
 *
 * Consumes the reference that depq_queue_want_kick() took.
 *
 * Context: any. The lock of the queue is not held, so that the worker does not
 * contend for it when it wakes up on another CPU.
 */
void depq_worker_kick(struct depq_queue *queue)
{
	struct depq_worker *worker = queue->worker;

	if (queue->softirq)
		tasklet_schedule(&queue->tasklet);
	else
		WARN_ON_ONCE(!worker->ops->kick(worker, queue));
}
