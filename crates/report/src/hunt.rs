//! The result of `assize hunt` as text and JSON: the failures in runs with other interleavings,
//! their rates, and the shortest schedule that shows each.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::number::significant;
use crate::printable::printable;
use crate::when::milliseconds;
use crate::wrap::{push_wrapped, push_wrapped_code_after};

/// The schema of [`Hunt`].
pub const HUNT: &str = "assize.hunt/1";
/// Failures that no interleaving of this machine can show.
pub const HUNT_LIMITS: &str = "Cannot find: what needs stores of one CPU to be seen out of order \
                               (each instruction takes effect at once), DMA, or caches.";
/// Maximum number of delays listed in the text.
const LISTED: usize = 5;

/// The failures found in runs that differ by their interleavings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hunt {
    /// Always [`HUNT`].
    pub schema: String,
    /// The title of the experiment.
    pub title: String,
    /// The kernel, with its version.
    pub kernel: String,
    /// The number of CPUs of each machine.
    pub cpus: u32,
    /// The kinds of failure searched for; empty if any failure counts.
    pub until: Vec<String>,
    /// The number of schedules tried; their numbers, from 1, are the seeds.
    pub schedules: u32,
    /// The number of schedules made by each strategy.
    pub strategies: BTreeMap<String, u32>,
    /// The configurations searched, baseline first.
    pub sides: Vec<HuntedSide>,
    /// The kinds of failure, most frequent first.
    pub failures: Vec<FoundFailure>,
    /// Each configuration against the first one.
    pub comparisons: Vec<HuntComparison>,
    /// Runs that failed in ways not searched for, and why the first one did.
    pub others: Vec<OtherFailure>,
    /// What a hunt cannot find.
    pub limits: String,
    /// The directory that holds this document.
    pub directory: String,
    /// The command that repeats the hunt.
    pub reproduce: String,
}

/// A configuration that was searched for failures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HuntedSide {
    /// Its name.
    pub configuration: String,
    /// The number of its runs, and of those that failed.
    pub rate: FailureRate,
}

/// A failure rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FailureRate {
    /// The runs that failed.
    pub count: u32,
    /// All runs that count: not those that failed otherwise.
    pub runs: u32,
    /// The ends of the 95 % interval of the rate (Clopper and Pearson).
    pub interval: [f64; 2],
}

/// A kind of failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundFailure {
    /// The configuration.
    pub configuration: String,
    /// The workload of its shortest schedule.
    pub workload: String,
    /// The detector: `KASAN`, `oops`, `exit status`.
    pub oracle: String,
    /// The place: function, offset and module, if known.
    pub place: Option<String>,
    /// The line that reports it.
    pub line: String,
    /// What all failures of this kind have in common.
    pub signature: String,
    /// Its rate.
    pub rate: FailureRate,
    /// Failures and runs for each strategy.
    pub strategies: BTreeMap<String, [u32; 2]>,
    /// The number of the first schedule with this failure.
    pub first: u32,
    /// Whether the kernel reported it, so that `assize debug` can stop there.
    pub crashed: bool,
    /// The run in `failures.bundle` with the shortest schedule.
    pub run: u32,
    /// The shortest schedule.
    pub schedule: FoundSchedule,
}

/// A schedule with which a run fails every time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundSchedule {
    /// The seed of the run, from which the lengths of time slices are drawn.
    pub seed: u64,
    /// The delays, sorted by time.
    pub delays: Vec<FoundDelay>,
    /// The number of delays in the run in which the failure was found.
    pub delays_found: u32,
    /// Whether a repetition with this schedule failed in the same way, byte for byte.
    pub repeats: bool,
}

/// A pause of a CPU, in which it executes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundDelay {
    /// The CPU.
    pub cpu: u32,
    /// Its start, in ns since the machine was switched on.
    pub at_ns: u64,
    /// Its length, in ns.
    pub length_ns: u64,
    /// The next instruction of the CPU, if known.
    pub place: Option<String>,
}

