// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simgpu_uapi - kselftest of the simgpu user interface
 *
 * Good, bad and hostile arguments for every ioctl, and what processes do to
 * descriptors: close, fork, pass, kill, unload. After each case: no more open
 * descriptors than before, all live counters of the driver zero, the device
 * executes jobs of all designs, and the kernel has not complained.
 *
 *	simgpu_uapi [--unload FILE] [WORD]
 *
 * WORD: only cases whose name contains it. --unload: also cases that remove the
 * module and load it again from FILE. A FILE without a directory (simgpu.ko) is
 * searched for everywhere.
 */

#include <sys/wait.h>

#include "uapi.h"

struct tap tap;

static const struct test_case *const groups[] = {
	args_cases, fields_cases, submit_cases,
	wait_cases, life_cases, follow_cases, none_cases, free_cases,
	shapes_cases, large_cases, drm_cases, purge_cases,
	deadline_cases, module_cases,
};

/* Waits for a child, and fails if the child failed. */
void wait_child(int pid)
{
	int status = -1;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status))
		tap_fail("child: status %#x", status);
}

static void run_case(const struct test_case *test, int kmsg)
{
	int fds = fds_open();

	tap_start_case();
	test->run();
	CHECK_EQ(fds_open(), fds);
	if (!test->unloads || access(sim_node(), F_OK) == 0) {
		live_wait_zero();
		device_usable();
		live_wait_zero();
	}
	if (kmsg >= 0)
		kmsg_complaints(kmsg);
	tap_end_case(test->name);
}

int main(int argc, char **argv)
{
	bool unload = argc > 2 && !strcmp(argv[1], "--unload");
	const char *word = argc > (unload ? 3 : 1) ? argv[argc - 1] : "";
	unsigned int n = 0;
	int kmsg = kmsg_open();

	module_file = unload ? argv[2] : NULL;
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned int g = 0; g < ARRAY_SIZE(groups); g++) {
			const struct test_case *test = groups[g];

			for (; test->name; test++) {
				if (!strstr(test->name, word) ||
				    (test->unloads && !unload))
					continue;
				if (pass)
					run_case(test, kmsg);
				else
					n++;
			}
		}
		if (pass)
			continue;
		tap_begin(n);
		debugfs_mount();
		if (kmsg < 0)
			tap_diag("no /dev/kmsg: complaints are not seen");
	}
	return tap_finish();
}
