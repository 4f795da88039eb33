/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SIMTEST_H
#define SIMTEST_H

/**
 * DOC: common code of the programs in this directory
 *
 * Calls of the render node, and the checks that every program does at its end:
 * kernel complaints, leftovers, and whether the device still works. Everything
 * is static: each file includes it, and a program stays a plain static binary.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "../../uapi/simgpu.h"
#include "drm.h"
#include "kmsg.h"
#include "tap.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define SIM_RENDER	"/dev/dri/renderD%u"
#define SIM_MEMORY	65536u
#define SIM_LIVE	"/sys/kernel/debug/simgpu/live"
#define SIM_SEC		1000000000ull
#define SIM_MSEC	1000000ull
#define SIM_USEC	1000ull

/* How long to wait for something that should have happened long ago. */
#define SIM_PATIENCE	(20 * SIM_SEC)

/* ---- Numbers and time ---- */

/* splitmix64 (Steele, Lea and Flood 2014): one word of state, any seed. */
static MAYBE_UNUSED uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A number below n, which is not 0; the bias does not matter here. */
static MAYBE_UNUSED uint32_t random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(((random_next(state) >> 32) * n) >> 32);
}

/* True in percent of all cases. */
static MAYBE_UNUSED bool random_chance(uint64_t *state, uint32_t percent)
{
	return random_below(state, 100) < percent;
}

static MAYBE_UNUSED uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SIM_SEC + (uint64_t)ts.tv_nsec;
}

static MAYBE_UNUSED void sleep_ns(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / SIM_SEC),
			       .tv_nsec = (long)(ns % SIM_SEC) };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* ---- The device ---- */

