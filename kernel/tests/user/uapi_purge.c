// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: unneeded memory under memory pressure
 *
 * The pressure comes from drop_caches, which makes every shrinker free
 * all it can, and from a process that uses more memory than is free.
 */

#include <pthread.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include "uapi.h"

#define SHRINKER	"/sys/kernel/debug/simgpu/shrinker"
#define SIZE		(1u << 20)
#define PATTERN		0x5eedu

/* The most memory that the tests fill. */
#define HOG_MOST	(1ull << 30)

static long long shrinker(const char *name)
{
	struct counters c;

	return CHECK_EQ(counters_read(SHRINKER, &c), 0) ?
	       counters_get(&c, name) : -1;
}

static long long memory_kb(const char *name)
{
	struct counters c;

	return CHECK_EQ(counters_read("/proc/meminfo", &c), 0) ?
	       counters_get(&c, name) : -1;
}

/* Writes the first word of each page, through a temporary mapping. */
static void fill(int fd, uint32_t handle, size_t size, uint32_t value)
{
	uint32_t *words = sim_map(fd, handle, size, PROT_READ | PROT_WRITE);

	if (!CHECK(words != MAP_FAILED))
		return;
	for (size_t at = 0; at < size / 4; at += 1024)
		words[at] = value;
	munmap(words, size);
}

static uint32_t filled(int fd, size_t size)
{
	uint32_t handle = sim_object(fd, size);

	fill(fd, handle, size, PATTERN);
	return handle;
}

/* Whether the first word of each page is @value. */
static bool holds(int fd, uint32_t handle, size_t size, uint32_t value)
{
	uint32_t *words = sim_map(fd, handle, size, PROT_READ);
	bool same = CHECK(words != MAP_FAILED);

	if (!same)
		return false;
	for (size_t at = 0; at < size / 4 && same; at += 1024)
		same = words[at] == value;
	munmap(words, size);
	return same;
}

/* ---- drop_caches ---- */

static void idle(void)
{
	long long purged = shrinker("purged"), pages = shrinker("purged_pages");
	int fd = sim_open();
	uint32_t handle = filled(fd, SIZE);
	long long before = memory_kb("Shmem");

	CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_DONTNEED), 1);
	CHECK_EQ(shrinker("unneeded_pages"), SIZE / 4096);
	CHECK_EQ(caches_drop(), 0);
	CHECK_EQ(shrinker("unneeded_pages"), 0);
	CHECK_EQ(shrinker("purged") - purged, 1);
	CHECK_EQ(shrinker("purged_pages") - pages, SIZE / 4096);
	/* Each CPU keeps part of the count. */
	CHECK(before - memory_kb("Shmem") > SIZE / 2048);
	CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_DONTNEED), 0);
	CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_WILLNEED), 0);
	CHECK(holds(fd, handle, SIZE, 0));
	/* It is as good as new. */
	CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_WILLNEED), 1);
	fill(fd, handle, SIZE, PATTERN);
	CHECK_EQ(caches_drop(), 0);
	CHECK(holds(fd, handle, SIZE, PATTERN));
	close(fd);
}

/* Needed objects stay, whether that was ever declared or not. */
static void needed(void)
{
	long long purged = shrinker("purged");
	int fd = sim_open();
	uint32_t never = filled(fd, SIZE), again = filled(fd, SIZE);
	uint32_t empty = sim_object(fd, SIZE);

	CHECK_EQ(sim_advise(fd, again, SIMGPU_GEM_DONTNEED), 1);
	CHECK_EQ(sim_advise(fd, again, SIMGPU_GEM_WILLNEED), 1);
	CHECK_EQ(sim_advise(fd, empty, SIMGPU_GEM_DONTNEED), 1);
	CHECK_EQ(caches_drop(), 0);
	CHECK(holds(fd, never, SIZE, PATTERN));
	CHECK(holds(fd, again, SIZE, PATTERN));
	/* There were no contents to lose. */
	CHECK_EQ(sim_advise(fd, empty, SIMGPU_GEM_WILLNEED), 1);
	CHECK_EQ(shrinker("purged"), purged);
	close(fd);
	CHECK_EQ(shrinker("unneeded_pages"), 0);
}

