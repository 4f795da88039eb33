/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints, in the form of those of gpu_scheduler: first the device,
 * engine, context and job, then the details of the event. Context numbers are
 * those of their file; serial distinguishes the contexts of all files.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM simgpu

#if !defined(SIMGPU_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SIMGPU_TRACE_H

#include <linux/tracepoint.h>

#include "simgpu.h"

/* A job that has an entry in the ring. */
DECLARE_EVENT_CLASS(simgpu_job,
	TP_PROTO(const struct simgpu_job *job, u32 arg),
	TP_ARGS(job, arg),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, engine)
		__field(u32, context)
		__field(u32, arg)
		__field(u64, serial)
		__field(u64, seqno)
		__field(u64, cookie)
	),
	TP_fast_assign(
		__entry->dev = job->context->dev->drm.render->index;
		__entry->engine = job->context->engine->index;
		__entry->context = job->context->id;
		__entry->arg = arg;
		__entry->serial = job->context->serial;
		__entry->seqno = job->slot->record.seqno;
		__entry->cookie = job->slot->record.cookie;
	),
	TP_printk("dev=%u engine=%u context=%u serial=%llu seqno=%llu cookie=%llu arg=%u",
		  __entry->dev, __entry->engine, __entry->context,
		  __entry->serial, __entry->seqno, __entry->cookie,
		  __entry->arg)
);

/* The job is handed to the queue layer; enter: when its submission began. */
TRACE_EVENT(simgpu_submit,
	TP_PROTO(const struct simgpu_job *job, u32 credits),
	TP_ARGS(job, credits),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, engine)
		__field(u32, context)
		__field(u32, credits)
		__field(u64, serial)
		__field(u64, seqno)
		__field(u64, cookie)
		__field(u64, enter)
	),
	TP_fast_assign(
		__entry->dev = job->context->dev->drm.render->index;
		__entry->engine = job->context->engine->index;
		__entry->context = job->context->id;
		__entry->credits = credits;
		__entry->serial = job->context->serial;
		__entry->seqno = job->slot->record.seqno;
		__entry->cookie = job->slot->record.cookie;
		__entry->enter = job->slot->record.t_enter;
	),
	TP_printk("dev=%u engine=%u context=%u serial=%llu seqno=%llu cookie=%llu credits=%u enter=%llu",
		  __entry->dev, __entry->engine, __entry->context,
		  __entry->serial, __entry->seqno, __entry->cookie,
		  __entry->credits, __entry->enter)
);

/* The job is handed to the engine; arg: 1 if by its submitter. */
DEFINE_EVENT(simgpu_job, simgpu_run,
	TP_PROTO(const struct simgpu_job *job, u32 arg),
	TP_ARGS(job, arg));

/* The engine is done with the job; arg: its error, not negative. */
DEFINE_EVENT(simgpu_job, simgpu_hw_done,
	TP_PROTO(const struct simgpu_job *job, u32 arg),
	TP_ARGS(job, arg));

/* A thread waits for a job. */
DECLARE_EVENT_CLASS(simgpu_wait,
	TP_PROTO(const struct simgpu_context *context, u64 seqno, int result),
	TP_ARGS(context, seqno, result),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, engine)
		__field(u32, context)
		__field(int, result)
		__field(u64, serial)
		__field(u64, seqno)
	),
	TP_fast_assign(
		__entry->dev = context->dev->drm.render->index;
		__entry->engine = context->engine->index;
		__entry->context = context->id;
		__entry->result = result;
		__entry->serial = context->serial;
		__entry->seqno = seqno;
	),
	TP_printk("dev=%u engine=%u context=%u serial=%llu seqno=%llu result=%d",
		  __entry->dev, __entry->engine, __entry->context,
		  __entry->serial, __entry->seqno, __entry->result)
);

/* result: 0 */
DEFINE_EVENT(simgpu_wait, simgpu_wait_begin,
	TP_PROTO(const struct simgpu_context *context, u64 seqno, int result),
	TP_ARGS(context, seqno, result));

/* result: 0 or what the wait failed with; not the error of the job */
DEFINE_EVENT(simgpu_wait, simgpu_wait_end,
	TP_PROTO(const struct simgpu_context *context, u64 seqno, int result),
	TP_ARGS(context, seqno, result));

#endif /* SIMGPU_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