/* Return: 0 or the result of the call, or the negative errno */
static MAYBE_UNUSED int sim_ioctl(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

/* Whether the node belongs to a driver of our name. */
static MAYBE_UNUSED bool is_simgpu(const char *path)
{
	char name[16] = "";
	struct drm_version version = { .name = name,
				       .name_len = sizeof(name) - 1 };
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool is = fd >= 0 && !sim_ioctl(fd, DRM_IOCTL_VERSION, &version) &&
		  !strcmp(name, "simgpu");

	if (fd >= 0)
		close(fd);
	return is;
}

/*
 * Returns the path of the render node, or of a nonexistent file if there is none.
 * Works without permission to open the node.
 */
static MAYBE_UNUSED const char *sim_node(void)
{
	static _Thread_local char path[32];

	if (path[0] && access(path, F_OK) == 0)
		return path;
	for (unsigned int minor = 128; minor < 192; minor++) {
		snprintf(path, sizeof(path), SIM_RENDER, minor);
		if (is_simgpu(path))
			return path;
	}
	path[0] = 0;
	return "/dev/dri/no-simgpu";
}

static MAYBE_UNUSED int sim_open(void)
{
	int fd = open(sim_node(), O_RDWR | O_CLOEXEC);

	if (fd < 0)
		tap_fail("open: %s: %s; load simgpu.ko", sim_node(),
			 strerror(errno));
	return fd;
}

/* Creates a GEM object for jobs to write to. Return: its handle, or 0 */
static MAYBE_UNUSED uint32_t sim_object(int fd, uint64_t size)
{
	struct simgpu_gem_create create = { .size = size };
	int ret = sim_ioctl(fd, SIMGPU_GEM_CREATE, &create);

	return CHECK_EQ(ret, 0) ? create.handle : 0;
}

/* Return: the address of the mapping, or MAP_FAILED */
static MAYBE_UNUSED void *sim_map(int fd, uint32_t handle, size_t size, int prot)
{
	struct simgpu_gem_mmap place = { .handle = handle };
	int ret = sim_ioctl(fd, SIMGPU_GEM_MMAP, &place);

	if (ret) {
		errno = -ret;
		return MAP_FAILED;
	}
	return mmap(NULL, size, prot, MAP_SHARED, fd, (off_t)place.offset);
}

/* Return: whether the object has retained its contents, or a negative errno */
static MAYBE_UNUSED int sim_advise(int fd, uint32_t handle, uint32_t advice)
{
	struct simgpu_gem_madvise args = { .handle = handle, .advice = advice };
	int ret = sim_ioctl(fd, SIMGPU_GEM_MADVISE, &args);

	return ret ? ret : (int)args.retained;
}

/* Makes every shrinker free all it can. Return: 0 or a negative errno */
static MAYBE_UNUSED int caches_drop(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	/* 4: no line in the log each time. */
	int ret = fd < 0 || pwrite(fd, "4", 1, 0) != 1 ||
		  pwrite(fd, "2", 1, 0) != 1 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return ret;
}

static MAYBE_UNUSED uint32_t sim_engines(int fd)
{
	struct simgpu_info info = { 0 };

	return sim_ioctl(fd, SIMGPU_INFO, &info) ? 0 : info.engines;
}

/* Return: the number of the context, or a negative errno */
static MAYBE_UNUSED int sim_create(int fd, const struct simgpu_create *args)
{
	struct simgpu_create create = *args;
	int ret = sim_ioctl(fd, SIMGPU_CREATE, &create);

	return ret ? ret : (int)create.context;
}

static MAYBE_UNUSED int sim_destroy(int fd, uint32_t context)
{
	struct simgpu_destroy destroy = { .context = context };

	return sim_ioctl(fd, SIMGPU_DESTROY, &destroy);
}

static MAYBE_UNUSED int sim_submit(int fd, uint32_t context,
				   struct simgpu_exec *execs, uint32_t n,
				   uint32_t flags)
{
	struct simgpu_submit submit = {
		.context = context, .flags = flags, .n_execs = n,
		.exec_size = sizeof(*execs), .execs = (uintptr_t)execs,
	};

	return sim_ioctl(fd, SIMGPU_SUBMIT, &submit);
}

/* Return: 0 and the job's error in @error, or a negative errno */
static MAYBE_UNUSED int sim_wait(int fd, uint32_t context, uint64_t seqno,
				 uint64_t timeout_ns, int *error)
{
	struct simgpu_wait wait = { .context = context, .seqno = seqno,
				    .timeout_ns = timeout_ns };
	int ret = sim_ioctl(fd, SIMGPU_WAIT, &wait);

	if (error)
		*error = wait.error;
	return ret;
}

static MAYBE_UNUSED int sim_stats(int fd, uint32_t context,
				  struct simgpu_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->context = context;
	return sim_ioctl(fd, SIMGPU_STATS, stats);
}

static MAYBE_UNUSED int sim_control(int fd, uint32_t context, uint32_t command,
				    uint64_t arg)
{
	struct simgpu_control control = { .context = context,
					  .command = command, .arg = arg };

	return sim_ioctl(fd, SIMGPU_CONTROL, &control);
}

/* Return: how many records were read from @first on, or a negative errno */
static MAYBE_UNUSED int sim_read(int fd, uint32_t context, uint64_t *first,
				 struct simgpu_record *records, uint32_t n)
{
	struct simgpu_read read = {
		.context = context, .record_size = sizeof(*records),
		.first = *first, .n = n, .records = (uintptr_t)records,
	};
	int ret = sim_ioctl(fd, SIMGPU_READ, &read);

	*first = read.first;
	return ret ? ret : (int)read.n;
}

/* Return: 1 if the sync_file has signalled, 0 if not in time, or -errno */
static MAYBE_UNUSED int fence_wait(int fence, int timeout_ms)
{
	struct pollfd pollfd = { .fd = fence, .events = POLLIN };
	int ret = poll(&pollfd, 1, timeout_ms);

	if (ret < 0)
		return -errno;
	return ret && (pollfd.revents & POLLIN) ? 1 : 0;
}

/* Return: the handle of a syncobj without a fence, or 0 */
static MAYBE_UNUSED uint32_t sim_syncobj(int fd)
{
	struct drm_syncobj_create create = { 0 };

	int ret = sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);

	return CHECK_EQ(ret, 0) ? create.handle : 0;
}

