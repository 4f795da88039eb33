/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef UAPI_SIMGPU_H
#define UAPI_SIMGPU_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "simgpu_gem.h"

/**
 * DOC: simgpu user interface
 *
 * The DRM driver "simgpu" is a mock GPU: its engines execute jobs by letting
 * time pass. Its render node is the ``/dev/dri/renderD*`` whose driver name in
 * DRM_IOCTL_VERSION is "simgpu". An open file owns contexts and GEM objects. A
 * context submits jobs to one engine through a queue (the kernel's drm_sched, or
 * depq) or without one. Closing the file closes its contexts; jobs in flight
 * still complete. Everything that DRM offers for every driver works as usual:
 * GEM handles, PRIME, syncobjs with and without timelines, fdinfo.
 *
 * All times are CLOCK_MONOTONIC in nanoseconds. Reserved fields and unknown
 * flags must be zero, else -EINVAL. A context or handle that the file does not
 * have is -ENOENT, an unknown command -ENOTTY; once a reset has failed or the
 * device was unbound from its driver, every command is -ENODEV.
 *
 * Structs grow only at their end. The kernel takes the size from the ioctl
 * number: a smaller struct is padded with zeros, a larger one is accepted if the
 * unknown part is zero (else -E2BIG), and one smaller than the first version is
 * -EINVAL. (DRM's own commands ignore the additional part of a larger struct.)
 */

#define SIMGPU_VERSION 2

/**
 * struct simgpu_info - properties of the device
 * @version: out, %SIMGPU_VERSION
 * @engines: out, number of engines
 * @engines_parallel: out, 1 if an engine executes all its jobs at once, 0 if in turn
 * @pad: must be zero
 * @queue_bytes: out, memory of a context's queue: for drm_sched, then for depq
 * @job_bytes: out, likewise, memory that a queue keeps per job, without fences
 * @fence_bytes: out, likewise, memory of the fences that it creates for a job
 */
struct simgpu_info {
	__u32 version;
	__u32 engines;
	__u32 engines_parallel;
	__u32 pad;
	__u32 queue_bytes[2];
	__u32 job_bytes[2];
	__u32 fence_bytes[2];
};

/* &simgpu_create.design */
#define SIMGPU_DESIGN_DRM_SCHED		0
#define SIMGPU_DESIGN_DEPQ		1
/* No queue: the submitter waits for the dependencies and hands the job to the
 * engine; the job is freed when its fence signals. No credits, no timeout. A
 * reference to measure the other designs against.
 */
#define SIMGPU_DESIGN_NONE		2
#define SIMGPU_DESIGN_COUNT		3

/* &simgpu_create.flags */
/* depq: the submitter runs the job if possible. */
#define SIMGPU_CREATE_BYPASS		(1u << 0)
/* drm_sched: the contexts of an engine are entities of a common scheduler. */
#define SIMGPU_CREATE_SHARED		(1u << 1)
/* drm_sched: one workqueue with WQ_HIGHPRI instead of the scheduler's own. */
#define SIMGPU_CREATE_HIGHPRI		(1u << 2)
/* Freeing a job takes a mutex of the device, like dropping a VM or a runtime PM
 * reference; if the job completes in atomic context, a work item frees it.
 */
#define SIMGPU_CREATE_FREE_SLEEPS	(1u << 3)
/* depq: an arbiter on the engine favours who has used least of its time. */
#define SIMGPU_CREATE_FAIR		(1u << 4)
#define SIMGPU_CREATE_FLAGS		0x1fu

/* &simgpu_create.put, depq only */
#define SIMGPU_PUT_WORKER		0
#define SIMGPU_PUT_IRQ			1
#define SIMGPU_PUT_SUBMIT		2
/* The queue decides who runs a job and who drops it: the submitter or a softirq
 * runs it if possible, and the completion drops it where that is cheap. Includes
 * what %SIMGPU_CREATE_BYPASS selects otherwise, which must not be set.
 */
#define SIMGPU_PUT_AUTO			3

/* &simgpu_create.worker, depq only */
#define SIMGPU_WORKER_SYSTEM		0
#define SIMGPU_WORKER_WQ		1
#define SIMGPU_WORKER_HIGHPRI		2
#define SIMGPU_WORKER_KTHREAD		3
/* Runs at the scheduling parameters of the most urgent waiting submitter. */
#define SIMGPU_WORKER_FOLLOW		4
#define SIMGPU_WORKER_FOLLOW_MIN	5	/* any negative nice is -20 */

