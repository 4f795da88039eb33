/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef UAPI_SIMGPU_H
#define UAPI_SIMGPU_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "simgpu_gem.h"

/**
 * DOC: simgpu user interface
 *
 * The DRM driver "simgpu" is a mock GPU: engines that execute jobs by letting
 * time pass. Its render node is the ``/dev/dri/renderD*`` for which
 * DRM_IOCTL_VERSION says that name. An open file owns contexts and GEM objects;
 * a context hands jobs to one engine through a queue, the kernel's own drm_sched
 * or depq, or without one. Closing the file closes its contexts; jobs in flight
 * end by themselves. What DRM has for every driver works as with any: GEM handles,
 * PRIME, syncobjs with and without timelines, fdinfo.
 *
 * All times are CLOCK_MONOTONIC in nanoseconds. Reserved fields and unknown
 * flags must be zero, else -EINVAL. A context or handle that the file does not
 * have is -ENOENT, an unknown command -ENOTTY; once a reset has failed or the
 * device was unbound from its driver, every command is -ENODEV.
 *
 * Structs grow at their end only. The kernel takes the size from the ioctl
 * number: a smaller struct is filled up with zeros, a larger one is accepted
 * if what the kernel does not know is zero (else -E2BIG). Smaller than the
 * first version of the struct is -EINVAL. (Commands of DRM itself go by the
 * rules of DRM: what a larger struct has more is not looked at.)
 */

#define SIMGPU_VERSION 2

/**
 * struct simgpu_info - what the device is
 * @version: out, %SIMGPU_VERSION
 * @engines: out, number of engines
 * @engines_parallel: out, 1 if an engine executes its jobs all at once, 0 in turn
 * @pad: must be zero
 * @queue_bytes: out, memory of a context's queue: drm_sched's, then depq's
 * @job_bytes: out, likewise of what a queue keeps for a job, without fences
 * @fence_bytes: out, likewise of the fences that it makes for a job
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
 * engine, and the job is freed where its fence signals. No credits, no timeout:
 * to measure the others against.
 */
#define SIMGPU_DESIGN_NONE		2
#define SIMGPU_DESIGN_COUNT		3

/* &simgpu_create.flags */
/* depq: the submitter runs the job where it can. */
#define SIMGPU_CREATE_BYPASS		(1u << 0)
/* drm_sched: the contexts of an engine are entities on one scheduler. */
#define SIMGPU_CREATE_SHARED		(1u << 1)
/* drm_sched: one workqueue with WQ_HIGHPRI instead of the scheduler's own. */
#define SIMGPU_CREATE_HIGHPRI		(1u << 2)
/* To free a job takes a mutex of the device, as to drop a VM or a reference of
 * runtime PM: where that is in a completion, it is left to a work item.
 */
#define SIMGPU_CREATE_FREE_SLEEPS	(1u << 3)
/* depq: an arbiter of the engine chooses: whose jobs took least of its time. */
#define SIMGPU_CREATE_FAIR		(1u << 4)
#define SIMGPU_CREATE_FLAGS		0x1fu

/* &simgpu_create.put, depq only */
#define SIMGPU_PUT_WORKER		0
#define SIMGPU_PUT_IRQ			1
#define SIMGPU_PUT_SUBMIT		2
/* The queue chooses who runs a job and who drops it: the submitter or a softirq
 * runs it where they can, and the completion drops it where that is cheap.
 * Decides what %SIMGPU_CREATE_BYPASS chooses otherwise, which must not be given.
 */
#define SIMGPU_PUT_AUTO			3

/* &simgpu_create.worker, depq only */
#define SIMGPU_WORKER_SYSTEM		0
#define SIMGPU_WORKER_WQ		1
#define SIMGPU_WORKER_HIGHPRI		2
#define SIMGPU_WORKER_KTHREAD		3
/* Is scheduled as the most urgent of those whose jobs wait for it. */
#define SIMGPU_WORKER_FOLLOW		4
#define SIMGPU_WORKER_FOLLOW_MIN	5	/* any negative nice is -20 */

/* &simgpu_create.share, depq only: who shares the worker */
#define SIMGPU_SHARE_CONTEXT		0
#define SIMGPU_SHARE_ENGINE		1
#define SIMGPU_SHARE_DEVICE		2

/* &simgpu_create.priority, as drm_sched's on a shared scheduler */
#define SIMGPU_PRIORITY_NORMAL		0
#define SIMGPU_PRIORITY_HIGH		1
#define SIMGPU_PRIORITY_LOW		2

/*
 * &simgpu_create.shape, drm_sched only: which driver's use of it is imitated.
 * It decides what %SIMGPU_CREATE_SHARED and %SIMGPU_CREATE_HIGHPRI choose
 * otherwise, so that these must not be given.
 */
