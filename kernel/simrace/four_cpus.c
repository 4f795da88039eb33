// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: four CPUs
 *
 * Users of a pool take a place in it for a moment, without being preempted.
 * There are three places, as if no more CPUs could use it at once. The fix is a
 * place for each CPU.
 *
 * Fails if four CPUs use the pool at once.
 */

#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/cpumask.h>
#include <linux/preempt.h>

#include "simrace.h"

#define FOUR_CPUS_PLACES	3
/* How long a place is taken, in loop iterations of two instructions. */
#define FOUR_CPUS_TAKEN		500

static atomic_t four_cpus_users = ATOMIC_INIT(0);

static void four_cpus_use(void)
{
	int places = simrace_fixed() ? nr_cpu_ids : FOUR_CPUS_PLACES;

	preempt_disable();
	WARN_ONCE(atomic_inc_return(&four_cpus_users) > places,
		  "simrace: no place is left\n");
	simrace_spend(FOUR_CPUS_TAKEN);
	atomic_dec(&four_cpus_users);
	preempt_enable();
}

const struct simrace_race simrace_four_cpus = {
	.name = "four-cpus",
	.parts = 4,
	.spread_ns = 20000,
	.part = {
		{ four_cpus_use },
		{ four_cpus_use },
		{ four_cpus_use },
		{ four_cpus_use },
	},
};
