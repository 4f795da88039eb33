//! stress-ng with `--metrics` or `--metrics-brief`, and `--times`.
//!
//! ```text
//! stress-ng: info:  [914] dispatching hogs: 1 matrix, 1 pipe
//! stress-ng: metrc: [914] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s
//! stress-ng: metrc: [914]                           (secs)    (secs)    (secs)   (real time) (usr+sys time)
//! stress-ng: metrc: [914] matrix             4882      2.00      0.97      0.00      2436.83        5043.97
//! stress-ng: info:  [914] for a 2.00s run time:
//! stress-ng: info:  [914]       4.01s available CPU time
//! ```
//!
//! One report is a run, unless somebody has cut stress-ng's name from its lines: what such a
//! report is of was too often taken from the wrong heading, and its figures are statements but
//! where each stands right below a state (`group::lone`).
//! What stands before the rows may be left out, and is the workload
//! where it is there: reports of 4 and of 8 stressors are no repetitions. All columns are
//! metrics, and so is what `--metrics` says of a stressor; what `--times` adds is of the
//! whole run, which was given its time, and is left out.

use super::begins::Begins;
use super::cells::{label, line_at, push_new, unwrapped};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// stress-ng; see the module.
pub struct StressNg;

/// Its name among the formats.
pub(crate) const TOOL: &str = "stress-ng";
/// How every line begins, unless somebody has cut it off.
const PREFIX: &str = "stress-ng: ";
/// No report has more lines.
const MOST: usize = 400;

/// Of a row: name and unit of each number.
const COLUMNS: [(&str, &str); 8] = [
    ("bogo ops", ""),
    ("real time", "s"),
    ("usr time", "s"),
    ("sys time", "s"),
    ("bogo ops/s", "1/s"),
    ("bogo ops/s (usr+sys time)", "1/s"),
    ("CPU used per instance", "%"),
    ("RSS max", "KB"),
];
/// How many of them each version prints.
const ALWAYS: usize = 6;

/// How lines before the rows begin.
const BEFORE: [&str; 2] = ["setting to a ", "dispatching hogs: "];
/// How the last line begins, unless something failed.
const DONE: &str = "successful run completed in ";
/// How lines below the rows begin.
const BELOW: [&str; 9] = [
    "miscellaneous metrics:",
    "for a ",
    "load average: ",
    "passed: ",
    "failed: ",
    "skipped: ",
    "metrics untrustworthy: ",
    DONE,
    "unsuccessful run completed in ",
];
/// How they end, before a parenthesis.
const ENDS: [&str; 6] = [
    "s available CPU time",
    "s user time",
    "s system time",
    "s total time",
    " System Management Interrupt",
    " System Management Interrupts",
];
/// The words of a header, which a mailer may have wrapped.
const HEADER: [&str; 17] = [
    "stressor", "bogo", "ops", "ops/s", "real", "usr", "sys", "time", "(secs)", "(real", "time)",
    "(usr+sys", "CPU", "used", "per", "instance", "(%)",
];
/// Those of its last column.
const HEADER_OF_RSS: [&str; 3] = ["RSS", "Max", "(KB)"];

impl Grammar for StressNg {
    fn name(&self) -> &'static str {
        TOOL
    }

    fn begins(&self) -> Begins {
        Begins::with(b"sd")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        let first = text.bytes().next();
        match first {
            Some(b's') => text.starts_with("stress") || text.starts_with(BEFORE[0]),
            Some(b'd') => text.starts_with(BEFORE[1]),
            _ => false,
        }
    }

    fn reach(&self) -> usize {
        6
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let mut report = Report::default();
        let mut at = 0;
        while at < MOST {
            let Some(text) = here(at) else { break };
            let Some((whole, used)) = unwrapped(lines, at, |text| row(text).is_some()) else {
                break;
            };
            if let Some(row) = row(&whole) {
                if report.stressors.contains(&row.stressor) {
                    // Rows of several reports below one header are no report.
                    if !row.signed {
                        return None;
                    }
                    break;
                }
                report.add(at, &row);
                at += used;
            } else if !report.takes(text) {
                break;
            } else {
                at += 1;
            }
        }
        report.block(at)
    }
}

/// A line without what stress-ng puts before each, and whether that was there.
fn bare(text: &str) -> (&str, bool) {
    let text = text.trim();
    let behind = text.strip_prefix(PREFIX);
    let kind = behind.and_then(|rest| rest.split_once("] "));
    match kind.filter(|(kind, _)| kind.len() <= 40 && kind.contains('[')) {
        Some((_, rest)) => (rest.trim(), true),
        None => (text, false),
    }
}

/// A stressor and its numbers.
struct Row {
    stressor: String,
    values: Vec<f64>,
    /// The row has stress-ng's name before it.
    signed: bool,
}

