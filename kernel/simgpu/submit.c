// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: submission
 *
 * A submission of n jobs goes through five steps, the last of which cannot
 * fail, so that all jobs are submitted or none:
 *
 * 1. copy and check the arguments;
 * 2. take &simgpu_context.submit with room in the ring: every entry that the
 *    jobs will use is free, that is, its previous job has signalled.
 *    Waiting for that happens without the mutex, so that it blocks nobody else,
 *    and can be interrupted, as nothing was done yet;
 * 3. for each job allocate the job and its engine fence, let the back end
 *    prepare it, resolve its dependencies, reserve a descriptor and make a
 *    sync_file (prepare.c);
 * 4. write the results (descriptors, sequence numbers) to the caller's memory.
 *    If there is more than one location, all are first written with their current
 *    contents, so that read-only memory is detected before anything changes.
 *    Only a caller that unmaps memory between the two can see partial results
 *    and -EFAULT, and even then no job was submitted.
 *    If GEM objects are named, they are locked after that (gem.c);
 * 5. commit: nothing is allocated, and nothing sleeps except what a queue without
 *    bypass may do.
 *
 * The finished fence of a drm_sched job is not valid before the job is
 * armed, so a sync_file is created with the kernel's stub fence, and
 * gets the right one in step 5, before anybody else can see it.
 *
 * The common submission, one job without dependencies and without a fence for
 * user space, allocates only the job, the engine fence and what the back end
 * needs.
 */

#include <linux/file.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "backend.h"
#include "submit.h"
#include "trace.h"

#define SIMGPU_EXECS_MAX	256
#define SIMGPU_DEPS_MAX		1024
#define SIMGPU_DURATION_MAX	(60 * NSEC_PER_SEC)
#define SIMGPU_RUN_COST_MAX	(10 * NSEC_PER_MSEC)

/* Size of the first version of struct simgpu_exec. */
#define SIMGPU_EXEC_SIZE_MIN	offsetofend(struct simgpu_exec, seqno)

/* The results are contiguous. */
#define SIMGPU_EXEC_OUT		offsetof(struct simgpu_exec, out_fence)
#define SIMGPU_EXEC_OUT_BYTES	(SIMGPU_EXEC_SIZE_MIN - SIMGPU_EXEC_OUT)

struct simgpu_results {
	__s32 out_fence;
	__u32 out_syncobj;
	__u64 seqno;
};

static_assert(sizeof(struct simgpu_results) == SIMGPU_EXEC_OUT_BYTES);

static void __user *simgpu_exec_user(const struct simgpu_submission *s, u32 i)
{
	return u64_to_user_ptr(s->args->execs) + (size_t)i * s->args->exec_size;
}

static bool simgpu_exec_valid(const struct simgpu_context *context,
			      const struct simgpu_exec *exec, u32 i)
{
	if (exec->flags & ~SIMGPU_EXEC_FLAGS)
		return false;
	if (!(exec->flags & SIMGPU_EXEC_SYNCOBJ_OUT) &&
	    (exec->out_syncobj || exec->out_point))
		return false;
	if (exec->flags & SIMGPU_EXEC_CHAIN && !i)
		return false;
	if (exec->n_deps > SIMGPU_DEPS_MAX)
		return false;
	if (exec->duration_ns > SIMGPU_DURATION_MAX ||
	    exec->duration_spread_ns > SIMGPU_DURATION_MAX ||
	    exec->run_cost_ns > SIMGPU_RUN_COST_MAX)
		return false;
	if (exec->credits > context->args.credit_limit)
		return false;
	if (!simgpu_fault_valid(exec->fault, exec->fault_arg))
		return false;
	if (!(exec->flags & SIMGPU_EXEC_WRITE))
		return !exec->write_offset && !exec->write_value;
	return exec->write_offset < context->memory.bytes &&
	       IS_ALIGNED(exec->write_offset, sizeof(u32));
}

/* Step 1, the part that needs the context. */
static int simgpu_copy_in(struct simgpu_submission *s)
{
	u32 i;

	for (i = 0; i < s->args->n_execs; i++) {
		struct simgpu_prepared *p = &s->jobs[i];
		int ret;

		p->fd = -1;
		ret = copy_struct_from_user(&p->exec, sizeof(p->exec),
					    simgpu_exec_user(s, i),
					    s->args->exec_size);
		if (ret)
			return ret;
		if (!simgpu_exec_valid(s->context, &p->exec, i))
			return -EINVAL;
		if (p->exec.fault &&
		    !simgpu_may_disturb(s->file,
					p->exec.fault == SIMGPU_FAULT_GONE))
			return -EPERM;
	}
	return 0;
}

