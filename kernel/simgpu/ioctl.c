// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the ioctls
 *
 * A table gives the minimum size of the struct and the handler of each command.
 * The struct is copied in before and out after, in the size encoded in
 * the command. Fields of the caller's struct that ours lacks must be zero;
 * missing fields are taken as zero.
 */

#include <linux/cred.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>

#include "backend.h"
#include "file.h"

#define SIMGPU_STOPS_MAX	65536
#define SIMGPU_ERRNO_MAX	4095

/* The range of fault_arg. */
static const struct {
	u64 min;
	u64 max;
} simgpu_fault_args[SIMGPU_FAULT_COUNT] = {
	[SIMGPU_FAULT_ERROR] = { 1, SIMGPU_ERRNO_MAX },
	[SIMGPU_FAULT_LATE] = { 0, NSEC_PER_SEC },
	[SIMGPU_FAULT_STORM] = { 1, 1000 },
	[SIMGPU_FAULT_ALLOC] = { 0, U64_MAX },
	[SIMGPU_FAULT_RUN_ERROR] = { 1, SIMGPU_ERRNO_MAX },
};

/**
 * simgpu_fault_valid() - check a fault and its argument
 * @fault: SIMGPU_FAULT_*, from user space
 * @arg: its argument
 *
 * Context: any.
 * Return: whether the fault is known and its argument is in range.
 */
bool simgpu_fault_valid(u32 fault, u64 arg)
{
	if (fault >= SIMGPU_FAULT_COUNT)
		return false;
	fault = array_index_nospec(fault, SIMGPU_FAULT_COUNT);
	return arg >= simgpu_fault_args[fault].min &&
	       arg <= simgpu_fault_args[fault].max;
}

/**
 * simgpu_may_disturb() - whether the caller may make jobs fail or wait
 * @file: the file that owns the contexts
 * @others: whether jobs of other files are affected
 *
 * Context: process.
 * Return: true for the user who opened the file, if no other files are
 * affected, and for anyone with %CAP_SYS_ADMIN.
 */
bool simgpu_may_disturb(const struct simgpu_file *file, bool others)
{
	if (!others && uid_eq(current_fsuid(), file->owner))
		return true;
	return capable(CAP_SYS_ADMIN);
}

static int simgpu_info(struct simgpu_file *file, struct simgpu_info *args)
{
	static const struct simgpu_backend * const backends[] = {
		&simgpu_backend_drm, &simgpu_backend_depq
	};
	int i;

	if (args->pad)
		return -EINVAL;
	args->version = SIMGPU_VERSION;
	args->engines = file->dev->n_engines;
	args->engines_parallel = file->dev->parallel;
	for (i = 0; i < ARRAY_SIZE(backends); i++) {
		args->queue_bytes[i] = backends[i]->queue_bytes;
		args->job_bytes[i] = backends[i]->job_bytes;
		args->fence_bytes[i] = backends[i]->fence_bytes();
	}
	return 0;
}

static int simgpu_destroy(struct simgpu_file *file,
			  const struct simgpu_destroy *args)
{
	if (args->pad)
		return -EINVAL;
	return simgpu_context_destroy(file, args->context);
}

static int simgpu_inject(struct simgpu_file *file,
			 const struct simgpu_inject *args)
{
	struct simgpu_context *context;
	int ret;

	if (!simgpu_fault_valid(args->fault, args->fault_arg))
		return -EINVAL;
	if (!args->fault && (args->skip || args->count))
		return -EINVAL;
	if (!simgpu_may_disturb(file, args->fault == SIMGPU_FAULT_GONE))
		return -EPERM;
	context = simgpu_context_find(file, args->context);
	if (!context)
		return -ENOENT;
	ret = simgpu_context_lock(context);
	if (!ret) {
		context->fault = args->fault;
		context->fault_arg = args->fault_arg;
		context->fault_skip = args->skip;
		context->fault_count = args->count;
		mutex_unlock(&context->submit);
	}
	simgpu_context_put(context);
	return ret;
}

/* Whether a command delays or may end jobs. */
static bool simgpu_control_disturbs(u32 command)
{
	return command == SIMGPU_CONTROL_STOP ||
	       command == SIMGPU_CONTROL_START ||
	       command == SIMGPU_CONTROL_TIMEOUT;
}

