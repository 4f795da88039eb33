// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the random operations of simgpu_fuzz
 */

#include "fuzz.h"

struct fuzz_file files[FILES];
int fences[FENCES];
unsigned int engines = 1;

static bool chance(struct fuzzer *f, uint32_t percent)
{
	return random_chance(&f->random, percent);
}

static uint64_t hostile(struct fuzzer *f)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 7, 8, 0x7f, 0xff, 255, 256, 257, 1023, 1024, 1025,
		4095, 4096, 65535, 65536, 65537, 0x7fffffff, 0x80000000,
		0xffffffff, 0x100000000, 60000000, 60000001, 60000000000,
		60000000001, 0x7fffffffffffffff, 0x8000000000000000,
		0xffff800000000000, 0xffffffffffffffff, 0xfffffffffffff000,
	};

	if (chance(f, 20))
		return random_next(&f->random);
	return values[below(f, ARRAY_SIZE(values))];
}

/* One 32-bit word of a struct is replaced, rarely several. */
static void spoil(struct fuzzer *f, void *data, size_t size)
{
	do {
		uint32_t value = (uint32_t)hostile(f);
		size_t word = below(f, (uint32_t)(size / 4));

		memcpy((char *)data + 4 * word, &value, 4);
	} while (chance(f, 20));
}

static struct context *pick(struct fuzzer *f, int *fd)
{
	uint32_t file = below(f, FILES);
	struct context *context = NULL;

	*fd = files[file].fd;
	for (int i = 0; i < 16 && (!context || !context->seqno); i++) {
		context = &files[file].contexts[below(f, CONTEXTS)];
		if (context->id && chance(f, 30))
			break; /* also one without jobs */
	}
	return context;
}

/* A seqno that is, was or will be; most often a recent one. */
static uint64_t pick_seqno(struct fuzzer *f, const struct context *context)
{
	uint64_t newest = context->seqno;

	if (chance(f, 5))
		return hostile(f);
	return newest > 8 ? newest - below(f, 8) : newest;
}

static int do_info(struct fuzzer *f)
{
	struct simgpu_info info = { 0 };

	if (chance(f, 20))
		spoil(f, &info, sizeof(info));
	return sim_ioctl(files[below(f, FILES)].fd, SIMGPU_INFO, &info);
}

static int do_create(struct fuzzer *f)
{
	uint32_t file = below(f, FILES), at = below(f, CONTEXTS);
	struct context *context = &files[file].contexts[at];
	struct variant v = variant_at(below(f, VARIANTS));
	struct simgpu_create create = v.create;
	int ret;

	create.engine = below(f, engines);
	create.credit_limit = below(f, 9);
	create.ring = 2u << below(f, 10);
	create.timeout_us = 100 + below(f, 3000);
	create.hang_limit = below(f, 1000);
	if (chance(f, 60))
		create.memory = below(f, HANDLES);
	if (is_shared(&create))
		create.priority = below(f, 3);
	if (chance(f, 10))
		spoil(f, &create, sizeof(create));
	ret = sim_ioctl(files[file].fd, SIMGPU_CREATE, &create);
	if (ret)
		return ret;
	if (context->id)
		sim_destroy(files[file].fd, context->id);
	*context = (struct context){ create.context, create.credit_limit, 0 };
	return 0;
}

static int do_destroy(struct fuzzer *f)
{
	struct simgpu_destroy destroy = { 0 };
	struct context *context;
	int fd;

	context = pick(f, &fd);
	destroy.context = context->id;
	if (chance(f, 20))
		spoil(f, &destroy, sizeof(destroy));
	/* Sometimes keep using it. */
	if (destroy.context == context->id && chance(f, 80))
		*context = (struct context){ 0 };
	return sim_ioctl(fd, SIMGPU_DESTROY, &destroy);
}

static uint64_t fault_arg(struct fuzzer *f, uint32_t fault)
{
	switch (fault) {
	case SIMGPU_FAULT_ERROR:
	case SIMGPU_FAULT_RUN_ERROR:
		return 1 + below(f, 4095);
	case SIMGPU_FAULT_LATE:
		return below(f, 200000);
	case SIMGPU_FAULT_STORM:
		return 1 + below(f, 20);
	case SIMGPU_FAULT_ALLOC:
		return below(f, 24);
	default:
		return 0;
	}
}