/// The rates of two configurations over the same schedules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HuntComparison {
    /// The configuration that is compared.
    pub configuration: String,
    /// The one that it is compared with.
    pub baseline: String,
    /// The rates: of the baseline, and of the configuration.
    pub rates: [FailureRate; 2],
    /// Pairs that are left out of the rates, since one of their runs failed otherwise.
    pub left_out: u32,
    /// Schedules with which only the baseline failed, and only the configuration.
    pub only: [u32; 2],
    /// The evidence against equal rates.
    pub evidence: f64,
    /// The evidence that decides, whenever one looks: 20, times the number of comparisons.
    pub needed: f64,
    /// The answer.
    pub answer: HuntAnswer,
    /// A rate from which on at least one failure of the configuration would have been seen with
    /// 95 %; `None` if it has failed, or if no pair is left.
    pub excluded: Option<f64>,
    /// Signatures with which only the configuration failed.
    pub new: Vec<String>,
}

/// How two rates compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HuntAnswer {
    /// It fails less often, or never.
    Fewer,
    /// It fails more often.
    More,
    /// The runs do not decide.
    Undecided,
    /// Neither has failed.
    NoFailure,
    /// In each pair, a run failed otherwise.
    NoPair,
}

/// Runs that failed in a way that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherFailure {
    /// The configuration.
    pub configuration: String,
    /// Their number.
    pub count: u32,
    /// Why the first one failed.
    pub why: String,
}

/// Returns the result in at most 72 columns.
#[must_use]
pub fn hunt(hunt: &Hunt) -> String {
    let mut text = String::new();
    push_wrapped(&mut text, "", "", &answer(hunt));
    for one in &hunt.comparisons {
        push_wrapped(&mut text, "", "", &compared(one));
    }
    for one in &hunt.failures {
        text.push('\n');
        failure(&mut text, one, hunt);
    }
    if !hunt.others.is_empty() {
        text.push('\n');
    }
    for one in &hunt.others {
        let sentence = format!(
            "Not counted: {} of {} failed otherwise: {}",
            runs(one.count),
            one.configuration,
            one.why
        );
        push_wrapped(&mut text, "", "", &sentence);
    }
    text.push('\n');
    push_wrapped(&mut text, "", "", &hunt.limits);
    text += "\nReproduce:\n";
    push_wrapped_code_after(&mut text, "  ", &hunt.reproduce);
    printable(&text).into_owned()
}

/// The result as JSON, with a newline at the end.
///
/// # Errors
/// A bug: the document cannot be serialised.
pub fn hunt_json(hunt: &Hunt) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(hunt)? + "\n")
}

fn answer(hunt: &Hunt) -> String {
    let on = format!(
        "on {} CPU{} of {}",
        hunt.cpus,
        if hunt.cpus == 1 { "" } else { "s" },
        hunt.kernel
    );
    let failed: Vec<String> = hunt
        .sides
        .iter()
        .filter(|side| side.rate.count > 0)
        .map(|side| format!("{} failed in {}", side.configuration, figures(&side.rate)))
        .collect();
    if failed.is_empty() {
        let runs = hunt.sides.iter().map(|side| side.rate.runs).min();
        let seen = match runs.unwrap_or_default() {
            0 => "None of the runs counts.".into(),
            runs => format!(
                "A rate of {} or more would have been seen with 95 % probability.",
                percent(excluded(runs))
            ),
        };
        return format!("No failure in {} schedules {on}. {seen}", hunt.schedules);
    }
    let always = |side: &HuntedSide| side.rate.count == side.rate.runs;
    let every = hunt.others.is_empty() && hunt.sides.iter().all(always);
    let advice = if every {
        " It fails with every schedule, so this is no race: debug it as it is."
    } else {
        ""
    };
    format!("{}, {on}.{advice}", failed.join("; "))
}

fn compared(one: &HuntComparison) -> String {
    let [before, after] = one.rates;
    let (baseline, name) = (&one.baseline, &one.configuration);
    let figures = format!(
        "{baseline} failed in {} of {} runs",
        before.count, before.runs
    );
    let other = format!("{name} in {} of {}", after.count, after.runs);
    let mut text = match (one.answer, one.excluded) {
        (HuntAnswer::NoPair, _) => format!(
            "{baseline} and {name} cannot be compared: with each schedule, one of them failed in a \
             way that does not count."
        ),
        (HuntAnswer::NoFailure, _) => {
            format!("{baseline} and {name} cannot be told apart: neither has failed.")
        }
        (HuntAnswer::Fewer, Some(rate)) => format!(
            "{figures}, {name} in none of {}: {name} removes the failure from these schedules; a \
             remaining rate above {} would have been seen with 95 % probability.",
            after.runs,
            percent(rate)
        ),
        (HuntAnswer::Fewer, None) => format!("{figures}, {other}: {name} fails less often."),
        (HuntAnswer::More, _) => format!("{figures}, {other}: {name} fails more often."),
        (HuntAnswer::Undecided, _) => format!(
            "{figures}, {other}: that does not decide which fails more often; try more schedules."
        ),
    };
    if one.left_out > 0 && one.answer != HuntAnswer::NoPair {
        let _ = write!(
            text,
            " {} left out, in which one of them failed in a way that does not count.",
            match one.left_out {
                1 => "One pair is".into(),
                many => format!("{many} pairs are"),
            }
        );
    }
    if !one.new.is_empty() {
        let _ = write!(
            text,
            " {name} fails in a way in which {baseline} did not: {}.",
            one.new.join("; ")
        );
    }
    text
}

