//! `assize trend`: compares each bundle of an experiment with the one before it.
//!
//! Each bundle is a side, as in `assize compare --bundles sides`, and all comparisons of
//! neighbours form one family.

mod order;

use std::path::{Path, PathBuf};

use assize_bundle::{BundleRelation, Head, Records, bundle_relation};
use assize_report::{SkippedBundle, Trend, TrendInput, TrendPoint};
use assize_verdict::{Against, try_records};

use crate::cli::{TrendArguments, TrendFormat, TrialArguments};
use crate::failure::{self, Failure};
use crate::library::bundles;
use crate::metric_words::metric_words;
use crate::terms::{JudgingTerms, recorded_in};
use crate::{compare, joining, output, shell};

#[derive(Debug)]
struct TrendBundle {
    path: PathBuf,
    head: Head,
    records: Records,
    terms: JudgingTerms,
}

/// Shows what changed from bundle to bundle.
pub(crate) fn trend(arguments: &TrendArguments) -> Result<u8, Failure> {
    let (entries, left_out) = entries(&arguments.inputs)?;
    of_one_experiment(&entries)?;
    let ordered = order::ordered(entries, arguments)?;
    if ordered.entries.len() < 2 {
        return Err(Failure::NothingFound {
            place: joined_names(&arguments.inputs),
            because: too_few(&ordered.entries, &left_out),
        });
    }
    let first = &ordered.entries[0].head;
    let of = TrendInput {
        title: first.title.clone(),
        question: first.question.clone(),
        order: ordered.by.into(),
        points: ordered.points,
        left_out,
    };
    let trend = judged(ordered.entries, of, arguments)?;
    let failed = |why: String| Failure::Show(why);
    let text = match arguments.format {
        TrendFormat::Text => assize_report::trend_text(&trend),
        TrendFormat::Html => {
            assize_report::html::trend(&trend).map_err(|error| failed(error.to_string()))?
        }
        TrendFormat::Json => {
            assize_report::trend_json(&trend).map_err(|error| failed(error.to_string()))?
        }
    };
    output::deliver(text.as_bytes(), arguments.output.as_deref())?;
    Ok(0)
}

fn joined_names(inputs: &[PathBuf]) -> String {
    let inputs: Vec<String> = inputs.iter().map(|path| shell::name_of(path)).collect();
    inputs.join(", ")
}

fn too_few(entries: &[TrendBundle], left_out: &[SkippedBundle]) -> String {
    let there = match entries.len() {
        0 => "there is no complete bundle of runs",
        _ => "there is only one bundle of runs",
    };
    match left_out {
        [] => format!("{there}; name a directory that holds several of one experiment"),
        [first, ..] => format!(
            "{there}; {} left out, such as {}: {}",
            left_out.len(),
            first.path,
            first.why
        ),
    }
}

/// All complete bundles, sorted by path, and the incomplete ones.
fn entries(inputs: &[PathBuf]) -> Result<(Vec<TrendBundle>, Vec<SkippedBundle>), Failure> {
    let mut paths = Vec::new();
    for input in inputs {
        bundles(input, &mut paths)?;
    }
    paths.sort();
    paths.dedup();
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    for path in paths {
        let read = entry(&path).and_then(|entry| match cut_short(&entry)? {
            Some(why) => Err(Failure::Argument(why)),
            None => Ok(entry),
        });
        match read {
            Ok(entry) => entries.push(entry),
            Err(failure) => left_out.push(SkippedBundle {
                path: shell::name_of(&path),
                why: failure.to_string(),
            }),
        }
    }
    Ok((entries, left_out))
}

fn entry(path: &Path) -> Result<TrendBundle, Failure> {
    Ok(TrendBundle {
        head: assize_bundle::read_plan(path)?,
        records: compare::read(path)?,
        terms: JudgingTerms::of_bundle(path)?,
        path: path.to_path_buf(),
    })
}

/// Why a bundle is incomplete; `None` if it is complete. The runs of an incomplete bundle depend on
/// when it was interrupted.
fn cut_short(entry: &TrendBundle) -> Result<Option<String>, Failure> {
    let (there, planned) = (recorded_in(&entry.path)?.len(), entry.head.planned_runs);
    let stopped = !entry.terms.looks.is_empty() && entry.terms.is_at_a_look();
    let whole = there >= planned as usize || stopped;
    Ok((!whole).then(|| {
        format!(
            "{there} of {planned} runs are recorded; continue with: {}",
            failure::resuming(&entry.path)
        )
    }))
}

