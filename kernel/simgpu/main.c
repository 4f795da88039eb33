// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simgpu
 *
 * A mock GPU to test queue designs. There is one device with a number of
 * engines, each of which executes jobs by letting time pass (engine.c). Jobs
 * come from user space (node.c, ioctl.c, submit.c) and pass through contexts
 * (context.c), whose queue is one of two designs (backend_drm.c, backend_depq.c),
 * to the engine; user space reads the records of what happened (record.c).
 *
 * The device is on the faux bus (in older kernels, the platform bus) and can be
 * unbound at any time. Its memory belongs to the DRM device, which is released
 * once it is unbound, the last file is closed and the teardown of all contexts
 * is complete.
 *
 * The module cannot be removed while a file is open or an engine fence exists,
 * and each job has one: jobs that wait for somebody else's fence keep the
 * module loaded.
 */

#include <linux/dma-mapping.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/stat.h>

#include <drm/drm_drv.h>

#include "file.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* The interval of warnings while contexts do not end. */
#define SIMGPU_REMOVE_WARN	(10 * HZ)

#define SIMGPU_COALESCE_JOBS_MAX	256
#define SIMGPU_COALESCE_US_MAX		10000

static unsigned int engines = 7;
module_param(engines, uint, 0444);
MODULE_PARM_DESC(engines, "number of engines, 1 to 64 (default 7)");

static bool parallel;
module_param(parallel, bool, 0444);
MODULE_PARM_DESC(parallel,
		 "engines execute all their jobs at once (default 0: in turn)");

static char *completion = "hardirq";
module_param(completion, charp, 0444);
MODULE_PARM_DESC(completion,
		 "where fences are signalled: hardirq (default), thread or work");

static unsigned int coalesce_jobs = 1;
module_param(coalesce_jobs, uint, 0444);
MODULE_PARM_DESC(coalesce_jobs,
		 "jobs for which there is one interrupt, 1 to 256 (default 1)");

static unsigned int coalesce_us = 100;
module_param(coalesce_us, uint, 0444);
MODULE_PARM_DESC(coalesce_us,
		 "after so long it comes for fewer, 1 to 10000 us (default 100)");

static ushort mode = 0600;
module_param(mode, ushort, 0444);
MODULE_PARM_DESC(mode, "permission bits of the render node (default 0600)");

static int simgpu_alloc_queues(struct simgpu_device *dev)
{
	/* All of these are needed to signal fences: WQ_MEM_RECLAIM. */
	dev->tdr_wq = alloc_ordered_workqueue("simgpu-tdr", WQ_MEM_RECLAIM);
	dev->highpri_wq = alloc_workqueue("simgpu-hi", WQ_HIGHPRI | WQ_PERCPU |
					  WQ_MEM_RECLAIM, 0);
	dev->unbound_wq = alloc_workqueue("simgpu-unbound", WQ_UNBOUND |
					  WQ_MEM_RECLAIM, 0);
	dev->done_wq = alloc_workqueue("simgpu-done", WQ_HIGHPRI | WQ_PERCPU |
				       WQ_MEM_RECLAIM, 0);
	dev->teardown_wq = alloc_workqueue("simgpu-end", WQ_MEM_RECLAIM |
					   WQ_UNBOUND, 0);
	if (!dev->tdr_wq || !dev->highpri_wq || !dev->unbound_wq ||
	    !dev->done_wq || !dev->teardown_wq)
		return -ENOMEM;
	return depq_device_init(&dev->depq, "simgpu");
}

static void simgpu_free_queues(struct simgpu_device *dev)
{
	if (dev->teardown_wq)
		destroy_workqueue(dev->teardown_wq);
	if (dev->done_wq)
		destroy_workqueue(dev->done_wq);
	if (dev->unbound_wq)
		destroy_workqueue(dev->unbound_wq);
	if (dev->highpri_wq)
		destroy_workqueue(dev->highpri_wq);
	if (dev->tdr_wq)
		destroy_workqueue(dev->tdr_wq);
}

/* All contexts were closed and have no jobs: they end by themselves. */
static void simgpu_device_wait(struct simgpu_device *dev)
{
	if (atomic_dec_and_test(&dev->live))
		complete(&dev->idle);
	while (!wait_for_completion_timeout(&dev->idle, SIMGPU_REMOVE_WARN))
		pr_warn("simgpu: removal waits: %d contexts do not end\n",
			atomic_read(&dev->live));
}

static void simgpu_device_fini(struct simgpu_device *dev)
{
	u32 i;

	simgpu_device_wait(dev);
	/* The last work functions may not have returned yet. */
	flush_workqueue(dev->teardown_wq);
	/* Contexts held objects, so this comes after them. */
	simgpu_shrinker_fini(dev);
	simgpu_depq_put_workers(dev);
	depq_device_fini(&dev->depq);
	for (i = 0; i < dev->n_engines; i++)
		simgpu_engine_fini(&dev->engines[i]);
	simgpu_free_queues(dev);
	WARN_ON_ONCE(atomic_read(&dev->jobs));
	mutex_destroy(&dev->contexts_mutex);
	mutex_destroy(&dev->worker_mutex);
	mutex_destroy(&dev->free_mutex);
}

