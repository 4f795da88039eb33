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

/// The name of a metric, and its title.
type Title = (&'static str, &'static str);

/// Each name of [`METRICS`] with its title, by better direction. Placeholders in a title
/// are the same as in the name.
const TITLES: &[(Option<Preference>, &[Title])] = &[
    (
        Some(Less),
        &[
            ("LOOP_overruns", "overruns of LOOP"),
            ("LOOP_response", "response time of LOOP"),
            ("LOOP_wakeup_latency", "wake-up latency of LOOP"),
            ("batch_time", "time of a batch of calls"),
            ("busy_time", "CPU time"),
            ("call_time", "time of a call"),
            ("command_cpu_time", "CPU time of the command"),
            ("command_peak_memory", "peak memory of the command"),
            (
                "command_system_time",
                "CPU time of the command in the kernel",
            ),
            ("command_user_time", "CPU time of the command in user space"),
            ("context_switches", "context switches"),
            ("cpu_irq", "CPU time in interrupts"),
            ("cpu_steal", "time taken by the hypervisor"),
            ("cpu_system", "CPU time in the kernel"),
            ("cpu_user", "CPU time in user space"),
            ("cpus_non_idle", "non-idle time, summed over CPUs"),
            ("cycles", "CPU cycles"),
            (
                "done_to_wake",
                "time from completion to the waiter's return",
            ),
            ("elapsed", "elapsed time"),
            (
                "end_to_end",
                "time from the planned start of a frame to its display",
            ),
            ("energy_cores", "energy of the cores"),
            ("energy_dram", "energy of the memory"),
            ("energy_package", "energy of the package"),
            ("engine_time_ratio", "most to least engine time of a client"),
            ("fence_memory", "memory for fences"),
            ("frame_latency", "latency of a frame"),
            ("frame_time", "time of a frame"),
            ("frame_time_mean", "mean time of a frame"),
            ("frames_late", "frames late"),
            ("frames_missed", "frames missed"),
            ("gap", "gap"),
            ("gaps", "gaps"),
            ("gaps_blind_share", "share of time not observed"),
            ("gaps_interrupt", "gaps by interrupts"),
            ("gaps_per_minute", "gaps per minute"),
            ("gaps_smi", "gaps by system management interrupts"),
            ("gaps_softirq", "gaps by softirqs"),
            ("gaps_steal", "gaps by the hypervisor"),
            ("gaps_switch", "gaps by context switches"),
            ("gaps_unclear", "gaps of unclear cause"),
            ("gaps_unexplained", "gaps without a known cause"),
            (
                "gaps_unexplained_at_rest",
                "gaps without a known cause at rest",
            ),
            (
                "gaps_unexplained_per_minute",
                "gaps without a known cause per minute",
            ),
            ("guest_instructions", "instructions of the machine"),
            ("hwlat", "hardware latencies"),
            ("hwlat_latency", "hardware latency"),
            ("hwlat_nmi", "hardware latencies with NMIs"),
            ("instructions", "instructions"),
            ("interrupts", "interrupts"),
            ("involuntary_switches", "involuntary context switches"),
            (
                "involuntary_switches:THREAD",
                "involuntary context switches of THREAD",
            ),
            ("ioctl", "time of the submitting ioctl"),
            ("jitter", "jitter of round trips"),
            ("job_memory", "memory for jobs"),
            ("latency", "wake-up latency"),
            ("migrations", "migrations between CPUs"),
            ("modelled_energy", "modelled energy"),
            ("modelled_power", "modelled power"),
            ("operation_time", "time of an operation"),
            ("osnoise", "noise events"),
            ("osnoise_hardware", "noise events by hardware"),
            ("osnoise_irq", "noise events by interrupts"),
            ("osnoise_nmi", "noise events by NMIs"),
            ("osnoise_noise", "length of a noise"),
            ("osnoise_share", "share of time taken by noise"),
            ("osnoise_softirq", "noise events by softirqs"),
            ("osnoise_thread", "noise events by threads"),
            ("osnoise_time_hardware", "noise by hardware"),
            ("osnoise_time_irq", "noise by interrupts"),
            ("osnoise_time_nmi", "noise by NMIs"),
            ("osnoise_time_softirq", "noise by softirqs"),
            ("osnoise_time_thread", "noise by threads"),
            ("osnoise_unclear", "noise events of unclear cause"),
            ("page_faults", "page faults"),
            ("pixels_wrong", "wrong pixels"),
            ("player_cpu_time", "CPU time of the player"),
            ("queue_memory", "memory for queues"),
            ("render_time", "time to render a frame"),
            ("render_time_mean", "mean time to render a frame"),
            ("reported_time", "time reported by the program"),
            ("results_wrong", "wrong results"),
            ("round_time", "time of a round"),
            ("round_trip", "round-trip time"),
            ("run_delay", "time threads waited for a CPU"),
            ("run_time", "CPU time of threads"),
            ("service_ratio", "best-served over worst-served client"),
            ("silence", "silence"),
            ("state_above:STATE", "times STATE was too deep"),
            ("state_below:STATE", "times STATE was too shallow"),
            ("state_rejected:STATE", "times STATE was refused"),
            ("submit_to_return", "time from submit to the call's return"),
            ("submit_to_run", "wait from submit to run_job"),
            ("switches", "context switches"),
            ("threadN_latency_max", "longest wake-up latency of thread N"),
            ("timerlat_irq_latency", "latency of timerlat's interrupt"),
            ("timerlat_late", "late wake-ups of timerlat's thread"),
            ("timerlat_late_irq", "late interrupts of timerlat"),
            ("timerlat_thread_latency", "latency of timerlat's thread"),
            ("underruns", "underruns"),
            ("voluntary_switches", "voluntary context switches"),
            (
                "voluntary_switches:THREAD",
                "voluntary context switches of THREAD",
            ),
            ("wakeup_latency", "wake-up latency"),
            ("wakeup_latency:THREAD", "wake-up latency of THREAD"),
            ("wakeups_per_second", "wake-ups per second"),
            (
                "workload_context_switches",
                "context switches of the workload",
            ),
            (
                "workload_migrations",
                "migrations of the workload between CPUs",
            ),
            ("workload_page_faults", "page faults of the workload"),
            ("workload_task_clock", "CPU time of the workload"),
        ],
    ),
    (
        Some(More),
        &[
            ("bandwidth", "bandwidth of copied frames"),
            ("client_frames", "frames of the client"),
            ("cpu_time", "CPU time of the hogs"),
            ("cpus_asleep", "CPUs asleep on average"),
            ("frames", "frames"),
            (
                "package_deepest_share",
                "share of time the package was in its deepest state",
            ),
            ("package_idle_share", "share of time all CPUs were idle"),
            ("routine_bandwidth", "bandwidth of a routine"),
            ("score", "score"),
            ("score_least", "lowest score of a thread"),
            ("score_most", "highest score of a thread"),
            ("service_min", "jobs of the worst-served client"),
            ("turns", "iterations of the hogs"),
        ],
    ),
    (
        None,
        &[
            ("all_idle_periods", "entries of all CPUs into idle"),
            ("alternative_calls", "calls of the alternative"),
            ("cpuN_non_idle", "time CPU N was not idle"),
            ("cpuN_non_idle_share", "share of time CPU N was not idle"),
            ("cpuN_wakeups_per_second", "wake-ups of CPU N per second"),
            ("cpu_idle", "idle time of all CPUs"),
            ("cpus_used", "CPUs that were used"),
            ("empty_call_time", "time of a call that does nothing"),
            ("forks", "forks"),
            ("frequency_changes", "changes of frequency"),
            ("frequency_time:FREQUENCY", "time at FREQUENCY"),
            ("gaps_loop", "iteration of the detector's loop"),
            ("gaps_loop_max", "longest iteration of the detector's loop"),
            ("gaps_observed", "time observed"),
            ("gaps_reading", "time to read the counters after a gap"),
            ("hwlat_observed", "time observed by hwlat"),
            ("hwlat_watched_share", "share of time observed by hwlat"),
            ("hwlat_windows", "windows of hwlat"),
            ("jobs", "jobs"),
            ("jobs_bypassed", "jobs run by their submitter"),
            ("mean_frequency", "mean frequency"),
            ("osnoise_observed", "time observed by osnoise"),
            ("osnoise_watched_share", "share of time observed by osnoise"),
            ("planted_stall", "planted stall"),
            ("planted_stalls", "planted stalls"),
            ("request_bytes", "bytes of requests"),
            ("requests", "requests"),
            ("service_max", "jobs of the best-served client"),
            ("state_time:STATE", "time in STATE"),
            ("state_usage:STATE", "times in STATE"),
            ("timerlat_observed", "time observed by timerlat"),
            (
                "timerlat_watched_share",
                "share of time observed by timerlat",
            ),
            ("timeslices", "timeslices"),
            ("worker_lowers", "times the worker's priority was lowered"),
            ("worker_raises", "times the worker's priority was raised"),
        ],
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
    let (title, better) = TITLES.iter().find_map(|(better, titles)| {
        let (_, title) = titles.iter().find(|(name, _)| *name == one.name)?;
        Some((title, *better))
    })?;
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
        better,
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
        Mark::P99MinusP50 => format!("99 % quantile minus median of {title}"),
        Mark::Mad => format!("median absolute deviation of {title}"),
    }
}

