// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simgpu_graphs - conformance of the designs on random graphs of jobs
 *
 *	simgpu_graphs [SEED [GRAPHS [WORD]]]
 *	simgpu_graphs --replay TEXT [WORD]
 *
 * Runs each graph on drm_sched, own and shared, and on every variant of depq,
 * and checks the promises of both listed in graph_check.c. Also checks that every
 * job is freed, once, and nothing is left alive. WORD: only variants whose name
 * contains it. Graph I of a seed only depends on SEED + I. A graph that fails
 * is printed in a form that --replay accepts.
 */

#include <linux/sync_file.h>

#include "graph.h"

struct tap tap;

static uint32_t engines;
static bool parallel;
static unsigned long jobs_done, cancelled, errors;

static void make_contexts(int fd, const struct graph *g,
			  const struct variant *v, uint32_t *contexts)
{
	for (unsigned int i = 0; i < g->contexts; i++) {
		struct simgpu_create create = v->create;
		int ret;

		create.engine = g->engines[i] % engines;
		create.credit_limit = g->credit_limit;
		create.ring = 64;
		create.timeout_us = g->timeout_us;
		create.hang_limit = 1000;
		ret = sim_create(fd, &create);
		CHECK(ret > 0);
		contexts[i] = (uint32_t)ret;
	}
}

/* A syncobj for each job that has one, and a timeline for each context. */
static void make_syncobjs(int fd, const struct graph *g, struct graph_run *run)
{
	uint32_t timelines[GRAPH_CONTEXTS];

	for (unsigned int i = 0; i < g->contexts; i++)
		timelines[i] = sim_syncobj(fd);
	for (unsigned int n = 0; n < g->jobs; n++) {
		if (g->job[n].out == GRAPH_OUT_POINT)
			run->syncobj[n] = timelines[g->job[n].context];
		else if (g->job[n].out == GRAPH_OUT_SYNCOBJ)
			run->syncobj[n] = sim_syncobj(fd);
	}
}

/* Where on its timeline the fence of a job is; 0 if it has a syncobj alone. */
static uint64_t point_of(const struct graph *g, unsigned int n)
{
	return g->job[n].out == GRAPH_OUT_POINT ? n + 1 : 0;
}

static void fill_deps(const struct graph *g, const struct graph_run *run,
		      unsigned int n, const uint32_t *contexts,
		      struct simgpu_exec *exec, struct simgpu_dep *deps)
{
	const struct graph_job *job = &g->job[n];

	exec->deps = (uintptr_t)deps;
	for (unsigned int i = 0; i < job->n_deps; i++) {
		unsigned int on = job->deps[i];

		if (!run->submitted[on])
			continue;
		if (job->by[i] == GRAPH_BY_FD)
			deps[exec->n_deps++] = (struct simgpu_dep){
				.kind = SIMGPU_DEP_FENCE,
				.fd = run->fence[on],
			};
		else if (job->by[i] == GRAPH_BY_SYNCOBJ)
			deps[exec->n_deps++] = (struct simgpu_dep){
				.kind = SIMGPU_DEP_SYNCOBJ,
				.handle = run->syncobj[on],
				.seqno = point_of(g, on),
			};
		else
			deps[exec->n_deps++] = (struct simgpu_dep){
				.kind = SIMGPU_DEP_JOB,
				.context = contexts[g->job[on].context],
				.seqno = run->seqno[on],
			};
	}
}

