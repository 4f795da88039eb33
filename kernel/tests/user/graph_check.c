// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: what drm_sched and depq both promise
 *
 * The traces of the two designs are not compared with each other, but each with
 * what both promise; results that follow from the graph alone are equal in all.
 *
 * Of every job that was submitted:
 *
 * 1. Its fence signals, once, and its record and its sync_file give the same
 *    error.
 * 2. Jobs of a context are run in the order of their numbers, and their fences
 *    signal in this order.
 * 3. It is run after its dependencies are done. Not so where the dependency
 *    is in the same context: the order of the queue is enough then, and both
 *    designs drop it. drm_sched does likewise for all contexts on one
 *    scheduler (shared): it waits until the dependency was handed to the
 *    serial engine, so there the order of run_job calls is what is promised.
 *    An error of a dependency is none of the job.
 * 4. Its error is its own: 0, or that of its fault. A hang is -ETIME. Without
 *    an error it was executed, for as long as it asked for, before its fence
 *    signalled.
 *
 * The designs differ in the following, which is only bounded here:
 *
 * 5. A reset takes all jobs of the context off the engine. Those that were
 *    there behind the hung one fail with -ECANCELED, those not yet handed over
 *    go on. How many are there depends on how soon run_job was called, which
 *    is what the designs differ in. So -ECANCELED instead of one's own error
 *    is allowed if a job before it in the context hung, if it was run before
 *    that one's fence signalled, and if all that were cancelled by one reset
 *    had room in the credits, together with the one that hung. With one credit
 *    no job may be cancelled, and all is determined. Jobs of other contexts
 *    are innocent: 4 holds. Not so in the shape of amdgpu, where a reset takes
 *    the jobs of all contexts of the engine.
 * 6. Of a killed context each job that has not ended by itself fails with the
 *    kill's error, -ECANCELED, or (on the engine) -ETIME. How many have ended
 *    depends on time. 1 to 3 hold for those that were run.
 */

#include "graph.h"

static int own_error(const struct graph_job *job)
{
	switch (job->fault) {
	case SIMGPU_FAULT_ERROR:
	case SIMGPU_FAULT_RUN_ERROR:
		return -(int)job->fault_arg;
	case SIMGPU_FAULT_HANG:
		return -ETIME;
	default:
		return 0;
	}
}

/* Whether the job was cancelled by the reset of a hang, as permitted by 5. */
static bool cancelled_by_hang(const struct graph *g, const struct graph_run *run,
			      unsigned int n)
{
	const struct graph_job *job = &g->job[n];
	uint32_t credits = job->credits;

	for (unsigned int i = n; i-- > 0;) {
		if (g->job[i].context != job->context)
			continue;
		if (g->job[i].fault == SIMGPU_FAULT_HANG &&
		    run->record[i].error == -ETIME)
			return run->record[n].t_run &&
			       run->record[n].t_run <= run->record[i].t_done &&
			       credits + g->job[i].credits <= g->credit_limit;
		if (run->record[i].error == -ECANCELED)
			credits += g->job[i].credits;
	}
	return false;
}

/* Likewise of a job on the same engine, whatever its context. */
static bool cancelled_with_ring(const struct graph *g,
				const struct graph_run *run, unsigned int n)
{
	uint32_t engine = g->engines[g->job[n].context];

	for (unsigned int i = 0; i < g->jobs; i++)
		if (g->engines[g->job[i].context] == engine &&
		    g->job[i].fault == SIMGPU_FAULT_HANG &&
		    run->record[i].error == -ETIME && run->record[n].t_run &&
		    run->record[n].t_run <= run->record[i].t_done)
			return true;
	return false;
}

