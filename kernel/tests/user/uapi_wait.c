// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: waiting: time-outs, signals, fences that never signal, stop and kill
 */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "uapi.h"

/* Creates a context where no job runs until it is started, killed or closed. */
int sim_create_stopped(int fd, uint32_t design)
{
	struct simgpu_create create = { .design = design };
	int context = sim_create(fd, &create);

	CHECK(context > 0);
	CHECK_EQ(sim_control(fd, (uint32_t)context, SIMGPU_CONTROL_STOP, 0), 0);
	return context;
}

static uint64_t submit_one(int fd, int context, struct simgpu_exec exec,
			   int *fence)
{
	if (fence)
		exec.flags |= SIMGPU_EXEC_FENCE_OUT;
	CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0), 0);
	if (fence)
		*fence = exec.out_fence;
	return exec.seqno;
}

static void timeouts(void)
{
	for (uint32_t design = 0; design < 2; design++) {
		int fd = sim_open(), context = sim_create_stopped(fd, design);
		uint32_t c = (uint32_t)context;
		struct simgpu_exec exec = { .duration_ns = 1000 };
		uint64_t seqno = submit_one(fd, context, exec, NULL), t;
		int error = 1;

		CHECK_EQ(sim_wait(fd, c, seqno, 0, NULL), -ETIME);
		CHECK_EQ(sim_wait(fd, c, seqno, 1, NULL), -ETIME);
		t = now_ns();
		CHECK_EQ(sim_wait(fd, c, seqno, 20 * SIM_MSEC, NULL), -ETIME);
		CHECK(now_ns() - t >= 20 * SIM_MSEC);
		CHECK_EQ(sim_wait(fd, c, seqno + 1, SIM_PATIENCE, NULL),
			 -ENOENT);
		CHECK_EQ(sim_control(fd, c, SIMGPU_CONTROL_START, 0), 0);
		CHECK_EQ(sim_wait(fd, c, seqno, ~0ull, &error), 0);
		CHECK_EQ(error, 0);
		CHECK_EQ(sim_wait(fd, c, seqno, 0, &error), 0);
		close(fd);
	}
}

static volatile sig_atomic_t signals;

static void on_signal(int signal)
{
	(void)signal;
	signals++;
}

/* One SIGALRM after 10 ms. */
static void alarm_soon(int flags)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = flags };
	struct itimerval timer = { .it_value.tv_usec = 10000 };

	signals = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void interrupted(void)
{
	for (uint32_t design = 0; design < 2; design++) {
		int fd = sim_open(), context = sim_create_stopped(fd, design);
		struct simgpu_exec exec = { .duration_ns = 1000 };
		uint64_t seqno = submit_one(fd, context, exec, NULL);
		int other, error = 1;

		alarm_soon(0);
		CHECK_EQ(sim_wait(fd, (uint32_t)context, seqno, SIM_PATIENCE,
				  NULL), -EINTR);
		CHECK_EQ(signals, 1);
		/* Restarted, it waits on, until the job is done. */
		other = sim_create(fd, &(struct simgpu_create){ 0 });
		exec.duration_ns = 30 * SIM_MSEC;
		seqno = submit_one(fd, other, exec, NULL);
		alarm_soon(SA_RESTART);
		CHECK_EQ(sim_wait(fd, (uint32_t)other, seqno, SIM_PATIENCE,
				  &error), 0);
		CHECK_EQ(signals, 1);
		CHECK_EQ(error, 0);
		close(fd);
	}
}

static void interrupted_submit(void)
{
	for (uint32_t design = 0; design < 2; design++) {
		struct simgpu_create create = { .design = design, .ring = 2 };
		int fd = sim_open(), context = sim_create(fd, &create);
		struct simgpu_exec exec = { .duration_ns = 1000 };
		struct simgpu_stats stats;

		CHECK_EQ(sim_control(fd, (uint32_t)context, SIMGPU_CONTROL_STOP,
				     0), 0);
		submit_one(fd, context, exec, NULL);
		submit_one(fd, context, exec, NULL);
		alarm_soon(0);
		CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0),
			 -EINTR);
		CHECK_EQ(signals, 1);
		CHECK_EQ(sim_stats(fd, (uint32_t)context, &stats), 0);
		CHECK_EQ(stats.submitted, 2);
		close(fd);
	}
}

struct waiter {
	int fd;
	uint32_t context;
	uint64_t seqno;
	int ret, error;
	pthread_t thread;
	atomic_int tid;
};

static void *waiter_main(void *data)
{
	struct waiter *waiter = data;

	waiter->tid = (int)syscall(SYS_gettid);
	waiter->ret = sim_wait(waiter->fd, waiter->context, waiter->seqno,
			       SIM_PATIENCE, &waiter->error);
	return NULL;
}

