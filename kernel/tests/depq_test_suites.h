/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DEPQ_TEST_SUITES_H
#define DEPQ_TEST_SUITES_H

#include "depq_test.h"

extern struct kunit_suite dt_basic_suite;
extern struct kunit_suite dt_client_suite;
extern struct kunit_suite dt_queue_suite;
extern struct kunit_suite dt_life_suite;
extern struct kunit_suite dt_fault_suite;
extern struct kunit_suite dt_reset_suite;
extern struct kunit_suite dt_race_suite;
extern struct kunit_suite dt_preempt_suite;
extern struct kunit_suite dt_follow_suite;
extern struct kunit_suite dt_ready_suite;
extern struct kunit_suite dt_auto_suite;
extern struct kunit_suite dt_arbiter_suite;

#define DT_CASE(test) KUNIT_CASE_PARAM(test, dt_gen_params)

#define DT_SUITE(suite, cases)		\
	struct kunit_suite suite = {	\
		.name = #cases,		\
		.init = dt_init,	\
		.exit = dt_exit,	\
		.test_cases = cases,	\
	}

#endif /* DEPQ_TEST_SUITES_H */