/* Objects in use stay as long as they are in use. */
static void in_use(void)
{
	int fd = sim_open(), dmabuf;
	uint32_t mapped = filled(fd, SIZE), written = filled(fd, SIZE);
	uint32_t shared = filled(fd, SIZE);
	struct drm_prime_handle prime = { .handle = shared,
					  .flags = DRM_CLOEXEC | DRM_RDWR };
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ,
					.memory = written };
	uint32_t *words = sim_map(fd, mapped, SIZE, PROT_READ | PROT_WRITE);
	long long purged = shrinker("purged");
	int context = sim_create(fd, &create);

	CHECK_EQ(sim_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	dmabuf = prime.fd;
	CHECK_EQ(sim_advise(fd, mapped, SIMGPU_GEM_DONTNEED), 1);
	CHECK_EQ(sim_advise(fd, written, SIMGPU_GEM_DONTNEED), 1);
	CHECK_EQ(sim_advise(fd, shared, SIMGPU_GEM_DONTNEED), 1);
	CHECK_EQ(caches_drop(), 0);
	CHECK_EQ(shrinker("purged"), purged);
	CHECK_EQ(words[0], PATTERN);
	CHECK(holds(fd, written, SIZE, PATTERN));
	CHECK(holds(fd, shared, SIZE, PATTERN));
	munmap(words, SIZE);
	CHECK_EQ(sim_destroy(fd, (uint32_t)context), 0);
	CHECK(live_wait("contexts", 0));
	CHECK_EQ(caches_drop(), 0);
	CHECK_EQ(sim_advise(fd, mapped, SIMGPU_GEM_WILLNEED), 0);
	CHECK_EQ(sim_advise(fd, written, SIMGPU_GEM_WILLNEED), 0);
	CHECK_EQ(sim_advise(fd, shared, SIMGPU_GEM_WILLNEED), 1);
	CHECK_EQ(shrinker("purged") - purged, 2);
	close(dmabuf);
	close(fd);
}

/* Pages are not taken from a running job: reclaim waits for it. */
static void busy(void)
{
	for (uint32_t design = 0; design < SIMGPU_DESIGN_COUNT; design++) {
		struct simgpu_create create = { .design = design };
		struct simgpu_exec exec = { .duration_ns = 50 * SIM_MSEC };
		long long waits = shrinker("waits");
		int fd = sim_open(), context = sim_create(fd, &create);
		uint32_t handle = filled(fd, SIZE), other = filled(fd, SIZE);
		struct simgpu_object_use uses = { handle, 0 };

		CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_DONTNEED), 1);
		CHECK_EQ(sim_advise(fd, other, SIMGPU_GEM_DONTNEED), 1);
		CHECK_EQ(sim_submit_using(fd, (uint32_t)context, &exec,
					  &uses, 1), 0);
		CHECK_EQ(caches_drop(), 0);
		CHECK_EQ(sim_wait(fd, (uint32_t)context, exec.seqno, 0, NULL),
			 0);
		CHECK_EQ(shrinker("waits") - waits, 1);
		CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_WILLNEED), 0);
		CHECK_EQ(sim_advise(fd, other, SIMGPU_GEM_WILLNEED), 0);
		close(fd);
	}
}