/* &simgpu_create.share, depq only: which contexts share a worker */
#define SIMGPU_SHARE_CONTEXT		0
#define SIMGPU_SHARE_ENGINE		1
#define SIMGPU_SHARE_DEVICE		2

/* &simgpu_create.priority: drm_sched's, on a shared scheduler */
#define SIMGPU_PRIORITY_NORMAL		0
#define SIMGPU_PRIORITY_HIGH		1
#define SIMGPU_PRIORITY_LOW		2

/*
 * &simgpu_create.shape, drm_sched only: the driver whose use of it is imitated.
 * Includes what %SIMGPU_CREATE_SHARED and %SIMGPU_CREATE_HIGHPRI select
 * otherwise, so these must not be set.
 */
#define SIMGPU_SHAPE_NONE		0
/* xe: a scheduler for each context, each with its own ordered workqueue. */
#define SIMGPU_SHAPE_XE			1
/* panthor: a scheduler for each context, one unbound workqueue for all. */
#define SIMGPU_SHAPE_PANTHOR		2
/* amdgpu: one scheduler for each engine, with a run queue for each priority;
 * a reset cancels the jobs of all contexts that are on the engine.
 */
#define SIMGPU_SHAPE_AMDGPU		3

/* The most contexts that a file can have; one more is -ENOSPC. */
#define SIMGPU_CONTEXTS_MAX 4096

/**
 * struct simgpu_create - create a context
 * @design: SIMGPU_DESIGN_*
 * @flags: SIMGPU_CREATE_*
 * @put: SIMGPU_PUT_*; must be zero unless depq
 * @worker: SIMGPU_WORKER_*; must be zero unless depq
 * @share: SIMGPU_SHARE_*; must be zero unless depq
 * @engine: below &simgpu_info.engines
 * @priority: SIMGPU_PRIORITY_*; must be zero unless the scheduler is shared
 * @credit_limit: the most credits in flight, 1 to 65536; 0 for 64, or for 2 with
 *	%SIMGPU_SHAPE_AMDGPU. On a shared scheduler, and for the total of all
 *	contexts with %SIMGPU_CREATE_FAIR, the engine's first context decides.
 * @ring: jobs that the context remembers, a power of two, 2 to 65536; 0 for
 *	1024. A submission waits until the job whose slot it takes is done,
 *	so this is also the most jobs a context can have in flight.
 * @timeout_us: the longest time of a job on the engine, at most 60 s; 0 for
 *	5 s. Not enforced without a queue.
 * @hang_limit: hangs after which the context is banned, 0 to 1000
 * @context: out, its number in this file, from 1
 * @free_cost_ns: CPU time spent on freeing a job, at most 1 ms
 * @shape: SIMGPU_SHAPE_*; must be zero unless drm_sched. -EOPNOTSUPP for xe and
 *	panthor if drm_sched uses a thread instead of a workqueue (Linux 6.1)
 * @memory: handle of the GEM object that jobs write to with
 *	%SIMGPU_EXEC_WRITE; it stays in memory as long as the context; or zero
 * @pad: must be zero
 */
struct simgpu_create {
	__u32 design;
	__u32 flags;
	__u32 put;
	__u32 worker;
	__u32 share;
	__u32 engine;
	__u32 priority;
	__u32 credit_limit;
	__u32 ring;
	__u32 timeout_us;
	__u32 hang_limit;
	__u32 context;
	__u32 free_cost_ns;
	__u32 shape;
	__u32 memory;
	__u32 pad;
};

/**
 * struct simgpu_destroy - close a context
 * @context: its number. Jobs not yet run are cancelled, jobs on the engine
 *	are reset; out-fences still signal.
 * @pad: must be zero
 */
struct simgpu_destroy {
	__u32 context;
	__u32 pad;
};

/* &simgpu_dep.kind */
#define SIMGPU_DEP_FENCE	0	/* @fd is a sync_file, else -EBADF */
#define SIMGPU_DEP_JOB		1	/* @context and @seqno of this file */
/* The current fence of the syncobj @handle or, for a timeline, that of its point
 * @seqno. -EINVAL if there is none yet: there is no waiting for its submission.
 */
