//! Comparisons as the kernel test robot (LKP, 0-day) mails them.
//!
//! A block names the parameters of the job, then the commits, then one column for each commit and a
//! row for each metric: `883.77 ±  4%  +67.2%  1478 ±  9%  job.ops_per_sec`.
//!
//! Each column is a configuration; the first one is the parent commit, with which the others are
//! compared. A value is the mean over the runs of its commit. The number after `±` is their
//! standard deviation in per cent of the mean, with divisor n instead of n - 1, and truncated to an
//! integer. It is left out if it is 2 % or less (`lib/compare.rb` of lkp-tests). So only an upper
//! bound of it is known, and the bound is reported: a conclusion that holds with the bound also
//! holds with any smaller deviation. The number of
//! runs is only printed in blocks that begin with failures (`:4`: none of four); elsewhere n is unknown.

use assize_bundle::Spread;

use super::prelude::*;

/// The robot's table.
pub const LKP: Grammar = Grammar {
    first: b"=0123456789abcdefv",
    reach: HEAD,
    names_what_it_compares: true,
    ..Grammar::new("lkp", starts, read)
};

/// Longest row, with some forty columns.
const LONGEST: usize = 2000;
/// Most lines between the first line and the rows.
const HEAD: usize = 60;
/// The standard deviation that is not printed is at most this, in per cent.
const UNPRINTED: f64 = 2.0;
/// The last digit of a printed standard deviation, in per cent.
const STEP: f64 = 1.0;

/// Parameters that say what the kernel was built with, not what was executed.
const BUILD: [&str; 4] = ["compiler", "kconfig", "rootfs", "ucode"];

/// A mean with its deviation, if printed. Between them is `±`, or `~` in the robot's early years,
/// or what an undeclared or wrong (Latin-2) character set has made of `±`.
static CELL: Form = Form::new(
    r"^\s*(?<mean>[-+]?\d[\d.]*(?:e[-+]?\d+)?)(?:\s*Â?(?:[±\x{fffd}ą~]|\+-)\s*(?<sd>\d+)%)?(?:\s|$)",
);
/// A change: a percentage, or a difference of percentages.
static CHANGE: Form = Form::new(r"^\s*[-+]\d[\d.]*(?:e[-+]?\d+)?%?\s");

fn starts(line: &str) -> bool {
    let text = line.trim();
    match text.as_bytes() {
        [b'=', ..] => text.len() >= 40 && text.bytes().all(|b| b == b'='),
        [b'c', ..] => text == "commit:",
        [b'0'..=b'9' | b'a'..=b'f' | b'v', ..] => names_line(text),
        _ => false,
    }
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let taken = Vec::new();
    let mut reader = Reader { lines, taken };
    let workload = reader.parameters();
    let commits = reader.commits();
    let names = reader.names()?;
    let runs = reader.failures(names.len());
    reader.heading("%stddev", '\\')?;
    let labels = |name: &&str| Labels::new(Some(full_name(name, &commits)), workload.clone());
    let columns: Vec<Labels> = names.iter().map(labels).collect();
    let mut block = Block::default();
    for (at, row) in reader.rows(names.len()) {
        let Some((values, metric)) = row else {
            let detail = "the number of figures in a row differs from that of commits";
            block.doubt(at, "ragged-row", detail);
            continue;
        };
        for ((value, labels), n) in values.iter().zip(&columns).zip(&runs) {
            let figure = Figure::new(metric, value.mean, "");
            block.find(at, summary(labels, figure, value.spread(*n), *n));
        }
    }
    block.taken = reader.taken;
    let read = |(_, finding): &(usize, Finding)| matches!(finding, Finding::Summary { .. });
    block.findings.iter().any(read).then_some(block)
}

/// Whether a line may name commits: at least two words, each with a digit.
fn names_line(text: &str) -> bool {
    // Most lines of prose end this at their first word.
    let name = |word: &str| word.len() >= 4 && word.bytes().any(|b| b.is_ascii_digit());
    text.len() <= LONGEST
        && text.split_whitespace().all(name)
        && text.split_whitespace().nth(1).is_some()
}

/// The name of a column with the subject of its commit, where it is listed.
fn full_name(name: &str, commits: &[&str]) -> String {
    let listed = commits.iter().find(|listed| {
        let hash = listed.split_whitespace().next().unwrap_or_default();
        hash.len() >= 6 && (name.starts_with(hash) || hash.starts_with(name))
    });
    label(listed.unwrap_or(&name))
}

