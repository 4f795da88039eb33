// SPDX-License-Identifier: GPL-2.0-only
/* Use of memory that is freed or out of bounds, and memory that is leaked. */

#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/timer.h>

#include "planted.h"

/* Hides a pointer from the compiler. */
static void *planted_hidden(void *pointer)
{
	OPTIMIZER_HIDE_VAR(pointer);
	return pointer;
}

int planted_use_after_free(void)
{
	u32 *word = kmalloc(sizeof(*word), GFP_KERNEL);
	u32 *stale = planted_hidden(word);

	if (!word)
		return -ENOMEM;
	kfree(word);
	WRITE_ONCE(*stale, 1);
	return 0;
}

int planted_out_of_bounds(void)
{
	u8 *bytes = kmalloc(20, GFP_KERNEL);
	u8 *end;

	if (!bytes)
		return -ENOMEM;
	end = planted_hidden(bytes + 20);
	WRITE_ONCE(*end, 1);
	kfree(bytes);
	return 0;
}

/*
 * Several objects, each lost in a separate call: the address of one may remain in a
 * register or on a stack, and would count as a reference.
 */
static noinline bool planted_lose(void)
{
	void *lost = kmalloc(128, GFP_KERNEL);

	return planted_hidden(lost);
}

int planted_leak(void)
{
	int i;

	for (i = 0; i < 16; i++) {
		if (!planted_lose())
			return -ENOMEM;
	}
	return 0;
}

int planted_list_corruption(void)
{
	struct list_head list = LIST_HEAD_INIT(list);
	struct list_head entry;

	list_add(&entry, &list);
	list_add(&entry, &list);
	return 0;
}

static void planted_expire(struct timer_list *timer)
{
}

int planted_free_armed_timer(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return -ENOMEM;
	timer_setup(timer, planted_expire, 0);
	mod_timer(timer, jiffies + 3600 * HZ);
	kfree(timer);
	return 0;
}

int planted_array_index(void)
{
	/* The field after the array keeps the wrong index harmless. */
	static struct {
		u32 words[4];
		u32 room[4];
	} both;
	size_t index = 5;

	OPTIMIZER_HIDE_VAR(index);
	WRITE_ONCE(both.words[index], 1);
	return 0;
}