#define SIMGPU_DEP_SYNCOBJ	2

/**
 * struct simgpu_dep - a dependency of a job
 * @kind: SIMGPU_DEP_*
 * @fd: a sync_file, or zero
 * @context: a context of this file, or zero
 * @handle: a syncobj of this file, or zero
 * @seqno: a job of @context that was submitted and is still in its ring, else
 *	-ENOENT; or a point of @handle's timeline; or zero
 */
struct simgpu_dep {
	__u32 kind;
	__s32 fd;
	__u32 context;
	__u32 handle;
	__u64 seqno;
};

/* &simgpu_exec.flags */
#define SIMGPU_EXEC_FENCE_OUT	(1u << 0)	/* return a sync_file */
#define SIMGPU_EXEC_WRITE	(1u << 1)	/* write a dword when done */
/* The job depends on the previous one of its submission; not for the first. The
 * order of the queue implies this, so all designs drop such a dependency.
 */
#define SIMGPU_EXEC_CHAIN	(1u << 2)
/* Installs the job's fence in @out_syncobj, or at its point. */
#define SIMGPU_EXEC_SYNCOBJ_OUT	(1u << 3)
#define SIMGPU_EXEC_FLAGS	0xfu

/*
 * &simgpu_exec.fault and &simgpu_inject.fault, with the meaning of @fault_arg.
 * For the file's owner; %SIMGPU_FAULT_GONE needs %CAP_SYS_ADMIN. Else -EPERM.
 */
#define SIMGPU_FAULT_NONE	0
#define SIMGPU_FAULT_HANG	1	/* never done until reset; 0 */
#define SIMGPU_FAULT_ERROR	2	/* done with an error; errno, 1 to 4095 */
#define SIMGPU_FAULT_LOST	3	/* done, but the interrupt is lost; 0 */
#define SIMGPU_FAULT_LATE	4	/* the interrupt is late; ns, up to 1 s */
#define SIMGPU_FAULT_STORM	5	/* extra interrupts; 1 to 1000 */
/* The submission fails with -ENOMEM at the allocation with this number, from 0,
 * among those for this job; no effect if there are fewer.
 */
#define SIMGPU_FAULT_ALLOC	6
#define SIMGPU_FAULT_RUN_ERROR	7	/* run_job fails; errno, 1 to 4095 */
#define SIMGPU_FAULT_RUN_NULL	8	/* run_job returns no fence; 0 */
#define SIMGPU_FAULT_INSTANT	9	/* done before run_job returns; 0 */
#define SIMGPU_FAULT_DOUBLE	10	/* the engine reports done twice; 0 */
#define SIMGPU_FAULT_GONE	11	/* hangs, and the reset fails; 0 */
#define SIMGPU_FAULT_COUNT	12

/**
 * struct simgpu_exec - one job
 * @flags: SIMGPU_EXEC_*
 * @n_deps: number of elements of @deps, at most 1024
 * @deps: in, address of an array of struct simgpu_dep
 * @duration_ns: time on the engine, at most 60 s
 * @duration_spread_ns: adds a random number below this, drawn from the seed of
 *	the context; at most 60 s
 * @run_cost_ns: CPU time spent in run_job, at most 10 ms
 * @credits: 1 to the context's limit; 0 for 1
 * @fault: SIMGPU_FAULT_*
 * @fault_arg: depends on @fault
 * @cookie: returned in the job's record
 * @write_offset: bytes, a multiple of 4 within &simgpu_create.memory, or zero
 * @write_value: value written there when the engine is done, or zero
 * @out_fence: out, a sync_file that signals when the job is done, or -1
 * @out_syncobj: a syncobj of this file, or zero
 * @seqno: out, counts the jobs of the context from 1
 * @out_point: the point of @out_syncobj's timeline; 0 to replace its fence, or
 *	if there is no syncobj
 */
struct simgpu_exec {
	__u32 flags;
	__u32 n_deps;
	__u64 deps;
	__u64 duration_ns;
	__u64 duration_spread_ns;
	__u64 run_cost_ns;
	__u32 credits;
	__u32 fault;
	__u64 fault_arg;
	__u64 cookie;
	__u32 write_offset;
	__u32 write_value;
	__s32 out_fence;
	__u32 out_syncobj;
	__u64 seqno;
	__u64 out_point;
};

