//! Tables whose columns stand in groups, which a line above the header names.

use super::decide::{self, decide};
use super::figures::VALUE;
use super::side_by_side::may_be_work;
use super::words::{names_measurement, names_metric};
use super::{Context, NamedBy, Resolved, Role, Roles, figures};
use crate::admission::Sign;
use crate::grammar::table::{Grid, Header, Row, is_unit, split_unit};
use crate::grammar::{Figure, Finding, Labels};
use crate::states;

/// So many points make names those of configurations.
const CONFIGURATIONS: i32 = 3;

/// What the groups of columns stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Groups {
    /// Their names differ as those of configurations do.
    Configurations,
    /// They are called as metrics are.
    Metrics,
    Workloads,
}

impl Groups {
    fn of(grid: &Grid, names: &[&str]) -> Self {
        let metrics = names.iter().filter(|name| metric(name).is_some()).count();
        let stated = stated_columns(grid, names);
        if !stated && decide::differing(names) >= CONFIGURATIONS {
            Groups::Configurations
        } else if metrics * 2 >= names.len() {
            Groups::Metrics
        } else if !stated && measure_alike(grid, names) {
            Groups::Configurations
        } else {
            Groups::Workloads
        }
    }

    fn word(self) -> &'static str {
        match self {
            Groups::Configurations => "configurations",
            Groups::Metrics => "metrics",
            Groups::Workloads => "workloads",
        }
    }

    /// What columns and rows of one group are; behind so many columns that all have.
    fn roles(self, part: &Grid, context: &Context<'_>, common: usize) -> Roles {
        match self {
            Groups::Configurations => Roles {
                columns: Role::Metrics,
                rows: Role::Workloads,
                parameter: (common == 1 && numbers_rows(part)).then_some(0),
                repetition: None,
                confidence: 85,
                because: "the names of the groups differ as configurations do",
            },
            Groups::Metrics if compares(part, context) => Roles {
                columns: Role::Configurations,
                rows: Role::Metrics,
                confidence: 85,
                because: "the same columns stand in each group, which is a metric",
                ..decide(part, context)
            },
            _ => decide(part, context),
        }
    }

    /// The finding of a group with what the group's name says.
    fn named(self, mut finding: Finding, header: &Header, name: &str) -> Vec<Finding> {
        match self {
            Groups::Metrics => return by_metric(finding, name),
            Groups::Configurations => name_configuration(&mut finding, name),
            Groups::Workloads => add_parameter(&mut finding, &parameter(header, name)),
        }
        vec![finding]
    }
}

/// Whether rows have no name but the figure in their first column.
fn numbers_rows(part: &Grid) -> bool {
    let numbers = part.rows.iter().map(|row| {
        let cell = row.cells.first()?;
        row.labels.is_empty().then(|| cell.value.to_bits())
    });
    let numbers: Option<Vec<u64>> = numbers.collect();
    numbers.is_some_and(|mut numbers| {
        let rows = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() == rows
    })
}

/// Whether the columns of each group are of opposite states, such as `unpatched` and
/// `patched`, and the groups are of none: then these are what it was measured with.
fn stated_columns(grid: &Grid, groups: &[&str]) -> bool {
    let columns = grid.header.columns.get(grid.header.grouped());
    let columns = columns.unwrap_or_default().iter();
    let names: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
    let stated = |names: &[&str]| names.iter().any(|name| states::in_name(name));
    stated(&names) && !stated(groups) && decide::differing(&names) > CONFIGURATIONS
}

/// Whether groups of the same metrics are of what is compared: no name may be a workload's.
fn measure_alike(grid: &Grid, names: &[&str]) -> bool {
    let measures = |name: &str| names_metric(name) || is_unit(name);
    let columns = &grid.header.columns[grid.header.grouped()];
    !names.iter().any(|name| may_be_work(name))
        && columns.iter().all(|column| measures(&column.name))
}

/// Reads each group as a table of its own.
pub(super) fn resolve(grid: &Grid, context: &Context<'_>) -> Resolved {
    let names: Vec<&str> = grid.header.groups.iter().map(String::as_str).collect();
    let groups = Groups::of(grid, &names);
    let mut resolved = Resolved {
        findings: Vec::new(),
        named_by: NamedBy::Columns,
        signs: Vec::new(),
        said: String::new(),
        contradictions: Vec::new(),
    };
    for (at, name) in names.iter().enumerate() {
        let part = part(grid, at);
        let roles = groups.roles(&part, context, grid.header.grouped().start);
        let (findings, pooled) = figures::read(&part, &roles, context);
        for (place, finding) in findings {
            let named = groups.named(finding, &grid.header, name).into_iter();
            resolved
                .findings
                .extend(named.map(|finding| (place, finding)));
        }
        let by_columns = roles.columns == Role::Configurations;
        if groups != Groups::Configurations && roles.rows == Role::Configurations {
            resolved.named_by = NamedBy::Rows;
        } else if groups != Groups::Configurations && !by_columns {
            resolved.named_by = NamedBy::Heading;
        }
        let own = pooled.then_some(Sign::Pooled);
        for sign in decide::signs(&part, &roles).into_iter().chain(own) {
            if !resolved.signs.contains(&sign) {
                resolved.signs.push(sign);
            }
        }
        resolved.said = format!(
            "{} groups of columns are {}, columns are {}, rows are {} ({} %: {})",
            names.len(),
            groups.word(),
            roles.columns.word(),
            roles.rows.word(),
            roles.confidence,
            roles.because
        );
    }
    resolved
}

