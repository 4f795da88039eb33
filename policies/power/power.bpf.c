// SPDX-License-Identifier: GPL-2.0-only
/*
 * power: fills a domain of CPUs before it wakes the next. A waking task
 * goes to the first domain with room for it, and there to the CPU with the
 * least recent load among those that are free. If all of
 * them are busy, it waits for its previous one, or the first.
 *
 * Tunables: domain, the number of CPUs of a domain, counted from CPU 0
 * (default 2); fill, the highest load of a domain (default 80 %); slice
 * (default 4 ms).
 *
 * Bad when tasks wake together and all of them matter: those in a domain that
 * still has room wait for each other. And if domains are not made of
 * consecutively numbered CPUs.
 */
#include "policy.h"

/* CPUs of a domain. */
const volatile u64 domain = 2;
/* The highest load of a domain, in parts of 1024. */
const volatile u64 fill = 819;

static s32 place(struct task_struct *p, s32 prev, u64 now)
{
	u64 share = task_share(p, now), sum = 0;
	u32 i, count = scx_bpf_nr_cpu_ids(), size = domain, first = 0;
	s32 here = -1, idle = -1, found = -1;
	u64 least = ~0ULL;

	for_numbers(i, 0, count) {
		struct cpu *cpu = cpu_of(i);
		u64 load;

		if (!cpu)
			break;
		load = share_at(&cpu->load, now);
		sum += load;
		if ((s32)i == prev)
			sum -= load < share ? load : share;
		if (may_use(p, i)) {
			if (here < 0 || (s32)i == prev)
				here = i;
			if (!is_taken(cpu, now) && load < least) {
				least = load;
				idle = i;
			}
		}
		if (i + 1 - first < size && i + 1 < count)
			continue;
		/* The last of its domain. */
		if (here >= 0 && sum + share < fill * (i + 1 - first)) {
			found = idle >= 0 ? idle : here;
			break;
		}
		first = i + 1;
		sum = 0;
		here = -1;
		idle = -1;
		least = ~0ULL;
	}
	return found;
}

POLICY(power);
