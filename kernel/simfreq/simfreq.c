// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simfreq
 *
 * A cpufreq driver for CPUs whose frequency cannot be set, with frequencies
 * declared at load time. Governors choose among them, and the
 * event power/cpu_frequency reports their choices.
 *
 *	insmod simfreq.ko frequency_khz=600000,1200000,1800000 \
 *		power_uw=60000,180000,450000 domain=4
 *
 * The frequency does not change how fast a CPU is. This has two consequences.
 *
 * - Load does not fall when the frequency rises, so a governor that looks for
 *   the frequency at which a load fits finds the lowest or the highest.
 * - There are no transition notifications. Listeners would believe that
 *   the CPU has become faster: if the time-stamp counter is not known to
 *   be constant, the kernel would scale its clock, or give it up. The counts of
 *   cpufreq-stats depend on the same notification, and do not change.
 *
 * If there are listeners, the kernel lets no governor change the frequency from
 * the scheduler itself (fast switching). Then schedutil uses a thread.
 *
 * State: the frequency of a policy is what policy->cur holds, written under
 * policy->rwsem, or by the governor that may switch fast.
 */

#include <linux/cpufreq.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <trace/events/power.h>

#define SIMFREQ_STEPS		16
#define SIMFREQ_KHZ_MAX		100000000
/* The transition latency given to governors; a change actually takes no time. */
#define SIMFREQ_TRANSITION_NS	1000

static unsigned int frequency_khz[SIMFREQ_STEPS];
static unsigned int n_frequencies;
module_param_array(frequency_khz, uint, &n_frequencies, 0444);
MODULE_PARM_DESC(frequency_khz, "frequencies in kHz, ascending; at most 16");

static unsigned long power_uw[SIMFREQ_STEPS];
static unsigned int n_powers;
module_param_array(power_uw, ulong, &n_powers, 0444);
MODULE_PARM_DESC(power_uw,
		 "power of a busy CPU at each frequency, in uW; only declared");

static unsigned int domain = 1;
module_param(domain, uint, 0444);
MODULE_PARM_DESC(domain,
		 "CPUs that have one frequency together; 0 for all (default 1)");

static unsigned int rate_us = 1000;
module_param(rate_us, uint, 0444);
MODULE_PARM_DESC(rate_us,
		 "least time between two changes by schedutil, in us (default 1000)");

static struct cpufreq_frequency_table simfreq_table[SIMFREQ_STEPS + 1];

/* Returns the lowest sufficient frequency within the limits of the policy. */
static unsigned int simfreq_resolve(struct cpufreq_policy *policy,
				    unsigned int khz)
{
	unsigned int found = simfreq_table[0].frequency;
	unsigned int i;

	for (i = 0; i < n_frequencies; i++) {
		if (simfreq_table[i].frequency > policy->max)
			break;
		found = simfreq_table[i].frequency;
		if (found >= khz)
			break;
	}
	return found;
}

/*
 * Context: policy->rwsem held for writing. Replaces target_index, after
 * which the core would notify. The core has rounded the request to a frequency in
 * the table, according to the relation.
 */
static int simfreq_target(struct cpufreq_policy *policy, unsigned int khz,
			  unsigned int relation)
{
	unsigned int cpu;

	policy->cur = simfreq_resolve(policy, khz);
	for_each_cpu(cpu, policy->cpus)
		trace_cpu_frequency(policy->cur, cpu);
	return 0;
}

/* Context: Scheduler, with a runqueue locked. The core sets policy->cur. */
static unsigned int simfreq_fast_switch(struct cpufreq_policy *policy,
					unsigned int khz)
{
	return simfreq_resolve(policy, khz);
}

static int simfreq_policy_init(struct cpufreq_policy *policy)
{
	unsigned int size = domain ? domain : nr_cpu_ids;
	unsigned int first = policy->cpu - policy->cpu % size;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (cpu >= first && cpu - first < size)
			cpumask_set_cpu(cpu, policy->cpus);
	}
	policy->freq_table = simfreq_table;
	policy->cpuinfo.transition_latency = SIMFREQ_TRANSITION_NS;
	policy->transition_delay_us = rate_us;
	policy->fast_switch_possible = true;
	policy->dvfs_possible_from_any_cpu = true;
	policy->cur = simfreq_table[n_frequencies - 1].frequency;
	return 0;
}

static struct cpufreq_driver simfreq_driver = {
	.name = "simfreq",
	.init = simfreq_policy_init,
	.verify = cpufreq_generic_frequency_table_verify,
	.target = simfreq_target,
	.fast_switch = simfreq_fast_switch,
};

static const char * __init simfreq_mistake(void)
{
	unsigned int i;

	if (!n_frequencies)
		return "frequency_khz: none is given";
	if (n_powers != n_frequencies)
		return "frequency_khz, power_uw: not equally long";
	for (i = 0; i < n_frequencies; i++) {
		if (!frequency_khz[i] || frequency_khz[i] > SIMFREQ_KHZ_MAX)
			return "frequency_khz: one is not between 1 and 100000000";
		if (i && frequency_khz[i] <= frequency_khz[i - 1])
			return "frequency_khz: does not ascend";
		if (i && power_uw[i] < power_uw[i - 1])
			return "power_uw: less at a higher frequency";
	}
	return NULL;
}

static int __init simfreq_init(void)
{
	const char *mistake = simfreq_mistake();
	unsigned int i;
	int ret;

	if (mistake) {
		pr_err("simfreq: %s\n", mistake);
		return -EINVAL;
	}
	for (i = 0; i < n_frequencies; i++) {
		simfreq_table[i].driver_data = i;
		simfreq_table[i].frequency = frequency_khz[i];
	}
	simfreq_table[n_frequencies].frequency = CPUFREQ_TABLE_END;
	ret = cpufreq_register_driver(&simfreq_driver);
	if (ret == -EEXIST)
		pr_err("simfreq: another driver has the frequencies of this machine\n");
	return ret;
}

static void __exit simfreq_exit(void)
{
	cpufreq_unregister_driver(&simfreq_driver);
}

module_init(simfreq_init);
module_exit(simfreq_exit);

MODULE_DESCRIPTION("Frequencies that are declared, for CPUs that have one");
MODULE_LICENSE("GPL");
