//! The roles of a table's columns, by their names in the header.

use super::error::{Fault, missing};
use super::metric::Metric;
use crate::grammar::units::parted;
use crate::options::Role;
use crate::states::{Side, side};

/// The role of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Column {
    Configuration,
    Workload,
    Metric,
    Unit,
    /// One figure of one run, with the unit in the header.
    Value(String),
    /// A mean, with the unit in the header.
    Mean(String),
    Sd,
    Se,
    Ci95,
    Count,
    Run,
    Order,
    /// A printed change against the baseline, with the unit in the header.
    Change(String),
    /// A printed ratio to the baseline.
    Ratio,
    /// A parameter of the workload, with its name.
    Parameter(String),
    /// The figures of a metric.
    FiguresOf(Metric),
    /// The figures of a configuration.
    Under(String),
}

/// The names of each role, its own name first.
static NAMES: [(&str, Column); 14] = [
    (
        "configuration|config|variant|version|build|kernel|branch|commit|treatment|state|side",
        Column::Configuration,
    ),
    (
        "workload|benchmark|bench|test|testcase|case|scenario|program|command",
        Column::Workload,
    ),
    ("metric|measure|quantity|counter|event", Column::Metric),
    ("unit|units", Column::Unit),
    ("value|result|reading|score", Column::Value(String::new())),
    ("mean|average|avg", Column::Mean(String::new())),
    ("sd|std|stddev|stdev|std dev|standard deviation", Column::Sd),
    ("se|sem|stderr|standard error", Column::Se),
    ("ci95|95 % ci|95% ci", Column::Ci95),
    ("n|runs|repetitions|replicates", Column::Count),
    ("run|repetition|rep|replicate|trial", Column::Run),
    ("order|sequence|position", Column::Order),
    (
        "change|delta|diff|difference",
        Column::Change(String::new()),
    ),
    ("ratio|relative", Column::Ratio),
];

/// Returns the name of a role for messages.
pub(crate) fn role_name(column: &Column) -> &'static str {
    let same = |other: &Column| std::mem::discriminant(other) == std::mem::discriminant(column);
    let mut all = NAMES.iter();
    let named = all.find(|(_, other)| same(other));
    match column {
        Column::Count => "number of runs",
        _ => named.map_or("figures", |(names, _)| {
            names.split('|').next().unwrap_or(names)
        }),
    }
}

/// Facts about a table that its header does not give.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    /// The role of its columns, if the user gives one.
    pub(crate) columns_are: Option<Role>,
    /// Whether the file itself is a configuration.
    pub(crate) is_configuration: bool,
}

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) columns: Vec<Column>,
    /// Their names in the file.
    pub(crate) names: Vec<String>,
}

impl Header {
    /// Reads a header; `None` if it does not give the roles of its columns.
    pub(crate) fn read(cells: &[String], known: Known) -> Result<Option<Header>, Fault> {
        let roles: Vec<Option<Column>> = cells.iter().map(|cell| role(cell)).collect();
        let Some(kind) = kind(cells, &roles, known)? else {
            return Ok(None);
        };
        let mut columns = Vec::new();
        for (cell, role) in cells.iter().zip(roles) {
            columns.push(match role {
                Some(role) => role,
                None => kind.other(cell)?,
            });
        }
        let header = Header {
            columns,
            names: cells.to_vec(),
        };
        header.check(known)?;
        Ok(Some(header))
    }

    /// The column of a role.
    pub(crate) fn find(&self, wanted: &Column) -> Option<usize> {
        let same = |other: &Column| std::mem::discriminant(other) == std::mem::discriminant(wanted);
        self.columns.iter().position(same)
    }

    fn check(&self, known: Known) -> Result<(), Fault> {
        let many = |column: &Column| {
            matches!(
                column,
                Column::Parameter(_) | Column::FiguresOf(_) | Column::Under(_)
            )
        };
        for (at, column) in self.columns.iter().enumerate() {
            let before = self.find(column).filter(|before| *before < at);
            if let Some(before) = before.filter(|_| !many(column)) {
                return Err(self.twice(before, at, role_name(column)));
            }
            let mut earlier = self.columns[..at].iter();
            if let Some(first) = earlier.position(|other| many(column) && other == column) {
                return Err(self.twice(first, at, "figures"));
            }
        }
        let has = |column: &Column| self.find(column);
        let value = has(&Column::Value(String::new()));
        let mean = has(&Column::Mean(String::new()));
        if let (Some(value), Some(mean)) = (value, mean) {
            return Err(self.beside(value, mean));
        }
        let figures = has(&Column::Under(String::new()));
        let contradicts = match figures {
            Some(figures) => [Column::Configuration, Column::Order]
                .iter()
                .find_map(|column| Some((has(column)?, figures))),
            None => None,
        };
        if let Some((column, figures)) = contradicts {
            return Err(self.beside(column, figures));
        }
        let named = has(&Column::Configuration).or(figures).is_some() || known.is_configuration;
        if !named {
            return Err(missing(
                "configuration",
                "add one, or give each configuration a file of its own: assize audit base=FILE \
                 patched=FILE",
            ));
        }
        Ok(())
    }

