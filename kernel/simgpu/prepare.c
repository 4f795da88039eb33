// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the third step of a submission
 *
 * See submit.c. Everything that can fail for lack of a resource happens
 * here, and each such step can be made to fail with %SIMGPU_FAULT_ALLOC:
 * simgpu_alloc_step() precedes each. On failure simgpu_unprepare() undoes
 * everything.
 *
 * =============  ===========================  ==============================
 * of a job       made by                      taken back by
 * =============  ===========================  ==============================
 * job, fence     simgpu_make_job()            itself, until the back end has
 *                                             the job; then job_abort
 * dependencies   simgpu_add_deps()            job_abort
 * descriptor     simgpu_make_sync_file()      put_unused_fd()
 * sync_file      simgpu_make_sync_file()      fput()
 * syncobj        simgpu_make_syncobj()        drm_syncobj_put()
 * point          simgpu_make_syncobj()        dma_fence_chain_free()
 * =============  ===========================  ==============================
 */

#include <linux/dma-fence-chain.h>
#include <linux/file.h>
#include <linux/math64.h>
#include <linux/uaccess.h>

#include "backend.h"
#include "submit.h"

#define SIMGPU_DEPS_CHUNK	8

/**
 * simgpu_alloc_step() - call before each allocation
 * @s: the submission that allocates
 *
 * Context: process, under &simgpu_context.submit.
 * Return: 0, or -ENOMEM if it was asked to fail.
 */
int simgpu_alloc_step(struct simgpu_submission *s)
{
	if (likely(!s->fail))
		return 0;
	return s->fail_after-- ? 0 : -ENOMEM;
}

/* Decides which fault a job gets. */
static void simgpu_draw_fault(struct simgpu_submission *s,
			      struct simgpu_prepared *p)
{
	const struct simgpu_context *context = s->context;
	u32 fault = p->exec.fault;
	u64 arg = p->exec.fault_arg;

	if (!fault && context->fault) {
		if (s->fault_skip) {
			s->fault_skip--;
		} else if (!context->fault_count || s->fault_count) {
			fault = context->fault;
			arg = context->fault_arg;
			if (context->fault_count)
				s->fault_count--;
		}
	}
	if (fault == SIMGPU_FAULT_ALLOC) {
		s->fail = true;
		s->fail_after = arg;
		fault = SIMGPU_FAULT_NONE;
		arg = 0;
	}
	p->exec.fault = fault;
	p->exec.fault_arg = arg;
}

static u64 simgpu_draw_duration(struct simgpu_submission *s,
				const struct simgpu_exec *exec)
{
	u64 random, spread;

	if (!exec->duration_spread_ns)
		return exec->duration_ns;
	random = (u64)prandom_u32_state(&s->random) << 32;
	random |= prandom_u32_state(&s->random);
	div64_u64_rem(random, exec->duration_spread_ns, &spread);
	return exec->duration_ns + spread;
}

/* Returns the fence of a dependency, with a reference, or an ERR_PTR(). */
static struct dma_fence *simgpu_dep_fence(struct simgpu_submission *s,
					  const struct simgpu_dep *dep)
{
	struct simgpu_context *context;
	struct dma_fence *fence;
	int error;

	switch (dep->kind) {
	case SIMGPU_DEP_FENCE:
		if (dep->context || dep->handle || dep->seqno)
			return ERR_PTR(-EINVAL);
		fence = sync_file_get_fence(dep->fd);
		return fence ? fence : ERR_PTR(-EBADF);
	case SIMGPU_DEP_JOB:
		if (dep->fd || dep->handle)
			return ERR_PTR(-EINVAL);
		context = simgpu_context_find(s->file, dep->context);
		if (!context)
			return ERR_PTR(-ENOENT);
		fence = simgpu_context_fence(context, dep->seqno);
		simgpu_context_put(context);
		return fence ? fence : ERR_PTR(-ENOENT);
	case SIMGPU_DEP_SYNCOBJ:
		if (dep->fd || dep->context)
			return ERR_PTR(-EINVAL);
		error = drm_syncobj_find_fence(s->file->drm, dep->handle,
					       dep->seqno, 0, &fence);
		return error ? ERR_PTR(error) : fence;
	default:
		return ERR_PTR(-EINVAL);
	}
}

static int simgpu_add_deps(struct simgpu_submission *s,
			   struct simgpu_prepared *p)
{
	const struct simgpu_dep __user *user = u64_to_user_ptr(p->exec.deps);
	struct simgpu_dep deps[SIMGPU_DEPS_CHUNK];
	u32 left, n, i;