static uint32_t pick_fault(struct fuzzer *f)
{
	uint32_t fault = below(f, SIMGPU_FAULT_GONE);

	return fault == SIMGPU_FAULT_HANG && !chance(f, 20) ? 0 : fault;
}

static void fill_dep(struct fuzzer *f, struct simgpu_dep *dep, int fd)
{
	uint32_t file;

	*dep = (struct simgpu_dep){ .kind = below(f, 3) };
	if (dep->kind == SIMGPU_DEP_SYNCOBJ) {
		dep->handle = 1 + below(f, HANDLES);
		dep->seqno = chance(f, 30) ? below(f, 1000) : 0;
		return;
	}
	if (dep->kind == SIMGPU_DEP_FENCE) {
		dep->fd = fences[below(f, FENCES)];
		if (dep->fd > 0)
			return;
		*dep = (struct simgpu_dep){ .kind = SIMGPU_DEP_JOB };
	}
	for (file = 0; file < FILES - 1 && files[file].fd != fd; file++)
		;
	for (int i = 0; i < 8; i++) {
		struct context *c = &files[file].contexts[below(f, CONTEXTS)];

		dep->context = c->id;
		dep->seqno = pick_seqno(f, c);
		if (c->id && c->seqno)
			break;
	}
}

static void fill_exec(struct fuzzer *f, struct simgpu_exec *exec, bool first,
		      const struct context *context)
{
	*exec = (struct simgpu_exec){
		.flags = chance(f, 20) ? SIMGPU_EXEC_FENCE_OUT : 0,
		.duration_ns = below(f, 4000),
		.cookie = random_next(&f->random),
	};
	if (!first && chance(f, 30))
		exec->flags |= SIMGPU_EXEC_CHAIN;
	if (chance(f, 20)) {
		exec->flags |= SIMGPU_EXEC_WRITE;
		exec->write_offset = 4 * below(f, SIM_MEMORY / 4);
		exec->write_value = (uint32_t)random_next(&f->random);
	}
	if (chance(f, 10)) {
		exec->flags |= SIMGPU_EXEC_SYNCOBJ_OUT;
		exec->out_syncobj = 1 + below(f, HANDLES);
		exec->out_point = chance(f, 50) ? below(f, 1000) : 0;
	}
	if (chance(f, 20))
		exec->duration_spread_ns = below(f, 3000);
	if (chance(f, 5))
		exec->run_cost_ns = below(f, 2000);
	if (chance(f, 30) && context->credit_limit)
		exec->credits = below(f, context->credit_limit + 1);
	if (chance(f, 6)) {
		exec->fault = pick_fault(f);
		exec->fault_arg = fault_arg(f, exec->fault);
	}
}

static void keep_fence(struct fuzzer *f, int fence)
{
	int old = __atomic_exchange_n(&fences[below(f, FENCES)], fence,
				      __ATOMIC_RELAXED);

	if (old > 0)
		close(old);
}

static int do_submit(struct fuzzer *f)
{
	struct simgpu_exec *execs;
	struct simgpu_dep deps[8];
	uint32_t n = chance(f, 70) ? 1 : 1 + below(f, 8), used = 0;
	struct simgpu_object_use uses[4] = { 0 };
	struct simgpu_submit submit;
	struct context *context;
	int fd, ret;

	context = pick(f, &fd);
	/* Up to the end of the mapping: beyond it nothing can be read. */
	execs = (void *)(f->memory + MEMORY);
	execs -= 8;
	memset(execs, 0, 8 * sizeof(*execs));
	for (uint32_t i = 0; i < n; i++) {
		fill_exec(f, &execs[i], i == 0, context);
		while (used < 8 && chance(f, 25)) {
			if (!execs[i].n_deps)
				execs[i].deps = (uintptr_t)&deps[used];
			execs[i].n_deps++;
			fill_dep(f, &deps[used++], fd);
		}
		if (chance(f, 2))
			spoil(f, &execs[i], sizeof(execs[i]));
		execs[i].out_fence = 0;
	}
	if (used && chance(f, 2))
		spoil(f, &deps[below(f, used)], sizeof(deps[0]));
	submit = (struct simgpu_submit){
		.context = context->id,
		.flags = chance(f, 90) ? SIMGPU_SUBMIT_NONBLOCK : 0,
		.n_execs = n, .exec_size = sizeof(execs[0]),
		.execs = (uintptr_t)execs, .objects = (uintptr_t)uses,
	};
	while (submit.n_objects < ARRAY_SIZE(uses) && chance(f, 15))
		uses[submit.n_objects++] = (struct simgpu_object_use){
			below(f, HANDLES), below(f, 2) };
	if (chance(f, 2))
		spoil(f, &submit, sizeof(submit));
	ret = sim_ioctl(fd, SIMGPU_SUBMIT, &submit);
	if (ret == -ECANCELED || ret == -ENODEV)
		*context = (struct context){ 0 }; /* banned or killed */
	if (ret)
		return ret;
	if (submit.execs != (uintptr_t)execs)
		return 0;
	/* If spoiled, their number and size may differ from ours. */
	for (uint32_t i = 0; i < submit.n_execs; i++) {
		const struct simgpu_exec *exec =
			(void *)((char *)execs + i * submit.exec_size);

		if (exec->flags & SIMGPU_EXEC_FENCE_OUT)
			keep_fence(f, exec->out_fence);
		if (exec->seqno > context->seqno &&
		    submit.context == context->id)
			context->seqno = exec->seqno;
	}
	return 0;
}

