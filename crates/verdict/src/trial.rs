//! Turns records into the verdict document.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::{Configuration, Records};

use crate::baselines::Baselines;
use crate::caps::Caps;
use crate::cells::Cells;
use crate::claims::{self, read_kind};
use crate::comparisons;
use crate::document::{
    Better, Claim, Document, Factorial, Family, Lint, OutcomeComparison, SCHEMA, Sentence, Tradeoff,
};
use crate::error::Error;
use crate::factorial;
use crate::family::Hypotheses;
use crate::identities;
use crate::lints::{self, order::OrderFindings};
use crate::names::{NameKind, folded, resolve};
use crate::noise::noise_floors;
use crate::options::{Against, Options};
use crate::outcomes::{self, RunEndings};
use crate::rates;
use crate::sentences;
use crate::slow;
use crate::tables::tabulate;
use crate::tradeoffs;

/// Judges records: compares every configuration with its baseline, fits the
/// factors, tests the events, checks the data for problems, and tests the
/// claims.
///
/// The same records and options give the same document. `reproduce` is empty, because only the
/// caller knows the command.
///
/// # Errors
/// A name in the options that matches nothing or several things, a claim with a
/// syntax error, a number out of range. Nothing in the records is an error.
pub fn try_records(records: &Records, options: &Options) -> Result<Document, Error> {
    options.check()?;
    let cells = Cells::new(records);
    let baselines = Baselines::new(&cells, options)?;
    let (said, order) = (declared(&cells, options)?, OrderFindings::new(&cells));
    let judged = judged(&cells, &baselines, &said, &order, options)?;
    let judged = judged.sorted(places(&cells, &said.primary));
    let (tables, not_measured) =
        tabulate(&cells, &baselines, &judged.compared.comparisons, options);
    let (found, faults) = lints::find_all(&cells, &said.absent, &said.primary, &order);
    let identity_differences = identities::differences(&cells, &baselines);
    let sources = [
        identities::lints(&cells, &identity_differences, &baselines),
        judged.compared.lints,
        found,
        not_measured,
        baselines.lints(&cells),
        judged.holes,
        judged.rates.lints,
        lints::doubts(records),
    ];
    let mut document = Document {
        schema: SCHEMA.into(),
        source: records.source.clone(),
        baseline: baselines.main_name(&cells),
        alpha: options.alpha,
        level: options.level,
        margin: options.margin,
        configurations: configurations(&cells),
        workloads: cells.workloads.clone(),
        runs: records.runs.clone(),
        summaries: records.summaries.clone(),
        statements: records.statements.clone(),
        unassigned: Vec::new(),
        families: judged.families,
        outcomes: judged.outcomes,
        comparisons: judged.compared.comparisons,
        across: records.across,
        machines: judged.compared.machines,
        pooled: judged.compared.pooled,
        tables,
        tradeoffs: judged.tradeoffs,
        noise_floor: noise_floors(&cells, options),
        factorial: judged.factorial,
        rates: judged.rates.rates,
        rate_comparisons: judged.rates.comparisons,
        claims: judged.claims,
        identity_differences,
        same: identities::same(&cells, &baselines),
        lints: sources.into_iter().flatten().collect(),
        sentences: Vec::new(),
        limits: limits(records),
        rerun: None,
        look: None,
        reproduce: String::new(),
        time_unit: None,
    };
    document.sentences = sentences_of(&document, &cells, &faults, &said, options.against);
    Ok(document)
}

/// The limits of what the target can show.
fn limits(records: &Records) -> Vec<String> {
    let boots = records.boots.sentence().into_iter();
    boots.chain(records.limits.iter().cloned()).collect()
}

/// The summary sentences; only for documents with a baseline.
fn sentences_of(
    document: &Document,
    cells: &Cells<'_>,
    faults: &lints::UninformativeRows,
    said: &DeclaredMetrics,
    against: Against,
) -> Vec<Sentence> {
    match against {
        Against::Baseline => sentences::find(document, cells, faults, &said.primary, &said.higher),
        Against::Predecessor => Vec::new(),
    }
}

