//! The table of all metrics, and what provides each.

use super::MetricForm::{Distribution, Events, Number};
use super::MetricSource::{Instrument, Workloads};
use super::{Metric, MetricForm, MetricSource};
use crate::PLANTED_STALLS;
use crate::kind::{SUBMITTING, WORKING};

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
    metric(Workloads(WORKING), "elapsed", "ns", Number),
    metric(Workloads(&["command"]), "command_cpu_time", "ns", Number).to_within(1000.0),
    metric(Workloads(&["command"]), "command_user_time", "ns", Number).to_within(1000.0),
    metric(Workloads(&["command"]), "command_system_time", "ns", Number).to_within(1000.0),
    metric(
        Workloads(&["command"]),
        "command_peak_memory",
        "KiB",
        Number,
    ),
    metric(Workloads(&["cyclictest"]), "latency", "ns", Distribution),
    // Only with several threads.
    metric(
        Workloads(&["cyclictest"]),
        "threadN_latency_max",
        "ns",
        Number,
    ),
    metric(Workloads(&["hackbench"]), "reported_time", "s", Number).to_within(0.001),
    metric(Workloads(&["audio"]), "underruns", "", Events),
    metric(Workloads(&["audio"]), "silence", "ns", Number).to_within(1000.0),
    metric(Workloads(&["audio"]), "player_cpu_time", "ns", Number).to_within(1000.0),
    metric(Workloads(&["browser"]), "render_time", "ns", Distribution),
    metric(Workloads(&["browser"]), "render_time_mean", "ns", Number),
    metric(Workloads(&["cpu-score"]), "score", "/s", Number),
    metric(Workloads(&["cpu-score"]), "score_least", "/s", Number),
    metric(Workloads(&["cpu-score"]), "score_most", "/s", Number),
    metric(Workloads(&[ROUTINE]), "batch_time", "ns", Distribution),
    metric(Workloads(&[ROUTINE]), "call_time", "ns", Number),
    metric(Workloads(&[ROUTINE]), "empty_call_time", "ns", Number),
    metric(Workloads(&[ROUTINE]), "routine_bandwidth", "MB/s", Number),
    // Only with movsl-rule.
    metric(Workloads(&[ROUTINE]), "alternative_calls", "", Number),
    metric(Workloads(&[ROUTINE]), "results_wrong", "", Number),
    metric(Workloads(&["hogs"]), "turns", "", Number),
    metric(Workloads(&["hogs"]), "cpu_time", "ns", Number),
    metric(
        Workloads(&["periodic"]),
        "LOOP_wakeup_latency",
        "ns",
        Distribution,
    ),
    metric(
        Workloads(&["periodic"]),
        "LOOP_response",
        "ns",
        Distribution,
    ),
    metric(Workloads(&["periodic"]), "LOOP_overruns", "", Number),
    metric(Workloads(TRIPS), "round_trip", "ns", Distribution),
    // The receiver derives it from `round_trip`.
    metric(Workloads(TRIPS), "jitter", "ns", Number),
    metric(
        Workloads(&["frames", STREAMING]),
        "frame_time",
        "ns",
        Distribution,
    ),
    metric(Workloads(&[STREAMING]), "frame_time_mean", "ns", Number),
    metric(Workloads(FRAME_COUNTS), "frames", "", Number),
    // Only with a period.
    metric(Workloads(&[STREAMING]), "frames_late", "", Events),
    metric(Workloads(&[STREAMING]), "bandwidth", "MB/s", Number),
    metric(
        Workloads(&["drawing"]),
        "operation_time",
        "ns",
        Distribution,
    ),
    metric(Workloads(&["drawing"]), "requests", "", Number),
    metric(Workloads(&["drawing"]), "request_bytes", "B", Number),
    metric(
        Workloads(&["drawing", STREAMING]),
        "pixels_wrong",
        "",
        Number,
    ),
    metric(
        Workloads(&["compositor"]),
        "frame_latency",
        "ns",
        Distribution,
    ),
    metric(Workloads(&["compositor"]), "end_to_end", "ns", Distribution),
    metric(Workloads(&["compositor"]), "client_frames", "", Number),
    metric(Workloads(FRAMES), "frames_missed", "", Events),
    metric(Workloads(&["crowd"]), "service_min", "", Number),
    metric(Workloads(&["crowd"]), "service_max", "", Number),
    metric(Workloads(&["crowd"]), "service_ratio", "", Number),
    metric(Workloads(&["crowd"]), "engine_time_ratio", "", Number),
    metric(Workloads(&["replay"]), "round_time", "ns", Distribution),
    metric(Workloads(SUBMITTING), "submit_to_run", "ns", Distribution),
    metric(
        Workloads(SUBMITTING),
        "submit_to_return",
        "ns",
        Distribution,
    ),
    metric(Workloads(SUBMITTING), "ioctl", "ns", Distribution),
    metric(Workloads(SUBMITTING), "done_to_wake", "ns", Distribution),
    metric(Workloads(SUBMITTING), "jobs", "", Number),
    metric(Workloads(SUBMITTING), "jobs_bypassed", "", Number),
    metric(Workloads(SUBMITTING), "worker_raises", "", Number),
    metric(Workloads(SUBMITTING), "worker_lowers", "", Number),
    metric(Workloads(SUBMITTING), "queue_memory", "B", Number),
    metric(Workloads(SUBMITTING), "job_memory", "B", Number),
    metric(Workloads(SUBMITTING), "fence_memory", "B", Number),
    metric(Instrument("cpu-idle"), "cpuN_non_idle", "ns", Number),
    metric(Instrument("cpu-idle"), "cpus_non_idle", "ns", Number),
    metric(Instrument("cpu-idle"), "cpus_used", "", Number),
    metric(
        Instrument("cpu-residency"),
        "cpuN_non_idle_share",
        "%",
        Number,
    ),
    metric(
        Instrument("cpu-residency"),
        "cpuN_wakeups_per_second",
        "1/s",
        Number,
    ),
    metric(
        Instrument("cpu-residency"),
        "wakeups_per_second",
        "1/s",
        Number,
    ),
    metric(Instrument("cpu-residency"), "cpus_asleep", "CPUs", Number),
    metric(
        Instrument("cpu-residency"),
        "package_idle_share",
        "%",
        Number,
    ),
    metric(
        Instrument("cpu-residency"),
        "package_deepest_share",
        "%",
        Number,
    ),
    metric(
        Instrument("cpu-residency"),
        "state_time:STATE",
        "ns",
        Number,
    ),
    metric(Instrument("cpu-residency"), "state_usage:STATE", "", Number),
    metric(Instrument("cpu-residency"), "state_above:STATE", "", Number),
    metric(Instrument("cpu-residency"), "state_below:STATE", "", Number),
    metric(
        Instrument("cpu-residency"),
        "state_rejected:STATE",
        "",
        Number,
    ),
    metric(
        Instrument("cpu-residency"),
        "frequency_time:FREQUENCY",
        "ns",
        Number,
    ),
    metric(Instrument("cpu-residency"), "frequency_changes", "", Number),
    metric(Instrument("cpu-residency"), "mean_frequency", "MHz", Number),
    metric(Instrument("cpu-residency"), "modelled_energy", "mJ", Number),
    metric(Instrument("cpu-residency"), "modelled_power", "mW", Number),
    metric(Instrument("energy"), "energy_package", "J", Number),
    metric(Instrument("energy"), "energy_cores", "J", Number),
    metric(Instrument("energy"), "energy_dram", "J", Number),
    metric(Instrument(GAPS), "gaps", "", Events),
    metric(Instrument(GAPS), "gaps_switch", "", Events),
    metric(Instrument(GAPS), "gaps_interrupt", "", Events),
    metric(Instrument(GAPS), "gaps_softirq", "", Events),
    metric(Instrument(GAPS), "gaps_steal", "", Events),
    metric(Instrument(GAPS), "gaps_smi", "", Events),
    metric(Instrument(GAPS), "gaps_unclear", "", Events),
    metric(Instrument(GAPS), "gaps_unexplained", "", Events),
    metric(Instrument(GAPS), "gaps_unexplained_at_rest", "", Events),
    metric(Instrument(GAPS), "gap", "ns", Distribution),
    metric(Instrument(GAPS), "gaps_observed", "ns", Number),
    metric(Instrument(GAPS), "gaps_blind_share", "%", Number),
    metric(Instrument(GAPS), "gaps_per_minute", "1/min", Number),
    metric(
        Instrument(GAPS),
        "gaps_unexplained_per_minute",
        "1/min",
        Number,
    ),
    metric(Instrument(GAPS), "gaps_loop", "ns", Number),
    metric(Instrument(GAPS), "gaps_loop_max", "ns", Number),
    metric(Instrument(GAPS), "gaps_reading", "ns", Number),
    metric(
        Instrument("guest-instructions"),
        "guest_instructions",
        "",
        Number,
    ),
    metric(
        Instrument("guest-instructions"),
        "all_idle_periods",
        "",
        Number,
    ),
    metric(Instrument(HWLAT), "hwlat", "", Events),
    metric(Instrument(HWLAT), "hwlat_nmi", "", Events),
    metric(Instrument(HWLAT), "hwlat_latency", "ns", Distribution).to_within(1000.0),
    metric(Instrument(HWLAT), "hwlat_windows", "", Number),
    metric(Instrument(HWLAT), "hwlat_observed", "ns", Number).to_within(1000.0),
    metric(Instrument(HWLAT), "hwlat_watched_share", "%", Number),
    metric(Instrument(OSNOISE), "osnoise", "", Events),
    metric(Instrument(OSNOISE), "osnoise_hardware", "", Events),
    metric(Instrument(OSNOISE), "osnoise_nmi", "", Events),
    metric(Instrument(OSNOISE), "osnoise_irq", "", Events),
    metric(Instrument(OSNOISE), "osnoise_softirq", "", Events),
    metric(Instrument(OSNOISE), "osnoise_thread", "", Events),
    metric(Instrument(OSNOISE), "osnoise_unclear", "", Events),
    metric(Instrument(OSNOISE), "osnoise_noise", "ns", Distribution),
    metric(Instrument(OSNOISE), "osnoise_observed", "ns", Number).to_within(1000.0),
    metric(Instrument(OSNOISE), "osnoise_watched_share", "%", Number),
    metric(Instrument(OSNOISE), "osnoise_share", "%", Number),
    metric(Instrument(OSNOISE), "osnoise_time_hardware", "ns", Number),
    metric(Instrument(OSNOISE), "osnoise_time_nmi", "ns", Number),
    metric(Instrument(OSNOISE), "osnoise_time_irq", "ns", Number),
    metric(Instrument(OSNOISE), "osnoise_time_softirq", "ns", Number),
    metric(Instrument(OSNOISE), "osnoise_time_thread", "ns", Number),
    metric(Instrument("perf-hardware"), "cycles", "", Number),
    metric(Instrument("perf-hardware"), "instructions", "", Number),
    metric(Instrument("perf-software"), "context_switches", "", Number),
    metric(Instrument("perf-software"), "migrations", "", Number),
    metric(Instrument("perf-software"), "page_faults", "", Number),
    metric(
        Instrument("perf-workload"),
        "workload_context_switches",
        "",
        Number,
    ),
    metric(
        Instrument("perf-workload"),
        "workload_migrations",
        "",
        Number,
    ),
    metric(
        Instrument("perf-workload"),
        "workload_page_faults",
        "",
        Number,
    ),
    metric(
        Instrument("perf-workload"),
        "workload_task_clock",
        "ns",
        Number,
    ),
    metric(Instrument(PLANTED_STALLS), "planted_stalls", "", Events),
    metric(
        Instrument(PLANTED_STALLS),
        "planted_stall",
        "ns",
        Distribution,
    ),
    metric(Instrument("proc-stat"), "cpu_user", "s", Number).to_within(TICK_S),
    metric(Instrument("proc-stat"), "cpu_system", "s", Number).to_within(TICK_S),
    metric(Instrument("proc-stat"), "cpu_idle", "s", Number).to_within(TICK_S),
    metric(Instrument("proc-stat"), "cpu_irq", "s", Number).to_within(TICK_S),
    metric(Instrument("proc-stat"), "cpu_steal", "s", Number).to_within(TICK_S),
    metric(Instrument("proc-stat"), "interrupts", "", Number),
    metric(Instrument("proc-stat"), "switches", "", Number),
    metric(Instrument("proc-stat"), "forks", "", Number),
    metric(Instrument("schedstat"), "run_time", "ns", Number),
    metric(Instrument("schedstat"), "run_delay", "ns", Number),
    metric(Instrument("schedstat"), "timeslices", "", Number),
    metric(Instrument("threads"), "voluntary_switches", "", Number),
    metric(Instrument("threads"), "involuntary_switches", "", Number),
    metric(
        Instrument("threads"),
        "voluntary_switches:THREAD",
        "",
        Number,
    ),
    metric(
        Instrument("threads"),
        "involuntary_switches:THREAD",
        "",
        Number,
    ),
    metric(Instrument("timer-list"), "busy_time", "ns", Number),
    metric(Instrument(TIMERLAT), "timerlat_late", "", Events),
    metric(Instrument(TIMERLAT), "timerlat_late_irq", "", Events),
    metric(
        Instrument(TIMERLAT),
        "timerlat_irq_latency",
        "ns",
        Distribution,
    ),
    metric(
        Instrument(TIMERLAT),
        "timerlat_thread_latency",
        "ns",
        Distribution,
    ),
    metric(Instrument(TIMERLAT), "timerlat_observed", "ns", Number),
    metric(Instrument(TIMERLAT), "timerlat_watched_share", "%", Number),
    metric(Instrument("wakeup"), "wakeup_latency", "ns", Distribution),
    metric(
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

const fn metric(
    source: MetricSource,
    name: &'static str,
    unit: &'static str,
    form: MetricForm,
) -> Metric {
    Metric {
        name,
        unit,
        form,
        source,
        resolution: None,
    }
}

impl Metric {
    /// Sets the step between values, in the metric's unit.
    const fn to_within(mut self, step: f64) -> Metric {
        self.resolution = Some(step);
        self
    }
}
