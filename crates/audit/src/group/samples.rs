//! Figures that come again and are no further runs: samples inside one.

use std::collections::{BTreeMap, BTreeSet};

use super::Item;
use super::assemble::tool;
use super::names;
use super::repeat::Stand;
use crate::admission::Sign;
use crate::grammar::dd::bytes_of;
use crate::grammar::runs_in_a_row::RUNS_IN_A_ROW;
use crate::grammar::{Figure, Finding};
use crate::roles::NamedBy;
use crate::scan::mean_figures;

/// Runs of one cell, as far as tables give them.
type Cell = (Stand, String, String);

fn cell(item: &Item) -> Cell {
    let name = |name: &Option<String>| name.clone().unwrap_or_default();
    (
        item.stand,
        name(&item.configuration_label),
        name(&item.workload_name),
    )
}

/// A table whose rows or columns name the configurations is whole in itself, and
/// so is a block that names several. Where another one has figures for the same
/// cells, its workload is another.
pub(super) fn tell_tables_apart(items: &mut [Item]) {
    let mut named: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for item in items.iter().filter(|item| item.named_by == NamedBy::Block) {
        let label = item.configuration_label.as_deref();
        named.entry(item.block).or_default().extend(label);
    }
    let whole = |item: &Item| match item.named_by {
        NamedBy::Columns | NamedBy::Rows => true,
        NamedBy::Block => named.get(&item.block).is_some_and(|names| names.len() >= 2),
        NamedBy::Heading | NamedBy::Command => false,
    };
    let mut owners: BTreeMap<(Cell, String), usize> = BTreeMap::new();
    let mut apart: BTreeMap<usize, u32> = BTreeMap::new();
    // What was encoded stands in one line of the file, all of it.
    let mut tables: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for item in items.iter().filter(|item| whole(item)) {
        for metric in metrics(&item.finding) {
            let owner = *owners
                .entry((cell(item), metric.clone()))
                .or_insert(item.block);
            if owner != item.block {
                let line = *apart.entry(item.block).or_insert(item.place.line);
                tables.entry(line).or_default().insert(item.block);
            }
        }
    }
    for item in items.iter_mut() {
        if let Some(line) = apart.get(&item.block) {
            let before = tables
                .get(line)
                .map_or(0, |blocks| blocks.range(..item.block).count());
            let place = match before {
                0 => format!("line {line}"),
                n => format!("line {line}, {}", n + 1),
            };
            // A heading above another table says nothing of this one.
            let headings = [&item.inner, &item.outer].into_iter().flatten();
            let mut headings = headings.map(|heading| names::short(heading));
            let name = item.workload_name.take();
            let mut of_other =
                |name: &String| item.format == "table" && headings.any(|heading| heading == *name);
            let name = name.filter(|name| name != "table" && !of_other(name));
            item.workload_name = Some(match name {
                Some(name) => format!("{name} ({place})"),
                None => format!("table at {place}"),
            });
        }
    }
}

/// One call of hyperfine compares its commands with each other, and with none of another
/// call. Calls of one command each are compared with each other; where a command comes again,
/// another comparison begins.
pub(super) fn tell_sessions_apart(items: &mut [Item]) {
    let session = |item: &Item| {
        tool(item.format) == "hyperfine"
            && item.named_by == NamedBy::Block
            && item.labels().repetition.is_none()
    };
    let mut named: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for item in items.iter().filter(|item| session(item)) {
        let label = item.configuration_label.as_deref();
        named.entry(item.block).or_default().extend(label);
    }
    let whole: BTreeSet<usize> = named
        .into_iter()
        .filter(|(_, names)| names.len() >= 2)
        .map(|(block, _)| block)
        .collect();
    let mut alone: BTreeMap<Cell, Vec<usize>> = BTreeMap::new();
    // Where each comparison of a workload begins, in the order of the text.
    let mut begins: BTreeMap<Named, Vec<(Session, u32)>> = BTreeMap::new();
    for item in items.iter_mut().filter(|item| session(item)) {
        let one = if whole.contains(&item.block) {
            Session::Whole(item.block)
        } else {
            let blocks = alone.entry(cell(item)).or_default();
            if blocks.last() != Some(&item.block) {
                blocks.push(item.block);
            }
            Session::Alone(blocks.len())
        };
        let name = item.workload_name.clone();
        let met = begins.entry((item.stand, name.clone())).or_default();
        let line = match met.iter().find(|(other, _)| *other == one) {
            Some((_, line)) => *line,
            None => {
                met.push((one, item.place.line));
                item.place.line
            }
        };
        if met.first().is_some_and(|(first, _)| *first != one) {
            // The heading stands above the first, and the text between may say what differs.
            let heading = item.inner.as_deref().and_then(names::of_heading);
            let own = name.filter(|name| heading.as_ref() != Some(name));
            let name = own.unwrap_or_else(|| tool(item.format).to_string());
            item.workload_name = Some(format!("{name} (line {line})"));
        }
    }
}

