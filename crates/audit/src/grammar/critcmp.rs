//! The table that critcmp prints:
//!
//! ```text
//! group          main                              pr
//! -----          ----                              --
//! utf8/1 KiB     1.00  120.3±0.40ns  7.9 GB/sec    1.05  126.2±0.52ns  7.6 GB/sec
//! ```
//!
//! Its columns are what it compares. A cell has the ratio to the least time of its row, a time, its
//! deviation over samples of one process, which is no spread of runs, and a throughput.

use super::prelude::*;

/// critcmp; see the module.
pub const CRITCMP: Grammar = Grammar {
    first: b"g",
    reach: 3,
    names_what_it_compares: true,
    ..Grammar::new(
        "critcmp",
        |line| line.trim_start().starts_with("group  "),
        read,
    )
};

/// Longest row.
const LONGEST: usize = 600;

static CELL: Form = Form::new(
    r"(?:^|\s)\d+\.\d\d\s+(?<time>\d[\d.]*)±[\d.]+(?<unit>[nµμm]?s)\s+(?:\?|\d[\d.]*) [?\w]+/sec",
);
static NAME: Form = Form::new(r"\S+(?: \S+)*");

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let text = |at: usize| line_at(lines, at).filter(|text| text.len() <= LONGEST);
    let place = |text: &str, byte: usize| text[..byte].chars().count();
    let header = text(0)?;
    let names: Vec<_> = NAME.find_each(header).skip(1).collect();
    text(1).filter(|rule| crate::headings::is_rule(rule.trim()))?;
    let mut block = Block::new("critcmp header", 2);
    while let Some(row) = text(block.taken.len()) {
        let at = block.taken.len();
        let cells: Vec<_> = CELL.each(row).collect();
        let Some(first) = cells.first().and_then(|cell| cell.get(0)) else {
            break;
        };
        let workload = label(&row[..first.start()]);
        for cell in &cells {
            let begin = place(row, cell.name("time")?.start());
            let above = names
                .iter()
                .rfind(|name| place(header, name.start()) < begin)?;
            let labels = Labels::new(Some(label(above.as_str())), Some(workload.clone()));
            let figure = Figure::new("time", english(&cell["time"])?, &cell["unit"]);
            block.find(at, summary(&labels, figure, None, None));
        }
        block.taken.push("critcmp row");
    }
    (!block.findings.is_empty()).then_some(block)
}
