//! The result of `assize when` as text.

use std::fmt::Write as _;

use assize_why::When;
use assize_why::when::{Bad, DrawnMoment, DrawnShare, PartedCpu, Parting, PathStep, WhenAnswer};

use crate::WIDTH;
use crate::number::significant;
use crate::readable::Readable;
use crate::wrap::{fill_lines, push_wrapped_code};

/// Returns the result in at most 72 columns. `command` is the command that was run.
#[must_use]
pub fn when(when: &When, command: &str) -> String {
    let mut text = String::new();
    for sentence in when_sentences(when) {
        text += &fill_lines(&sentence);
    }
    if !when.moments.is_empty() {
        text.push('\n');
        text += &table(&when.moments);
    }
    if let Some(parting) = &when.parting {
        text += &paths(parting);
    }
    text += "\nReproduce:\n";
    push_wrapped_code(&mut text, command);
    text
}

/// Sentences on what was bad, when it became certain, and where the paths part.
pub(crate) fn when_sentences(when: &When) -> Vec<String> {
    let mut sentences = vec![bad(when), answer(when)];
    sentences.extend(when.seeds.map(|share| {
        let alone = if when.cpus == 1 {
            "With one CPU nothing is random after the start of the workload. "
        } else {
            ""
        };
        format!("{alone}Of the runs with other seeds, {}.", ended(&share))
    }));
    sentences.extend(when.parting.as_ref().and_then(first_parting));
    sentences
}

fn bad(when: &When) -> String {
    let run = format!(
        "Run {} ({}, {})",
        when.run, when.configuration, when.workload
    );
    match &when.bad {
        Bad::Ending { ending, why } => format!("{run} {ending}: {why}"),
        Bad::Sample {
            metric,
            number,
            of,
            value,
            median,
            threshold,
            unit,
            ..
        } => format!(
            "{run}: {metric} {number} of {of} is {}, the worst; the median is {}. A draw is bad \
             if its {metric} {number} is at least {}.",
            readable_value(*value, unit),
            readable_value(*median, unit),
            readable_value(*threshold, unit)
        ),
        Bad::Metric {
            metric,
            above,
            value,
            threshold,
            unit,
        } => format!(
            "{run}: {metric} is {}. A run is bad if its {metric} is {} {}.",
            readable_value(*value, unit),
            if *above { "above" } else { "below" },
            readable_value(*threshold, unit)
        ),
    }
}

fn answer(when: &When) -> String {
    match &when.answer {
        WhenAnswer::Nothing { why } => format!("Nothing is bad: {why}."),
        WhenAnswer::Start => "The outcome was certain from the start.".into(),
        WhenAnswer::Seed => {
            "The outcome was decided by what the seed draws before the workload starts.".into()
        }
        WhenAnswer::Moment {
            open_ns,
            certain_ns,
            rises,
        } => {
            let mut text = format!(
                "The outcome was open until {} ms, certain from {} ms.",
                milliseconds(*open_ns),
                milliseconds(*certain_ns)
            );
            let share = |at: &u64| {
                let found = when.moments.iter().find(|one| one.time_ns == *at);
                found.map_or_else(String::new, |one| percent(&one.share))
            };
            for [from, to] in rises {
                let _ = write!(
                    text,
                    " The share of bad draws rose from {} to {} between {} and {} ms.",
                    share(from),
                    share(to),
                    milliseconds(*from),
                    milliseconds(*to)
                );
            }
            text
        }
    }
}

fn first_parting(parting: &Parting) -> Option<String> {
    fn first(steps: &[PathStep]) -> Option<&str> {
        steps.first().map(|step| step.what.as_str())
    }
    if let Some(one) = parting.cpus.first() {
        let next = |steps| match first(steps) {
            Some(what) => format!("enters {what}"),
            None => format!("goes on in {}", one.within),
        };
        return Some(format!(
            "CPU {} is the first to diverge from a draw that ended well, at {} ms in {}: in this \
             run it {}, in the draw it {}.",
            one.cpu,
            milliseconds(one.time_ns),
            one.within,
            next(&one.bad),
            next(&one.good)
        ));
    }
    let until = milliseconds(parting.until_ns);
    let mut text = format!(
        "Up to {until} ms every CPU enters the same kernel functions as in a draw that ended well."
    );
    if let Some(one) = parting.events.first() {
        let _ = write!(
            text,
            " The first event that differs is on CPU {}, at {} ms: in this run {}, in the draw {}.",
            one.cpu,
            milliseconds(one.time_ns),
            first(&one.bad).unwrap_or("none"),
            first(&one.good).unwrap_or("none")
        );
    }
    Some(text)
}