/* Reclaim waits for a hung job until its timeout. */
static void hung(void)
{
	for (uint32_t design = 0; design < SIMGPU_DESIGN_NONE; design++) {
		struct simgpu_create create = { .design = design,
						.timeout_us = 100000 };
		struct simgpu_exec exec = { .fault = SIMGPU_FAULT_HANG };
		long long timeouts = shrinker("timeouts");
		int fd = sim_open(), context = sim_create(fd, &create);
		uint32_t handle = filled(fd, SIZE);
		struct simgpu_object_use uses = { handle, SIMGPU_OBJECT_WRITE };
		int error = 0;

		CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_DONTNEED), 1);
		CHECK_EQ(sim_submit_using(fd, (uint32_t)context, &exec,
					  &uses, 1), 0);
		CHECK_EQ(caches_drop(), 0);
		CHECK_EQ(sim_wait(fd, (uint32_t)context, exec.seqno, 0, &error),
			 0);
		CHECK_EQ(error, engine_error(design, -ETIME));
		CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_WILLNEED), 0);
		CHECK_EQ(shrinker("timeouts"), timeouts);
		close(fd);
	}
}

/* Reclaim gives up on jobs that need user space, which keep their objects. */
static void stopped(void)
{
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ };
	struct simgpu_exec exec = { .duration_ns = 1000 };
	long long timeouts = shrinker("timeouts");
	int fd = sim_open(), context = sim_create(fd, &create);
	uint32_t handle = filled(fd, SIZE);
	struct simgpu_object_use uses = { handle, 0 };

	CHECK_EQ(sim_control(fd, (uint32_t)context, SIMGPU_CONTROL_STOP, 0), 0);
	CHECK_EQ(sim_submit_using(fd, (uint32_t)context, &exec, &uses, 1), 0);
	CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_DONTNEED), 1);
	CHECK_EQ(caches_drop(), 0);
	CHECK(shrinker("timeouts") > timeouts);
	CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_DONTNEED), 1);
	CHECK_EQ(sim_control(fd, (uint32_t)context, SIMGPU_CONTROL_START, 0),
		 0);
	CHECK_EQ(caches_drop(), 0);
	CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_WILLNEED), 0);
	close(fd);
}

/* ---- Reports of the kernel ---- */

static long long fdinfo_kb(int fd, const char *key)
{
	char path[64], line[128], name[64], unit[8];
	long long value, found = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!CHECK(file))
		return -1;
	while (fgets(line, sizeof(line), file)) {
		int n;

		unit[0] = 0;
		n = sscanf(line, "%63[^:]: %lld %7s", name, &value, unit);
		if (n >= 2 && !strcmp(name, key))
			found = value * (!strcmp(unit, "MiB") ? 1024 : 1);
	}
	fclose(file);
	return found;
}

static void told(void)
{
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ };
	struct simgpu_exec exec = { .duration_ns = 50 * SIM_MSEC };
	int fd = sim_open(), context = sim_create(fd, &create);
	uint32_t handle = filled(fd, SIZE);
	struct simgpu_object_use uses = { handle, 0 };

	sim_object(fd, SIZE);
	if (fdinfo_kb(fd, "drm-total-memory") < 0) {
		tap_skip("kernels before 6.5 do not tell of memory");
		close(fd);
		return;
	}
	CHECK_EQ(fdinfo_kb(fd, "drm-total-memory"), 2 * SIZE / 1024);
	CHECK_EQ(fdinfo_kb(fd, "drm-resident-memory"), SIZE / 1024);
	/* A value of zero may be omitted. */
	CHECK(fdinfo_kb(fd, "drm-purgeable-memory") <= 0);
	CHECK_EQ(sim_advise(fd, handle, SIMGPU_GEM_DONTNEED), 1);
	CHECK_EQ(fdinfo_kb(fd, "drm-purgeable-memory"), SIZE / 1024);
	CHECK_EQ(sim_submit_using(fd, (uint32_t)context, &exec, &uses, 1), 0);
	CHECK_EQ(fdinfo_kb(fd, "drm-purgeable-memory"), 0);
	CHECK_EQ(fdinfo_kb(fd, "drm-active-memory"), SIZE / 1024);
	CHECK_EQ(sim_wait(fd, (uint32_t)context, exec.seqno, SIM_PATIENCE,
			  NULL), 0);
	CHECK_EQ(caches_drop(), 0);
	CHECK(fdinfo_kb(fd, "drm-purgeable-memory") <= 0);
	CHECK(fdinfo_kb(fd, "drm-resident-memory") <= 0);
	close(fd);
}