/* Submits job @n and those joined to it. Return: how many these are */
static unsigned int submit_from(int fd, const struct graph *g,
				struct graph_run *run, unsigned int n,
				const uint32_t *contexts)
{
	struct simgpu_dep deps[GRAPH_JOBS][GRAPH_DEPS];
	struct simgpu_exec execs[GRAPH_JOBS];
	unsigned int count = 0, i;
	int ret;

	do {
		const struct graph_job *job = &g->job[n + count];

		execs[count] = (struct simgpu_exec){
			.flags = SIMGPU_EXEC_FENCE_OUT |
				 (job->chain ? SIMGPU_EXEC_CHAIN : 0) |
				 (job->out ? SIMGPU_EXEC_SYNCOBJ_OUT : 0),
			.duration_ns = job->duration_ns,
			.run_cost_ns = job->cost_ns,
			.credits = job->credits,
			.fault = job->fault,
			.fault_arg = job->fault_arg,
			.out_syncobj = run->syncobj[n + count],
			.out_point = point_of(g, n + count),
			.cookie = n + count,
		};
		fill_deps(g, run, n + count, contexts, &execs[count],
			  deps[count]);
		count++;
	} while (n + count < g->jobs && g->job[n + count].joined);
	ret = sim_submit(fd, contexts[g->job[n].context], execs, count, 0);
	if (ret && g->kill != (int)g->job[n].context)
		tap_fail("job %u: submit: %d", n, ret);
	for (i = 0; i < count; i++) {
		run->submitted[n + i] = !ret;
		run->seqno[n + i] = execs[i].seqno;
		run->fence[n + i] = execs[i].out_fence;
	}
	return count;
}

static void submit_all(int fd, const struct graph *g, struct graph_run *run,
		       const uint32_t *contexts)
{
	bool killed = false;

	for (unsigned int n = 0; n < g->jobs;) {
		n += submit_from(fd, g, run, n, contexts);
		if (g->kill < 0 || killed || n <= g->kill_after)
			continue;
		killed = true;
		CHECK_EQ(sim_control(fd, contexts[g->kill], SIMGPU_CONTROL_KILL,
				     GRAPH_KILL_ERRNO), 0);
	}
}

/* Return: whether all fences have signalled */
static bool poll_all(const struct graph *g, struct graph_run *run)
{
	for (unsigned int n = 0; n < g->jobs; n++) {
		struct sync_file_info info = { 0 };

		if (!run->submitted[n])
			continue;
		if (fence_wait(run->fence[n], 20000) != 1) {
			tap_fail("job %u: its fence never signals", n);
			return false;
		}
		CHECK_EQ(sim_ioctl(run->fence[n], SYNC_IOC_FILE_INFO, &info),
			 0);
		run->status[n] = info.status;
	}
	return true;
}

static void read_all(int fd, const struct graph *g, struct graph_run *run,
		     const uint32_t *contexts)
{
	for (unsigned int n = 0; n < g->jobs; n++) {
		uint64_t first = run->seqno[n];

		if (!run->submitted[n])
			continue;
		CHECK_EQ(sim_read(fd, contexts[g->job[n].context], &first,
				  &run->record[n], 1), 1);
		jobs_done++;
		errors += run->record[n].error != 0;
		cancelled += run->record[n].error == -ECANCELED;
	}
}

/* What received a job's fence has signalled too; other syncobjs have no fence. */
static void check_syncobjs(int fd, const struct graph *g,
			   const struct graph_run *run)
{
	for (unsigned int n = 0; n < g->jobs; n++) {
		int ret;

		if (!g->job[n].out)
			continue;
		ret = sim_syncobj_wait(fd, run->syncobj[n], point_of(g, n), 0);
		if (ret != (run->submitted[n] ? 0 : -EINVAL))
			tap_fail("job %u: its syncobj says %d", n, ret);
	}
}

/* All jobs of all contexts were freed, none twice. */
static void check_released(int fd, const struct graph *g,
			   const struct graph_run *run,
			   const uint32_t *contexts)
{
	for (unsigned int c = 0; c < g->contexts; c++) {
		uint64_t submitted = 0, sleep = SIM_MSEC;
		struct simgpu_stats stats;

		for (unsigned int n = 0; n < g->jobs; n++)
			submitted += run->submitted[n] &&
				     g->job[n].context == c;
		for (;; sleep *= 2) {
			if (!CHECK_EQ(sim_stats(fd, contexts[c], &stats), 0))
				return;
			if (stats.released >= submitted || sleep > SIM_PATIENCE)
				break;
			sleep_ns(sleep);
		}
		CHECK_EQ(stats.submitted, submitted);
		CHECK_EQ(stats.released, submitted);
		CHECK_EQ(stats.done, submitted);
		CHECK_EQ(stats.pending, 0);
		CHECK_EQ(stats.queued, 0);
	}
}