/// The text in place of the placeholder, and how the name is derived from the metric; `None` if
/// this is not a name of the metric.
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

    fn titles() -> impl Iterator<Item = &'static Title> {
        TITLES.iter().flat_map(|(_, titles)| titles.iter())
    }

    #[test]
    fn every_metric_has_one_title_and_no_title_is_without_a_metric() {
        let metrics: BTreeSet<&str> = METRICS.iter().map(|one| one.name).collect();
        let titles: Vec<&str> = titles().map(|(name, _)| *name).collect();
        let count = titles.len();
        let titles: BTreeSet<&str> = titles.into_iter().collect();
        assert_eq!(titles.len(), count, "a name is there twice");
        let without: Vec<_> = metrics.difference(&titles).collect();
        let unused: Vec<_> = titles.difference(&metrics).collect();
        assert!(without.is_empty(), "without a title: {without:?}");
        assert!(unused.is_empty(), "of no metric: {unused:?}");
    }

    #[test]
    fn an_open_word_of_a_name_is_in_its_title() {
        for (name, title) in titles() {
            let word = word_of(name);
            assert!(word.is_none_or(|word| title.contains(word)), "{name}");
        }
    }

    #[test]
    fn names_of_runs_read_as_words() {
        for (metric, title, better) in [
            ("busy_time_per_job", "CPU time per job", Some(Less)),
            ("command_cpu_time", "CPU time of the command", Some(Less)),
            (
                "command_peak_memory",
                "peak memory of the command",
                Some(Less),
            ),
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
