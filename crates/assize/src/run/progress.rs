//! What is said while runs are carried out: on standard error, as a bar on a
//! terminal, else a line for each run.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use assize_bundle::{Exit, Measurement, Recorded};
use assize_plan::{Plan, PlannedRun};
use assize_report::{printable, significant};
use indicatif::{ProgressBar, ProgressStyle};

use super::engine::Ended;

/// How the runs went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Recorded, those of an earlier process included.
    pub(crate) recorded: u32,
    /// Recorded by this process.
    pub(crate) new: u32,
    /// Of these, found in the cache.
    pub(crate) cached: u32,
    /// Of these, failed.
    pub(crate) failed: u32,
}

/// Says how the runs go.
pub(crate) struct Progress<'a> {
    plan: &'a Plan,
    shown: Shown,
    tally: Tally,
    /// Runs to come in each cell.
    left: BTreeMap<(usize, usize), u32>,
}

enum Shown {
    Bar(ProgressBar),
    Lines,
    Nothing,
}

impl<'a> Progress<'a> {
    /// Of a plan of which some runs are recorded already.
    pub(crate) fn new(plan: &'a Plan, is_recorded: impl Fn(u32) -> bool, quiet: bool) -> Self {
        let shown = if quiet {
            Shown::Nothing
        } else if std::io::stderr().is_terminal() {
            Shown::Bar(bar(plan.runs.len()))
        } else {
            Shown::Lines
        };
        let mut progress = Progress {
            plan,
            shown,
            tally: Tally::default(),
            left: BTreeMap::new(),
        };
        for run in &plan.runs {
            let left = progress.left.entry(cell(run)).or_default();
            if is_recorded(run.index) {
                progress.tally.recorded += 1;
            } else {
                *left += 1;
            }
        }
        if let Shown::Bar(bar) = &progress.shown {
            bar.set_position(progress.tally.recorded.into());
            bar.reset_eta();
        }
        progress
    }

    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// A sentence of its own.
    pub(crate) fn say(&self, text: &str) {
        match &self.shown {
            Shown::Bar(bar) => bar.suspend(|| eprintln!("{text}")),
            Shown::Lines => eprintln!("{text}"),
            Shown::Nothing => {}
        }
    }

    /// One execution of a run has ended.
    pub(crate) fn ended(&mut self, ended: &Ended, recorded: &Recorded) {
        if !ended.again {
            self.count(ended, recorded);
        }
        let line = self.line(ended, recorded);
        let failed = matches!(recorded.exit, Exit::Failed { .. });
        match &self.shown {
            Shown::Bar(bar) => {
                if failed {
                    bar.suspend(|| eprintln!("{line}"));
                }
                let done = self.left.values().filter(|&&left| left == 0).count();
                bar.set_position(self.tally.recorded.into());
                bar.set_message(format!(
                    "{done}/{} cells, {} failed, {} cached",
                    self.left.len(),
                    self.tally.failed,
                    self.tally.cached
                ));
            }
            Shown::Lines => eprintln!("{line}"),
            Shown::Nothing => {}
        }
    }

    fn count(&mut self, ended: &Ended, recorded: &Recorded) {
        let tally = &mut self.tally;
        tally.recorded += 1;
        tally.new += 1;
        tally.cached += u32::from(ended.done.cached);
        tally.failed += u32::from(matches!(recorded.exit, Exit::Failed { .. }));
        if let Some(left) = self.left.get_mut(&cell(&ended.run)) {
            *left = left.saturating_sub(1);
        }
    }

    fn line(&self, ended: &Ended, recorded: &Recorded) -> String {
        let run = &recorded.run;
        let mut line = format!(
            "run {}/{}: {} on {}",
            ended.run.index + 1,
            self.plan.runs.len(),
            run.configuration,
            run.workload
        );
        match &recorded.exit {
            Exit::Failed { why, .. } => {
                line.push_str(&format!(": failed: {why}"));
                if ended.again {
                    line.push_str("; it is tried again");
                }
            }
            Exit::Completed => {
                if let Some((metric, value)) = headline(self.plan, recorded) {
                    line.push_str(&format!(": {metric} {}", figure(value)));
                }
                if ended.done.cached {
                    line.push_str(" (cached)");
                }
            }
        }
        printable(&line).replace('\n', " ")
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

fn cell(run: &PlannedRun) -> (usize, usize) {
    (run.configuration, run.workload)
}

fn bar(runs: usize) -> ProgressBar {
    let bar = ProgressBar::new(runs as u64);
    let template = "{bar:24} {pos}/{len} runs, {msg}, {eta} left";
    // A template that cannot be parsed leaves the bar as it comes.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// The first primary metric that the run has, else its first metric.
fn headline<'r>(plan: &Plan, recorded: &'r Recorded) -> Option<(&'r String, &'r Measurement)> {
    let metrics = &recorded.run.metrics;
    let mut primary = plan.primary.iter();
    primary
        .find_map(|primary| metrics.get_key_value(&primary.metric))
        .or_else(|| metrics.first())
}

/// A value with its unit in three digits; nanoseconds in the unit that fits.
fn figure(measurement: &Measurement) -> String {
    let Measurement { value, unit } = measurement;
    let scaled = match (unit.as_str(), value.abs()) {
        ("ns", large) if large >= 1e9 => (value / 1e9, "s"),
        ("ns", large) if large >= 1e6 => (value / 1e6, "ms"),
        ("ns", large) if large >= 1e3 => (value / 1e3, "us"),
        _ => (*value, unit.as_str()),
    };
    format!("{} {}", significant(scaled.0, 3), scaled.1)
        .trim_end()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let cases = [
            (4288.0, "ns", "4.29 us"),
            (12.0, "ns", "12.0 ns"),
            (2.5e6, "ns", "2.50 ms"),
            (1234567.0, "", "1234567"),
            (0.5, "J", "0.500 J"),
        ];
        for (value, unit, want) in cases {
            assert_eq!(figure(&Measurement::new(value, unit)), want);
        }
    }
}
