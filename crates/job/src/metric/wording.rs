//! The wording of metrics: a title, and whether more or less is better.

use super::{METRICS, Mark, Metric, MetricForm, PER_JOB, per_job};

/// The direction in which a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    /// Less is better.
    Less,
    /// More is better.
    More,
}

/// The wording of a metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    /// Its title, as words for a sentence: `longest wait from submit to run_job`.
    pub title: String,
    /// The better direction; `None` if that depends on the question.
    pub better: Option<Preference>,
}

use Preference::{Less, More};

/// Each name of [`METRICS`] with its title and better direction. Placeholders in a title
/// are the same as in the name.
const TITLES: &[(&str, &str, Option<Preference>)] = &[
    ("alternative_calls", "calls that took the alternative", None),
    ("batch_time", "time of a batch of calls", Some(Less)),
    ("call_time", "time of a call", Some(Less)),
    ("empty_call_time", "time of a call that does nothing", None),
    ("operation_time", "time of an operation", Some(Less)),
    ("request_bytes", "bytes of requests", None),
    ("requests", "requests", None),
    ("results_wrong", "results that were wrong", Some(Less)),
    ("routine_bandwidth", "bandwidth of a routine", Some(More)),
    ("gaps_per_minute", "gaps a minute", Some(Less)),
    (
        "gaps_unexplained_per_minute",
        "gaps without a known cause a minute",
        Some(Less),
    ),
    ("bandwidth", "bandwidth of copied frames", Some(More)),
    ("frame_time_mean", "mean time of a frame", Some(Less)),
    ("frames_late", "frames late", Some(Less)),
    ("hwlat", "hardware latencies", Some(Less)),
    ("hwlat_latency", "hardware latency", Some(Less)),
    ("hwlat_nmi", "hardware latencies with NMIs", Some(Less)),
    ("hwlat_observed", "time observed by hwlat", None),
    (
        "hwlat_watched_share",
        "share of time observed by hwlat",
        None,
    ),
    ("hwlat_windows", "windows of hwlat", None),
    ("osnoise", "noises", Some(Less)),
    ("osnoise_hardware", "noises by hardware", Some(Less)),
    ("osnoise_irq", "noises by interrupts", Some(Less)),
    ("osnoise_nmi", "noises by NMIs", Some(Less)),
    ("osnoise_noise", "length of a noise", Some(Less)),
    ("osnoise_observed", "time observed by osnoise", None),
    ("osnoise_share", "share of time taken by noise", Some(Less)),
    ("osnoise_softirq", "noises by soft interrupts", Some(Less)),
    ("osnoise_thread", "noises by threads", Some(Less)),
    ("osnoise_time_hardware", "noise by hardware", Some(Less)),
    ("osnoise_time_irq", "noise by interrupts", Some(Less)),
    ("osnoise_time_nmi", "noise by NMIs", Some(Less)),
    (
        "osnoise_time_softirq",
        "noise by soft interrupts",
        Some(Less),
    ),
    ("osnoise_time_thread", "noise by threads", Some(Less)),
    ("osnoise_unclear", "noises of unclear cause", Some(Less)),
    (
        "osnoise_watched_share",
        "share of time observed by osnoise",
        None,
    ),
    (
        "pixels_wrong",
        "pixels that were not what was written",
        Some(Less),
    ),
    (
        "timerlat_irq_latency",
        "latency of timerlat's interrupt",
        Some(Less),
    ),
    (
        "timerlat_late",
        "late wake-ups of timerlat's thread",
        Some(Less),
    ),
    (
        "timerlat_late_irq",
        "late interrupts of timerlat",
        Some(Less),
    ),
    ("timerlat_observed", "time observed by timerlat", None),
    (
        "timerlat_thread_latency",
        "latency of timerlat's thread",
        Some(Less),
    ),
    (
        "timerlat_watched_share",
        "share of time observed by timerlat",
        None,
    ),
    ("all_idle_periods", "times all CPUs became idle", None),
    ("busy_time", "time CPUs were not idle", Some(Less)),
    ("client_frames", "frames of the client", Some(More)),
    ("command_cpu_time", "CPU time of the command", Some(Less)),
    (
        "command_system_time",
        "CPU time of the command in the kernel",
        Some(Less),
    ),
    (
        "command_user_time",
        "CPU time of the command in user space",
        Some(Less),
    ),
    ("context_switches", "context switches", Some(Less)),
    ("cpuN_non_idle", "time CPU N was not idle", None),
    (
        "cpuN_non_idle_share",
        "share of time CPU N was not idle",
        None,
    ),
    (
        "cpuN_wakeups_per_second",
        "wake-ups of CPU N a second",
        None,
    ),
    ("cpu_idle", "idle time of all CPUs", None),
    ("cpu_irq", "CPU time in interrupts", Some(Less)),
    ("cpu_steal", "time taken by the hypervisor", Some(Less)),
    ("cpu_system", "CPU time in the kernel", Some(Less)),
    ("cpu_time", "CPU time of the hogs", Some(More)),
    ("cpu_user", "CPU time in user space", Some(Less)),
    ("cpus_asleep", "CPUs asleep on average", Some(More)),
    (
        "cpus_non_idle",
        "time CPUs were not idle, summed",
        Some(Less),
    ),
    ("cpus_used", "CPUs that were used", None),
    ("cycles", "CPU cycles", Some(Less)),
    (
        "done_to_wake",
        "time from completion to the waiter's return",
        Some(Less),
    ),
    ("elapsed", "elapsed time", Some(Less)),
    ("end_to_end", "time from input to display", Some(Less)),
    ("energy_cores", "energy of the cores", Some(Less)),
    ("energy_dram", "energy of the memory", Some(Less)),
    ("energy_package", "energy of the package", Some(Less)),
    (
        "engine_time_ratio",
        "most to least engine time of a client",
        Some(Less),
    ),
    ("fence_memory", "memory for fences", Some(Less)),
    ("forks", "forks", None),
    ("frame_latency", "latency of a frame", Some(Less)),
    ("frame_time", "time of a frame", Some(Less)),
    ("frames", "frames", Some(More)),
    ("frames_missed", "frames missed", Some(Less)),
    ("frequency_changes", "changes of frequency", None),
    ("frequency_time:FREQUENCY", "time at FREQUENCY", None),
    ("gap", "gap", Some(Less)),
    ("gaps", "gaps", Some(Less)),
    ("gaps_blind_share", "share of time not observed", Some(Less)),
    ("gaps_interrupt", "gaps by interrupts", Some(Less)),
    ("gaps_loop", "turn of the detector's loop", None),
    ("gaps_loop_max", "longest turn of the detector's loop", None),
    ("gaps_observed", "time observed", None),
    (
        "gaps_reading",
        "time to read the counters after a gap",
        None,
    ),
    (
        "gaps_smi",
        "gaps by system management interrupts",
        Some(Less),
    ),
    ("gaps_softirq", "gaps by soft interrupts", Some(Less)),
    ("gaps_steal", "gaps by the hypervisor", Some(Less)),
    ("gaps_switch", "gaps by context switches", Some(Less)),
    ("gaps_unclear", "gaps of unclear cause", Some(Less)),
    ("gaps_unexplained", "gaps without a known cause", Some(Less)),
    (
        "gaps_unexplained_at_rest",
        "gaps without a known cause at rest",
        Some(Less),
    ),
    (
        "guest_instructions",
        "instructions of the machine",
        Some(Less),
    ),
    ("instructions", "instructions", Some(Less)),
    ("interrupts", "interrupts", Some(Less)),
    (
        "involuntary_switches",
        "involuntary context switches",
        Some(Less),
    ),
    (
        "involuntary_switches:THREAD",
        "involuntary context switches of THREAD",
        Some(Less),
    ),
    ("ioctl", "time of the submitting ioctl", Some(Less)),
    ("jitter", "jitter of round trips", Some(Less)),
    ("job_memory", "memory for jobs", Some(Less)),
    ("jobs", "jobs", None),
    ("jobs_bypassed", "jobs run by their submitter", None),
    ("latency", "wake-up latency", Some(Less)),
    ("LOOP_overruns", "overruns of LOOP", Some(Less)),
    ("LOOP_response", "response time of LOOP", Some(Less)),
    ("LOOP_wakeup_latency", "wake-up latency of LOOP", Some(Less)),
    ("mean_frequency", "mean frequency", None),
    ("migrations", "migrations between CPUs", Some(Less)),
    ("modelled_energy", "modelled energy", Some(Less)),
    ("modelled_power", "modelled power", Some(Less)),
    (
        "package_deepest_share",
        "share of time the package was in its deepest state",
        Some(More),
    ),
    (
        "package_idle_share",
        "share of time all CPUs were idle",
        Some(More),
    ),
    ("page_faults", "page faults", Some(Less)),
    ("planted_stall", "planted stall", None),
    ("planted_stalls", "planted stalls", None),
    ("player_cpu_time", "CPU time of the player", Some(Less)),
    ("queue_memory", "memory for queues", Some(Less)),
    ("render_time", "time to render a frame", Some(Less)),
    (
        "render_time_mean",
        "mean time to render a frame",
        Some(Less),
    ),
    ("reported_time", "time the program reported", Some(Less)),
    ("round_time", "time of a round", Some(Less)),
    ("round_trip", "round-trip time", Some(Less)),
    ("run_delay", "time threads waited for a CPU", Some(Less)),
    ("run_time", "CPU time of threads", Some(Less)),
    ("score", "score", Some(More)),
    ("score_least", "lowest score of a thread", Some(More)),
    ("score_most", "highest score of a thread", Some(More)),
    ("service_max", "jobs of the best-served client", None),
    ("service_min", "jobs of the worst-served client", Some(More)),
    (
        "service_ratio",
        "best-served to worst-served client",
        Some(Less),
    ),
    ("silence", "silence", Some(Less)),
    ("state_above:STATE", "times STATE was too deep", Some(Less)),
    (
        "state_below:STATE",
        "times STATE was too shallow",
        Some(Less),
    ),
    (
        "state_rejected:STATE",
        "times STATE was refused",
        Some(Less),
    ),
    ("state_time:STATE", "time in STATE", None),
    ("state_usage:STATE", "times in STATE", None),
    (
        "submit_to_return",
        "time from submit to the call's return",
        Some(Less),
    ),
    ("submit_to_run", "wait from submit to run_job", Some(Less)),
    ("switches", "context switches", Some(Less)),
    (
        "threadN_latency_max",
        "longest wake-up latency of thread N",
        Some(Less),
    ),
    ("timeslices", "timeslices", None),
    ("turns", "turns of the hogs", Some(More)),
    ("underruns", "underruns", Some(Less)),
    (
        "voluntary_switches",
        "voluntary context switches",
        Some(Less),
    ),
    (
        "voluntary_switches:THREAD",
        "voluntary context switches of THREAD",
        Some(Less),
    ),
    ("wakeup_latency", "wake-up latency", Some(Less)),
    (
        "wakeup_latency:THREAD",
        "wake-up latency of THREAD",
        Some(Less),
    ),
    ("wakeups_per_second", "wake-ups a second", Some(Less)),
    (
        "worker_lowers",
        "times the worker's priority was lowered",
        None,
    ),
    (
        "worker_raises",
        "times the worker's priority was raised",
        None,
    ),
    (
        "workload_context_switches",
        "context switches of the workload",
        Some(Less),
    ),
    (
        "workload_migrations",
        "migrations of the workload between CPUs",
        Some(Less),
    ),
    (
        "workload_page_faults",
        "page faults of the workload",
        Some(Less),
    ),
    (
        "workload_task_clock",
        "CPU time of the workload",
        Some(Less),
    ),
];

