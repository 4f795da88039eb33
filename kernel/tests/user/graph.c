// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: random graphs of jobs, and their text
 *
 * A graph as text is one line of statements, each ended by a semicolon:
 *
 *	g CREDIT_LIMIT TIMEOUT_US KILL KILL_AFTER
 *		KILL: the context to kill after the submission of the job
 *		KILL_AFTER, or -1
 *	c ENGINE
 *		a context; the first has number 0
 *	j CONTEXT DURATION_NS COST_NS CREDITS FAULT FAULT_ARG FLAGS DEP...
 *		a job; FLAGS: 1 if in one submission with the job before, 2 if
 *		chained to it, 4 if a syncobj gets its fence, 8 if the timeline
 *		of its context does; DEP: f, j or s and the number of a job,
 *		given as descriptor, by context and number, or by what gets its
 *		fence
 */

#include "graph.h"

static uint32_t make_fault(uint64_t *random, struct graph_job *job)
{
	static const uint32_t faults[] = {
		SIMGPU_FAULT_HANG, SIMGPU_FAULT_ERROR, SIMGPU_FAULT_LOST,
		SIMGPU_FAULT_LATE, SIMGPU_FAULT_STORM, SIMGPU_FAULT_RUN_ERROR,
		SIMGPU_FAULT_RUN_NULL, SIMGPU_FAULT_INSTANT,
		SIMGPU_FAULT_DOUBLE,
	};
	uint32_t fault = faults[random_below(random, ARRAY_SIZE(faults))];

	switch (fault) {
	case SIMGPU_FAULT_ERROR:
	case SIMGPU_FAULT_RUN_ERROR:
		/* None of the errors that a design itself produces. */
		job->fault_arg = 200 + random_below(random, 100);
		break;
	case SIMGPU_FAULT_LATE:
		job->fault_arg = random_below(random, 50000);
		break;
	case SIMGPU_FAULT_STORM:
		job->fault_arg = 1 + random_below(random, 10);
		break;
	}
	return fault;
}

static void make_job(struct graph *g, unsigned int n, unsigned int first,
		     uint32_t faulty, uint64_t *random)
{
	struct graph_job *job = &g->job[n];

	job->duration_ns = random_chance(random, 20) ? 0 :
			   random_below(random, 40000);
	if (random_chance(random, 10))
		job->cost_ns = random_below(random, 5000);
	job->credits = 1;
	if (random_chance(random, 40))
		job->credits += random_below(random, g->credit_limit > 8 ? 8 :
					     g->credit_limit);
	if (random_chance(random, faulty))
		job->fault = make_fault(random, job);
	job->chain = job->joined && random_chance(random, 50);
	if (random_chance(random, 50))
		job->out = random_chance(random, 50) ? GRAPH_OUT_SYNCOBJ :
						       GRAPH_OUT_POINT;
	while (first && job->n_deps < GRAPH_DEPS && random_chance(random, 35)) {
		/* Recent jobs more often than old ones. */
		unsigned int back = 1 + random_below(random, first);

		if (random_chance(random, 60) && back > 4)
			back = 1 + random_below(random, 4);
		job->by[job->n_deps] = random_chance(random, 50) ?
				       GRAPH_BY_FD : GRAPH_BY_JOB;
		if (g->job[first - back].out && random_chance(random, 60))
			job->by[job->n_deps] = GRAPH_BY_SYNCOBJ;
		job->deps[job->n_deps++] = first - back;
	}
}

/**
 * graph_make() - generate a graph
 * @g: the graph
 * @seed: the same seed gives the same graph
 * @engines: contexts are on engines below this number
 */
