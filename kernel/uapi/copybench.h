/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef UAPI_COPYBENCH_H
#define UAPI_COPYBENCH_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: copybench user interface
 *
 * ``/dev/copybench`` calls a routine that copies, zeroes or adds up bytes in
 * the kernel, so many times, and says how long that took. An open file has two
 * pieces of the kernel's memory, one to read from and one to write to. Each is
 * allocated when it is mapped: shared, in whole, once, from offset 0 the one
 * and from %COPYBENCH_MAP_TO the other. What is mapped is what the routine
 * works on, so that whoever maps it can fill it, flush it from the caches, and
 * look at the result.
 *
 * Only %CAP_SYS_ADMIN may open the device.
 */

#define COPYBENCH_VERSION	1

/* The offset from which the memory that is written to is mapped. */
#define COPYBENCH_MAP_TO	0x40000000u
/* The most bytes of each memory. */
#define COPYBENCH_MEMORY_MAX	(2u << 20)
/* The most calls of a batch, and the most bytes of all of them. */
#define COPYBENCH_CALLS_MAX	(1u << 20)
#define COPYBENCH_WORK_MAX	(16u << 20)

/*
 * &copybench_batch.routine. Those with _USER read from or write to memory of
 * the caller, all others the kernel's. Those with SUM give a sum.
 */
#define COPYBENCH_NOTHING			0
/* The kernel's own, by the names that it has for them. */
#define COPYBENCH_COPY_FROM_USER		1
#define COPYBENCH_COPY_FROM_USER_UNCHECKED	2
#define COPYBENCH_COPY_FROM_USER_NONTEMPORAL	3
#define COPYBENCH_COPY_TO_USER			4
#define COPYBENCH_CLEAR_USER			5
#define COPYBENCH_MEMCPY			6
#define COPYBENCH_MEMSET			7
#define COPYBENCH_CSUM_PARTIAL			8
#define COPYBENCH_CSUM_PARTIAL_COPY		9
#define COPYBENCH_REP_MOVS_ALTERNATIVE		10
/* Ours, by what they consist of. */
#define COPYBENCH_REP_MOVSB			11
#define COPYBENCH_REP_MOVSQ			12
#define COPYBENCH_UNROLLED_64			13
#define COPYBENCH_UNROLLED_32			14
#define COPYBENCH_MOVNTI			15
#define COPYBENCH_SSE2				16
#define COPYBENCH_MOVNTDQ			17
#define COPYBENCH_ROUTINES			18

/**
 * struct copybench_batch - calls of one routine, one after the other
 * @version: %COPYBENCH_VERSION, else -EPROTONOSUPPORT
 * @routine: COPYBENCH_*; one that this kernel does not have is -EOPNOTSUPP
 * @from: where the first place begins that is read: an address of the caller,
 *	or how far into the memory that is read from. Zero where none is.
 * @to: the same of what is written
 * @length: bytes of a call
 * @calls: how many, 1 to %COPYBENCH_CALLS_MAX; with @length no more than
 *	%COPYBENCH_WORK_MAX bytes
 * @places: how many places there are, 1 or more
 * @apart: how far each begins behind the one before; no less than @length if
 *	there are several
 * @first: the number of the place of the first call
 * @step: added to that number for each further call, modulo @places
 * @ticks: out, of the time-stamp counter, from before the first call until the
 *	last is done and what it wrote is visible
 * @left: out, bytes that routines said they did not copy or zero, all together
 * @sum: out, what the last call added up, of 32 bits and not folded
 * @pad: must be zero
 */
struct copybench_batch {
	__u32 version;
	__u32 routine;
	__u64 from;
	__u64 to;
	__u32 length;
	__u32 calls;
	__u32 places;
	__u32 apart;
	__u32 first;
	__u32 step;
	__u64 ticks;
	__u64 left;
	__u32 sum;
	__u32 pad;
};

#define COPYBENCH_IOC_BATCH	_IOWR('B', 0x60, struct copybench_batch)

#endif /* UAPI_COPYBENCH_H */
