/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMGPU_ENGINE_H
#define SIMGPU_ENGINE_H

/* Shared by engine.c, engine_reset.c and completion.c only. */

#include "simgpu.h"

static inline struct simgpu_job *engine_first(struct simgpu_engine *engine)
{
	return list_first_entry_or_null(&engine->running, struct simgpu_job,
					link);
}

static inline bool job_hangs(const struct simgpu_job *job)
{
	return job->fault == SIMGPU_FAULT_HANG ||
	       job->fault == SIMGPU_FAULT_GONE;
}

/* Charges the job, and its client, for its execution until then. */
static inline void simgpu_engine_charge(struct simgpu_engine *engine,
					struct simgpu_job *job, ktime_t at)
{
	u64 ns = ktime_sub(at, job->t_start);

	job->engine_ns += ns;
	job->context->client->busy_ns[engine->index] += ns;
}

/* completion.c */
void simgpu_engine_program(struct simgpu_engine *engine);
void simgpu_completion_defer(struct simgpu_engine *engine);
int simgpu_completion_init(struct simgpu_engine *engine);
void simgpu_completion_fini(struct simgpu_engine *engine);

/* engine.c */
void simgpu_engine_signal(struct simgpu_engine *engine);
void simgpu_engine_unlock(struct simgpu_engine *engine, unsigned long flags)
	__releases(&engine->lock);
void simgpu_engine_execute(struct simgpu_job *job, ktime_t start);
void simgpu_engine_leave(struct simgpu_engine *engine, struct simgpu_job *job,
			 ktime_t at);
void simgpu_engine_give_up(struct simgpu_job *job, struct list_head *fences);
void simgpu_engine_report(struct simgpu_engine *engine, struct simgpu_job *job);

#endif /* SIMGPU_ENGINE_H */
