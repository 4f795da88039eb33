// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: routines that can be called
 *
 * Each routine has its own loop, in which it is called, or inlined
 * if the kernel's headers define it: an indirect call would take longer
 * than the routine. Addresses are unsigned long here, since only the routine
 * knows whether they are of user space or of the kernel.
 */

#include <linux/bitops.h>
#include <linux/string.h>

#include <net/checksum.h>

#include <asm/tsc.h>

#include "../compat/uaccess.h"
#include "copybench.h"

typedef void (*copybench_one)(struct copybench_run *run, unsigned long to,
			      unsigned long from);

/* Calls one routine at the places of a batch. */
static __always_inline void copybench_calls(struct copybench_run *run,
					    copybench_one one)
{
	u64 at = run->at;
	u64 begin;
	u32 i;

	begin = rdtsc_ordered();
	for (i = 0; i < run->calls; i++) {
		one(run, run->to + at, run->from + at);
		at += run->step;
		if (at >= run->end)
			at -= run->end;
	}
	/* Covers stores that bypass the caches too. */
	wmb();
	run->ticks = rdtsc_ordered() - begin;
}

#define COPYBENCH_ONE(name)						\
static void copybench_call_##name(struct copybench_run *run)		\
{									\
	copybench_calls(run, copybench_one_##name);			\
}

/* Takes arguments, so that the loop has to compute them. */
static noinline void copybench_do_nothing(void *to, const void *from,
					  size_t length)
{
	asm volatile("" : : "r" (to), "r" (from), "r" (length));
}

#define COPYBENCH_COPY(name, copy)					\
static __always_inline void						\
copybench_one_##name(struct copybench_run *run, unsigned long to,	\
		     unsigned long from)				\
{									\
	copy((void *)to, (const void *)from, run->length);		\
}									\
COPYBENCH_ONE(name)

COPYBENCH_COPY(nothing, copybench_do_nothing);
COPYBENCH_COPY(memcpy, memcpy);
COPYBENCH_COPY(rep_movsb, copybench_rep_movsb);
COPYBENCH_COPY(rep_movsq, copybench_rep_movsq);
COPYBENCH_COPY(unrolled_64, copybench_unrolled_64);
COPYBENCH_COPY(unrolled_32, copybench_unrolled_32);
COPYBENCH_COPY(movnti, copybench_movnti);
COPYBENCH_COPY(sse2, copybench_sse2);
COPYBENCH_COPY(movntdq, copybench_movntdq);

#define COPYBENCH_FROM_USER(name, copy)					\
static __always_inline void						\
copybench_one_##name(struct copybench_run *run, unsigned long to,	\
		     unsigned long from)				\
{									\
	run->left += copy((void *)to, (const void __user *)from,	\
			  run->length);					\
}									\
COPYBENCH_ONE(name)

COPYBENCH_FROM_USER(copy_from_user, copy_from_user);
COPYBENCH_FROM_USER(unchecked, __copy_from_user);
COPYBENCH_FROM_USER(nontemporal, compat_copy_from_user_nontemporal);

static __always_inline void
copybench_one_copy_to_user(struct copybench_run *run, unsigned long to,
			   unsigned long from)
{
	run->left += copy_to_user((void __user *)to, (const void *)from,
				  run->length);
}

COPYBENCH_ONE(copy_to_user);

static __always_inline void
copybench_one_clear_user(struct copybench_run *run, unsigned long to,
			 unsigned long from)
{
	run->left += clear_user((void __user *)to, run->length);
}

COPYBENCH_ONE(clear_user);

static __always_inline void
copybench_one_memset(struct copybench_run *run, unsigned long to,
		     unsigned long from)
{
	memset((void *)to, 0, run->length);
}

COPYBENCH_ONE(memset);

static __always_inline void
copybench_one_csum_partial(struct copybench_run *run, unsigned long to,
			   unsigned long from)
{
	run->sum = (__force u32)csum_partial((const void *)from, run->length, 0);
}

COPYBENCH_ONE(csum_partial);

static __always_inline void
copybench_one_csum_partial_copy(struct copybench_run *run, unsigned long to,
				unsigned long from)
{
	run->sum = (__force u32)csum_partial_copy_nocheck((const void *)from,
							  (void *)to,
							  run->length);
}

COPYBENCH_ONE(csum_partial_copy);

#ifdef HAVE_REP_MOVS_ALTERNATIVE
/*
 * The routine that copies from and to user space on a CPU without fast short
 * REP MOVSB, without anything around it: here between kernel addresses. Its
 * arguments are in the registers of REP MOVSB.
 */
static __always_inline void
copybench_one_rep_movs_alternative(struct copybench_run *run, unsigned long to,
				   unsigned long from)
{
	unsigned long left = run->length;

	asm volatile("call rep_movs_alternative"
		     : "+c" (left), "+D" (to), "+S" (from), ASM_CALL_CONSTRAINT
		     : : "memory", "rax", "cc");
	run->left += left;
}

COPYBENCH_ONE(rep_movs_alternative);
#else
#define copybench_call_rep_movs_alternative NULL
#endif

#define COPIES(name) { .calls = copybench_call_##name, .reads = true, .writes = true }

const struct copybench_routine copybench_routines[COPYBENCH_ROUTINES] = {
	[COPYBENCH_NOTHING] = { .calls = copybench_call_nothing },
	[COPYBENCH_COPY_FROM_USER] = {
		.calls = copybench_call_copy_from_user,
		.reads = true, .writes = true, .from_user = true,
	},
	[COPYBENCH_COPY_FROM_USER_UNCHECKED] = {
		.calls = copybench_call_unchecked,
		.reads = true, .writes = true, .from_user = true,
	},
	[COPYBENCH_COPY_FROM_USER_NONTEMPORAL] = {
		.calls = copybench_call_nontemporal,
		.reads = true, .writes = true, .from_user = true,
	},
	[COPYBENCH_COPY_TO_USER] = {
		.calls = copybench_call_copy_to_user,
		.reads = true, .writes = true, .to_user = true,
	},
	[COPYBENCH_CLEAR_USER] = {
		.calls = copybench_call_clear_user,
		.writes = true, .to_user = true,
	},
	[COPYBENCH_MEMCPY] = COPIES(memcpy),
	[COPYBENCH_MEMSET] = {
		.calls = copybench_call_memset, .writes = true,
	},
	[COPYBENCH_CSUM_PARTIAL] = {
		.calls = copybench_call_csum_partial, .reads = true,
	},
	[COPYBENCH_CSUM_PARTIAL_COPY] = COPIES(csum_partial_copy),
	[COPYBENCH_REP_MOVS_ALTERNATIVE] = COPIES(rep_movs_alternative),
	[COPYBENCH_REP_MOVSB] = COPIES(rep_movsb),
	[COPYBENCH_REP_MOVSQ] = COPIES(rep_movsq),
	[COPYBENCH_UNROLLED_64] = COPIES(unrolled_64),
	[COPYBENCH_UNROLLED_32] = COPIES(unrolled_32),
	[COPYBENCH_MOVNTI] = COPIES(movnti),
	[COPYBENCH_SSE2] = COPIES(sse2),
	[COPYBENCH_MOVNTDQ] = COPIES(movntdq),
};
