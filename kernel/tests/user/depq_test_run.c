// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the suite of the module depq_test and copies its results, which are TAP,
 * to standard output. Fails if a test did, or if the kernel complained
 * meanwhile.
 *
 * usage: depq_test_run [SEED] [FILTER]
 *
 * Exit status, as kselftest has it: 0 all passed or were skipped, 1 something
 * failed, 4 the module is not loaded or cannot be reached.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "kmsg.h"

#define KSFT_PASS 0
#define KSFT_FAIL 1
#define KSFT_SKIP 4

#define DEBUGFS "/sys/kernel/debug"
#define RUN DEBUGFS "/depq_test/run"
#define RESULTS DEBUGFS "/depq_test/results"

/* Kernel messages that count as complaints. */
static const char *const complaints[] = {
	"WARNING:", "BUG:", "Oops", "INFO: task", "INFO: rcu", "UBSAN:",
	"KASAN:", "general protection fault", "possible circular locking",
	"possible recursive locking", "inconsistent lock state",
	"suspicious RCU usage", "refcount_t:", "list_add corruption",
	"list_del corruption", "ODEBUG:", "sleeping function called",
	"Invalid wait context",
	/* Of kmemleak: it says more where an injected fault hits itself. */
	"suspected memory leaks", "leak detector disabled",
};

static void die(int status, const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(status);
}

/* Failing allocations are only useful if they include those that can sleep. */
static void allow_failslab(void)
{
	int fd = open(DEBUGFS "/failslab/ignore-gfp-wait", O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, "N", 1) != 1)
		perror("# failslab");
	close(fd);
}

static void mount_debugfs(void)
{
	if (!access(RUN, W_OK))
		return;
	if (mount("debugfs", DEBUGFS, "debugfs", 0, NULL) && errno != EBUSY)
		die(KSFT_SKIP, "cannot mount debugfs");
	if (access(RUN, W_OK))
		die(KSFT_SKIP, RUN ": is depq_test loaded?");
}

/* Opens the kernel's log after its last message. */
static int open_kmsg(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

static int complains(const char *line)
{
	size_t i;

	if (is_race_elsewhere(line))
		return 0;
	for (i = 0; i < sizeof(complaints) / sizeof(*complaints); i++)
		if (strstr(line, complaints[i]))
			return 1;
	return 0;
}

/*
 * Prints what the kernel has logged, as diagnostics; returns how often it
 * complained. A log that has overflown counts as one complaint.
 */
static int check_kmsg(int fd)
{
	char record[8192];
	char *text, *line;
	int n = 0;
	ssize_t len;

	for (;;) {
		len = read(fd, record, sizeof(record) - 1);
		if (len < 0 && errno == EPIPE) {
			printf("# kernel: messages were lost\n");
			n++;
			continue;
		}
		if (len <= 0)
			return n;
		record[len] = 0;
		text = strchr(record, ';');
		text = text ? text + 1 : record;
		line = strchr(text, '\n');
		if (line)
			*line = 0;
		printf("# kernel: %s\n", text);
		n += complains(text);
	}
}

static int run_suite(int argc, char **argv)
{
	char words[128] = "";
	int fd, i, ret = 0;
	size_t len = 0;

	for (i = 1; i < argc && len < sizeof(words); i++)
		len += snprintf(words + len, sizeof(words) - len, "%s ",
				argv[i]);
	if (len + 1 >= sizeof(words)) {
		errno = E2BIG;
		die(KSFT_FAIL, "arguments");
	}
	strcat(words, "\n");
	fd = open(RUN, O_WRONLY);
	if (fd < 0)
		die(KSFT_SKIP, RUN);
	if (write(fd, words, strlen(words)) < 0)
		ret = errno;
	close(fd);
	return ret;
}

/* Copies the results; returns the number of failures among them. */
static int copy_results(void)
{
	FILE *file = fopen(RESULTS, "r");
	char *line = NULL;
	size_t size = 0;
	int failed = 0, points = 0;
	const char *word;

	if (!file)
		die(KSFT_FAIL, RESULTS);
	while (getline(&line, &size, file) > 0) {
		fputs(line, stdout);
		word = line + strspn(line, " ");
		points += !strncmp(word, "ok ", 3);
		failed += !strncmp(word, "not ok ", 7) ||
			  !strncmp(word, "Bail out!", 9);
	}
	free(line);
	fclose(file);
	return points ? failed : failed + 1;
}

int main(int argc, char **argv)
{
	int kmsg, ret, failed, complained;

	mount_debugfs();
	allow_failslab();
	kmsg = open_kmsg();
	ret = run_suite(argc, argv);
	failed = copy_results();
	complained = kmsg < 0 ? 0 : check_kmsg(kmsg);
	if (kmsg < 0)
		printf("# /dev/kmsg cannot be read: complaints not checked\n");
	if (ret)
		printf("# run: %s\n", strerror(ret));
	printf("# %d failed lines, %d complaints of the kernel\n", failed,
	       complained);
	return ret || failed || complained ? KSFT_FAIL : KSFT_PASS;
}
