//! What rows and columns of a table stand for.
//!
//! The user says it, or the table: a column is headed `kernel` or the like, or the rows number
//! the runs of each name. Of any other table the figures are read, and not judged.

mod decide;
mod figures;
mod normalised;
pub(crate) mod words;

use assize_bundle::Place;

use crate::admission::Sign;
use crate::grammar::table::Grid;
use crate::grammar::{Finding, names_what_it_compares};
use crate::options::Options;

use decide::decide;

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
    /// What says so, in words; none if nothing does.
    pub(crate) because: Option<&'static str>,
}

/// A table that was read.
pub(crate) struct Resolved {
    pub(crate) findings: Vec<(Place, Finding)>,
    pub(crate) named_by: NamedBy,
    /// What the table itself says for or against judging it.
    pub(crate) signs: Vec<Sign>,
    /// For `--explain`.
    pub(crate) said: String,
}

/// Gives a table's rows and columns their roles and reads its figures.
pub(crate) fn resolve(grid: &Grid, context: &Context<'_>) -> Resolved {
    if let Some(base) = normalised::normalised(grid) {
        return Resolved {
            findings: normalised::statements(grid, Some(&base)),
            named_by: NamedBy::Rows,
            signs: Vec::new(),
            said: format!("a table of figures divided by those of {base}"),
        };
    }
    if normalised::only_changes(grid) {
        return Resolved {
            findings: normalised::statements(grid, None),
            named_by: NamedBy::Rows,
            signs: Vec::new(),
            said: "a table of changes, of which nobody gives the figures".to_string(),
        };
    }
    let roles = decide(grid, context);
    let named_by = match (roles.columns, roles.rows) {
        (Role::Configurations, _) => NamedBy::Columns,
        (_, Role::Configurations) => NamedBy::Rows,
        _ => NamedBy::Heading,
    };
    let (findings, pooled) = figures::read(grid, &roles, context);
    let mut signs = decide::signs(grid, &roles);
    signs.extend(pooled.then_some(Sign::Pooled));
    let because = roles.because.unwrap_or("nothing says it");
    Resolved {
        findings,
        named_by,
        signs,
        said: format!(
            "columns are {}, rows are {} ({because})",
            roles.columns.word(),
            roles.rows.word(),
        ),
    }
}

#[cfg(test)]
mod tests;
