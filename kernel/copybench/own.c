// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: our own copy routines
 *
 * For comparison with the kernel's. They are in assembly because the
 * instructions used are what is measured, and they are the same as the
 * routines of these names in user space. Places must not overlap.
 */

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/sizes.h>

#include <asm/fpu/api.h>

#include "copybench.h"

/* The most that is copied with FPU registers while preemption is off. */
#define COPYBENCH_FPU_BYTES	SZ_4K

static __always_inline void rep_movsb(void *to, const void *from, size_t length)
{
	asm volatile("rep movsb"
		     : "+D" (to), "+S" (from), "+c" (length)
		     : : "memory");
}

/**
 * copybench_rep_movsb() - copy by REP MOVSB
 * @to: memory of the kernel
 * @from: memory of the kernel
 * @length: bytes
 *
 * Context: any.
 */
void copybench_rep_movsb(void *to, const void *from, size_t length)
{
	rep_movsb(to, from, length);
}

/**
 * copybench_rep_movsq() - copy by REP MOVSQ, and the remainder by REP MOVSB
 * @to: memory of the kernel
 * @from: memory of the kernel
 * @length: bytes
 *
 * Context: any.
 */
void copybench_rep_movsq(void *to, const void *from, size_t length)
{
	size_t words = length / 8;

	asm volatile("rep movsq"
		     : "+D" (to), "+S" (from), "+c" (words)
		     : : "memory");
	rep_movsb(to, from, length % 8);
}

/*
 * A loop that copies @whole bytes, a multiple of @turn bytes: @at
 * counts from minus @whole up to 0.
 */
#define COPY_TURNS(first_to, first_from, whole, turn, ...)		\
do {									\
	size_t bytes = (whole);						\
	void *to_end = (first_to) + bytes;					\
	const void *from_end = (first_from) + bytes;				\
	unsigned long a, b, c, d;					\
	long at = -(long)bytes;						\
									\
	if (!at)							\
		break;							\
	asm volatile("1:\n\t"						\
		     __VA_ARGS__					\
		     "addq $" #turn ", %[at]\n\t"			\
		     "jnz 1b"						\
		     : [at] "+r" (at), [a] "=&r" (a), [b] "=&r" (b),	\
		       [c] "=&r" (c), [d] "=&r" (d)			\
		     : [to] "r" (to_end), [from] "r" (from_end)		\
		     : "memory", "cc");					\
} while (0)

/* Four words of 8 bytes. */
#define WORDS_64(a, b, c, d)						\
	"movq " #a "(%[from],%[at]), %[a]\n\t"				\
	"movq " #b "(%[from],%[at]), %[b]\n\t"				\
	"movq " #c "(%[from],%[at]), %[c]\n\t"				\
	"movq " #d "(%[from],%[at]), %[d]\n\t"				\
	"movq %[a], " #a "(%[to],%[at])\n\t"				\
	"movq %[b], " #b "(%[to],%[at])\n\t"				\
	"movq %[c], " #c "(%[to],%[at])\n\t"				\
	"movq %[d], " #d "(%[to],%[at])\n\t"

/* Two words of 4 bytes. */
#define WORDS_32(a, b)							\
	"movl " #a "(%[from],%[at]), %k[a]\n\t"				\
	"movl " #b "(%[from],%[at]), %k[b]\n\t"				\
	"movl %k[a], " #a "(%[to],%[at])\n\t"				\
	"movl %k[b], " #b "(%[to],%[at])\n\t"

/**
 * copybench_unrolled_64() - copy by eight words of 8 bytes a turn
 * @to: memory of the kernel
 * @from: memory of the kernel
 * @length: bytes; the remainder of a turn is copied by REP MOVSB
 *
 * Context: any.
 */
void copybench_unrolled_64(void *to, const void *from, size_t length)
{
	size_t tail = length % 64;
	size_t whole = length - tail;

	COPY_TURNS(to, from, whole, 64,
		   WORDS_64(0, 8, 16, 24)
		   WORDS_64(32, 40, 48, 56));
	rep_movsb(to + whole, from + whole, tail);
}

/**
 * copybench_unrolled_32() - copy by sixteen words of 4 bytes a turn
 * @to: memory of the kernel
 * @from: memory of the kernel
 * @length: bytes; the remainder of a turn is copied by REP MOVSB
 *
 * Context: any.
 */
