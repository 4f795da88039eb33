// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: ABBA
 *
 * Two threads take two locks, in opposite orders. The fix is to take them in
 * one order.
 *
 * Fails if each takes its first lock before the other takes its second: both
 * sleep for ever. Locks are semaphores, of which lockdep knows nothing: only
 * the interleaving shows the mistake. Mutexes would also spin until something
 * else wants to run on either CPU.
 */

#include <linux/semaphore.h>

#include "simrace.h"

static struct semaphore abba_a;
static struct semaphore abba_b;

static int abba_prepare(void)
{
	sema_init(&abba_a, 1);
	sema_init(&abba_b, 1);
	return 0;
}

static void abba_take(struct semaphore *first, struct semaphore *second)
{
	down(first);
	down(second);
	up(second);
	up(first);
}

static void abba_ab(void)
{
	abba_take(&abba_a, &abba_b);
}

static void abba_ba(void)
{
	if (simrace_fixed())
		abba_take(&abba_a, &abba_b);
	else
		abba_take(&abba_b, &abba_a);
}

const struct simrace_race simrace_abba = {
	.name = "abba",
	.parts = 2,
	.spread_ns = 160000,
	.prepare = abba_prepare,
	.part = { { abba_ab }, { abba_ba } },
};
