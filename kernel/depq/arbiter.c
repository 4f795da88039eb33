// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rbtree.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * DOC: arbiters
 *
 * Without an arbiter, each queue submits what its own credits allow, and an
 * engine fed by several queues executes their jobs in order of arrival: a queue
 * with more or longer jobs gets more of its time. An arbiter belongs to one
 * engine. It limits the credits on the engine, over all its queues, and if more
 * jobs are ready it chooses by virtual runtime: the engine time that the jobs of
 * a queue took. The queue with the least goes first; among equals, the one that
 * has waited longest.
 *
 * A queue has a turn with its arbiter. All changes are made under
 * &depq_arbiter.lock, and all but waiting -> granted under &depq_queue.lock too,
 * so that a turn other than waiting is stable for the holder of the latter.
 *
 * ========  ==============================  =================================
 * turn      the first job of the queue      exits
 * ========  ==============================  =================================
 * none      is not ready, or there is none  depq_arbiter_ask(): waiting, or
 *                                           granted where there is room
 * waiting   is ready; in @waiting           depq_arbiter_dispatch(): granted;
 *                                           depq_arbiter_withdraw(): none
 * granted   has its credits on the engine   depq_arbiter_start(): none;
 *                                           depq_arbiter_withdraw(): none
 * ========  ==============================  =================================
 *
 * Only the thread that may run jobs of a queue asks: the runner if there is one,
 * since the first job may still be waiting for a dependency. Anything else that
 * blocks a queue (a stop, a timeout, a kill) withdraws it. So whatever is granted
 * is run without waiting for anything but a CPU, and a waiting queue is blocked
 * by nothing but the engine.
 *
 * When credits are given back, because a job has ended or a queue withdraws, the
 * caller invokes depq_arbiter_dispatch() after it has released the lock of that
 * queue, and the queue has asked for its next job. That chooses among all waiting
 * queues, and hands the chosen one to its softirq or worker. So while any queue
 * waits, credits are in use on the engine or a dispatch is imminent. If none waits
 * and there is room, depq_arbiter_ask() grants at once: the submitter runs the job.
 *
 * Virtual runtime of a queue:
 *
 * - It grows with each job that ends, by the engine time of the job, even if the
 *   queue becomes empty. While jobs are on the engine, each counts as long as the
 *   job that ended last.
 * - A queue that asks and has nothing on the engine is moved up to one nanosecond
 *   before the arbiter's position (&depq_arbiter.min_vruntime, that of the last
 *   grant) if it is behind: being idle earns no credit, except to go before queues
 *   that are at the position. So a queue that uses less than its share only waits
 *   for what is on the engine.
 * - A queue that was never granted anything begins %DEPQ_ARBITER_NEW_NS after that.
 *
 * So there is no starvation: ahead of a waiting queue, each other queue gets no
 * more than the engine time by which the former is ahead of the arbiter (that of
 * its own jobs since it was last granted something), plus that of the jobs that the
 * other one has on the engine. New queues that keep arriving advance the arbiter,
 * since they begin later, and so reach the waiting queue. A job that takes
 * no time counts as %DEPQ_ARBITER_LEAST_NS.
 */

/* The least that a job counts. */
#define DEPQ_ARBITER_LEAST_NS 1000

/* The distance from the arbiter at which a new queue begins: about a short job. */
#define DEPQ_ARBITER_NEW_NS 100000

/**
 * enum depq_turn - state of a queue with its arbiter; see above
 * @DEPQ_TURN_NONE: asks for nothing
 * @DEPQ_TURN_WAITING: waits for its turn
 * @DEPQ_TURN_GRANTED: may run its first job
 */
enum depq_turn {
	DEPQ_TURN_NONE,
	DEPQ_TURN_WAITING,
	DEPQ_TURN_GRANTED,
};

/**
 * struct depq_arbiter - chooses whose jobs go to an engine
 * @ref: held by the creator and by each queue
 * @credit_limit: the most credits on the engine, except for a single larger job
 * @lock: protects what follows; taken under the locks of queues
 * @credits: on the engine, or granted
 * @jobs: on the engine
 * @since: when the engine started on the job that will end next
 * @min_vruntime: never falls
 * @waiting: queues, by &depq_contender.key
 */