fn failure(text: &mut String, one: &FoundFailure, hunt: &Hunt) {
    let side = if hunt.sides.len() > 1 {
        format!(" ({})", one.configuration)
    } else {
        String::new()
    };
    let title = format!("{}{side}: in {}", one.signature, figures(&one.rate));
    push_wrapped(text, "", "  ", &title);
    push_wrapped(text, "  ", "  ", &one.line);
    let by: Vec<String> = one
        .strategies
        .iter()
        .map(|(name, [count, of])| format!("{name} {count} of {of}"))
        .collect();
    push_wrapped(
        text,
        "  ",
        "  ",
        &format!(
            "First with schedule {}; by strategy: {}.",
            one.first,
            by.join(", ")
        ),
    );
    push_wrapped(text, "  ", "  ", &schedule(&one.schedule));
    for delay in one.schedule.delays.iter().take(LISTED) {
        let place = delay.place.as_deref();
        let place = place.map_or_else(String::new, |place| format!(" before {place}"));
        let line = format!(
            "CPU {} stops{place} for {}, at {} ms",
            delay.cpu,
            length(delay.length_ns),
            milliseconds(delay.at_ns)
        );
        push_wrapped(text, "    ", "      ", &line);
    }
    let at = if one.crashed { " --at crash" } else { "" };
    let command = format!(
        "assize debug {}/failures.bundle {}{at}",
        hunt.directory, one.run
    );
    push_wrapped_code_after(text, "  ", &command);
}

fn schedule(one: &FoundSchedule) -> String {
    let mut text = format!("Schedule: seed {}", one.seed);
    let _ = match one.delays.len() {
        0 => write!(text, ", no delay"),
        1 => write!(text, ", 1 delay"),
        many => write!(text, ", {many} delays"),
    };
    if one.delays_found as usize > one.delays.len() {
        let _ = write!(text, " of {}", one.delays_found);
    }
    text += if one.repeats {
        "; it fails each time"
    } else {
        "; it did not fail again, which is a bug of assize"
    };
    text + "."
}

fn figures(rate: &FailureRate) -> String {
    let [low, high] = rate.interval.map(|end| significant(100.0 * end, 2));
    format!(
        "{} of {} runs ({}, 95 % CI {low} to {high} %)",
        rate.count,
        rate.runs,
        percent(f64::from(rate.count) / f64::from(rate.runs.max(1)))
    )
}

/// The smallest rate at which at least one of so many runs fails with 95 % probability.
#[must_use]
pub fn excluded(runs: u32) -> f64 {
    1.0 - 0.05f64.powf(1.0 / f64::from(runs.max(1)))
}

fn runs(count: u32) -> String {
    format!("{count} run{}", if count == 1 { "" } else { "s" })
}

fn percent(rate: f64) -> String {
    format!("{} %", significant(100.0 * rate, 2))
}