/// The wording of a metric or event of a run; `None` for a name that no instrument and no
/// workload provides.
///
/// ```
/// use assize_job::wording;
///
/// let longest = wording("submit_to_run_ns_max").unwrap();
/// assert_eq!(longest.title, "longest wait from submit to run_job");
/// ```
#[must_use]
pub fn wording(metric: &str) -> Option<Wording> {
    let named = METRICS.iter().find_map(|one| {
        let (open, as_read) = name_derivation(one, metric)?;
        Some((one, open, as_read))
    });
    let (one, open, as_read) = named?;
    let (_, title, better) = TITLES.iter().find(|(name, ..)| *name == one.name)?;
    let title = match (word_of(one.name), open) {
        (Some(word), Some(open)) => title.replacen(word, open, 1),
        _ => (*title).to_owned(),
    };
    Some(Wording {
        title: match as_read {
            NameDerivation::AsItIs => title,
            NameDerivation::PerJob => format!("{title} per job"),
            NameDerivation::Mark(mark) => marked(mark, &title),
        },
        better: *better,
    })
}

/// How a name is derived from its metric.
#[derive(Clone, Copy)]
enum NameDerivation {
    AsItIs,
    PerJob,
    Mark(Mark),
}

fn marked(mark: Mark, title: &str) -> String {
    match mark {
        Mark::P50 => format!("median {title}"),
        Mark::P90 => format!("90 % quantile of {title}"),
        Mark::P99 => format!("99 % quantile of {title}"),
        Mark::P999 => format!("99.9 % quantile of {title}"),
        Mark::Max => format!("longest {title}"),
        Mark::P99MinusP50 => format!("99 % quantile less median of {title}"),
        Mark::Mad => format!("median absolute deviation of {title}"),
    }
}