/* Waits until the thread sleeps, which it only does in the ioctl. */
static bool wait_asleep(struct waiter *waiter)
{
	uint64_t end = now_ns() + SIM_PATIENCE;
	char path[64], state;

	while (now_ns() < end) {
		FILE *file = NULL;

		snprintf(path, sizeof(path), "/proc/self/task/%d/stat",
			 waiter->tid);
		if (waiter->tid)
			file = fopen(path, "re");
		state = 0;
		if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		if (file)
			fclose(file);
		if (state == 'S')
			return true;
		sleep_ns(100 * SIM_USEC);
	}
	return CHECK(!"the thread sleeps");
}

/* Threads that wait are woken by destroy, with an error, in all variants. */
static void destroyed_while_waiting(void)
{
	struct variant v;

	for_each_variant(i, &v) {
		struct simgpu_exec exec = { .fault = SIMGPU_FAULT_HANG };
		struct waiter waiters[4];
		int fd = sim_open(), context = sim_create(fd, &v.create);

		for (int j = 0; j < 4; j++) {
			waiters[j] = (struct waiter){ .fd = fd, .error = 1 };
			waiters[j].context = (uint32_t)context;
			waiters[j].seqno = submit_one(fd, context, exec, NULL);
			pthread_create(&waiters[j].thread, NULL, waiter_main,
				       &waiters[j]);
			exec.fault = SIMGPU_FAULT_NONE;
		}
		for (int j = 0; j < 4; j++)
			wait_asleep(&waiters[j]);
		CHECK_EQ(sim_destroy(fd, (uint32_t)context), 0);
		for (int j = 0; j < 4; j++) {
			pthread_join(waiters[j].thread, NULL);
			if (waiters[j].ret ||
			    (waiters[j].error >= 0 &&
			     !errors_lost(v.create.design)))
				tap_fail("%s, waiter %d: %d, error %d", v.name,
					 j, waiters[j].ret, waiters[j].error);
		}
		close(fd);
	}
}

/*
 * A job that depends on a fence that does not signal: it is not run, it can
 * be destroyed or killed, and its own fence signals then or when the other
 * one does.
 */
static void never_signals(void)
{
	struct variant v;

	for_each_variant(i, &v) {
		struct simgpu_dep dep = { .kind = SIMGPU_DEP_FENCE };
		struct simgpu_exec exec = { .duration_ns = 1000 };
		int blocker = sim_open(), fd = sim_open(), fence;
		int never = sim_create_stopped(blocker, i & 1);
		int context = sim_create(fd, &v.create);

		submit_one(blocker, never, exec, &dep.fd);
		exec.n_deps = 1;
		exec.deps = (uintptr_t)&dep;
		submit_one(fd, context, exec, NULL);
		submit_one(fd, context, exec, &fence);
		CHECK_EQ(fence_wait(fence, 1), 0);
		if (i & 2)
			CHECK_EQ(sim_destroy(fd, (uint32_t)context), 0);
		else
			close(fd);
		close(blocker);
		if (fence_wait(fence, 20000) != 1)
			tap_fail("%s: the fence never signals", v.name);
		close(fence);
		close(dep.fd);
		if (i & 2)
			close(fd);
	}
}

/* A hang with a timeout of a minute does not delay closing. */
static void long_hang(void)
{
	struct variant v;

	for_each_variant(i, &v) {
		struct simgpu_exec exec = { .fault = SIMGPU_FAULT_HANG };
		int fd = sim_open(), context, fence;
		uint64_t t = now_ns();

		v.create.timeout_us = 60000000;
		context = sim_create(fd, &v.create);
		submit_one(fd, context, exec, &fence);
		CHECK_EQ(fence_wait(fence, 2), 0);
		close(fd);
		if (fence_wait(fence, 20000) != 1)
			tap_fail("%s: the fence never signals", v.name);
		CHECK(now_ns() - t < 20 * SIM_SEC);
		close(fence);
		live_wait_zero();
	}
}

