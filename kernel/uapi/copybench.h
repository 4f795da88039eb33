/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef UAPI_COPYBENCH_H
#define UAPI_COPYBENCH_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: copybench user interface
 *
 * ``/dev/copybench`` calls a routine in the kernel that copies, zeroes or sums
 * bytes, a number of times, and reports how long that took. An open file has two
 * buffers of kernel memory, one to read from and one to write to. Each is
 * allocated by mmap(), which must be shared, of the whole buffer, and only once:
 * the first at offset 0, the second at %COPYBENCH_MAP_TO. The routine works on
 * the mapped memory, so the caller can fill it, flush it from the caches, and
 * inspect the result.
 *
 * Only %CAP_SYS_ADMIN may open the device.
 */

#define COPYBENCH_VERSION	1

/* The mmap() offset of the buffer that is written to. */
#define COPYBENCH_MAP_TO	0x40000000u
/* The largest size of each buffer. */
#define COPYBENCH_MEMORY_MAX	(2u << 20)
/* The most calls in a batch, and the most bytes that they process in total. */
#define COPYBENCH_CALLS_MAX	(1u << 20)
#define COPYBENCH_WORK_MAX	(16u << 20)

/*
 * &copybench_batch.routine. Those with _USER read from or write to memory of
 * the caller, all others use kernel memory. Those with SUM return a checksum.
 */
#define COPYBENCH_NOTHING			0
/* The kernel's own routines, by their names. */
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
/* Our own routines, by the instructions that they use. */
#define COPYBENCH_REP_MOVSB			11
#define COPYBENCH_REP_MOVSQ			12
#define COPYBENCH_UNROLLED_64			13
#define COPYBENCH_UNROLLED_32			14
#define COPYBENCH_MOVNTI			15
#define COPYBENCH_SSE2				16
#define COPYBENCH_MOVNTDQ			17
#define COPYBENCH_ROUTINES			18

/**
 * struct copybench_batch - consecutive calls of one routine
 * @version: %COPYBENCH_VERSION, else -EPROTONOSUPPORT
 * @routine: COPYBENCH_*; -EOPNOTSUPP if this kernel does not have it
 * @from: start of the first place to read: an address of the caller, or an
 *	offset into the buffer to read from. Zero if nothing is read.
 * @to: likewise for the first place to write
 * @length: bytes per call
 * @calls: number of calls, 1 to %COPYBENCH_CALLS_MAX; times @length at most
 *	%COPYBENCH_WORK_MAX bytes
 * @places: number of places, 1 or more
 * @apart: distance between the starts of consecutive places; at least @length
 *	if there are several
 * @first: index of the place of the first call
 * @step: added to the index for each further call, modulo @places
 * @ticks: out, TSC ticks from before the first call until the last is done and
 *	its writes are visible
 * @left: out, bytes that routines reported as not copied or zeroed, in total
 * @sum: out, the checksum of the last call, 32 bits, not folded
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