/* ---- Concurrency ---- */

static int race_fd;
static bool race_over;

/* Retained contents are unchanged; others are zeros. */
static void *race(void *unused)
{
	uint32_t handle = sim_object(race_fd, 16384);
	struct simgpu_create create = { .design = SIMGPU_DESIGN_DEPQ };
	int context = sim_create(race_fd, &create);
	struct simgpu_object_use uses = { handle, 0 };
	unsigned long lost = 0;

	(void)unused;
	for (uint32_t i = 1; i <= 200; i++) {
		struct simgpu_exec exec = { .duration_ns = 20000 };
		int retained;

		fill(race_fd, handle, 16384, i);
		sim_advise(race_fd, handle, SIMGPU_GEM_DONTNEED);
		if (i % 3 == 0)
			CHECK_EQ(sim_submit_using(race_fd, (uint32_t)context,
					  &exec, &uses, 1), 0);
		sched_yield();
		retained = sim_advise(race_fd, handle, SIMGPU_GEM_WILLNEED);
		CHECK(retained >= 0);
		if (!holds(race_fd, handle, 16384, retained ? i : 0))
			tap_fail("round %u: retained %d, and is not", i,
				 retained);
		lost += !retained;
	}
	CHECK_EQ(sim_destroy(race_fd, (uint32_t)context), 0);
	return (void *)lost;
}

static void *drop(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&race_over, __ATOMIC_RELAXED)) {
		CHECK_EQ(caches_drop(), 0);
		sched_yield();
	}
	return NULL;
}

static void races(void)
{
	pthread_t threads[3], dropper;
	unsigned long lost = 0;

	race_fd = sim_open();
	race_over = false;
	pthread_create(&dropper, NULL, drop, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, race, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++) {
		void *ret;

		pthread_join(threads[i], &ret);
		lost += (unsigned long)ret;
	}
	__atomic_store_n(&race_over, true, __ATOMIC_RELAXED);
	pthread_join(dropper, NULL);
	tap_diag("%lu of 600 lost what they held", lost);
	CHECK(lost > 0);
	close(race_fd);
}

/* ---- Memory that is short ---- */

#define OBJECTS		2u
#define OBJECT_BYTES	(64ull << 20)

static void touch(char *from, size_t size)
{
	for (size_t at = 0; at < size; at += 4096)
		from[at] = 1;
}

static uint64_t memory_free(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : (uint64_t)info.freeram * info.mem_unit;
}

/*
 * The amount of free memory just above the point where allocations reclaim: they do
 * when no more than min_free_kbytes are free, not counting what is reserved for
 * others (at most 1 % of all for atomic allocations, and the lowest zone).
 */
static uint64_t brink(void)
{
	FILE *file = fopen("/proc/sys/vm/min_free_kbytes", "re");
	unsigned long long kb = 0;

	CHECK(file && fscanf(file, "%llu", &kb) == 1);
	if (file)
		fclose(file);
	return (kb << 10) + (16ull << 20);
}

/*
 * Uses memory until no more than @leave bytes are free, reports that, waits for a
 * signal, and uses @more. The kernel's first OOM victim.
 */