/*
 * Returns the newest job that blocks n more, with a reference, or NULL.
 * Jobs signal in order, as a rule, so it is the best one to wait for.
 */
static struct dma_fence *simgpu_ring_busy(struct simgpu_context *context,
					  u32 n)
{
	struct dma_fence *fence;

	lockdep_assert_held(&context->submit);
	for (; n; n--) {
		fence = context->ring[(context->seqno + n) &
				      (context->args.ring - 1)].fence;
		if (fence && !dma_fence_is_signaled(fence))
			return dma_fence_get(fence);
	}
	return NULL;
}

/* Step 2. On success the caller must unlock the context. */
static int simgpu_lock_with_room(struct simgpu_submission *s)
{
	struct simgpu_context *context = s->context;
	struct dma_fence *busy;
	long ret;

	for (;;) {
		ret = simgpu_context_lock(context);
		if (ret)
			return ret;
		busy = NULL;
		if (context->error)
			ret = context->error;
		else
			busy = simgpu_ring_busy(context, s->args->n_execs);
		if (!ret && !busy)
			return 0;
		mutex_unlock(&context->submit);
		if (ret)
			return ret;
		if (s->args->flags & SIMGPU_SUBMIT_NONBLOCK)
			ret = -EAGAIN;
		else
			ret = dma_fence_wait(busy, true);
		dma_fence_put(busy);
		if (ret)
			return ret;
	}
}

/* Restores the contents from before the results. */
static int simgpu_copy_back(struct simgpu_submission *s)
{
	u32 i;

	for (i = 0; i < s->args->n_execs; i++)
		if (copy_to_user(simgpu_exec_user(s, i) + SIMGPU_EXEC_OUT,
				 &s->jobs[i].exec.out_fence,
				 SIMGPU_EXEC_OUT_BYTES))
			return -EFAULT;
	return 0;
}

/* Step 4. */
static int simgpu_copy_out(struct simgpu_submission *s)
{
	u32 n = s->args->n_execs, i;
	struct simgpu_results out;
	bool probe;

	/* A single one within a page is written completely or not at all. */
	probe = n > 1 || offset_in_page(simgpu_exec_user(s, 0) +
					SIMGPU_EXEC_OUT) >
			 PAGE_SIZE - SIMGPU_EXEC_OUT_BYTES;
	if (probe && simgpu_copy_back(s))
		return -EFAULT;
	for (i = 0; i < n; i++) {
		out.out_fence = s->jobs[i].fd;
		out.out_syncobj = s->jobs[i].exec.out_syncobj;
		out.seqno = s->context->seqno + 1 + i;
		if (copy_to_user(simgpu_exec_user(s, i) + SIMGPU_EXEC_OUT,
				 &out, sizeof(out)))
			return -EFAULT;
	}
	return 0;
}

/* Installs the fence of a job in its syncobj. */
static void simgpu_signal_by(struct simgpu_prepared *p, struct dma_fence *fence)
{
	if (p->chain)
		drm_syncobj_add_point(p->syncobj, p->chain, fence,
				      p->exec.out_point);
	else
		drm_syncobj_replace_fence(p->syncobj, fence);
	drm_syncobj_put(p->syncobj);
}

/* Step 5 for one job, which may be gone when this returns. */
static void simgpu_commit(struct simgpu_submission *s,
			  struct simgpu_prepared *p)
{
	struct simgpu_context *context = s->context;
	const struct simgpu_backend *backend = context->backend;
	u64 seqno = context->seqno + 1;
	struct simgpu_slot *slot =
		&context->ring[seqno & (context->args.ring - 1)];
	struct dma_fence *fence, *old;
	bool cookie;

	cookie = dma_fence_begin_signalling();
	if (backend->job_arm)
		backend->job_arm(p->job);
	fence = dma_fence_get(backend->job_fence(p->job));

	/* The file's own callback is added only when somebody polls it. */
	if (p->sync_file) {
		dma_fence_put(p->sync_file->fence);
		p->sync_file->fence = dma_fence_get(fence);
	}

	spin_lock(&context->ring_lock);
	old = slot->fence;
	slot->fence = fence;
	slot->record = (struct simgpu_record) {
		.seqno = seqno,
		.cookie = p->exec.cookie,
		.t_enter = s->t_enter,
	};
	spin_unlock(&context->ring_lock);
	p->job->slot = slot;
	trace_simgpu_submit(p->job, p->exec.credits);

	WRITE_ONCE(slot->record.t_commit, ktime_get_ns());
	backend->job_commit(p->job);
	WRITE_ONCE(slot->record.t_return, ktime_get_ns());
	dma_fence_end_signalling(cookie);

