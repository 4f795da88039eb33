//! Comparisons as the kernel test robot (LKP, 0-day) mails them.
//!
//! A block names the parameters of the job, then the commits, then one column
//! for each commit and a row for each metric:
//!
//! ```text
//!          %stddev     %change         %stddev
//!              \          |                \
//!     883.77 ±  4%     +67.2%       1478 ±  9%  job.ops_per_sec
//! ```
//!
//! A column is a configuration, its first one the parent that the others are
//! compared with. A value is the mean of the runs of its commit. Behind `±`
//! stands their standard deviation, in per cent of the mean, divided by n and
//! not by n - 1 and with its fraction cut off; it is left out where it is 2 %
//! or less (`lib/compare.rb` of lkp-tests). So no more than a bound is known of
//! it, and the bound is what is reported: what holds with it holds with less.
//!
//! How many runs there were is only said where the block begins with failures
//! (`:4` is none of four). Elsewhere n is unknown, and nothing can be judged.

use assize_bundle::Spread;

use super::begins::Begins;
use super::block::{Block, Figure, Finding, Grammar, Labels, Taken};
use super::cells::{self, label, line_at};
use super::number::english;
use crate::line::Line;

/// Name of the format.
pub(crate) const LKP: &str = "lkp";

/// The robot's table.
pub struct Lkp;

/// No row is longer, with some forty columns.
const LONGEST: usize = 2000;
/// So many lines may stand between the first line and the rows.
const HEAD: usize = 60;
/// The standard deviation that is not printed is at most this, in per cent.
const UNPRINTED: f64 = 2.0;
/// The last digit of a printed standard deviation, in per cent.
const STEP: f64 = 1.0;

/// Parameters that say what the kernel was built with, not what was executed.
const BUILD: &[&str] = &["compiler", "kconfig", "rootfs", "ucode"];

impl Grammar for Lkp {
    fn name(&self) -> &'static str {
        LKP
    }

    fn names_what_it_compares(&self) -> bool {
        true
    }

    fn begins(&self) -> Begins {
        Begins::with(b"=0123456789abcdefv")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim();
        match text.as_bytes() {
            [b'=', ..] => text.len() >= 40 && text.bytes().all(|b| b == b'='),
            [b'c', ..] => text == "commit:",
            [b'0'..=b'9' | b'a'..=b'f' | b'v', ..] => names_line(text),
            _ => false,
        }
    }

    fn reach(&self) -> usize {
        HEAD
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let mut reader = Reader {
            lines,
            at: 0,
            taken: Vec::new(),
        };
        let workload = reader.parameters();
        let commits = reader.commits();
        let names = reader.names()?;
        let runs = reader.failures(names.len());
        reader.heading("%stddev", '\\')?;
        let mut block = Block::default();
        let rows = reader.rows(names.len());
        if rows.is_empty() {
            return None;
        }
        let columns: Vec<Labels> = names
            .iter()
            .map(|name| Labels {
                configuration: Some(full_name(name, &commits)),
                workload: workload.clone(),
                repetition: None,
            })
            .collect();
        for (at, row) in rows {
            let Some(row) = row else {
                let detail = "a row has not as many figures as there are commits".to_string();
                block.find(at, Finding::Doubt("ragged-row", detail));
                continue;
            };
            for ((value, labels), n) in row.values.iter().zip(&columns).zip(&runs) {
                let figure = Figure::new(row.metric, value.mean, "");
                let finding = cells::summary(labels, figure, value.spread(*n), *n);
                block.find(at, finding);
            }
        }
        block.taken = reader.taken;
        Some(block)
    }
}

/// What a text of commits may look like: two names at least, each with a digit.
fn names_line(text: &str) -> bool {
    // Most lines of prose end this at their first word.
    let name = |word: &str| word.len() >= 4 && word.bytes().any(|b| b.is_ascii_digit());
    text.len() <= LONGEST
        && text.split_whitespace().all(name)
        && text.split_whitespace().nth(1).is_some()
}

/// The name of a column with the subject of its commit, where it is listed.
fn full_name(name: &str, commits: &[String]) -> String {
    let listed = commits.iter().find(|listed| {
        let hash = listed.split_whitespace().next().unwrap_or_default();
        hash.len() >= 6 && (name.starts_with(hash) || hash.starts_with(name))
    });
    listed.map_or_else(|| label(name), |listed| label(listed))
}

/// A cursor over the lines of a message.
struct Reader<'a, 'l> {
    lines: &'a [Line<'l>],
    at: usize,
    taken: Vec<Taken>,
}

