//! dbench: what it prints when it is done.
//!
//! ```text
//!  Operation      Count    AvgLat    MaxLat
//!  ----------------------------------------
//!  NTCreateX    4391359     0.009   249.745
//!  Flush         307777     2.447   303.663
//!
//! Throughput 1149.6 MB/sec  8 clients  8 procs  max_latency=303.666 ms
//! ```
//!
//! One report is a run; either part of it may stand alone. Latencies are in
//! milliseconds. How often each operation was executed follows from the time that the
//! run was given: that is a statement.

use super::begins::Begins;
use super::cells::{label, line_at};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels, Taken, reports};
use crate::Line;

/// dbench; see the module.
pub struct Dbench;

/// The names of the table's columns.
const HEADER: [&str; 4] = ["Operation", "Count", "AvgLat", "MaxLat"];
/// What dbench calls itself in the list of reports.
const TOOL: &str = "dbench";
/// dbench has fewer operations.
const OPERATIONS: usize = 64;

impl Grammar for Dbench {
    fn name(&self) -> &'static str {
        TOOL
    }

    fn begins(&self) -> Begins {
        Begins::with(b"OT")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        text.starts_with("Operation ") && is_header(text) || text.starts_with("Throughput ")
    }

    fn reach(&self) -> usize {
        3
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let blank = |at: usize| here(at).is_some_and(|text| text.trim().is_empty());
        let mut taken: Vec<Taken> = Vec::new();
        let mut rows: Vec<Row<'_>> = Vec::new();
        if here(0).is_some_and(is_header) {
            let rule = usize::from(here(1).is_some_and(is_rule));
            taken = vec!["dbench, header"; 1 + rule];
            // No report has an operation twice.
            let new =
                |rows: &[Row<'_>], row: &Row<'_>| rows.iter().all(|known| known.name != row.name);
            while rows.len() < OPERATIONS
                && let Some(row) = here(taken.len()).and_then(row)
                && new(&rows, &row)
            {
                rows.push(row);
                taken.push(TOOL);
            }
            if rows.is_empty() {
                return None;
            }
        }
        let table = taken.len() - rows.len();
        let next = (taken.len()..taken.len() + 3).find(|at| !blank(*at));
        let next = next.unwrap_or(taken.len());
        let total = here(next).and_then(|text| Some((reports::line_of(TOOL, text)?, text)));
        let mut block = Block::default();
        let mut figures = Vec::new();
        if let Some((total, text)) = total {
            taken.resize(next, "blank");
            taken.push(TOOL);
            let clients = clients(text).map(|clients| format!("{TOOL} {clients} clients"));
            let command = clients.map(Finding::Command);
            block
                .findings
                .extend(command.map(|command| (next, command)));
            figures = total;
        }
        figures.extend(rows.iter().flat_map(Row::latencies));
        if figures.is_empty() {
            return None;
        }
        let first = if rows.is_empty() { next } else { 0 };
        let labels = Labels::default();
        block.find(first, Finding::Run { labels, figures });
        for (at, row) in rows.iter().enumerate() {
            block.find(table + at, row.count());
        }
        block.taken = taken;
        Some(block)
    }
}

fn is_header(text: &str) -> bool {
    text.split_whitespace().eq(HEADER)
}

fn is_rule(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 10 && text.bytes().all(|b| b == b'-')
}

/// What was measured of one operation.
struct Row<'t> {
    name: &'t str,
    count: f64,
    average: f64,
    most: f64,
}

impl Row<'_> {
    fn latencies(&self) -> [Figure; 2] {
        [("avg", self.average), ("max", self.most)].map(|(what, value)| {
            Figure::new(label(&format!("{} latency {what}", self.name)), value, "ms")
        })
    }

    fn count(&self) -> Finding {
        Finding::Statement {
            labels: Labels::default(),
            figure: Figure::new(label(&format!("{} count", self.name)), self.count, ""),
            normalised_to: None,
        }
    }
}

