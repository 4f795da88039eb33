// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "follow.h"

/**
 * DOC: realtime budget of a process on follow workers
 *
 * RLIMIT_RTTIME limits how long a thread with a realtime priority runs
 * without a blocking system call. It would not limit a thread whose jobs run on a
 * worker with its priority, since the worker is another thread. So
 * the time of the worker is charged to the process, with the same limit: from the
 * time when one of its queues has something for a worker to do, until none
 * has. A process over its budget counts as nice 0 for the rest of that period:
 * its jobs still run, but nobody else has to wait for them.
 *
 * Only processes with a limit have an owner, and only for workers that follow.
 * A queue belongs to the process that last began a job.
 *
 * =========  ==================================  ===============================
 * state      fields                              exits
 * =========  ==================================  ===============================
 * idle       ready 0, used 0                     a queue becomes ready: busy
 * busy       ready > 0                           the last queue is not ready any
 *                                                more: idle; used > limit: over
 * over       the same, over                      the last queue is not ready any
 *                                                more: idle
 * =========  ==================================  ===============================
 *
 * A queue's level is updated with the next job that is submitted to it or run from
 * it. So once a process is over its limit, a worker may run one more job of each
 * of its other queues before it becomes less urgent.
 */

#define OWNER_BUCKETS_BITS 6

/**
 * struct depq_owner - a process with limited realtime work
 * @ref: held by the queues that belong to it, and by users
 * @link: in the table, under its lock
 * @tgid: the process; a reference
 * @limit_ns: RLIMIT_RTTIME of the thread that last began a job
 * @ready: queues that a worker has something to do for, and jobs being run
 * @used_ns: time that workers with a realtime priority have run for it
 * @over: @used_ns exceeds the limit
 */
struct depq_owner {
	struct kref ref;
	struct hlist_node link;
	struct pid *tgid;
	u64 limit_ns;
	atomic_t ready;
	atomic64_t used_ns;
	bool over;
};

static DEFINE_SPINLOCK(owners_lock);
static struct hlist_head owners[1 << OWNER_BUCKETS_BITS];

static struct hlist_head *owner_bucket(struct pid *tgid)
{
	return &owners[hash_ptr(tgid, OWNER_BUCKETS_BITS)];
}

static struct depq_owner *owner_find(struct pid *tgid)
{
	struct depq_owner *owner;

	lockdep_assert_held(&owners_lock);
	hlist_for_each_entry(owner, owner_bucket(tgid), link)
		if (owner->tgid == tgid)
			return owner;
	return NULL;
}

static void owner_release(struct kref *ref)
	__releases(&owners_lock)
{
	struct depq_owner *owner = container_of(ref, struct depq_owner, ref);

	hlist_del(&owner->link);
	spin_unlock(&owners_lock);
	WARN_ON_ONCE(atomic_read(&owner->ready));
	put_pid(owner->tgid);
	kfree(owner);
}

/**
 * depq_owner_put() - drop a reference
 * @owner: the owner, or NULL
 *
 * Context: process, interrupts on.
 */
void depq_owner_put(struct depq_owner *owner)
{
	if (owner)
		kref_put_lock(&owner->ref, owner_release, &owners_lock);
}

/* Returns the owner for the caller's process, with a reference, or NULL. */
static struct depq_owner *owner_get(void)
{
	struct pid *tgid = task_tgid(current);
	struct depq_owner *owner, *new;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	spin_lock(&owners_lock);
	owner = owner_find(tgid);
	if (owner) {
		kref_get(&owner->ref);
	} else {
		owner = new;
		kref_init(&owner->ref);
		owner->tgid = get_pid(tgid);
		hlist_add_head(&owner->link, owner_bucket(tgid));
		new = NULL;
	}
	spin_unlock(&owners_lock);
	kfree(new);
	return owner;
}

/* Counts a queue of the owner as ready, or no longer. */
static void owner_count(struct depq_owner *owner, bool ready)
{
	if (ready) {
		atomic_inc(&owner->ready);
	} else if (atomic_dec_and_test(&owner->ready)) {
		/* A concurrent charge counts for the new period. */
		atomic64_set(&owner->used_ns, 0);
		WRITE_ONCE(owner->over, false);
	}
}