/* &simgpu_submit.flags */
#define SIMGPU_SUBMIT_NONBLOCK	(1u << 0)	/* -EAGAIN instead of waiting */
#define SIMGPU_SUBMIT_FLAGS	0x1u

/**
 * struct simgpu_submit - submit jobs to a context
 * @context: its number
 * @flags: SIMGPU_SUBMIT_*
 * @n_execs: number of elements of @execs, 1 to 256 and to the context's ring
 * @exec_size: sizeof(struct simgpu_exec) of the caller
 * @execs: in and out, address of an array of struct simgpu_exec
 * @objects: address of an array of struct simgpu_object_use
 * @n_objects: number of elements of @objects, at most 64, no object twice
 * @pad: must be zero
 *
 * Either all jobs are submitted or, on an error, none is and nothing is
 * written to @execs. (If the caller unmaps @execs at the same time, no job is
 * submitted, but some results may have been written.) -ECANCELED or -ENODEV
 * if the context was killed or banned.
 */
struct simgpu_submit {
	__u32 context;
	__u32 flags;
	__u32 n_execs;
	__u32 exec_size;
	__u64 execs;
	__u64 objects;
	__u32 n_objects;
	__u32 pad;
};

/**
 * struct simgpu_wait - wait for a job
 * @context: number of the context
 * @pad: must be zero
 * @seqno: a job that is still in the context's ring, else -ENOENT
 * @timeout_ns: how long to wait, rounded up to jiffies; 0 to poll. -ETIME on
 *	expiry. A signal ends the wait with -EINTR, or restarts it if its
 *	handler was installed with SA_RESTART; the remaining time is written
 *	back and is used by the restart.
 * @error: out, 0 or the negative error of the job
 * @pad2: must be zero
 * @t_run: out, when run_job began, or 0 (also if the job left the ring)
 * @t_hw: out, when the engine was done, or 0 (likewise)
 * @t_wake: out, when the waiting thread was running again
 */
struct simgpu_wait {
	__u32 context;
	__u32 pad;
	__u64 seqno;
	__u64 timeout_ns;
	__s32 error;
	__u32 pad2;
	__u64 t_run;
	__u64 t_hw;
	__u64 t_wake;
};

/* &simgpu_record.flags */
#define SIMGPU_RECORD_DONE	(1u << 0)	/* the fence has signalled */
#define SIMGPU_RECORD_INLINE	(1u << 1)	/* run by the submitter */

/**
 * struct simgpu_record - what happened to a job
 * @seqno: number of the job
 * @cookie: as submitted
 * @t_enter: when the submission entered the kernel
 * @t_commit: when the job was prepared and was passed to the queue layer
 * @t_return: when the queue layer returned
 * @t_run: when run_job began, or 0
 * @t_hw: when the engine was done, or 0
 * @t_done: when its fence signalled, or 0
 * @order: index of the run_job call among those of the engine, from 1, or 0
 * @error: 0 or the negative error of the job
 * @flags: SIMGPU_RECORD_*
 */
struct simgpu_record {
	__u64 seqno;
	__u64 cookie;
	__u64 t_enter;
	__u64 t_commit;
	__u64 t_return;
	__u64 t_run;
	__u64 t_hw;
	__u64 t_done;
	__u64 order;
	__s32 error;
	__u32 flags;
};

/**
 * struct simgpu_read - read the records of jobs
 * @context: its number
 * @record_size: sizeof(struct simgpu_record) of the caller
 * @first: in, the first seqno to read; out, the first one returned, which is
 *	later if the requested one has left the ring
 * @n: in, capacity of @records; out, number of records returned
 * @pad: must be zero
 * @records: address of an array of struct simgpu_record
 */
struct simgpu_read {
	__u32 context;
	__u32 record_size;
	__u64 first;
	__u32 n;
	__u32 pad;
	__u64 records;
};

