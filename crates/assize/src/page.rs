//! The page of a report, and everything it shows in addition to the document.

mod several;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use assize_audit::{Audit, Located, StandsFor};
use assize_bundle::{Error, EvidenceLimits, Head, Records, Run};
use assize_report::html::{
    About, Attributions, PostFigure, PostLine, ReadPost, ReportPage, ShellWords, html,
};
use assize_trace::{Timeline, timeline};
use assize_verdict::{Document, Options, try_records};
use assize_why::Kept;

use crate::cli::TrialArguments;
use crate::failure::Failure;
use crate::shell::quote;
use crate::terms::JudgingTerms;
use crate::{output, trace};

/// The origin of a page's records.
#[derive(Clone, Copy)]
pub(crate) enum RecordsOrigin<'a> {
    Bundle(&'a Path),
    /// A post.
    Post(&'a Audit),
    /// Several bundles of one experiment, each a block.
    Blocks(&'a [PathBuf]),
    /// Several inputs.
    Several(&'a [PathBuf]),
}

#[derive(Clone, Copy)]
pub(crate) struct PageInputs<'a> {
    pub(crate) records: &'a Records,
    pub(crate) trial: &'a TrialArguments,
    pub(crate) terms: &'a JudgingTerms,
    pub(crate) from: RecordsOrigin<'a>,
}

/// Limits on the samples in a page.
const LIMITS: EvidenceLimits = EvidenceLimits {
    points: 96,
    stretches: 256,
    bytes: 1_500_000,
};

/// The maximum number of timelines in a page, and of spans in each lane.
const TIMELINES: usize = 12;
const SPANS: usize = 500;

/// The maximum number of frames in all flame graphs of a page together, and the minimum
/// in each.
const FRAMES: usize = 24_000;
const LEAST_FRAMES: usize = 500;

pub(crate) fn page(document: &Document, material: &PageInputs<'_>) -> Result<String, Failure> {
    let options = output::options(material.trial, material.terms)?;
    let others = others(document, material.records, &options)?;
    let head = match material.from {
        RecordsOrigin::Bundle(directory) => head(directory)?,
        RecordsOrigin::Post(_) | RecordsOrigin::Blocks(_) | RecordsOrigin::Several(_) => None,
    };
    let post = match material.from {
        RecordsOrigin::Post(audit) => Some(post(audit)),
        RecordsOrigin::Bundle(_) | RecordsOrigin::Blocks(_) | RecordsOrigin::Several(_) => None,
    };
    let (evidence, timelines) = match material.from {
        RecordsOrigin::Bundle(directory) if head.is_some() => (
            assize_bundle::evidence(directory, &LIMITS)?,
            timelines(document, directory)?,
        ),
        RecordsOrigin::Blocks(inputs) => (several::evidence_of(inputs)?, Vec::new()),
        _ => Default::default(),
    };
    let attributions = match (material.from, &head) {
        (RecordsOrigin::Bundle(directory), Some(head)) => attributions(document, directory, head)?,
        _ => Attributions::default(),
    };
    let mut about = about(document, material, head.as_ref())?;
    let all: Vec<&Document> = std::iter::once(document).chain(&others).collect();
    about.metrics = output::words(&all, material)?;
    let page = ReportPage {
        document,
        others: &others,
        about,
        evidence,
        timelines,
        post,
        attributions,
    };
    html(&page).map_err(|error| Failure::Show(error.to_string()))
}

/// Judges the same records against each other configuration, on one thread per CPU. The
/// correction for multiple tests depends on the baseline, so each has its own document.
fn others(
    document: &Document,
    records: &Records,
    options: &Options,
) -> Result<Vec<Document>, Failure> {
    let names: Vec<&str> = document
        .configurations
        .iter()
        .filter(|configuration| configuration.repeats.is_none())
        .map(|configuration| configuration.name.as_str())
        .filter(|name| document.baseline.as_deref() != Some(name))
        .collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let options = Options {
                baseline: Some((*name).to_owned()),
                claims: Vec::new(),
                ..options.clone()
            };
            let tried = try_records(records, &options);
            done.lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .push((*name, tried));
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..threads.min(names.len()) {
            scope.spawn(work);
        }
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(name, _)| names.iter().position(|other| other == name));
    let documents: Result<Vec<Document>, _> = done.into_iter().map(|(_, tried)| tried).collect();
    let mut documents = documents?;
    documents.retain(|document| !document.comparisons.is_empty());
    Ok(documents)
}

/// The question of the experiment, if there is one.
pub(crate) fn question(material: &PageInputs<'_>) -> Result<Option<String>, Failure> {
    let directory = match material.from {
        RecordsOrigin::Bundle(directory) => directory,
        RecordsOrigin::Blocks([first, ..]) => first,
        RecordsOrigin::Blocks([]) | RecordsOrigin::Several(_) | RecordsOrigin::Post(_) => {
            return Ok(None);
        }
    };
    Ok(head(directory)?.map(|head| head.question))
}

fn head(directory: &Path) -> Result<Option<Head>, Failure> {
    match assize_bundle::read_plan(directory) {
        Ok(head) => Ok(Some(head)),
        Err(Error::NoSchedule(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The timeline of the first run of each configuration that has kernel events.
fn timelines(document: &Document, directory: &Path) -> Result<Vec<Timeline>, Failure> {
    let mut all = Vec::new();
    for configuration in &document.configurations {
        let own = |run: &&Run| run.configuration == configuration.name;
        for run in document.runs.iter().filter(own) {
            if let Some(traced) = trace::traced(directory, run.order)? {
                all.push(timeline(run.order, &traced, SPANS));
                break;
            }
        }
        if all.len() == TIMELINES {
            break;
        }
    }
    Ok(all)
}

/// The results of `assize why` in a bundle, and the command for more if the runs can be repeated.
fn attributions(
    document: &Document,
    directory: &Path,
    head: &Head,
) -> Result<Attributions, Failure> {
    let mut kept: Vec<Kept> = assize_bundle::kept_answers(directory, assize_why::kept::SCHEMA)?;
    // Largest difference first.
    let size = |one: &Kept| one.why.total.difference.abs();
    kept.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let most = (FRAMES / kept.len().max(1)).max(LEAST_FRAMES);
    for answer in &mut kept {
        answer.flame = answer.flame.clone().within(most);
    }
    let quoted = |name: &str| quote(name.as_ref());
    let configurations = document.configurations.iter();
    let shell = ShellWords {
        source: quote(directory.as_os_str()),
        configurations: configurations.map(|one| quoted(&one.name)).collect(),
        workloads: document.workloads.iter().map(|name| quoted(name)).collect(),
    };
    Ok(Attributions {
        kept,
        moments: assize_bundle::kept_when(directory, assize_why::when::SCHEMA)?,
        shell: (head.target == "exact").then_some(shell),
    })
}

fn about(
    document: &Document,
    material: &PageInputs<'_>,
    head: Option<&Head>,
) -> Result<About, Failure> {
    let mut primary = material.records.primary.clone();
    primary.extend(material.trial.primary.iter().cloned());
    let mut about = About {
        primary: metrics_named(document, &primary),
        ..About::default()
    };
    match material.from {
        RecordsOrigin::Post(_) => about.title = format!("What {} supports", document.source),
        RecordsOrigin::Blocks(inputs) => several::describe(&mut about, document, inputs, true)?,
        RecordsOrigin::Several(inputs) => several::describe(&mut about, document, inputs, false)?,
        RecordsOrigin::Bundle(_) => {}
    }
    let Some(head) = head else { return Ok(about) };
    about.title.clone_from(&head.title);
    about.question.clone_from(&head.question);
    about.target = Some(head.target.clone());
    about.facts = facts(head);
    about.experiment = Some(head.experiment.clone()).filter(|text| !text.is_empty());
    Ok(about)
}

/// The metrics of a document that these names select: without regard to case and, as in
/// options, by prefix.
fn metrics_named(document: &Document, names: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        let name = name.to_lowercase();
        let metrics = || document.comparisons.iter().map(|row| &row.metric);
        let metric = metrics()
            .find(|metric| metric.to_lowercase() == name)
            .or_else(|| metrics().find(|metric| metric.to_lowercase().starts_with(&name)));
        if let Some(metric) = metric.filter(|metric| !found.contains(metric)) {
            found.push(metric.clone());
        }
    }
    found
}

fn facts(head: &Head) -> Vec<(String, String)> {
    let mut facts = vec![
        ("target".to_owned(), head.target.clone()),
        ("machine".to_owned(), head.machine.clone()),
        ("planned runs".to_owned(), head.planned_runs.to_string()),
    ];
    facts.extend(
        head.facts
            .iter()
            .map(|(name, value)| (name.replace('_', " "), value.clone())),
    );
    facts
}

/// The lines of a post next to the figures read from them.
fn post(audit: &Audit) -> ReadPost {
    let lines = audit.explained.iter().map(|line| PostLine {
        message: line.place.message,
        line: line.place.line,
        depth: line.depth,
        taken: line.taken.clone(),
        text: line.text.clone(),
    });
    let figures = assize_audit::located(audit).into_iter();
    ReadPost {
        lines: lines.collect(),
        figures: figures.map(figure).collect(),
    }
}

fn figure(one: Located) -> PostFigure {
    let behind = match one.stands_for {
        StandsFor::Run(repetition) => format!("run {repetition}"),
        StandsFor::Mean(..) => "mean of runs".into(),
        StandsFor::Events => "events".into(),
        StandsFor::Statement => "no number of runs".into(),
    };
    PostFigure {
        place: one.place,
        value: value(&one),
        shown: one.shown,
        metric: one.metric,
        configuration: one.configuration,
        workload: one.workload,
        behind,
    }
}

/// A figure as printed; the mean of several is rounded.
fn value(one: &Located) -> String {
    let value = if one.shown {
        one.value.to_string()
    } else {
        assize_report::significant(one.value, 6)
    };
    format!("{value} {}", one.unit).trim_end().to_owned()
}