/// `matrix             4882      2.00      0.97      0.00      2436.83        5043.97`
fn row(text: &str) -> Option<Row> {
    let (text, signed) = bare(text);
    let mut words = text.split_whitespace();
    let name = words.next()?;
    let named = name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let values: Option<Vec<f64>> = words.map(plain).collect();
    let values =
        values.filter(|values| named && (ALWAYS..=COLUMNS.len()).contains(&values.len()))?;
    Some(Row {
        stressor: name.to_owned(),
        values,
        signed,
    })
}

fn plain(word: &str) -> Option<f64> {
    english(word).filter(|_| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// A report as it is read.
#[derive(Default)]
struct Report {
    /// The header was met.
    header: bool,
    /// What was dispatched.
    hogs: Option<String>,
    /// A row was met that shows by itself whose it is.
    signed: bool,
    figures: Vec<Figure>,
    /// The stressors of rows.
    stressors: Vec<String>,
    first: Option<usize>,
}

impl Report {
    fn add(&mut self, at: usize, row: &Row) {
        self.signed |= row.signed;
        self.first.get_or_insert(at);
        self.stressors.push(row.stressor.clone());
        for ((metric, unit), value) in COLUMNS.iter().zip(&row.values) {
            let figure = Figure::new(label(&format!("{} {metric}", row.stressor)), *value, *unit);
            push_new(&mut self.figures, figure);
        }
    }

    /// Whether a line that is no row belongs to the report.
    fn takes(&mut self, text: &str) -> bool {
        let (text, signed) = bare(text);
        let begun = self.first.is_some();
        if is_header(text) {
            let first = text.starts_with("stressor ") && text.contains("bogo ops");
            self.header |= first;
            return !begun && self.header;
        }
        if !begun {
            // Old versions say first that they are done.
            let done = text.starts_with(DONE);
            if let Some(hogs) = text.strip_prefix(BEFORE[1]) {
                self.hogs = Some(hogs.to_owned());
            }
            return !self.header && (is_start(text) || done || signed);
        }
        if let Some(figure) = self.miscellaneous(text) {
            push_new(&mut self.figures, figure);
            return true;
        }
        let name = text.strip_suffix(':');
        let head = text.split_once(" (").map_or(text, |(head, _)| head.trim());
        signed && !is_start(text)
            || BELOW.iter().any(|start| text.starts_with(start))
            || ENDS.iter().any(|end| head.ends_with(end)) && head.len() <= 60
            || name.is_some_and(|name| self.stressors.iter().any(|known| known == name))
    }

    /// `pipe                 100.05 MB per sec pipe write rate (geometic mean of 1 instances)`
    fn miscellaneous(&self, text: &str) -> Option<Figure> {
        let (stressor, rest) = text.split_once(' ')?;
        let (value, what) = rest.trim_start().split_once(' ')?;
        let (what, mean) = what.rsplit_once(" (")?;
        let known = self.stressors.iter().any(|known| known == stressor);
        let value = plain(value).filter(|_| known && mean.contains(" mean of "))?;
        Some(Figure::new(label(&format!("{stressor} {what}")), value, ""))
    }

    fn block(self, end: usize) -> Option<Block> {
        let first = self.first.filter(|_| self.header || self.signed)?;
        let mut block = Block {
            findings: Vec::new(),
            taken: vec![TOOL as Taken; end],
        };
        if let Some(hogs) = self.hogs {
            block.find(first, Finding::Command(format!("{TOOL} {}", label(&hogs))));
        }
        let labels = Labels::default();
        if self.signed {
            let figures = self.figures;
            block.find(first, Finding::Run { labels, figures });
        } else {
            let stated = |figure| Finding::Statement {
                labels: labels.clone(),
                figure,
                normalised_to: None,
            };
            let stated = self.figures.into_iter().map(stated);
            block.findings.extend(stated.map(|one| (first, one)));
        }
        Some(block)
    }
}

/// Whether a line begins another report.
fn is_start(text: &str) -> bool {
    BEFORE.iter().any(|start| text.starts_with(start))
}

/// A line of nothing but words of a header.
fn is_header(text: &str) -> bool {
    let mut words = text.split_whitespace().peekable();
    words.peek().is_some()
        && words.all(|word| HEADER.contains(&word) || HEADER_OF_RSS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    const BRIEF: &str = include_str!("../../tests/benchmarks/stress-ng-brief.txt");
    const FULL: &str = include_str!("../../tests/benchmarks/stress-ng.txt");

    fn figures(text: &str) -> Vec<(String, f64)> {
        testing::figures(&StressNg, text)
    }

    fn stated(text: &str) -> Vec<(String, f64)> {
        let findings = testing::read(&StressNg, text).map(|block| block.findings);
        let stated = |(_, finding)| match finding {
            Finding::Statement { figure, .. } => Some((figure.metric, figure.value)),
            _ => None,
        };
        let all = findings.unwrap_or_default().into_iter();
        all.filter_map(stated).collect()
    }

    fn lines_of(text: &str) -> usize {
        testing::read(&StressNg, text).map_or(0, |block| block.taken.len())
    }

    /// A report without what stands before each line.
    fn cut(text: &str) -> String {
        let lines = text
            .lines()
            .map(|line| &line["stress-ng: info:  [12345]".len()..]);
        lines.map(|line| format!("{line}\n")).collect()
    }

    const TWO: [(&str, f64); 12] = [
        ("cpu bogo ops", 1752.0),
        ("cpu real time", 2.0),
        ("cpu usr time", 1.0),
        ("cpu sys time", 0.0),
        ("cpu bogo ops/s", 875.24),
        ("cpu bogo ops/s (usr+sys time)", 1754.32),
        ("vm bogo ops", 80_234.0),
        ("vm real time", 2.0),
        ("vm usr time", 0.71),
        ("vm sys time", 0.27),
        ("vm bogo ops/s", 40_069.5),
        ("vm bogo ops/s (usr+sys time)", 81_670.42),
    ];

    fn two() -> Vec<(String, f64)> {
        TWO.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    #[test]
    fn a_report_is_one_run_to_its_last_line() {
        assert_eq!(testing::runs(&StressNg, BRIEF).len(), 1);
        assert_eq!(figures(BRIEF), two());
        let block = testing::read(&StressNg, BRIEF).unwrap();
        let hogs = Finding::Command("stress-ng 1 cpu, 1 vm".into());
        assert!(block.findings.contains(&(4, hogs)));
        assert_eq!(lines_of(BRIEF), BRIEF.lines().count());
        assert_eq!(stated(BRIEF), []);
    }

    #[test]
    fn a_report_without_the_name_is_stated_to_its_last_line() {
        assert_eq!(stated(&cut(BRIEF)), two());
        assert!(figures(&cut(BRIEF)).is_empty());
        assert_eq!(lines_of(&cut(BRIEF)), BRIEF.lines().count());
    }

    #[test]
    fn old_versions_say_first_that_they_are_done() {
        let (last, others) = (BRIEF.lines().last().unwrap(), BRIEF.lines());
        let mut lines: Vec<&str> = others.take(BRIEF.lines().count() - 1).collect();
        lines.insert(2, last);
        let text = lines.join("\n");
        assert_eq!(figures(&text), two());
        assert_eq!(stated(&cut(&text)), two());
        assert_eq!(lines_of(&cut(&text)), lines.len());
    }

    #[test]
    fn further_columns_and_what_a_stressor_says_are_read() {
        let all = figures(FULL);
        let of = |name: &str| all.iter().find(|(metric, _)| metric == name).map(|f| f.1);
        assert_eq!(of("matrix CPU used per instance"), Some(48.31));
        assert_eq!(of("pipe RSS max"), Some(2448.0));
        assert_eq!(of("matrix add matrix ops per sec"), Some(446_420.28));
        assert_eq!(of("pipe MB per sec pipe write rate"), Some(100.05));
        assert_eq!(lines_of(FULL), FULL.lines().count());
    }

    #[test]
    fn rows_alone_and_wrapped_ones_are_read() {
        let row = "stress-ng: metrc: [7] cpu    1752      2.00      1.00      0.00       875.24";
        assert_eq!(figures(&format!("{row} 1754.32\n")), two()[..6]);
        assert_eq!(figures(&format!("{row}\n1754.32\n")), two()[..6]);
        // Rows of several reports below one header, and rows of nothing that is named.
        let head: Vec<&str> = BRIEF.lines().take(5).collect();
        let head = cut(&head.join("\n"));
        assert_eq!(stated(&head), two()[..6]);
        assert!(stated(&format!("{head}cpu 9 2.00 1.00 0.00 4.50 9.00\n")).is_empty());
        assert!(stated("cpu 1752 2.00 1.00 0.00 875.24 1754.32\n").is_empty());
        assert!(stated("stressed 1752 2.00 1.00 0.00 875.24 1754.32\n").is_empty());
    }

    #[test]
    fn a_second_report_and_words_below_are_not_of_the_first() {
        let twice = format!("{BRIEF}{BRIEF}");
        assert_eq!(lines_of(&twice), BRIEF.lines().count());
        let told = format!("{}We ran it for a while\n", cut(BRIEF));
        assert_eq!(lines_of(&told), BRIEF.lines().count());
        for text in [
            "stress-ng: info:  [914] dispatching hogs: 1 matrix, 1 pipe\n",
            "setting to a 60 second run per stressor\nand more words\n",
            "stressor bogo ops real time\nmore words\n",
            "stressor counts 1 2 3 4 5 6\n",
        ] {
            assert_eq!(lines_of(text), 0, "{text}");
        }
    }
}
