// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest without a kernel in which every instruction too many shows.
 *
 * All CPUs take a lock by turns, and whoever has it mixes the time into a
 * number. The timer of the first CPU's APIC interrupts it and does the same.
 * Now and then the number is printed on port 0xe9.
 *
 *	gcc -m32 -O2 -ffreestanding -fno-pie -no-pie -fno-stack-protector
 *	    -fno-asynchronous-unwind-tables -mgeneral-regs-only -nostdlib -static
 *	    -Wl,-Ttext-segment=0x100000 -Wl,--build-id=none -o debug debug.c
 *
 * and then `-kernel debug` (PVH). It ends by port 0xf4 (isa-debug-exit).
 */

#include "pvh.h"

typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

#define CPUS		4u
#define STACK		4096u
#define ROUNDS		3000u
#define PRINTED		100u
#define TRAMPOLINE	0x8000u
#define VECTOR		0x40u

#define APIC(offset)	(*(volatile u32 *)(0xfee00000u + (offset)))
#define APIC_EOI	APIC(0xb0)
#define APIC_SPURIOUS	APIC(0xf0)
#define APIC_ICR	APIC(0x300)
#define APIC_TIMER	APIC(0x320)
#define APIC_COUNT	APIC(0x380)
#define APIC_DIVIDE	APIC(0x3e0)

asm(".globl _start\n"
    "_start:\n\t"
    "mov $stacks + 4096, %esp\n\t"
    "call first\n\t"
    "mov $0xf4, %dx\n\t"
    "xor %eax, %eax\n\t"
    "out %al, %dx\n"
    "1:\n\t"
    "hlt\n\t"
    "jmp 1b\n"

    /* Where another CPU begins, copied to TRAMPOLINE. */
    "trampoline:\n\t"
    ".code16\n\t"
    "cli\n\t"
    "xor %ax, %ax\n\t"
    "mov %ax, %ds\n\t"
    "lgdtl 0x8000 + segments - trampoline\n\t"
    "mov %cr0, %eax\n\t"
    "or $1, %eax\n\t"
    "mov %eax, %cr0\n\t"
    "ljmpl $8, $protected\n\t"
    ".balign 8\n"
    "segments:\n\t"
    ".word 23\n\t"
    ".long 0x8000 + table - trampoline\n\t"
    ".balign 8\n"
    "table:\n\t"
    ".quad 0, 0x00cf9b000000ffff, 0x00cf93000000ffff\n"
    "trampoline_end:\n\t"
    ".code32\n"
    "protected:\n\t"
    "mov $16, %ax\n\t"
    "mov %ax, %ds\n\t"
    "mov %ax, %es\n\t"
    "mov %ax, %ss\n\t"
    "mov $4096, %esp\n\t"
    "lock xadd %esp, next_stack\n\t"
    "add $stacks + 4096, %esp\n\t"
    "call other\n"
    "1:\n\t"
    "hlt\n\t"
    "jmp 1b\n"

    "interrupt:\n\t"
    "pusha\n\t"
    "call tick\n\t"
    "popa\n\t"
    "iret");

extern const u8 trampoline[], trampoline_end[], interrupt[];
u8 stacks[CPUS * STACK] __attribute__((aligned(16), used));
u32 next_stack __attribute__((used)) = STACK;
static volatile u32 lock, number, ready, done;
static struct { u16 low, segment, flags, high; } gates[VECTOR + 1];

static void put(char c)
{
    asm volatile("outb %0, $0xe9" : : "a"(c));
}

static void put_number(u32 value)
{
    for (int shift = 28; shift >= 0; shift -= 4) {
        put("0123456789abcdef"[value >> shift & 15]);
    }
    put('\n');
}

static u32 now(void)
{
    u32 low;

    asm volatile("rdtsc" : "=a"(low) : : "edx");
    return low;
}

/* What a debugger stops at. */
__attribute__((noinline, used)) void mix(u32 who)
{
    number = (number ^ now()) * 0x01000193u + who;
}

__attribute__((used)) void tick(void)
{
    number = number * 31 + now();
    APIC_EOI = 0;
}

static void work(u32 who)
{
    for (u32 round = 0; round < ROUNDS; round++) {
        while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
            asm volatile("pause");
        }
        mix(who);
        if (!who && round % PRINTED == 0) {
            put_number(number);
        }
        __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    }
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
}

__attribute__((used)) void other(void)
{
    work(__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST));
}

static void set_timer(void)
{
    struct { u16 limit; u32 base; } __attribute__((packed)) table = {
        sizeof(gates) - 1, (u32)gates
    };
    u16 segment;

    asm("mov %%cs, %0" : "=r"(segment));
    gates[VECTOR].low = (u32)interrupt;
    gates[VECTOR].high = (u32)interrupt >> 16;
    gates[VECTOR].segment = segment;
    gates[VECTOR].flags = 0x8e00;
    asm volatile("lidt %0" : : "m"(table));
    APIC_DIVIDE = 0xb;
    APIC_TIMER = 0x20000 | VECTOR;
    APIC_COUNT = 1733;
    asm volatile("sti");
}

__attribute__((used)) void first(void)
{
    u8 *to = (u8 *)TRAMPOLINE;

    for (const u8 *from = trampoline; from < trampoline_end; from++) {
        *to++ = *from;
    }
    APIC_SPURIOUS |= 0x100;
    /* INIT, then where to begin, for all others. */
    APIC_ICR = 0xc4500;
    APIC_ICR = 0xc4600 | TRAMPOLINE / 4096;
    for (u32 begun = now(); now() - begun < 20000;) {
        asm volatile("pause");
    }
    set_timer();
    work(0);
    while (done <= ready) {
        asm volatile("pause");
    }
    asm volatile("cli");
    put_number(ready);
    put_number(now());
    put_number(number);
}
