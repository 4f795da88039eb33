/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UAPI_TEST_H
#define UAPI_TEST_H

#include "simtest.h"

/**
 * struct test_case - a case of simgpu_uapi
 * @name: the claim
 * @run: tests it, with tap_fail() or tap_skip() if necessary. Closes and reaps
 *	everything it creates: after each case nothing may be left and the
 *	device must work.
 * @unloads: removes the module; only run with --unload, and last
 */
struct test_case {
	const char *name;
	void (*run)(void);
	bool unloads;
};

extern const struct test_case args_cases[];	/* uapi_args.c */
extern const struct test_case fields_cases[];	/* uapi_fields.c */
extern const struct test_case submit_cases[];	/* uapi_submit.c */
extern const struct test_case wait_cases[];	/* uapi_wait.c */
extern const struct test_case life_cases[];	/* uapi_life.c */
extern const struct test_case follow_cases[];	/* uapi_follow.c */
extern const struct test_case none_cases[];	/* uapi_none.c */
extern const struct test_case free_cases[];	/* uapi_free.c */
extern const struct test_case shapes_cases[];	/* uapi_shapes.c */
extern const struct test_case large_cases[];	/* uapi_large.c */
extern const struct test_case drm_cases[];	/* uapi_drm.c */
extern const struct test_case purge_cases[];	/* uapi_purge.c */
extern const struct test_case deadline_cases[];	/* uapi_deadline.c */
extern const struct test_case module_cases[];	/* uapi_module.c */

/* simgpu.ko, for cases that unload and reload it. */
extern const char *module_file;

/* Any argument of an ioctl, with room for what later versions may add. */
union any_arg {
	struct simgpu_info info;
	struct simgpu_create create;
	struct simgpu_destroy destroy;
	struct simgpu_submit submit;
	struct simgpu_wait wait;
	struct simgpu_read read;
	struct simgpu_stats stats;
	struct simgpu_inject inject;
	struct simgpu_control control;
	struct simgpu_gem_create gem_create;
	struct simgpu_gem_mmap gem_mmap;
	struct simgpu_gem_madvise gem_madvise;
	char bytes[16384];
};

/**
 * struct bench - an open device with a context in which job 1 is done
 * @fd: the device
 * @context: the context
 * @object: the object that its jobs write to, %SIM_MEMORY bytes
 * @exec: a good job
 * @records: room to read to
 */
struct bench {
	int fd;
	uint32_t context;
	uint32_t object;
	struct simgpu_exec exec;
	struct simgpu_record records[4];
};

/**
 * struct call - an ioctl
 * @name: its name
 * @request: its number, with @size
 * @size: size of its struct
 * @least: size of the first version of its struct
 * @writes: whether it has fields that the kernel writes
 * @fill: fills in good arguments
 */
struct call {
	const char *name;
	unsigned long request;
	size_t size;
	size_t least;
	bool writes;
	void (*fill)(struct bench *bench, union any_arg *arg);
};

#define CALLS 12
/* The first of them; the others have no context. */
#define CONTEXT_CALLS 9
extern const struct call calls[CALLS];

bool bench_open(struct bench *bench, uint32_t design);
void bench_close(struct bench *bench);
uint64_t bench_submitted(struct bench *bench);
char *guard_border(void);
void guard_free(char *border);
int sim_create_stopped(int fd, uint32_t design);
void wait_child(int pid);

#endif /* UAPI_TEST_H */