/// A workload's name where it stands.
type Named = (Stand, Option<String>);

/// What is compared with each other of several calls of hyperfine.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Session {
    /// The block of one call of several commands.
    Whole(usize),
    /// Calls of one command each: how often their command was met.
    Alone(usize),
}

/// Times of `dd` are those of one number of bytes, which their name says as long as there are
/// others.
pub(super) fn name_times_of_dd(items: &mut [Item]) {
    let mut sizes: BTreeSet<String> = BTreeSet::new();
    let mut times: Vec<&mut Figure> = Vec::new();
    for item in items.iter_mut().filter(|item| item.format == "dd") {
        match &mut item.finding {
            Finding::Run { figures, .. } => times.extend(figures),
            Finding::Statement { figure, .. } => times.push(figure),
            _ => {}
        }
    }
    sizes.extend(
        times
            .iter()
            .filter_map(|time| bytes_of(&time.metric))
            .map(str::to_owned),
    );
    if sizes.len() == 1 {
        for time in times
            .into_iter()
            .filter(|time| bytes_of(&time.metric).is_some())
        {
            time.metric = "time".to_owned();
        }
    }
}

/// Reports below one heading that differ by far, and in the same order below each of
/// several headings, are no repetitions: something that was not read tells them apart.
pub(super) fn tell_steps_apart(items: &mut [Item]) {
    let mut groups: BTreeMap<(Stand, String), BTreeMap<String, Vec<usize>>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let report = item.named_by == NamedBy::Heading
            && !matches!(item.format, "table" | RUNS_IN_A_ROW)
            && item.labels().repetition.is_none();
        if report && matches!(item.finding, Finding::Run { .. }) {
            let (stand, configuration, workload) = cell(item);
            let group = groups.entry((stand, workload)).or_default();
            group.entry(configuration).or_default().push(at);
        }
    }
    let mut steps: Vec<(usize, usize)> = Vec::new();
    for cells in groups.values() {
        let runs: Vec<&Vec<usize>> = cells.values().collect();
        let count = runs[0].len();
        if runs.len() >= 2 && count >= 2 && runs.iter().all(|runs| runs.len() == count) {
            let metrics = metrics(&items[runs[0][0]].finding);
            let values = |metric: &String, runs: &[usize]| -> Option<Vec<f64>> {
                runs.iter().map(|at| value(&items[*at], metric)).collect()
            };
            let stepped = |metric: &&String| {
                let columns: Option<Vec<Vec<f64>>> =
                    runs.iter().map(|runs| values(metric, runs)).collect();
                columns.is_some_and(|columns| are_steps(&columns))
            };
            if metrics.iter().any(stepped) {
                steps.extend(runs.iter().flat_map(|runs| runs.iter().copied().zip(1..)));
            }
        }
    }
    for (at, number) in steps {
        if let Some(name) = &mut items[at].workload_name {
            name.push_str(&format!(" #{number}"));
        }
    }
}

/// The value of a run for a metric, if it has one.
fn value(item: &Item, metric: &str) -> Option<f64> {
    let Finding::Run { figures, .. } = &item.finding else {
        return None;
    };
    let mut own = figures.iter();
    own.find(|figure| figure.metric == metric)
        .map(|figure| figure.value)
}

/// Whether figures stand in one order in all columns, and neighbours in that order are
/// never alike.
fn are_steps(columns: &[Vec<f64>]) -> bool {
    /// Repetitions seldom differ by more.
    const STEP: f64 = 1.2;
    let first = columns
        .first()
        .map(|column| ranked(column))
        .unwrap_or_default();
    columns.iter().all(|column| {
        let apart =
            |pair: &[usize]| column[pair[0]] > 0.0 && column[pair[1]] >= STEP * column[pair[0]];
        ranked(column) == first && first.windows(2).all(apart)
    })
}

fn metrics(finding: &Finding) -> Vec<&String> {
    match finding {
        Finding::Run { figures, .. } => figures.iter().map(|figure| &figure.metric).collect(),
        Finding::Summary { figure, .. } => vec![&figure.metric],
        _ => Vec::new(),
    }
}

