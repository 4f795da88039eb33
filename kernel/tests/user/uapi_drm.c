// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: generic features of a DRM driver: GEM objects, PRIME, syncobjs, fdinfo
 */

#include "uapi.h"

/* ---- What the cases share ---- */

static void gem_close(int fd, uint32_t handle, int want)
{
	struct drm_gem_close args = { .handle = handle };

	CHECK_EQ(sim_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &args), want);
}

static int prime_export(int fd, uint32_t handle)
{
	struct drm_prime_handle prime = { .handle = handle,
					  .flags = DRM_CLOEXEC | DRM_RDWR };
	int ret = sim_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	return ret ? ret : prime.fd;
}

static uint32_t prime_import(int fd, int dmabuf)
{
	struct drm_prime_handle prime = { .fd = dmabuf };

	CHECK_EQ(sim_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	return prime.handle;
}

static uint32_t context_on(int fd, uint32_t design, uint32_t engine,
			   uint32_t memory)
{
	struct simgpu_create create = { .design = design, .engine = engine,
					.memory = memory };
	int context = sim_create(fd, &create);

	CHECK(context > 0);
	return (uint32_t)context;
}

/* The record of a job that is done. */
static struct simgpu_record record_of(int fd, uint32_t context, uint64_t seqno)
{
	struct simgpu_record record = { 0 };
	uint64_t first = seqno;

	CHECK_EQ(sim_wait(fd, context, seqno, SIM_PATIENCE, NULL), 0);
	CHECK_EQ(sim_read(fd, context, &first, &record, 1), 1);
	return record;
}

/* A line of /proc/self/fdinfo; -1 if it is not there. */
static long long fdinfo(int fd, const char *key)
{
	struct counters c;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return counters_read(path, &c) ? -1 : counters_get(&c, key);
}

static long long engine_ns(int fd, unsigned int engine)
{
	char key[32];

	snprintf(key, sizeof(key), "drm-engine-sim%u", engine);
	return fdinfo(fd, key);
}

/* ---- The device ---- */

static void device_says(void)
{
	struct drm_get_cap cap = { .capability = DRM_CAP_SYNCOBJ_TIMELINE };
	int fd = sim_open();

	CHECK(is_simgpu(sim_node()));
	CHECK(!is_simgpu("/dev/null"));
	CHECK_EQ(sim_ioctl(fd, DRM_IOCTL_GET_CAP, &cap), 0);
	CHECK_EQ(cap.value, 1);
	cap = (struct drm_get_cap){ .capability = DRM_CAP_PRIME };
	CHECK_EQ(sim_ioctl(fd, DRM_IOCTL_GET_CAP, &cap), 0);
	CHECK_EQ(cap.value, 3);
	/* A DRM number with another type must be rejected by both. */
	CHECK_EQ(sim_ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'T', 0x0c,
				    sizeof(cap)), &cap), -ENOTTY);
	close(fd);
}

/* ---- GEM ---- */

static void gem_objects(void)
{
	static const struct {
		struct simgpu_gem_create args;
		int want;
	} tries[] = {
		{ { .size = 1 }, 0 },
		{ { .size = 4097 }, 0 },
		{ { .size = SIMGPU_OBJECT_BYTES_MAX }, 0 },
		{ { .size = 0 }, -EINVAL },
		{ { .size = SIMGPU_OBJECT_BYTES_MAX + 1ull }, -EINVAL },
		{ { .size = UINT64_MAX }, -EINVAL },
		{ { .size = 4096, .flags = 1 }, -EINVAL },
		{ { .size = 4096, .handle = 1 }, -EINVAL },
	};
	int fd = sim_open(), other = sim_open();

	for (unsigned int i = 0; i < ARRAY_SIZE(tries); i++) {
		struct simgpu_gem_create args = tries[i].args;

		CHECK_EQ(sim_ioctl(fd, SIMGPU_GEM_CREATE, &args),
			 tries[i].want);
		if (tries[i].want)
			continue;
		CHECK_EQ(args.size, (tries[i].args.size + 4095) & ~4095ull);
		CHECK(sim_map(other, args.handle, 4096, PROT_READ) ==
		      MAP_FAILED && errno == ENOENT);
		gem_close(fd, args.handle, 0);
		gem_close(fd, args.handle, -EINVAL);
		CHECK(sim_map(fd, args.handle, 4096, PROT_READ) ==
		      MAP_FAILED && errno == ENOENT);
	}
	close(other);
	close(fd);
}

