// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: simidle
 *
 * A cpuidle driver for CPUs without idle states; its states are
 * declared at load time. Governors choose among them as among
 * hardware states, by target residency and exit latency.
 *
 *	insmod simidle.ko names=shallow,deep residency_ns=2000,2000000 \
 *		exit_ns=1000,400000 power_uw=300000,5000
 *
 * The lists have the same length, one element for each state, the
 * shallowest first; residencies and exit latencies must not fall from one state to
 * the next, and powers must not rise. All CPUs have these states.
 *
 * Every state is entered by a halt (HLT on x86), which is the same for every
 * state. Only the exit differs. The CPU stays busy until
 * the exit latency has passed, with interrupts off, so that whoever was woken
 * runs that much later. The interrupt that ends the state has been handled by
 * then, since a CPU that halts with interrupts off would not wake; hardware
 * has the latency before the interrupt. With delay=0 there is none.
 *
 * On a machine whose clock counts instructions, entering and leaving a state
 * costs some 80 instructions plus the latency, which is exceeded by at most
 * %SIMIDLE_NOPS instructions and one clock reading.
 *
 * The powers are not used here. Like the rest they can be read back, in
 * /sys/devices/system/cpu/cpu0/cpuidle/state0/power in mW, rounded up.
 */

#include <linux/cpuidle.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched/idle.h>
#include <linux/string.h>
#include <linux/timex.h>

#include <asm/tsc.h>

#define SIMIDLE_STATES	8
/* The longest residency or latency: an hour. */
#define SIMIDLE_NS_MAX	3600000000000ULL
/* Instructions between two clock readings. */
#define SIMIDLE_NOPS	256

static char *names[SIMIDLE_STATES];
static unsigned int n_names;
module_param_array(names, charp, &n_names, 0444);
MODULE_PARM_DESC(names, "names of the states, the shallowest first; at most 8");

static unsigned long residency_ns[SIMIDLE_STATES];
static unsigned int n_residencies;
module_param_array(residency_ns, ulong, &n_residencies, 0444);
MODULE_PARM_DESC(residency_ns, "target residency of each state, in ns");

static unsigned long exit_ns[SIMIDLE_STATES];
static unsigned int n_exits;
module_param_array(exit_ns, ulong, &n_exits, 0444);
MODULE_PARM_DESC(exit_ns, "exit latency of each state, in ns");

static unsigned long power_uw[SIMIDLE_STATES];
static unsigned int n_powers;
module_param_array(power_uw, ulong, &n_powers, 0444);
MODULE_PARM_DESC(power_uw, "power of a CPU in each state, in uW; only declared");

static bool delay = true;
module_param(delay, bool, 0444);
MODULE_PARM_DESC(delay, "spend the exit latency (default 1)");

/* Cycles of the time-stamp counter that leaving each state takes. */
static u64 simidle_cycles[SIMIDLE_STATES] __ro_after_init;

/*
 * Spins for some cycles. Between two clock readings there are straight-line NOPs,
 * since an emulator executes these many times faster than the turns of a loop.
 * There is no PAUSE: an emulator may count one as much longer than an
 * instruction, and it is far more work.
 */
static __always_inline void simidle_spend(u64 cycles)
{
	u64 begin = get_cycles();

	while (get_cycles() - begin < cycles)
		asm volatile(".rept %c0\n\tnop\n\t.endr" : : "i" (SIMIDLE_NOPS));
}

/*
 * Context: Idle task with interrupts off, and RCU does not watch: nothing here
 * may be traced or take a lock.
 */
static __cpuidle int simidle_enter(struct cpuidle_device *dev,
				   struct cpuidle_driver *drv, int index)
{
	if (current_clr_polling_and_test())
		return index;
	/* Halts with interrupts on, and returns after the interrupt. */
	raw_safe_halt();
	raw_local_irq_disable();
	simidle_spend(simidle_cycles[index]);
	return index;
}

static struct cpuidle_driver simidle_driver = {
	.name = "simidle",
	.owner = THIS_MODULE,
};

/* Whether a list of values is non-decreasing, or with @falls non-increasing. */
static bool __init simidle_in_order(const unsigned long *values, bool falls)
{
	unsigned int i;

	for (i = 1; i < n_names; i++) {
		if (falls ? values[i] > values[i - 1] : values[i] < values[i - 1])
			return false;
	}
	return true;
}

static const char * __init simidle_mistake(void)
{
	unsigned int i;

	if (!n_names)
		return "names: no state is given";
	if (n_residencies != n_names || n_exits != n_names || n_powers != n_names)
		return "names, residency_ns, exit_ns, power_uw: not equally long";
	for (i = 0; i < n_names; i++) {
		size_t length = strlen(names[i]);

		if (!length || length >= CPUIDLE_NAME_LEN)
			return "names: one is empty or has more than 15 characters";
		if (residency_ns[i] > SIMIDLE_NS_MAX || exit_ns[i] > SIMIDLE_NS_MAX)
			return "residency_ns, exit_ns: more than an hour";
		if (power_uw[i] / 1000 >= INT_MAX)
			return "power_uw: too much";
	}
	if (!simidle_in_order(residency_ns, false))
		return "residency_ns: a deeper state has a shorter one";
	if (!simidle_in_order(exit_ns, false))
		return "exit_ns: a deeper state has a shorter one";
	if (!simidle_in_order(power_uw, true))
		return "power_uw: a deeper state has a higher one";
	return NULL;
}

static void __init simidle_describe(struct cpuidle_state *state, unsigned int i)
{
	strscpy(state->name, names[i], sizeof(state->name));
	strscpy(state->desc, "declared, not of hardware", sizeof(state->desc));
	state->target_residency_ns = residency_ns[i];
	state->exit_latency_ns = exit_ns[i];
	state->power_usage = DIV_ROUND_UP(power_uw[i], 1000);
	state->enter = simidle_enter;
	if (delay)
		simidle_cycles[i] = mul_u64_u32_div(exit_ns[i], tsc_khz, 1000000);
}

static int __init simidle_init(void)
{
	const char *mistake = simidle_mistake();
	unsigned int i;
	int ret;

	if (mistake) {
		pr_err("simidle: %s\n", mistake);
		return -EINVAL;
	}
	for (i = 0; i < n_names; i++)
		simidle_describe(&simidle_driver.states[i], i);
	simidle_driver.state_count = n_names;
	ret = cpuidle_register(&simidle_driver, NULL);
	if (ret == -EBUSY)
		pr_err("simidle: another driver has the idle states of this machine\n");
	return ret;
}

static void __exit simidle_exit(void)
{
	cpuidle_unregister(&simidle_driver);
}

module_init(simidle_init);
module_exit(simidle_exit);

MODULE_DESCRIPTION("Idle states that are declared, for CPUs that have none");
MODULE_LICENSE("GPL");