/// Tables that come again under one heading, without a number and without a
/// command of their own, are what a tool printed while one run went on: the
/// mean of their figures is that run's. If the heading itself comes again, nothing tells
/// what the next one was measured on.
pub(super) fn join_samples(items: Vec<Item>) -> Vec<Item> {
    let mut joined: Vec<Item> = Vec::with_capacity(items.len());
    let mut index: BTreeMap<(Cell, u32), usize> = BTreeMap::new();
    let mut figures: BTreeMap<usize, Vec<Figure>> = BTreeMap::new();
    let mut pooled = BTreeSet::new();
    for item in items {
        let numbered = item.labels().repetition.is_some();
        let Finding::Run { figures: own, .. } = &item.finding else {
            joined.push(item);
            continue;
        };
        if item.format != "table" || numbered {
            joined.push(item);
            continue;
        }
        let command = item.command.as_ref().map_or(0, |(place, _)| place.line);
        let next = joined.len();
        let at = *index.entry((cell(&item), command)).or_insert(next);
        if at == next {
            joined.push(item);
        } else {
            if item.heading != joined[at].heading {
                pooled.insert(at);
            }
            figures.entry(at).or_default().extend(own.iter().cloned());
        }
    }
    for at in pooled {
        joined[at].signs.push(Sign::Pooled);
    }
    for (at, more) in figures {
        if let Finding::Run { figures, .. } = &mut joined[at].finding {
            let all: Vec<Figure> = figures.drain(..).chain(more).collect();
            *figures = mean_figures(all.iter());
        }
    }
    joined
}

/// Whether several runs gave one whole number throughout: a parameter that a
/// table repeats in each row.
pub(super) fn is_constant(columns: &[Vec<f64>]) -> bool {
    let mut values = columns.iter().flatten();
    let several = columns.iter().any(|values| values.len() >= 2);
    let first = values.next().copied().unwrap_or_default();
    several && first.fract() == 0.0 && values.all(|value| *value == first)
}

/// The places of values, the least first.
fn ranked(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order
}

/// Runs of a cell whose figures stand in the same order in every
/// configuration, rising or falling over a range, are steps of a parameter or of
/// time. So are ones that are all the same figure.
pub(super) fn is_sweep(columns: &[Vec<f64>]) -> bool {
    let long = columns.iter().all(|values| values.len() >= 3);
    let steps = |values: &Vec<f64>| match values[..] {
        [a, b] if a > 0.0 && b > 0.0 => Some(b / a).filter(|step| !(0.5..=2.0).contains(step)),
        _ => None,
    };
    let two: Option<Vec<f64>> = columns.iter().map(steps).collect();
    if let Some(steps) = two.filter(|steps| steps.len() >= 2) {
        return steps.iter().all(|step| *step > 1.0) || steps.iter().all(|step| *step < 1.0);
    }
    let wide = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::MAX, f64::min);
        let high = values.iter().copied().fold(f64::MIN, f64::max);
        low <= 0.0 && high > 0.0 || high > 1.5 * low
    };
    let Some(first) = columns.first().filter(|_| long && columns.len() >= 2) else {
        return false;
    };
    let order = ranked(first);
    columns.iter().all(|values| ranked(values) == order)
        && (columns.iter().all(|values| wide(values)) || first.len() >= 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_that_differ_by_far_in_one_order_are_of_several_workloads() {
        assert!(are_steps(&[vec![1037.0, 795.0], vec![1073.0, 701.0]]));
        // Alike, in another order, or with two alike.
        assert!(!are_steps(&[vec![1037.0, 995.0], vec![1073.0, 901.0]]));
        assert!(!are_steps(&[vec![1037.0, 795.0], vec![701.0, 1073.0]]));
        assert!(!are_steps(&[
            vec![10.0, 20.0, 21.0],
            vec![11.0, 22.0, 23.0]
        ]));
    }

    #[test]
    fn steps_of_a_parameter_are_no_runs() {
        let sweep = [vec![1.0, 2.1, 4.2], vec![1.1, 2.0, 4.4]];
        assert!(is_sweep(&sweep));
        let runs = [vec![10.1, 10.3, 10.2], vec![11.1, 11.0, 11.2]];
        assert!(!is_sweep(&runs));
        let alike = [vec![10.1, 10.2, 10.3], vec![11.1, 11.2, 11.3]];
        assert!(!is_sweep(&alike), "three may stand in order by chance");
        assert!(is_constant(&[vec![2.0, 2.0], vec![2.0]]));
        assert!(
            !is_constant(&[vec![2.5, 2.5], vec![2.5]]) && !is_constant(&[vec![2.0], vec![2.0]])
        );
        let two = [vec![223.0, 2380.0], vec![239.0, 2438.0]];
        assert!(is_sweep(&two));
        assert!(!is_sweep(&[vec![223.0, 240.0], vec![239.0, 250.0]]));
        let long = [vec![1.0, 1.1, 1.2, 1.3, 1.4], vec![2.0, 2.1, 2.2, 2.3, 2.4]];
        assert!(is_sweep(&long));
    }
}
