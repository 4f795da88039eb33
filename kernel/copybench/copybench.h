/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COPYBENCH_H
#define COPYBENCH_H

#include <linux/types.h>

#include "../uapi/copybench.h"

/**
 * struct copybench_run - a batch with resolved addresses
 * @to: address of the first place to write, of the kernel or of the
 *	caller, depending on the routine
 * @from: likewise of the first place to read
 * @length: bytes per call
 * @calls: number of calls
 * @at: offset of the next call's place from the first place
 * @step: added to @at for each further call, modulo @end
 * @end: total bytes of all places
 * @ticks: out, as in &struct copybench_batch
 * @left: out, likewise
 * @sum: out, likewise
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
 * struct copybench_routine - a routine that can be called
 * @calls: performs the calls of a batch; NULL if this kernel lacks the routine
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
