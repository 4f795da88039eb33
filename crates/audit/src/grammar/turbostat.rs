//! The tables of `turbostat`.
//!
//! turbostat prints, for each interval, a header, a row for the whole machine and then (without
//! `--Summary`) a row for each CPU. The intervals of one invocation are samples of one
//! execution: they become one run, whose figures are the means over the intervals. Rows of
//! single CPUs are passed over, as are columns that place a row or hold the time of day.
//! Without columns `Core` or `CPU` all rows are those of intervals, as `--Summary` prints them.

use super::prelude::*;

/// The output of `turbostat`.
pub const TURBOSTAT: Grammar = Grammar {
    reach: 1,
    ..Grammar::new(
        "turbostat",
        |line| TELLING.iter().any(|name| line.contains(name)) && header(line).is_some(),
        read,
    )
};

/// More columns than any version of turbostat prints.
const MOST: usize = 300;

/// Columns that say which CPU a row is about.
const PLACES: [&str; 11] = [
    "Package", "Socket", "Die", "L3", "Node", "Core", "CPU", "APIC", "X2APIC", "pk", "cor",
];
/// Names that only turbostat has.
const TELLING: [&str; 8] = [
    "Avg_MHz", "Busy%", "Bzy_MHz", "TSC_MHz", "PkgWatt", "Pkg_W", "%c0", "CPU%c1",
];

/// The unit of a column.
fn unit(name: &str) -> &'static str {
    match name {
        "GHz" => "GHz",
        "CTMP" | "PTMP" => "C",
        _ if name.contains('%') => "%",
        _ if name.ends_with("Watt") || name.ends_with("_W") => "W",
        _ if name.ends_with("MHz") => "MHz",
        _ if name.ends_with("_J") => "J",
        _ if name.ends_with("Tmp") => "C",
        _ => "",
    }
}

/// The names of a header.
fn header(text: &str) -> Option<Vec<&str>> {
    let names: Vec<&str> = text.split_whitespace().take(MOST).collect();
    let telling = names.iter().filter(|name| TELLING.contains(name)).count();
    let word = |name: &&str| english(name).is_none() && name.len() <= 20;
    (telling >= 2 && names.iter().all(word)).then_some(names)
}

fn read(lines: &[Line<'_>]) -> Option<Block> {
    let names = header(line_at(lines, 0)?)?;
    let places = names.iter().filter(|name| PLACES.contains(name)).count();
    let mut block = Block::new("turbostat header", 1);
    let mut rows: Vec<Vec<Option<f64>>> = Vec::new();
    let mut fresh = true;
    while let Some(text) = line_at(lines, block.taken.len())
        .filter(|_| lines[block.taken.len()].depth == lines[0].depth)
    {
        let blank = text.trim().is_empty();
        let again = |text: &str| header(text).as_ref() == Some(&names);
        if again(text) || blank && line_at(lines, block.taken.len() + 1).is_some_and(again) {
            fresh = true;
            let what = if blank { "blank" } else { "turbostat header" };
            block.taken.push(what);
            continue;
        }
        let mut cells: Vec<&str> = text.split_whitespace().collect();
        let number = |cell: &&str| *cell == "-" || english(cell).is_some();
        if cells.len() < 2 || cells.len() > names.len() || !cells.iter().all(number) {
            break;
        }
        // Old versions leave the places of the machine's row blank.
        if fresh && cells.len() + places == names.len() {
            cells.splice(0..0, std::iter::repeat_n("-", places));
        }
        let mut named = names.iter().zip(&cells);
        let placed = named.all(|(name, cell)| !PLACES.contains(name) || *cell == "-");
        let whole = cells.len() == names.len() && (placed || fresh && places == 0);
        block.taken.push(match whole {
            true => "turbostat row",
            false => "turbostat row of a cpu",
        });
        if whole {
            rows.push(cells.into_iter().map(english).collect());
        }
        fresh = false;
    }
    let figures = names.iter().enumerate().filter_map(|(column, name)| {
        let kept = !PLACES.contains(name) && *name != "Time_Of_Day_Seconds" && *name != "usec";
        let values: Vec<f64> = rows.iter().filter_map(|row| row[column]).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let first = !names[..column].contains(name);
        (kept && first && !values.is_empty()).then(|| Figure::new(label(name), mean, unit(name)))
    });
    block.run(1, Labels::default(), figures.collect());
    (!block.findings.is_empty()).then_some(block)
}
