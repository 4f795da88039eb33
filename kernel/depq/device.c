// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>

#include "internal.h"

/**
 * DOC: devices
 *
 * A device knows its living queues, so that it can kill those that are left
 * when it goes, and has one ordered workqueue: timeouts of all its queues are
 * handled one after the other there, and queues are released there.
 */

/**
 * depq_device_init() - prepare a device for queues
 * @dev: memory for it
 * @name: for messages and of the workqueue; not copied
 *
 * Context: process, may sleep.
 * Return:
 * * 0 - well
 * * -ENOMEM - out of memory
 */
int depq_device_init(struct depq_device *dev, const char *name)
{
	might_sleep();
	dev->wq = alloc_ordered_workqueue("%s-depq", WQ_MEM_RECLAIM, name);
	if (!dev->wq)
		return -ENOMEM;

	dev->name = name;
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->queues);
	atomic_set(&dev->live, 1);
	init_completion(&dev->idle);
	return 0;
}
EXPORT_SYMBOL_GPL(depq_device_init);

/**
 * depq_device_fini() - end a device and all its queues
 * @dev: the device, for which no queue is being made any more
 *
 * Kills the queues that are left with -ENODEV and waits until all are
 * released. That takes as long as a driver holds on to one of them or to one
 * of their jobs, and until all fences have signalled that jobs depend on.
 *
 * Context: process, may sleep; not on the workqueue of the device.
 */
void depq_device_fini(struct depq_device *dev)
{
	struct depq_queue *queue;

	might_sleep();
	spin_lock(&dev->lock);
	list_for_each_entry(queue, &dev->queues, link) {
		/* One without a reference waits for its release work. */
		if (!kref_get_unless_zero(&queue->ref))
			continue;
		depq_queue_kill(queue, -ENODEV);
		depq_queue_put(queue);
	}
	spin_unlock(&dev->lock);

	if (!atomic_dec_and_test(&dev->live))
		wait_for_completion(&dev->idle);
	/* Waits for the work that said so. */
	destroy_workqueue(dev->wq);
	WARN_ON_ONCE(!list_empty(&dev->queues));
}
EXPORT_SYMBOL_GPL(depq_device_fini);
