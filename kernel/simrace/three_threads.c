// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: three threads
 *
 * A buffer is published. One thread withdraws and frees it; another borrows it
 * for a while, and lends it on; a third looks at what is lent. The borrower
 * takes no reference. The fix is to take one, under a lock.
 *
 * Fails in one order of three threads: the borrower begins, the buffer is
 * withdrawn and freed, the third looks, the borrower ends.
 */

#include <linux/bug.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "simrace.h"

/* How long the buffer is borrowed, in loop iterations of two instructions. */
#define THREE_THREADS_BORROWED	1500

struct three_threads_buffer {
	u32 alive;
	refcount_t references;
};

static DEFINE_SPINLOCK(three_threads_lock);
static struct three_threads_buffer *three_threads_published;
static struct three_threads_buffer *three_threads_lent;

static int three_threads_prepare(void)
{
	struct three_threads_buffer *buffer;

	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	buffer->alive = SIMRACE_ALIVE;
	refcount_set(&buffer->references, 1);
	three_threads_published = buffer;
	three_threads_lent = NULL;
	return 0;
}

static void three_threads_put(struct three_threads_buffer *buffer)
{
	if (!refcount_dec_and_test(&buffer->references))
		return;
	WRITE_ONCE(buffer->alive, SIMRACE_DEAD);
	kfree(buffer);
}

/* Takes what the place holds; a reference only in the fixed form. */
static struct three_threads_buffer *
three_threads_take(struct three_threads_buffer **place)
{
	struct three_threads_buffer *buffer;

	if (!simrace_fixed())
		return READ_ONCE(*place);
	spin_lock(&three_threads_lock);
	buffer = *place;
	if (buffer)
		refcount_inc(&buffer->references);
	spin_unlock(&three_threads_lock);
	return buffer;
}

static void three_threads_set(struct three_threads_buffer **place,
			      struct three_threads_buffer *buffer)
{
	spin_lock(&three_threads_lock);
	WRITE_ONCE(*place, buffer);
	spin_unlock(&three_threads_lock);
}

static void three_threads_withdraw(void)
{
	struct three_threads_buffer *buffer = three_threads_published;

	three_threads_set(&three_threads_published, NULL);
	three_threads_put(buffer);
}

static void three_threads_borrow(void)
{
	struct three_threads_buffer *buffer;

	buffer = three_threads_take(&three_threads_published);
	if (!buffer)
		return;
	three_threads_set(&three_threads_lent, buffer);
	simrace_spend(THREE_THREADS_BORROWED);
	three_threads_set(&three_threads_lent, NULL);
	if (simrace_fixed())
		three_threads_put(buffer);
}

static void three_threads_look(void)
{
	struct three_threads_buffer *buffer;

	buffer = three_threads_take(&three_threads_lent);
	if (!buffer)
		return;
	WARN_ONCE(READ_ONCE(buffer->alive) != SIMRACE_ALIVE,
		  "simrace: a lent buffer is freed\n");
	if (simrace_fixed())
		three_threads_put(buffer);
}

const struct simrace_race simrace_three_threads = {
	.name = "three-threads",
	.parts = 3,
	.spread_ns = 60000,
	.prepare = three_threads_prepare,
	.part = {
		{ three_threads_withdraw },
		{ three_threads_borrow },
		{ three_threads_look },
	},
};
