/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HANDLER_H
#define HANDLER_H

/* What handler.S shares with C. */

/* Ticks of the timer for which it is set at a time where it is far to go. */
#define SIMSTALL_WINDING	60000

/* Instructions of a stall beside its loop of two. */
#define SIMSTALL_HANDLER_OWN	26
/* From the reading of the clock that is recorded as its end, with that. */
#define SIMSTALL_HANDLER_TAIL	4

/* struct simstall_control */
#define CONTROL_LEFT		0
#define CONTROL_WINDINGS	4
#define CONTROL_NEXT		8
#define CONTROL_STOPPED		12

/* struct simstall_stall */
#define STALL_WINDINGS		0
#define STALL_TICKS		4
#define STALL_TURNS		8
#define STALL_BEGIN		16
#define STALL_END		24
#define STALL_SIZE		32

#ifndef __ASSEMBLY__
#include <linux/types.h>

/* The handler, and behind what of it the address of the control is put. */
extern const u8 simstall_handler[], simstall_handler_control[];
extern const u8 simstall_handler_end[];
#endif

#endif /* HANDLER_H */
