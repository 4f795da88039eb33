// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading.
 */
#include <linux/module.h>

#include "internal.h"

static int __init depq_module_init(void)
{
	int ret = depq_fence_init();

	if (ret)
		return ret;
	ret = depq_follow_init();
	if (ret)
		depq_fence_exit();
	return ret;
}

static void __exit depq_module_exit(void)
{
	depq_follow_exit();
	depq_fence_exit();
}

module_init(depq_module_init);
module_exit(depq_module_exit);

MODULE_DESCRIPTION("Dependency queues for hardware jobs");
MODULE_LICENSE("GPL");
