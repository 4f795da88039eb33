// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest without a kernel that shows the size of QEMU's TLB.
 *
 * It clears the accessed bits of pages without a flush and touches the pages
 * again: a CPU sets the bit of those that its TLB no longer has, and of no
 * others. Their number depends on the size of the TLB, which QEMU changes
 * at flushes, by how much of it was used in a window of time. For each round a
 * line with the number is printed on port 0xe9.
 *
 *	gcc -m32 -O2 -ffreestanding -fno-pie -no-pie -fno-stack-protector
 *	    -fno-asynchronous-unwind-tables -nostdlib -static
 *	    -Wl,-Ttext-segment=0x100000 -Wl,--build-id=none -o tlb tlb.c
 *
 * and then `-kernel tlb` (PVH). It ends by port 0xf4 (isa-debug-exit).
 */

#include "pvh.h"

typedef unsigned int u32;
typedef unsigned char u8;

#define PAGE		4096u
#define ENTRIES		1024u
#define TABLES		4u
/* Present and writable; accessed. */
#define PTE_SET		0x3u
#define PTE_ACCESSED	0x20u
#define ROUNDS		40
/* Pages that are touched: more than a small TLB has entries. */
#define PAGES		1500u
/* The first of them; all lie within the first TABLES * 4 MiB. */
#define FIRST		1024u
/* Times that all are touched, each with a flush: a TLB grows by a factor of 2. */
#define GROW		4
/*
 * Flushes between which few pages are used, so that the TLB may shrink. Few and
 * many alternate, since many take the host some 0.1 s.
 */
#define SPARSE(round)	((round) % 2 ? (round) * 79 % 2500 : (round) * 7919 % 30000)
#define FEW		8u

asm(".globl _start\n"
    "_start:\n\t"
    "mov $stack + 16384, %esp\n\t"
    "call run\n\t"
    "mov $0xf4, %dx\n\t"
    "xor %eax, %eax\n\t"
    "out %al, %dx\n"
    "1:\n\t"
    "hlt\n\t"
    "jmp 1b");

u8 stack[16384] __attribute__((aligned(16), used));
static volatile u32 directory[ENTRIES] __attribute__((aligned(4096)));
static volatile u32 tables[TABLES][ENTRIES] __attribute__((aligned(4096)));

static void put(char c)
{
    asm volatile("outb %0, $0xe9" : : "a"(c));
}

static void put_number(u32 value)
{
    char digits[10];
    int count = 0;

    do {
        digits[count++] = '0' + value % 10;
        value /= 10;
    } while (value);
    while (count) {
        put(digits[--count]);
    }
    put('\n');
}

static void flush(void)
{
    asm volatile("mov %0, %%cr3" : : "r"(directory) : "memory");
}

static void touch(u32 pages)
{
    for (u32 page = FIRST; page < FIRST + pages; page++) {
        (void)*(volatile u8 *)(page * PAGE);
    }
}

static volatile u32 *entry(u32 page)
{
    return &tables[page / ENTRIES][page % ENTRIES];
}

/* Pages of which the TLB no longer has the translation. */
static u32 displaced(void)
{
    u32 count = 0;

    touch(PAGES);
    for (u32 page = FIRST; page < FIRST + PAGES; page++) {
        *entry(page) &= ~PTE_ACCESSED;
    }
    touch(PAGES);
    for (u32 page = FIRST; page < FIRST + PAGES; page++) {
        count += !!(*entry(page) & PTE_ACCESSED);
    }
    return count;
}

__attribute__((used)) void run(void)
{
    for (u32 page = 0; page < TABLES * ENTRIES; page++) {
        *entry(page) = page * PAGE | PTE_SET;
    }
    for (u32 table = 0; table < TABLES; table++) {
        directory[table] = (u32)tables[table] | PTE_SET;
    }
    flush();
    asm volatile("mov %%cr0, %%eax\n\t"
                 "or $0x80000000, %%eax\n\t"
                 "mov %%eax, %%cr0"
                 : : : "eax", "memory");
    for (int round = 0; round < ROUNDS; round++) {
        for (int n = 0; n < GROW; n++) {
            touch(PAGES);
            flush();
        }
        for (int n = 0; n < SPARSE(round); n++) {
            touch(FEW);
            flush();
        }
        put_number(displaced());
    }
}