/// A group's name and unit, if that is a metric: `kIOPS`, `Bandwidth, MiB/s`.
fn metric(name: &str) -> Option<(String, String)> {
    let (bare, unit) = split_unit(name);
    if !unit.is_empty() {
        return Some((bare, unit));
    }
    match name.rsplit_once(", ") {
        Some((bare, unit)) if is_unit(unit) => Some((bare.to_string(), unit.to_string())),
        _ => (names_measurement(name) || is_unit(name)).then(|| (name.to_string(), String::new())),
    }
}

/// Whether the columns of a group may be what is compared, for their names are none of
/// metrics and its rows have names or numbers.
fn compares(part: &Grid, context: &Context<'_>) -> bool {
    let roles = decide(part, context);
    let named = part.rows.iter().all(|row| !row.labels.is_empty());
    let columns = part.header.columns.iter().enumerate();
    let own = columns.filter(|(at, _)| Some(*at) != roles.parameter);
    (named || roles.parameter.is_some())
        && roles.rows == Role::Metrics
        && own
            .into_iter()
            .all(|(_, column)| !names_metric(&column.name))
}

/// Gives each figure the name of its group, and puts that of its row to the workload.
fn by_metric(finding: Finding, name: &str) -> Vec<Finding> {
    let (metric, unit) = metric(name).unwrap_or_else(|| (name.to_string(), String::new()));
    let renamed = |labels: &Labels, figure: Figure| {
        let row = (figure.metric != VALUE).then_some(figure.metric);
        let of_row = row.into_iter().chain(labels.workload.clone());
        let workload: Vec<String> = of_row.collect();
        let labels = Labels {
            workload: Some(workload.join(" ")).filter(|name| !name.is_empty()),
            ..labels.clone()
        };
        let unit = match figure.unit.is_empty() {
            true => unit.clone(),
            false => figure.unit,
        };
        let metric = metric.clone();
        (
            labels,
            Figure {
                metric,
                unit,
                ..figure
            },
        )
    };
    match finding {
        Finding::Run { labels, figures } => figures
            .into_iter()
            .map(|figure| {
                let (labels, figure) = renamed(&labels, figure);
                let figures = vec![figure];
                Finding::Run { labels, figures }
            })
            .collect(),
        Finding::Summary {
            labels,
            figure,
            spread,
            n,
        } => {
            let (labels, figure) = renamed(&labels, figure);
            vec![Finding::Summary {
                labels,
                figure,
                spread,
                n,
            }]
        }
        other => vec![other],
    }
}

fn name_configuration(finding: &mut Finding, name: &str) {
    if let Finding::Run { labels, .. } | Finding::Summary { labels, .. } = finding {
        labels.configuration = Some(name.to_string());
    }
}

fn add_parameter(finding: &mut Finding, parameter: &str) {
    if let Finding::Run { labels, .. } | Finding::Summary { labels, .. } = finding {
        let own = labels.workload.take();
        let all = own.map_or_else(|| parameter.to_string(), |own| format!("{own} {parameter}"));
        labels.workload = Some(all);
    }
}

/// `IOdepth=8`, of a key and a name.
fn parameter(header: &Header, name: &str) -> String {
    match header.group_key.as_str() {
        "" => name.to_string(),
        key => format!("{key}={name}"),
    }
}

/// One group as a table.
fn part(grid: &Grid, group: usize) -> Grid {
    let grouped = grid.header.grouped();
    let width = grouped.len() / grid.header.groups.len();
    let own = grouped.start + group * width..grouped.start + (group + 1) * width;
    // What stands before the groups numbers the rows of each.
    let of = |at: usize| at < grouped.start || own.contains(&at);
    let columns = grid.header.columns.iter().enumerate();
    Grid {
        header: Header {
            columns: columns
                .filter(|(at, _)| of(*at))
                .map(|(_, c)| c.clone())
                .collect(),
            groups: Vec::new(),
            ..grid.header.clone()
        },
        rows: grid
            .rows
            .iter()
            .map(|row| Row {
                labels: row.labels.clone(),
                cells: (0..row.cells.len())
                    .filter(|at| of(*at))
                    .map(|at| row.cells[at].clone())
                    .collect(),
            })
            .collect(),
        ..grid.clone()
    }
}
