/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FUZZ_H
#define FUZZ_H

#include <pthread.h>

#include "simtest.h"

#define FILES		4
#define CONTEXTS	24	/* of each file, remembered */
#define FENCES		64
#define THREADS_MAX	16
#define HANDLES		6	/* small ones that a file may have */
#define MEMORY		(64 * 1024)

enum {
	OP_INFO, OP_CREATE, OP_DESTROY, OP_SUBMIT, OP_WAIT, OP_READ, OP_STATS,
	OP_INJECT, OP_CONTROL, OP_RAW, OP_REOPEN, OP_CLOSE_FENCE, OP_POLL,
	OP_MMAP, OP_DRM, OPS
};

struct context {
	uint32_t id;
	uint32_t credit_limit;
	uint64_t seqno;		/* of the newest job known */
};

/**
 * struct fuzz_file - an open device, and its known contexts
 * @fd: the same number as long as the program runs
 * @contexts: those remembered; id 0 for none
 */
struct fuzz_file {
	int fd;
	struct context contexts[CONTEXTS];
};

/* Shared, and written without locks on purpose. */
extern struct fuzz_file files[FILES];
extern int fences[FENCES];
extern unsigned int engines;

/**
 * struct fuzzer - a thread
 * @thread: itself
 * @random: state of its generator
 * @calls: left to make
 * @counts: calls by operation and errno; beyond the last: others
 * @unmapped_again: how often munmap() failed, for want of memory
 * @memory: for pointers, followed by an unmapped page
 */
struct fuzzer {
	pthread_t thread;
	uint64_t random;
	unsigned long calls;
	unsigned long counts[OPS][160];
	unsigned long unmapped_again;
	char *memory;
};

/* The random operations. Each returns 0 or a negative errno. */
extern int (*const ops[OPS])(struct fuzzer *f);

static inline uint32_t below(struct fuzzer *f, uint32_t n)
{
	return random_below(&f->random, n);
}

#endif /* FUZZ_H */
