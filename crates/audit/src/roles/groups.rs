//! Tables whose columns stand in groups, which a line above the header names.

use super::decide::{self, decide};
use super::{Context, NamedBy, Resolved, Role, Roles, figures};
use crate::admission::Sign;
use crate::grammar::Finding;
use crate::grammar::table::{Grid, Header, Row};

/// So many points make names those of configurations.
const CONFIGURATIONS: i32 = 3;

/// Reads each group as a table of its own. The groups are configurations if their
/// names differ as such do, else parameters of the workload.
pub(super) fn resolve(grid: &Grid, context: &Context<'_>) -> Resolved {
    let names: Vec<&str> = grid.header.groups.iter().map(String::as_str).collect();
    let configured = decide::differing(&names) >= CONFIGURATIONS;
    let mut resolved = Resolved {
        findings: Vec::new(),
        named_by: NamedBy::Columns,
        signs: Vec::new(),
        said: String::new(),
        contradictions: Vec::new(),
    };
    for (at, name) in names.iter().enumerate() {
        let part = part(grid, at);
        let roles = match configured {
            true => Roles {
                columns: Role::Metrics,
                rows: Role::Workloads,
                parameter: None,
                repetition: None,
                confidence: 85,
                because: "the names of the groups differ as configurations do",
            },
            false => decide(&part, context),
        };
        let (findings, pooled) = figures::read(&part, &roles, context);
        if pooled && !resolved.signs.contains(&Sign::Pooled) {
            resolved.signs.push(Sign::Pooled);
        }
        for (place, mut finding) in findings {
            match configured {
                true => name_configuration(&mut finding, name),
                false => add_parameter(&mut finding, &parameter(&grid.header, name)),
            }
            resolved.findings.push((place, finding));
        }
        if !configured && roles.rows == Role::Configurations {
            resolved.named_by = NamedBy::Rows;
        } else if !configured && roles.columns != Role::Configurations {
            resolved.named_by = NamedBy::Heading;
        }
        for sign in decide::signs(&part, &roles) {
            if !resolved.signs.contains(&sign) {
                resolved.signs.push(sign);
            }
        }
        resolved.said = format!(
            "{} groups of columns are {}, columns are {}, rows are {} ({} %: {})",
            names.len(),
            if configured {
                "configurations"
            } else {
                "workloads"
            },
            roles.columns.word(),
            roles.rows.word(),
            roles.confidence,
            roles.because
        );
    }
    resolved
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
    let width = grid.header.columns.len() / grid.header.groups.len();
    let range = group * width..(group + 1) * width;
    Grid {
        header: Header {
            columns: grid.header.columns[range.clone()].to_vec(),
            groups: Vec::new(),
            ..grid.header.clone()
        },
        rows: grid
            .rows
            .iter()
            .map(|row| Row {
                labels: row.labels.clone(),
                cells: row.cells[range.clone()].to_vec(),
            })
            .collect(),
        ..grid.clone()
    }
}
