// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: records of jobs
 *
 * Records are in the ring of the context. The engine writes t_run, t_hw, order
 * and flags without a lock. The time and error of a job's fence are taken
 * from the fence when a record is read.
 */

#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "backend.h"
#include "file.h"
#include "trace.h"

/* Size of the first version of struct simgpu_record. */
#define SIMGPU_RECORD_SIZE_MIN	offsetofend(struct simgpu_record, flags)

/* Longer waits have no limit; a century is enough for anybody. */
#define SIMGPU_TIMEOUT_JIFFIES_MAX	(100ULL * 365 * 24 * 3600 * HZ)

/*
 * Returns when the fence has signalled; 0 if it has not.
 *
 * The time is written a little after the fence counts as signalled, both under
 * its lock. In between, this waits for the lock rather than spin until the time
 * is there, as dma_fence_timestamp() does: on PREEMPT_RT the signaller may have
 * been preempted by the caller.
 */
static u64 simgpu_fence_time(struct dma_fence *fence)
{
	unsigned long flags;

	if (!dma_fence_is_signaled(fence))
		return 0;
	if (!test_bit(DMA_FENCE_FLAG_TIMESTAMP_BIT, &fence->flags)) {
		dma_fence_lock_irqsave(fence, flags);
		dma_fence_unlock_irqrestore(fence, flags);
	}
	smp_rmb();	/* the time was written before the bit */
	return ktime_to_ns(fence->timestamp);
}

/**
 * simgpu_record_snapshot() - read the record of a job
 * @context: the context of the job
 * @seqno: its sequence number
 * @record: filled in
 *
 * Context: process.
 * Return: false if there is no such job or it has left the ring.
 */
bool simgpu_record_snapshot(struct simgpu_context *context, u64 seqno,
			    struct simgpu_record *record)
{
	struct dma_fence *fence;
	struct simgpu_slot *slot;
	u64 time;
	bool held;

	fence = simgpu_context_fence(context, seqno);
	if (!fence)
		return false;
	/*
	 * First check whether it is done, then read what the engine wrote
	 * earlier, so that the record of a finished job is complete.
	 */
	time = simgpu_fence_time(fence);
	smp_rmb(); /* pairs with test_and_set_bit() in dma_fence_signal() */
	slot = &context->ring[seqno & (context->args.ring - 1)];
	spin_lock(&context->ring_lock);
	held = slot->record.seqno == seqno;
	if (held)
		*record = slot->record;
	spin_unlock(&context->ring_lock);
	if (held && time) {
		record->t_done = time;
		record->flags |= SIMGPU_RECORD_DONE;
		record->error = min(dma_fence_get_status(fence), 0);
	}
	dma_fence_put(fence);
	return held;
}

/* Converts nanoseconds to jiffies for sleeping: rounded up, not 0. */
static long simgpu_wait_jiffies(u64 ns)
{
	u64 count = nsecs_to_jiffies64(ns);

	if (count >= SIMGPU_TIMEOUT_JIFFIES_MAX ||
	    count >= MAX_SCHEDULE_TIMEOUT - 1)
		return MAX_SCHEDULE_TIMEOUT;
	return count + 1;
}

/*
 * Waits for the fence. The remaining time is written to *@ns, because the
 * system call is restarted with the same arguments.
 */
static int simgpu_wait_fence(struct dma_fence *fence, u64 *ns)
{
	u64 begin, passed;
	long limit, ret;

	if (dma_fence_is_signaled(fence))
		return 0;
	if (!*ns)
		return -ETIME;
	limit = simgpu_wait_jiffies(*ns);
	begin = ktime_get_ns();
	ret = dma_fence_wait_timeout(fence, true, limit);
	if (ret > 0)
		return 0;
	if (!ret)
		return -ETIME;
	passed = ktime_get_ns() - begin;
	if (limit != MAX_SCHEDULE_TIMEOUT)
		*ns -= min(passed, *ns);
	return ret;
}

/**
 * simgpu_wait() - wait for a job
 * @file: the file that owns its context
 * @args: in and out; out also with -ERESTARTSYS
 *
 * Context: process, sleeps.
 * Return:
 * * 0 - the job is done
 * * -EINVAL - bad arguments
 * * -ENOENT - no such context, no such job, or it has left the ring
 * * -ETIME - the time has expired
 * * -ERESTARTSYS - a signal was received; @args->timeout_ns is the remaining time
 */