static int do_wait(struct fuzzer *f)
{
	struct simgpu_wait wait = { 0 };
	struct context *context;
	int fd;

	context = pick(f, &fd);
	wait.context = context->id;
	wait.seqno = pick_seqno(f, context);
	wait.timeout_ns = chance(f, 60) ? 0 : below(f, 50000);
	if (chance(f, 5))
		spoil(f, &wait, 24); /* not the high half of the time-out */
	if (wait.timeout_ns > SIM_MSEC)
		wait.timeout_ns = SIM_MSEC;
	return sim_ioctl(fd, SIMGPU_WAIT, &wait);
}

static int do_read(struct fuzzer *f)
{
	struct simgpu_read read;
	struct context *context;
	int fd;

	context = pick(f, &fd);
	read = (struct simgpu_read){
		.context = context->id,
		.record_size = sizeof(struct simgpu_record),
		.first = pick_seqno(f, context),
		.n = below(f, 12),
		.records = (uintptr_t)f->memory,
	};
	if (chance(f, 10))
		spoil(f, &read, sizeof(read));
	if (read.records - (uintptr_t)f->memory >= MEMORY && chance(f, 90))
		read.records = (uintptr_t)f->memory;
	/* No more than what is there can be hit by a spoiled number. */
	return sim_ioctl(fd, SIMGPU_READ, &read);
}

static int do_stats(struct fuzzer *f)
{
	struct simgpu_stats stats = { 0 };
	struct context *context;
	int fd;

	context = pick(f, &fd);
	stats.context = context->id;
	if (chance(f, 10))
		spoil(f, &stats, sizeof(stats));
	return sim_ioctl(fd, SIMGPU_STATS, &stats);
}

static int do_inject(struct fuzzer *f)
{
	struct simgpu_inject inject = { 0 };
	struct context *context;
	int fd;

	context = pick(f, &fd);
	inject.context = context->id;
	inject.fault = pick_fault(f);
	inject.fault_arg = fault_arg(f, inject.fault);
	inject.skip = below(f, 4);
	inject.count = 1 + below(f, 4);
	if (chance(f, 10)) {
		spoil(f, &inject, sizeof(inject));
		if (inject.fault == SIMGPU_FAULT_GONE)
			inject.fault = SIMGPU_FAULT_COUNT;
	}
	return sim_ioctl(fd, SIMGPU_INJECT, &inject);
}

static int do_control(struct fuzzer *f)
{
	struct simgpu_control control = { 0 };
	struct context *context;
	int fd, ret;

	context = pick(f, &fd);
	control.context = context->id;
	control.command = below(f, SIMGPU_CONTROL_COUNT);
	if (control.command == SIMGPU_CONTROL_KILL && !chance(f, 10))
		control.command = SIMGPU_CONTROL_START;
	if (control.command == SIMGPU_CONTROL_KILL)
		control.arg = 1 + below(f, 4095);
	if (control.command == SIMGPU_CONTROL_SEED)
		control.arg = random_next(&f->random);
	if (chance(f, 5))
		spoil(f, &control, sizeof(control));
	ret = sim_ioctl(fd, SIMGPU_CONTROL, &control);
	/* A context that stays stopped would only fill up. */
	if (!ret && control.command == SIMGPU_CONTROL_STOP && chance(f, 90)) {
		control.command = SIMGPU_CONTROL_START;
		control.arg = 0;
		sim_ioctl(fd, SIMGPU_CONTROL, &control);
	}
	return ret;
}

