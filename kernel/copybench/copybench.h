/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COPYBENCH_H
#define COPYBENCH_H

#include <linux/types.h>

#include "../uapi/copybench.h"

/**
 * struct copybench_run - a batch, its places found
 * @to: address of the first place that is written, of the kernel or of the
 *	caller, as the routine has it
 * @from: the same of what is read
 * @length: bytes of a call
 * @calls: calls to make
 * @at: bytes from the first place to that of the next call
 * @step: bytes from there to that of the call after it, if that is below @end
 * @end: bytes of all places together
 * @ticks: out, as in &struct copybench_batch
 * @left: out, the same
 * @sum: out, the same
 */
struct copybench_run {
	unsigned long to;
	unsigned long from;
	u32 length;
	u32 calls;
	u64 at;
	u64 step;
	u64 end;
	u64 ticks;
	u64 left;
	u32 sum;
};

/**
 * struct copybench_routine - what can be called
 * @calls: makes the calls of a batch; NULL if this kernel does not have it
 * @reads: whether it reads
 * @writes: whether it writes
 * @from_user: whether it reads memory of the caller
 * @to_user: whether it writes memory of the caller
 */
struct copybench_routine {
	void (*calls)(struct copybench_run *run);
	bool reads;
	bool writes;
	bool from_user;
	bool to_user;
};

/* routines.c */
extern const struct copybench_routine copybench_routines[COPYBENCH_ROUTINES];

/* own.c */
void copybench_rep_movsb(void *to, const void *from, size_t length);
void copybench_rep_movsq(void *to, const void *from, size_t length);
void copybench_unrolled_64(void *to, const void *from, size_t length);
void copybench_unrolled_32(void *to, const void *from, size_t length);
void copybench_movnti(void *to, const void *from, size_t length);
void copybench_sse2(void *to, const void *from, size_t length);
void copybench_movntdq(void *to, const void *from, size_t length);

#endif /* COPYBENCH_H */
