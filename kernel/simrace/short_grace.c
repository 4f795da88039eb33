// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: short grace
 *
 * One thread reads an object for a few microseconds. Another withdraws it and
 * frees it after a millisecond, by when no reader can be left. The fix is RCU.
 *
 * Fails if the reader is delayed for longer than that.
 */

#include <linux/bug.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "simrace.h"

/* How long a reader takes, in loop iterations of two instructions. */
#define SHORT_GRACE_READ	1000

struct short_grace_object {
	u32 alive;
};

static struct short_grace_object *short_grace_object;

static int short_grace_prepare(void)
{
	struct short_grace_object *object;

	object = kzalloc(sizeof(*object), GFP_KERNEL);
	if (!object)
		return -ENOMEM;
	object->alive = SIMRACE_ALIVE;
	short_grace_object = object;
	return 0;
}

static void short_grace_use(void)
{
	struct short_grace_object *object = READ_ONCE(short_grace_object);

	if (!object)
		return;
	simrace_spend(SHORT_GRACE_READ);
	WARN_ONCE(READ_ONCE(object->alive) != SIMRACE_ALIVE,
		  "simrace: an object is freed under its reader\n");
}

static void short_grace_read(void)
{
	if (!simrace_fixed()) {
		short_grace_use();
		return;
	}
	rcu_read_lock();
	short_grace_use();
	rcu_read_unlock();
}

static void short_grace_free(void)
{
	struct short_grace_object *object = short_grace_object;

	WRITE_ONCE(short_grace_object, NULL);
	if (simrace_fixed())
		synchronize_rcu_expedited();
	else
		simrace_sleep(NSEC_PER_MSEC);
	WRITE_ONCE(object->alive, SIMRACE_DEAD);
	kfree(object);
}

const struct simrace_race simrace_short_grace = {
	.name = "short-grace",
	.parts = 2,
	.spread_ns = 20000,
	.prepare = short_grace_prepare,
	.part = { { short_grace_read }, { short_grace_free } },
};
