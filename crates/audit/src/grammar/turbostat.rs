//! The tables of `turbostat`.
//!
//! turbostat prints, for each interval, a header, a row for the whole machine
//! and then (without `--Summary`) a row for each CPU. The intervals of one
//! invocation are samples of one execution, not executions: they become one
//! run, whose figures are the means over the intervals. The same header again
//! with no other text between (a blank line is none) is the next interval of
//! that run; a header after prose begins another run. Rows of single CPUs are
//! only explained, as are columns that place a row (`Core`, `CPU`, …) or hold
//! the time of day.
//!
//! Without columns `Core` or `CPU` a row of the machine looks like one of a
//! CPU. If some rows are shorter than the header they are CPUs', so only the
//! first row of each interval is the machine's; the same holds if the header
//! repeats. Otherwise all rows are taken for intervals of `--Summary`, with
//! the doubt `ambiguous-rows` if no column could tell (CPUs' rows lack the
//! columns of packages).

use super::cells::{bad_number, label, line_at, numeric_cell, push_new, truncated};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// More columns than any turbostat has; and lines that a mailer made of one.
const COLUMNS_AT_MOST: usize = 300;

/// A header or row is wrapped to at most so many lines.
const WRAPS_AT_MOST: usize = 12;

/// The output of `turbostat`.
pub struct Turbostat;

impl Grammar for Turbostat {
    fn name(&self) -> &'static str {
        "turbostat"
    }

    fn starts(&self, line: &str) -> bool {
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else {
            return false;
        };
        (known(first) && words.next().is_none_or(known)) || seconds(line).is_some()
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let mut block = Block::default();
        let elapsed = seconds(line_at(lines, 0)?);
        if elapsed.is_some() {
            block.taken.push("turbostat elapsed time");
        }
        let header = Header::read(lines, block.taken.len())?;
        let at = block.taken.len();
        block
            .taken
            .extend(std::iter::repeat_n("turbostat header", header.lines));
        let rows = Rows::read(&mut block, lines, &header);
        if rows.rows.is_empty() {
            if rows.ragged == 0 {
                // Without rows it may be a list of columns in a sentence.
                let sure = header.names.len() >= 3 && header.names.iter().all(|n| known(n));
                sure.then_some(())?;
                block.find(at, truncated("no rows follow turbostat's header"));
            }
            return Some(block);
        }
        rows.note(&mut block, &header, elapsed, at);
        Some(block)
    }
}

/// The seconds of the line `10.003466 sec` that turbostat prints after a
/// command it has run.
fn seconds(line: &str) -> Option<f64> {
    let digits = line.strip_suffix(" sec")?;
    if digits.len() > 20 || !digits.contains('.') {
        return None;
    }
    english(digits)
}

/// Whether turbostat has a column of that name.
fn known(name: &str) -> bool {
    if name.len() > 20 || !name.is_ascii() {
        return false;
    }
    places_row(name)
        || telling(name)
        || state(name)
        || matches!(
            name,
            "IRQ"
                | "SMI"
                | "NMI"
                | "POLL"
                | "IPC"
                | "GFXMHz"
                | "CTMP"
                | "PTMP"
                | "GHz"
                | "TSC"
                | "usec"
                | "Time_Of_Day_Seconds"
                | "LLCkRPS"
                | "LLC%hit"
        )
}

/// Columns that say which CPU a row is about.
fn places_row(name: &str) -> bool {
    matches!(
        name,
        "Package"
            | "Socket"
            | "Die"
            | "L3"
            | "Node"
            | "Core"
            | "CPU"
            | "APIC"
            | "X2APIC"
            | "pk"
            | "cor"
    )
}