/* A handle is only valid in its file, and an offset only with the handle. */
static void gem_of_others(void)
{
	int fd = sim_open(), other = sim_open();
	uint32_t handle = sim_object(fd, 4096);
	struct simgpu_gem_mmap place = { .handle = handle };
	struct simgpu_create create = { .memory = handle };
	struct simgpu_object_use use = { .handle = handle };
	struct simgpu_exec exec = { 0 };
	struct simgpu_submit submit = {
		.n_execs = 1, .exec_size = sizeof(exec),
		.execs = (uintptr_t)&exec, .objects = (uintptr_t)&use,
		.n_objects = 1,
	};

	CHECK_EQ(sim_ioctl(fd, SIMGPU_GEM_MMAP, &place), 0);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, other,
		   (off_t)place.offset) == MAP_FAILED && errno == EACCES);
	CHECK_EQ(sim_create(other, &create), -ENOENT);
	submit.context = context_on(other, SIMGPU_DESIGN_DEPQ, 0, 0);
	CHECK_EQ(sim_ioctl(other, SIMGPU_SUBMIT, &submit), -ENOENT);
	close(other);
	close(fd);
}

/* A word written by a job is visible through every mapping. */
static void prime(void)
{
	for (uint32_t design = 0; design < SIMGPU_DESIGN_COUNT; design++) {
		struct simgpu_exec exec = { .flags = SIMGPU_EXEC_WRITE,
					    .duration_ns = 1000,
					    .write_offset = 4092,
					    .write_value = 0x600d + design };
		int fd = sim_open(), other = sim_open(), dmabuf;
		uint32_t object = sim_object(fd, 4096), got, context;
		uint32_t *mine, *theirs, *direct;

		CHECK_EQ(prime_export(fd, 999), -ENOENT);
		dmabuf = prime_export(fd, object);
		CHECK(dmabuf >= 0);
		CHECK_EQ(prime_import(fd, dmabuf), object);
		got = prime_import(other, dmabuf);
		mine = sim_map(fd, object, 4096, PROT_READ);
		theirs = sim_map(other, got, 4096, PROT_READ);
		direct = mmap(NULL, 4096, PROT_READ, MAP_SHARED, dmabuf, 0);
		if (!CHECK(mine != MAP_FAILED) || !CHECK(theirs != MAP_FAILED) ||
		    !CHECK(direct != MAP_FAILED))
			return;
		/* Only the importer is left, and the buffer itself. */
		close(fd);
		context = context_on(other, design, 0, got);
		CHECK_EQ(sim_submit(other, context, &exec, 1, 0), 0);
		record_of(other, context, exec.seqno);
		CHECK_EQ(mine[1023], exec.write_value);
		CHECK_EQ(theirs[1023], exec.write_value);
		CHECK_EQ(direct[1023], exec.write_value);
		CHECK_EQ(direct[0], 0);
		munmap(mine, 4096);
		munmap(theirs, 4096);
		munmap(direct, 4096);
		close(dmabuf);
		close(other);
	}
}

/* ---- Syncobjs ---- */

/*
 * A job of another context, on another engine, runs when the syncobj's fence
 * has signalled, and at once without that dependency.
 */
static void syncobj_order(void)
{
	for (unsigned int i = 0; i < SIMGPU_DESIGN_COUNT * 4; i++) {
		uint32_t design = i / 4;
		bool timeline = i & 1, depends = i & 2;
		int fd = sim_open();
		uint32_t handle = sim_syncobj(fd);
		uint32_t a = context_on(fd, design, 0, 0);
		uint32_t b = context_on(fd, design, 1, 0);
		struct simgpu_exec first = {
			.flags = SIMGPU_EXEC_SYNCOBJ_OUT,
			.duration_ns = 5 * SIM_MSEC,
			.out_syncobj = handle,
			.out_point = timeline ? 7 : 0,
		};
		struct simgpu_dep dep = { .kind = SIMGPU_DEP_SYNCOBJ,
					  .handle = handle,
					  .seqno = timeline ? 7 : 0 };
		struct simgpu_exec second = { .n_deps = depends,
					      .deps = (uintptr_t)&dep,
					      .duration_ns = 1000 };
		struct simgpu_record before, after;

		CHECK_EQ(sim_submit(fd, a, &first, 1, 0), 0);
		CHECK_EQ(sim_syncobj_wait(fd, handle, dep.seqno, 0), -ETIME);
		CHECK_EQ(sim_submit(fd, b, &second, 1, 0), 0);
		after = record_of(fd, b, second.seqno);
		CHECK_EQ(sim_syncobj_wait(fd, handle, dep.seqno, SIM_PATIENCE), 0);
		before = record_of(fd, a, first.seqno);
		CHECK_EQ(after.t_run >= before.t_done, depends);
		CHECK_EQ(sim_syncobj_point(fd, handle), timeline ? 7 : 0);
		close(fd);
	}
}