static void hog(size_t most, size_t leave, size_t more, int ready, int go)
{
	int adj = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	size_t used = 0;
	char *area, byte = 0;

	if (adj < 0 || write(adj, "1000", 4) != 4)
		_exit(2);
	area = mmap(NULL, most + more, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		_exit(3);
	/* Huge pages would use more than intended. */
	madvise(area, most + more, MADV_NOHUGEPAGE);
	for (; used < most && memory_free() > leave; used += 65536)
		touch(area + used, 65536);
	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
		_exit(4);
	touch(area + used, more);
	_exit(0);
}

/*
 * A process uses all free memory, and most of what the objects hold, while the
 * job that uses them is running. Not more: some of the purged memory stays on
 * per-CPU lists, and the rest must suffice.
 */
static void squeeze(uint32_t design, uint32_t fault)
{
	struct simgpu_create create = { .design = design,
					.timeout_us = 950000 };
	/*
	 * Not done before there is need of the objects, which takes a while on
	 * a kernel that checks itself, and not longer than reclaim waits.
	 */
	struct simgpu_exec exec = { .fault = fault,
				    .duration_ns = 900 * SIM_MSEC };
	struct simgpu_object_use uses[OBJECTS] = { 0 };
	int fd = sim_open(), context = sim_create(fd, &create);
	long long waits = shrinker("waits"), purged = shrinker("purged");
	int ready[2], go[2], pid, error = 1, lost = 0;
	size_t most, leave;
	char byte = 0;

	for (uint32_t i = 0; i < OBJECTS; i++)
		uses[i].handle = filled(fd, OBJECT_BYTES);
	most = (size_t)memory_kb("MemTotal") << 10;
	leave = brink();
	if (pipe2(ready, O_CLOEXEC) || pipe2(go, O_CLOEXEC))
		return tap_fail("pipe: %s", strerror(errno));
	pid = fork();
	if (!pid)
		hog(most, leave, OBJECTS * OBJECT_BYTES * 3 / 4, ready[1],
		    go[0]);
	/* Otherwise the end of a hog that was killed too early goes unnoticed. */
	close(ready[1]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_EQ(sim_submit_using(fd, (uint32_t)context, &exec, uses, OBJECTS),
		 0);
	for (uint32_t i = 0; i < OBJECTS; i++)
		CHECK_EQ(sim_advise(fd, uses[i].handle, SIMGPU_GEM_DONTNEED), 1);
	CHECK_EQ(write(go[1], &byte, 1), 1);
	/* Killed if the objects keep their memory. */
	wait_child(pid);
	CHECK_EQ(sim_wait(fd, (uint32_t)context, exec.seqno, 0, &error), 0);
	CHECK_EQ(error, fault ? engine_error(design, -ETIME) : 0);
	for (uint32_t i = 0; i < OBJECTS; i++)
		lost += !sim_advise(fd, uses[i].handle, SIMGPU_GEM_WILLNEED);
	CHECK(lost > 0);
	CHECK_EQ(shrinker("purged") - purged, lost);
	CHECK(shrinker("waits") > waits);
	close(ready[0]);
	close(go[0]);
	close(go[1]);
	close(fd);
}

static bool may_squeeze(void)
{
	uint64_t left = (uint64_t)memory_kb("MemAvailable") << 10;

	if (left <= HOG_MOST && left >= 3 * OBJECTS * OBJECT_BYTES / 2)
		return true;
	tap_skip("%llu MiB of memory are left: too much or too little to use up",
		 (unsigned long long)left >> 20);
	return false;
}

static void short_running(void)
{
	for (uint32_t i = 0; i < SIMGPU_DESIGN_COUNT && may_squeeze(); i++)
		squeeze(i, SIMGPU_FAULT_NONE);
}

static void short_hung(void)
{
	for (uint32_t i = 0; i < SIMGPU_DESIGN_NONE && may_squeeze(); i++)
		squeeze(i, SIMGPU_FAULT_HANG);
}

const struct test_case purge_cases[] = {
	{ "an object that is not needed loses its pages, and is as new", idle },
	{ "what is needed keeps what it holds", needed },
	{ "what is mapped, exported or written by jobs is not purged", in_use },
	{ "what a job uses is purged when the job is done", busy },
	{ "reclaim waits for a hung job until its timeout", hung },
	{ "reclaim gives up jobs that are stopped", stopped },
	{ "fdinfo names what is resident and what is purgeable", told },
	{ "what was retained is as it was, and what was not is zeros", races },
	{ "memory that is short is had from what a job uses", short_running },
	{ "memory that is short is had from what a hung job uses", short_hung },
	{ 0 },
};