fn length(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", significant(ns as f64 / 1e3, 3)),
        _ => format!("{} ms", significant(ns as f64 / 1e6, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WIDTH;

    fn rate(count: u32, runs: u32) -> FailureRate {
        FailureRate {
            count,
            runs,
            interval: [0.053, 0.108],
        }
    }

    fn document() -> Hunt {
        let side = |name: &str, rate| HuntedSide {
            configuration: name.into(),
            rate,
        };
        Hunt {
            schema: HUNT.into(),
            title: "A race".into(),
            kernel: "debian:6.12".into(),
            cpus: 2,
            until: Vec::new(),
            schedules: 400,
            strategies: BTreeMap::from([("turns".into(), 400)]),
            sides: vec![side("before", rate(31, 400)), side("after", rate(0, 1214))],
            failures: vec![FoundFailure {
                configuration: "before".into(),
                workload: "w".into(),
                oracle: "KASAN".into(),
                place: Some("drop+0x5e [race]".into()),
                line: "BUG: KASAN: slab-use-after-free in drop+0x5e/0x90 [race]".into(),
                signature: "KASAN in drop+0x5e [race]".into(),
                rate: rate(31, 400),
                strategies: BTreeMap::from([("turns".into(), [31, 400])]),
                first: 17,
                crashed: true,
                run: 0,
                schedule: FoundSchedule {
                    seed: 17,
                    delays: vec![FoundDelay {
                        cpu: 1,
                        at_ns: 6_012_345_678,
                        length_ns: 3200,
                        place: Some("pop+0x4a [race]".into()),
                    }],
                    delays_found: 212,
                    repeats: true,
                },
            }],
            comparisons: vec![HuntComparison {
                configuration: "after".into(),
                baseline: "before".into(),
                rates: [rate(31, 400), rate(0, 1214)],
                left_out: 0,
                only: [31, 0],
                evidence: 1e7,
                needed: 20.0,
                answer: HuntAnswer::Fewer,
                excluded: Some(excluded(1214)),
                new: Vec::new(),
            }],
            others: Vec::new(),
            limits: HUNT_LIMITS.into(),
            directory: "race.hunt".into(),
            reproduce: "assize hunt race.toml".into(),
        }
    }

    /// The text of a hunt on one line.
    fn said(of: &Hunt) -> String {
        let text = hunt(of);
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH),
            "{text}"
        );
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_patch_that_removes_the_failure_and_the_schedule_are_said() {
        let text = said(&document());
        for sentence in [
            "before failed in 31 of 400 runs, after in none of 1214: after removes the failure \
             from these schedules; a remaining rate above 0.25 % would have been seen with 95 % \
             probability.",
            "KASAN in drop+0x5e [race] (before): in 31 of 400 runs (7.8 %, 95 % CI 5.3 to 11 %)",
            "Schedule: seed 17, 1 delay of 212; it fails each time.",
            "CPU 1 stops before pop+0x4a [race] for 3.20 µs, at 6012.345678 ms",
            "assize debug race.hunt/failures.bundle 0 --at crash",
            "Cannot find: ",
        ] {
            assert!(text.contains(sentence), "{sentence}\n{text}");
        }
    }

    #[test]
    fn what_is_not_decided_and_what_only_moves_are_said() {
        let mut moved = document();
        let one = &mut moved.comparisons[0];
        one.rates[1] = rate(29, 400);
        (one.answer, one.excluded) = (HuntAnswer::Undecided, None);
        one.new = vec!["oops in other+0x1".into()];
        let text = said(&moved);
        assert!(text.contains("that does not decide which fails more often"));
        assert!(text.contains("after fails in a way in which before did not: oops in other+0x1."));
    }

    #[test]
    fn runs_that_failed_otherwise_are_left_out_and_that_is_said() {
        let mut document = document();
        let one = &mut document.comparisons[0];
        one.left_out = 3;
        let text = said(&document);
        let sentence = "3 pairs are left out, in which one of them failed in a way that does not";
        assert!(text.contains(sentence), "{text}");
        let one = &mut document.comparisons[0];
        (one.answer, one.excluded, one.left_out) = (HuntAnswer::NoPair, None, 400);
        let text = said(&document);
        assert!(text.contains("before and after cannot be compared: with each schedule,"));
        assert!(!text.contains("removes"), "{text}");
        document.sides = vec![document.sides.remove(1)];
        document.sides[0].rate = rate(0, 0);
        assert!(said(&document).contains("None of the runs counts."));
    }

    #[test]
    fn never_and_always_are_said() {
        let mut never = document();
        (never.failures, never.comparisons) = (Vec::new(), Vec::new());
        never.sides.truncate(1);
        never.sides[0].rate = rate(0, 400);
        assert!(said(&never).starts_with(
            "No failure in 400 schedules on 2 CPUs of debian:6.12. A rate of 0.75 % or more would"
        ));
        let mut always = document();
        always.comparisons = Vec::new();
        always.sides.truncate(1);
        always.sides[0].rate = rate(400, 400);
        assert!(said(&always).contains("It fails with every schedule, so this is no race"));
    }
}