static void syncobj_refused(void)
{
	int fd = sim_open(), other = sim_open();
	uint32_t handle = sim_syncobj(fd), context, foreign;
	struct simgpu_dep good = { .kind = SIMGPU_DEP_SYNCOBJ,
				   .handle = handle };
	struct simgpu_exec exec = { .n_deps = 1, .deps = (uintptr_t)&good };
	const struct {
		struct simgpu_dep dep;
		int want;
	} deps[] = {
		{ good, -EINVAL }, /* it has no fence yet */
		{ { .kind = SIMGPU_DEP_SYNCOBJ, .handle = handle, .seqno = 3 },
		  -EINVAL },
		{ { .kind = SIMGPU_DEP_SYNCOBJ, .handle = handle, .fd = 1 },
		  -EINVAL },
		{ { .kind = SIMGPU_DEP_SYNCOBJ, .handle = handle,
		    .context = 1 }, -EINVAL },
		{ { .kind = SIMGPU_DEP_SYNCOBJ }, -ENOENT },
		{ { .kind = SIMGPU_DEP_SYNCOBJ, .handle = 999 }, -ENOENT },
	};
	const struct {
		struct simgpu_exec exec;
		int want;
	} outs[] = {
		{ { .flags = SIMGPU_EXEC_SYNCOBJ_OUT }, -ENOENT },
		{ { .flags = SIMGPU_EXEC_SYNCOBJ_OUT, .out_syncobj = 999 },
		  -ENOENT },
		{ { .out_syncobj = handle }, -EINVAL },
		{ { .out_point = 1 }, -EINVAL },
	};

	context = context_on(fd, SIMGPU_DESIGN_DEPQ, 0, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(deps); i++) {
		struct simgpu_dep dep = deps[i].dep;

		exec.deps = (uintptr_t)&dep;
		CHECK_EQ(sim_submit(fd, context, &exec, 1, 0), deps[i].want);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(outs); i++) {
		struct simgpu_exec out = outs[i].exec;

		CHECK_EQ(sim_submit(fd, context, &out, 1, 0), outs[i].want);
	}
	/* A handle of another file is not valid in this one. */
	foreign = context_on(other, SIMGPU_DESIGN_DEPQ, 0, 0);
	exec = (struct simgpu_exec){ .flags = SIMGPU_EXEC_SYNCOBJ_OUT,
				     .out_syncobj = handle };
	CHECK_EQ(sim_submit(other, foreign, &exec, 1, 0), -ENOENT);
	CHECK_EQ(sim_syncobj_wait(fd, handle, 0, 0), -EINVAL);
	close(other);
	close(fd);
}

/* ---- Implicit synchronization ---- */

/* Everyone waits for writers, writers for everyone, readers not for readers. */
static void implicit_order(void)
{
	for (unsigned int i = 0; i < SIMGPU_DESIGN_COUNT * 8; i++) {
		uint32_t design = i / 8;
		bool writes_1 = i & 1, writes_2 = i & 2, same = i & 4;
		int fd = sim_open();
		uint32_t object = sim_object(fd, 4096);
		uint32_t other = same ? object : sim_object(fd, 4096);
		struct simgpu_object_use use_1 = { object, writes_1 };
		struct simgpu_object_use use_2 = { other, writes_2 };
		struct simgpu_exec first = { .duration_ns = 5 * SIM_MSEC };
		struct simgpu_exec second = { .duration_ns = 1000 };
		uint32_t a = context_on(fd, design, 0, 0);
		uint32_t b = context_on(fd, design, 1, 0);
		struct simgpu_record before, after;

		CHECK_EQ(sim_submit_using(fd, a, &first, &use_1, 1), 0);
		CHECK_EQ(sim_submit_using(fd, b, &second, &use_2, 1), 0);
		after = record_of(fd, b, second.seqno);
		before = record_of(fd, a, first.seqno);
		CHECK_EQ(after.t_run >= before.t_done,
			 same && (writes_1 || writes_2));
		close(fd);
	}
}

