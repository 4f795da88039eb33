//! The list of instruments. Their metrics are in [`crate::METRICS`].

/// The description of an instrument, for lists and help. The agent has the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instrument {
    /// Its name in an experiment file.
    pub name: &'static str,
    /// The source of its data.
    pub source: &'static str,
    /// Its requirements.
    pub needs: &'static str,
}

/// Every instrument, in alphabetical order.
pub const INSTRUMENTS: &[Instrument] = &[
    Instrument {
        name: "cpu-idle",
        source: "trace event power/cpu_idle",
        needs: "tracefs; root",
    },
    Instrument {
        name: "cpu-residency",
        source: "trace events power/cpu_idle and power/cpu_frequency, /sys/.../cpuidle",
        needs: "tracefs; root",
    },
    Instrument {
        name: "energy",
        source: "the perf PMU 'power', else /sys/class/powercap",
        needs: "a CPU with RAPL; root",
    },
    Instrument {
        name: "gaps",
        source: "a thread on each CPU that reads the time-stamp counter all the time",
        needs: "x86 with an invariant time-stamp counter",
    },
    Instrument {
        name: "guest-instructions",
        source: "the time-stamp counter, less the times in which all CPUs are halted",
        needs: "target exact",
    },
    Instrument {
        name: "hwlat",
        source: "the kernel's tracer hwlat: a loop that reads the clock with interrupts off",
        needs: "a kernel with CONFIG_HWLAT_TRACER (debian:6.12-rt has it); tracefs; root",
    },
    Instrument {
        name: "kernel-events",
        source: "trace events sched, depq, simgpu, gpu_scheduler, task/task_newtask",
        needs: "tracefs; root",
    },
    Instrument {
        name: "osnoise",
        source: "the kernel's tracer osnoise: a loop that reads the clock at normal priority",
        needs: "a kernel with CONFIG_OSNOISE_TRACER (debian:6.12-rt has it); tracefs; root",
    },
    Instrument {
        name: "perf-hardware",
        source: "perf_event_open, hardware events, system-wide",
        needs: "a CPU with a PMU; perf_event_paranoid <= 0 or root",
    },
    Instrument {
        name: "perf-software",
        source: "perf_event_open, software events, system-wide",
        needs: "perf_event_paranoid <= 0 or root",
    },
    Instrument {
        name: "perf-workload",
        source: "perf_event_open, software events of the workload",
        needs: "perf_event_paranoid <= 0 or root",
    },
    Instrument {
        name: "planted-stalls",
        source: "the module simstall, which plants the stalls that an experiment declares",
        needs: "target exact; planted stalls in the experiment",
    },
    Instrument {
        name: "proc-stat",
        source: "/proc/stat, difference over the run",
        needs: "nothing",
    },
    Instrument {
        name: "schedstat",
        source: "/proc/schedstat, difference over the run, all CPUs",
        needs: "a kernel with CONFIG_SCHEDSTATS",
    },
    Instrument {
        name: "threads",
        source: "taskstats of threads that ended, /proc/PID/task/TID/status of the others",
        needs: "root and CONFIG_TASKSTATS, else threads that end early are missed",
    },
    Instrument {
        name: "timer-list",
        source: "/proc/timer_list",
        needs: "root; a kernel with NO_HZ",
    },
    Instrument {
        name: "timerlat",
        source: "the kernel's tracer timerlat: a timer that wakes a thread of high priority",
        needs: "a kernel with CONFIG_TIMERLAT_TRACER (debian:6.12-rt has it); tracefs; root",
    },
    Instrument {
        name: "wakeup",
        source: "trace events sched/sched_wakeup, sched_wakeup_new, sched_switch",
        needs: "tracefs; root",
    },
];
