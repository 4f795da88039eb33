// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: the module
 *
 * /sys/kernel/debug/depq_test/ has two files. Writing to ``run`` runs the
 * suites and returns when they are done. The text is a list of words: a
 * number is the seed, and other words are filters, any of which may match. Reading
 * ``results`` returns the TAP output of the last run.
 *
 *	echo 7 races.kill > run
 *
 * Two module parameters are for slow kernels: ``scale`` is the
 * percentage of repetitions in tests with many of them, and of every
 * ``stride`` designs only the first is tested. A stride of 7 covers each kind
 * of worker, each way to reap, queues with and without bypass, and both
 * separate and shared workers.
 */

#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/uaccess.h>

#include "depq_test_suites.h"

u64 dt_seed;
unsigned int dt_scale = 100;
module_param_named(scale, dt_scale, uint, 0644);
MODULE_PARM_DESC(scale, "repetitions, in percent (100)");

static unsigned int dt_stride = 1;
module_param_named(stride, dt_stride, uint, 0444);
MODULE_PARM_DESC(stride, "of so many designs one is tried (1: all)");

static DEFINE_MUTEX(dt_mutex);
static struct dentry *dt_dir;

/* Later kinds only differ from this one in a number. */
#define DT_KINDS	(DEPQ_WORKER_FOLLOW + 1)

#define DT_COMBINATIONS	(2 * DEPQ_PUT_COUNT * DT_KINDS * 2)

/*
 * drm_sched, depq in each combination, and with an arbiter for each engine each way
 * to reap and each kind of worker.
 */
static struct dt_design dt_designs[1 + DT_COMBINATIONS + DT_KINDS];
static unsigned int dt_n_designs;

static struct kunit_suite *const dt_suites[] = {
	&dt_basic_suite,
	&dt_client_suite,
	&dt_queue_suite,
	&dt_life_suite,
	&dt_fault_suite,
	&dt_reset_suite,
	&dt_race_suite,
	&dt_preempt_suite,
	&dt_follow_suite,
	&dt_ready_suite,
	&dt_auto_suite,
	&dt_arbiter_suite,
};

/**
 * dt_scaled - scale a number of repetitions
 * @n: the normal number
 *
 * Return: how often with the module parameter, at least once.
 */
u32 dt_scaled(u32 n)
{
	return max_t(u64, (u64)n * dt_scale / 100, 1);
}

/**
 * dt_gen_params - the designs, as parameters of cases
 * @prev: the last one, or NULL
 * @desc: where to write the name
 *
 * Return: the next one, or NULL.
 */
const void *dt_gen_params(const void *prev, char *desc)
{
	unsigned int next = 0;

	if (prev)
		next = (const struct dt_design *)prev - dt_designs +
		       max(dt_stride, 1u);
	if (next >= dt_n_designs)
		return NULL;
	strscpy(desc, dt_designs[next].name, KUNIT_PARAM_DESC_SIZE);
	return &dt_designs[next];
}

static void dt_add_designs(void)
{
	static const char *const puts[] = { "worker", "irq", "submit",
					    "auto" };
	static const char *const kinds[] = { "system", "wq", "highpri",
					     "kthread", "follow" };
	struct dt_design *d = dt_designs;
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(puts) != DEPQ_PUT_COUNT);
	BUILD_BUG_ON(ARRAY_SIZE(kinds) != DT_KINDS);
	BUILD_BUG_ON(DT_KINDS + 1 != DEPQ_WORKER_COUNT);
	d->backend = &dt_drm;
	strscpy(d->name, "drm_sched", sizeof(d->name));
	for (i = 0; i < DT_COMBINATIONS; i++) {
		d++;
		d->backend = &dt_depq;
		d->shared = i & 2;
		d->put = i / 4 % DEPQ_PUT_COUNT;
		d->kind = i / 4 / DEPQ_PUT_COUNT;
		d->flags = i & 1 ? DEPQ_QUEUE_BYPASS : 0;
		/* All that a driver can allow, or nothing. */
		if (d->flags && d->put == DEPQ_PUT_AUTO)
			d->flags |= DEPQ_QUEUE_SOFTIRQ | DEPQ_QUEUE_PUT_IRQ;
		snprintf(d->name, sizeof(d->name), "depq-%s-%s-%s%s",
			 kinds[d->kind], d->shared ? "shared" : "own",
			 puts[d->put], d->flags ? "-bypass" : "");
	}
	BUILD_BUG_ON(DT_KINDS < DEPQ_PUT_COUNT);
	for (i = 0; i < DT_KINDS; i++) {
		d++;
		d->backend = &dt_depq;
		d->arbiter = true;
		d->shared = true;
		d->kind = i;
		d->put = i % DEPQ_PUT_COUNT;
		d->flags = DEPQ_QUEUE_BYPASS;
		if (d->put == DEPQ_PUT_AUTO)
			d->flags |= DEPQ_QUEUE_SOFTIRQ;
		snprintf(d->name, sizeof(d->name), "depq-%s-arbiter-%s-bypass",
			 kinds[i], puts[d->put]);
	}
	dt_n_designs = ARRAY_SIZE(dt_designs);
}

static int dt_run(char *words)
{
	const char *filter = NULL;
	char heading[80];
	char *word;
	u64 seed;

	dt_seed = get_random_u32();
	while ((word = strsep(&words, " \t\n"))) {
		if (!*word)
			continue;
		if (!kstrtou64(word, 0, &seed))
			dt_seed = seed;
		else
			filter = word;
	}
	snprintf(heading, sizeof(heading), "seed %llu scale %u%% stride %u cpus %u",
		 dt_seed, dt_scale, dt_stride, num_online_cpus());
	return tap_run(dt_suites, ARRAY_SIZE(dt_suites), filter, heading);
}

static ssize_t dt_run_write(struct file *file, const char __user *buf,
			    size_t count, loff_t *pos)
{
	char words[128];
	int ret;

	if (count >= sizeof(words))
		return -EINVAL;
	if (copy_from_user(words, buf, count))
		return -EFAULT;
	words[count] = 0;
	ret = mutex_lock_interruptible(&dt_mutex);
	if (ret)
		return ret;
	ret = dt_run(words);
	mutex_unlock(&dt_mutex);
	return ret ?: count;
}

static const struct file_operations dt_run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = dt_run_write,
};

static ssize_t dt_results_read(struct file *file, char __user *buf,
			       size_t count, loff_t *pos)
{
	struct tap_results results;
	ssize_t ret;

	ret = mutex_lock_interruptible(&dt_mutex);
	if (ret)
		return ret;
	results = tap_results();
	ret = simple_read_from_buffer(buf, count, pos, results.text,
				      results.length);
	mutex_unlock(&dt_mutex);
	return ret;
}

static const struct file_operations dt_results_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = dt_results_read,
	.llseek = default_llseek,
};

static int __init dt_module_init(void)
{
	int ret = tap_init();

	if (ret)
		return ret;
	dt_add_designs();
	dt_dir = debugfs_create_dir("depq_test", NULL);
	debugfs_create_file("run", 0200, dt_dir, NULL, &dt_run_fops);
	debugfs_create_file("results", 0400, dt_dir, NULL, &dt_results_fops);
	return 0;
}

static void __exit dt_module_exit(void)
{
	debugfs_remove(dt_dir);
	/* Fences, whose operations are ours, are freed after a grace period. */
	rcu_barrier();
	tap_exit();
}

module_init(dt_module_init);
module_exit(dt_module_exit);
MODULE_DESCRIPTION("Tests of depq and of drm_sched beside it");
MODULE_LICENSE("GPL");