/// Names that only turbostat has.
fn telling(name: &str) -> bool {
    let bytes = name.as_bytes();
    matches!(
        name,
        "Busy%" | "PKG_%" | "RAM_%" | "CoreThr" | "Pkg_W" | "Cor_W" | "RAM_W" | "GFX_W"
    ) || name.ends_with("_MHz")
        || (name.ends_with("MHz") && bytes.len() > 3)
        || (name.ends_with("Watt") && bytes.len() > 4)
        || (name.ends_with("Tmp") && bytes.len() > 3)
        || (name.ends_with("_J") && bytes.len() <= 6)
        || [
            "CPU%", "Pkg%", "Pk%", "GFX%", "SYS%", "CPUGFX%", "Totl%", "Any%", "Mod%", "SAM%",
            "%c", "%pc",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// `C1`, `C1E`, `C6%`, `C1ACPI+`: an idle state.
fn state(name: &str) -> bool {
    match name.as_bytes() {
        [b'C', d, rest @ ..] => {
            d.is_ascii_digit()
                && rest
                    .iter()
                    .all(|b| b.is_ascii_alphanumeric() || b"%+-".contains(b))
        }
        _ => name.starts_with("POLL%"),
    }
}

/// The names in a word: a name that fills its column touches the next one.
fn unglued(word: &str) -> impl Iterator<Item = &str> {
    let parts = (7..=8)
        .filter_map(|at| word.split_at_checked(at))
        .find(|(a, b)| telling(a) && telling(b) && b.starts_with(|c: char| c.is_ascii_uppercase()));
    let (name, next) = match parts {
        Some((name, next)) => (name, Some(next)),
        None => (word, None),
    };
    std::iter::once(name).chain(next)
}

/// The unit of a column.
fn unit(name: &str) -> &'static str {
    if name.contains('%') {
        "%"
    } else if name.ends_with("Watt") || name.ends_with("_W") {
        "W"
    } else if name.ends_with("MHz") {
        "MHz"
    } else if name == "GHz" {
        "GHz"
    } else if name.ends_with("_J") {
        "J"
    } else if name.ends_with("Tmp") || name == "CTMP" || name == "PTMP" {
        "C"
    } else {
        ""
    }
}

/// The names of the columns.
struct Header<'a> {
    names: Vec<&'a str>,
    /// How many lines it was wrapped to.
    lines: usize,
}

impl<'a> Header<'a> {
    fn read(lines: &'a [Line<'_>], at: usize) -> Option<Self> {
        let mut names: Vec<&str> = Vec::new();
        let mut used = 0;
        while used < WRAPS_AT_MOST {
            let Some(line) = line_at(lines, at + used) else {
                break;
            };
            let words: Vec<_> = line
                .split_ascii_whitespace()
                .take(COLUMNS_AT_MOST + 1)
                .flat_map(unglued)
                .collect();
            let of_header = words.iter().filter(|w| known(w)).count();
            // A column that was added by hand has a name of its own.
            let none = words.is_empty() || of_header * 2 <= words.len();
            if none || words.iter().any(|w| english(w).is_some()) {
                break;
            }
            if used > 0 && words[0] == names[0] {
                break; // the same header again
            }
            names.extend(words);
            used += 1;
        }
        let sure = names.iter().filter(|n| telling(n)).count() >= 1
            && names.iter().filter(|n| telling(n) || state(n)).count() >= 2;
        (sure && names.len() <= COLUMNS_AT_MOST).then_some(Header { names, lines: used })
    }

    /// Whether the lines at `at` are this header again.
    fn repeats(&self, lines: &[Line<'_>], at: usize) -> bool {
        let again = (at..at + self.lines)
            .filter_map(|i| line_at(lines, i))
            .flat_map(str::split_ascii_whitespace)
            .flat_map(unglued);
        again.eq(self.names.iter().copied())
    }

    /// How many of the columns only place a row.
    fn places(&self) -> usize {
        self.names.iter().filter(|n| places_row(n)).count()
    }
}

