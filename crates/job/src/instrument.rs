//! The instruments there are.

/// What an instrument is, for lists and help. The agent has the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instrument {
    /// Its name in an experiment file.
    pub name: &'static str,
    /// The metrics it gives, with units: `context_switches`, `run_time ns`.
    pub metrics: &'static [&'static str],
    /// Where the numbers come from.
    pub source: &'static str,
    /// What it needs.
    pub needs: &'static str,
}

/// Every instrument, in alphabetical order.
pub const INSTRUMENTS: &[Instrument] = &[
    Instrument {
        name: "cpu-idle",
        metrics: &["cpuN_non_idle ns", "cpus_non_idle ns", "cpus_used"],
        source: "trace event power/cpu_idle",
        needs: "tracefs; root",
    },
    Instrument {
        name: "energy",
        metrics: &["energy_package J", "energy_cores J", "energy_dram J"],
        source: "the perf PMU 'power', else /sys/class/powercap",
        needs: "a CPU with RAPL; root",
    },
    Instrument {
        name: "guest-instructions",
        metrics: &["guest_instructions", "all_idle_periods"],
        source: "the time-stamp counter without the times in which all CPUs sleep",
        needs: "target exact",
    },
    Instrument {
        name: "kernel-events",
        metrics: &["none: what it records is for `assize trace`"],
        source: "trace events sched, depq, simgpu, gpu_scheduler, task/task_newtask",
        needs: "tracefs; root",
    },
    Instrument {
        name: "perf-hardware",
        metrics: &["cycles", "instructions"],
        source: "perf_event_open, hardware events, system-wide",
        needs: "a CPU with a PMU; perf_event_paranoid <= 0 or root",
    },
    Instrument {
        name: "perf-software",
        metrics: &["context_switches", "migrations", "page_faults"],
        source: "perf_event_open, software events, system-wide",
        needs: "perf_event_paranoid <= 0 or root",
    },
    Instrument {
        name: "perf-workload",
        metrics: &[
            "workload_context_switches",
            "workload_migrations",
            "workload_page_faults",
            "workload_task_clock ns",
        ],
        source: "perf_event_open, software events of the workload",
        needs: "perf_event_paranoid <= 0 or root",
    },
    Instrument {
        name: "proc-stat",
        metrics: &[
            "cpu_user s",
            "cpu_system s",
            "cpu_idle s",
            "cpu_irq s",
            "cpu_steal s",
            "interrupts",
            "switches",
            "forks",
        ],
        source: "/proc/stat, difference over the run",
        needs: "nothing",
    },
    Instrument {
        name: "schedstat",
        metrics: &["run_time ns", "run_delay ns", "timeslices"],
        source: "/proc/schedstat, difference over the run, all CPUs",
        needs: "a kernel with CONFIG_SCHEDSTATS",
    },
    Instrument {
        name: "threads",
        metrics: &[
            "voluntary_switches",
            "involuntary_switches",
            "voluntary_switches:THREAD",
            "involuntary_switches:THREAD",
        ],
        source: "taskstats of threads that ended, /proc/PID/task/TID/status of the others",
        needs: "root and CONFIG_TASKSTATS, else threads that end early are missed",
    },
    Instrument {
        name: "timer-list",
        metrics: &["busy_time ns"],
        source: "/proc/timer_list",
        needs: "root; a kernel with NO_HZ",
    },
    Instrument {
        name: "wakeup",
        metrics: &[
            "wakeup_latency ns (histogram)",
            "wakeup_latency:THREAD ns (histogram)",
        ],
        source: "trace events sched/sched_wakeup, sched_wakeup_new, sched_switch",
        needs: "tracefs; root",
    },
];