void graph_make(struct graph *g, uint64_t seed, uint32_t engines)
{
	static const uint32_t limits[] = { 1, 2, 4, 8, 64 };
	uint64_t random = seed;
	unsigned int first = 0;
	uint32_t faulty;

	memset(g, 0, sizeof(*g));
	random_next(&random);
	g->credit_limit = limits[random_below(&random, ARRAY_SIZE(limits))];
	g->timeout_us = 1000 + random_below(&random, 9000);
	g->contexts = 1 + random_below(&random, random_chance(&random, 70) ? 3 :
				       GRAPH_CONTEXTS);
	/* Few engines, so that contexts share them. */
	for (unsigned int i = 0; i < g->contexts; i++)
		g->engines[i] = random_below(&random, engines < 3 ? engines : 3);
	g->jobs = 1 + random_below(&random, random_chance(&random, 70) ? 16 :
				   GRAPH_JOBS);
	faulty = random_chance(&random, 40) ? 0 :
		 5 + random_below(&random, 30);
	for (unsigned int n = 0; n < g->jobs; n++) {
		g->job[n].joined = n && random_chance(&random, 30);
		if (g->job[n].joined) {
			g->job[n].context = g->job[n - 1].context;
		} else {
			g->job[n].context = random_below(&random, g->contexts);
			first = n;
		}
		make_job(g, n, first, faulty, &random);
	}
	g->kill = -1;
	if (random_chance(&random, 10)) {
		g->kill = (int)random_below(&random, g->contexts);
		g->kill_after = random_below(&random, g->jobs);
	}
}

/**
 * graph_print() - print a graph as a comment that can be replayed
 * @g: the graph
 */
void graph_print(const struct graph *g)
{
	printf("# simgpu_graphs --replay 'g %u %u %d %u;", g->credit_limit,
	       g->timeout_us, g->kill, g->kill_after);
	for (unsigned int i = 0; i < g->contexts; i++)
		printf("c %u;", g->engines[i]);
	for (unsigned int n = 0; n < g->jobs; n++) {
		const struct graph_job *job = &g->job[n];

		printf("j %u %u %u %u %u %u %u", job->context,
		       job->duration_ns, job->cost_ns, job->credits,
		       job->fault, job->fault_arg,
		       (job->joined ? 1u : 0) | (job->chain ? 2u : 0) |
		       (job->out == GRAPH_OUT_SYNCOBJ ? 4u : 0) |
		       (job->out == GRAPH_OUT_POINT ? 8u : 0));
		for (unsigned int i = 0; i < job->n_deps; i++)
			printf(" %c%u", job->by[i], job->deps[i]);
		printf(";");
	}
	printf("'\n");
}

static bool parse_job(struct graph *g, const char *text)
{
	struct graph_job *job = &g->job[g->jobs];
	unsigned int flags;
	int at = 0;

	if (g->jobs == GRAPH_JOBS ||
	    sscanf(text, " j %u %u %u %u %u %u %u%n", &job->context,
		   &job->duration_ns, &job->cost_ns, &job->credits,
		   &job->fault, &job->fault_arg, &flags, &at) != 7)
		return false;
	job->joined = flags & 1;
	job->chain = flags & 2;
	job->out = flags & 4 ? GRAPH_OUT_SYNCOBJ :
		   flags & 8 ? GRAPH_OUT_POINT : GRAPH_OUT_NONE;
	for (text += at; *text; text += at) {
		char kind;

		if (job->n_deps == GRAPH_DEPS ||
		    sscanf(text, " %c%u%n", &kind, &job->deps[job->n_deps],
			   &at) != 2 ||
		    !strchr("fjs", kind) ||
		    job->deps[job->n_deps] >= g->jobs ||
		    (kind == GRAPH_BY_SYNCOBJ &&
		     !g->job[job->deps[job->n_deps]].out))
			return false;
		job->by[job->n_deps++] = kind;
	}
	if (job->context >= g->contexts ||
	    (job->joined && (!g->jobs || job[-1].context != job->context)))
		return false;
	g->jobs++;
	return true;
}

/**
 * graph_parse() - read a graph
 * @g: the graph
 * @text: as graph_print() prints it, between the quotes
 *
 * Return: whether it is one
 */
bool graph_parse(struct graph *g, const char *text)
{
	char *copy = strdup(text), *rest = copy, *part;
	bool good = copy;

	memset(g, 0, sizeof(*g));
	g->kill = -1;
	while (good && (part = strsep(&rest, ";"))) {
		part += strspn(part, " \t\n");
		if (*part == 'g')
			good = sscanf(part, "g %u %u %d %u", &g->credit_limit,
				      &g->timeout_us, &g->kill,
				      &g->kill_after) == 4;
		else if (*part == 'c')
			good = g->contexts < GRAPH_CONTEXTS &&
			       sscanf(part, "c %u",
				      &g->engines[g->contexts++]) == 1;
		else if (*part == 'j')
			good = parse_job(g, part);
		else
			good = !*part;
	}
	free(copy);
	return good && g->jobs;
}
