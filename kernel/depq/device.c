// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

#include "internal.h"

/**
 * DOC: devices
 *
 * A device knows its live queues, so that it can kill those that remain
 * when it goes away, and has two ordered workqueues. One handles the timeouts of
 * all its queues, one after another. Memory reclaim may wait for the
 * fence of a job that hangs, so this workqueue has a rescuer, and nothing on it
 * may wait for memory. The other one releases queues and finished jobs, which
 * may take a while and need memory: drivers may free anything there, and the
 * last queue of a worker destroys its workqueue, for which destroy_workqueue()
 * takes a mutex under which others allocate.
 */

/**
 * depq_device_init() - prepare a device for queues
 * @dev: memory for it
 * @name: for messages and names of the workqueues; not copied
 *
 * Context: process, may sleep.
 * Return:
 * * 0 - success
 * * -ENOMEM - out of memory
 */
int depq_device_init(struct depq_device *dev, const char *name)
{
	might_sleep();
	dev->timeout_wq = alloc_ordered_workqueue("%s-timeout", WQ_MEM_RECLAIM,
						  name);
	if (!dev->timeout_wq)
		return -ENOMEM;
	dev->release_wq = alloc_ordered_workqueue("%s-release", 0, name);
	if (!dev->release_wq) {
		destroy_workqueue(dev->timeout_wq);
		return -ENOMEM;
	}

	dev->name = name;
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->queues);
	atomic_set(&dev->live, 1);
	init_completion(&dev->idle);
	return 0;
}
EXPORT_SYMBOL_GPL(depq_device_init);

/**
 * depq_device_fini() - shut down a device and all its queues
 * @dev: the device, for which no more queues are being initialised
 *
 * Kills the remaining queues with -ENODEV and waits until all are
 * released. That takes as long as a driver holds references to one of them or
 * its jobs, and until all fences that jobs depend on have signalled.
 *
 * Context: process, may sleep; not on a workqueue of the device.
 */
void depq_device_fini(struct depq_device *dev)
{
	struct depq_queue *queue;

	might_sleep();
	spin_lock(&dev->lock);
	list_for_each_entry(queue, &dev->queues, link) {
		/* A queue without references waits for its release work. */
		if (!kref_get_unless_zero(&queue->ref))
			continue;
		depq_queue_kill(queue, -ENODEV);
		depq_queue_put(queue);
	}
	spin_unlock(&dev->lock);

	if (!atomic_dec_and_test(&dev->live))
		wait_for_completion(&dev->idle);
	/* The work that has completed @idle may still be running. */
	destroy_workqueue(dev->release_wq);
	destroy_workqueue(dev->timeout_wq);
	WARN_ON_ONCE(!list_empty(&dev->queues));
}
EXPORT_SYMBOL_GPL(depq_device_fini);