/* Waits for a point, or for a syncobj without timeline if 0. Return: 0 or -errno. */
static MAYBE_UNUSED int sim_syncobj_wait(int fd, uint32_t handle,
					 uint64_t point, uint64_t ns)
{
	struct drm_syncobj_timeline_wait wait = {
		.handles = (uintptr_t)&handle, .points = (uintptr_t)&point,
		.timeout_nsec = (int64_t)(now_ns() + ns), .count_handles = 1,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL,
	};

	return sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

/* Return: the last point that has signalled */
static MAYBE_UNUSED uint64_t sim_syncobj_point(int fd, uint32_t handle)
{
	uint64_t point = 0;
	struct drm_syncobj_timeline_array query = {
		.handles = (uintptr_t)&handle, .points = (uintptr_t)&point,
		.count_handles = 1,
	};

	CHECK_EQ(sim_ioctl(fd, DRM_IOCTL_SYNCOBJ_QUERY, &query), 0);
	return point;
}

/* ---- All kinds of contexts ---- */

struct variant {
	char name[56];
	struct simgpu_create create;
};

#define VARIANTS_DRM	7
#define VARIANTS_DEPQ	(2 * 3 * 5 * 3)
#define VARIANTS_AUTO	(2 * 5)
#define VARIANTS_FAIR	(2 * 5)
#define VARIANTS	(VARIANTS_DRM + VARIANTS_DEPQ + VARIANTS_AUTO + \
			 VARIANTS_FAIR)

/*
 * The @i-th variant: drm_sched own and shared, both with WQ_HIGHPRI, in the
 * shape of each driver; depq as configured; depq that decides itself, with jobs
 * freed in interrupts or not; depq with an arbiter for each
 * engine, as configured and deciding itself.
 */
static MAYBE_UNUSED struct variant variant_at(unsigned int i)
{
	static const char *const drm[] = { "drm/own", "drm/shared",
					   "drm/own/highpri",
					   "drm/shared/highpri", "drm/xe",
					   "drm/panthor", "drm/amdgpu" };
	static const char *const puts[] = { "worker", "irq", "submit" };
	static const char *const workers[] = { "system", "wq", "highpri",
					       "kthread", "follow" };
	static const char *const shares[] = { "context", "engine", "device" };
	struct variant v = { 0 };

	if (i < VARIANTS_DRM) {
		if (i < 4)
			v.create.flags = (i & 1 ? SIMGPU_CREATE_SHARED : 0) |
					 (i & 2 ? SIMGPU_CREATE_HIGHPRI : 0);
		else
			v.create.shape = i - 4 + SIMGPU_SHAPE_XE;
		snprintf(v.name, sizeof(v.name), "%s", drm[i]);
		return v;
	}
	i -= VARIANTS_DRM;
	v.create.design = SIMGPU_DESIGN_DEPQ;
	if (i >= VARIANTS_DEPQ + VARIANTS_AUTO) {
		i -= VARIANTS_DEPQ + VARIANTS_AUTO;
		v.create.worker = i / 2;
		v.create.share = SIMGPU_SHARE_ENGINE;
		v.create.put = i & 1 ? SIMGPU_PUT_AUTO : SIMGPU_PUT_IRQ;
		v.create.flags = SIMGPU_CREATE_FAIR |
				 (i & 1 ? 0 : SIMGPU_CREATE_BYPASS);
		snprintf(v.name, sizeof(v.name), "depq/fair/%s/%s",
			 i & 1 ? "auto" : "bypass", workers[v.create.worker]);
		return v;
	}
	if (i >= VARIANTS_DEPQ) {
		i -= VARIANTS_DEPQ;
		v.create.put = SIMGPU_PUT_AUTO;
		v.create.worker = i / 2;
		v.create.flags = i & 1 ? SIMGPU_CREATE_FREE_SLEEPS : 0;
		snprintf(v.name, sizeof(v.name), "depq/auto/%s/%s",
			 v.create.flags ? "free-sleeps" : "free-cheap",
			 workers[v.create.worker]);
		return v;
	}
	v.create.flags = i & 1 ? SIMGPU_CREATE_BYPASS : 0;
	i /= 2;
	v.create.put = i % 3;
	i /= 3;
	v.create.worker = i % 5;
	i /= 5;
	v.create.share = i;
	snprintf(v.name, sizeof(v.name), "depq/%s/put-%s/%s/%s",
		 v.create.flags ? "bypass" : "plain", puts[v.create.put],
		 workers[v.create.worker], shares[v.create.share]);
	return v;
}