/// All tests with their verdicts.
struct TrialResults {
    families: Vec<Family>,
    outcomes: Vec<OutcomeComparison>,
    compared: comparisons::ComparisonResults,
    factorial: Vec<Factorial>,
    /// Lints for cells missing from a factorial, and for names in trade-offs
    /// that no run has.
    holes: Vec<Lint>,
    claims: Vec<Claim>,
    rates: rates::Rates,
    tradeoffs: Vec<Tradeoff>,
}

impl TrialResults {
    /// Sorts all rows by their places.
    fn sorted<K: Ord>(mut self, place: impl Fn(&str, &str) -> K) -> Self {
        self.compared = self.compared.sorted(&place);
        self.factorial
            .sort_by_key(|fit| place(&fit.workload, &fit.metric));
        self
    }
}

/// Registers all hypotheses, tests them together, and then decides.
fn judged(
    cells: &Cells<'_>,
    baselines: &Baselines,
    said: &DeclaredMetrics,
    order: &OrderFindings,
    options: &Options,
) -> Result<TrialResults, Error> {
    let ends = RunEndings::new(cells);
    let (primary, caps) = (&said.primary, &Caps::new(order, &ends));
    let mut hypotheses = Hypotheses::default();
    let asks = &mut hypotheses;
    let mut ended = outcomes::ask_all(cells, &ends, baselines, asks);
    let thresholds = thresholds(cells, options)?;
    let higher = &said.higher;
    ended.extend(slow::ask_all(
        cells,
        baselines,
        primary,
        higher,
        &thresholds,
        asks,
    ));
    let mut rows = comparisons::ask_all(cells, baselines, primary, caps, options, asks);
    let fits = factorial::ask_all(cells, primary, caps, asks);
    let pending = rates::ask_all(cells, baselines, caps, options, asks);
    let grounds = claims::OtherHypotheses {
        rows: &rows,
        ended: &ended,
        ends: &ends,
        caps,
        rates: &pending,
    };
    let claims = claims::ask_all(cells, grounds, options, asks)?;
    let asked = tradeoffs::ask_all(cells, &rows, primary, caps, options, asks)?;
    let answers = hypotheses.answer(options.alpha, options.seed);
    comparisons::settle(&mut rows, &answers, options);
    let compared = comparisons::written_all(cells, &rows, options);
    let evaluator = tradeoffs::TradeoffEvaluator {
        cells,
        baselines,
        rows: &rows,
        comparisons: &compared.comparisons,
    };
    let (tradeoffs, not_measured) = evaluator.settle(asked, &answers, options);
    Ok(TrialResults {
        compared,
        tradeoffs,
        holes: [&fits.holes[..], &not_measured].concat(),
        factorial: factorial::settle(fits, &answers, options),
        claims: claims::settle(cells, claims, &rows, &answers, options),
        rates: rates::settle(cells, pending, baselines.chosen, &answers, options),
        outcomes: outcomes::settle(ended, &answers, options),
        families: answers.families,
    })
}

/// Checks options before there are records: the numbers, the baseline's name,
/// the syntax of the claims.
///
/// # Errors
/// Those of [`try_records`], except for names in claims, which are not checked
/// here.
pub fn check(options: &Options, configurations: &[String]) -> Result<(), Error> {
    options.check()?;
    options
        .slow
        .iter()
        .try_for_each(|text| slow::read(text).map(drop))?;
    if let Some(name) = &options.baseline {
        resolve(NameKind::Configuration, name, configurations).map_err(Error::Baseline)?;
    }
    options
        .claims
        .iter()
        .try_for_each(|claim| read_kind(claim).map(drop))?;
    let mut tradeoffs = options.tradeoffs.iter();
    tradeoffs.try_for_each(|tradeoff| tradeoffs::check_form(tradeoff))
}