#define SIMGPU_SHAPE_NONE		0
/* xe: a scheduler with an ordered workqueue of its own for each context. */
#define SIMGPU_SHAPE_XE			1
/* panthor: a scheduler for each context, one unbound workqueue for all. */
#define SIMGPU_SHAPE_PANTHOR		2
/* amdgpu: one scheduler for each engine, with a run queue for each priority;
 * a reset cancels the jobs of all its contexts that are on the engine.
 */
#define SIMGPU_SHAPE_AMDGPU		3

/* Contexts that a file can have at a time; one more is -ENOSPC. */
#define SIMGPU_CONTEXTS_MAX 4096

/**
 * struct simgpu_create - make a context
 * @design: SIMGPU_DESIGN_*
 * @flags: SIMGPU_CREATE_*
 * @put: SIMGPU_PUT_*; must be zero unless depq
 * @worker: SIMGPU_WORKER_*; must be zero unless depq
 * @share: SIMGPU_SHARE_*; must be zero unless depq
 * @engine: below &simgpu_info.engines
 * @priority: SIMGPU_PRIORITY_*; must be zero unless the scheduler is shared
 * @credit_limit: credits in flight at most, 1 to 65536; 0 for 64, with
 *	%SIMGPU_SHAPE_AMDGPU for 2. On a shared scheduler, and likewise for all
 *	with %SIMGPU_CREATE_FAIR together, the engine's first context decides.
 * @ring: jobs that the context remembers, a power of two, 2 to 65536; 0 for
 *	1024. A submission waits until the job whose place it takes is done,
 *	so this is also the most jobs a context can have in flight.
 * @timeout_us: a job may take this long on the engine; 0 for 5 s; at most
 *	60 s. Without a queue nobody looks.
 * @hang_limit: hangs after which the context is banned, 0 to 1000
 * @context: out, its number in this file, from 1
 * @free_cost_ns: CPU time that it takes to free a job, at most 1 ms
 * @shape: SIMGPU_SHAPE_*; must be zero unless drm_sched. -EOPNOTSUPP for xe and
 *	panthor where drm_sched has a thread instead of a workqueue (Linux 6.1)
 * @memory: handle of the GEM object that jobs write to with
 *	%SIMGPU_EXEC_WRITE, which stays in memory as long as the context; or zero
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
/* The fence that the syncobj @handle has now, or for a timeline the one of its
 * point @seqno. -EINVAL if there is none yet: nobody waits for a fence to come.
 */
#define SIMGPU_DEP_SYNCOBJ	2

/**
 * struct simgpu_dep - what a job waits for
 * @kind: SIMGPU_DEP_*
 * @fd: a sync_file, or zero
 * @context: a context of this file, or zero
 * @handle: a syncobj of this file, or zero
 * @seqno: a job that was submitted to @context and that its ring still holds,
 *	else -ENOENT; or a point of @handle's timeline; or zero
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
/* The job, not the first of its submission, depends on the one before it there.
 * The order of the queue implies that: all designs drop such a dependency.
 */
#define SIMGPU_EXEC_CHAIN	(1u << 2)
/* The fence of the job becomes that of @out_syncobj, or of its point. */
#define SIMGPU_EXEC_SYNCOBJ_OUT	(1u << 3)
#define SIMGPU_EXEC_FLAGS	0xfu

/*
 * &simgpu_exec.fault and &simgpu_inject.fault; what @fault_arg means. For the
 * user who opened the file, %SIMGPU_FAULT_GONE for %CAP_SYS_ADMIN: else -EPERM.
 */
#define SIMGPU_FAULT_NONE	0
#define SIMGPU_FAULT_HANG	1	/* never done until reset; 0 */
#define SIMGPU_FAULT_ERROR	2	/* done with an error; errno, 1 to 4095 */
#define SIMGPU_FAULT_LOST	3	/* done, but the interrupt is lost; 0 */
#define SIMGPU_FAULT_LATE	4	/* the interrupt is late; ns, up to 1 s */
#define SIMGPU_FAULT_STORM	5	/* extra interrupts; 1 to 1000 */
/* The submission fails with -ENOMEM at this allocation, counted from 0 at the
 * first allocation for this job; if it makes fewer, nothing happens.
 */
#define SIMGPU_FAULT_ALLOC	6
#define SIMGPU_FAULT_RUN_ERROR	7	/* run_job fails; errno, 1 to 4095 */
#define SIMGPU_FAULT_RUN_NULL	8	/* run_job returns no fence; 0 */
#define SIMGPU_FAULT_INSTANT	9	/* done before run_job returns; 0 */
#define SIMGPU_FAULT_DOUBLE	10	/* the engine says done twice; 0 */
#define SIMGPU_FAULT_GONE	11	/* hangs, and the reset fails; 0 */
#define SIMGPU_FAULT_COUNT	12

