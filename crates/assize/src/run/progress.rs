//! Progress messages during runs, on standard error only: a live view on a terminal, otherwise a
//! line for each run and a status line from time to time.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use assize_bundle::{Measurement, RunExit, RunRecord};
use assize_plan::{Plan, PlannedRun};
use assize_report::{printable, significant};

use super::engine::FinishedExecution;
use super::reproducibility::{self, ReproducibilityCounts};
use super::view::{self, TerminalView};

/// Minimum number of runs between status lines without a view, which are otherwise printed after
/// every tenth of the runs.
const FEWEST: u32 = 10;
/// Without a view, a line announces a run that takes longer than this.
const LONG: Duration = Duration::from_secs(20);

/// Counts of runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RunTally {
    /// Recorded runs, including those of an earlier process.
    pub(crate) recorded: u32,
    /// Runs recorded by this process.
    pub(crate) new: u32,
    /// Runs from the cache, among `new`.
    pub(crate) cached: u32,
    /// Failed runs, among `new`.
    pub(crate) failed: u32,
}

/// Reports the progress of runs.
pub(crate) struct Progress<'a> {
    plan: &'a Plan,
    shown: ProgressDisplay,
    tally: RunTally,
    compared: ReproducibilityCounts,
    /// Remaining runs in each cell.
    left: BTreeMap<(usize, usize), u32>,
    begun: Instant,
    /// The current activity, for the view.
    now: String,
    /// Long runs that have been announced.
    long: BTreeSet<u32>,
}

enum ProgressDisplay {
    View(TerminalView),
    Lines,
    Nothing,
}

impl<'a> Progress<'a> {
    /// Progress of a plan some of whose runs are recorded already.
    pub(crate) fn new(plan: &'a Plan, is_recorded: impl Fn(u32) -> bool, quiet: bool) -> Self {
        let shown = if quiet {
            ProgressDisplay::Nothing
        } else if std::io::stderr().is_terminal() {
            ProgressDisplay::View(TerminalView::new(plan.runs.len()))
        } else {
            ProgressDisplay::Lines
        };
        let mut progress = Progress {
            plan,
            shown,
            tally: RunTally::default(),
            compared: ReproducibilityCounts::default(),
            left: BTreeMap::new(),
            begun: Instant::now(),
            now: String::new(),
            long: BTreeSet::new(),
        };
        for run in &plan.runs {
            let left = progress.left.entry(cell(run)).or_default();
            if is_recorded(run.index) {
                progress.tally.recorded += 1;
            } else {
                *left += 1;
            }
        }
        progress.draw();
        progress
    }

    pub(crate) fn tally(&self) -> RunTally {
        self.tally
    }

    pub(crate) fn compared(&self) -> ReproducibilityCounts {
        self.compared
    }

    /// Marks the start of the runs; time before it does not count in the estimate of the time left.
    pub(crate) fn begin(&mut self) {
        self.begun = Instant::now();
    }

    pub(crate) fn print(&self, text: &str) {
        match &self.shown {
            ProgressDisplay::View(view) => view.print(text),
            ProgressDisplay::Lines => eprintln!("{text}"),
            ProgressDisplay::Nothing => {}
        }
    }

    pub(crate) fn print_output(&self, recorded: &RunRecord) {
        let of_command = |name: &str| name.ends_with(".stdout") || name.ends_with(".stderr");
        for (_, text) in recorded.raw.iter().filter(|(name, _)| of_command(name)) {
            let text = text.strip_suffix('\n').unwrap_or(text);
            text.lines().for_each(|line| self.print(&printable(line)));
        }
    }

    /// Reports a step of preparing the target.
    pub(crate) fn prepares(&self, text: &str) {
        match &self.shown {
            ProgressDisplay::View(view) => view.doing(&printable(text)),
            ProgressDisplay::Lines => eprintln!("{}", printable(text)),
            ProgressDisplay::Nothing => {}
        }
    }

    /// Reports the current runs, each with its start time.
    pub(crate) fn under_way(&mut self, runs: &BTreeMap<usize, (PlannedRun, Instant)>) {
        match self.shown {
            ProgressDisplay::View(_) => {
                let now = self.now(runs.values().map(|(run, _)| run));
                if self.now != now {
                    self.now = now;
                    self.draw();
                }
            }
            ProgressDisplay::Lines => {
                let since = runs.values().map(|(run, since)| (run, since.elapsed()));
                for line in self.long(since) {
                    eprintln!("{line}");
                }
            }
            ProgressDisplay::Nothing => {}
        }
    }

