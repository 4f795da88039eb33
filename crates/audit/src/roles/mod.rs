//! What rows and columns of a table stand for.
//!
//! A table alone often does not say it. So this is decided when the whole
//! message is known: from the names over columns and rows, the headings under
//! which tables of the same shape stand, the numbers of runs that the text
//! names, and what the user says.

mod aside;
mod change;
mod decide;
mod figures;
mod flags;
mod groups;
mod normalised;
mod parameter;
mod repeated;
mod side_by_side;
mod sides;
mod sums;
mod twins;
pub(crate) mod words;

use assize_bundle::Place;

use crate::admission::Sign;
use crate::grammar::table::Grid;
use crate::grammar::{Finding, names_what_it_compares};
use crate::options::Options;
use crate::states::Stated;

use decide::decide;
pub(crate) use decide::{configuration_name, difference, differing, monotone};

/// At most so sure is a guess.
const GUESS: u8 = 40;

/// What a row or a column stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A configuration under test.
    Configurations,
    /// A metric.
    Metrics,
    /// A workload, or a parameter of one.
    Workloads,
    /// One more execution of the same.
    Repetitions,
}

impl Role {
    /// Its name in the plural, as the options have it.
    pub fn word(self) -> &'static str {
        match self {
            Role::Configurations => "configurations",
            Role::Metrics => "metrics",
            Role::Workloads => "workloads",
            Role::Repetitions => "repetitions",
        }
    }

    /// Reads a role.
    ///
    /// # Errors
    /// A sentence with the words that are known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let all = [
            Role::Configurations,
            Role::Metrics,
            Role::Workloads,
            Role::Repetitions,
        ];
        all.into_iter()
            .find(|role| role.word() == text)
            .ok_or_else(|| {
                format!("'{text}' is none of configurations, metrics, workloads, repetitions")
            })
    }
}

/// What names the configurations of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum NamedBy {
    /// The block itself: a tool prints it.
    #[default]
    Block,
    /// The columns of a table.
    Columns,
    /// The rows of a table.
    Rows,
    /// The heading above.
    Heading,
    /// The command line above.
    Command,
}

impl NamedBy {
    /// Whether it is a table's rows or columns.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Columns | Self::Rows)
    }

    /// Whether it is the tool of this format, and the tool names what it compares.
    pub(crate) fn is_comparing_tool(self, format: &str) -> bool {
        self == Self::Block && names_what_it_compares(format)
    }
}

/// What surrounds a table.
pub(crate) struct Context<'a> {
    /// By how many points the headings under which tables of the same shape
    /// stand differ as the names of configurations do.
    pub(crate) headings_differ: i32,
    /// What the heading above it says of a state.
    pub(crate) heading: Stated,
    /// The number of runs that the text names.
    pub(crate) runs: Option<u32>,
    /// What the text says that a `±` is.
    pub(crate) spread: Option<crate::options::SpreadKind>,
    pub(crate) options: &'a Options,
}

/// What the parts of a table stand for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Roles {
    pub(crate) columns: Role,
    pub(crate) rows: Role,
    /// The column that is a parameter of the workload.
    pub(crate) parameter: Option<usize>,
    /// The column that numbers the repetitions.
    pub(crate) repetition: Option<usize>,
    /// Out of 100, how sure that is.
    pub(crate) confidence: u8,
    /// Why, in words.
    pub(crate) because: &'static str,
}

/// A table that was read.
pub(crate) struct Resolved {
    pub(crate) findings: Vec<(Place, Finding)>,
    pub(crate) named_by: NamedBy,
    /// What the table itself says for or against judging it.
    pub(crate) signs: Vec<Sign>,
    /// For `--explain`.
    pub(crate) said: String,
    /// Where its column of changes contradicts the figures beside it.
    pub(crate) contradictions: Vec<(Place, String)>,
}

/// Gives a table's rows and columns their roles and reads its figures.
pub(crate) fn resolve(grid: &Grid, context: &Context<'_>) -> Resolved {
    if let Some(base) = normalised::normalised(grid) {
        return Resolved {
            findings: normalised::statements(grid, Some(&base)),
            named_by: NamedBy::Rows,
            signs: Vec::new(),
            said: format!("a table of figures divided by those of {base}"),
            contradictions: Vec::new(),
        };
    }
    if normalised::only_changes(grid) {
        return Resolved {
            findings: normalised::statements(grid, None),
            named_by: NamedBy::Rows,
            signs: Vec::new(),
            said: "a table of changes, of which nobody gives the figures".to_string(),
            contradictions: Vec::new(),
        };
    }
    if let Some(parted) = sides::part(grid) {
        let context = Context {
            runs: parted.runs.or(context.runs),
            spread: parted.spread.or(context.spread),
            ..*context
        };
        return groups::resolve(&parted.grid, &context);
    }
    if let Some(with) = sides::with_deviations(grid) {
        let spread = Some(crate::options::SpreadKind::Sd).or(context.spread);
        return of_grid(&with, &Context { spread, ..*context });
    }
    of_grid(grid, context)
}