void copybench_unrolled_32(void *to, const void *from, size_t length)
{
	size_t tail = length % 64;
	size_t whole = length - tail;

	COPY_TURNS(to, from, whole, 64,
		   WORDS_32(0, 4)
		   WORDS_32(8, 12)
		   WORDS_32(16, 20)
		   WORDS_32(24, 28)
		   WORDS_32(32, 36)
		   WORDS_32(40, 44)
		   WORDS_32(48, 52)
		   WORDS_32(56, 60));
	rep_movsb(to + whole, from + whole, tail);
}

/* Returns the bytes before the first multiple of @unit in the destination. */
static size_t head_of(const void *to, size_t length, size_t unit)
{
	return min_t(size_t, length, -(unsigned long)to % unit);
}

/**
 * copybench_movnti() - copy by non-temporal stores of 8 bytes
 * @to: memory of the kernel
 * @from: memory of the kernel
 * @length: bytes; parts of words at both ends are copied by REP MOVSB
 *
 * Context: any. Its writes are visible to others after wmb().
 */
void copybench_movnti(void *to, const void *from, size_t length)
{
	size_t head = head_of(to, length, 8);
	size_t tail = (length - head) % 8;
	size_t whole = length - head - tail;

	rep_movsb(to, from, head);
	to += head;
	from += head;
	COPY_TURNS(to, from, whole, 8,
		   "movq (%[from],%[at]), %[a]\n\t"
		   "movnti %[a], (%[to],%[at])\n\t");
	rep_movsb(to + whole, from + whole, tail);
}

/* FPU registers need no clobbers: no compiled code here uses them. */
static void sse2_turns(void *to, const void *from, size_t whole)
{
	COPY_TURNS(to, from, whole, 64,
		   "movdqu (%[from],%[at]), %%xmm0\n\t"
		   "movdqu 16(%[from],%[at]), %%xmm1\n\t"
		   "movdqu 32(%[from],%[at]), %%xmm2\n\t"
		   "movdqu 48(%[from],%[at]), %%xmm3\n\t"
		   "movdqu %%xmm0, (%[to],%[at])\n\t"
		   "movdqu %%xmm1, 16(%[to],%[at])\n\t"
		   "movdqu %%xmm2, 32(%[to],%[at])\n\t"
		   "movdqu %%xmm3, 48(%[to],%[at])\n\t");
}

/* Likewise; @to is a multiple of 16. */
static void movntdq_turns(void *to, const void *from, size_t whole)
{
	COPY_TURNS(to, from, whole, 16,
		   "movdqu (%[from],%[at]), %%xmm0\n\t"
		   "movntdq %%xmm0, (%[to],%[at])\n\t");
}

/* Copies in pieces; preemption is off only for one piece at a time. */
static __always_inline void in_pieces(void *to, const void *from, size_t whole,
				      void (*turns)(void *to, const void *from,
						    size_t whole))
{
	while (whole) {
		size_t piece = min_t(size_t, whole, COPYBENCH_FPU_BYTES);

		kernel_fpu_begin();
		turns(to, from, piece);
		kernel_fpu_end();
		to += piece;
		from += piece;
		whole -= piece;
	}
}

/**
 * copybench_sse2() - copy by four registers of 16 bytes a turn
 * @to: memory of the kernel
 * @from: memory of the kernel
 * @length: bytes; the remainder of a turn is copied by REP MOVSB
 *
 * Enables the FPU for each piece of 4 KiB, as kernel code that copies so must.
 *
 * Context: any in which irq_fpu_usable() is true.
 */
void copybench_sse2(void *to, const void *from, size_t length)
{
	size_t tail = length % 64;
	size_t whole = length - tail;

	in_pieces(to, from, whole, sse2_turns);
	rep_movsb(to + whole, from + whole, tail);
}

/**
 * copybench_movntdq() - copy by non-temporal stores of 16 bytes
 * @to: memory of the kernel
 * @from: memory of the kernel
 * @length: bytes; less than 16 at both ends is copied by REP MOVSB
 *
 * Enables the FPU as copybench_sse2() does.
 *
 * Context: any in which irq_fpu_usable() is true. Its writes are visible to
 * others after wmb().
 */
void copybench_movntdq(void *to, const void *from, size_t length)
{
	size_t head = head_of(to, length, 16);
	size_t tail = (length - head) % 16;
	size_t whole = length - head - tail;

	rep_movsb(to, from, head);
	to += head;
	from += head;
	in_pieces(to, from, whole, movntdq_turns);
	rep_movsb(to + whole, from + whole, tail);
}
