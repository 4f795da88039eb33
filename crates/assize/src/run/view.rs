//! The live view of a running experiment on a terminal.

use std::time::Duration;

use assize_report::{printable, ratio, significant};
use assize_verdict::{InterimResult, Scale};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// The maximum number of intervals shown.
pub(super) const MOST: usize = 6;
/// How often the view is redrawn.
const TICK: Duration = Duration::from_millis(500);

/// A view on a terminal, drawn on standard error: one line of progress, and one for each
/// interval. Each line is cut at the current width of the terminal, so none wraps;
/// removing the view leaves nothing behind.
pub(super) struct TerminalView {
    multi: MultiProgress,
    bar: ProgressBar,
    rows: Vec<ProgressBar>,
}

impl TerminalView {
    pub(super) fn new(runs: usize) -> TerminalView {
        let multi = MultiProgress::new();
        let bar = multi.add(ProgressBar::new(runs as u64));
        // If the template cannot be parsed, the bar keeps its default style.
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        TerminalView {
            multi,
            bar,
            rows: Vec::new(),
        }
    }

    /// Shows the number of recorded runs, the status, and the intervals.
    pub(super) fn show(&mut self, recorded: u32, status: &str, intervals: &[String]) {
        self.bar.set_position(recorded.into());
        self.bar.set_message(status.to_owned());
        while self.rows.len() < intervals.len() {
            let row = self.multi.add(ProgressBar::new(0));
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                row.set_style(style);
            }
            self.rows.push(row);
        }
        for (row, text) in self.rows.iter().zip(intervals) {
            row.set_message(text.clone());
        }
    }

    /// Shows what is in progress instead of the status.
    pub(super) fn doing(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// Prints a line that stays, above the view.
    pub(super) fn print(&self, text: &str) {
        self.multi.suspend(|| eprintln!("{text}"));
    }

    /// Removes the view.
    pub(super) fn clear(&self) {
        self.bar.disable_steady_tick();
        for row in &self.rows {
            row.finish_and_clear();
        }
        self.bar.finish_and_clear();
        // A failure to write to standard error cannot be reported there.
        let _ = self.multi.clear();
    }
}

/// One interval in a line, such as `time on pipe: queue 0.901 [0.896, 0.906] of
/// base, n 4:4`.
pub(super) fn interval(row: &InterimResult) -> String {
    let show = |value: f64| match row.scale {
        Scale::Raw => significant(value, 3),
        Scale::Log | Scale::Summary => ratio(value),
    };
    let [low, high] = row.ci.map(show);
    let relation = match row.scale {
        Scale::Raw => format!("{} more than {}", row.unit, row.baseline),
        Scale::Log | Scale::Summary => format!("of {}", row.baseline),
    };
    let line = format!(
        "  {} on {}: {} {} [{low}, {high}] {relation}, n {}:{}",
        row.metric,
        row.workload,
        row.configuration,
        show(row.effect),
        row.n,
        row.n_baseline
    );
    printable(&line).replace('\n', " ")
}

/// The first intervals, and how many more there are.
pub(super) fn intervals(rows: &[InterimResult]) -> Vec<String> {
    let mut lines: Vec<String> = rows.iter().take(MOST).map(interval).collect();
    if rows.len() > MOST {
        lines.push(format!("  and {} more", rows.len() - MOST));
    }
    lines
}

/// The estimated time left at the current pace: `about 12 min left`.
pub(super) fn time_left(elapsed: Duration, done: u32, rest: u32) -> Option<String> {
    if done == 0 || rest == 0 {
        return None;
    }
    let seconds = elapsed.as_secs_f64() / f64::from(done) * f64::from(rest);
    Some(if seconds < 90.0 {
        format!("about {} s left", seconds.ceil())
    } else if seconds < 5400.0 {
        format!("about {:.0} min left", seconds / 60.0)
    } else {
        format!("about {:.1} h left", seconds / 3600.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(metric: &str) -> InterimResult {
        InterimResult {
            workload: "pipe".into(),
            metric: metric.into(),
            unit: "s".into(),
            baseline: "base".into(),
            configuration: "queue".into(),
            effect: 0.901,
            ci: [0.896, 0.906],
            scale: Scale::Log,
            n_baseline: 4,
            n: 4,
        }
    }

    #[test]
    fn an_interval_is_a_line() {
        assert_eq!(
            interval(&row("time")),
            "  time on pipe: queue 0.901 [0.896, 0.906] of base, n 4:4"
        );
        let raw = InterimResult {
            scale: Scale::Raw,
            effect: -2.0,
            ci: [-3.0, -1.0],
            ..row("a\nb\u{1b}[2J")
        };
        let line = interval(&raw);
        assert!(
            line.contains("-2.00 [-3.00, -1.00] s more than base"),
            "{line}"
        );
        assert!(!line.contains('\u{1b}') && !line.contains('\n'), "{line}");
    }

    #[test]
    fn of_many_intervals_the_first_are_shown_and_the_others_counted() {
        let lines = intervals(&vec![row("time"); MOST + 3]);
        assert_eq!(lines.len(), MOST + 1);
        assert_eq!(lines[MOST], "  and 3 more");
        assert!(intervals(&[]).is_empty());
    }

    #[test]
    fn the_time_left_goes_by_what_was_done() {
        let of = |elapsed, done, rest| time_left(Duration::from_secs(elapsed), done, rest);
        assert_eq!(of(10, 0, 5), None, "nothing is known yet");
        assert_eq!(of(10, 5, 0), None, "nothing is left");
        assert_eq!(of(10, 5, 5).unwrap(), "about 10 s left");
        assert_eq!(of(60, 1, 4).unwrap(), "about 4 min left");
        assert_eq!(of(3600, 1, 3).unwrap(), "about 3.0 h left");
    }
}