/* Any number, any size, any bytes, any address. */
static int do_raw(struct fuzzer *f)
{
	size_t size = chance(f, 70) ? below(f, 128) : below(f, 16384);
	unsigned int nr = SIMGPU_IOC_BASE + below(f, 14), dir = chance(f, 90) ? 3 : below(f, 4);
	char *arg = f->memory + MEMORY - size;
	uint64_t address = (uintptr_t)arg;

	memset(f->memory, 0, MEMORY);
	for (size_t i = 0; i + 4 <= size && chance(f, 60); i += 4) {
		uint32_t value = (uint32_t)hostile(f);

		memcpy(arg + 4 * below(f, (uint32_t)(size / 4)), &value, 4);
	}
	/* Must neither disable the device nor wait for ages. */
	if (nr == _IOC_NR(SIMGPU_INJECT) || nr == _IOC_NR(SIMGPU_WAIT))
		memset(arg, 0, size);
	if (chance(f, 10))
		address += below(f, 64);
	if (chance(f, 10))
		address = hostile(f);
	return sim_ioctl(files[below(f, FILES)].fd,
			 _IOC(dir, SIMGPU_IOC, nr, size), (void *)address);
}

/* Another file takes the place of one in use: under the same number, so that
 * no other thread calls a descriptor of somebody else.
 */
static int do_reopen(struct fuzzer *f)
{
	uint32_t file = below(f, FILES);
	int fd, ret;

	if (!chance(f, 20))
		return 0;
	fd = open(sim_node(), O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = dup3(fd, files[file].fd, O_CLOEXEC) < 0 ? -errno : 0;
	close(fd);
	memset(files[file].contexts, 0, sizeof(files[file].contexts));
	return ret;
}

static int do_close_fence(struct fuzzer *f)
{
	int old = __atomic_exchange_n(&fences[below(f, FENCES)], 0,
				      __ATOMIC_RELAXED);

	return old > 0 && close(old) ? -errno : 0;
}

static int do_poll(struct fuzzer *f)
{
	int fence = fences[below(f, FENCES)];

	return fence > 0 ? fence_wait(fence, (int)below(f, 2)) & 0 : 0;
}

/*
 * Injected faults make this fail too, and a remaining mapping keeps the file open
 * with all its contexts.
 */
static void unmap(struct fuzzer *f, void *area, size_t length)
{
	while (munmap(area, length) && errno == ENOMEM)
		f->unmapped_again++;
}

static int do_mmap(struct fuzzer *f)
{
	size_t length = chance(f, 70) ? SIM_MEMORY :
					4096 * (1 + below(f, 32));
	int fd = files[below(f, FILES)].fd;
	struct simgpu_gem_mmap place = { .handle = below(f, HANDLES) };
	void *area;

	if (chance(f, 20))
		place.offset = 4096 * (uint64_t)below(f, 20);
	else
		sim_ioctl(fd, SIMGPU_GEM_MMAP, &place);
	area = mmap(NULL, length, PROT_READ | PROT_WRITE,
		    chance(f, 90) ? MAP_SHARED : MAP_PRIVATE, fd,
		    (off_t)place.offset);

	if (area == MAP_FAILED)
		return -errno;
	memset(area, 1, 4096);
	unmap(f, area, length);
	return 0;
}

/* A number of DRM's own, of any size and bytes, but none that gives a descriptor
 * that nobody would close, and no long arrays of syncobjs: DRM asks for as much
 * memory as they are said to need, and the allocator warns of more than it has.
 */
static int drm_raw(struct fuzzer *f, int fd)
{
	uint32_t nr = chance(f, 50) ? below(f, 0x40) : 0xa0 + below(f, 0x31);
	size_t size = chance(f, 90) ? below(f, 64) : below(f, 16384);
	char *arg = f->memory + MEMORY - size;

	if (nr == _IOC_NR(DRM_IOCTL_PRIME_HANDLE_TO_FD) ||
	    nr == _IOC_NR(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD))
		return 0;
	memset(f->memory, 0, MEMORY);
	for (size_t i = 0; i + 4 <= size && chance(f, 60); i += 4) {
		uint32_t value = chance(f, 50) ? below(f, HANDLES) :
						 (uint32_t)hostile(f);

		if (nr > _IOC_NR(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE))
			value &= 0xffff;
		memcpy(arg + i, &value, 4);
	}
	return sim_ioctl(fd, _IOC(below(f, 4), SIMGPU_IOC, nr, size), arg);
}

/* A descriptor from one file is a handle in another. */
static int drm_share(struct fuzzer *f, int fd)
{
	int other = files[below(f, FILES)].fd, ret;
	struct drm_prime_handle prime = { .handle = 1 + below(f, HANDLES),
					  .flags = DRM_CLOEXEC | DRM_RDWR };
	struct drm_syncobj_handle sync = { .handle = 1 + below(f, HANDLES) };

	if (chance(f, 50)) {
		ret = sim_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
		if (ret)
			return ret;
		ret = sim_ioctl(other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
		close(prime.fd);
	} else {
		ret = sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &sync);
		if (ret)
			return ret;
		ret = sim_ioctl(other, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &sync);
		close(sync.fd);
	}
	return ret;
}

static int drm_syncobjs(struct fuzzer *f, int fd)
{
	uint32_t handles[3] = { 1 + below(f, HANDLES), 1 + below(f, HANDLES),
				1 + below(f, HANDLES) };
	uint64_t points[3] = { below(f, 1000), below(f, 1000),
			       below(f, 1000) };
	struct drm_syncobj_array array = {
		.handles = (uintptr_t)handles, .count_handles = below(f, 4),
	};
	struct drm_syncobj_timeline_array timeline = {
		.handles = (uintptr_t)handles, .points = (uintptr_t)points,
		.count_handles = below(f, 4),
	};
	struct drm_syncobj_timeline_wait wait = {
		.handles = (uintptr_t)handles, .points = (uintptr_t)points,
		.timeout_nsec = (int64_t)now_ns() + below(f, 100000),
		.count_handles = below(f, 4), .flags = below(f, 8),
	};

	switch (below(f, 6)) {
	case 0:
		return sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_RESET, &array);
	case 1:
		return sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_SIGNAL, &array);
	case 2:
		return sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL,
				 &timeline);
	case 3:
		return sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_QUERY, &timeline);
	default:
		return sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
	}
}

