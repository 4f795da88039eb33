// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: check, then act
 *
 * One thread uses a listener if there is one, another removes it. The first
 * reads the pointer twice: to check it, and to use it. The fix is to read it
 * once; listeners are never freed.
 *
 * Fails if the listener is removed between the two reads: NULL is dereferenced.
 */

#include "simrace.h"

struct check_then_act_listener {
	u64 told;
};

static struct check_then_act_listener check_then_act_one;
static struct check_then_act_listener *check_then_act_listener;
static u64 check_then_act_events;

static int check_then_act_prepare(void)
{
	check_then_act_listener = &check_then_act_one;
	return 0;
}

static void check_then_act_tell(void)
{
	struct check_then_act_listener *listener;

	listener = READ_ONCE(check_then_act_listener);
	if (!listener)
		return;
	check_then_act_events++;
	if (!simrace_fixed())
		listener = READ_ONCE(check_then_act_listener);
	listener->told++;
}

static void check_then_act_remove(void)
{
	WRITE_ONCE(check_then_act_listener, NULL);
}

const struct simrace_race simrace_check_then_act = {
	.name = "check-then-act",
	.parts = 2,
	.spread_ns = 20000,
	.prepare = check_then_act_prepare,
	.part = { { check_then_act_tell }, { check_then_act_remove } },
};
