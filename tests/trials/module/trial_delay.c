// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: trial_delay
 *
 * A module with an effect of known size, for known-answer trials. Reading its
 * parameter ``wait`` keeps the CPU busy for TRIAL_US microseconds, which is
 * compiled in, times the parameter ``times``. Builds that differ in TRIAL_NOTE
 * alone do the same.
 */

#include <linux/delay.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sysfs.h>

#ifndef TRIAL_US
#define TRIAL_US 50
#endif

#ifndef TRIAL_NOTE
#define TRIAL_NOTE "none"
#endif

static uint times = 1;
module_param(times, uint, 0444);
MODULE_PARM_DESC(times, "how often a reader of wait waits");

static char *note = TRIAL_NOTE;
module_param(note, charp, 0444);
MODULE_PARM_DESC(note, "a text that nothing reads");

static int trial_wait(char *buffer, const struct kernel_param *parameter)
{
	uint i;

	for (i = 0; i < times; i++)
		udelay(TRIAL_US);
	return sysfs_emit(buffer, "%u\n", times);
}

static const struct kernel_param_ops trial_wait_ops = {
	.get = trial_wait,
};

module_param_cb(wait, &trial_wait_ops, NULL, 0444);
MODULE_PARM_DESC(wait, "keeps the CPU busy when it is read");

static int __init trial_delay_init(void)
{
	return 0;
}

static void __exit trial_delay_exit(void)
{
}

module_init(trial_delay_init);
module_exit(trial_delay_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("keeps the CPU busy for a time that is known");
