//! What `time` prints: of bash, of POSIX, GNU's with and without `-v`.
//!
//! ```text
//! real    0m33.120s        33.12 user 1.25 system 0:34.40 elapsed
//! user    0m31.001s
//! sys     0m1.250s         Elapsed (wall clock) time (h:mm:ss or m:ss): 0:34.40
//! ```
//!
//! One execution of a command is a run.

use super::begins::Begins;
use super::cells::line_at;
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// `time`; see the module.
pub struct Walltime;

/// Lines of GNU's `time -v` that are kept: beginning, metric, unit.
const VERBOSE: &[(&str, &str, &str)] = &[
    ("Elapsed (wall clock) time", "real", "s"),
    ("User time (seconds):", "user", "s"),
    ("System time (seconds):", "sys", "s"),
    ("Maximum resident set size (kbytes):", "max rss", "kB"),
    ("Major (requiring I/O) page faults:", "major faults", ""),
    (
        "Minor (reclaiming a frame) page faults:",
        "minor faults",
        "",
    ),
    (
        "Voluntary context switches:",
        "voluntary context switches",
        "",
    ),
    (
        "Involuntary context switches:",
        "involuntary context switches",
        "",
    ),
];
/// Other lines of it.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "Percent of CPU this job got:", "Average ", "Swaps:", "File system inputs:",
    "File system outputs:", "Socket messages ", "Signals delivered:", "Page size (bytes):",
    "Exit status:",
];

impl Grammar for Walltime {
    fn name(&self) -> &'static str {
        "time"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"0123456789ruCEU")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        match text.as_bytes() {
            [b'r', b'e', b'a', b'l', ..] | [b'u', b's', b'e', b'r', ..] => part(text).is_some(),
            [b'C', b'o', b'm', b'm', ..] => text.starts_with("Command being timed:"),
            [b'U' | b'E', ..] => verbose(text).is_some(),
            [b'0'..=b'9', ..] => gnu(text).is_some(),
            _ => false,
        }
    }

    fn reach(&self) -> usize {
        1
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let text = line_at(lines, 0)?;
        if let Some(figures) = gnu(text) {
            let mut block = one_run(figures, vec!["time"]);
            // `0inputs+8outputs (0major+211minor)pagefaults 0swaps`
            if line_at(lines, 1).is_some_and(|next| next.contains("pagefaults ")) {
                block.taken.push("time");
            }
            return Some(block);
        }
        parts(lines).or_else(|| report(lines))
    }
}

fn one_run(figures: Vec<Figure>, taken: Vec<Taken>) -> Block {
    let mut block = Block {
        taken,
        ..Block::default()
    };
    let labels = Labels::default();
    block.find(0, Finding::Run { labels, figures });
    block
}

/// `real`, `user` and `sys`, in any order; each once.
fn parts(lines: &[Line<'_>]) -> Option<Block> {
    let mut figures: Vec<Figure> = Vec::new();
    for at in 0..3 {
        let found = line_at(lines, at)
            .filter(|_| lines[at].depth == lines[0].depth)
            .and_then(part);
        match found {
            Some((metric, value)) if figures.iter().all(|f| f.metric != metric) => {
                let mut figure = Figure::new(metric, value, "s");
                let text = line_at(lines, at).unwrap_or_default();
                figure.step = Some(last_digit(text));
                figures.push(figure);
            }
            _ => break,
        }
    }
    let taken = vec!["time" as Taken; figures.len()];
    (figures.iter().any(|f| f.metric == "real")).then(|| one_run(figures, taken))
}

/// `real    0m33.120s`, `user 31.00`, `sys: 1.25s`; where a mail program has dropped the tab,
/// `real0m33.120s`, with all that bash prints.
fn part(text: &str) -> Option<(&'static str, f64)> {
    let text = text.trim();
    let name = ["real", "user", "sys"]
        .into_iter()
        .find(|name| text.starts_with(name))?;
    let rest = &text[name.len()..];
    let glued = rest.contains('m') && rest.ends_with('s');
    let parted = rest.starts_with([' ', '\t', ':']) || glued;
    let value = rest.trim_start_matches([':', ' ', '\t']);
    if !parted || value.len() > 24 {
        return None;
    }
    Some((name, minutes(value)?))
}

/// The place of the last digit of a time.
fn last_digit(text: &str) -> f64 {
    let text = text.trim().trim_end_matches('s');
    let places = text
        .rsplit_once(['.', ','])
        .map_or(0, |(_, digits)| digits.len().min(9));
    10_f64.powi(-i32::try_from(places).unwrap_or(0))
}

/// `1m3.120s`, `1m3,120s`, `33.12s` or `33.12` as seconds.
fn minutes(text: &str) -> Option<f64> {
    let text = text.replace(',', ".");
    if let Some((minutes, seconds)) = text.split_once('m') {
        let (hours, minutes) = match minutes.split_once('h') {
            Some((hours, minutes)) => (whole(hours)?, minutes),
            None => (0.0, minutes),
        };
        let seconds = plain(seconds.strip_suffix('s')?)?;
        let all = hours * 3600.0 + whole(minutes)? * 60.0 + seconds;
        // The sum has no more digits than what was printed.
        return (seconds < 60.0).then_some((all * 1e6).round() / 1e6);
    }
    plain(text.strip_suffix('s').unwrap_or(&text))
}

fn plain(text: &str) -> Option<f64> {
    let first = text.bytes().next()?;
    let fraction = text.contains('.');
    english(text).filter(|_| first.is_ascii_digit() && fraction)
}

fn whole(text: &str) -> Option<f64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    english(text).filter(|_| digits)
}