fn table(moments: &[DrawnMoment]) -> String {
    let mut text = format!(
        "{:>18}  {:>12}  {:>6}  {:>8}\n",
        "from (ms)", "bad of draws", "share", "95 %"
    );
    for moment in moments {
        let share = &moment.share;
        let interval = format!("{:.0}-{:.0}", share.low * 100.0, share.high * 100.0);
        let _ = writeln!(
            text,
            "{:>18}  {:>5} of {:<4}  {:>6}  {interval:>8}",
            milliseconds(moment.time_ns),
            share.bad,
            share.draws,
            percent(share)
        );
    }
    text
}

fn paths(parting: &Parting) -> String {
    let mut text = String::new();
    for one in &parting.cpus {
        let within = if one.within.is_empty() {
            String::new()
        } else {
            format!(" in {}", one.within)
        };
        let _ = write!(text, "\nCPU {} diverges{within}\n", one.cpu);
        text += &steps(one, parting.draw);
    }
    for one in &parting.events {
        let _ = write!(text, "\nEvents of CPU {}\n", one.cpu);
        text += &steps(one, parting.draw);
    }
    text
}

fn steps(one: &PartedCpu, draw: u32) -> String {
    let mut text = String::new();
    let draw = format!("draw {draw}");
    for (who, steps) in [
        ("both", &one.common),
        ("this run", &one.bad),
        (&draw, &one.good),
    ] {
        let mut who = who;
        for step in steps {
            let line = format!(
                "  {who:<10}{:>14}  {}",
                milliseconds(step.time_ns),
                step.what
            );
            text += line.get(..line.len().min(WIDTH)).unwrap_or(&line);
            text.push('\n');
            who = "";
        }
    }
    text
}

fn ended(share: &DrawnShare) -> String {
    format!(
        "{} of {} are bad ({:.0} to {:.0} %)",
        share.bad,
        share.draws,
        share.low * 100.0,
        share.high * 100.0
    )
}

pub(crate) fn percent(share: &DrawnShare) -> String {
    let part = f64::from(share.bad) / f64::from(share.draws.max(1));
    format!("{:.0} %", part * 100.0)
}

fn readable_value(value: f64, unit: &str) -> String {
    let readable = Readable::for_values(unit, std::iter::once(value));
    let text = format!(
        "{} {}",
        significant(readable.value(value), 3),
        readable.unit
    );
    text.trim_end().to_owned()
}

/// Formats a time in ms with all digits of the nanoseconds.
#[must_use]
pub fn milliseconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(within: &str, bad: &str, good: &str) -> PartedCpu {
        let steps = |what: &str| {
            let what = what.into();
            vec![PathStep { time_ns: 7, what }]
        };
        PartedCpu {
            cpu: 1,
            time_ns: 5_000_007,
            within: within.into(),
            common: Vec::new(),
            bad: steps(bad),
            good: steps(good),
        }
    }

    #[test]
    fn the_first_difference_is_a_function_or_else_an_event() {
        let mut parting = Parting {
            from_ns: 0,
            until_ns: 9_000_000,
            draw: 1,
            cpus: vec![parted("lock", "slow", "unlock")],
            events: vec![parted("", "sched_waking by a", "sched_switch by b")],
        };
        let said = |parting: &Parting| first_parting(parting).unwrap_or_default();
        let functions = "at 5.000007 ms in lock: in this run it enters slow, in the draw it enters \
                         unlock.";
        assert!(said(&parting).ends_with(functions), "{}", said(&parting));
        parting.cpus.clear();
        let events = "on CPU 1, at 5.000007 ms: in this run sched_waking by a, in the draw \
                      sched_switch by b.";
        assert!(said(&parting).ends_with(events), "{}", said(&parting));
        parting.events.clear();
        assert!(
            said(&parting).ends_with("ended well."),
            "{}",
            said(&parting)
        );
    }
}