#define VARIANT_REFUSED "drm_sched before 6.8 has no workqueues to share"

/* Whether the driver refuses it: a shape that needs shared workqueues. */
static MAYBE_UNUSED bool variant_refused(const struct variant *v)
{
	int fd, ret;

	if (!v->create.shape)
		return false;
	fd = sim_open();
	ret = sim_create(fd, &v->create);
	close(fd);
	return ret == -EOPNOTSUPP;
}

/* Return: the number of the next variant from @i on that is not refused */
static MAYBE_UNUSED unsigned int variant_next(unsigned int i, struct variant *v)
{
	for (; i < VARIANTS; i++) {
		*v = variant_at(i);
		if (!variant_refused(v))
			break;
	}
	return i;
}

#define for_each_variant(i, v)						\
	for (unsigned int i = variant_next(0, v); i < VARIANTS;		\
	     i = variant_next(i + 1, v))

/*
 * Whether the fence of a job lacks the error of the engine, and whether
 * the driver took the job off it: drm_sched before 6.5.
 */
static MAYBE_UNUSED bool errors_lost(uint32_t design)
{
	unsigned int major, minor;
	struct utsname name;

	return design == SIMGPU_DESIGN_DRM_SCHED && !uname(&name) &&
	       sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major < 6 || (major == 6 && minor < 5));
}

/* Return: the error in a job's fence for an error of the engine */
static MAYBE_UNUSED int engine_error(uint32_t design, int error)
{
	return errors_lost(design) ? 0 : error;
}

/* Whether contexts of an engine are on one scheduler of drm_sched. */
static MAYBE_UNUSED bool is_shared(const struct simgpu_create *create)
{
	return create->flags & SIMGPU_CREATE_SHARED ||
	       create->shape == SIMGPU_SHAPE_AMDGPU;
}

/* ---- Conditions after each case ---- */

/* Numbers of a file of "name value" or "name: value" lines. */
struct counters {
	unsigned int n;
	struct {
		char name[40];
		long long value;
	} at[48];
};

static MAYBE_UNUSED int counters_read(const char *path, struct counters *c)
{
	FILE *file = fopen(path, "re");
	char line[256], name[40];
	long long value;

	c->n = 0;
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file) && c->n < ARRAY_SIZE(c->at)) {
		if (sscanf(line, " %39[^: \t\n]%*[: \t]%lld", name, &value) != 2)
			continue;
		snprintf(c->at[c->n].name, sizeof(name), "%s", name);
		c->at[c->n++].value = value;
	}
	fclose(file);
	return 0;
}

static MAYBE_UNUSED long long counters_get(const struct counters *c,
					   const char *name)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (!strcmp(c->at[i].name, name))
			return c->at[i].value;
	return -1;
}

/* Waits until a live counter has a value. Return: whether it has. */
static MAYBE_UNUSED bool live_wait(const char *name, long long value)
{
	uint64_t end = now_ns() + SIM_PATIENCE;
	struct counters live;

	while (!counters_read(SIM_LIVE, &live)) {
		if (counters_get(&live, name) == value)
			return true;
		if (now_ns() > end)
			break;
		sleep_ns(2 * SIM_MSEC);
	}
	return false;
}