int simgpu_wait(struct simgpu_file *file, struct simgpu_wait *args)
{
	struct simgpu_context *context;
	struct simgpu_record record;
	struct dma_fence *fence;
	bool announced;
	u64 t_wake;
	int ret;

	if (args->pad || args->pad2)
		return -EINVAL;
	context = simgpu_context_find(file, args->context);
	if (!context)
		return -ENOENT;
	fence = simgpu_context_fence(context, args->seqno);
	if (!fence) {
		ret = -ENOENT;
		goto out;
	}
	trace_simgpu_wait_begin(context, args->seqno, 0);
	announced = context->backend->wait_begin &&
		    context->backend->wait_begin(context);
	ret = simgpu_wait_fence(fence, &args->timeout_ns);
	t_wake = ktime_get_ns();
	if (announced)
		context->backend->wait_end(context);
	trace_simgpu_wait_end(context, args->seqno, ret);
	if (!ret) {
		bool held = simgpu_record_snapshot(context, args->seqno,
						   &record);

		args->error = min(dma_fence_get_status(fence), 0);
		args->t_run = held ? record.t_run : 0;
		args->t_hw = held ? record.t_hw : 0;
		args->t_wake = t_wake;
	}
	dma_fence_put(fence);
out:
	simgpu_context_put(context);
	return ret;
}

/* Writes one record in the size that the caller expects. */
static int simgpu_record_put(void __user *to, u32 size,
			     const struct simgpu_record *record)
{
	u32 known = min_t(u32, size, sizeof(*record));

	if (copy_to_user(to, record, known))
		return -EFAULT;
	if (clear_user(to + known, size - known))
		return -EFAULT;
	return 0;
}

static int simgpu_read_records(struct simgpu_context *context,
			       struct simgpu_read *args)
{
	u8 __user *to = u64_to_user_ptr(args->records);
	/* pairs with smp_store_release() in submit.c */
	u64 newest = smp_load_acquire(&context->seqno);
	u64 ring = context->args.ring;
	u64 seqno = max(args->first, 1ULL);
	struct simgpu_record record;
	u32 n = 0;

	if (newest >= ring)
		seqno = max(seqno, newest - ring + 1);
	for (; seqno <= newest && n < args->n; seqno++) {
		int ret;

		if (!simgpu_record_snapshot(context, seqno, &record)) {
			/* Overwritten: start later, or end after those copied. */
			if (n)
				break;
			continue;
		}
		ret = simgpu_record_put(to, args->record_size, &record);
		if (ret)
			return ret;
		to += args->record_size;
		if (!n++)
			args->first = seqno;
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	args->n = n;
	return 0;
}

/**
 * simgpu_read() - read the records of jobs
 * @file: the file that owns their context
 * @args: in and out
 *
 * Context: process, sleeps.
 * Return: 0, -EINVAL, -E2BIG, -EFAULT, or -ENOENT if there is no such context.
 */
int simgpu_read(struct simgpu_file *file, struct simgpu_read *args)
{
	struct simgpu_context *context;
	int ret;

	if (args->pad || args->record_size < SIMGPU_RECORD_SIZE_MIN)
		return -EINVAL;
	if (args->record_size > PAGE_SIZE)
		return -E2BIG;
	context = simgpu_context_find(file, args->context);
	if (!context)
		return -ENOENT;
	ret = simgpu_read_records(context, args);
	simgpu_context_put(context);
	return ret;
}

/* Counts the jobs that have signalled, and the failed ones among them. */
static void simgpu_count_done(struct simgpu_context *context,
			      struct simgpu_stats *stats)
{
	u32 mask = context->args.ring - 1;
	u64 newest = context->seqno;
	u64 n = min_t(u64, newest, context->args.ring);

	stats->done = context->submitted;
	stats->failed = context->failed;
	while (n--) {
		struct simgpu_slot *slot = &context->ring[(newest - n) & mask];
		int status = dma_fence_get_status(slot->fence);

		if (!status)
			stats->done--;
		else if (status < 0)
			stats->failed++;
	}
}

/**
 * simgpu_stats_locked() - read the statistics of a context
 * @context: locked, not closed
 * @stats: filled in
 *
 * Context: process, under &simgpu_context.submit.
 */
void simgpu_stats_locked(struct simgpu_context *context,
			 struct simgpu_stats *stats)
{
	lockdep_assert_held(&context->submit);
	*stats = (struct simgpu_stats) {
		.context = context->id,
		.submitted = context->submitted,
		.bypassed = atomic64_read(&context->bypassed),
		.timedout = atomic64_read(&context->timedout),
		.no_hang = atomic64_read(&context->no_hang),
		.released = atomic64_read(&context->released),
	};
	simgpu_count_done(context, stats);
	context->backend->stats(context, stats);
	if (context->error)
		stats->banned = 1;
}

/**
 * simgpu_stats() - read the statistics of a context
 * @file: the file that owns it
 * @args: in and out
 *
 * Context: process, sleeps.
 * Return: 0, -EINVAL, -ENOENT, or -ERESTARTSYS.
 */
int simgpu_stats(struct simgpu_file *file, struct simgpu_stats *args)
{
	struct simgpu_context *context;
	int ret;

	if (args->pad)
		return -EINVAL;
	context = simgpu_context_find(file, args->context);
	if (!context)
		return -ENOENT;
	ret = simgpu_context_lock(context);
	if (!ret) {
		simgpu_stats_locked(context, args);
		mutex_unlock(&context->submit);
	}
	simgpu_context_put(context);
	return ret;
}