/// The same of a table in which each column has its own figures.
fn of_grid(grid: &Grid, context: &Context<'_>) -> Resolved {
    let measured = with_common_metric(grid).or_else(|| aside::without(grid));
    let grid = measured.as_ref().unwrap_or(grid);
    if grid.header.groups.len() >= 2 {
        return groups::resolve(grid, context);
    }
    let flagged = flags::named(grid).filter(|_| !context.options.says_roles());
    let (grid, roles) = match &flagged {
        Some(flagged) => (flagged, flags::ROLES),
        None => (grid, decide(grid, context)),
    };
    let (single, slip) = twins::without(grid, &roles).unzip();
    let grid = single.as_ref().unwrap_or(grid);
    let named_by = match (roles.columns, roles.rows) {
        (Role::Configurations, _) => NamedBy::Columns,
        (_, Role::Configurations) => NamedBy::Rows,
        _ => NamedBy::Heading,
    };
    let (mut findings, pooled) = figures::read(grid, &roles, context);
    findings.extend(slip);
    Resolved {
        findings,
        named_by,
        signs: decide::signs(grid, &roles)
            .into_iter()
            .chain((roles.confidence <= GUESS).then_some(Sign::Guessed))
            .chain(pooled.then_some(Sign::Pooled))
            .collect(),
        contradictions: change::contradictions(grid, &roles),
        said: format!(
            "columns are {}, rows are {} ({} %: {})",
            roles.columns.word(),
            roles.rows.word(),
            roles.confidence,
            roles.because
        ),
    }
}

/// A table whose columns are `IOPS (polling)` and `IOPS (interrupts)` measures IOPS
/// of two configurations.
fn with_common_metric(grid: &Grid) -> Option<Grid> {
    let columns = &grid.header.columns;
    let parameter = words::parameter_column(&grid.header);
    let own = |at: &usize| {
        Some(*at) != parameter && !words::is_derived(&columns[*at].name, &grid.rows, *at)
    };
    let figures: Vec<usize> = (0..columns.len()).filter(own).collect();
    let parted = |at: &usize| -> Option<(&str, &str)> {
        let (metric, name) = columns[*at].name.strip_suffix(')')?.split_once('(')?;
        let metric = metric.trim_end();
        (words::names_measurement(metric) && closes_brackets(name)).then_some((metric, name))
    };
    // `Time old lock`, `Time new lock`.
    let begins = |at: &usize| -> Option<(&str, &str)> {
        let (metric, name) = columns[*at].name.split_once(' ')?;
        let plain = !words::names_metric(name) && !side_by_side::may_be_work(name);
        (words::names_measurement(metric) && plain).then_some((metric, name.trim()))
    };
    let bracketed: Option<Vec<(&str, &str)>> = figures.iter().map(parted).collect();
    let begun = || figures.iter().map(begins).collect::<Option<Vec<_>>>();
    let (figures, names) = match bracketed.or_else(begun) {
        Some(names) => (figures, names),
        None => ends_alike(grid, &figures)?,
    };
    let (metric, _) = *names.first()?;
    let common = names.len() >= 2 && names.iter().all(|(other, _)| *other == metric);
    let distinct: std::collections::BTreeSet<&str> = names.iter().map(|(_, name)| *name).collect();
    if !common || distinct.len() < names.len() {
        return None;
    }
    let mut measured = grid.clone();
    measured.metric = metric.to_string();
    for (at, (_, name)) in figures.iter().zip(&names) {
        measured.header.columns[*at].name = (*name).to_string();
    }
    Some(measured)
}

/// The metric and the name of a configuration in the name of a column.
type Parted<'g> = (&'g str, &'g str);

/// `Alder avg delay`, `Birch avg delay`, and a column of changes: what the two words are
/// followed by is the metric, for changes are of one metric. What stands left of them tells
/// the rows apart.
fn ends_alike<'g>(grid: &'g Grid, figures: &[usize]) -> Option<(Vec<usize>, Vec<Parted<'g>>)> {
    let columns = &grid.header.columns;
    let derived = |at: &usize| words::is_derived(&columns[*at].name, &grid.rows, *at);
    let pair = match figures {
        [first, second] | [0, first, second] => [*first, *second],
        _ => return None,
    };
    let parted = |at: usize| {
        let (name, metric) = columns.get(at)?.name.split_once(' ')?;
        let letters = name.chars().any(char::is_alphabetic);
        let plain = letters && !words::names_metric(name) && !side_by_side::may_be_work(name);
        // Of `old kernel` and `new kernel` the two are configurations as they stand.
        let last = metric.rsplit(' ').next().unwrap_or_default().to_lowercase();
        let of_what = words::CONFIGURATION_KEYS.contains(&last.as_str());
        (plain && !of_what).then_some((metric.trim(), name))
    };
    let names = pair.into_iter().map(parted).collect::<Option<Vec<_>>>()?;
    let changes = (0..columns.len()).filter(derived).count();
    (changes == 1).then(|| (pair.to_vec(), names))
}

/// Whether each bracket that a text opens is closed, and none else.
fn closes_brackets(text: &str) -> bool {
    let mut open = 0_usize;
    let closed = text.chars().all(|c| match c {
        '(' => {
            open += 1;
            true
        }
        ')' => {
            let any = open > 0;
            open = open.saturating_sub(1);
            any
        }
        _ => true,
    });
    closed && open == 0
}

#[cfg(test)]
mod posted;
#[cfg(test)]
mod tests;