static MAYBE_UNUSED int fds_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = -1; /* that of opendir() itself */

	if (!dir)
		return -1;
	for (struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Makes debugfs readable; it often is not mounted in a small guest. */
static MAYBE_UNUSED void debugfs_mount(void)
{
	struct stat st;

	if (stat("/sys/kernel/debug/simgpu", &st) == 0)
		return;
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
}

/*
 * Waits until all live counters are zero: closed contexts end by themselves,
 * some of them a while later. Return: whether they are.
 */
static MAYBE_UNUSED bool live_wait_zero(void)
{
	uint64_t end = now_ns() + SIM_PATIENCE;
	struct counters live;
	unsigned int i;

	for (;;) {
		if (counters_read(SIM_LIVE, &live))
			return CHECK(!"live counters are readable");
		for (i = 0; i < live.n && live.at[i].value == 0; i++)
			;
		if (i == live.n)
			return CHECK(live.n > 0);
		if (now_ns() > end)
			break;
		sleep_ns(2 * SIM_MSEC);
	}
	for (i = 0; i < live.n; i++)
		if (live.at[i].value)
			tap_fail("left alive: %s %lld", live.at[i].name,
				 live.at[i].value);
	return false;
}

/* Whether all designs execute jobs, with everything well. */
static MAYBE_UNUSED bool device_usable(void)
{
	int fd = sim_open();
	bool good = fd >= 0;

	for (uint32_t design = 0; good && design < SIMGPU_DESIGN_COUNT; design++) {
		struct simgpu_create create = { .design = design };
		struct simgpu_exec execs[3] = {
			{ .duration_ns = 1000 }, { .duration_ns = 1000 },
			{ .flags = SIMGPU_EXEC_FENCE_OUT, .duration_ns = 1000 },
		};
		int context = sim_create(fd, &create), error = 1;

		good = CHECK(context > 0) &&
		       CHECK_EQ(sim_submit(fd, context, execs, 3, 0), 0) &&
		       CHECK_EQ(fence_wait(execs[2].out_fence, 20000), 1) &&
		       CHECK_EQ(sim_wait(fd, context, execs[2].seqno,
					 SIM_PATIENCE, &error), 0) &&
		       CHECK_EQ(error, 0);
		if (good)
			close(execs[2].out_fence);
	}
	if (fd >= 0)
		close(fd);
	return good;
}

/* Submits a job that uses these objects; as sim_submit() otherwise. */
static MAYBE_UNUSED int sim_submit_using(int fd, uint32_t context,
					 struct simgpu_exec *exec,
					 struct simgpu_object_use *uses,
					 uint32_t n)
{
	struct simgpu_submit submit = {
		.context = context, .n_execs = 1, .exec_size = sizeof(*exec),
		.execs = (uintptr_t)exec, .objects = (uintptr_t)uses,
		.n_objects = n,
	};

	return sim_ioctl(fd, SIMGPU_SUBMIT, &submit);
}

/* ---- Kernel messages ---- */

/* Return: a descriptor that reads kernel messages from now on, or -1 */
static MAYBE_UNUSED int kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* Return: complaints of the kernel since kmsg_open() or the last call */
static MAYBE_UNUSED unsigned int kmsg_complaints(int fd)
{
	static const char *const words[] = {
		"WARNING:", "BUG:", "Oops", "general protection", "KASAN:",
		"UBSAN:", "KCSAN:", "KFENCE:", "INFO: task", "rcu_sched self",
		"detected stalls", "possible circular", "suspicious RCU",
		"refcount_t:", "ODEBUG:", "Kernel panic",
		/*
		 * A leak, or that kmemleak has given up. It prints more if an
		 * injected fault makes one of its own allocations fail.
		 */
		"suspected memory leaks", "leak detector disabled",
		"inconsistent lock", "sleeping function", "list_add corruption",
		"list_del corruption", "Objects remaining",
	};
	unsigned int found = 0;
	char record[8192];

	for (;;) {
		ssize_t n = read(fd, record, sizeof(record) - 1);

		if (n < 0 && errno == EPIPE)
			continue; /* some records were lost; go on */
		if (n <= 0)
			return found;
		record[n] = 0;
		if (is_race_elsewhere(record))
			continue;
		for (unsigned int i = 0; i < ARRAY_SIZE(words); i++) {
			if (!strstr(record, words[i]))
				continue;
			found++;
			tap_fail("the kernel says: %.300s", record);
			break;
		}
	}
}

#endif /* SIMTEST_H */
