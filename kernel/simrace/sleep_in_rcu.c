// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: sleep under RCU
 *
 * A reader of a table finds it out of date and takes the mutex of the writer,
 * to wait for a new one, inside its RCU section. The writer holds the mutex
 * until all RCU sections are over. The fix is to leave the section first.
 *
 * Fails if the reader looks while the table is out of date and still published:
 * RCU warns about the sleep, and the two wait for each other.
 */

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "simrace.h"

struct sleep_in_rcu_table {
	bool stale;
};

static DEFINE_MUTEX(sleep_in_rcu_mutex);
static struct sleep_in_rcu_table __rcu *sleep_in_rcu_table;
/* The table that will replace the first one. */
static struct sleep_in_rcu_table *sleep_in_rcu_next;

static int sleep_in_rcu_prepare(void)
{
	struct sleep_in_rcu_table *table = kzalloc(sizeof(*table), GFP_KERNEL);

	sleep_in_rcu_next = kzalloc(sizeof(*sleep_in_rcu_next), GFP_KERNEL);
	if (!table || !sleep_in_rcu_next) {
		kfree(table);
		kfree(sleep_in_rcu_next);
		return -ENOMEM;
	}
	rcu_assign_pointer(sleep_in_rcu_table, table);
	return 0;
}

static void sleep_in_rcu_wait_for_writer(void)
{
	mutex_lock(&sleep_in_rcu_mutex);
	mutex_unlock(&sleep_in_rcu_mutex);
}

static void sleep_in_rcu_read(void)
{
	bool stale;

	rcu_read_lock();
	stale = READ_ONCE(rcu_dereference(sleep_in_rcu_table)->stale);
	if (stale && !simrace_fixed())
		sleep_in_rcu_wait_for_writer();
	rcu_read_unlock();
	if (stale && simrace_fixed())
		sleep_in_rcu_wait_for_writer();
}

static void sleep_in_rcu_write(void)
{
	struct sleep_in_rcu_table *table;

	mutex_lock(&sleep_in_rcu_mutex);
	table = rcu_dereference_protected(sleep_in_rcu_table,
					  lockdep_is_held(&sleep_in_rcu_mutex));
	WRITE_ONCE(table->stale, true);
	simrace_spend(10);
	rcu_assign_pointer(sleep_in_rcu_table, sleep_in_rcu_next);
	synchronize_rcu_expedited();
	mutex_unlock(&sleep_in_rcu_mutex);
	kfree(table);
}

static void sleep_in_rcu_check(void)
{
	kfree(rcu_dereference_protected(sleep_in_rcu_table, true));
}

const struct simrace_race simrace_sleep_in_rcu = {
	.name = "sleep-in-rcu",
	.parts = 2,
	.spread_ns = 40000,
	.prepare = sleep_in_rcu_prepare,
	.part = { { sleep_in_rcu_read }, { sleep_in_rcu_write } },
	.check = sleep_in_rcu_check,
};