/**
 * depq_owner_ready() - record whether a queue has something for its worker to do
 * @queue: the queue
 * @ready: whether it has
 *
 * Context: any; the lock of the queue is held.
 */
void depq_owner_ready(struct depq_queue *queue, bool ready)
{
	lockdep_assert_held(&queue->lock);
	if (ready == queue->owner_ready)
		return;
	queue->owner_ready = ready;
	if (queue->owner)
		owner_count(queue->owner, ready);
}

/* Sets the owner of a queue; consumes the reference. */
static void owner_set(struct depq_queue *queue, struct depq_owner *owner)
{
	struct depq_owner *old;

	spin_lock_irq(&queue->lock);
	old = queue->owner;
	queue->owner = owner;
	if (queue->owner_ready) {
		if (owner)
			owner_count(owner, true);
		if (old)
			owner_count(old, false);
	}
	spin_unlock_irq(&queue->lock);
	depq_owner_put(old);
}

/* Whether the queue already belongs to this process, with this limit. */
static bool owner_is(struct depq_queue *queue, struct pid *tgid, u64 limit_ns)
{
	bool is;

	spin_lock_irq(&queue->lock);
	is = queue->owner && queue->owner->tgid == tgid;
	if (is)
		WRITE_ONCE(queue->owner->limit_ns, limit_ns);
	spin_unlock_irq(&queue->lock);
	return is;
}

/**
 * depq_owner_claim() - make a queue belong to the process of the caller
 * @queue: the queue, whose worker follows
 *
 * Context: process, may sleep; a job is being initialised.
 * Return: 0 or -ENOMEM
 */
int depq_owner_claim(struct depq_queue *queue)
{
	unsigned long limit = rlimit(RLIMIT_RTTIME);
	u64 limit_ns = (u64)limit * NSEC_PER_USEC;
	struct depq_owner *owner = NULL;

	if (limit == RLIM_INFINITY) {
		if (READ_ONCE(queue->owner))
			owner_set(queue, NULL);
		return 0;
	}
	if (owner_is(queue, task_tgid(current), limit_ns))
		return 0;
	owner = owner_get();
	if (!owner)
		return -ENOMEM;
	WRITE_ONCE(owner->limit_ns, limit_ns);
	owner_set(queue, owner);
	return 0;
}

/**
 * depq_owner_forget() - called before the queue is released
 * @queue: the queue, which nobody else accesses
 *
 * Context: process.
 */
void depq_owner_forget(struct depq_queue *queue)
{
	owner_set(queue, NULL);
}

/**
 * depq_owner_over() - whether a process is over its budget
 * @owner: the process
 *
 * Context: any.
 * Return: whether its jobs count as nice 0 at most
 */
bool depq_owner_over(const struct depq_owner *owner)
{
	return READ_ONCE(owner->over);
}

/**
 * depq_owner_begin() - called before a worker runs a job
 * @queue: the queue, which has an owner
 * @since: set to the start time, for depq_owner_charge()
 *
 * Context: the worker; the lock of the queue is held.
 * Return: the owner, with a reference for depq_owner_charge()
 */
struct depq_owner *depq_owner_begin(struct depq_queue *queue, u64 *since)
{
	struct depq_owner *owner = queue->owner;

	lockdep_assert_held(&queue->lock);
	*since = local_clock();
	kref_get(&owner->ref);
	/* Stays busy while its job runs, even if that is the last one. */
	owner_count(owner, true);
	return owner;
}

/**
 * depq_owner_charge() - called after a worker has run a job
 * @owner: from depq_owner_begin()
 * @since: from depq_owner_begin()
 * @realtime: whether the worker had a realtime priority
 *
 * Context: the worker, interrupts on, no lock held.
 */
void depq_owner_charge(struct depq_owner *owner, u64 since, bool realtime)
{
	u64 ran = local_clock() - since;

	/* Includes time while preempted, which is little at this priority. */
	if (realtime && atomic64_add_return(ran, &owner->used_ns) >
			READ_ONCE(owner->limit_ns))
		WRITE_ONCE(owner->over, true);
	owner_count(owner, false);
	depq_owner_put(owner);
}