/// `Flush         307777     2.447   303.663`
fn row(text: &str) -> Option<Row<'_>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [name, count, average, most] = words[..] else {
        return None;
    };
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= 40;
    let whole = count.bytes().all(|b| b.is_ascii_digit());
    let latency = |value: &str| english(value).filter(|value| *value >= 0.0);
    let row = Row {
        name,
        count: english(count)?,
        average: latency(average)?,
        most: latency(most)?,
    };
    (named && whole).then_some(row)
}

/// The number before `clients`.
fn clients(text: &str) -> Option<&str> {
    let head = text[..text.find(" clients")?].trim_end();
    let number = head.rsplit(' ').next()?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    const TABLE: &str = " Operation      Count    AvgLat    MaxLat\n\
                         \u{20}----------------------------------------\n\
                         \u{20}Close          3902     0.003     6.850\n\
                         \u{20}Flush           384     7.371    30.799\n";
    const TOTAL: &str = "Throughput 110.483 MB/sec  2 clients  2 procs  max_latency=30.806 ms\n";

    fn figures(text: &str) -> Vec<(String, f64)> {
        testing::figures(&Dbench, text)
    }

    fn latencies() -> Vec<(String, f64)> {
        [
            ("Close latency avg", 0.003),
            ("Close latency max", 6.85),
            ("Flush latency avg", 7.371),
            ("Flush latency max", 30.799),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn total() -> Vec<(String, f64)> {
        [("throughput", 110.483), ("latency max", 30.806)]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec()
    }

    #[test]
    fn the_table_and_the_line_below_it_are_one_run() {
        let text = format!("{TABLE}\n{TOTAL}");
        let block = testing::read(&Dbench, &text).unwrap();
        assert_eq!(block.taken.len(), 6);
        assert_eq!(testing::runs(&Dbench, &text).len(), 1);
        assert_eq!(figures(&text), [total(), latencies()].concat());
        let command = Finding::Command("dbench 2 clients".into());
        assert!(
            block
                .findings
                .iter()
                .any(|(_, finding)| *finding == command)
        );
    }

    #[test]
    fn either_part_may_stand_alone() {
        assert_eq!(figures(TABLE), latencies());
        assert_eq!(figures(&format!("{TABLE}\n\n\n\n{TOTAL}")), latencies());
        assert_eq!(figures(TOTAL), total());
        // An old version has no clients.
        let old = "Throughput 84.3 MB/sec (NB=105.4 MB/sec  843 MBit/sec)  4 procs\n";
        assert_eq!(figures(old), [("throughput".to_owned(), 84.3)]);
        assert_eq!(testing::read(&Dbench, old).unwrap().findings.len(), 1);
    }

    #[test]
    fn counts_are_stated_and_not_measured() {
        let block = testing::read(&Dbench, TABLE).unwrap();
        let stated: Vec<(usize, f64)> = block
            .findings
            .iter()
            .filter_map(|(at, finding)| match finding {
                Finding::Statement { figure, .. } => Some((*at, figure.value)),
                _ => None,
            })
            .collect();
        assert_eq!(stated, [(2, 3902.0), (3, 384.0)]);
    }

    #[test]
    fn a_table_ends_where_an_operation_comes_again() {
        let again = format!("{TABLE}\u{20}Flush           385     7.371    30.799\n");
        assert_eq!(figures(&again), latencies());
        assert_eq!(testing::read(&Dbench, &again).unwrap().taken.len(), 4);
    }

    #[test]
    fn other_tables_and_lines_are_left_alone() {
        for text in [
            " Operation      Count    AvgLat    MaxLat\n\nClose 3902 0.003 6.850\n",
            " Operation      Count    Errors    MaxLat\n Close 3902 0.003 6.850\n",
            " Operation      Count    AvgLat    MaxLat\n ------------\n Close many 0.003 6.850\n",
            "Throughput rose by 3.2 MB/sec\n",
            "Throughput 110.483 MB/sec\n",
        ] {
            assert!(testing::read(&Dbench, text).is_none(), "{text}");
        }
    }
}