/// What a row is about.
#[derive(Clone, Copy, PartialEq)]
enum About {
    /// The machine: `-` in the columns that place it, or blanks.
    Machine,
    /// A CPU.
    Cpu,
    /// Unknown, for want of such columns.
    Open,
}

/// A row of as many cells as there are columns.
struct Row<'a> {
    at: usize,
    about: About,
    /// Whether it is the first below a header.
    first: bool,
    cells: Vec<&'a str>,
}

/// The rows of all intervals.
#[derive(Default)]
struct Rows<'a> {
    rows: Vec<Row<'a>>,
    headers: usize,
    /// Rows that belong to CPUs because they are short.
    short: usize,
    /// Rows of the machine that do not fit the header.
    ragged: usize,
}

impl<'a> Rows<'a> {
    fn read(block: &mut Block, lines: &'a [Line<'_>], header: &Header<'a>) -> Self {
        let mut rows = Rows {
            headers: 1,
            ..Rows::default()
        };
        let mut first = true;
        let mut wrapped = header.lines > 1;
        loop {
            let at = block.taken.len();
            let blank = usize::from(line_at(lines, at).is_some_and(|t| t.trim().is_empty()));
            if header.repeats(lines, at + blank) {
                block.taken.extend(std::iter::repeat_n("blank", blank));
                block
                    .taken
                    .extend(std::iter::repeat_n("turbostat header", header.lines));
                rows.headers += 1;
                first = true;
                continue;
            }
            let Some((cells, used)) = row_cells(lines, at, header, first, wrapped) else {
                return rows;
            };
            let taken = rows.sort(block, at, header, cells, first);
            block.taken.extend(std::iter::repeat_n(taken, used));
            first = false;
            wrapped |= used > 1;
        }
    }

    /// Sorts a row in; says what it was taken for.
    fn sort(
        &mut self,
        block: &mut Block,
        at: usize,
        header: &Header<'a>,
        mut cells: Vec<&'a str>,
        first: bool,
    ) -> &'static str {
        let columns = header.names.len();
        let places = header.places();
        if first && places > 0 && cells.len() + places == columns {
            // Old versions leave the places of the machine's row blank.
            cells.splice(0..0, std::iter::repeat_n("-", places));
        }
        let dashed = header
            .names
            .iter()
            .zip(&cells)
            .all(|(name, cell)| !places_row(name) || *cell == "-");
        let about = match (places > 0, dashed) {
            (true, true) => About::Machine,
            (true, false) => About::Cpu,
            (false, _) => About::Open,
        };
        if cells.len() == columns && about == About::Cpu && !first {
            return "turbostat row of a cpu";
        }
        if cells.len() == columns {
            self.rows.push(Row {
                at,
                about,
                first,
                cells,
            });
            return "turbostat row";
        }
        if cells.len() < columns && !first && about != About::Machine {
            self.short += 1;
            return "turbostat row of a cpu";
        }
        let doubt = format!(
            "a row of {} cells stands under {columns} columns and is left out",
            cells.len()
        );
        block.find(at, Finding::Doubt("ragged-row", doubt));
        self.ragged += 1;
        "turbostat row"
    }

    /// Chooses the machine's rows and notes the run.
    fn note(self, block: &mut Block, header: &Header<'_>, elapsed: Option<f64>, at: usize) {
        let placed = header.places() > 0;
        let machine = self.rows.iter().any(|r| r.about == About::Machine);
        let firsts_only = if placed {
            !machine
        } else {
            self.short > 0 || (self.headers > 1 && self.rows.len() > self.headers)
        };
        let of_packages = |n: &&str| {
            ["Pk", "PKG", "GFX", "RAM", "SYS", "Cor"]
                .iter()
                .any(|p| n.starts_with(p))
        };
        if !placed
            && self.short == 0
            && self.rows.len() > self.headers
            && !header.names.iter().any(of_packages)
        {
            let doubt = "rows without a CPU may be intervals or CPUs".to_owned();
            block.find(at, Finding::Doubt("ambiguous-rows", doubt));
        }
        let chosen: Vec<&Row<'_>> = self
            .rows
            .iter()
            .filter(|r| match r.about {
                About::Machine => true,
                About::Cpu => !machine && r.first,
                About::Open => !firsts_only || r.first,
            })
            .collect();
        let Some(top) = chosen.first() else {
            block.find(at, truncated("the row of the whole machine is missing"));
            return;
        };
        let mut figures: Vec<Figure> = Vec::new();
        if let Some(seconds) = elapsed {
            figures.push(Figure::new("elapsed", seconds, "s"));
        }
        for (column, name) in header.names.iter().enumerate() {
            if places_row(name) || *name == "Time_Of_Day_Seconds" {
                continue;
            }
            if let Some(mean) = mean_of(block, &chosen, column, name) {
                let figure = Figure::new(label(name), mean, unit(name));
                if !push_new(&mut figures, figure) {
                    let doubt = format!("column `{}` stands twice; the first is read", label(name));
                    block.find(at, Finding::Doubt("duplicate-metric", doubt));
                }
            }
        }
        if !figures.is_empty() {
            let labels = Labels::default();
            block.find(top.at, Finding::Run { labels, figures });
        }
    }
}