    /// The current runs, for the view.
    fn now<'r>(&self, runs: impl Iterator<Item = &'r PlannedRun>) -> String {
        let names: Vec<String> = runs.map(|run| self.place(run)).collect();
        match names.is_empty() {
            true => String::new(),
            false => printable(&format!(", now {}", names.join(" and "))).into(),
        }
    }

    /// A line for each run that has become long; printed once per run.
    fn long<'r>(&mut self, runs: impl Iterator<Item = (&'r PlannedRun, Duration)>) -> Vec<String> {
        let long = runs.filter(|(_, time)| *time >= LONG);
        let long: Vec<_> = long.map(|(run, _)| *run).collect();
        let new = long.into_iter().filter(|run| self.long.insert(run.index));
        let new: Vec<PlannedRun> = new.collect();
        let line = |run: &PlannedRun| {
            let (number, place) = (run.index, self.place(run));
            let text = format!("run {number}: {place}: running for {} s", LONG.as_secs());
            printable(&text).replace('\n', " ")
        };
        new.iter().map(line).collect()
    }

    /// `CONFIGURATION on WORKLOAD`.
    fn place(&self, run: &PlannedRun) -> String {
        let configuration = self.plan.configurations.get(run.configuration);
        let workload = self.plan.workloads.get(run.workload);
        format!(
            "{} on {}",
            configuration.map_or("", |one| &one.name),
            workload.map_or("", |one| &one.name)
        )
    }

    /// Reports that one execution of a run has ended.
    pub(crate) fn ended(&mut self, ended: &FinishedExecution, recorded: &RunRecord) {
        self.compared.count(&ended.done);
        if let Some(how) = reproducibility::differed(&ended.done) {
            let number = ended.run.index;
            let text = format!("run {number}: two executions of it differed: {how}");
            self.print(&printable(&text).replace('\n', " "));
        }
        if !ended.again {
            self.count(ended, recorded);
        }
        let failed = matches!(recorded.exit, RunExit::Failed { .. });
        match &self.shown {
            ProgressDisplay::View(view) => {
                if failed {
                    view.print(&self.line(ended, recorded));
                }
                self.draw();
            }
            ProgressDisplay::Lines => {
                for line in self.lines(ended, recorded) {
                    eprintln!("{line}");
                }
            }
            ProgressDisplay::Nothing => {}
        }
    }

    /// Reports that another process has recorded a run.
    pub(crate) fn recorded_elsewhere(&mut self, run: &PlannedRun) {
        self.tally.recorded += 1;
        self.tally.new += 1;
        self.is_done(run);
        match &self.shown {
            ProgressDisplay::Lines if self.is_due() => eprintln!("so far: {}", self.status()),
            _ => self.draw(),
        }
    }

    /// The lines without a view: the run, and from time to time the status.
    fn lines(&mut self, ended: &FinishedExecution, recorded: &RunRecord) -> Vec<String> {
        let mut lines = vec![self.line(ended, recorded)];
        if self.is_due() && !ended.again {
            lines.push(format!("so far: {}", self.status()));
        }
        lines
    }

    /// Whether it is time for the status.
    fn is_due(&self) -> bool {
        let all = u32::try_from(self.plan.runs.len()).unwrap_or(u32::MAX);
        let every = (all / 10).max(FEWEST);
        self.tally.recorded.is_multiple_of(every) && self.tally.recorded < all
    }

    fn draw(&self) {
        if let ProgressDisplay::View(view) = &self.shown {
            view.show(self.tally.recorded, &(self.status() + &self.now));
        }
    }

    /// `12/288 runs, 3/48 cells, 1 failed, 5 cached, about 4 min left`.
    fn status(&self) -> String {
        let RunTally {
            recorded,
            new,
            cached,
            failed,
        } = self.tally;
        let cells = self.left.values().filter(|&&left| left == 0).count();
        let mut text = format!(
            "{recorded}/{} runs, {cells}/{} cells",
            self.plan.runs.len(),
            self.left.len()
        );
        for (count, what) in [(failed, "failed"), (cached, "cached")] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        let rest = self.left.values().sum();
        if let Some(left) = view::time_left(self.begun.elapsed(), new, rest) {
            text.push_str(&format!(", {left}"));
        }
        text
    }

    fn count(&mut self, ended: &FinishedExecution, recorded: &RunRecord) {
        let tally = &mut self.tally;
        tally.recorded += 1;
        tally.new += 1;
        tally.cached += u32::from(ended.done.cached);
        tally.failed += u32::from(matches!(recorded.exit, RunExit::Failed { .. }));
        self.is_done(&ended.run);
    }

    fn is_done(&mut self, run: &PlannedRun) {
        if let Some(left) = self.left.get_mut(&cell(run)) {
            *left = left.saturating_sub(1);
        }
    }

    fn line(&self, ended: &FinishedExecution, recorded: &RunRecord) -> String {
        let run = &recorded.run;
        let mut line = format!(
            "[{}/{}] run {}: {} on {}",
            self.tally.recorded,
            self.plan.runs.len(),
            ended.run.index,
            run.configuration,
            run.workload
        );
        match &recorded.exit {
            RunExit::Failed { why, .. } => {
                line.push_str(&format!(": failed: {why}"));
                if ended.again {
                    line.push_str("; it is retried");
                }
            }
            RunExit::Completed => {
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

    /// Removes the view.
    pub(crate) fn finish(&self) {
        if let ProgressDisplay::View(view) = &self.shown {
            view.clear();
        }
    }
}

/// Removes the view even if the work ends with an error.
impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

fn cell(run: &PlannedRun) -> (usize, usize) {
    (run.configuration, run.workload)
}

/// The first primary metric that the run has, otherwise its first metric.
fn headline<'r>(plan: &Plan, recorded: &'r RunRecord) -> Option<(&'r String, &'r Measurement)> {
    let metrics = &recorded.run.metrics;
    let mut primary = plan.primary.iter();
    primary
        .find_map(|primary| metrics.get_key_value(&primary.metric))
        .or_else(|| metrics.first())
}

/// A value with its unit in three digits; nanoseconds are converted to a suitable unit.
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
#[path = "progress_tests.rs"]
mod in_lines;

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
