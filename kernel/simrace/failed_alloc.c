// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: failed allocation
 *
 * One thread makes an object, publishes it and allocates its name. If that
 * fails it takes the object back and frees it. Another thread uses what is
 * published. The fix is to publish last.
 *
 * Fails if the allocation fails and the other thread uses the object at that
 * time. Allocations fail by the kernel's failslab, or by the parameter fail.
 */

#include <linux/bug.h>
#include <linux/slab.h>

#include "simrace.h"

#define FAILED_ALLOC_NAME_BYTES	64
/* How long the object is used, in loop iterations of two instructions. */
#define FAILED_ALLOC_USED	20

struct failed_alloc_object {
	u32 alive;
	char *name;
};

static struct failed_alloc_object *failed_alloc_object;

static int failed_alloc_prepare(void)
{
	failed_alloc_object = NULL;
	return 0;
}

static char *failed_alloc_name(void)
{
	if (simrace_allocation_fails())
		return NULL;
	return kzalloc(FAILED_ALLOC_NAME_BYTES, GFP_KERNEL | __GFP_NOWARN);
}

static void failed_alloc_make(void)
{
	struct failed_alloc_object *object;

	object = kzalloc(sizeof(*object), GFP_KERNEL | __GFP_NOWARN);
	if (!object)
		return;
	object->alive = SIMRACE_ALIVE;
	if (!simrace_fixed())
		WRITE_ONCE(failed_alloc_object, object);
	object->name = failed_alloc_name();
	if (object->name) {
		/* Pairs with the acquire of the user. */
		smp_store_release(&failed_alloc_object, object);
		return;
	}
	if (!simrace_fixed())
		WRITE_ONCE(failed_alloc_object, NULL);
	WRITE_ONCE(object->alive, SIMRACE_DEAD);
	kfree(object);
}

static void failed_alloc_use(void)
{
	struct failed_alloc_object *object;

	/* Pairs with the release once it is complete. */
	object = smp_load_acquire(&failed_alloc_object);
	if (!object)
		return;
	simrace_spend(FAILED_ALLOC_USED);
	WARN_ONCE(READ_ONCE(object->alive) != SIMRACE_ALIVE,
		  "simrace: a published object is freed\n");
}

static void failed_alloc_check(void)
{
	if (!failed_alloc_object)
		return;
	kfree(failed_alloc_object->name);
	kfree(failed_alloc_object);
}

const struct simrace_race simrace_failed_alloc = {
	.name = "failed-alloc",
	.parts = 2,
	.spread_ns = 20000,
	.prepare = failed_alloc_prepare,
	.part = { { failed_alloc_make }, { failed_alloc_use } },
	.check = failed_alloc_check,
};