impl<'a> Reader<'a, '_> {
    fn ahead(&self, by: usize) -> Option<&'a str> {
        let line = self.lines.get(self.at + by)?;
        let text = line_at(self.lines, self.at + by)?;
        (line.depth == self.lines[0].depth && text.len() <= LONGEST).then_some(text)
    }

    fn here(&self) -> Option<&'a str> {
        self.ahead(0)
    }

    fn take(&mut self, what: Taken, lines: usize) {
        self.taken.extend(std::iter::repeat_n(what, lines));
        self.at += lines;
    }

    fn blanks(&mut self) {
        while self.here().is_some_and(|text| text.trim().is_empty()) && self.at < HEAD {
            self.take("blank", 1);
        }
    }

    /// The job's parameters, names on one line and values below: a workload.
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

    /// The commits with their subjects.
    fn commits(&mut self) -> Vec<String> {
        let axis = |text: &str| {
            let word = text.trim().strip_suffix(':');
            word.is_some_and(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase()))
        };
        if !self.here().is_some_and(axis) {
            return Vec::new();
        }
        self.take("lkp commits", 1);
        let mut commits = Vec::new();
        while let Some(text) = self.here().map(str::trim)
            && !text.is_empty()
            && self.at < HEAD
        {
            commits.push(text.to_owned());
            self.take("lkp commits", 1);
        }
        self.blanks();
        commits
    }

    /// The names above the columns, which lines of dashes part.
    fn names(&mut self) -> Option<Vec<String>> {
        let (names, dashes) = (self.here()?, self.ahead(1)?);
        let bars: Vec<&str> = dashes.split_whitespace().collect();
        let ruled = bars.len() >= 2
            && bars
                .iter()
                .all(|bar| bar.len() >= 8 && bar.bytes().all(|b| b == b'-'));
        let words: Vec<&str> = names.split_whitespace().collect();
        let distinct = words
            .iter()
            .enumerate()
            .all(|(i, w)| !words[..i].contains(w));
        if !ruled || words.len() != bars.len() || !distinct {
            return None;
        }
        self.take("lkp columns", 2);
        Some(words.into_iter().map(str::to_owned).collect())
    }

    /// Takes a heading that has `word` over every column, and the marks below it.
    fn heading(&mut self, word: &str, mark: char) -> Option<()> {
        let first = self.here()?.split_whitespace().next()?;
        let marks = self.ahead(1)?.trim_start();
        if first != word || !marks.starts_with(mark) {
            return None;
        }
        self.take("lkp heading", 2);
        Some(())
    }

    /// Failures in so many runs; gives the number of runs of each column, where
    /// all rows agree about it.
    fn failures(&mut self, columns: usize) -> Vec<Option<u32>> {
        let mut runs: Vec<Option<u32>> = vec![None; columns];
        if self.heading("fail:runs", '|').is_none() {
            return runs;
        }
        let mut agreed = vec![true; columns];
        while let Some(row) = self.here().and_then(|text| failure_row(text, columns)) {
            for ((known, agreed), n) in runs.iter_mut().zip(&mut agreed).zip(row) {
                *agreed &= known.is_none_or(|known| known == n);
                *known = Some(n);
            }
            self.take("lkp failures", 1);
        }
        let sure = runs.into_iter().zip(agreed);
        sure.map(|(n, agreed)| n.filter(|n| agreed && *n > 0))
            .collect()
    }

    /// The rows, each with its line; none for a row that is damaged.
    fn rows(&mut self, columns: usize) -> Vec<(usize, Option<Row<'a>>)> {
        let mut rows = Vec::new();
        while let Some(text) = self.here() {
            if let Some(row) = row(text, columns) {
                rows.push((self.at, Some(row)));
                self.take("lkp row", 1);
            } else if text.trim().is_empty()
                && self.ahead(1).is_some_and(|t| row(t, columns).is_some())
            {
                self.take("blank", 1);
            } else if damaged(text) && !rows.is_empty() {
                rows.push((self.at, None));
                self.take("lkp row, damaged", 1);
            } else {
                break;
            }
        }
        if rows.iter().all(|(_, row)| row.is_none()) {
            rows.clear();
        }
        rows
    }
}

/// `ops mode=thread nr_task=50% on BOX`: what was executed and where.
fn workload(names: &str, values: &str) -> String {
    let (keys, parts): (Vec<&str>, Vec<&str>) =
        (names.split('/').collect(), values.split('/').collect());
    if keys.len() != parts.len() {
        return label(values);
    }
    let value = |key: &str| keys.iter().position(|k| *k == key).map(|at| parts[at]);
    let mut name = value("testcase").unwrap_or("job").to_owned();
    for (key, part) in keys.iter().zip(&parts) {
        if *key != "testcase" && !BUILD.contains(key) && !part.is_empty() {
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
            _ => {
                let percent = word.strip_suffix('%')?;
                english(percent)?;
            }
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
    /// The largest standard deviation that is printed so, divided by n - 1 where
    /// n is known. Nothing is printed of a single run either, so what is not
    /// printed tells nothing unless n is known.
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

#[derive(Debug, PartialEq)]
struct Row<'t> {
    values: Vec<Value>,
    metric: &'t str,
}

/// `883.77 ±  4%     +67.2%       1478 ±  9%  metric`
fn row(text: &str, columns: usize) -> Option<Row<'_>> {
    let mut rest = text;
    let mut values = Vec::new();
    for column in 0..columns {
        if column > 0 {
            rest = change(rest)?;
        }
        let (value, after) = cell(rest)?;
        values.push(value);
        rest = after;
    }
    let metric = rest.trim();
    let named = metric
        .bytes()
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic())
        && metric.split_whitespace().count() <= 2;
    (rest.starts_with([' ', '\t']) && named).then_some(Row { values, metric })
}

