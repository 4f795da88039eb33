// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rbtree.h>
#include <linux/slab.h>

#include "internal.h"

/**
 * DOC: arbiters
 *
 * Without an arbiter each queue hands over what its own credits allow, and an
 * engine that several queues feed executes their jobs in the order in which they
 * arrive: who has more or longer jobs on it gets more of its time. An arbiter
 * belongs to one engine. It allows so many credits on that, of all its queues
 * together, and where more jobs are ready it chooses by virtual runtime: the
 * engine time that the jobs of a queue took. The least goes first; of equals, the
 * one that has waited longest.
 *
 * A queue has a turn with its arbiter; all changes are under
 * &depq_arbiter.lock, and all but waiting → granted under &depq_queue.lock too,
 * so that the holder of that may rely on a turn that is not waiting.
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
 * Only whoever may make steps for a queue asks: if there is a runner, he does, since
 * the first job may just be waiting for a dependency. What is in the way of a
 * queue otherwise (a stop, a timeout, a kill) withdraws it. So whatever is granted
 * is run without waiting for anything but a CPU, and of a queue that waits nothing
 * but the engine is in the way.
 *
 * Whoever gives credits back, because a job has ended or a queue withdraws, calls
 * depq_arbiter_dispatch() once he has released the lock of that queue, and the queue
 * has asked for its next job: that chooses from all that wait, and hands the chosen
 * one to its softirq or worker. So while somebody waits there are credits on the
 * engine or somebody is about to dispatch. Where nobody waits and there is room,
 * depq_arbiter_ask() grants at once: the submitter runs the job, and nobody is woken.
 *
 * Virtual runtime of a queue:
 *
 * - It grows with each job that ends, the last one of a queue that becomes empty
 *   included, by the time which that took of the engine. While jobs are on the
 *   engine, each counts as long as the job that ended last.
 * - A queue that asks and has nothing on the engine is put where the arbiter is by
 *   now (&depq_arbiter.min_vruntime, that of who was granted last) if it has less,
 *   and a nanosecond before: to be idle earns nothing but to go before those that
 *   are just there. So a queue that wants less than its share waits for what is on
 *   the engine only.
 * - A queue that was never granted anything begins %DEPQ_ARBITER_NEW_NS after that.
 *
 * So nobody starves: before a queue that waits, each other one gets no more than
 * the engine time by which the former is ahead of the arbiter, which is that of its
 * own jobs since it was granted something last, and then that of the jobs that the
 * other one has on the engine. New queues that come one after the other move the
 * arbiter on, since they begin later, and so reach whoever waits. A job that takes
 * no time counts %DEPQ_ARBITER_LEAST_NS.
 */

/* What a job counts at least. */
#define DEPQ_ARBITER_LEAST_NS 1000

/* How far after the arbiter a new queue begins: about a short job. */
#define DEPQ_ARBITER_NEW_NS 100000

/**
 * enum depq_turn - how a queue stands with its arbiter; see above
 * @DEPQ_TURN_NONE: asks for nothing
 * @DEPQ_TURN_WAITING: for its turn
 * @DEPQ_TURN_GRANTED: may run its first job
 */
enum depq_turn {
	DEPQ_TURN_NONE,
	DEPQ_TURN_WAITING,
	DEPQ_TURN_GRANTED,
};

/**
 * struct depq_arbiter - chooses whose jobs go to an engine
 * @ref: the maker, and each queue
 * @credit_limit: credits on the engine at most, unless it is those of one job
 * @lock: protects what follows; taken under the locks of queues
 * @credits: on the engine, or granted
 * @jobs: on the engine
 * @since: from when on the engine was working on the next job to end
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
 * @queue: the queue, of which it is a part
 * @arbiter: a reference
 * @turn: how it stands
 * @served: it was granted something before
 * @credits: what it asks for
 * @jobs: on the engine
 * @vruntime: engine time of the jobs that have ended, and what it was moved ahead
 * @last_ns: engine time of the job that ended last
 * @key: @vruntime and what @jobs are expected to take
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
 * depq_arbiter_create() - make an arbiter
 * @credit_limit: credits on the engine at most; 1 or more. A job that has more goes
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
 * depq_arbiter_join() - have an arbiter decide for a queue
 * @arbiter: the arbiter
 * @queue: the queue, which is being made
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
 * @queue: the queue, without jobs, and with nobody who looks at it
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

/* Equal keys stay in the order in which they came. */
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

/* Where a queue begins that did not wait. */
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
 * depq_arbiter_ask() - whether a queue may run its first job as far as the engine
 * goes
 * @queue: the queue, with a contender; nothing else is in the way of the job
 * @credits: those of the job
 *
 * If not, it waits for its turn from here on, and depq_queue_want_kick() is asked
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
 * depq_arbiter_contends() - whether a queue waits for the engine or is granted it
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
 * depq_arbiter_start() - a job goes to the engine
 * @queue: the queue, which depq_arbiter_ask() has granted that
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
 * depq_arbiter_end() - a job has left the engine
 * @queue: the queue
 * @job: the job, after depq_arbiter_start()
 * @engine_ns: what it took of the engine's time, or %DEPQ_ENGINE_NS_MEASURE
 *
 * The caller asks depq_queue_want_kick(), and calls depq_arbiter_dispatch() once it
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
 * depq_arbiter_withdraw() - something else is in the way of a queue
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

/* Grants the first its turn if there is room. The queue, with a reference. */
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
		/* Its first job, which waits for its turn, holds it. */
		queue = depq_queue_get(first->queue);
	}
	spin_unlock_irqrestore(&arbiter->lock, flags);
	return queue;
}

/**
 * depq_arbiter_dispatch() - choose who is next, as long as there is room
 * @contender: of the queue whose job has ended or which has withdrawn; its memory
 *	stays meanwhile, and so does the arbiter
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