/// If this is a name of the metric: the text in place of the placeholder, and how the name
/// is derived.
fn name_derivation<'m>(one: &Metric, metric: &'m str) -> Option<(Option<&'m str>, NameDerivation)> {
    let mut names = vec![(one.name.to_owned(), NameDerivation::AsItIs)];
    match one.form {
        MetricForm::Distribution => {
            names = Mark::ALL
                .map(|mark| {
                    (
                        mark.metric_name(one.name, one.unit),
                        NameDerivation::Mark(mark),
                    )
                })
                .to_vec();
        }
        MetricForm::Number if PER_JOB.contains(&one.name) => {
            names.push((per_job(one.name), NameDerivation::PerJob));
        }
        MetricForm::Number | MetricForm::Events => {}
    }
    let word = word_of(one.name);
    names.into_iter().find_map(|(name, read)| match word {
        None => (name == metric).then_some((None, read)),
        Some(word) => {
            let (before, after) = name.split_once(word)?;
            let open = metric.strip_prefix(before)?.strip_suffix(after)?;
            let number = !open.is_empty() && open.bytes().all(|byte| byte.is_ascii_digit());
            let fits = if word == "N" {
                number
            } else {
                !open.is_empty()
            };
            fits.then_some((Some(open), read))
        }
    })
}

