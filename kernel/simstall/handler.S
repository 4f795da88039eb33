/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The handler of system management interrupts. It is copied to where it is
 * executed, in a real mode whose segments of data begin at 0 and end at 4 GiB.
 * The CPU keeps all registers of whom it interrupts and gives them back.
 *
 * %ebx is the control, %ebp the stall, %edi:%esi when it began. What a stall
 * executes beside the loop is counted in handler.h: who changes one changes
 * the other.
 */

#include "handler.h"

#define PIT_CH0	0x40

	.section .rodata, "a"
	.globl simstall_handler, simstall_handler_control, simstall_handler_end
	.code16
simstall_handler:
	rdtsc
	movl	%eax, %esi
	movl	%edx, %edi
	movl	$0x7fffffff, %ebx
simstall_handler_control:
	cmpl	$0, CONTROL_STOPPED(%ebx)
	jne	.Lreturn
	movl	CONTROL_WINDINGS(%ebx), %ecx
	jecxz	.Lstall

	/* It is far to go: only wind the timer up. */
	decl	%ecx
	movl	%ecx, CONTROL_WINDINGS(%ebx)
	movl	$SIMSTALL_WINDING, %eax
	outb	%al, $PIT_CH0
	movb	%ah, %al
	outb	%al, $PIT_CH0
	rsm

.Lstall:
	movl	CONTROL_NEXT(%ebx), %ebp
	movl	%esi, STALL_BEGIN(%ebp)
	movl	%edi, (STALL_BEGIN + 4)(%ebp)
	movl	STALL_TURNS(%ebp), %ecx
.Lturn:
	decl	%ecx
	jnz	.Lturn
	addl	$STALL_SIZE, CONTROL_NEXT(%ebx)
	decl	CONTROL_LEFT(%ebx)
	jz	.Llast
	movl	(STALL_SIZE + STALL_WINDINGS)(%ebp), %eax
	movl	%eax, CONTROL_WINDINGS(%ebx)
	movl	(STALL_SIZE + STALL_TICKS)(%ebp), %eax
	outb	%al, $PIT_CH0
	movb	%ah, %al
	outb	%al, $PIT_CH0
	/* So that a stall of an even length has whole turns. */
	nop
.Llast:
	rdtsc
	movl	%eax, STALL_END(%ebp)
	movl	%edx, (STALL_END + 4)(%ebp)
.Lreturn:
	rsm
simstall_handler_end:

	.section .note.GNU-stack, "", @progbits
