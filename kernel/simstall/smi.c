// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: stalls by system management interrupts
 *
 * On a machine whose firmware has not locked system management mode,
 * its handler is in ordinary memory, where SMBASE points after a reset.
 * Ours is put there. The first timer of the PC (8254, channel 0), which the
 * kernel does not use once it has found a better one, counts down to a stall,
 * and the I/O APIC, programmed to deliver its interrupt as an SMI, passes it
 * to the CPU. The handler stalls, and sets the timer for the next stall.
 *
 * So between two stalls, neither the kernel nor anything it runs is involved.
 * What it can see, not by any clock but by the counter MSR_SMI_COUNT, is that the
 * timer holds 55 ms at most: if the next stall is further away, the handler is
 * entered every 50 ms, for 15 instructions, to set it again.
 *
 * Only QEMU's software emulation is supported: on other machines, system
 * management mode belongs to the firmware.
 */

#include <linux/bits.h>
#include <linux/i8253.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/string.h>

#include <asm/cpufeature.h>
#include <asm/processor.h>

#include "handler.h"
#include "simstall.h"

/* Where system management mode begins after a reset, and where it saves. */
#define SMI_HANDLER	0x38000
#define SMI_SAVED	0x3fc00
#define SMI_SAVED_END	0x40000

#define IOAPIC		0xfec00000
#define IOAPIC_INDEX	0x00
#define IOAPIC_DATA	0x10
/* The pin to which the timer is wired; two registers each. */
#define IOAPIC_PIN	2
#define IOAPIC_ENTRY	(0x10 + 2 * IOAPIC_PIN)
/* In the low one. The rest is 0: edge, active high, physical destination. */
#define IOAPIC_SMI	(2 << 8)
#define IOAPIC_MASKED	BIT(16)
/* Where the high one has the destination. */
#define IOAPIC_TO	24

/* Channel 0, low byte and then high byte, mode 0: once, after a count. */
#define PIT_ONCE	0x30

static struct simstall_control *smi_control;
static unsigned int smi_cpu;
static void __iomem *smi_ioapic;
/* Low and high half of the pin's entry, to write and as it was. */
static u32 smi_entry[2], smi_entry_before[2];

static u32 smi_ioapic_read(unsigned int index)
{
	writel(index, smi_ioapic + IOAPIC_INDEX);
	return readl(smi_ioapic + IOAPIC_DATA);
}

static void smi_ioapic_write(unsigned int index, u32 value)
{
	writel(index, smi_ioapic + IOAPIC_INDEX);
	writel(value, smi_ioapic + IOAPIC_DATA);
}

/*
 * Index and data are two accesses, and the kernel's lock for them is its own.
 * Context: stop_machine(): nobody else does anything.
 */
static int smi_exchange_entry(void *entry)
{
	const u32 *to = entry;

	if (to == smi_entry) {
		smi_entry_before[0] = smi_ioapic_read(IOAPIC_ENTRY);
		smi_entry_before[1] = smi_ioapic_read(IOAPIC_ENTRY + 1);
	}
	smi_ioapic_write(IOAPIC_ENTRY, IOAPIC_MASKED);
	smi_ioapic_write(IOAPIC_ENTRY + 1, to[1]);
	smi_ioapic_write(IOAPIC_ENTRY, to[0]);
	return 0;
}

/* Whether this is a machine on which we may take over system management mode. */
static bool smi_is_ours(void)
{
	/* The header that has cpuid() is another one since 6.16. */
	u32 leaf = 0x40000000, id[3];

	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR))
		return false;
	asm volatile("cpuid" : "+a" (leaf), "=b" (id[0]), "=c" (id[1]), "=d" (id[2]));
	return !memcmp(id, "TCGTCGTCGTCG", sizeof(id));
}

/* Whether the kernel does not allocate any of this memory. */
static bool smi_is_reserved(phys_addr_t from, phys_addr_t to)
{
	unsigned long pfn;

	for (pfn = PHYS_PFN(from); pfn < PHYS_PFN(PAGE_ALIGN(to)); pfn++) {
		if (!pfn_valid(pfn) || !PageReserved(pfn_to_page(pfn)))
			return false;
	}
	return true;
}

