// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: double put
 *
 * A job ends once, by its completion or by its cancellation, and whoever ends
 * it puts the reference of the list. Both look at its state, then write it. The
 * fix is to do this in one step.
 *
 * Fails if both look before one has written: the reference is put twice, and
 * the owner's put finds a count of 0 in freed memory.
 */

#include <linux/atomic.h>
#include <linux/refcount.h>
#include <linux/slab.h>

#include "simrace.h"

enum double_put_state { DOUBLE_PUT_RUNNING, DOUBLE_PUT_ENDED };

struct double_put_job {
	refcount_t references;
	int state;
};

static struct double_put_job *double_put_job;

static int double_put_prepare(void)
{
	struct double_put_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job)
		return -ENOMEM;
	/* The owner and the list. */
	refcount_set(&job->references, 2);
	job->state = DOUBLE_PUT_RUNNING;
	double_put_job = job;
	return 0;
}

static void double_put_put(struct double_put_job *job)
{
	if (refcount_dec_and_test(&job->references))
		kfree(job);
}

static bool double_put_ends(struct double_put_job *job)
{
	if (simrace_fixed())
		return cmpxchg(&job->state, DOUBLE_PUT_RUNNING,
			       DOUBLE_PUT_ENDED) == DOUBLE_PUT_RUNNING;
	if (READ_ONCE(job->state) != DOUBLE_PUT_RUNNING)
		return false;
	WRITE_ONCE(job->state, DOUBLE_PUT_ENDED);
	return true;
}

static void double_put_end(void)
{
	struct double_put_job *job = double_put_job;

	if (double_put_ends(job))
		double_put_put(job);
}

static void double_put_check(void)
{
	double_put_put(double_put_job);
}

const struct simrace_race simrace_double_put = {
	.name = "double-put",
	.parts = 2,
	.spread_ns = 20000,
	.prepare = double_put_prepare,
	.part = { { double_put_end }, { double_put_end } },
	.check = double_put_check,
};