/// `1:02:03.50` or `2:03.50` as seconds.
fn clock(text: &str) -> Option<f64> {
    let mut seconds = 0.0;
    let parts: Vec<&str> = text.trim().split(':').collect();
    if !(2..=3).contains(&parts.len()) {
        return None;
    }
    for part in parts {
        let value = english(part).filter(|_| part.starts_with(|c: char| c.is_ascii_digit()))?;
        seconds = seconds * 60.0 + value;
    }
    Some(seconds)
}

/// `33.12user 1.25system 0:34.40elapsed 99%CPU (…)`
fn gnu(text: &str) -> Option<Vec<Figure>> {
    let text = text.trim();
    if text.len() > 200 || !text.contains("user ") || !text.contains("elapsed") {
        return None;
    }
    let before = |name: &str| {
        let head = text[..text.find(name)?].trim_end();
        head.rsplit(' ').next()
    };
    let user = plain(before("user ")?)?;
    let sys = plain(before("system")?)?;
    let real = clock(before("elapsed")?)?;
    let figures = [("real", real), ("user", user), ("sys", sys)];
    Some(figures.map(|(m, v)| Figure::new(m, v, "s")).to_vec())
}

/// One line of `time -v` that is kept.
fn verbose(text: &str) -> Option<Figure> {
    let text = text.trim();
    let (start, metric, unit) = VERBOSE.iter().find(|(start, ..)| text.starts_with(start))?;
    let (_, value) = text[start.len() - 1..].rsplit_once(": ")?;
    let value = match *metric {
        "real" => clock(value)?,
        _ => english(value.trim())?,
    };
    Some(Figure::new(*metric, value, *unit))
}

/// GNU's `time -v`.
fn report(lines: &[Line<'_>]) -> Option<Block> {
    let mut taken: Vec<Taken> = Vec::new();
    let mut figures: Vec<Figure> = Vec::new();
    let mut command = None;
    for at in 0..40 {
        let Some(text) = line_at(lines, at).filter(|_| lines[at].depth == lines[0].depth) else {
            break;
        };
        let text = text.trim();
        if let Some(figure) = verbose(text) {
            if figures.iter().any(|f| f.metric == figure.metric) {
                break;
            }
            figures.push(figure);
        } else if let Some(rest) = text.strip_prefix("Command being timed:") {
            if at > 0 {
                break;
            }
            command = Some(rest.trim().trim_matches('"').to_owned());
        } else if !OTHERS.iter().any(|start| text.starts_with(start)) {
            break;
        }
        taken.push("time");
    }
    if figures.len() < 2 {
        return None;
    }
    let mut block = one_run(figures, taken);
    if let Some(command) = command {
        block.findings.insert(0, (0, Finding::Command(command)));
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_minutes_hours_and_commas() {
        assert_eq!(part("real\t1m3.120s"), Some(("real", 63.12)));
        assert_eq!(part("user    0m3,120s"), Some(("user", 3.12)));
        assert_eq!(part("sys 2m55.544s"), Some(("sys", 175.544)));
        assert!((last_digit("sys 2m55.544s") - 0.001).abs() < 1e-12);
        assert_eq!(part("sys 1h2m3.5s"), Some(("sys", 3723.5)));
        assert_eq!(part("real 12.05"), Some(("real", 12.05)));
        assert_eq!(part("real2m14.305s"), Some(("real", 134.305)));
        assert_eq!(clock("1:02:03.50"), Some(3723.5));
        assert_eq!(clock("0:34.40"), Some(34.4));
        for text in [
            "real time 3.5",
            "realtime: 5",
            "user 3",
            "real 0m73.0s",
            "sys:",
            "real -1.5",
            "real12.05",
            "real12.05s",
            "user1m",
            "realm3.5s",
        ] {
            assert_eq!(part(text), None, "{text}");
        }
    }
}