struct depq_arbiter {
	struct kref ref;
	u32 credit_limit;
	spinlock_t lock;
	u32 credits;
	u32 jobs;
	u64 since;
	u64 min_vruntime;
	struct rb_root_cached waiting;
};

/**
 * struct depq_contender - a queue as its arbiter sees it
 * @queue: the queue that it belongs to
 * @arbiter: the arbiter; a reference
 * @turn: its state
 * @served: it was granted something before
 * @credits: credits requested
 * @jobs: on the engine
 * @vruntime: engine time of the jobs that have ended, plus adjustments
 * @last_ns: engine time of the job that ended last
 * @key: @vruntime plus the expected time of @jobs
 * @node: in &depq_arbiter.waiting
 */
struct depq_contender {
	struct depq_queue *queue;
	struct depq_arbiter *arbiter;
	enum depq_turn turn;
	bool served;
	u32 credits;
	u32 jobs;
	u64 vruntime;
	u64 last_ns;
	u64 key;
	struct rb_node node;
};

/**
 * depq_arbiter_create() - create an arbiter
 * @credit_limit: the most credits on the engine; 1 or more. A job with more runs
 *	when it is alone.
 *
 * Context: process, may sleep.
 * Return: the arbiter, with one reference, or ERR_PTR(-EINVAL), ERR_PTR(-ENOMEM)
 */
struct depq_arbiter *depq_arbiter_create(u32 credit_limit)
{
	struct depq_arbiter *arbiter;

	might_sleep();
	if (!credit_limit)
		return ERR_PTR(-EINVAL);
	arbiter = kzalloc(sizeof(*arbiter), GFP_KERNEL_ACCOUNT);
	if (!arbiter)
		return ERR_PTR(-ENOMEM);
	kref_init(&arbiter->ref);
	arbiter->credit_limit = credit_limit;
	spin_lock_init(&arbiter->lock);
	arbiter->waiting = RB_ROOT_CACHED;
	return arbiter;
}
EXPORT_SYMBOL_GPL(depq_arbiter_create);

/**
 * depq_arbiter_get() - take a reference
 * @arbiter: the arbiter, to which the caller has a reference
 *
 * Context: any.
 * Return: @arbiter
 */
struct depq_arbiter *depq_arbiter_get(struct depq_arbiter *arbiter)
{
	kref_get(&arbiter->ref);
	return arbiter;
}
EXPORT_SYMBOL_GPL(depq_arbiter_get);

static void depq_arbiter_release(struct kref *ref)
{
	struct depq_arbiter *arbiter = container_of(ref, struct depq_arbiter,
						    ref);

	WARN_ON_ONCE(arbiter->credits || arbiter->jobs);
	WARN_ON_ONCE(!RB_EMPTY_ROOT(&arbiter->waiting.rb_root));
	kfree(arbiter);
}

/**
 * depq_arbiter_put() - put a reference
 * @arbiter: the arbiter, or NULL
 *
 * Context: any. The last one is put by the maker or by the release of a queue.
 */
void depq_arbiter_put(struct depq_arbiter *arbiter)
{
	if (arbiter)
		kref_put(&arbiter->ref, depq_arbiter_release);
}
EXPORT_SYMBOL_GPL(depq_arbiter_put);

/**
 * depq_arbiter_join() - let an arbiter schedule a queue
 * @arbiter: the arbiter
 * @queue: the queue, which is being initialised
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM
 */
int depq_arbiter_join(struct depq_arbiter *arbiter, struct depq_queue *queue)
{
	struct depq_contender *contender;

	contender = kzalloc(sizeof(*contender), GFP_KERNEL_ACCOUNT);
	if (!contender)
		return -ENOMEM;
	contender->queue = queue;
	contender->arbiter = depq_arbiter_get(arbiter);
	queue->contender = contender;
	return 0;
}

/**
 * depq_arbiter_forget() - undo depq_arbiter_join()
 * @queue: the queue, without jobs, and not accessed by anyone else
 *
 * Context: process.
 */
void depq_arbiter_forget(struct depq_queue *queue)
{
	struct depq_contender *contender = queue->contender;

	WARN_ON_ONCE(contender->turn != DEPQ_TURN_NONE || contender->jobs);
	queue->contender = NULL;
	depq_arbiter_put(contender->arbiter);
	kfree(contender);
}

