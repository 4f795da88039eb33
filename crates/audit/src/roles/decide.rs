//! Which role the columns of a table have, and which the rows.

use std::collections::BTreeSet;

use super::change::{self, Agreement, agreement};
use super::words::{
    self, CONFIGURATION_KEYS, METRIC_KEYS, REPETITION_KEYS, WORKLOAD_KEYS, is_derived,
    is_derived_row, key_is, names_metric,
};
use super::{Context, Role, Roles, figures, parameter, repeated, side_by_side, sums};
use crate::admission::{Sign, alone, contrast};
use crate::grammar::table::Grid;
use crate::group::names::workload_score;
use crate::states::{self, Stated};

/// More names than this are compared with the first ones only.
pub(super) const MANY: usize = 24;

/// So many points have names of opposite meaning.
const OPPOSITE: i32 = 4;

/// Decides what rows and columns stand for.
pub(crate) fn decide(grid: &Grid, context: &Context<'_>) -> Roles {
    let own = grid.header.steps.is_empty();
    let repetition = words::repetition_column(&grid.header, &grid.rows).filter(|_| own);
    let parameter = parameter::column(grid).filter(|at| own && Some(*at) != repetition);
    let columns = figure_columns(grid, parameter, repetition);
    let configured = parameter.is_some_and(|at| names_rows(grid, at));
    let (columns, rows, confidence, because) = if configured {
        (
            Role::Metrics,
            Role::Configurations,
            80,
            "a column numbers the configurations",
        )
    } else {
        let repeated = repetition.is_some() || repeated::are(grid, &columns, context);
        of(grid, context, &columns, repeated)
    };
    let roles = Roles {
        columns,
        rows,
        parameter,
        repetition,
        confidence,
        because,
    };
    corrected(roles, context)
}

/// What the user says comes first.
fn corrected(mut roles: Roles, context: &Context<'_>) -> Roles {
    let options = context.options;
    if options.transpose {
        std::mem::swap(&mut roles.columns, &mut roles.rows);
    }
    let complement = |role: Role| match role {
        Role::Configurations => Role::Metrics,
        Role::Metrics => Role::Configurations,
        Role::Workloads => Role::Metrics,
        Role::Repetitions => Role::Configurations,
    };
    if let Some(role) = options.columns_are {
        if options.rows_are.is_none() && roles.rows == role {
            roles.rows = complement(role);
        }
        roles.columns = role;
    }
    if let Some(role) = options.rows_are {
        if options.columns_are.is_none() && roles.columns == role {
            roles.columns = complement(role);
        }
        roles.rows = role;
    }
    if options.transpose || options.columns_are.is_some() || options.rows_are.is_some() {
        (roles.confidence, roles.because) = (100, "the user says so");
    }
    roles
}

/// Columns of figures: neither computed from others nor a parameter.
fn figure_columns(grid: &Grid, parameter: Option<usize>, repetition: Option<usize>) -> Vec<usize> {
    (0..grid.header.columns.len())
        .filter(|&at| Some(at) != parameter && Some(at) != repetition)
        .filter(|&at| !is_derived(&grid.header.columns[at].name, &grid.rows, at))
        .collect()
}

