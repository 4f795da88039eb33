//! The result of a soak, as a table.

use std::fmt::Write as _;

use super::disturb::Disturbed;
use crate::{Error, marks};

/// The page that shows the table.
const PAGE: &str = "docs/exact.md";
/// The marker in the page that precedes the table.
const MARK: &str = "table: exact-soak";

/// The result of a soak.
#[derive(Debug, Clone, Default)]
pub(super) struct Summary {
    pub(super) form: String,
    pub(super) qemu: String,
    /// The numbers of different runs, and of executions under load.
    pub(super) runs: usize,
    pub(super) executions: usize,
    /// The number of earlier executions, on the quiet host.
    pub(super) quiet: usize,
    pub(super) commands: usize,
    pub(super) cpus: usize,
    /// Samples of how many threads were running, runnable or waiting for a disk.
    pub(super) load: Vec<f64>,
    pub(super) parts: Vec<String>,
    pub(super) skipped: Vec<String>,
    pub(super) disturbed: Disturbed,
    /// How many times pages were reclaimed.
    pub(super) squeezed: u64,
    pub(super) deviations: usize,
    pub(super) seed: u64,
}

impl Summary {
    /// The summary as a Markdown table.
    pub(super) fn table(&self) -> String {
        let [least, mean, most] = spread(&self.load);
        let Disturbed { stops, moves } = self.disturbed;
        let rows = [
            ("QEMU", self.qemu.clone()),
            ("form", format!("{}, seed {}", self.form, self.seed)),
            ("runs under load", self.executions.to_string()),
            ("different runs", self.runs.to_string()),
            ("their twins on a quiet host", self.quiet.to_string()),
            ("commands at once", self.commands.to_string()),
            (
                "load, least / mean / most",
                format!("{least:.0} / {mean:.0} / {most:.0} on {} CPUs", self.cpus),
            ),
            ("beside them", self.parts.join(", ")),
            ("QEMU stopped and continued", format!("{stops} times")),
            ("QEMU moved to a CPU", format!("{moves} times")),
            ("pages taken from it", format!("{} times", self.squeezed)),
            ("deviations", format!("**{}**", self.deviations)),
        ];
        let mut text = String::from("| | |\n| --- | --- |\n");
        for (name, value) in rows {
            let _ = writeln!(text, "| {name} | {value} |");
        }
        for skipped in &self.skipped {
            let _ = writeln!(text, "| left out | {skipped} |");
        }
        text
    }

    /// Writes the table into the documentation.
    pub(super) fn write(&self) -> Result<(), Error> {
        marks::write(PAGE, MARK, &format!("\n\n{}\n", self.table()))
    }
}

fn spread(values: &[f64]) -> [f64; 3] {
    if values.is_empty() {
        return [0.0; 3];
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    [
        least,
        values.iter().sum::<f64>() / values.len() as f64,
        most,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_mark() {
        let page = crate::tree::read(PAGE).unwrap().unwrap();
        assert!(marks::put(&page, MARK, "").is_ok());
    }

    #[test]
    fn the_table_says_what_was_done_and_what_was_left_out() {
        let summary = Summary {
            executions: 120,
            load: vec![16.0, 20.0, 24.0],
            cpus: 2,
            skipped: vec!["gcc is not installed".into()],
            ..Summary::default()
        };
        let table = summary.table();
        assert!(table.contains("| 16 / 20 / 24 on 2 CPUs |"), "{table}");
        assert!(table.contains("| left out | gcc is not installed |"));
        assert!(table.contains("| deviations | **0** |"));
    }
}