/// A cursor over the lines of a message.
struct Reader<'a, 'l> {
    lines: &'a [Line<'l>],
    /// Descriptions of the lines taken so far.
    taken: Vec<Taken>,
}

impl<'a> Reader<'a, '_> {
    fn ahead(&self, by: usize) -> Option<&'a str> {
        let at = self.taken.len() + by;
        let text = line_at(self.lines, at)?;
        (self.lines[at].depth == self.lines[0].depth && text.len() <= LONGEST).then_some(text)
    }

    fn here(&self) -> Option<&'a str> {
        self.ahead(0)
    }

    fn take(&mut self, what: Taken, lines: usize) {
        self.taken.resize(self.taken.len() + lines, what);
    }

    fn blanks(&mut self) {
        while self.here().is_some_and(|text| text.trim().is_empty()) && self.taken.len() < HEAD {
            self.take("blank", 1);
        }
    }

    /// Reads the job's parameters, names on one line and values on the next, as a workload.
    fn parameters(&mut self) -> Option<String> {
        if self.here()?.trim().starts_with("====") {
            self.take("lkp rule", 1);
        }
        let names = self.here()?.trim().strip_suffix(':')?;
        let values = self.ahead(1)?.trim();
        if !names.contains('/') || !values.contains('/') {
            return None;
        }
        self.take("lkp parameters", 2);
        self.blanks();
        Some(workload(names, values))
    }

    /// Reads the commits with their subjects, which follow `commit:` or a similar heading.
    fn commits(&mut self) -> Vec<&'a str> {
        let axis = |text: &str| {
            let word = text.trim().strip_suffix(':');
            word.is_some_and(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase()))
        };
        let mut commits = Vec::new();
        if self.here().is_some_and(axis) {
            self.take("lkp commits", 1);
            while let Some(text) = self.here().map(str::trim)
                && !text.is_empty()
                && self.taken.len() < HEAD
            {
                commits.push(text);
                self.take("lkp commits", 1);
            }
            self.blanks();
        }
        commits
    }

    /// Reads the names of the columns, which are underlined with dashes.
    fn names(&mut self) -> Option<Vec<&'a str>> {
        let names: Vec<&str> = self.here()?.split_whitespace().collect();
        let bars: Vec<&str> = self.ahead(1)?.split_whitespace().collect();
        let bar = |bar: &&str| bar.len() >= 8 && bar.bytes().all(|b| b == b'-');
        let twice = (1..names.len()).any(|at| names[..at].contains(&names[at]));
        if bars.len() < 2 || !bars.iter().all(bar) || names.len() != bars.len() || twice {
            return None;
        }
        self.take("lkp columns", 2);
        Some(names)
    }

    /// Takes a heading that has `word` over every column, and the marks below it.
    fn heading(&mut self, word: &str, mark: char) -> Option<()> {
        let first = self.here()?.split_whitespace().next()?;
        let marks = self.ahead(1)?.trim_start();
        (first == word && marks.starts_with(mark)).then(|| self.take("lkp heading", 2))
    }

    /// Reads the rows of failures. Returns the number of runs of each column; `None` if its rows
    /// disagree about it.
    fn failures(&mut self, columns: usize) -> Vec<Option<u32>> {
        let mut rows: Vec<Vec<u32>> = Vec::new();
        if self.heading("fail:runs", '|').is_some() {
            while let Some(row) = self.here().and_then(|text| failure_row(text, columns)) {
                rows.push(row);
                self.take("lkp failures", 1);
            }
        }
        let agreed = |column: usize| {
            let n = rows.first()?[column];
            (n > 0 && rows.iter().all(|row| row[column] == n)).then_some(n)
        };
        (0..columns).map(agreed).collect()
    }

    /// The rows, each with its line; none for a row that is damaged.
    fn rows(&mut self, columns: usize) -> Vec<(usize, Option<Row<'a>>)> {
        let mut rows = Vec::new();
        while let Some(text) = self.here() {
            let row_of = |text: &'a str| row(text, columns);
            let row = row_of(text);
            if row.is_some() || damaged(text) && !rows.is_empty() {
                rows.push((self.taken.len(), row));
                self.take("lkp row", 1);
            } else if text.trim().is_empty() && self.ahead(1).and_then(row_of).is_some() {
                self.take("blank", 1);
            } else {
                break;
            }
        }
        rows
    }
}