static bool depq_contender_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct depq_contender, node)->key <
	       rb_entry(b, struct depq_contender, node)->key;
}

/* Queues with equal keys stay in order of arrival. */
static void depq_arbiter_insert(struct depq_contender *contender)
{
	contender->turn = DEPQ_TURN_WAITING;
	rb_add_cached(&contender->node, &contender->arbiter->waiting,
		      depq_contender_less);
}

static void depq_arbiter_remove(struct depq_contender *contender)
{
	contender->turn = DEPQ_TURN_NONE;
	rb_erase_cached(&contender->node, &contender->arbiter->waiting);
}

static struct depq_contender *depq_arbiter_first(struct depq_arbiter *arbiter)
{
	return rb_entry_safe(rb_first_cached(&arbiter->waiting),
			     struct depq_contender, node);
}

static bool depq_arbiter_fits(const struct depq_arbiter *arbiter, u32 credits)
{
	if (!arbiter->credits)
		return true;
	return arbiter->credits < arbiter->credit_limit &&
	       credits <= arbiter->credit_limit - arbiter->credits;
}

static void depq_contender_rekey(struct depq_contender *contender)
{
	contender->key = contender->vruntime +
			 contender->jobs * contender->last_ns;
}

/* Sets the position of a queue that was not waiting. */
static void depq_contender_place(struct depq_contender *contender)
{
	u64 least = contender->arbiter->min_vruntime;

	if (!contender->served)
		least += DEPQ_ARBITER_NEW_NS;
	else if (least)
		least--;
	depq_contender_rekey(contender);
	if (!contender->jobs && contender->key < least) {
		contender->vruntime += least - contender->key;
		contender->key = least;
	}
}

static void depq_arbiter_grant(struct depq_contender *contender)
{
	struct depq_arbiter *arbiter = contender->arbiter;

	contender->turn = DEPQ_TURN_GRANTED;
	contender->served = true;
	arbiter->credits += contender->credits;
	arbiter->min_vruntime = max(arbiter->min_vruntime, contender->key);
}

/**
 * depq_arbiter_ask() - ask whether the engine has room for a queue's first job
 * @queue: the queue, with a contender; nothing else blocks the job
 * @credits: those of the job
 *
 * If not, the queue waits for its turn, and depq_queue_want_kick() is called
 * when that has come.
 *
 * Context: any; the lock of the queue is held, and the caller is the runner or
 * there is none.
 * Return: whether it may
 */
bool depq_arbiter_ask(struct depq_queue *queue, u32 credits)
{
	struct depq_contender *contender = queue->contender;
	struct depq_arbiter *arbiter = contender->arbiter;
	struct depq_contender *first;
	bool granted;

	lockdep_assert_held(&queue->lock);
	spin_lock(&arbiter->lock);
	if (contender->turn == DEPQ_TURN_NONE) {
		contender->credits = credits;
		depq_contender_place(contender);
		first = depq_arbiter_first(arbiter);
		if (depq_arbiter_fits(arbiter, credits) &&
		    (!first || contender->key < first->key))
			depq_arbiter_grant(contender);
		else
			depq_arbiter_insert(contender);
	}
	WARN_ON_ONCE(contender->credits != credits);
	granted = contender->turn == DEPQ_TURN_GRANTED;
	spin_unlock(&arbiter->lock);
	return granted;
}

/**
 * depq_arbiter_contends() - whether a queue waits for the engine or was granted it
 * @queue: the queue, with a contender
 *
 * Context: any; the lock of the queue is held.
 * Return: whether it does
 */
bool depq_arbiter_contends(struct depq_queue *queue)
{
	lockdep_assert_held(&queue->lock);
	return READ_ONCE(queue->contender->turn) != DEPQ_TURN_NONE;
}

/**
 * depq_arbiter_start() - account for a job that goes to the engine
 * @queue: the queue, which depq_arbiter_ask() has allowed that
 * @job: its first job
 *
 * Context: any; the lock of the queue is held, since depq_arbiter_ask().
 */
void depq_arbiter_start(struct depq_queue *queue, struct depq_job *job)
{
	struct depq_contender *contender = queue->contender;
	struct depq_arbiter *arbiter = contender->arbiter;

	lockdep_assert_held(&queue->lock);
	spin_lock(&arbiter->lock);
	WARN_ON_ONCE(contender->turn != DEPQ_TURN_GRANTED ||
		     contender->credits != job->credits);
	contender->turn = DEPQ_TURN_NONE;
	contender->jobs++;
	if (!arbiter->jobs++)
		arbiter->since = ktime_get_ns();
	spin_unlock(&arbiter->lock);
}

