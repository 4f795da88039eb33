/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_H
#define TAP_H

/**
 * DOC: Test Anything Protocol, as kselftest has it
 *
 * Exit status: 0 if no case failed and at least one passed, 1 if one failed,
 * 4 if all were skipped (KSFT_SKIP).
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define MAYBE_UNUSED __attribute__((unused))

struct tap {
	unsigned int count, passed, failed, skipped, said;
	bool bad;
	char skip[160];
};

extern struct tap tap;

static MAYBE_UNUSED void tap_diag(const char *format, ...)
{
	va_list args;
	char text[1024];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("# %s\n", text);
}

static MAYBE_UNUSED void tap_begin(unsigned int cases)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	if (cases)
		printf("1..%u\n", cases);
}

/* Reports why the case is skipped; its function must return then. */
static MAYBE_UNUSED void tap_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tap.skip, sizeof(tap.skip), format, args);
	va_end(args);
}

/* Fails the case; prints the reason, up to a limit. */
static MAYBE_UNUSED void tap_fail(const char *format, ...)
{
	unsigned int said = __atomic_add_fetch(&tap.said, 1, __ATOMIC_RELAXED);
	va_list args;
	char text[1024];

	__atomic_store_n(&tap.bad, true, __ATOMIC_RELAXED);
	if (said > 40)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("# %s%s\n", text, said == 40 ? " (and more)" : "");
}

#define CHECK(condition) ({						\
	bool ok_ = (condition);						\
									\
	if (!ok_)							\
		tap_fail("%s:%d: wrong: %s", __FILE__, __LINE__,	\
			 #condition);					\
	ok_; })

#define CHECK_EQ(got, want) ({						\
	long long got_ = (long long)(got), want_ = (long long)(want);	\
									\
	if (got_ != want_)						\
		tap_fail("%s:%d: %s is %lld, not %lld", __FILE__,	\
			 __LINE__, #got, got_, want_);			\
	got_ == want_; })

static MAYBE_UNUSED void tap_start_case(void)
{
	tap.bad = false;
	tap.said = 0;
	tap.skip[0] = 0;
}

static MAYBE_UNUSED void tap_end_case(const char *name)
{
	tap.count++;
	if (tap.bad) {
		tap.failed++;
		printf("not ok %u %s\n", tap.count, name);
	} else if (tap.skip[0]) {
		tap.skipped++;
		printf("ok %u %s # SKIP %s\n", tap.count, name, tap.skip);
	} else {
		tap.passed++;
		printf("ok %u %s\n", tap.count, name);
	}
}

/* Return: the exit status of the program */
static MAYBE_UNUSED int tap_finish(void)
{
	printf("# Totals: pass:%u fail:%u xfail:0 xpass:0 skip:%u error:0\n",
	       tap.passed, tap.failed, tap.skipped);
	if (tap.failed)
		return 1;
	return tap.passed ? 0 : 4;
}

#endif /* TAP_H */