/* @lost: errors of the engine do not reach the fence */
static void check_error(const struct graph *g, const struct graph_run *run,
			unsigned int n, bool ring, bool lost)
{
	int error = run->record[n].error, own = own_error(&g->job[n]);

	if (run->status[n] != (error ? error : 1))
		tap_fail("job %u: the record says %d, the sync_file %d", n,
			 error, run->status[n]);
	if (error == own || (lost && !error))
		return;
	if (g->kill == (int)g->job[n].context &&
	    (error == -GRAPH_KILL_ERRNO || error == -ECANCELED ||
	     error == -ETIME))
		return;
	if (error == -ECANCELED && (ring ? cancelled_with_ring(g, run, n) :
					   cancelled_by_hang(g, run, n)))
		return;
	tap_fail("job %u: error %d, its own is %d", n, error, own);
}

static void check_executed(const struct graph *g, const struct graph_run *run,
			   unsigned int n, bool lost)
{
	const struct simgpu_record *record = &run->record[n];
	const struct graph_job *job = &g->job[n];
	uint64_t least = job->duration_ns;

	/* Taken off the engine, whether or not that is reported. */
	if (record->error || (lost && !record->t_hw))
		return;
	if (job->fault == SIMGPU_FAULT_RUN_NULL ||
	    job->fault == SIMGPU_FAULT_INSTANT)
		least = 0;
	if (!record->t_run || record->t_hw < record->t_run + least ||
	    record->t_hw > record->t_done)
		tap_fail("job %u: run at %llu, executed at %llu, done at %llu",
			 n, (unsigned long long)record->t_run,
			 (unsigned long long)record->t_hw,
			 (unsigned long long)record->t_done);
}

static void check_order(const struct graph *g, const struct graph_run *run,
			unsigned int n)
{
	const struct simgpu_record *record = &run->record[n], *before;

	for (unsigned int i = 0; i < n; i++) {
		if (!run->submitted[i] ||
		    g->job[i].context != g->job[n].context)
			continue;
		before = &run->record[i];
		if (before->seqno >= record->seqno)
			tap_fail("jobs %u, %u: numbers not in order", i, n);
		if (before->order && record->order &&
		    (before->order >= record->order ||
		     before->t_run > record->t_run))
			tap_fail("jobs %u, %u: not run in order", i, n);
		if (before->t_done > record->t_done)
			tap_fail("jobs %u, %u: not signalled in order", i, n);
	}
}

static void check_dep(const struct graph *g, const struct graph_run *run,
		      unsigned int n, unsigned int on, bool pipelined)
{
	const struct simgpu_record *record = &run->record[n];
	const struct simgpu_record *dep = &run->record[on];
	unsigned int a = g->job[n].context, b = g->job[on].context;

	if (!run->submitted[on] || !record->t_run || a == b)
		return;
	if (pipelined && g->engines[a] == g->engines[b]) {
		if (dep->order && dep->order >= record->order)
			tap_fail("job %u: run before %u", n, on);
	} else if (record->t_run < dep->t_done) {
		tap_fail("job %u: run %llu ns before %u was done", n,
			 (unsigned long long)(dep->t_done - record->t_run), on);
	}
}

/**
 * graph_check() - check all promises
 * @g: the graph
 * @run: its results
 * @v: the arguments of the contexts
 * @parallel: whether engines execute jobs at once
 *
 * Reports each violation with tap_fail().
 */
void graph_check(const struct graph *g, const struct graph_run *run,
		 const struct variant *v, bool parallel)
{
	bool pipelined = is_shared(&v->create) && !parallel;
	bool lost = errors_lost(v->create.design);

	for (unsigned int n = 0; n < g->jobs; n++) {
		const struct graph_job *job = &g->job[n];

		if (!run->submitted[n]) {
			if (g->kill != (int)job->context)
				tap_fail("job %u: not submitted", n);
			continue;
		}
		if (!(run->record[n].flags & SIMGPU_RECORD_DONE) ||
		    run->record[n].seqno != run->seqno[n] ||
		    run->record[n].cookie != n)
			tap_fail("job %u: its record is not its own", n);
		check_error(g, run, n, v->create.shape == SIMGPU_SHAPE_AMDGPU,
			    lost);
		check_executed(g, run, n, lost);
		check_order(g, run, n);
		for (unsigned int i = 0; i < job->n_deps; i++)
			check_dep(g, run, n, job->deps[i], pipelined);
	}
}
