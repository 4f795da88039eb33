// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: planted
 *
 * Bugs on purpose, each of a kind that depq and simgpu must not have. A debug
 * kernel in which one of them goes unreported cannot vouch for the modules, so
 * the debug-kernel lane plants each of them and fails if the kernel is silent.
 *
 * The bug named by the parameter ``bug`` is carried out when the module is
 * loaded. ``none`` carries out nothing: with it the kernel must stay silent.
 */

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "planted.h"

static char *bug = "none";
module_param(bug, charp, 0444);
MODULE_PARM_DESC(bug, "which bug to carry out");

static int planted_none(void)
{
	return 0;
}

static const struct planted_bug {
	const char *name;
	int (*carry_out)(void);
} planted_bugs[] = {
	{ "none", planted_none },
	{ "alloc-while-signalling", planted_alloc_while_signalling },
	{ "signal-unsafe-lock", planted_signal_unsafe_lock },
	{ "lock-inversion", planted_lock_inversion },
	{ "raw-lock-nesting", planted_raw_lock_nesting },
	{ "sleep-in-atomic", planted_sleep_in_atomic },
	{ "use-after-free", planted_use_after_free },
	{ "out-of-bounds", planted_out_of_bounds },
	{ "leak", planted_leak },
	{ "list-corruption", planted_list_corruption },
	{ "free-armed-timer", planted_free_armed_timer },
	{ "array-index", planted_array_index },
	{ "data-race", planted_data_race },
};

static int __init planted_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(planted_bugs); i++) {
		if (!strcmp(planted_bugs[i].name, bug))
			return planted_bugs[i].carry_out();
	}
	return -ENOENT;
}

static void __exit planted_exit(void)
{
}

module_init(planted_init);
module_exit(planted_exit);

MODULE_DESCRIPTION("Bugs on purpose, to try a debug kernel");
MODULE_LICENSE("GPL");