static int simgpu_control_locked(struct simgpu_context *context, u32 command,
				 u64 arg)
{
	int ret;

	lockdep_assert_held(&context->submit);
	switch (command) {
	case SIMGPU_CONTROL_SEED:
		prandom_seed_state(&context->random, arg);
		return 0;
	case SIMGPU_CONTROL_STOP:
		if (context->stops >= SIMGPU_STOPS_MAX)
			return -EOVERFLOW;
		break;
	case SIMGPU_CONTROL_START:
		if (!context->stops)
			return -EINVAL;
		break;
	}
	ret = context->backend->control(context, command, arg);
	if (ret)
		return ret;
	if (command == SIMGPU_CONTROL_STOP)
		context->stops++;
	else if (command == SIMGPU_CONTROL_START)
		context->stops--;
	else if (command == SIMGPU_CONTROL_KILL)
		context->error = -ECANCELED;
	return 0;
}

static int simgpu_control(struct simgpu_file *file,
			  const struct simgpu_control *args)
{
	struct simgpu_context *context;
	bool valid;
	int ret;

	switch (args->command) {
	case SIMGPU_CONTROL_STOP:
	case SIMGPU_CONTROL_START:
	case SIMGPU_CONTROL_TIMEOUT:
		valid = !args->arg;
		break;
	case SIMGPU_CONTROL_KILL:
		valid = args->arg >= 1 && args->arg <= SIMGPU_ERRNO_MAX;
		break;
	case SIMGPU_CONTROL_SEED:
		valid = true;
		break;
	default:
		valid = false;
	}
	if (!valid)
		return -EINVAL;
	context = simgpu_context_find(file, args->context);
	if (!context)
		return -ENOENT;
	/* A shared scheduler has jobs of other files. */
	ret = -EPERM;
	if (!simgpu_control_disturbs(args->command) ||
	    simgpu_may_disturb(file, simgpu_is_shared(&context->args)))
		ret = simgpu_context_lock(context);
	if (!ret) {
		ret = simgpu_control_locked(context, args->command,
					    args->arg);
		mutex_unlock(&context->submit);
	}
	simgpu_context_put(context);
	return ret;
}

/* Any of the structs. */
union simgpu_args {
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
};

/* Size of the first version of each struct (the minimum), and of ours. */
#define SIMGPU_NR(cmd) (_IOC_NR(cmd) - SIMGPU_IOC_BASE)
#define SIMGPU_ENTRY(cmd, type, last)					\
	[SIMGPU_NR(cmd)] = {						\
		.size_min = offsetofend(struct type, last),		\
		.size = sizeof(struct type),				\
	}

static const struct {
	u32 size_min;
	u32 size;
} simgpu_commands[] = {
	SIMGPU_ENTRY(SIMGPU_INFO, simgpu_info, fence_bytes),
	SIMGPU_ENTRY(SIMGPU_CREATE, simgpu_create, context),
	SIMGPU_ENTRY(SIMGPU_DESTROY, simgpu_destroy, pad),
	SIMGPU_ENTRY(SIMGPU_SUBMIT, simgpu_submit, execs),
	SIMGPU_ENTRY(SIMGPU_WAIT, simgpu_wait, t_wake),
	SIMGPU_ENTRY(SIMGPU_READ, simgpu_read, records),
	SIMGPU_ENTRY(SIMGPU_STATS, simgpu_stats, lowers),
	SIMGPU_ENTRY(SIMGPU_INJECT, simgpu_inject, count),
	SIMGPU_ENTRY(SIMGPU_CONTROL, simgpu_control, arg),
	SIMGPU_ENTRY(SIMGPU_GEM_CREATE, simgpu_gem_create, flags),
	SIMGPU_ENTRY(SIMGPU_GEM_MMAP, simgpu_gem_mmap, offset),
	SIMGPU_ENTRY(SIMGPU_GEM_MADVISE, simgpu_gem_madvise, pad),
};

