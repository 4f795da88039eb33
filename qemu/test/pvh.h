/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where QEMU finds the entry for PVH, _start: a note of type 18, by the name "Xen". */
asm(".pushsection .note.Xen, \"a\", @note\n\t"
    ".long 4, 4, 18\n\t"
    ".asciz \"Xen\"\n\t"
    ".long _start\n\t"
    ".popsection");