	for (left = p->exec.n_deps; left; left -= n, user += n) {
		/* Each dependency is compared with all those before it. */
		cond_resched();
		n = min_t(u32, left, ARRAY_SIZE(deps));
		if (copy_from_user(deps, user, n * sizeof(*deps)))
			return -EFAULT;
		for (i = 0; i < n; i++) {
			struct dma_fence *fence;
			int ret;

			fence = simgpu_dep_fence(s, &deps[i]);
			if (IS_ERR(fence))
				return PTR_ERR(fence);
			ret = simgpu_alloc_step(s);
			if (ret) {
				dma_fence_put(fence);
				return ret;
			}
			ret = s->context->backend->job_add_dep(p->job, fence);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/* Returns a job that the back end has accepted, or an ERR_PTR(). */
static struct simgpu_job *simgpu_make_job(struct simgpu_submission *s,
					  const struct simgpu_exec *exec)
{
	struct simgpu_context *context = s->context;
	bool nonblock = s->args->flags & SIMGPU_SUBMIT_NONBLOCK;
	struct simgpu_job *job;
	int error;

	error = simgpu_alloc_step(s);
	if (error)
		return ERR_PTR(error);
	job = simgpu_job_alloc(context);
	if (!job)
		return ERR_PTR(-ENOMEM);

	error = simgpu_alloc_step(s);
	if (error)
		goto fail;
	error = -ENOMEM;
	job->hw = simgpu_fence_create();
	if (!job->hw)
		goto fail;

	job->duration_ns = simgpu_draw_duration(s, exec);
	job->run_cost_ns = exec->run_cost_ns;
	job->fault = exec->fault;
	job->fault_arg = exec->fault_arg;
	job->write = exec->flags & SIMGPU_EXEC_WRITE;
	job->write_offset = exec->write_offset;
	job->write_value = exec->write_value;

	error = simgpu_alloc_step(s);
	if (error)
		goto fail;
	error = context->backend->job_init(job, exec->credits, nonblock);
	if (error)
		goto fail;
	return job;

fail:
	simgpu_job_free(job);
	return ERR_PTR(error);
}

/* Creates a descriptor and a sync_file, without the job's fence yet. */
static int simgpu_make_sync_file(struct simgpu_submission *s,
				 struct simgpu_prepared *p)
{
	struct dma_fence *stub;
	int ret;

	ret = simgpu_alloc_step(s);
	if (ret)
		return ret;
	ret = get_unused_fd_flags(O_CLOEXEC);
	if (ret < 0)
		return ret;
	p->fd = ret;

	ret = simgpu_alloc_step(s);
	if (ret)
		return ret;
	stub = dma_fence_get_stub();
	p->sync_file = sync_file_create(stub);
	dma_fence_put(stub);
	return p->sync_file ? 0 : -ENOMEM;
}

/* Looks up the syncobj that gets the fence, and allocates a timeline point. */
static int simgpu_make_syncobj(struct simgpu_submission *s,
			       struct simgpu_prepared *p)
{
	int ret;

	p->syncobj = drm_syncobj_find(s->file->drm, p->exec.out_syncobj);
	if (!p->syncobj)
		return -ENOENT;
	if (!p->exec.out_point)
		return 0;
	ret = simgpu_alloc_step(s);
	if (ret)
		return ret;
	p->chain = dma_fence_chain_alloc();
	return p->chain ? 0 : -ENOMEM;
}

/**
 * simgpu_prepare() - allocate everything that one job of a submission needs
 * @s: the submission
 * @p: the job; on failure, call simgpu_unprepare() to undo the rest
 *
 * Context: process, sleeps; under &simgpu_context.submit.
 * Return: 0, or an error of simgpu_submit().
 */
int simgpu_prepare(struct simgpu_submission *s, struct simgpu_prepared *p)
{
	struct simgpu_job *job;
	int ret;

	lockdep_assert_held(&s->context->submit);
	if (!p->exec.credits)
		p->exec.credits = 1;
	simgpu_draw_fault(s, p);
	job = simgpu_make_job(s, &p->exec);
	if (IS_ERR(job))
		return PTR_ERR(job);
	p->job = job;
	if (p->exec.n_deps) {
		ret = simgpu_add_deps(s, p);
		if (ret)
			return ret;
	}
	if (p->exec.flags & SIMGPU_EXEC_SYNCOBJ_OUT) {
		ret = simgpu_make_syncobj(s, p);
		if (ret)
			return ret;
	}
	if (p->exec.flags & SIMGPU_EXEC_FENCE_OUT)
		return simgpu_make_sync_file(s, p);
	return 0;
}

/**
 * simgpu_unprepare() - undo simgpu_prepare()
 * @s: the submission, with its jobs prepared completely, partly or not at all
 *
 * Context: process, sleeps; under &simgpu_context.submit.
 */
void simgpu_unprepare(struct simgpu_submission *s)
{
	u32 i;

	lockdep_assert_held(&s->context->submit);
	for (i = s->args->n_execs; i--;) {
		struct simgpu_prepared *p = &s->jobs[i];

		cond_resched();
		if (p->sync_file)
			fput(p->sync_file->file);
		if (p->fd >= 0)
			put_unused_fd(p->fd);
		if (p->syncobj)
			drm_syncobj_put(p->syncobj);
		dma_fence_chain_free(p->chain);
		if (p->job)
			s->context->backend->job_abort(p->job);
	}
}
