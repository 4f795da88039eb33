// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: clients
 *
 * A client is an open file as shown in /proc/PID/fdinfo: how long each
 * engine has executed jobs of its contexts, and the memory of its GEM objects
 * (Documentation/gpu/drm-usage-stats.rst). A context outlives its file while
 * it is torn down, so the counters of the engine live as long as either.
 *
 * A job is charged from its start to its end, whether it completed or was taken
 * off the engine. The elapsed time of the current job is included, so
 * the sum over all clients is the busy time of a serial engine. A parallel engine
 * executes several jobs at once, each of which is charged separately.
 */

#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "file.h"

/**
 * simgpu_client_create() - create the usage counters of an open file
 * @dev: the device
 *
 * Context: process, sleeps.
 * Return: the client, with one reference, or NULL.
 */
struct simgpu_client *simgpu_client_create(struct simgpu_device *dev)
{
	struct simgpu_client *client;

	client = kzalloc(struct_size(client, busy_ns, dev->n_engines),
			 GFP_KERNEL_ACCOUNT);
	if (!client)
		return NULL;
	kref_init(&client->ref);
	client->id = atomic64_inc_return(&dev->clients);
	return client;
}

/**
 * simgpu_client_get() - take a reference
 * @client: the client, of which the caller holds or borrows a reference
 *
 * Context: any.
 * Return: @client.
 */
struct simgpu_client *simgpu_client_get(struct simgpu_client *client)
{
	kref_get(&client->ref);
	return client;
}

static void simgpu_client_free(struct kref *ref)
{
	kfree(container_of(ref, struct simgpu_client, ref));
}

/**
 * simgpu_client_put() - drop a reference
 * @client: freed with the last
 *
 * Context: any.
 */
void simgpu_client_put(struct simgpu_client *client)
{
	kref_put(&client->ref, simgpu_client_free);
}

/* Returns how long an engine has executed jobs of the client, up to now. */
static u64 client_engine_ns(struct simgpu_engine *engine,
			    const struct simgpu_client *client)
{
	struct simgpu_job *job;
	unsigned long flags;
	ktime_t now;
	u64 ns;

	spin_lock_irqsave(&engine->lock, flags);
	now = ktime_get();
	ns = client->busy_ns[engine->index];
	list_for_each_entry(job, &engine->running, link) {
		if (job->context->client == client)
			/* The time until a delayed interrupt does not count. */
			ns += ktime_sub(min(now, job->t_end), job->t_start);
		if (!engine->dev->parallel)
			break;
	}
	spin_unlock_irqrestore(&engine->lock, flags);
	return ns;
}

/**
 * simgpu_fdinfo() - print the usage of a client
 * @p: the output
 * @drm_file: the client's file
 *
 * Context: process, sleeps.
 */
void simgpu_fdinfo(struct drm_printer *p, struct drm_file *drm_file)
{
	struct simgpu_file *file = drm_file->driver_priv;
	u32 i;

	for (i = 0; i < file->dev->n_engines; i++)
		drm_printf(p, "drm-engine-sim%u:\t%llu ns\n", i,
			   client_engine_ns(&file->dev->engines[i],
					    file->client));
#ifdef HAVE_DRM_FDINFO
	drm_show_memory_stats(p, drm_file);
#endif
}

#ifndef HAVE_DRM_FDINFO
/**
 * simgpu_show_fdinfo() - replacement for drm_show_fdinfo() in older kernels
 * @m: the output
 * @filp: the open file
 *
 * Context: process, sleeps.
 */
void simgpu_show_fdinfo(struct seq_file *m, struct file *filp)
{
	struct drm_file *drm_file = filp->private_data;
	struct simgpu_file *file = drm_file->driver_priv;
	struct drm_printer p = drm_seq_file_printer(m);

	drm_printf(&p, "drm-driver:\t%s\n", file->dev->drm.driver->name);
	drm_printf(&p, "drm-client-id:\t%llu\n", file->client->id);
	simgpu_fdinfo(&p, drm_file);
}
#endif