/// The placeholder in a name.
fn word_of(name: &str) -> Option<&'static str> {
    ["LOOP", "THREAD", "STATE", "FREQUENCY", "N"]
        .into_iter()
        .find(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.

    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_has_one_title_and_no_title_is_without_a_metric() {
        let metrics: BTreeSet<&str> = METRICS.iter().map(|one| one.name).collect();
        let titles: BTreeSet<&str> = TITLES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(titles.len(), TITLES.len(), "a name is there twice");
        let without: Vec<_> = metrics.difference(&titles).collect();
        let unused: Vec<_> = titles.difference(&metrics).collect();
        assert!(without.is_empty(), "without a title: {without:?}");
        assert!(unused.is_empty(), "of no metric: {unused:?}");
    }

    #[test]
    fn an_open_word_of_a_name_is_in_its_title() {
        for (name, title, _) in TITLES {
            let word = word_of(name);
            assert!(word.is_none_or(|word| title.contains(word)), "{name}");
        }
    }

    #[test]
    fn names_of_runs_read_as_words() {
        for (metric, title, better) in [
            (
                "busy_time_per_job",
                "time CPUs were not idle per job",
                Some(Less),
            ),
            ("command_cpu_time", "CPU time of the command", Some(Less)),
            (
                "command_system_time",
                "CPU time of the command in the kernel",
                Some(Less),
            ),
            (
                "command_user_time",
                "CPU time of the command in user space",
                Some(Less),
            ),
            ("context_switches", "context switches", Some(Less)),
            (
                "cpu3_non_idle_share",
                "share of time CPU 3 was not idle",
                None,
            ),
            ("score", "score", Some(More)),
            (
                "wakeup_latency_ns_p99.9:kworker/0:1",
                "99.9 % quantile of wake-up latency of kworker/0:1",
                Some(Less),
            ),
            (
                "audio_wakeup_latency_ns_max",
                "longest wake-up latency of audio",
                Some(Less),
            ),
            (
                "thread2_latency_max",
                "longest wake-up latency of thread 2",
                Some(Less),
            ),
            ("gaps_unexplained", "gaps without a known cause", Some(Less)),
        ] {
            let wording = wording(metric).unwrap();
            assert_eq!(
                (wording.title.as_str(), wording.better),
                (title, better),
                "{metric}"
            );
        }
        for unknown in [
            "",
            "context-switches",
            "cpuX_non_idle",
            "busy_time_p99",
            "state_time:",
        ] {
            assert_eq!(wording(unknown), None, "{unknown}");
        }
    }
}