static int simgpu_dispatch(struct simgpu_file *file, u32 nr,
			   union simgpu_args *args, u64 t_enter)
{
	switch (nr) {
	case SIMGPU_NR(SIMGPU_INFO):
		return simgpu_info(file, &args->info);
	case SIMGPU_NR(SIMGPU_CREATE):
		return simgpu_context_create(file, &args->create);
	case SIMGPU_NR(SIMGPU_DESTROY):
		return simgpu_destroy(file, &args->destroy);
	case SIMGPU_NR(SIMGPU_SUBMIT):
		return simgpu_submit(file, &args->submit, t_enter);
	case SIMGPU_NR(SIMGPU_WAIT):
		return simgpu_wait(file, &args->wait);
	case SIMGPU_NR(SIMGPU_READ):
		return simgpu_read(file, &args->read);
	case SIMGPU_NR(SIMGPU_STATS):
		return simgpu_stats(file, &args->stats);
	case SIMGPU_NR(SIMGPU_INJECT):
		return simgpu_inject(file, &args->inject);
	case SIMGPU_NR(SIMGPU_CONTROL):
		return simgpu_control(file, &args->control);
	case SIMGPU_NR(SIMGPU_GEM_CREATE):
		return simgpu_gem_create(file, &args->gem_create);
	case SIMGPU_NR(SIMGPU_GEM_MMAP):
		return simgpu_gem_mmap(file, &args->gem_mmap);
	case SIMGPU_NR(SIMGPU_GEM_MADVISE):
		return simgpu_gem_madvise(file, &args->gem_madvise);
	default:
		return -ENOTTY;
	}
}

/* Whether to write the struct back. */
static bool simgpu_writes_back(u32 nr, int ret)
{
	switch (nr) {
	case SIMGPU_NR(SIMGPU_WAIT):
		return !ret || ret == -ERESTARTSYS;
	case SIMGPU_NR(SIMGPU_INFO):
	case SIMGPU_NR(SIMGPU_CREATE):
	case SIMGPU_NR(SIMGPU_READ):
	case SIMGPU_NR(SIMGPU_STATS):
	case SIMGPU_NR(SIMGPU_GEM_CREATE):
	case SIMGPU_NR(SIMGPU_GEM_MMAP):
	case SIMGPU_NR(SIMGPU_GEM_MADVISE):
		return !ret;
	default:
		return false;
	}
}

/* Undoes a creation whose number could not be returned. */
static void simgpu_forget(struct simgpu_file *file, u32 nr,
			  const union simgpu_args *args)
{
	if (nr == SIMGPU_NR(SIMGPU_CREATE))
		simgpu_context_destroy(file, args->create.context);
	else if (nr == SIMGPU_NR(SIMGPU_GEM_CREATE))
		drm_gem_handle_delete(file->drm, args->gem_create.handle);
}

/**
 * simgpu_ioctl() - handle a driver ioctl
 * @drm_file: of the open file
 * @cmd: number, direction and size
 * @arg: address of the struct
 *
 * Context: process, sleeps.
 * Return: 0, or a negative errno as documented in the user interface.
 */
long simgpu_ioctl(struct drm_file *drm_file, unsigned int cmd,
		  unsigned long arg)
{
	u64 t_enter = ktime_get_ns();
	struct simgpu_file *file = drm_file->driver_priv;
	void __user *user = (void __user *)arg;
	u32 nr = SIMGPU_NR(cmd), size = _IOC_SIZE(cmd);
	union simgpu_args args;
	int ret;

	if (nr >= ARRAY_SIZE(simgpu_commands) ||
	    _IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE))
		return -ENOTTY;
	nr = array_index_nospec(nr, ARRAY_SIZE(simgpu_commands));
	if (size < simgpu_commands[nr].size_min)
		return -EINVAL;
	ret = copy_struct_from_user(&args, simgpu_commands[nr].size, user,
				    size);
	if (ret)
		return ret;
	/*
	 * Not drm_dev_enter(): what a command needs exists as long as the file,
	 * and unbinding the device must not wait for threads that wait for jobs.
	 */
	if (drm_dev_is_unplugged(&file->dev->drm))
		return -ENODEV;
	ret = simgpu_dispatch(file, nr, &args, t_enter);
	/* Additional fields of the caller's struct were found to be zero. */
	if (simgpu_writes_back(nr, ret) &&
	    copy_to_user(user, &args, min(size, simgpu_commands[nr].size))) {
		simgpu_forget(file, nr, &args);
		return -EFAULT;
	}
	return ret;
}
