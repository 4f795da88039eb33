/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GRAPH_H
#define GRAPH_H

#include "simtest.h"

#define GRAPH_CONTEXTS	6
#define GRAPH_JOBS	40
#define GRAPH_DEPS	5
#define GRAPH_KILL_ERRNO ESTALE	/* nothing else fails with it */

/* What receives the fence of a job in addition to its sync_file. */
enum graph_out {
	GRAPH_OUT_NONE,
	GRAPH_OUT_SYNCOBJ,	/* one of its own */
	GRAPH_OUT_POINT,	/* its number plus one, on its context's timeline */
};

/* How a dependency is given, with its letter in the text. */
enum graph_by {
	GRAPH_BY_JOB = 'j',	/* context and seqno */
	GRAPH_BY_FD = 'f',	/* sync_file */
	GRAPH_BY_SYNCOBJ = 's',	/* syncobj or point, whichever it has */
};

/**
 * struct graph_job - a job
 * @context: its context
 * @joined: in the same submission as the previous job, which has this context
 * @chain: depends on the job before in the submission
 * @duration_ns: time on the engine
 * @cost_ns: time of run_job
 * @credits: 1 to the limit of the graph
 * @fault: SIMGPU_FAULT_*
 * @fault_arg: depends on @fault
 * @out: what else receives its fence
 * @n_deps: number of @deps
 * @deps: jobs that it depends on; of earlier submissions
 * @by: how each is given
 */
struct graph_job {
	unsigned int context;
	bool joined, chain;
	uint32_t duration_ns, cost_ns, credits, fault, fault_arg;
	enum graph_out out;
	unsigned int n_deps;
	unsigned int deps[GRAPH_DEPS];
	enum graph_by by[GRAPH_DEPS];
};

/**
 * struct graph - jobs, in the order in which they are submitted
 * @credit_limit: of every context
 * @timeout_us: of every context
 * @kill: the context that is killed, or -1
 * @kill_after: after the submission of this job
 * @contexts: number of contexts
 * @engines: of each context
 * @jobs: number of jobs
 * @job: each
 */
struct graph {
	uint32_t credit_limit, timeout_us;
	int kill;
	unsigned int kill_after;
	unsigned int contexts;
	uint32_t engines[GRAPH_CONTEXTS];
	unsigned int jobs;
	struct graph_job job[GRAPH_JOBS];
};

/**
 * struct graph_run - the results of a graph
 * @submitted: whether the job was submitted; a killed context accepts no more
 * @seqno: of each job
 * @fence: sync_file of each job
 * @syncobj: that of each job, or the timeline of its context, if it has any
 * @status: of the sync_file: 1, or the negative error of the job
 * @record: of each job
 */
struct graph_run {
	bool submitted[GRAPH_JOBS];
	uint64_t seqno[GRAPH_JOBS];
	int fence[GRAPH_JOBS];
	uint32_t syncobj[GRAPH_JOBS];
	int status[GRAPH_JOBS];
	struct simgpu_record record[GRAPH_JOBS];
};

void graph_make(struct graph *g, uint64_t seed, uint32_t engines);
void graph_print(const struct graph *g);
bool graph_parse(struct graph *g, const char *text);
void graph_check(const struct graph *g, const struct graph_run *run,
		 const struct variant *v, bool parallel);

#endif /* GRAPH_H */
