// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: lost update
 *
 * Two threads add to a counter. Each reads it, adds, and writes it back; what
 * the other added in between is lost. The fix is a lock.
 *
 * Fails if one thread adds between the read and the write of the other, which
 * are three instructions.
 */

#include <linux/bug.h>
#include <linux/spinlock.h>

#include "simrace.h"

static DEFINE_SPINLOCK(lost_update_lock);
static u64 lost_update_bytes;

static int lost_update_prepare(void)
{
	lost_update_bytes = 0;
	return 0;
}

static noinline void lost_update_add(u64 bytes)
{
	u64 before = READ_ONCE(lost_update_bytes);

	WRITE_ONCE(lost_update_bytes, before + bytes);
}

static void lost_update_part(void)
{
	if (!simrace_fixed()) {
		lost_update_add(1);
		return;
	}
	spin_lock(&lost_update_lock);
	lost_update_add(1);
	spin_unlock(&lost_update_lock);
}

static void lost_update_check(void)
{
	WARN_ONCE(lost_update_bytes != 2, "simrace: an update is lost\n");
}

const struct simrace_race simrace_lost_update = {
	.name = "lost-update",
	.parts = 2,
	.spread_ns = 10000,
	.prepare = lost_update_prepare,
	.part = { { lost_update_part }, { lost_update_part } },
	.check = lost_update_check,
};