/// Refuses bundles that cannot be points of the same trend.
fn of_one_experiment(entries: &[TrendBundle]) -> Result<(), Failure> {
    let Some((first, others)) = entries.split_first() else {
        return Ok(());
    };
    for other in others {
        let (here, there) = (other.path.display(), first.path.display());
        let (what, difference) = match bundle_relation(&first.head, &other.head) {
            BundleRelation::Strangers(what, difference) => (what, difference),
            BundleRelation::Machines => {
                return Err(Failure::Argument(format!(
                    "{here}: ran on the machine {}, but {there} on {}; a difference may be due to \
                     the machines: name bundles of one machine",
                    other.head.machine, first.head.machine
                )));
            }
            BundleRelation::OneSchedule | BundleRelation::Setting(..) | BundleRelation::Again => {
                continue;
            }
        };
        return Err(Failure::Argument(format!(
            "{here}: the {what} differs from that of {there}: {} {} here, {} there; name the \
             bundles of one experiment",
            difference.field, difference.second, difference.first
        )));
    }
    Ok(())
}

/// Judges each bundle against the one before it.
fn judged(
    entries: Vec<TrendBundle>,
    of: TrendInput,
    arguments: &TrendArguments,
) -> Result<Trend, Failure> {
    let mut terms: Option<JudgingTerms> = None;
    let (mut inputs, mut all) = (Vec::new(), Vec::new());
    for entry in entries {
        terms = Some(match terms {
            None => entry.terms,
            Some(before) => before.and(entry.terms),
        });
        inputs.push(entry.path);
        all.push(entry.records);
    }
    let names: Vec<String> = of.points.iter().map(|point| point.path.clone()).collect();
    let sides = joining::sides_called(&names, &inputs, all)?;
    let mut records = compare::united(&inputs, sides)?;
    narrow(&mut records, &arguments.metrics)?;
    let trial = TrialArguments {
        alpha: arguments.alpha,
        margin: arguments.margin,
        ..TrialArguments::default()
    };
    let mut options = output::options(&trial, &terms.unwrap_or_default())?;
    options.against = Against::Predecessor;
    let mut document = try_records(&records, &options)?;
    let judged = [document.comparisons.len(), document.rate_comparisons.len()];
    if judged == [0, 0] && document.outcomes.is_empty() {
        return Err(Failure::NothingFound {
            place: joined_names(&arguments.inputs),
            because: "no two bundles have runs of the same metric on the same workload".into(),
        });
    }
    document.reproduce = shell::command_line(std::env::args_os().skip(1));
    for (metric, better) in assize_verdict::primary_directions(&records, &options)? {
        match better {
            assize_verdict::Better::Lower => options.lower_is_better.push(metric),
            assize_verdict::Better::Higher => options.higher_is_better.push(metric),
        }
    }
    let words = metric_words(&[&document], &options, true);
    Ok(Trend::new(&document, &words, of))
}

/// Keeps the metrics and events named on the command line, or else the primary metrics (all if
/// there are none) and all events.
fn narrow(records: &mut Records, named: &[String]) -> Result<(), Failure> {
    let is_meant = |name: &str, wanted: &[String]| {
        let name = name.to_lowercase();
        wanted.iter().any(|one| one.to_lowercase() == name)
    };
    for wanted in named {
        let wanted = std::slice::from_ref(wanted);
        let metrics = records.runs.iter().flat_map(|run| run.metrics.keys());
        let events = records.events.iter().map(|one| &one.event);
        if !metrics.chain(events).any(|name| is_meant(name, wanted)) {
            return Err(Failure::Argument(format!(
                "--metric {}: no run has this metric; assize report BUNDLE --json names the \
                 metrics that were recorded",
                wanted[0]
            )));
        }
    }
    let wanted = match named.is_empty() {
        true => records.primary.clone(),
        false => named.to_vec(),
    };
    if !wanted.is_empty() {
        for run in &mut records.runs {
            run.metrics.retain(|name, _| is_meant(name, &wanted));
        }
        records
            .unsupported
            .retain(|one| is_meant(&one.metric, &wanted));
    }
    if !named.is_empty() {
        records.events.retain(|one| is_meant(&one.event, &wanted));
        // A declared primary metric keeps its share of alpha only if it is judged.
        records.primary.retain(|one| is_meant(one, &wanted));
    }
    Ok(())
}

/// The bundle's point in the trend, without facts about its commit.
fn point(entry: &TrendBundle) -> TrendPoint {
    TrendPoint {
        path: shell::name_of(&entry.path),
        revision: order::revision(&entry.head),
        runs: entry.records.runs.len(),
        ..TrendPoint::default()
    }
}
