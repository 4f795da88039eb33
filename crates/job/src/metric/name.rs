//! Names of metrics in a run.

use std::fmt;

use super::{METRICS, Mark, Metric, MetricForm, MetricSource, PER_JOB, per_job};
use crate::{Workload, WorkloadKind};

/// Placeholder at the beginning of a name for the name of a loop.
const LOOP: &str = "LOOP";

/// The name of a metric of a run, or a pattern for several.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricName {
    before: String,
    open: NamePlaceholder,
    after: String,
    /// The statistic, if it is one of a distribution.
    pub mark: Option<Mark>,
}

/// The placeholder in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamePlaceholder {
    Nothing,
    Number,
    /// Any text; the word is the placeholder.
    Text(&'static str),
}

/// Placeholders for a text, after a colon.
const TEXTS: [&str; 3] = ["THREAD", "STATE", "FREQUENCY"];

impl fmt::Display for MetricName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = match self.open {
            NamePlaceholder::Nothing => "",
            NamePlaceholder::Number => "N",
            NamePlaceholder::Text(word) => word,
        };
        write!(f, "{}{open}{}", self.before, self.after)
    }
}

impl MetricName {
    /// Whether it is a pattern for many metrics: of each CPU, of each thread.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open != NamePlaceholder::Nothing
    }

    /// Whether a metric's name matches.
    #[must_use]
    pub fn matches(&self, metric: &str) -> bool {
        match self.open(metric) {
            None => false,
            Some(open) => match self.open {
                NamePlaceholder::Nothing => open.is_empty(),
                NamePlaceholder::Number => {
                    !open.is_empty() && open.bytes().all(|byte| byte.is_ascii_digit())
                }
                NamePlaceholder::Text(_) => !open.is_empty(),
            },
        }
    }

    /// The matching name that is closest to this text: a placeholder takes the text after
    /// its colon.
    #[must_use]
    pub fn closest_name(&self, metric: &str) -> String {
        let open = match self.open {
            NamePlaceholder::Nothing => "",
            NamePlaceholder::Number => "0",
            NamePlaceholder::Text(word) => metric.split_once(':').map_or(word, |(_, part)| part),
        };
        format!("{}{open}{}", self.before, self.after)
    }

    /// The text in place of the placeholder.
    fn open<'a>(&self, metric: &'a str) -> Option<&'a str> {
        let rest = metric.strip_prefix(self.before.as_str())?;
        rest.strip_suffix(self.after.as_str())
    }

    /// A name without a placeholder.
    fn plain(name: &str) -> MetricName {
        MetricName {
            before: name.to_owned(),
            open: NamePlaceholder::Nothing,
            after: String::new(),
            mark: None,
        }
    }

    /// A name from the table, with `LOOP` replaced by the name of this loop.
    fn from_table(name: &str, of_loop: &str, mark: Option<Mark>) -> MetricName {
        let text = TEXTS.iter().find_map(|word| {
            let (before, after) = name.split_once(word)?;
            Some((before, NamePlaceholder::Text(word), after))
        });
        let (before, open, after) = if let Some(text) = text {
            text
        } else if let Some((before, after)) = name.split_once('N') {
            (before, NamePlaceholder::Number, after)
        } else {
            (name, NamePlaceholder::Nothing, "")
        };
        let before = match before.strip_prefix(LOOP) {
            Some(rest) => format!("{of_loop}{rest}"),
            None => before.to_owned(),
        };
        MetricName {
            before,
            open,
            after: after.to_owned(),
            mark,
        }
    }
}

impl Metric {
    /// Its names in runs. `loops`: the names of loops. `jobs`: whether runs have jobs.
    fn names(&self, loops: &[&str], jobs: bool) -> Vec<MetricName> {
        let mut texts = match self.form {
            MetricForm::Number => vec![(self.name.to_owned(), None)],
            MetricForm::Distribution => Mark::ALL
                .map(|mark| (mark.metric_name(self.name, self.unit), Some(mark)))
                .to_vec(),
            MetricForm::Events => Vec::new(),
        };
        if PER_JOB.contains(&self.name) && jobs {
            texts.push((per_job(self.name), None));
        }
        let loops = match self.name.starts_with(LOOP) {
            true => loops,
            false => &[""],
        };
        let named = |one: &&str| {
            let name =
                |(text, mark): &(String, Option<Mark>)| MetricName::from_table(text, one, *mark);
            texts.iter().map(name).collect::<Vec<_>>()
        };
        loops.iter().flat_map(named).collect()
    }
}

/// The metrics that runs of these workloads with these instruments may have. Some depend on
/// conditions: enough samples, support by the target.
#[must_use]
pub fn measured(workloads: &[&Workload], instruments: &[String]) -> Vec<MetricName> {
    let kinds: Vec<&str> = workloads.iter().map(|one| one.kind.name()).collect();
    let jobs = workloads.iter().any(|one| one.kind.submits());
    let loops = workloads.iter().flat_map(|one| match &one.kind {
        WorkloadKind::Periodic(periodic) => periodic.loops.as_slice(),
        _ => &[],
    });
    let loops: Vec<&str> = loops.map(|one| one.name.as_str()).collect();
    let given = metrics_given(&kinds, instruments);
    let mut names: Vec<MetricName> = given.flat_map(|one| one.names(&loops, jobs)).collect();
    for workload in workloads {
        if let WorkloadKind::Command(command) = &workload.kind {
            let own = command.metrics.iter();
            names.extend(own.map(|name| MetricName::plain(name)));
        }
    }
    names
}

/// The events that runs of these workloads with these instruments may count.
#[must_use]
pub fn event_names(workloads: &[&Workload], instruments: &[String]) -> Vec<&'static str> {
    let kinds: Vec<&str> = workloads.iter().map(|one| one.kind.name()).collect();
    let given = metrics_given(&kinds, instruments);
    given
        .filter(|one| one.form == MetricForm::Events)
        .map(|one| one.name)
        .collect()
}

/// The metrics that these kinds of workloads and these instruments provide.
fn metrics_given(kinds: &[&str], instruments: &[String]) -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(|metric| {
        kinds.iter().any(|kind| metric.source.is_workload(kind))
            || instruments
                .iter()
                .any(|name| metric.source.is_instrument(name))
    })
}

/// The sources of a metric of this name, in any experiment. Names of loops are not known
/// here.
pub fn metric_sources(metric: &str) -> impl Iterator<Item = MetricSource> {
    let called = |one: &&Metric| one.names(&[], true).iter().any(|name| name.matches(metric));
    METRICS.iter().filter(called).map(|one| one.source)
}

/// Whether this is the name of an event, not of a metric.
#[must_use]
pub fn is_event(name: &str) -> bool {
    let mut events = METRICS.iter().filter(|one| one.form == MetricForm::Events);
    events.any(|one| one.name == name)
}