static int smi_put_handler(void)
{
	size_t length = simstall_handler_end - simstall_handler;
	size_t at = simstall_handler_control - simstall_handler - sizeof(u32);
	u32 control = virt_to_phys(smi_control);
	u8 *handler;

	handler = memremap(SMI_HANDLER, length, MEMREMAP_WB);
	if (!handler)
		return -ENOMEM;
	memcpy(handler, simstall_handler, length);
	memcpy(handler + at, &control, sizeof(control));
	memunmap(handler);
	return 0;
}

static int smi_init(struct simstall_control *control, unsigned int cpu)
{
	int ret;

	if (!smi_is_ours()) {
		pr_err("simstall: smi: not a machine of QEMU's software emulation\n");
		return -ENODEV;
	}
	if (!smi_is_reserved(SMI_HANDLER, SMI_HANDLER + PAGE_SIZE) ||
	    !smi_is_reserved(SMI_SAVED, SMI_SAVED_END)) {
		pr_err("simstall: smi: the kernel uses the memory of the handler\n");
		return -EBUSY;
	}
	smi_control = control;
	smi_cpu = cpu;
	ret = smi_put_handler();
	if (ret)
		return ret;
	smi_ioapic = ioremap(IOAPIC, PAGE_SIZE);
	if (!smi_ioapic)
		return -ENOMEM;
	smi_entry[0] = IOAPIC_SMI;
	smi_entry[1] = (u32)cpu_physical_id(cpu) << IOAPIC_TO;
	stop_machine(smi_exchange_entry, smi_entry, NULL);
	return 0;
}

static void smi_set_timer(u8 mode, u32 ticks)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&i8253_lock, flags);
	outb_p(mode, PIT_MODE);
	outb_p(ticks & 0xff, PIT_CH0);
	outb_p(ticks >> 8, PIT_CH0);
	raw_spin_unlock_irqrestore(&i8253_lock, flags);
}

/* The handler uses up one winding of the first stall before it stalls. */
static void smi_start(void)
{
	const struct simstall_stall *first = simstall_first(smi_control);

	smi_set_timer(PIT_ONCE, first->ticks);
}

/* Context: interrupt on the CPU to be stalled, where no stall is in progress. */
static void smi_is_over(void *unused)
{
}

/*
 * The timer may fire once more, and the handler then returns at once. A CPU
 * that stalls takes no interrupt.
 */
static void smi_stop(void)
{
	WRITE_ONCE(smi_control->stopped, 1);
	smp_call_function_single(smi_cpu, smi_is_over, NULL, true);
}

static void smi_exit(void)
{
	stop_machine(smi_exchange_entry, smi_entry_before, NULL);
	iounmap(smi_ioapic);
}

/* The handler depends on these offsets. */
static_assert(offsetof(struct simstall_control, left) == CONTROL_LEFT);
static_assert(offsetof(struct simstall_control, windings) == CONTROL_WINDINGS);
static_assert(offsetof(struct simstall_control, next) == CONTROL_NEXT);
static_assert(offsetof(struct simstall_control, stopped) == CONTROL_STOPPED);
static_assert(offsetof(struct simstall_stall, windings) == STALL_WINDINGS);
static_assert(offsetof(struct simstall_stall, ticks) == STALL_TICKS);
static_assert(offsetof(struct simstall_stall, turns) == STALL_TURNS);
static_assert(offsetof(struct simstall_stall, begin) == STALL_BEGIN);
static_assert(offsetof(struct simstall_stall, end) == STALL_END);
static_assert(sizeof(struct simstall_stall) == STALL_SIZE);

const struct simstall_kind simstall_smi = {
	.name = "smi",
	.own = SIMSTALL_HANDLER_OWN,
	.tail = SIMSTALL_HANDLER_TAIL,
	.init = smi_init,
	.start = smi_start,
	.stop = smi_stop,
	.exit = smi_exit,
};