static void implicit_refused(void)
{
	int fd = sim_open();
	uint32_t context = context_on(fd, SIMGPU_DESIGN_DEPQ, 0, 0);
	uint32_t object = sim_object(fd, 4096);
	struct simgpu_object_use twice[2] = { { object, 0 }, { object, 1 } };
	struct simgpu_object_use flags = { object, 2 }, none = { 999, 0 };
	struct simgpu_object_use many[65] = { { object, 0 } };
	struct simgpu_exec exec = { .flags = SIMGPU_EXEC_FENCE_OUT,
				    .out_fence = 77, .seqno = 88 };
	struct simgpu_stats stats;

	CHECK_EQ(sim_submit_using(fd, context, &exec, twice, 2), -EINVAL);
	CHECK_EQ(sim_submit_using(fd, context, &exec, &flags, 1), -EINVAL);
	CHECK_EQ(sim_submit_using(fd, context, &exec, &none, 1), -ENOENT);
	CHECK_EQ(sim_submit_using(fd, context, &exec, many, 65), -EINVAL);
	CHECK_EQ(sim_submit_using(fd, context, &exec, (void *)8, 1), -EFAULT);
	/* Nothing was written, and nothing submitted. */
	CHECK_EQ(exec.out_fence, 77);
	CHECK_EQ(exec.seqno, 88);
	CHECK_EQ(sim_stats(fd, context, &stats), 0);
	CHECK_EQ(stats.submitted, 0);
	close(fd);
}

/* ---- fdinfo ---- */

/* Returns the busy time of an engine, from debugfs. */
static long long busy_ns(unsigned int engine)
{
	FILE *file = fopen("/sys/kernel/debug/simgpu/engines", "re");
	unsigned long long order, interrupts, completed, busy;
	unsigned int number;
	char line[256];
	long long found = -1;

	if (!CHECK(file))
		return -1;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%u %llu %llu %llu %llu", &number, &order,
			   &interrupts, &completed, &busy) == 5 &&
		    number == engine)
			found = (long long)busy;
	fclose(file);
	return found;
}

/* The clients of an engine add up to its busy time, to the nanosecond. */
static void fdinfo_sums(void)
{
	int fds[3] = { sim_open(), sim_open(), sim_open() };
	uint64_t wanted[3] = { 0 };
	long long before = busy_ns(1), sum = 0;

	CHECK_EQ(engine_ns(fds[0], 0), 0);
	for (uint32_t i = 0; i < 12; i++) {
		/* The third client does nothing. */
		int fd = fds[i % 2];
		uint32_t context = context_on(fd, i % SIMGPU_DESIGN_COUNT, 1, 0);
		struct simgpu_exec execs[2] = {
			{ .duration_ns = 10000 + 777 * i },
			{ .duration_ns = 333 },
		};

		CHECK_EQ(sim_submit(fd, context, execs, 2, 0), 0);
		wanted[i % 2] += execs[0].duration_ns + execs[1].duration_ns;
		record_of(fd, context, execs[1].seqno);
		CHECK_EQ(sim_destroy(fd, context), 0);
	}
	for (unsigned int i = 0; i < 3; i++) {
		CHECK_EQ(engine_ns(fds[i], 1), (long long)wanted[i]);
		CHECK_EQ(engine_ns(fds[i], 0), 0);
		sum += engine_ns(fds[i], 1);
	}
	CHECK_EQ(busy_ns(1) - before, sum);
	CHECK_EQ(engine_ns(fds[0], 99), -1);
	for (unsigned int i = 0; i < 3; i++)
		close(fds[i]);
}

/* A job is charged while it executes, and one that hangs until the reset. */
static void fdinfo_hang(void)
{
	struct simgpu_create create = { .engine = 2, .timeout_us = 3000 };
	struct simgpu_exec exec = { .fault = SIMGPU_FAULT_HANG };
	int fd = sim_open(), context;
	long long before = busy_ns(2), first, last;

	context = sim_create(fd, &create);
	CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0), 0);
	sleep_ns(SIM_MSEC);
	first = engine_ns(fd, 2);
	CHECK(first > 0);
	CHECK_EQ(sim_wait(fd, (uint32_t)context, exec.seqno, SIM_PATIENCE,
			  NULL), 0);
	last = engine_ns(fd, 2);
	CHECK(last > first);
	CHECK_EQ(busy_ns(2) - before, last);
	CHECK_EQ(engine_ns(fd, 2), last);
	close(fd);
}