static void run_graph(const struct graph *g, const struct variant *v)
{
	uint32_t contexts[GRAPH_CONTEXTS];
	struct graph_run run;
	int fd;

	/*
	 * The first context of a shared scheduler decides its credits, and the
	 * scheduler of the last graph may still be there: contexts end by
	 * themselves.
	 */
	if (is_shared(&v->create) && !live_wait_zero())
		return;
	fd = sim_open();
	if (fd < 0)
		return;
	memset(&run, 0, sizeof(run));
	make_contexts(fd, g, v, contexts);
	make_syncobjs(fd, g, &run);
	submit_all(fd, g, &run, contexts);
	if (poll_all(g, &run)) {
		read_all(fd, g, &run, contexts);
		graph_check(g, &run, v, parallel);
		check_syncobjs(fd, g, &run);
		check_released(fd, g, &run, contexts);
	}
	for (unsigned int n = 0; n < g->jobs; n++)
		if (run.submitted[n])
			close(run.fence[n]);
	close(fd);
}

static void run_variant(const struct variant *v, uint64_t seed,
			unsigned long graphs, const struct graph *given)
{
	static struct graph g;
	char name[128];

	snprintf(name, sizeof(name), "%lu graphs on %s", graphs, v->name);
	tap_start_case();
	if (variant_refused(v)) {
		tap_skip(VARIANT_REFUSED);
		tap_end_case(name);
		return;
	}
	for (unsigned long i = 0; i < graphs; i++) {
		unsigned int said = tap.said;

		if (given)
			g = *given;
		else
			graph_make(&g, seed + i, engines);
		run_graph(&g, v);
		if (tap.said == said || said > 40)
			continue;
		tap_diag("%s, seed %llu:", v->name,
			 (unsigned long long)(seed + i));
		graph_print(&g);
	}
	live_wait_zero();
	tap_end_case(name);
}

static void run_all(uint64_t seed, unsigned long graphs, const char *word,
		    const struct graph *given)
{
	uint64_t begin = now_ns();

	for (unsigned int i = 0; i < VARIANTS; i++) {
		struct variant v = variant_at(i);

		if (!(v.create.flags & SIMGPU_CREATE_HIGHPRI) &&
		    strstr(v.name, word))
			run_variant(&v, seed, graphs, given);
	}
	tap_diag("%lu jobs, %lu with an error, of these %lu cancelled; %.3f s of guest time",
		 jobs_done, errors, cancelled,
		 (double)(now_ns() - begin) / 1e9);
}

static bool look_at_device(void)
{
	struct simgpu_info info = { 0 };
	int fd = sim_open();

	if (fd < 0 || !CHECK_EQ(sim_ioctl(fd, SIMGPU_INFO, &info), 0))
		return false;
	close(fd);
	engines = info.engines;
	parallel = info.engines_parallel;
	return true;
}

int main(int argc, char **argv)
{
	bool replay = argc > 2 && !strcmp(argv[1], "--replay");
	uint64_t seed = argc > 1 && !replay ? strtoull(argv[1], NULL, 0) : 1;
	unsigned long graphs = replay ? 1 :
			       argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;
	const char *word = argc > 3 ? argv[3] : "";
	static struct graph given;
	int kmsg = kmsg_open(), fds = fds_open();

	tap_begin(0);
	debugfs_mount();
	if (replay && !graph_parse(&given, argv[2])) {
		fprintf(stderr, "simgpu_graphs: --replay: not a graph\n");
		return 2;
	}
	tap_start_case();
	if (!look_at_device()) {
		tap_end_case("the device answers");
		return tap_finish();
	}
	tap_diag("seed %llu, %lu graphs", (unsigned long long)seed, graphs);
	run_all(seed, graphs, word, replay ? &given : NULL);
	tap_start_case();
	CHECK_EQ(fds_open(), fds);
	device_usable();
	live_wait_zero();
	if (kmsg >= 0)
		kmsg_complaints(kmsg);
	tap_end_case("nothing is left, and the kernel has not complained");
	printf("1..%u\n", tap.count);
	return tap_finish();
}
