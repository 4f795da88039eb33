// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: running cases and writing TAP
 *
 * tap_run() iterates over suites, cases and parameters. Each case has two
 * threads, one after the other: the first runs the suite's init and the case,
 * the second the suite's exit and the actions. tap_run() waits for each of
 * them, but not forever: a thread that does not return is abandoned, with
 * everything it holds. The module can then neither run again nor be removed, and
 * the results say "Bail out!".
 */

#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/debug.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "tap_log.h"

/* The time limit of a thread; below the hung task detector's 120 s. */
#define TAP_PATIENCE	(100 * HZ)

/* A thread did not return. */
static bool tap_wedged;

/**
 * struct tap_action - an action at the end of a case
 * @link: in &kunit.actions
 * @action: the function
 * @ctx: its argument
 */
struct tap_action {
	struct list_head link;
	kunit_action_t *action;
	void *ctx;
};

/**
 * struct tap_count - numbers of results
 * @passed: test points
 * @failed: test points
 * @skipped: test points
 */
struct tap_count {
	unsigned int passed;
	unsigned int failed;
	unsigned int skipped;
};

/**
 * struct tap_thread - one thread of a case
 * @suite: the suite
 * @kcase: the case
 * @test: the case being run
 * @last: the thread is the second one
 */
struct tap_thread {
	const struct kunit_suite *suite;
	const struct kunit_case *kcase;
	struct kunit *test;
	bool last;
};

/* Diagnostics of a case belong to the level its test point is on. */
static unsigned int tap_level(const struct kunit *test)
{
	return test->param_value ? 2 : 1;
}

/**
 * kunit_info - add a diagnostic line to the results
 * @test: the case
 * @fmt: format, without a newline
 *
 * Context: any.
 */
void kunit_info(struct kunit *test, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tap_vline(tap_level(test), "# ", fmt, args);
	va_end(args);
}

/**
 * tap_fail - record a failure of a case
 * @test: the case
 * @file: where
 * @line: where
 * @fmt: what was expected
 *
 * After ten failures of a case, only the count continues.
 *
 * Context: any.
 */
void tap_fail(struct kunit *test, const char *file, int line,
	      const char *fmt, ...)
{
	unsigned long flags;
	unsigned int failures;
	char mark[64];
	va_list args;

	spin_lock_irqsave(&test->lock, flags);
	test->status = KUNIT_FAILURE;
	failures = ++test->failures;
	spin_unlock_irqrestore(&test->lock, flags);
	if (failures > 10)
		return;
	snprintf(mark, sizeof(mark), "# %s:%d: ", kbasename(file), line);
	va_start(args, fmt);
	tap_vline(tap_level(test), mark, fmt, args);
	va_end(args);
}

/**
 * kunit_mark_skipped - record why a case is skipped
 * @test: the case
 * @fmt: the reason
 *
 * Context: the case's thread.
 */
void kunit_mark_skipped(struct kunit *test, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(test->reason, sizeof(test->reason), fmt, args);
	va_end(args);
	spin_lock_irq(&test->lock);
	if (test->status == KUNIT_SUCCESS)
		test->status = KUNIT_SKIPPED;
	spin_unlock_irq(&test->lock);
}

/**
 * kunit_add_action - register an action for the end of a case
 * @test: the case
 * @action: the function; later actions run first
 * @ctx: its argument
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kunit_add_action(struct kunit *test, kunit_action_t *action, void *ctx)
{
	struct tap_action *a = kzalloc(sizeof(*a), GFP_KERNEL);

	if (!a)
		return -ENOMEM;
	a->action = action;
	a->ctx = ctx;
	spin_lock_irq(&test->lock);
	list_add(&a->link, &test->actions);
	spin_unlock_irq(&test->lock);
	return 0;
}

/**
 * kunit_add_action_or_reset - the same, but call it now if that fails
 * @test: the case
 * @action: the function
 * @ctx: its argument
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *action,
			      void *ctx)
{
	int ret = kunit_add_action(test, action, ctx);

	if (ret)
		action(ctx);
	return ret;
}

static void tap_kfree(void *memory)
{
	kfree(memory);
}

/**
 * kunit_kmalloc_array - allocate memory that is freed at the end of a case
 * @test: the case
 * @n: elements
 * @size: of one element
 * @flags: as for kmalloc()
 *
 * Context: process, may sleep.
 * Return: the memory or NULL.
 */