/**
 * depq_arbiter_end() - account for a job that has left the engine
 * @queue: the queue
 * @job: the job, after depq_arbiter_start()
 * @engine_ns: its engine time, or %DEPQ_ENGINE_NS_MEASURE
 *
 * The caller calls depq_queue_want_kick(), and depq_arbiter_dispatch() once it
 * has released the lock.
 *
 * Context: any; the lock of the queue is held.
 */
void depq_arbiter_end(struct depq_queue *queue, struct depq_job *job,
		      u64 engine_ns)
{
	struct depq_contender *contender = queue->contender;
	struct depq_arbiter *arbiter = contender->arbiter;
	u64 now;

	lockdep_assert_held(&queue->lock);
	spin_lock(&arbiter->lock);
	WARN_ON_ONCE(!arbiter->jobs || !contender->jobs ||
		     arbiter->credits < job->credits);
	now = ktime_get_ns();
	if (engine_ns == DEPQ_ENGINE_NS_MEASURE)
		engine_ns = now - arbiter->since;
	arbiter->since = now;
	arbiter->jobs--;
	arbiter->credits -= job->credits;

	contender->jobs--;
	contender->last_ns = max_t(u64, engine_ns, DEPQ_ARBITER_LEAST_NS);
	contender->vruntime += contender->last_ns;
	if (contender->turn == DEPQ_TURN_WAITING) {
		depq_arbiter_remove(contender);
		depq_contender_rekey(contender);
		depq_arbiter_insert(contender);
	}
	spin_unlock(&arbiter->lock);
}

/**
 * depq_arbiter_withdraw() - a queue is blocked by something else than the engine
 * @queue: the queue, with a contender
 *
 * The caller calls depq_arbiter_dispatch() once it has released the lock.
 *
 * Context: any; the lock of the queue is held.
 */
void depq_arbiter_withdraw(struct depq_queue *queue)
{
	struct depq_contender *contender = queue->contender;
	struct depq_arbiter *arbiter = contender->arbiter;

	lockdep_assert_held(&queue->lock);
	spin_lock(&arbiter->lock);
	if (contender->turn == DEPQ_TURN_WAITING) {
		depq_arbiter_remove(contender);
	} else if (contender->turn == DEPQ_TURN_GRANTED) {
		contender->turn = DEPQ_TURN_NONE;
		arbiter->credits -= contender->credits;
	}
	spin_unlock(&arbiter->lock);
}

/* Grants the first queue its turn if there is room. Returns it with a reference. */
static struct depq_queue *depq_arbiter_pick(struct depq_arbiter *arbiter)
{
	struct depq_queue *queue = NULL;
	struct depq_contender *first;
	unsigned long flags;

	spin_lock_irqsave(&arbiter->lock, flags);
	first = depq_arbiter_first(arbiter);
	if (first && depq_arbiter_fits(arbiter, first->credits)) {
		depq_arbiter_remove(first);
		depq_arbiter_grant(first);
		/* Kept alive by its first job, which waits for its turn. */
		queue = depq_queue_get(first->queue);
	}
	spin_unlock_irqrestore(&arbiter->lock, flags);
	return queue;
}

/**
 * depq_arbiter_dispatch() - grant turns as long as there is room
 * @contender: of the queue whose job has ended or which has withdrawn; its memory
 *	and the arbiter stay valid during the call
 *
 * Context: any, maybe under a lock of a hardware fence; no lock of depq is held but
 * that of the device.
 */
void depq_arbiter_dispatch(struct depq_contender *contender)
{
	struct depq_arbiter *arbiter = contender->arbiter;
	struct depq_queue *queue;
	unsigned long flags;
	bool kick;

	while ((queue = depq_arbiter_pick(arbiter))) {
		spin_lock_irqsave(&queue->lock, flags);
		kick = depq_queue_want_kick(queue);
		spin_unlock_irqrestore(&queue->lock, flags);
		if (kick)
			depq_worker_kick(queue);
		depq_queue_put(queue);
	}
}
