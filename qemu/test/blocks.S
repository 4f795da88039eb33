/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest without a kernel in which the length of translated blocks shows: two
 * hundred instructions without a branch, and a PAUSE in their middle.
 *
 *	gcc -m32 -nostdlib -static -no-pie -Wl,-Ttext-segment=0x100000
 *	    -Wl,--build-id=none -o blocks blocks.S
 *
 * and then `-kernel blocks` (PVH). It ends by port 0xf4 (isa-debug-exit).
 */

	/* Where QEMU finds the entry for PVH: a note of type 18, by "Xen". */
	.section .note.Xen, "a", @note
	.long	4, 4, 18
	.asciz	"Xen"
	.long	_start

	.text
	.globl	_start
	.balign	4096
_start:
	.rept	100
	inc	%eax
	.endr
	pause
	.rept	100
	inc	%eax
	.endr
	mov	$0xf4, %dx
	xor	%eax, %eax
	out	%al, %dx
1:
	hlt
	jmp	1b

	.section .note.GNU-stack, "", @progbits