/* Purges unneeded memory, only rarely, as it takes long. */
static int drop_caches(struct fuzzer *f)
{
	return chance(f, 5) ? caches_drop() : 0;
}

/* Generic DRM ioctls: handles are created, used and closed. */
static int do_drm(struct fuzzer *f)
{
	int fd = files[below(f, FILES)].fd;
	struct simgpu_gem_create gem = {
		.size = chance(f, 80) ? SIM_MEMORY : 1 + below(f, 1 << 20),
	};
	struct drm_gem_close gem_close = { .handle = 1 + below(f, HANDLES) };
	struct simgpu_gem_madvise advise = { .handle = below(f, HANDLES),
					     .advice = below(f, 2) };
	struct drm_syncobj_create sync = { .flags = below(f, 2) };
	struct drm_syncobj_destroy destroy = { .handle = 1 + below(f, HANDLES) };

	switch (below(f, 14)) {
	case 12:
		if (chance(f, 10))
			spoil(f, &advise, sizeof(advise));
		return sim_ioctl(fd, SIMGPU_GEM_MADVISE, &advise);
	case 13:
		return drop_caches(f);
	case 0:
		return sim_ioctl(fd, SIMGPU_GEM_CREATE, &gem);
	case 1:
		return sim_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gem_close);
	case 2:
		return sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &sync);
	case 3:
		return sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	case 4:
	case 5:
		return drm_share(f, fd);
	case 6:
	case 7:
		return drm_raw(f, fd);
	default:
		return drm_syncobjs(f, fd);
	}
}

int (*const ops[OPS])(struct fuzzer *f) = {
	do_info, do_create, do_destroy, do_submit, do_wait, do_read, do_stats,
	do_inject, do_control, do_raw, do_reopen, do_close_fence, do_poll,
	do_mmap, do_drm,
};
