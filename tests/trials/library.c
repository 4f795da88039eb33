// SPDX-License-Identifier: MIT OR Apache-2.0
/* A shared library whose builds differ in what they make the probe do. */

#ifndef TIMES
#define TIMES 1
#endif

#ifdef NOTE
const char trial_note[] = NOTE;
#endif

int trial_times(void);

int trial_times(void)
{
	return TIMES;
}
