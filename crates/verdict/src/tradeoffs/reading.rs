//! Parses trade-offs and resolves their metrics.

use assize_bundle::{DeclaredTradeoff, DeclaredTradeoffMetric};

use crate::cells::Cells;
use crate::document::{Better, ClaimOrigin, Lint};
use crate::error::Error;
use crate::names::{NameError, NameKind, folded, resolve, similar};
use crate::options::Options;

/// The word between the two metrics.
const AGAINST: &str = "against";
/// The word between a metric and its workload.
const IN: &str = "in";
/// The expected syntax, for messages.
const FORM: &str = "expected METRIC [in WORKLOAD] against METRIC [in WORKLOAD]";

/// A requested trade-off.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RequestedTradeoff {
    pub(super) origin: ClaimOrigin,
    pub(super) axes: [RequestedAxis; 2],
}

/// One of the metrics of a trade-off.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RequestedAxis {
    pub(super) metric: String,
    pub(super) workload: String,
    pub(super) better: Better,
    /// The indices of its workload and metric, if it was recorded.
    pub(super) place: Option<(usize, usize)>,
}

/// A metric and, if named, a workload of the records.
type NamedMetric = (String, Option<usize>);

/// The trade-offs that the records declare, followed by those in the options that the records do
/// not declare.
pub(super) fn requested_tradeoffs(
    cells: &Cells<'_>,
    options: &Options,
) -> Result<Vec<RequestedTradeoff>, Error> {
    let mut all: Vec<RequestedTradeoff> = Vec::new();
    for declared in &cells.records.tradeoffs {
        all.push(RequestedTradeoff {
            origin: ClaimOrigin::Declared,
            axes: [&declared.x, &declared.y].map(|axis| of_records(cells, axis)),
        });
    }
    for text in &options.tradeoffs {
        for axes in read(cells, text, options)? {
            let same = |one: &RequestedTradeoff| {
                one.axes[0].names_same(&axes[0]) && one.axes[1].names_same(&axes[1])
            };
            if !all.iter().any(same) {
                all.push(RequestedTradeoff {
                    origin: ClaimOrigin::PostHoc,
                    axes,
                });
            }
        }
    }
    Ok(all)
}

impl RequestedAxis {
    fn names_same(&self, other: &RequestedAxis) -> bool {
        let names = |axis: &RequestedAxis| (folded(&axis.workload), folded(&axis.metric));
        names(self) == names(other)
    }
}

fn of_records(cells: &Cells<'_>, axis: &DeclaredTradeoffMetric) -> RequestedAxis {
    let workload = cells.workload(&axis.workload);
    RequestedAxis {
        metric: axis.metric.clone(),
        workload: axis.workload.clone(),
        better: match axis.higher_is_better {
            true => Better::Higher,
            false => Better::Lower,
        },
        place: workload
            .and_then(|workload| Some((workload, recorded(cells, &axis.metric, workload)?))),
    }
}

/// The metric of this name on a workload; if it was recorded in several units, the one that most
/// configurations have.
fn recorded(cells: &Cells<'_>, name: &str, workload: usize) -> Option<usize> {
    let all = cells.metrics.iter().enumerate();
    let named = all.filter(|(_, metric)| folded(&metric.name) == folded(name));
    let having = named.map(|(metric, _)| (metric, cells.row(workload, metric).count()));
    let most = having.filter(|(_, count)| *count > 0);
    // Of equally frequent units, takes the first.
    most.rev()
        .max_by_key(|(_, count)| *count)
        .map(|(metric, _)| metric)
}

/// Lints for declared metrics that were not measured, if there are any runs.
pub(super) fn absent(cells: &Cells<'_>, asked: &DeclaredTradeoff) -> Vec<Lint> {
    let names = cells.metric_names();
    let missing = [&asked.x, &asked.y].into_iter().filter(|axis| {
        let workload = cells.workload(&axis.workload);
        !names.is_empty() && workload.is_none_or(|w| recorded(cells, &axis.metric, w).is_none())
    });
    let said = missing.map(|axis| {
        let detail = match names
            .iter()
            .any(|name| folded(name) == folded(&axis.metric))
        {
            true => format!("no run of '{}' has '{}'", axis.workload, axis.metric),
            false => {
                let near = similar(&axis.metric, &names);
                let mend = near.map_or(String::new(), |name| format!("; did you mean '{name}'?"));
                let count = names.len();
                format!(
                    "'{}' is not among the {count} metrics recorded{mend}",
                    axis.metric
                )
            }
        };
        Lint {
            code: "missing-cell".into(),
            location: asked.place.clone(),
            detail,
            ..Lint::default()
        }
    });
    said.collect()
}

/// Checks the syntax of a trade-off. Names are resolved later, once there are records.
pub(crate) fn check_form(text: &str) -> Result<(), Error> {
    match parts(text, AGAINST).is_empty() {
        true => Err(fault(
            text,
            format!("no '{AGAINST}' between two metrics; {FORM}"),
        )),
        false => Ok(()),
    }
}

fn fault(text: &str, fault: String) -> Error {
    Error::Tradeoff {
        text: text.to_owned(),
        fault,
    }
}

