/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_H
#define TAP_H

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/**
 * DOC: a test harness of KUnit's form
 *
 * Distributions ship kernels without KUnit, so this module brings the part of
 * it that its tests need, under KUnit's names and with KUnit's meaning. Where
 * there is KUnit, <kunit/test.h> takes the place of this header and tap.c is
 * left out; the tests stay as they are.
 *
 * As in KUnit, a case runs in a thread of its own, which a failed assertion
 * ends; the suite's exit and the actions that were added run afterwards in any
 * case. KUNIT_ASSERT_*() and kunit_skip() are for that thread only;
 * KUNIT_EXPECT_*() and kunit_info() may be used anywhere, hard interrupts
 * included.
 *
 * Results are TAP version 14 with subtests, as KTAP parsers read them too.
 */

#define KUNIT_PARAM_DESC_SIZE 128

struct kunit;

/**
 * struct kunit_case - a case
 * @run_case: the test
 * @name: its name
 * @generate_params: gives the parameter after @prev and writes what to call
 *	it; NULL at the end. May be NULL.
 */
struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

#define KUNIT_CASE(test) { .run_case = test, .name = #test }
#define KUNIT_CASE_PARAM(test, gen) \
	{ .run_case = test, .name = #test, .generate_params = gen }

/**
 * struct kunit_suite - cases that start alike
 * @name: its name
 * @init: before each case, in its thread; may be NULL
 * @exit: after each case, even if it or @init failed; may be NULL
 * @test_cases: the cases; the last one has no @run_case
 */
struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

enum kunit_status {
	KUNIT_SUCCESS,
	KUNIT_FAILURE,
	KUNIT_SKIPPED,
};

/**
 * struct kunit - a case being run
 * @priv: the suite's
 * @name: of the case
 * @param_value: its parameter
 * @status: what came of it; set with kunit_*() only
 * @reason: why it was skipped
 * @lock: protects @status, @failures and @actions
 * @failures: failed expectations
 * @actions: to be run at the end, the last one first
 * @ended: completed when the thread ends
 */
struct kunit {
	void *priv;
	const char *name;
	const void *param_value;
	enum kunit_status status;
	char reason[96];
	spinlock_t lock;
	unsigned int failures;
	struct list_head actions;
	struct completion ended;
};

typedef void (kunit_action_t)(void *);

int kunit_add_action(struct kunit *test, kunit_action_t *action, void *ctx);
int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *action,
			      void *ctx);
void *kunit_kmalloc_array(struct kunit *test, size_t n, size_t size,
			  gfp_t flags);

static inline void *kunit_kcalloc(struct kunit *test, size_t n, size_t size,
				  gfp_t flags)
{
	return kunit_kmalloc_array(test, n, size, flags | __GFP_ZERO);
}

static inline void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t flags)
{
	return kunit_kmalloc_array(test, 1, size, flags | __GFP_ZERO);
}

void __printf(2, 3) kunit_info(struct kunit *test, const char *fmt, ...);
void __printf(2, 3) kunit_mark_skipped(struct kunit *test,
				       const char *fmt, ...);
void __printf(4, 5) tap_fail(struct kunit *test, const char *file, int line,
			     const char *fmt, ...);

/**
 * tap_abort - end the thread of a case
 * @test: the case
 *
 * Inline, because objtool knows by name which functions do not return: this
 * one it could not know, the one called here it does.
 *
 * Context: the case's thread, with no lock held.
 */
static __always_inline void __noreturn tap_abort(struct kunit *test)
{
	kthread_complete_and_exit(&test->ended, 0);
}

/* Ends the case; it counts neither as passed nor as failed. */
#define kunit_skip(test, fmt, ...)					\
do {									\
	kunit_mark_skipped(test, fmt, ##__VA_ARGS__);			\
	tap_abort(test);						\
} while (0)

#define TAP_BINARY(test, abort, left, op, right)			\
do {									\
	const typeof(left) tap_left = (left);				\
	const typeof(right) tap_right = (right);			\
									\
	if (!(tap_left op tap_right)) {					\
		tap_fail(test, __FILE__, __LINE__,			\
			 "expected " #left " " #op " " #right		\
			 ", but have %lld and %lld",			\
			 (long long)tap_left, (long long)tap_right);	\
		if (abort)						\
			tap_abort(test);				\
	}								\
} while (0)

#define TAP_UNARY(test, abort, condition, text)				\
do {									\
	if (!(condition)) {						\
		tap_fail(test, __FILE__, __LINE__, "expected " text);	\
		if (abort)						\
			tap_abort(test);				\
	}								\
} while (0)

#define TAP_NOT_ERR(test, abort, pointer)				\
do {									\
	const void *tap_pointer = (pointer);				\
									\
	if (IS_ERR_OR_NULL(tap_pointer)) {				\
		tap_fail(test, __FILE__, __LINE__,			\
			 "expected " #pointer ", but have error %ld",	\
			 PTR_ERR(tap_pointer));				\
		if (abort)						\
			tap_abort(test);				\
	}								\
} while (0)

#define KUNIT_FAIL(test, fmt, ...) \
	tap_fail(test, __FILE__, __LINE__, fmt, ##__VA_ARGS__)

#define KUNIT_EXPECT_EQ(t, a, b)	TAP_BINARY(t, false, a, ==, b)
#define KUNIT_EXPECT_NE(t, a, b)	TAP_BINARY(t, false, a, !=, b)
#define KUNIT_EXPECT_LT(t, a, b)	TAP_BINARY(t, false, a, <, b)
#define KUNIT_EXPECT_LE(t, a, b)	TAP_BINARY(t, false, a, <=, b)
#define KUNIT_EXPECT_GT(t, a, b)	TAP_BINARY(t, false, a, >, b)
#define KUNIT_EXPECT_GE(t, a, b)	TAP_BINARY(t, false, a, >=, b)
#define KUNIT_EXPECT_TRUE(t, c)		TAP_UNARY(t, false, c, #c)
#define KUNIT_EXPECT_FALSE(t, c)	TAP_UNARY(t, false, !(c), "not " #c)

#define KUNIT_ASSERT_EQ(t, a, b)	TAP_BINARY(t, true, a, ==, b)
#define KUNIT_ASSERT_NE(t, a, b)	TAP_BINARY(t, true, a, !=, b)
#define KUNIT_ASSERT_LE(t, a, b)	TAP_BINARY(t, true, a, <=, b)
#define KUNIT_ASSERT_TRUE(t, c)		TAP_UNARY(t, true, c, #c)
#define KUNIT_ASSERT_FALSE(t, c)	TAP_UNARY(t, true, !(c), "not " #c)
#define KUNIT_ASSERT_NOT_NULL(t, p)	TAP_UNARY(t, true, (p) != NULL, #p)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(t, p) TAP_NOT_ERR(t, true, p)

/* What KUnit does not have: how the module runs its suites. */

struct tap_results {
	const char *text;
	size_t length;
};

int tap_init(void);
void tap_exit(void);
int tap_run(struct kunit_suite *const *suites, unsigned int n_suites,
	    const char *filter, const char *heading);
struct tap_results tap_results(void);

#endif /* TAP_H */