/// What columns are, what rows are, how sure that is, and why.
type Found = (Role, Role, u8, &'static str);

use Role::{Configurations, Metrics, Workloads};

const SIDE_BY_SIDE: &str = "figures of one unit, alike in each row and not in the columns";
const BY_ROWS: Found = (
    Metrics,
    Configurations,
    85,
    "the rows' names differ as configurations do",
);

fn of(grid: &Grid, context: &Context<'_>, columns: &[usize], repeated: bool) -> Found {
    let names: Vec<&str> = columns
        .iter()
        .map(|&at| grid.header.columns[at].name.as_str())
        .collect();
    let labels = labels(grid);
    let metric_columns = names.iter().filter(|name| names_metric(name)).count();
    let metric_rows = labels.iter().filter(|label| names_metric(label)).count();
    let rows_are_metrics = metric_rows * 2 > labels.len() && metric_columns * 2 <= names.len();
    let rows_or = |role| if repeated { Role::Repetitions } else { role };
    let (across, down) = (
        differing_columns(&names),
        differing_rows(grid, &names, &labels),
    );
    if let Some(found) = by_numbers(grid, &names, down) {
        return found;
    }
    let rows_stated = || labels.iter().any(|label| states::in_name(label));
    let stated = || names.iter().any(|name| states::in_name(name)) || rows_stated();
    // Changes say what is compared, also below headings that differ; but what stands below
    // the old kernel and the new one is compared with each other as well.
    let changes = by_changes(grid, &rows_or).filter(|_| grid.metric.is_empty());
    let headed = by_headings(context, (across, down), stated)
        .filter(|_| changes.is_none() || context.heading != Stated::Not);
    if let Some((confidence, why)) = headed {
        return match rows_are_metrics {
            true => (Workloads, Metrics, confidence, why),
            false => (Metrics, rows_or(Workloads), confidence, why),
        };
    }
    let rows_first = || change::rows_say(grid, &names, &labels).then_some(BY_ROWS);
    if let Some(found) = changes.or_else(rows_first) {
        return found;
    }
    if !grid.metric.is_empty() {
        let why = "the columns measure the same of different things";
        return (Configurations, rows_or(Metrics), 85, why);
    }
    if keyed(grid) && across < 4 {
        return (Metrics, Configurations, 90, "the key names configurations");
    }
    if across > down || across > 0 && across == down && metric_columns == 0 {
        let why = "the columns' names differ as configurations do";
        return (Configurations, rows_or(Metrics), 90, why);
    }
    if down > 0 {
        return BY_ROWS;
    }
    if grid.header.steps.is_empty() && side_by_side::are(grid, columns) {
        return (Configurations, rows_or(Metrics), 60, SIDE_BY_SIDE);
    }
    if rows_are_metrics {
        return (Configurations, Metrics, 40, "the rows' names are metrics");
    }
    if side_by_side::units_along_rows(grid, columns) {
        let why = "the rows have units of their own, the columns none";
        return (Configurations, Metrics, 50, why);
    }
    unnamed(grid, columns, metric_columns, &labels, &rows_or)
}

/// What columns and rows are if the columns are numbered; the rows differ by so many points.
fn by_numbers(grid: &Grid, names: &[&str], down: i32) -> Option<Found> {
    if grid.header.columns.iter().any(|column| column.numbered) {
        return Some((Metrics, Configurations, 90, "numbered columns"));
    }
    let rows = if down > 0 { Configurations } else { Metrics };
    let runs = grid.header.steps.is_empty() && numbered_runs(names);
    runs.then_some((Role::Repetitions, rows, 80, "columns are numbered runs"))
}

/// How sure it is, and why, that the headings above it name the configurations of a table
/// whose columns and whose rows differ by so many points.
fn by_headings(
    context: &Context<'_>,
    (across, down): (i32, i32),
    stated: impl Fn() -> bool,
) -> Option<(u8, &'static str)> {
    let headings = context.headings_differ;
    let headed = context.heading == Stated::Only && !stated();
    if headings > across.max(down) || headed && headings >= OPPOSITE {
        return Some((70, "headings name the configurations"));
    }
    let opposed = headed && across >= OPPOSITE && down == 0;
    opposed.then_some((40, "the heading is the state of all"))
}

/// What columns and rows are if changes that are given follow from them.
fn by_changes(grid: &Grid, rows_or: &dyn Fn(Role) -> Role) -> Option<Found> {
    Some(match agreement(grid)? {
        Agreement::Columns => {
            let why = "changes that are given follow from the columns";
            (Configurations, rows_or(Metrics), 95, why)
        }
        Agreement::Rows => {
            let why = "changes that are given follow from the rows";
            (Metrics, Configurations, 95, why)
        }
    })
}

/// Whether a key of the rows is one of configurations.
fn keyed(grid: &Grid) -> bool {
    let mut keys = grid.header.keys.iter().enumerate();
    let single = grid.header.keys.len() == 1;
    keys.any(|(at, key)| {
        key_is(key, CONFIGURATION_KEYS) && (single || !figures::holds_figures(grid, at))
    })
}

/// How much the names of columns differ as those of configurations do. Tests' names do not,
/// unless they say the opposite.
fn differing_columns(names: &[&str]) -> i32 {
    let points = differing(names);
    let tests = || names.iter().all(|name| workload_score(name) > 0);
    match points < OPPOSITE && tests() {
        true => 0,
        false => points,
    }
}

/// How much the names of rows differ as those of configurations do. Under `Test` or
/// `Benchmark` stand tests, unless they say the opposite; under `metric` stand metrics, also
/// where one is called `lock` and another `unlock`.
fn differing_rows(grid: &Grid, columns: &[&str], labels: &[String]) -> i32 {
    let over_rows = match (grid.header.keys.as_slice(), columns) {
        ([key], _) => Some(key.as_str()),
        ([], [only]) if !labels.is_empty() => Some(*only),
        _ => None,
    };
    if over_rows.is_some_and(|key| key_is(key, METRIC_KEYS)) {
        return 0;
    }
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let points = differing(&labels);
    match over_rows.is_some_and(|key| key_is(key, WORKLOAD_KEYS)) && points < OPPOSITE {
        true => 0,
        false => points,
    }
}

/// What is left to guess where no name says anything.
fn unnamed(
    grid: &Grid,
    columns: &[usize],
    metric_columns: usize,
    labels: &[String],
    rows_or: &dyn Fn(Role) -> Role,
) -> Found {
    let few = columns.len() <= 4 && metric_columns == 0;
    if labels.is_empty() && few && same_magnitude(grid, columns) {
        let why = "figures of one size side by side";
        return (Configurations, rows_or(Metrics), 40, why);
    }
    if labels.is_empty() {
        return (Metrics, rows_or(Workloads), 40, "rows have no names");
    }
    (Metrics, Configurations, 30, "nothing says otherwise")
}

/// The distinct names of rows, without those that are computed from others.
fn labels(grid: &Grid) -> Vec<String> {
    let mut met = BTreeSet::new();
    let rows = grid.rows.iter().map(|row| row.labels.join(" "));
    rows.filter(|label| !label.is_empty() && !is_derived_row(label))
        .map(|label| match words::repetition_suffix(&label) {
            Some((stem, _)) => stem.to_string(),
            None => label,
        })
        .filter(|label| met.insert(label.clone()))
        .collect()
}

/// The points of the two names that differ most as configurations do.
pub(crate) fn differing(names: &[&str]) -> i32 {
    let good = names.iter().filter_map(|name| configuration_name(name));
    let good: Vec<contrast::Name> = good.take(MANY).collect();
    let mut most = 0;
    for (at, a) in good.iter().enumerate() {
        for b in &good[at + 1..] {
            most = most.max(match difference(a, b) {
                // `read` and `random read` are what is done.
                points if points < OPPOSITE && a.is_work() && b.is_work() => 0,
                points => points,
            });
        }
    }
    most
}

/// A name, if nothing of itself rules out that it is a configuration's.
pub(crate) fn configuration_name(name: &str) -> Option<contrast::Name> {
    contrast::Name::of_configuration(name)
}

/// The points of two names: how much they differ as configurations do.
pub(crate) fn difference(a: &contrast::Name, b: &contrast::Name) -> i32 {
    let sign = a.beside(b);
    sign.map_or(0, Sign::rank)
}

/// `run1 run2 run3`, `#1 #2`, `1 2 3`.
fn numbered_runs(names: &[&str]) -> bool {
    let number = |name: &str| -> Option<u32> {
        let lower = name.trim().to_lowercase();
        let stem = lower.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &lower[stem.len()..];
        let stem = stem.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
        let run = key_is(stem, REPETITION_KEYS) || stem == "test" || stem.is_empty();
        run.then(|| digits.parse().ok()).flatten()
    };
    // `Avg` behind them is computed from them.
    let own = || names.iter().filter(|name| !is_derived_row(name));
    let numbers: Vec<u32> = own().map_while(|name| number(name)).collect();
    numbers.len() >= 2
        && numbers.len() == own().count()
        && numbers[0] <= 1
        && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// Whether a leading column of numbers names the configurations: `Config 1`.
pub(super) fn names_rows(grid: &Grid, at: usize) -> bool {
    key_is(&grid.header.columns[at].name, CONFIGURATION_KEYS)
}

/// Whether values only rise or only fall.
pub(crate) fn monotone(values: impl Iterator<Item = f64>) -> bool {
    let values: Vec<f64> = values.collect();
    values.len() >= 2
        && (values.windows(2).all(|pair| pair[0] < pair[1])
            || values.windows(2).all(|pair| pair[0] > pair[1]))
}

pub(super) fn range(values: &[f64]) -> (f64, f64) {
    let ends = (f64::MAX, f64::MIN);
    values
        .iter()
        .fold(ends, |(low, high), v| (low.min(*v), high.max(*v)))
}

fn same_magnitude(grid: &Grid, columns: &[usize]) -> bool {
    columns.len() >= 2
        && grid.rows.iter().all(|row| {
            let values: Vec<f64> = columns.iter().map(|&at| row.cells[at].value).collect();
            let (low, high) = range(&values);
            low > 0.0 && high / low < 10.0
        })
}

/// Whether several columns hold nothing but 0 and 1: a table of states.
fn flags(grid: &Grid) -> bool {
    let flag = |at: &usize| {
        let mut cells = grid.rows.iter().map(|row| row.cells[*at].value);
        cells.all(|value| value == 0.0 || value == 1.0)
    };
    grid.rows.len() >= 2 && (0..grid.header.columns.len()).filter(flag).count() >= 2
}

/// What a table says for or against judging it.
pub(crate) fn signs(grid: &Grid, roles: &Roles) -> Vec<Sign> {
    let mut signs = Vec::new();
    let columns = &grid.header.columns;
    let own = figure_columns(grid, roles.parameter, roles.repetition);
    let numbered = roles.parameter.is_some_and(|at| names_rows(grid, at));
    let keyed = numbered || keyed(grid);
    if roles.rows == Role::Configurations {
        signs.extend(keyed.then_some(Sign::ConfigurationKey));
        signs.extend(sums::adds_up(grid).then_some(Sign::PartsOfWhole));
    }
    let agrees = match agreement(grid) {
        Some(Agreement::Columns) => roles.columns == Role::Configurations,
        Some(Agreement::Rows) => roles.rows == Role::Configurations,
        None => false,
    };
    if agrees || roles.rows == Role::Configurations && related(grid) {
        signs.push(Sign::ChangesAgree);
    }
    let parameter = |at: &usize| {
        let own = Some(*at) != roles.parameter && Some(*at) != roles.repetition;
        own && words::names_parameter(&columns[*at].name)
    };
    let headed = roles.columns == Role::Metrics && roles.rows != Role::Configurations;
    let alike = headed && side_by_side::measure_alike(grid, &own);
    signs.extend(alike.then_some(Sign::ColumnsAlike));
    if roles.columns == Role::Configurations && (0..columns.len()).any(|at| parameter(&at)) {
        signs.push(Sign::Parameters);
    }
    if roles.columns == Role::Configurations && flags(grid) {
        signs.push(Sign::Zeros);
    }
    // `1` or `64` may be a column's name, `3.2s` or `0.25` is a figure.
    let own = grid.header.steps.is_empty();
    let figure = |name: &str| {
        let number = name.trim().parse::<u64>().is_ok();
        own && alone::is_figure(name) && !number && !alone::is_pointer(name)
    };
    let headed = columns.iter().filter(|column| figure(&column.name)).count();
    if headed * 2 > columns.len() {
        signs.push(Sign::FigureHeader);
    }
    if tallies_boots(grid) {
        signs.push(Sign::Dump);
    }
    signs
}

/// Whether a table of the kernel test robot says how many boots ended how, of different
/// numbers of boots.
fn tallies_boots(grid: &Grid) -> bool {
    const BOOTS: [&str; 2] = ["boot_successes", "boot_failures"];
    let named = |label: &String| BOOTS.contains(&label.as_str());
    grid.rows.iter().any(|row| row.labels.iter().any(named))
}

/// Whether a column says that it is relative to one of the rows, which has 1 or 100
/// there: `latency (normalized to pipe)`.
fn related(grid: &Grid) -> bool {
    let to = |name: &str| -> Option<String> {
        let lower = name.to_lowercase();
        let marks = ["normalized to ", "normalised to ", "relative to "];
        let (_, base) = marks.iter().find_map(|mark| lower.split_once(mark))?;
        Some(base.trim_end_matches([')', ' ']).to_string())
    };
    let columns = grid.header.columns.iter().enumerate();
    columns.into_iter().any(|(at, column)| {
        to(&column.name).is_some_and(|base| {
            grid.rows.iter().any(|row| {
                let unit = row
                    .cells
                    .get(at)
                    .is_some_and(|cell| cell.value == 1.0 || cell.value == 100.0);
                unit && row.labels.join(" ").to_lowercase() == base
            })
        })
    })
}