/// The recorded primary metrics that have a known better direction. An
/// experiment declares the direction of its primary metrics; for other metrics
/// the options have to.
///
/// # Errors
/// A name in the options that matches nothing or several things, or a metric of
/// which both directions are declared better.
pub fn primary_directions(
    records: &Records,
    options: &Options,
) -> Result<BTreeMap<String, Better>, Error> {
    let cells = Cells::new(records);
    let DeclaredMetrics {
        primary, higher, ..
    } = declared(&cells, options)?;
    let given = &options.lower_is_better;
    let mut lower = metrics(&cells, "lower-is-better", given, &[], &mut Vec::new())?;
    if let Some(&both) = lower.intersection(&higher).next() {
        return Err(Error::Option {
            option: "lower-is-better",
            value: cells.metrics[both].name.clone(),
            expected: "a metric that higher-is-better does not name",
        });
    }
    let declared = |metric: &&usize| {
        let name = folded(&cells.metrics[**metric].name);
        records.primary.iter().any(|one| folded(one) == name)
    };
    lower.extend(primary.iter().filter(declared));
    let direction = |metric: &usize| {
        let better = match (higher.contains(metric), lower.contains(metric)) {
            (true, _) => Better::Higher,
            (_, true) => Better::Lower,
            _ => return None,
        };
        Some((cells.metrics[*metric].name.clone(), better))
    };
    Ok(primary.iter().filter_map(direction).collect())
}

/// The sort key of a metric in a document: by workload, primary metrics first.
/// Everything else keeps the order in which it was recorded.
fn places<'a>(
    cells: &'a Cells<'_>,
    primary: &BTreeSet<usize>,
) -> impl Fn(&str, &str) -> (Option<usize>, bool) + use<'a> {
    let first: BTreeSet<&str> = primary
        .iter()
        .map(|&metric| cells.metrics[metric].name.as_str())
        .collect();
    move |workload, metric| {
        let at = cells.workloads.iter().position(|other| other == workload);
        (at, !first.contains(metric))
    }
}

/// Metrics declared before the data were seen.
struct DeclaredMetrics {
    primary: BTreeSet<usize>,
    /// Metrics for which more is better.
    higher: BTreeSet<usize>,
    /// Metrics declared primary in the records but not measured.
    absent: Vec<String>,
}

fn declared(cells: &Cells<'_>, options: &Options) -> Result<DeclaredMetrics, Error> {
    let records = cells.records;
    let mut absent = Vec::new();
    let primary = metrics(
        cells,
        "primary",
        &options.primary,
        &records.primary,
        &mut absent,
    )?;
    let higher = metrics(
        cells,
        "higher-is-better",
        &options.higher_is_better,
        &records.higher_is_better,
        &mut Vec::new(),
    )?;
    Ok(DeclaredMetrics {
        primary,
        higher,
        absent,
    })
}

/// The thresholds for slow runs that the options name, by metric.
fn thresholds<'o>(
    cells: &Cells<'_>,
    options: &'o Options,
) -> Result<BTreeMap<usize, slow::SlowThreshold<'o>>, Error> {
    let mut all = BTreeMap::new();
    for text in &options.slow {
        let asked = slow::read(text)?;
        let name = [asked.metric.to_owned()];
        let named = metrics(cells, slow::OPTION, &name, &[], &mut Vec::new())?;
        all.extend(named.into_iter().map(|metric| (metric, asked)));
    }
    Ok(all)
}

/// The indices of the metrics that an option and the records name. Names in the
/// records that match no metric go to `absent`.
fn metrics(
    cells: &Cells<'_>,
    option: &'static str,
    given: &[String],
    recorded: &[String],
    absent: &mut Vec<String>,
) -> Result<BTreeSet<usize>, Error> {
    let names = cells.metric_names();
    let mut wanted: BTreeSet<&str> = BTreeSet::new();
    for name in given {
        let index = resolve(NameKind::Metric, name, &names)
            .map_err(|name| Error::Metric { option, name })?;
        wanted.insert(&names[index]);
    }
    for name in recorded {
        match names.iter().find(|n| folded(n) == folded(name)) {
            Some(known) => {
                wanted.insert(known);
            }
            None => absent.push(name.clone()),
        }
    }
    let all = cells.metrics.iter().enumerate();
    Ok(all
        .filter(|(_, metric)| wanted.contains(metric.name.as_str()))
        .map(|(index, _)| index)
        .collect())
}

/// The configurations as recorded, and those that appear only in runs.
fn configurations(cells: &Cells<'_>) -> Vec<Configuration> {
    let recorded = &cells.records.configurations;
    let of = |name: &String| {
        let known = recorded.iter().find(|c| folded(&c.name) == folded(name));
        known.cloned().unwrap_or_else(|| Configuration {
            name: name.clone(),
            label: name.clone(),
            ..Configuration::default()
        })
    };
    cells.configurations.iter().map(of).collect()
}