/// A mean, with its relative standard deviation if there is one.
fn cell(text: &str) -> Option<(Value, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace() || is_mark(c))?;
    let mean = english(&text[..end])?;
    let rest = &text[end..];
    // What UTF-8 becomes where it is taken for Latin-1.
    let marked = rest.trim_start().trim_start_matches('Â');
    let Some(spread) = marked
        .strip_prefix(is_mark)
        .or_else(|| marked.strip_prefix("+-"))
    else {
        return Some((Value { mean, sd: None }, rest));
    };
    let (digits, rest) = spread.split_once('%')?;
    let sd = english(digits.trim()).filter(|sd| *sd >= 0.0)?;
    Some((Value { mean, sd: Some(sd) }, rest))
}

/// `±`, what is left of it where the character set was not declared or Latin-2 was, or
/// what stood for it in the robot's first years.
fn is_mark(c: char) -> bool {
    matches!(c, '±' | '\u{fffd}' | 'ą' | '~')
}

/// What follows a change: a percentage, or a difference of percentages.
fn change(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace)?;
    let change = &text[..end];
    let number = change.strip_suffix('%').unwrap_or(change);
    let signed = number.starts_with(['+', '-']);
    (signed && english(number).is_some()).then(|| &text[end..])
}

/// Whether a line has to do with rows although it is none.
fn damaged(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let number = words.next().is_some_and(|word| english(word).is_some());
    number && text.contains('%') && text.starts_with("   ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_mean_for_each_commit_and_a_metric() {
        let read = row(
            "    120.50 ±  4%     +67.2%     201.5 ±141%      -0.4        9.5e+08   x.ops",
            3,
        );
        let values = [(120.5, Some(4.0)), (201.5, Some(141.0)), (9.5e8, None)];
        let values = values.map(|(mean, sd)| Value { mean, sd }).to_vec();
        assert_eq!(
            read,
            Some(Row {
                values,
                metric: "x.ops"
            })
        );
    }

    #[test]
    fn a_mark_of_another_character_set_parts_a_mean_from_its_deviation() {
        let read = row("  120.50 ą  4%     +67.2%     201.5 ą 12%  x.ops", 2);
        let deviations = |row: Row<'_>| row.values.iter().map(|value| value.sd).collect();
        assert_eq!(read.map(deviations), Some(vec![Some(4.0), Some(12.0)]));
        // Another letter is no mark.
        assert_eq!(
            row("  120.50 ę  4%     +67.2%     201.5 ę 12%  x.ops", 2),
            None
        );
    }

    #[test]
    fn rows_of_other_widths_and_without_a_change_are_none() {
        for text in [
            "  120.50 ±  4%     +67.2%     201.5 ±  1%",
            "  120.50 ±  4%     201.5 ±  1%  x.ops",
            "  120.50 ±  4      +67.2%     201.5 x.ops",
            "  120.50  +67.2%  201.5  +3.0%  202.0  x.ops",
            "  120.50  +67.2%  201.5  many words of prose follow",
        ] {
            assert_eq!(row(text, 2), None, "{text}");
        }
    }

    #[test]
    fn the_bound_of_the_standard_deviation_covers_what_was_cut_off() {
        // Five runs: 1.0 × 4 and 1.5, of which the robot prints `±  18%`.
        let value = Value {
            mean: 1.1,
            sd: Some(18.0),
        };
        let Some(Spread::StandardDeviation(sd)) = value.spread(Some(5)) else {
            panic!()
        };
        let truth = 0.05_f64.sqrt();
        assert!(sd >= truth && sd < truth * 1.1, "{sd} {truth}");
        assert_eq!(value.spread(Some(1)), None);
        let Some(Spread::StandardDeviation(of_unknown)) = value.spread(None) else {
            panic!()
        };
        assert!((of_unknown - 0.19 * 1.1).abs() < 1e-12);
        let silent = |mean| Value { mean, sd: None }.spread(Some(4));
        assert!(silent(5.0).is_some());
        assert_eq!(
            Value {
                mean: 5.0,
                sd: None
            }
            .spread(None),
            None
        );
        assert_eq!(silent(0.0), None);
        assert_eq!(silent(-5.0), None);
    }
}