/**
 * struct simgpu_exec - one job
 * @flags: SIMGPU_EXEC_*
 * @n_deps: number of elements of @deps, at most 1024
 * @deps: in, address of an array of struct simgpu_dep
 * @duration_ns: time on the engine, at most 60 s
 * @duration_spread_ns: a number below this, drawn from the seed of the
 *	context, is added; at most 60 s
 * @run_cost_ns: CPU time that run_job takes, at most 10 ms
 * @credits: 1 to the context's limit; 0 for 1
 * @fault: SIMGPU_FAULT_*
 * @fault_arg: see there
 * @cookie: returned in the job's record
 * @write_offset: bytes, a multiple of 4 within &simgpu_create.memory, or zero
 * @write_value: what is written there when the engine is done, or zero
 * @out_fence: out, a sync_file that signals when the job is done, or -1
 * @out_syncobj: a syncobj of this file, or zero
 * @seqno: out, counts the jobs of the context from 1
 * @out_point: the point of @out_syncobj's timeline; 0 to replace its fence, or
 *	without one
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
 * @context: its number
 * @pad: must be zero
 * @seqno: a job that the ring of the context still holds, else -ENOENT
 * @timeout_ns: for how long, at most; 0 to ask only; in units of a jiffy,
 *	rounded up. -ETIME when over. A signal ends the wait with -EINTR, or
 *	restarts it if its handler was installed with SA_RESTART; what was
 *	left of the time is written back and is what the restart waits.
 * @error: out, 0 or the negative error of the job
 * @pad2: must be zero
 * @t_run: out, when run_job began, or 0 (also if the ring has lost the job)
 * @t_hw: out, when the engine was done, or 0 (likewise)
 * @t_wake: out, when the waiting thread ran again
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
 * @seqno: which
 * @cookie: as submitted
 * @t_enter: when the submission entered the kernel
 * @t_commit: when all was prepared and the job was handed to the queue layer
 * @t_return: when the queue layer had taken it
 * @t_run: when run_job began, or 0
 * @t_hw: when the engine was done, or 0
 * @t_done: when its fence signalled, or 0
 * @order: counts run_job calls of the engine from 1, or 0
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
 * @first: in, the first seqno wanted; out, the first that was returned, which
 *	is later if the ring no longer holds it
 * @n: in, room in @records; out, how many were returned
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
 * struct simgpu_stats - what a context has done
 * @context: its number
 * @banned: out, 1 if it was killed or banned
 * @submitted: out, jobs submitted
 * @bypassed: out, of these, run by their submitter
 * @done: out, jobs whose fence has signalled, whatever the error
 * @failed: out, of these, with an error
 * @timedout: out, resets
 * @no_hang: out, times a job was found to be alive, or only its interrupt lost
 * @released: out, jobs freed
 * @put_irq: out, depq: jobs released in the completion
 * @put_submit: out, depq: jobs released by a submitter
 * @put_worker: out, depq: jobs released by the worker
 * @put_delayed: out, depq: jobs released by the delayed work
 * @kicks: out, depq: times the worker was asked to run
 * @credits: out, credits in flight
 * @queued: out, depq: jobs not yet run
 * @pending: out, jobs with the engine
 * @pad: must be zero
 * @raises: out, depq: times the worker became more urgent, if it follows
 * @lowers: out, depq: times it became less urgent
 * @softirqs: out, depq: times a softirq was asked to run instead of the worker
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
 * struct simgpu_inject - let coming jobs of a context fail
 * @context: its number
 * @fault: SIMGPU_FAULT_*; %SIMGPU_FAULT_NONE ends it
 * @fault_arg: see there
 * @skip: jobs that go well before
 * @count: jobs that fail then; 0 for all
 *
 * Applies to jobs that name no fault of their own.
 */
struct simgpu_inject {
	__u32 context;
	__u32 fault;
	__u64 fault_arg;
	__u32 skip;
	__u32 count;
};

/*
 * &simgpu_control.command. To stop, to start and to ask for a timeout are for
 * the user who opened the file, and on a context with %SIMGPU_CREATE_SHARED or
 * %SIMGPU_SHAPE_AMDGPU, whose scheduler has jobs of other files, for
 * %CAP_SYS_ADMIN: else -EPERM.
 */
#define SIMGPU_CONTROL_STOP		0	/* run no more jobs; nests */
#define SIMGPU_CONTROL_START		1	/* ends one stop, else -EINVAL */
#define SIMGPU_CONTROL_KILL		2	/* cancel with -arg, 1 to 4095 */
#define SIMGPU_CONTROL_TIMEOUT		3	/* as if the timeout were over */
#define SIMGPU_CONTROL_SEED		4	/* of random durations; arg */
#define SIMGPU_CONTROL_COUNT		5

/**
 * struct simgpu_control - control a context
 * @context: its number
 * @command: SIMGPU_CONTROL_*. Stop and start of a context on a shared
 *	scheduler act on the whole scheduler. drm_sched has no kill: see the
 *	driver for what is done. Without a queue there are only kill and seed:
 *	-EOPNOTSUPP for the others.
 * @arg: see there, else zero
 */
struct simgpu_control {
	__u32 context;
	__u32 command;
	__u64 arg;
};

/* DRM_IOCTL_BASE, and its numbers for drivers from DRM_COMMAND_BASE on. */
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
