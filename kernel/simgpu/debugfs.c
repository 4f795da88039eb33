// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: debugfs
 *
 * In /sys/kernel/debug/simgpu, for humans; programs use the ioctls.
 *
 * - engines: one line for each engine, with its counters;
 * - contexts: one line for each context, with its counters, while it is
 *   open and no submission to it is in progress;
 * - schedulers: one line for each open context on drm_sched, with the number of
 *   its scheduler and the workqueue that runs its jobs, likewise;
 * - live: numbers of existing objects;
 * - shrinker: pages that may be purged, and that were purged;
 * - deadlines: how many were set on engine fences, how many were the earliest
 *   of their fence, and the last of the latter;
 * - sizes: memory of the objects of each design.
 */

#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "backend.h"
#include "file.h"

static struct dentry *simgpu_debugfs;

static int engines_show(struct seq_file *m, void *unused)
{
	struct simgpu_device *dev = m->private;
	u32 i;

	seq_puts(m, "engine order interrupts completed busy_ns deferred\n");
	for (i = 0; i < dev->n_engines; i++) {
		struct simgpu_engine *engine = &dev->engines[i];
		u64 order, interrupts, completed, busy_ns, deferred;
		unsigned long flags;

		spin_lock_irqsave(&engine->lock, flags);
		order = engine->order;
		interrupts = engine->interrupts;
		completed = engine->completed;
		busy_ns = engine->busy_ns;
		deferred = engine->deferred;
		spin_unlock_irqrestore(&engine->lock, flags);
		seq_printf(m, "%u %llu %llu %llu %llu %llu\n", i, order,
			   interrupts, completed, busy_ns, deferred);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(engines);

static void simgpu_show_context(struct seq_file *m,
				struct simgpu_context *context)
{
	struct simgpu_stats stats;

	seq_printf(m, "%u %u %s ", context->engine->index, context->id,
		   context->backend->name);
	if (!mutex_trylock(&context->submit)) {
		seq_puts(m, "busy\n");
		return;
	}
	if (context->closed) {
		mutex_unlock(&context->submit);
		seq_printf(m, "closed, %lld released\n",
			   (long long)atomic64_read(&context->released));
		return;
	}
	simgpu_stats_locked(context, &stats);
	mutex_unlock(&context->submit);
	seq_printf(m, "%s %llu %llu %llu %llu %llu %llu %llu",
		   stats.banned ? "banned" : "open", stats.submitted,
		   stats.bypassed, stats.done, stats.failed, stats.timedout,
		   stats.no_hang, stats.released);
	seq_printf(m, " %llu %llu %llu %llu %llu %llu %llu %u %u %u %llu\n", stats.put_irq,
		   stats.put_submit, stats.put_worker, stats.put_delayed,
		   stats.kicks, stats.raises, stats.lowers, stats.credits,
		   stats.queued, stats.pending, stats.softirqs);
}

static int contexts_show(struct seq_file *m, void *unused)
{
	struct simgpu_device *dev = m->private;
	struct simgpu_context *context;

	seq_puts(m, "engine context design state submitted bypassed done failed timedout no_hang released put_irq put_submit put_worker put_delayed kicks raises lowers credits queued pending softirqs\n");
	mutex_lock(&dev->contexts_mutex);
	list_for_each_entry(context, &dev->contexts, link)
		simgpu_show_context(m, context);
	mutex_unlock(&dev->contexts_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(contexts);

static void simgpu_show_scheduler(struct seq_file *m,
				  struct simgpu_context *context)
{
	if (!context->backend->show || !mutex_trylock(&context->submit))
		return;
	if (!context->closed) {
		seq_printf(m, "%u %u ", context->engine->index, context->id);
		context->backend->show(context, m);
		seq_putc(m, '\n');
	}
	mutex_unlock(&context->submit);
}

static int schedulers_show(struct seq_file *m, void *unused)
{
	struct simgpu_device *dev = m->private;
	struct simgpu_context *context;

	seq_puts(m, "engine context scheduler workqueue\n");
	mutex_lock(&dev->contexts_mutex);
	list_for_each_entry(context, &dev->contexts, link)
		simgpu_show_scheduler(m, context);
	mutex_unlock(&dev->contexts_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(schedulers);

static int live_show(struct seq_file *m, void *unused)
{
	struct simgpu_device *dev = m->private;

	seq_printf(m, "contexts %d\njobs %d\nfences %d\ngone %d\n",
		   atomic_read(&dev->live) - 1, atomic_read(&dev->jobs),
		   simgpu_fences(), READ_ONCE(dev->gone));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(live);

static int shrinker_show(struct seq_file *m, void *unused)
{
	simgpu_shrinker_show(m->private, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(shrinker);

static int deadlines_show(struct seq_file *m, void *unused)
{
	simgpu_fence_show(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(deadlines);

static int sizes_show(struct seq_file *m, void *unused)
{
	static const struct simgpu_backend * const backends[] = {
		&simgpu_backend_drm, &simgpu_backend_depq, &simgpu_backend_none
	};
	int i;

	seq_puts(m, "design queue_bytes job_bytes fence_bytes\n");
	for (i = 0; i < ARRAY_SIZE(backends); i++)
		seq_printf(m, "%s %u %u %u\n", backends[i]->name,
			   backends[i]->queue_bytes, backends[i]->job_bytes,
			   backends[i]->fence_bytes());
	seq_printf(m, "each: context %zu, place in the ring %zu, job %zu, engine fence %u\n",
		   sizeof(struct simgpu_context), sizeof(struct simgpu_slot),
		   sizeof(struct simgpu_job), simgpu_fence_bytes());
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sizes);

/**
 * simgpu_debugfs_init() - create the files
 * @dev: the device that they describe
 *
 * Debugfs may be absent or full: then there are none.
 *
 * Context: process, sleeps.
 */
void simgpu_debugfs_init(struct simgpu_device *dev)
{
	simgpu_debugfs = debugfs_create_dir("simgpu", NULL);
	debugfs_create_file("engines", 0400, simgpu_debugfs, dev,
			    &engines_fops);
	debugfs_create_file("contexts", 0400, simgpu_debugfs, dev,
			    &contexts_fops);
	debugfs_create_file("schedulers", 0400, simgpu_debugfs, dev,
			    &schedulers_fops);
	debugfs_create_file("live", 0400, simgpu_debugfs, dev, &live_fops);
	debugfs_create_file("shrinker", 0400, simgpu_debugfs, dev,
			    &shrinker_fops);
	debugfs_create_file("deadlines", 0400, simgpu_debugfs, dev,
			    &deadlines_fops);
	debugfs_create_file("sizes", 0400, simgpu_debugfs, dev, &sizes_fops);
}

/**
 * simgpu_debugfs_exit() - remove the files
 *
 * Context: process, sleeps until nobody reads them.
 */
void simgpu_debugfs_exit(void)
{
	debugfs_remove(simgpu_debugfs);
}