void *kunit_kmalloc_array(struct kunit *test, size_t n, size_t size,
			  gfp_t flags)
{
	void *memory = kmalloc_array(n, size, flags);

	if (!memory || kunit_add_action_or_reset(test, tap_kfree, memory))
		return NULL;
	return memory;
}

static void tap_run_actions(struct kunit *test)
{
	struct tap_action *a;

	for (;;) {
		spin_lock_irq(&test->lock);
		a = list_first_entry_or_null(&test->actions, struct tap_action,
					     link);
		if (a)
			list_del(&a->link);
		spin_unlock_irq(&test->lock);
		if (!a)
			return;
		a->action(a->ctx);
		kfree(a);
	}
}

static int tap_thread(void *data)
{
	const struct tap_thread *thread = data;
	struct kunit *test = thread->test;
	int ret = 0;

	if (thread->last) {
		if (thread->suite->exit)
			thread->suite->exit(test);
		tap_abort(test);
	}
	if (thread->suite->init)
		ret = thread->suite->init(test);
	if (ret)
		tap_fail(test, __FILE__, __LINE__, "init: error %d", ret);
	else
		thread->kcase->run_case(test);
	tap_abort(test);
}

/* Returns whether the thread returned in time. */
static bool tap_run_thread(struct tap_thread *thread)
{
	struct kunit *test = thread->test;
	struct task_struct *task;
	bool ended;

	reinit_completion(&test->ended);
	task = kthread_create(tap_thread, thread, "tap/%s", test->name);
	if (IS_ERR(task)) {
		tap_fail(test, __FILE__, __LINE__, "no thread: error %ld",
			 PTR_ERR(task));
		return true;
	}
	get_task_struct(task);
	wake_up_process(task);
	ended = wait_for_completion_timeout(&test->ended, TAP_PATIENCE);
	if (!ended) {
		tap_fail(test, __FILE__, __LINE__, "%s hangs",
			 thread->last ? "exit" : "case");
		sched_show_task(task);
	}
	put_task_struct(task);
	return ended;
}

/* Prints the result of a case as a test point. */
static enum kunit_status tap_point(struct kunit *test, unsigned int level,
				   unsigned int number, const char *name)
{
	enum kunit_status status;

	spin_lock_irq(&test->lock);
	status = test->status;
	spin_unlock_irq(&test->lock);
	if (test->failures > 10)
		kunit_info(test, "%u failures", test->failures);
	if (status == KUNIT_SKIPPED)
		tap_line(level, "ok %u - %s # SKIP %s", number, name,
			 test->reason);
	else
		tap_line(level, "%s %u - %s",
			 status == KUNIT_SUCCESS ? "ok" : "not ok", number,
			 name);
	return status;
}

static void tap_add(struct tap_count *count, enum kunit_status status)
{
	if (status == KUNIT_SUCCESS)
		count->passed++;
	else if (status == KUNIT_SKIPPED)
		count->skipped++;
	else
		count->failed++;
}

/* Runs a case with one parameter. */
static int tap_run_one(const struct kunit_suite *suite,
		       const struct kunit_case *kcase, const void *param,
		       unsigned int number, const char *name,
		       struct tap_count *count)
{
	struct tap_thread *thread;
	struct kunit *test;

	test = kzalloc(sizeof(*test), GFP_KERNEL);
	thread = kzalloc(sizeof(*thread), GFP_KERNEL);
	if (!test || !thread || tap_reserve()) {
		kfree(test);
		kfree(thread);
		return -ENOMEM;
	}
	test->name = kcase->name;
	test->param_value = param;
	spin_lock_init(&test->lock);
	INIT_LIST_HEAD(&test->actions);
	init_completion(&test->ended);
	*thread = (struct tap_thread){ suite, kcase, test, false };

	if (tap_run_thread(thread)) {
		thread->last = true;
		if (tap_run_thread(thread)) {
			tap_run_actions(test);
			tap_add(count, tap_point(test, param ? 2 : 1, number,
						 name));
			kfree(thread);
			kfree(test);
			return 0;
		}
	}
	tap_add(count, tap_point(test, param ? 2 : 1, number, name));
	tap_wedged = true;
	__module_get(THIS_MODULE);
	return -EBUSY;
}