static void stops(void)
{
	struct variant v;

	for_each_variant(i, &v) {
		struct simgpu_exec exec = { .duration_ns = 1000 };
		int fd = sim_open(), context = sim_create(fd, &v.create);
		uint32_t c = (uint32_t)context;
		int error = 1, ret;
		uint64_t seqno;

		CHECK_EQ(sim_control(fd, c, SIMGPU_CONTROL_START, 0), -EINVAL);
		CHECK_EQ(sim_control(fd, c, SIMGPU_CONTROL_STOP, 0), 0);
		CHECK_EQ(sim_control(fd, c, SIMGPU_CONTROL_STOP, 0), 0);
		seqno = submit_one(fd, context, exec, NULL);
		CHECK_EQ(sim_control(fd, c, SIMGPU_CONTROL_START, 0), 0);
		ret = sim_wait(fd, c, seqno, SIM_MSEC, NULL);
		if (ret != -ETIME)
			tap_fail("%s: run while stopped once: %d", v.name, ret);
		CHECK_EQ(sim_control(fd, c, SIMGPU_CONTROL_START, 0), 0);
		ret = sim_wait(fd, c, seqno, SIM_PATIENCE, &error);
		if (ret || error)
			tap_fail("%s: started: %d, error %d", v.name, ret,
				 error);
		CHECK_EQ(sim_control(fd, c, SIMGPU_CONTROL_START, 0), -EINVAL);
		close(fd);
	}
}

/* Killed jobs fail in order; no more are accepted. */
static void kills(void)
{
	struct variant v;

	for_each_variant(i, &v) {
		struct simgpu_exec execs[6] = { { .fault = SIMGPU_FAULT_HANG } };
		int fd = sim_open(), context = sim_create(fd, &v.create);
		uint32_t c = (uint32_t)context;
		int ret, error;

		CHECK_EQ(sim_control(fd, c, SIMGPU_CONTROL_KILL, 0), -EINVAL);
		CHECK_EQ(sim_control(fd, c, SIMGPU_CONTROL_KILL, 4096),
			 -EINVAL);
		CHECK_EQ(sim_submit(fd, c, execs, 6, 0), 0);
		CHECK_EQ(sim_control(fd, c, SIMGPU_CONTROL_KILL, ECANCELED), 0);
		for (uint32_t j = 0; j < 6; j++) {
			error = 1;
			ret = sim_wait(fd, c, j + 1, SIM_PATIENCE, &error);
			if (ret || (error >= 0 && !errors_lost(v.create.design)))
				tap_fail("%s, job %u: %d, error %d", v.name, j,
					 ret, error);
		}
		ret = sim_submit(fd, c, execs, 1, 0);
		if (ret != -ECANCELED && ret != -ENODEV)
			tap_fail("%s: submit after kill: %d", v.name, ret);
		sim_control(fd, c, SIMGPU_CONTROL_KILL, EIO);
		close(fd);
	}
}

static void records(void)
{
	struct variant v;

	for_each_variant(i, &v) {
		struct simgpu_exec exec = { .duration_ns = 5000 };
		struct simgpu_record r[8] = { 0 };
		uint64_t first = 0, last = 0;
		int fd = sim_open(), context, n;

		v.create.ring = 4;
		context = sim_create(fd, &v.create);
		for (uint64_t j = 1; j <= 7; j++) {
			exec.cookie = 100 + j;
			last = submit_one(fd, context, exec, NULL);
		}
		CHECK_EQ(sim_wait(fd, (uint32_t)context, last, SIM_PATIENCE,
				  NULL), 0);
		n = sim_read(fd, (uint32_t)context, &first, r, 8);
		if (n != 4 || first != 4)
			tap_fail("%s: %d records from %llu", v.name, n,
				 (unsigned long long)first);
		for (int j = 0; j < n; j++) {
			bool good = r[j].seqno == first + (uint64_t)j &&
				    r[j].cookie == 100 + r[j].seqno &&
				    r[j].t_enter <= r[j].t_commit &&
				    r[j].t_commit <= r[j].t_return &&
				    r[j].t_commit <= r[j].t_run &&
				    r[j].t_run + 5000 <= r[j].t_hw &&
				    r[j].t_hw <= r[j].t_done && !r[j].error &&
				    r[j].flags & SIMGPU_RECORD_DONE;

			if (!good)
				tap_fail("%s: bad record %d", v.name, j);
		}
		first = 6;
		CHECK_EQ(sim_read(fd, (uint32_t)context, &first, r, 1), 1);
		CHECK_EQ(r[0].seqno, 6);
		close(fd);
	}
}

const struct test_case wait_cases[] = {
	{ "a wait ends after its time and not before", timeouts },
	{ "a signal ends a wait with -EINTR, or it is restarted",
	  interrupted },
	{ "a signal ends a submission that waits, which submits none",
	  interrupted_submit },
	{ "destroy wakes all who wait, in each variant",
	  destroyed_while_waiting },
	{ "a dependency that never signals can be closed", never_signals },
	{ "a hang of a minute ends when its file is closed", long_hang },
	{ "stops nest and hold jobs back", stops },
	{ "kill fails all jobs and what comes after", kills },
	{ "records are in order and so are their times", records },
	{ 0 },
};