/**
 * simgpu_device_release() - clean up the device
 * @drm: the DRM device, without references: no file is open or will be opened
 *
 * Context: process, sleeps.
 */
void simgpu_device_release(struct drm_device *drm)
{
	struct simgpu_device *dev = container_of(drm, struct simgpu_device,
						 drm);

	if (dev->ready)
		simgpu_device_fini(dev);
}

static int simgpu_device_init(struct simgpu_device *dev)
{
	int ret = 0;

	if (simgpu_alloc_queues(dev)) {
		simgpu_free_queues(dev);
		return -ENOMEM;
	}
	init_llist_head(&dev->free_jobs);
	INIT_WORK(&dev->free_work, simgpu_job_free_work);
	mutex_init(&dev->free_mutex);
	mutex_init(&dev->worker_mutex);
	mutex_init(&dev->contexts_mutex);
	INIT_LIST_HEAD(&dev->contexts);
	atomic_set(&dev->live, 1);
	init_completion(&dev->idle);
	dev->parallel = parallel;
	dev->completion = simgpu_completion_find(completion);
	dev->coalesce_jobs = coalesce_jobs;
	dev->coalesce_ns = (u64)coalesce_us * NSEC_PER_USEC;
	/* From here on simgpu_device_release() cleans up the rest. */
	dev->ready = true;
	ret = simgpu_shrinker_init(dev);
	while (!ret && dev->n_engines < engines) {
		ret = simgpu_engine_init(&dev->engines[dev->n_engines], dev,
					 dev->n_engines);
		dev->n_engines++;
	}
	return ret;
}

/**
 * simgpu_probe() - create the DRM device
 * @parent: the device on the bus, which manages its resources
 *
 * Context: process, sleeps.
 * Return: 0, -ENOMEM, or an error of DRM.
 */
int simgpu_probe(struct device *parent)
{
	struct simgpu_device *dev;
	int ret;

	/* Importing a buffer of another device requires DMA addresses. */
	ret = dma_coerce_mask_and_coherent(parent, DMA_BIT_MASK(64));
	if (ret)
		return ret;
	dev = devm_drm_dev_alloc(parent, &simgpu_driver, struct simgpu_device,
				 drm);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	ret = simgpu_device_init(dev);
	if (ret)
		return ret;
	simgpu_node_mode(dev, mode);
	dev_set_drvdata(parent, dev);
	ret = drm_dev_register(&dev->drm, 0);
	if (ret)
		return ret;
	simgpu_debugfs_init(dev);
	return 0;
}

/**
 * simgpu_remove() - remove the DRM device from user space
 * @parent: the device on the bus
 *
 * Context: process, sleeps.
 */
void simgpu_remove(struct device *parent)
{
	struct simgpu_device *dev = dev_get_drvdata(parent);

	simgpu_debugfs_exit();
	drm_dev_unplug(&dev->drm);
}

static int __init simgpu_check_parameters(void)
{
	if (!engines || engines > SIMGPU_ENGINES_MAX || mode & ~0777) {
		pr_err("simgpu: engines=%u mode=%#o: engines is 1 to %u, mode has permission bits only\n",
		       engines, mode, SIMGPU_ENGINES_MAX);
		return -EINVAL;
	}
	if (simgpu_completion_find(completion) < 0 || !coalesce_jobs ||
	    coalesce_jobs > SIMGPU_COALESCE_JOBS_MAX || !coalesce_us ||
	    coalesce_us > SIMGPU_COALESCE_US_MAX) {
		pr_err("simgpu: completion=%s coalesce_jobs=%u coalesce_us=%u: completion is hardirq, thread or work, coalesce_jobs 1 to %u, coalesce_us 1 to %u\n",
		       completion, coalesce_jobs, coalesce_us,
		       SIMGPU_COALESCE_JOBS_MAX, SIMGPU_COALESCE_US_MAX);
		return -EINVAL;
	}
	return 0;
}

static int __init simgpu_init(void)
{
	int ret = simgpu_check_parameters();

	if (ret)
		return ret;
	ret = simgpu_fence_init();
	if (ret)
		return ret;
	ret = simgpu_job_init();
	if (ret)
		goto fence;
	ret = simgpu_bus_add();
	if (ret)
		goto job;
	return 0;

job:
	simgpu_job_exit();
fence:
	simgpu_fence_exit();
	return ret;
}

static void __exit simgpu_exit(void)
{
	simgpu_bus_remove();
	simgpu_job_exit();
	simgpu_fence_exit();
}

module_init(simgpu_init);
module_exit(simgpu_exit);

MODULE_DESCRIPTION("Mock GPU with drm_sched and depq queues");
MODULE_LICENSE("GPL");