/**
 * struct simgpu_stats - statistics of a context
 * @context: its number
 * @banned: out, 1 if it was killed or banned
 * @submitted: out, jobs submitted
 * @bypassed: out, of these, run by their submitter
 * @done: out, jobs whose fence has signalled, whatever the error
 * @failed: out, of these, with an error
 * @timedout: out, resets
 * @no_hang: out, timeouts where the job was alive, or only its interrupt lost
 * @released: out, jobs freed
 * @put_irq: out, depq: jobs released in the completion
 * @put_submit: out, depq: jobs released by a submitter
 * @put_worker: out, depq: jobs released by the worker
 * @put_delayed: out, depq: jobs released by the delayed work
 * @kicks: out, depq: times the worker was kicked
 * @credits: out, credits in flight
 * @queued: out, depq: jobs not yet run
 * @pending: out, jobs on the engine
 * @pad: must be zero
 * @raises: out, depq: times a follow worker's priority was raised
 * @lowers: out, depq: times it was lowered
 * @softirqs: out, depq: times a softirq was raised instead of the worker
 */
struct simgpu_stats {
	__u32 context;
	__u32 banned;
	__u64 submitted;
	__u64 bypassed;
	__u64 done;
	__u64 failed;
	__u64 timedout;
	__u64 no_hang;
	__u64 released;
	__u64 put_irq;
	__u64 put_submit;
	__u64 put_worker;
	__u64 put_delayed;
	__u64 kicks;
	__u32 credits;
	__u32 queued;
	__u32 pending;
	__u32 pad;
	__u64 raises;
	__u64 lowers;
	__u64 softirqs;
};

/**
 * struct simgpu_inject - make future jobs of a context fail
 * @context: its number
 * @fault: SIMGPU_FAULT_*; %SIMGPU_FAULT_NONE ends the injection
 * @fault_arg: depends on @fault
 * @skip: number of jobs that succeed first
 * @count: number of jobs that fail after that; 0 for all
 *
 * Does not apply to jobs that specify a fault themselves.
 */
struct simgpu_inject {
	__u32 context;
	__u32 fault;
	__u64 fault_arg;
	__u32 skip;
	__u32 count;
};

/*
 * &simgpu_control.command. Stop, start and timeout are only for the user who
 * opened the file. On a context with %SIMGPU_CREATE_SHARED or
 * %SIMGPU_SHAPE_AMDGPU, whose scheduler also has jobs of other files, they need
 * %CAP_SYS_ADMIN. Otherwise -EPERM.
 */
#define SIMGPU_CONTROL_STOP		0	/* run no more jobs; nests */
#define SIMGPU_CONTROL_START		1	/* ends one stop, else -EINVAL */
#define SIMGPU_CONTROL_KILL		2	/* cancel with -arg, 1 to 4095 */
#define SIMGPU_CONTROL_TIMEOUT		3	/* as if the timeout had expired */
#define SIMGPU_CONTROL_SEED		4	/* seed of random durations; arg */
#define SIMGPU_CONTROL_COUNT		5

/**
 * struct simgpu_control - control a context
 * @context: its number
 * @command: SIMGPU_CONTROL_*. On a shared scheduler, stop and start act on the
 *	whole scheduler. drm_sched has no kill: see the driver for what it does
 *	instead. Without a queue only kill and seed are supported, the others
 *	give -EOPNOTSUPP.
 * @arg: depends on @command, else zero
 */
struct simgpu_control {
	__u32 context;
	__u32 command;
	__u64 arg;
};

/* DRM_IOCTL_BASE; driver ioctls start at DRM_COMMAND_BASE. */
#define SIMGPU_IOC	'd'
#define SIMGPU_IOC_BASE	0x40
#define SIMGPU_IOWR(nr, type) \
	_IOWR(SIMGPU_IOC, SIMGPU_IOC_BASE + (nr), struct type)
#define SIMGPU_INFO	SIMGPU_IOWR(0, simgpu_info)
#define SIMGPU_CREATE	SIMGPU_IOWR(1, simgpu_create)
#define SIMGPU_DESTROY	SIMGPU_IOWR(2, simgpu_destroy)
#define SIMGPU_SUBMIT	SIMGPU_IOWR(3, simgpu_submit)
#define SIMGPU_WAIT	SIMGPU_IOWR(4, simgpu_wait)
#define SIMGPU_READ	SIMGPU_IOWR(5, simgpu_read)
#define SIMGPU_STATS	SIMGPU_IOWR(6, simgpu_stats)
#define SIMGPU_INJECT	SIMGPU_IOWR(7, simgpu_inject)
#define SIMGPU_CONTROL	SIMGPU_IOWR(8, simgpu_control)
/* 9 to 11: simgpu_gem.h */

#endif /* UAPI_SIMGPU_H */