/// `ops mode=thread nr_task=50% on BOX`: what was executed and where.
fn workload(names: &str, values: &str) -> String {
    let pairs = || names.split('/').zip(values.split('/'));
    if names.matches('/').count() != values.matches('/').count() {
        return label(values);
    }
    let test = pairs().find(|(key, _)| *key == "testcase");
    let mut name = test.map_or("job", |(_, test)| test).to_owned();
    for (key, part) in pairs() {
        if key != "testcase" && !BUILD.contains(&key) && !part.is_empty() {
            name.push_str(&format!(" {key}={part}"));
        }
    }
    label(&name)
}

/// The numbers of runs in a row such as `:4   25%   1:4   dmesg.BUG`.
fn failure_row(text: &str, columns: usize) -> Option<Vec<u32>> {
    let mut runs = Vec::new();
    for word in text.split_whitespace().take(columns * 2) {
        match word.split_once(':') {
            Some((failed, n)) if failed.bytes().all(|b| b.is_ascii_digit()) => {
                runs.push(n.parse().ok()?);
            }
            _ => drop(english(word.strip_suffix('%')?)?),
        }
        if runs.len() == columns {
            return Some(runs);
        }
    }
    None
}

/// One cell.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Value {
    mean: f64,
    /// In per cent, as it was printed.
    sd: Option<f64>,
}

impl Value {
    /// The largest standard deviation that would be printed like this, converted to divisor n - 1
    /// if n is known. It is not printed for a single run either, so a missing one says nothing
    /// unless n is known.
    fn spread(self, n: Option<u32>) -> Option<Spread> {
        let n = n.map(f64::from);
        let most = match (self.sd, n) {
            (_, Some(n)) if n < 2.0 => return None,
            (Some(sd), _) => sd + STEP,
            // The robot prints none under a mean that is not positive.
            (None, Some(_)) if self.mean > 0.0 => UNPRINTED,
            (None, _) => return None,
        };
        let unbiased = n.map_or(1.0, |n| (n / (n - 1.0)).sqrt());
        let sd = most / 100.0 * self.mean.abs() * unbiased;
        Some(Spread::StandardDeviation(sd))
    }
}

/// The cells of a row, and its metric.
type Row<'t> = (Vec<Value>, &'t str);

/// `883.77 ±  4%     +67.2%       1478 ±  9%  metric`
fn row(text: &str, columns: usize) -> Option<Row<'_>> {
    let mut rest = text;
    let mut values = Vec::new();
    for column in 0..columns {
        if column > 0 {
            rest = &rest[CHANGE.find(rest)?.end()..];
        }
        let found = CELL.captures(rest)?;
        let sd = found.name("sd").and_then(|sd| english(sd.as_str()));
        let mean = english(&found["mean"])?;
        values.push(Value { mean, sd });
        rest = &rest[found[0].len()..];
    }
    let metric = rest.trim();
    let named = metric.starts_with(|c: char| c.is_ascii_alphabetic());
    (named && metric.split_whitespace().count() <= 2).then_some((values, metric))
}

/// Whether a line looks like a damaged row.
fn damaged(text: &str) -> bool {
    let number = text.split_whitespace().next().and_then(english);
    number.is_some() && text.contains('%') && text.starts_with("   ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_the_standard_deviation_covers_what_was_cut_off() {
        let spread = |mean, sd, n| match (Value { mean, sd }).spread(n) {
            Some(Spread::StandardDeviation(sd)) => sd,
            _ => -1.0,
        };
        // Five runs: 1.0 × 4 and 1.5, of which the robot prints `±  18%`.
        let (sd, truth) = (spread(1.1, Some(18.0), Some(5)), 0.05_f64.sqrt());
        assert!(sd >= truth && sd < truth * 1.1, "{sd} {truth}");
        assert!((spread(1.1, Some(18.0), None) - 0.19 * 1.1).abs() < 1e-12);
        assert!(spread(5.0, None, Some(4)) > 0.0);
        for (mean, sd, n) in [
            (1.1, Some(18.0), Some(1)),
            (5.0, None, None),
            (0.0, None, Some(4)),
            (-5.0, None, Some(4)),
        ] {
            assert_eq!(spread(mean, sd, n), -1.0);
        }
    }
}