    fn twice(&self, first: usize, second: usize, role: &str) -> Fault {
        let [first, second] = [first, second].map(|at| &self.names[at]);
        format!("columns '{first}' and '{second}' both name the {role}; rename one")
    }

    fn beside(&self, column: usize, other: usize) -> Fault {
        contradicts(
            &self.names[column],
            &format!("column '{}'", self.names[other]),
        )
    }
}

fn contradicts(column: &str, other: &str) -> Fault {
    format!("column '{column}' contradicts {other}; leave one out")
}

/// The role of columns whose names give none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Each row has one figure: these columns are parameters of the workload.
    Tidy,
    /// They are metrics.
    Metrics,
    /// They are configurations.
    Configurations,
}

impl Kind {
    fn other(self, cell: &str) -> Result<Column, Fault> {
        match self {
            Kind::Tidy => Ok(Column::Parameter(cell.to_owned())),
            Kind::Metrics => {
                let metric = Metric::parse(cell)?;
                Ok(Column::FiguresOf(metric))
            }
            Kind::Configurations => Ok(Column::Under(cell.to_owned())),
        }
    }
}

/// Returns how to read a table; `None` if its header does not tell.
fn kind(cells: &[String], roles: &[Option<Column>], known: Known) -> Result<Option<Kind>, Fault> {
    let has = |wanted: &dyn Fn(&Column) -> bool| {
        let found = roles
            .iter()
            .position(|role| role.as_ref().is_some_and(wanted));
        found.map(|at| cells[at].clone())
    };
    let figure = has(&|role| matches!(role, Column::Value(_) | Column::Mean(_)));
    let under = has(&|role| matches!(role, Column::Under(_)));
    let figures_of = has(&|role| matches!(role, Column::FiguresOf(_)));
    let configuration = has(&|role| *role == Column::Configuration);
    let others = roles.iter().any(Option::is_none);
    let empty = cells.iter().any(|cell| cell.is_empty());
    let is_side = |wanted: Side| cells.iter().any(|cell| side(cell) == Some(wanted));
    match known.columns_are {
        Some(Role::Configurations | Role::Metrics) if figure.is_some() => {
            Err(contradicts(&figure.unwrap_or_default(), "--columns-are"))
        }
        Some(Role::Configurations) => Ok(others.then_some(Kind::Configurations)),
        Some(Role::Metrics) => Ok(others.then_some(Kind::Metrics)),
        Some(Role::Workloads | Role::Repetitions) => Ok(None),
        None if empty => Ok(None),
        None if under.is_some() || figures_of.is_some() || figure.is_some() => {
            let said = configuration.is_some() || under.is_some() || known.is_configuration;
            // One word that is a role by chance is no declaration.
            let roles = roles.iter().flatten().count();
            Ok((said || roles >= 3).then_some(Kind::Tidy))
        }
        // `build | before | after`: the columns are the configurations.
        None if is_side(Side::Before) && is_side(Side::After) => Ok(None),
        None if configuration.is_some() && others => Ok(Some(Kind::Metrics)),
        None if known.is_configuration && others => {
            Ok(roles.iter().any(Option::is_some).then_some(Kind::Metrics))
        }
        None => Ok(None),
    }
}

/// The role that a cell of a header names: `value [ms]`, `Std. dev.`, `configuration=base`.
fn role(cell: &str) -> Option<Column> {
    if let Some((key, name)) = cell.split_once('=') {
        let name = name.trim();
        match role(key.trim())? {
            Column::Configuration if !name.is_empty() => return Some(Column::Under(name.into())),
            Column::Metric => return Metric::parse(name).ok().map(Column::FiguresOf),
            _ => {}
        }
    }
    let (name, unit) = match cell.ends_with([']', ')']) {
        true => parted(cell),
        false => (cell, ""),
    };
    let folded = folded(name);
    let mut all = NAMES.iter();
    let (_, column) = all.find(|(names, _)| names.split('|').any(|name| name == folded))?;
    Some(match column {
        Column::Value(_) => Column::Value(unit.to_owned()),
        Column::Mean(_) => Column::Mean(unit.to_owned()),
        Column::Change(_) => Column::Change(unit.to_owned()),
        Column::Sd | Column::Se | Column::Ci95 => column.clone(),
        _ if !unit.is_empty() => return None,
        other => other.clone(),
    })
}

/// Normalises a name: lower case, no full stops, words separated by single blanks.
fn folded(name: &str) -> String {
    let plain = name.to_lowercase().replace(['_', '-'], " ");
    let words: Vec<&str> = plain.split([' ', '.']).filter(|w| !w.is_empty()).collect();
    words.join(" ")
}