	/* The ring holds the fence, even if the job was freed already. */
	simgpu_objects_add(s, fence);
	if (p->syncobj)
		simgpu_signal_by(p, fence);
	context->submitted++;
	/* From here on others can find the fence, which has its number now. */
	smp_store_release(&context->seqno, seqno);
	if (old && dma_fence_get_status(old) < 0)
		context->failed++;
	dma_fence_put(old);
}

/* Steps 3 to 5. */
static int simgpu_submit_locked(struct simgpu_submission *s)
{
	struct simgpu_context *context = s->context;
	int ret = 0;
	u32 i;

	lockdep_assert_held(&context->submit);
	s->random = context->random;
	s->fault_skip = context->fault_skip;
	s->fault_count = context->fault_count;
	for (i = 0; i < s->args->n_execs && !ret; i++) {
		cond_resched();
		ret = simgpu_prepare(s, &s->jobs[i]);
	}
	if (!ret)
		ret = simgpu_copy_out(s);
	if (!ret) {
		ret = simgpu_objects_lock(s);
		if (ret)
			simgpu_copy_back(s);
	}
	if (ret)
		simgpu_unprepare(s);
	/* An injected fault counts when it takes effect, even here. */
	if (!ret || (s->fail && ret == -ENOMEM)) {
		context->fault_skip = s->fault_skip;
		if (context->fault_count && !s->fault_count)
			context->fault = SIMGPU_FAULT_NONE;
		context->fault_count = s->fault_count;
	}
	if (ret)
		return ret;
	context->random = s->random;
	for (i = 0; i < s->args->n_execs; i++) {
		/* Each may take 10 ms if the submitter runs it. */
		if (i)
			cond_resched();
		simgpu_commit(s, &s->jobs[i]);
	}
	simgpu_objects_unlock(s);
	return 0;
}

static int simgpu_submit_to(struct simgpu_submission *s)
{
	u32 i;
	int ret;

	ret = simgpu_copy_in(s);
	if (ret)
		return ret;
	ret = simgpu_objects_get(s);
	if (ret)
		return ret;
	ret = simgpu_lock_with_room(s);
	if (ret)
		return ret;
	ret = simgpu_submit_locked(s);
	mutex_unlock(&s->context->submit);
	if (ret)
		return ret;
	for (i = 0; i < s->args->n_execs; i++)
		if (s->jobs[i].sync_file)
			fd_install(s->jobs[i].fd, s->jobs[i].sync_file->file);
	return 0;
}

/**
 * simgpu_submit() - submit jobs to a context
 * @file: the file that owns it
 * @args: the arguments
 * @t_enter: when the call began
 *
 * Context: process, sleeps.
 * Return:
 * * 0 - all jobs are submitted
 * * -EINVAL, -E2BIG, -EFAULT - bad arguments
 * * -ENOENT - no such context or handle, or no such job to depend on
 * * -EBADF - a dependency is not a sync_file
 * * -EAGAIN - no room, and the caller did not want to wait
 * * -ERESTARTSYS - a signal was received while waiting for room or, without a queue,
 *   for a dependency
 * * -EMFILE, -ENOMEM - no descriptor or memory left
 * * -ECANCELED, -ENODEV - the context was killed or banned
 * * -EPERM - a job has a fault that the caller may not inject
 */
int simgpu_submit(struct simgpu_file *file, const struct simgpu_submit *args,
		  u64 t_enter)
{
	struct simgpu_prepared one = {};
	struct simgpu_submission s = {
		.file = file,
		.args = args,
		.t_enter = t_enter,
		.jobs = &one,
	};
	int ret;

	if (args->flags & ~SIMGPU_SUBMIT_FLAGS || !args->n_execs ||
	    args->n_execs > SIMGPU_EXECS_MAX ||
	    args->exec_size < SIMGPU_EXEC_SIZE_MIN || args->pad)
		return -EINVAL;
	if (args->exec_size > PAGE_SIZE)
		return -E2BIG;
	s.context = simgpu_context_find(file, args->context);
	if (!s.context)
		return -ENOENT;
	ret = -EINVAL;
	if (args->n_execs > s.context->args.ring)
		goto out;
	ret = -ENOMEM;
	if (args->n_execs > 1)
		s.jobs = kvcalloc(args->n_execs, sizeof(*s.jobs),
				  GFP_KERNEL_ACCOUNT);
	if (s.jobs)
		ret = simgpu_submit_to(&s);
	simgpu_objects_put(&s);
	if (args->n_execs > 1)
		kvfree(s.jobs);
out:
	simgpu_context_put(s.context);
	return ret;
}