/// The mean of a column over the intervals; cells without a number become
/// doubts and are left out.
fn mean_of(block: &mut Block, rows: &[&Row<'_>], column: usize, name: &str) -> Option<f64> {
    let mut mean = 0.0;
    let mut count = 0.0;
    for row in rows {
        let cell = row.cells[column];
        match english(cell) {
            Some(value) => {
                count += 1.0;
                mean += (value - mean) / count;
            }
            None if cell == "-" => block.find(
                row.at,
                Finding::Unsupported {
                    labels: Labels::default(),
                    metric: label(name),
                    reason: "not counted".to_owned(),
                },
            ),
            // A register in hexadecimal is one in every interval.
            None if cell.starts_with("0x") && row.at != rows[0].at => {}
            None => block.find(row.at, bad_number(cell, &format!("`{}`", label(name)))),
        }
    }
    (count > 0.0 && mean.is_finite()).then_some(mean)
}

/// The cells of a row, joined from the lines that a mailer made of it if only
/// then they are as many as the columns. A row of a CPU may be short.
fn row_cells<'a>(
    lines: &'a [Line<'_>],
    at: usize,
    header: &Header<'_>,
    first: bool,
    wrapped: bool,
) -> Option<(Vec<&'a str>, usize)> {
    let columns = header.names.len();
    let cells = numeric_line(line_at(lines, at)?, columns)?;
    let fits = |count: usize| count == columns || (first && count + header.places() == columns);
    if fits(cells.len()) || !(first || wrapped) || cells.len() > columns {
        return Some((cells, 1));
    }
    let mut joined = cells.clone();
    for used in 2..=WRAPS_AT_MOST {
        let Some(more) = line_at(lines, at + used - 1).and_then(|t| numeric_line(t, columns))
        else {
            break;
        };
        joined.extend(more);
        if joined.len() == columns || (used == header.lines && fits(joined.len())) {
            return Some((joined, used));
        }
        if joined.len() > columns {
            break;
        }
    }
    Some((cells, 1))
}

/// The cells of a line that holds nothing but numbers and what stands for
/// them; at least half must be numbers.
fn numeric_line(line: &str, columns: usize) -> Option<Vec<&str>> {
    let cells: Vec<_> = line
        .split_ascii_whitespace()
        .take(COLUMNS_AT_MOST + 1)
        .collect();
    let numeric = cells.iter().filter(|c| numeric_cell(c)).count();
    let all = numeric == cells.len();
    let first = cells.first().is_some_and(|c| numeric_cell(c));
    (first && (all || (cells.len() == columns && numeric * 2 >= columns))).then_some(cells)
}
