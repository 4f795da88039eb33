/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HANDLER_H
#define HANDLER_H

/* Shared by handler.S and C code. */

/* Ticks per setting of the timer while the next stall is far away. */
#define SIMSTALL_WINDING	60000

/* Instructions of a stall in addition to its loop of two. */
#define SIMSTALL_HANDLER_OWN	26
/* Instructions from the clock reading recorded as its end, including that one. */
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

/* The handler, and the place in it where the address of the control is stored. */
extern const u8 simstall_handler[], simstall_handler_control[];
extern const u8 simstall_handler_end[];
#endif

#endif /* HANDLER_H */