static bool tap_wanted(const struct kunit_suite *suite,
		       const struct kunit_case *kcase, const char *desc,
		       const char *filter)
{
	char name[256];

	if (!filter || !*filter)
		return true;
	snprintf(name, sizeof(name), "%s.%s/%s", suite->name, kcase->name,
		 desc);
	return strstr(name, filter);
}

/* Returns how many of a case's parameters match; 1 or 0 if it has none. */
static unsigned int tap_count_params(const struct kunit_suite *suite,
				     const struct kunit_case *kcase,
				     const char *filter)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;
	unsigned int n = 0;

	if (!kcase->generate_params)
		return tap_wanted(suite, kcase, "", filter);
	while ((param = kcase->generate_params(param, desc)))
		n += tap_wanted(suite, kcase, desc, filter);
	return n;
}

static int tap_run_case(const struct kunit_suite *suite,
			const struct kunit_case *kcase, unsigned int number,
			const char *filter, struct tap_count *total)
{
	unsigned int n = tap_count_params(suite, kcase, filter);
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	struct tap_count count = { };
	const void *param = NULL;
	unsigned int i = 0;
	int ret = 0;

	if (!kcase->generate_params)
		return tap_run_one(suite, kcase, NULL, number, kcase->name,
				   total);
	tap_line(2, "# Subtest: %s", kcase->name);
	tap_line(2, "1..%u", n);
	while (!ret && (param = kcase->generate_params(param, desc)))
		if (tap_wanted(suite, kcase, desc, filter))
			ret = tap_run_one(suite, kcase, param, ++i, desc,
					  &count);
	tap_line(2, "# pass:%u fail:%u skip:%u total:%u", count.passed,
		 count.failed, count.skipped, i);
	tap_line(1, "%s %u - %s", count.failed || ret ? "not ok" : "ok",
		 number, kcase->name);
	total->passed += count.passed;
	total->failed += count.failed;
	total->skipped += count.skipped;
	return ret;
}

static int tap_run_suite(const struct kunit_suite *suite, unsigned int number,
			 const char *filter, struct tap_count *total)
{
	const struct kunit_case *kcase;
	struct tap_count count = { };
	unsigned int n = 0, i = 0;
	int ret = 0;

	for (kcase = suite->test_cases; kcase->run_case; kcase++)
		n += !!tap_count_params(suite, kcase, filter);
	tap_line(1, "# Subtest: %s", suite->name);
	tap_line(1, "1..%u", n);
	for (kcase = suite->test_cases; !ret && kcase->run_case; kcase++)
		if (tap_count_params(suite, kcase, filter))
			ret = tap_run_case(suite, kcase, ++i, filter, &count);
	tap_line(0, "%s %u - %s%s", count.failed || ret ? "not ok" : "ok",
		 number, suite->name, n ? "" : " # SKIP filtered out");
	total->passed += count.passed;
	total->failed += count.failed;
	total->skipped += count.skipped;
	return ret;
}

/**
 * tap_run - run suites
 * @suites: the suites
 * @n_suites: their number
 * @filter: only runs what contains this in "suite.case/parameter"; may be NULL
 * @heading: a line for the results
 *
 * Context: process, may sleep, one at a time.
 * Return:
 * * 0 - the suites were run; see the results
 * * -EBUSY - a case hangs, now or before
 * * -ENOMEM - no memory for the results
 */
int tap_run(struct kunit_suite *const *suites, unsigned int n_suites,
	    const char *filter, const char *heading)
{
	struct tap_count count = { };
	unsigned int i;
	int ret;

	if (tap_wedged)
		return -EBUSY;
	ret = tap_reset();
	if (ret)
		return ret;
	tap_line(0, "TAP version 14");
	tap_line(0, "1..%u", n_suites);
	tap_line(0, "# %s", heading);
	for (i = 0; !ret && i < n_suites; i++)
		ret = tap_run_suite(suites[i], i + 1, filter, &count);
	tap_line(0, "# pass:%u fail:%u skip:%u lost:%u", count.passed,
		 count.failed, count.skipped, tap_lost());
	if (ret)
		tap_line(0, "Bail out! error %d", ret);
	return ret;
}