static void fdinfo_clients(void)
{
	int fd = sim_open(), other = sim_open();
	char path[64], text[4096];
	ssize_t n;
	int info;

	CHECK(fdinfo(fd, "drm-client-id") > 0);
	CHECK(fdinfo(fd, "drm-client-id") != fdinfo(other, "drm-client-id"));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	n = read(info, text, sizeof(text) - 1);
	close(info);
	if (CHECK(n > 0)) {
		text[n] = 0;
		CHECK(strstr(text, "drm-driver:\tsimgpu\n"));
	}
	/* Kernels from 6.5 on tell of memory. */
	if (fdinfo(fd, "drm-total-memory") >= 0) {
		CHECK_EQ(fdinfo(fd, "drm-total-memory"), 0);
		sim_object(fd, 3 << 20);
		CHECK_EQ(fdinfo(fd, "drm-total-memory"),
			 strstr(text, "KiB") ? 3 << 10 : 3);
	}
	close(other);
	close(fd);
}

/* ---- A device that was unbound ---- */

#define DRIVER	"/sys/bus/platform/drivers/simgpu"

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) > 0;

	close(fd);
	return done;
}

/* Open files, jobs and mappings survive, commands are -ENODEV. */
static void unbound(void)
{
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ };
	struct simgpu_exec exec = { .flags = SIMGPU_EXEC_FENCE_OUT |
					     SIMGPU_EXEC_WRITE,
				    .duration_ns = 20 * SIM_MSEC,
				    .write_value = 5 };
	struct simgpu_info info = { 0 };
	struct drm_syncobj_create sync = { 0 };
	uint32_t *words, object;
	int fd, context, used;

	if (access(DRIVER "/unbind", F_OK)) {
		tap_skip("the faux bus does not unbind");
		return;
	}
	for (used = 0; used < 2; used++) {
		fd = sim_open();
		object = sim_object(fd, 4096);
		words = sim_map(fd, object, 4096, PROT_READ | PROT_WRITE);
		create.memory = object;
		context = sim_create(fd, &create);
		if (used)
			CHECK_EQ(sim_submit(fd, (uint32_t)context, &exec, 1, 0),
				 0);
		CHECK(write_to(DRIVER "/unbind", "simgpu"));
		CHECK(access(sim_node(), F_OK) != 0);
		CHECK_EQ(sim_ioctl(fd, SIMGPU_INFO, &info), -ENODEV);
		CHECK_EQ(sim_create(fd, &create), -ENODEV);
		CHECK_EQ(sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &sync),
			 -ENODEV);
		if (used) {
			CHECK_EQ(fence_wait(exec.out_fence, 20000), 1);
			CHECK_EQ(words[0], 5);
			close(exec.out_fence);
		}
		words[1] = 6;
		/* The next device exists before the old one is gone. */
		CHECK(write_to(DRIVER "/bind", "simgpu"));
		CHECK(device_usable());
		CHECK_EQ(words[1], 6);
		munmap(words, 4096);
		close(fd);
		CHECK(device_usable());
	}
}

const struct test_case drm_cases[] = {
	{ "the render node is a DRM device of ours", device_says },
	{ "GEM objects are made, mapped and closed", gem_objects },
	{ "GEM handles of another file are refused", gem_of_others },
	{ "a buffer that was exported and imported is one memory", prime },
	{ "jobs wait for syncobjs and timeline points", syncobj_order },
	{ "syncobjs that are not there or not ours are refused",
	  syncobj_refused },
	{ "jobs that use an object wait for its writers", implicit_order },
	{ "uses of objects out of range are refused and write nothing",
	  implicit_refused },
	{ "fdinfo of all clients is what the engine was busy", fdinfo_sums },
	{ "fdinfo counts a job that runs and one that hangs", fdinfo_hang },
	{ "fdinfo names driver, client and memory", fdinfo_clients },
	{ "a device that was unbound keeps what is open", unbound, true },
	{ 0 },
};