/// Parses a text to trade-offs: one if it names workloads, otherwise one for each workload that has
/// both metrics.
fn read(
    cells: &Cells<'_>,
    text: &str,
    options: &Options,
) -> Result<Vec<[RequestedAxis; 2]>, Error> {
    check_form(text)?;
    let [x, y] = sides(cells, text)?;
    if folded(&x.0) == folded(&y.0) && x.1 == y.1 {
        return Err(fault(
            text,
            format!("'{}' is given twice; name two metrics", x.0),
        ));
    }
    let better = [&x, &y].map(|(metric, _)| direction(cells, text, metric, options));
    let [better_x, better_y] = better;
    let (better_x, better_y) = (better_x?, better_y?);
    let axis = |metric: &str, better: Better, workload: usize| {
        let place = recorded(cells, metric, workload)?;
        Some(RequestedAxis {
            metric: metric.to_owned(),
            workload: cells.workloads[workload].clone(),
            better,
            place: Some((workload, place)),
        })
    };
    let pairs: Vec<(usize, usize)> = match (x.1, y.1) {
        (Some(of_x), Some(of_y)) => vec![(of_x, of_y)],
        (None, None) => (0..cells.workloads.len())
            .map(|both| (both, both))
            .collect(),
        (Some(_), None) | (None, Some(_)) => {
            let without = if x.1.is_none() { &x.0 } else { &y.0 };
            let why = format!("one metric has a workload and '{without}' has none; name both");
            return Err(fault(text, why));
        }
    };
    let found: Vec<[RequestedAxis; 2]> = pairs
        .into_iter()
        .filter_map(|(of_x, of_y)| Some([axis(&x.0, better_x, of_x)?, axis(&y.0, better_y, of_y)?]))
        .collect();
    if found.is_empty() {
        return Err(fault(text, "no workload has both metrics".to_owned()));
    }
    Ok(found)
}

/// Resolves both sides, if the text can be read in exactly one way.
fn sides(cells: &Cells<'_>, text: &str) -> Result<[NamedMetric; 2], Error> {
    let mut found: Vec<[NamedMetric; 2]> = Vec::new();
    let mut first: Option<NameError> = None;
    for (x, y) in parts(text, AGAINST) {
        match (resolve_metric(cells, x), resolve_metric(cells, y)) {
            (Ok(x), Ok(y)) => found.push([x, y]),
            (Err(why), _) | (_, Err(why)) => first = first.or(Some(why)),
        }
    }
    let several = found.len() > 1;
    match (found.pop(), first) {
        (Some(_), _) if several => Err(fault(text, "can be read in several ways".to_owned())),
        (Some(sides), _) => Ok(sides),
        (None, Some(why)) => Err(fault(text, why.to_string())),
        (None, None) => Err(fault(text, FORM.to_owned())),
    }
}

/// Parses `METRIC` or `METRIC in WORKLOAD`. If the whole text is the name of a metric, it is taken
/// as that name even if it contains `in`.
fn resolve_metric(cells: &Cells<'_>, side: &str) -> Result<NamedMetric, NameError> {
    let metrics = cells.metric_names();
    let whole = resolve(NameKind::Metric, side, &metrics);
    let Some((metric, workload)) = parts(side, IN).pop() else {
        return Ok((metrics[whole?].clone(), None));
    };
    if let Ok(metric) = whole {
        return Ok((metrics[metric].clone(), None));
    }
    let metric = resolve(NameKind::Metric, metric, &metrics)?;
    let workload = resolve(NameKind::Workload, workload, &cells.workloads)?;
    Ok((metrics[metric].clone(), Some(workload)))
}

/// The text before and after each occurrence of a word.
fn parts<'t>(text: &'t str, word: &str) -> Vec<(&'t str, &'t str)> {
    let mut found = Vec::new();
    let mut at = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let end = at + piece.len();
        if piece.trim().eq_ignore_ascii_case(word) {
            let (before, behind) = (text[..at].trim(), text[end..].trim());
            if !before.is_empty() && !behind.is_empty() {
                found.push((before, behind));
            }
        }
        at = end;
    }
    found
}

/// Which direction of a metric is good, according to an option or the
/// experiment.
fn direction(
    cells: &Cells<'_>,
    text: &str,
    metric: &str,
    options: &Options,
) -> Result<Better, Error> {
    let name = folded(metric);
    let given = |all: &[String]| {
        let names = std::slice::from_ref(&name);
        all.iter()
            .any(|one| resolve(NameKind::Metric, one, names).is_ok())
    };
    let declared = |all: &[String]| all.iter().any(|one| folded(one) == name);
    let axes = cells
        .records
        .tradeoffs
        .iter()
        .flat_map(|one| [&one.x, &one.y]);
    let mut axes = axes.filter(|axis| folded(&axis.metric) == name);
    if given(&options.higher_is_better) {
        Ok(Better::Higher)
    } else if given(&options.lower_is_better) {
        Ok(Better::Lower)
    } else if let Some(axis) = axes.next() {
        Ok(match axis.higher_is_better {
            true => Better::Higher,
            false => Better::Lower,
        })
    } else if declared(&cells.records.higher_is_better) {
        Ok(Better::Higher)
    } else if declared(&cells.records.primary) {
        Ok(Better::Lower)
    } else {
        Err(fault(
            text,
            format!(
                "nothing says which direction of '{metric}' is good; add --lower-is-better \
                 '{metric}' or --higher-is-better '{metric}'"
            ),
        ))
    }
}
