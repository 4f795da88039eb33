/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM depq

#if !defined(DEPQ_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DEPQ_TRACE_H

#include <linux/tracepoint.h>

#include <uapi/linux/sched/types.h>

#include "../include/depq.h"
#include "internal.h"

/*
 * Every event names a job by the fence context of its queue and its sequence
 * number, as the events of dma_fence and sync_file do.
 */

TRACE_EVENT(depq_job_queue,
	TP_PROTO(struct depq_queue *queue, struct depq_job *job, bool bypass),
	TP_ARGS(queue, job, bypass),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, seqno)
		__field(u32, queued)
		__field(u32, credits)
		__field(int, prio)
		__field(bool, bypass)
	),
	TP_fast_assign(
		__entry->context = queue->fence_context;
		__entry->seqno = job->finished->seqno;
		__entry->queued = queue->stats.queued;
		__entry->credits = job->credits;
		__entry->prio = current->prio;
		__entry->bypass = bypass;
	),
	TP_printk("fence=%llu:%llu queued=%u credits=%u bypass=%d prio=%d",
		  __entry->context, __entry->seqno, __entry->queued,
		  __entry->credits, __entry->bypass, __entry->prio)
);

TRACE_EVENT(depq_job_run,
	TP_PROTO(struct depq_queue *queue, struct depq_job *job, bool in_submit),
	TP_ARGS(queue, job, in_submit),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, seqno)
		__field(u32, credits)
		__field(pid_t, pid)
		__field(bool, in_submit)
	),
	TP_fast_assign(
		__entry->context = queue->fence_context;
		__entry->seqno = job->finished->seqno;
		__entry->credits = job->credits;
		__entry->pid = current->pid;
		__entry->in_submit = in_submit;
	),
	TP_printk("fence=%llu:%llu credits=%u inline=%d pid=%d",
		  __entry->context, __entry->seqno, __entry->credits,
		  __entry->in_submit, __entry->pid)
);

TRACE_EVENT(depq_job_done,
	TP_PROTO(struct depq_queue *queue, struct depq_job *job),
	TP_ARGS(queue, job),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, seqno)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->context = queue->fence_context;
		__entry->seqno = job->finished->seqno;
		__entry->error = job->error;
	),
	TP_printk("fence=%llu:%llu error=%d",
		  __entry->context, __entry->seqno, __entry->error)
);

TRACE_EVENT(depq_job_put,
	TP_PROTO(struct depq_queue *queue, struct depq_job *job,
		 enum depq_where where),
	TP_ARGS(queue, job, where),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, seqno)
		__field(u32, where)
	),
	TP_fast_assign(
		__entry->context = queue->fence_context;
		__entry->seqno = job->finished->seqno;
		__entry->where = where;
	),
	TP_printk("fence=%llu:%llu where=%s",
		  __entry->context, __entry->seqno,
		  __print_symbolic(__entry->where,
				   { 0, "irq" }, { 1, "submit" },
				   { 2, "worker" }, { 3, "delayed" }))
);

DECLARE_EVENT_CLASS(depq_dep,
	TP_PROTO(struct depq_queue *queue, struct depq_job *job,
		 struct dma_fence *fence),
	TP_ARGS(queue, job, fence),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, seqno)
		__field(u64, dep_context)
		__field(u64, dep_seqno)
	),
	TP_fast_assign(
		__entry->context = queue->fence_context;
		__entry->seqno = job->finished->seqno;
		__entry->dep_context = fence->context;
		__entry->dep_seqno = fence->seqno;
	),
	TP_printk("fence=%llu:%llu ctx=%llu seqno=%llu",
		  __entry->context, __entry->seqno, __entry->dep_context,
		  __entry->dep_seqno)
);

/* Before its commit a job has the sequence number 0. */
DEFINE_EVENT(depq_dep, depq_dep_add,
	TP_PROTO(struct depq_queue *queue, struct depq_job *job,
		 struct dma_fence *fence),
	TP_ARGS(queue, job, fence)
);

DEFINE_EVENT(depq_dep, depq_dep_wait,
	TP_PROTO(struct depq_queue *queue, struct depq_job *job,
		 struct dma_fence *fence),
	TP_ARGS(queue, job, fence)
);

TRACE_EVENT(depq_timeout,
	TP_PROTO(struct depq_queue *queue, struct depq_job *job,
		 enum depq_verdict verdict),
	TP_ARGS(queue, job, verdict),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, seqno)
		__field(u32, verdict)
	),
	TP_fast_assign(
		__entry->context = queue->fence_context;
		__entry->seqno = job->finished->seqno;
		__entry->verdict = verdict;
	),
	TP_printk("fence=%llu:%llu verdict=%s",
		  __entry->context, __entry->seqno,
		  __print_symbolic(__entry->verdict, { 0, "no_hang" },
				   { 1, "reset" }, { 2, "gone" }))
);

TRACE_EVENT(depq_queue_state,
	TP_PROTO(struct depq_queue *queue, enum depq_queue_state old,
		 enum depq_queue_state new),
	TP_ARGS(queue, old, new),
	TP_STRUCT__entry(
		__field(u64, context)
		__field(u64, seqno)
		__field(u32, old)
		__field(u32, new)
	),
	TP_fast_assign(
		__entry->context = queue->fence_context;
		__entry->seqno = queue->seqno;
		__entry->old = old;
		__entry->new = new;
	),
	TP_printk("fence=%llu:%llu old=%s new=%s",
		  __entry->context, __entry->seqno,
		  __print_symbolic(__entry->old, { 0, "open" },
				   { 1, "stopped" }, { 2, "timeout" },
				   { 3, "killed" }),
		  __print_symbolic(__entry->new, { 0, "open" },
				   { 1, "stopped" }, { 2, "timeout" },
				   { 3, "killed" }))
);

/* The attributes that a follow worker is about to get. */
TRACE_EVENT(depq_worker_prio,
	TP_PROTO(struct task_struct *task, const struct sched_attr *attr,
		 bool raise),
	TP_ARGS(task, attr, raise),
	TP_STRUCT__entry(
		__field(pid_t, pid)
		__field(int, old_prio)
		__field(u32, policy)
		__field(u32, priority)
		__field(int, nice)
		__field(bool, raise)
	),
	TP_fast_assign(
		__entry->pid = task->pid;
		__entry->old_prio = task->prio;
		__entry->policy = attr->sched_policy;
		__entry->priority = attr->sched_priority;
		__entry->nice = attr->sched_nice;
		__entry->raise = raise;
	),
	TP_printk("pid=%d old_prio=%d policy=%u priority=%u nice=%d raise=%d",
		  __entry->pid, __entry->old_prio, __entry->policy,
		  __entry->priority, __entry->nice, __entry->raise)
);

#endif /* DEPQ_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
