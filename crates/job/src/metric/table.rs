//! The table of all metrics, and what provides each.

use super::MetricForm::{Distribution, Events, Number};
use super::MetricSource::{Instrument, Workloads};
use super::{Metric, MetricForm, MetricSource};
use crate::PLANTED_STALLS;

/// The workloads that submit jobs to simgpu.
pub(super) const SUBMITTING: &[&str] = &[
    "compositor",
    "crowd",
    "deep",
    "frames",
    "replay",
    "storm",
    "stream",
    "sync",
    "threads",
];

/// The workloads that end when their work is done, rather than after a time.
pub(super) const WORKING: &[&str] = &[
    "command",
    "deep",
    "drawing",
    "hackbench",
    "memory-routine",
    "ping-pong",
    "replay",
    "storm",
    "stream",
    "sync",
    "threads",
];

/// The workload that calls a memory routine.
const ROUTINE: &str = "memory-routine";

/// The workload that copies frames.
const STREAMING: &str = "frames-stream";

/// The instrument that watches CPUs.
const GAPS: &str = "gaps";
/// The kernel's tracers.
const HWLAT: &str = "hwlat";
const OSNOISE: &str = "osnoise";
const TIMERLAT: &str = "timerlat";

/// The metrics of workloads, then those of instruments in alphabetical order of the
/// instruments.
pub const METRICS: &[Metric] = &[
    of(Workloads(WORKING), "elapsed", "ns", Number),
    of(Workloads(&["command"]), "command_cpu_time", "ns", Number).to_within(1000.0),
    of(Workloads(&["command"]), "command_user_time", "ns", Number).to_within(1000.0),
    of(Workloads(&["command"]), "command_system_time", "ns", Number).to_within(1000.0),
    of(Workloads(&["cyclictest"]), "latency", "ns", Distribution),
    // Only with several threads.
    of(
        Workloads(&["cyclictest"]),
        "threadN_latency_max",
        "ns",
        Number,
    ),
    of(Workloads(&["hackbench"]), "reported_time", "s", Number).to_within(0.001),
    of(Workloads(&["audio"]), "underruns", "", Events),
    of(Workloads(&["audio"]), "silence", "ns", Number).to_within(1000.0),
    of(Workloads(&["audio"]), "player_cpu_time", "ns", Number).to_within(1000.0),
    of(Workloads(&["browser"]), "render_time", "ns", Distribution),
    of(Workloads(&["browser"]), "render_time_mean", "ns", Number),
    of(Workloads(&["cpu-score"]), "score", "/s", Number),
    of(Workloads(&["cpu-score"]), "score_least", "/s", Number),
    of(Workloads(&["cpu-score"]), "score_most", "/s", Number),
    of(Workloads(&[ROUTINE]), "batch_time", "ns", Distribution),
    of(Workloads(&[ROUTINE]), "call_time", "ns", Number),
    of(Workloads(&[ROUTINE]), "empty_call_time", "ns", Number),
    of(Workloads(&[ROUTINE]), "routine_bandwidth", "MB/s", Number),
    // Only with movsl-rule.
    of(Workloads(&[ROUTINE]), "alternative_calls", "", Number),
    of(Workloads(&[ROUTINE]), "results_wrong", "", Number),
    of(Workloads(&["hogs"]), "turns", "", Number),
    of(Workloads(&["hogs"]), "cpu_time", "ns", Number),
    of(
        Workloads(&["periodic"]),
        "LOOP_wakeup_latency",
        "ns",
        Distribution,
    ),
    of(
        Workloads(&["periodic"]),
        "LOOP_response",
        "ns",
        Distribution,
    ),
    of(Workloads(&["periodic"]), "LOOP_overruns", "", Number),
    of(Workloads(TRIPS), "round_trip", "ns", Distribution),
    // The receiver derives it from `round_trip`.
    of(Workloads(TRIPS), "jitter", "ns", Number),
    of(
        Workloads(&["frames", STREAMING]),
        "frame_time",
        "ns",
        Distribution,
    ),
    of(Workloads(&[STREAMING]), "frame_time_mean", "ns", Number),
    of(Workloads(FRAME_COUNTS), "frames", "", Number),
    // Only with a period.
    of(Workloads(&[STREAMING]), "frames_late", "", Events),
    of(Workloads(&[STREAMING]), "bandwidth", "MB/s", Number),
    of(
        Workloads(&["drawing"]),
        "operation_time",
        "ns",
        Distribution,
    ),
    of(Workloads(&["drawing"]), "requests", "", Number),
    of(Workloads(&["drawing"]), "request_bytes", "B", Number),
    of(
        Workloads(&["drawing", STREAMING]),
        "pixels_wrong",
        "",
        Number,
    ),
    of(
        Workloads(&["compositor"]),
        "frame_latency",
        "ns",
        Distribution,
    ),
    of(Workloads(&["compositor"]), "end_to_end", "ns", Distribution),
    of(Workloads(&["compositor"]), "client_frames", "", Number),
    of(Workloads(FRAMES), "frames_missed", "", Events),
    of(Workloads(&["crowd"]), "service_min", "", Number),
    of(Workloads(&["crowd"]), "service_max", "", Number),
    of(Workloads(&["crowd"]), "service_ratio", "", Number),
    of(Workloads(&["crowd"]), "engine_time_ratio", "", Number),
    of(Workloads(&["replay"]), "round_time", "ns", Distribution),
    of(Workloads(SUBMITTING), "submit_to_run", "ns", Distribution),
    of(
        Workloads(SUBMITTING),
        "submit_to_return",
        "ns",
        Distribution,
    ),
    of(Workloads(SUBMITTING), "ioctl", "ns", Distribution),
    of(Workloads(SUBMITTING), "done_to_wake", "ns", Distribution),
    of(Workloads(SUBMITTING), "jobs", "", Number),
    of(Workloads(SUBMITTING), "jobs_bypassed", "", Number),
    of(Workloads(SUBMITTING), "worker_raises", "", Number),
    of(Workloads(SUBMITTING), "worker_lowers", "", Number),
    of(Workloads(SUBMITTING), "queue_memory", "B", Number),
    of(Workloads(SUBMITTING), "job_memory", "B", Number),
    of(Workloads(SUBMITTING), "fence_memory", "B", Number),
    of(Instrument("cpu-idle"), "cpuN_non_idle", "ns", Number),
    of(Instrument("cpu-idle"), "cpus_non_idle", "ns", Number),
    of(Instrument("cpu-idle"), "cpus_used", "", Number),
    of(
        Instrument("cpu-residency"),
        "cpuN_non_idle_share",
        "%",
        Number,
    ),
    of(
        Instrument("cpu-residency"),
        "cpuN_wakeups_per_second",
        "1/s",
        Number,
    ),
    of(
        Instrument("cpu-residency"),
        "wakeups_per_second",
        "1/s",
        Number,
    ),
    of(Instrument("cpu-residency"), "cpus_asleep", "CPUs", Number),
    of(
        Instrument("cpu-residency"),
        "package_idle_share",
        "%",
        Number,
    ),
    of(
        Instrument("cpu-residency"),
        "package_deepest_share",
        "%",
        Number,
    ),
    of(
        Instrument("cpu-residency"),
        "state_time:STATE",
        "ns",
        Number,
    ),
    of(Instrument("cpu-residency"), "state_usage:STATE", "", Number),
    of(Instrument("cpu-residency"), "state_above:STATE", "", Number),
    of(Instrument("cpu-residency"), "state_below:STATE", "", Number),
    of(
        Instrument("cpu-residency"),
        "state_rejected:STATE",
        "",
        Number,
    ),
    of(
        Instrument("cpu-residency"),
        "frequency_time:FREQUENCY",
        "ns",
        Number,
    ),
    of(Instrument("cpu-residency"), "frequency_changes", "", Number),
    of(Instrument("cpu-residency"), "mean_frequency", "MHz", Number),
    of(Instrument("cpu-residency"), "modelled_energy", "mJ", Number),
    of(Instrument("cpu-residency"), "modelled_power", "mW", Number),
    of(Instrument("energy"), "energy_package", "J", Number),
    of(Instrument("energy"), "energy_cores", "J", Number),
    of(Instrument("energy"), "energy_dram", "J", Number),
    of(Instrument(GAPS), "gaps", "", Events),
    of(Instrument(GAPS), "gaps_switch", "", Events),
    of(Instrument(GAPS), "gaps_interrupt", "", Events),
    of(Instrument(GAPS), "gaps_softirq", "", Events),
    of(Instrument(GAPS), "gaps_steal", "", Events),
    of(Instrument(GAPS), "gaps_smi", "", Events),
    of(Instrument(GAPS), "gaps_unclear", "", Events),
    of(Instrument(GAPS), "gaps_unexplained", "", Events),
    of(Instrument(GAPS), "gaps_unexplained_at_rest", "", Events),
    of(Instrument(GAPS), "gap", "ns", Distribution),
    of(Instrument(GAPS), "gaps_observed", "ns", Number),
    of(Instrument(GAPS), "gaps_blind_share", "%", Number),
    of(Instrument(GAPS), "gaps_per_minute", "1/min", Number),
    of(
        Instrument(GAPS),
        "gaps_unexplained_per_minute",
        "1/min",
        Number,
    ),
    of(Instrument(GAPS), "gaps_loop", "ns", Number),
    of(Instrument(GAPS), "gaps_loop_max", "ns", Number),
    of(Instrument(GAPS), "gaps_reading", "ns", Number),
    of(
        Instrument("guest-instructions"),
        "guest_instructions",
        "",
        Number,
    ),
    of(
        Instrument("guest-instructions"),
        "all_idle_periods",
        "",
        Number,
    ),
    of(Instrument(HWLAT), "hwlat", "", Events),
    of(Instrument(HWLAT), "hwlat_nmi", "", Events),
    of(Instrument(HWLAT), "hwlat_latency", "ns", Distribution).to_within(1000.0),
    of(Instrument(HWLAT), "hwlat_windows", "", Number),
    of(Instrument(HWLAT), "hwlat_observed", "ns", Number).to_within(1000.0),
    of(Instrument(HWLAT), "hwlat_watched_share", "%", Number),
    of(Instrument(OSNOISE), "osnoise", "", Events),
    of(Instrument(OSNOISE), "osnoise_hardware", "", Events),
    of(Instrument(OSNOISE), "osnoise_nmi", "", Events),
    of(Instrument(OSNOISE), "osnoise_irq", "", Events),
    of(Instrument(OSNOISE), "osnoise_softirq", "", Events),
    of(Instrument(OSNOISE), "osnoise_thread", "", Events),
    of(Instrument(OSNOISE), "osnoise_unclear", "", Events),
    of(Instrument(OSNOISE), "osnoise_noise", "ns", Distribution),
    of(Instrument(OSNOISE), "osnoise_observed", "ns", Number).to_within(1000.0),
    of(Instrument(OSNOISE), "osnoise_watched_share", "%", Number),
    of(Instrument(OSNOISE), "osnoise_share", "%", Number),
    of(Instrument(OSNOISE), "osnoise_time_hardware", "ns", Number),
    of(Instrument(OSNOISE), "osnoise_time_nmi", "ns", Number),
    of(Instrument(OSNOISE), "osnoise_time_irq", "ns", Number),
    of(Instrument(OSNOISE), "osnoise_time_softirq", "ns", Number),
    of(Instrument(OSNOISE), "osnoise_time_thread", "ns", Number),
    of(Instrument("perf-hardware"), "cycles", "", Number),
    of(Instrument("perf-hardware"), "instructions", "", Number),
    of(Instrument("perf-software"), "context_switches", "", Number),
    of(Instrument("perf-software"), "migrations", "", Number),
    of(Instrument("perf-software"), "page_faults", "", Number),
    of(
        Instrument("perf-workload"),
        "workload_context_switches",
        "",
        Number,
    ),
    of(
        Instrument("perf-workload"),
        "workload_migrations",
        "",
        Number,
    ),
    of(
        Instrument("perf-workload"),
        "workload_page_faults",
        "",
        Number,
    ),
    of(
        Instrument("perf-workload"),
        "workload_task_clock",
        "ns",
        Number,
    ),
    of(Instrument(PLANTED_STALLS), "planted_stalls", "", Events),
    of(
        Instrument(PLANTED_STALLS),
        "planted_stall",
        "ns",
        Distribution,
    ),
    of(Instrument("proc-stat"), "cpu_user", "s", Number).to_within(TICK_S),
    of(Instrument("proc-stat"), "cpu_system", "s", Number).to_within(TICK_S),
    of(Instrument("proc-stat"), "cpu_idle", "s", Number).to_within(TICK_S),
    of(Instrument("proc-stat"), "cpu_irq", "s", Number).to_within(TICK_S),
    of(Instrument("proc-stat"), "cpu_steal", "s", Number).to_within(TICK_S),
    of(Instrument("proc-stat"), "interrupts", "", Number),
    of(Instrument("proc-stat"), "switches", "", Number),
    of(Instrument("proc-stat"), "forks", "", Number),
    of(Instrument("schedstat"), "run_time", "ns", Number),
    of(Instrument("schedstat"), "run_delay", "ns", Number),
    of(Instrument("schedstat"), "timeslices", "", Number),
    of(Instrument("threads"), "voluntary_switches", "", Number),
    of(Instrument("threads"), "involuntary_switches", "", Number),
    of(
        Instrument("threads"),
        "voluntary_switches:THREAD",
        "",
        Number,
    ),
    of(
        Instrument("threads"),
        "involuntary_switches:THREAD",
        "",
        Number,
    ),
    of(Instrument("timer-list"), "busy_time", "ns", Number),
    of(Instrument(TIMERLAT), "timerlat_late", "", Events),
    of(Instrument(TIMERLAT), "timerlat_late_irq", "", Events),
    of(
        Instrument(TIMERLAT),
        "timerlat_irq_latency",
        "ns",
        Distribution,
    ),
    of(
        Instrument(TIMERLAT),
        "timerlat_thread_latency",
        "ns",
        Distribution,
    ),
    of(Instrument(TIMERLAT), "timerlat_observed", "ns", Number),
    of(Instrument(TIMERLAT), "timerlat_watched_share", "%", Number),
    of(Instrument("wakeup"), "wakeup_latency", "ns", Distribution),
    of(
        Instrument("wakeup"),
        "wakeup_latency:THREAD",
        "ns",
        Distribution,
    ),
];

const TRIPS: &[&str] = &["ping-pong", "stream"];
const FRAMES: &[&str] = &["frames", "compositor", "browser"];
/// The workloads that count frames.
const FRAME_COUNTS: &[&str] = &["frames", "compositor", "browser", STREAMING];
/// The unit of times in `/proc/stat`, in seconds, on all architectures of Debian's kernels.
const TICK_S: f64 = 0.01;

const fn of(
    giver: MetricSource,
    name: &'static str,
    unit: &'static str,
    form: MetricForm,
) -> Metric {
    Metric {
        name,
        unit,
        form,
        source: giver,
        resolution: None,
    }
}

impl Metric {
    /// With steps of this size, in its unit.
    const fn to_within(mut self, step: f64) -> Metric {
        self.resolution = Some(step);
        self
    }
}
