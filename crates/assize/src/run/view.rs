//! The live view of a running experiment on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often the view is redrawn.
const TICK: Duration = Duration::from_millis(500);

/// A progress line on a terminal, on standard error. It is cut at the current width, so it never
/// wraps, and can be removed without a trace.
pub(super) struct TerminalView(ProgressBar);

impl TerminalView {
    pub(super) fn new(runs: usize) -> TerminalView {
        let bar = ProgressBar::new(runs as u64);
        // If the template cannot be parsed, the bar keeps its default style.
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        TerminalView(bar)
    }

    /// Shows the number of recorded runs, and the status.
    pub(super) fn show(&self, recorded: u32, status: &str) {
        self.0.set_position(recorded.into());
        self.0.set_message(status.to_owned());
    }

    /// Shows the current activity instead of the status.
    pub(super) fn doing(&self, text: &str) {
        self.0.set_message(text.to_owned());
    }

    /// Prints a permanent line above the view.
    pub(super) fn print(&self, text: &str) {
        self.0.suspend(|| eprintln!("{text}"));
    }

    /// Removes the view.
    pub(super) fn clear(&self) {
        self.0.disable_steady_tick();
        self.0.finish_and_clear();
    }
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
