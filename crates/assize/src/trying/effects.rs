//! Judges from the runs of all sides what each patch does.
//!
//! Each patch is compared with the state that it was applied to, and the whole series
//! with the base. Each comparison is a separate verdict document with two configurations.
//! Each patch, and the whole, gets its share of the level, so that all statements hold at
//! once.

use std::collections::{BTreeMap, BTreeSet};

use assize_bundle::Records;
use assize_report::{CheckFinding, EffectReading, FindingSubject, PatchEffect, PatchOutcome};
use assize_verdict::{
    Better, Comparison, Document, OutcomeComparison, Scale, Verdict, primary_directions,
};

use super::builds::{BASE, CommitBuilds};
use crate::cli::{FailOn, QuestionArguments, TrialArguments};
use crate::failure::Failure;
use crate::page::{PageInputs, RecordsOrigin};
use crate::run::MeasuredRecords;
use crate::{gate, output, rerun};

/// The results of the runs.
#[derive(Debug)]
pub(crate) struct SeriesEffects {
    /// The effects of each commit with a level, by index.
    pub(crate) steps: BTreeMap<usize, Vec<PatchEffect>>,
    /// The effect of the whole series, if more than one commit was compared.
    pub(crate) whole: Option<PatchOutcome>,
    /// The level of each interval.
    pub(crate) level: f64,
    /// Ratios within 1 ± margin are no difference.
    pub(crate) margin: f64,
    /// Whether `--fail-on` matches an effect of the whole series.
    pub(crate) fails: bool,
    /// Sentences about runs that ended abnormally, the worst first.
    pub(crate) ended: Vec<String>,
    /// Whether only the end of the series was run.
    pub(crate) ends: bool,
    /// The worst of these, unless a finding already reports one.
    pub(crate) last_word: Option<String>,
}

impl SeriesEffects {
    /// Judges the runs.
    pub(crate) fn judge(
        measured: &MeasuredRecords,
        builds: &CommitBuilds,
        fail_on: &[FailOn],
    ) -> Result<SeriesEffects, Failure> {
        let compared: Vec<(usize, &str, &str)> = builds.compared().collect();
        let several = compared.len() > 1;
        let documents = compared.len() + usize::from(several);
        let alpha = crate::cli::ALPHA / documents.max(1) as f64;
        let judge = PairSettings {
            measured,
            alpha,
            fail_on,
        };
        let mut judged = SeriesEffects {
            level: 1.0 - alpha,
            ..SeriesEffects::of_same()
        };
        for (at, level, before) in &compared {
            let found = judge.judge(before, level, !several)?;
            judged.margin = found.margin;
            judged.fails |= found.fails;
            judged.ended.extend(found.ended);
            judged.last_word = judged.last_word.or(found.last_word);
            judged.steps.insert(*at, found.effects);
        }
        match compared.last() {
            Some((_, BASE, _)) => judged.whole = Some(PatchOutcome::SameBytes),
            Some((_, last, _)) if several => {
                let found = judge.judge(BASE, last, true)?;
                judged.fails |= found.fails;
                judged.whole = Some(PatchOutcome::Effects(found.effects));
            }
            _ => {}
        }
        Ok(judged)
    }

    /// The results if no build differs from the base.
    pub(crate) fn of_same() -> SeriesEffects {
        SeriesEffects {
            steps: BTreeMap::new(),
            whole: None,
            level: 1.0 - crate::cli::ALPHA,
            margin: 0.0,
            fails: false,
            ended: Vec::new(),
            ends: false,
            last_word: None,
        }
    }

    /// Attributes the effects of the last patch to the whole series, because only the end of the
    /// series was run.
    pub(crate) fn is_of_the_end(&mut self) {
        self.ends = true;
        self.whole = Some(match self.steps.pop_first() {
            Some((_, effects)) => PatchOutcome::Effects(effects),
            None => PatchOutcome::SameBytes,
        });
    }
}

/// The settings with which two configurations are compared.
struct PairSettings<'a> {
    measured: &'a MeasuredRecords,
    alpha: f64,
    fail_on: &'a [FailOn],
}

struct PairEffects {
    effects: Vec<PatchEffect>,
    ended: Vec<String>,
    last_word: Option<String>,
    margin: f64,
    fails: bool,
}

impl PairSettings<'_> {
    /// Judges one configuration against another; with `gated`, applies `--fail-on`.
    fn judge(&self, before: &str, after: &str, gated: bool) -> Result<PairEffects, Failure> {
        let records = of_two(&self.measured.records, [before, after]);
        let trial = TrialArguments {
            question: QuestionArguments {
                baseline: Some(before.to_owned()),
                fail_on: if gated {
                    self.fail_on.to_vec()
                } else {
                    Vec::new()
                },
                ..QuestionArguments::default()
            },
            alpha: self.alpha,
            ..TrialArguments::default()
        };
        let mut options = output::options(&trial, &self.measured.terms)?;
        options.level = 1.0 - options.alpha;
        let mut document = assize_verdict::try_records(&records, &options)?;
        rerun::add_run_commands(&self.measured.directory, &mut document);
        let directions = primary_directions(&records, &options)?;
        let material = PageInputs {
            records: &records,
            trial: &trial,
            terms: &self.measured.terms,
            from: RecordsOrigin::Bundle(&self.measured.directory),
        };
        let findings = gate::findings(&document, &material)?;
        gate::report(&document, &findings);
        Ok(PairEffects {
            effects: effects(&document, &directions, &findings),
            ended: document
                .outcomes
                .iter()
                .map(assize_report::describe_outcome)
                .collect(),
            last_word: gate::last_word(&document, &findings),
            margin: document.margin,
            fails: !findings.is_empty(),
        })
    }
}

/// The records of two configurations.
fn of_two(all: &Records, names: [&str; 2]) -> Records {
    let wanted: BTreeSet<&str> = names.into_iter().collect();
    let mut records = all.clone();
    let keep = |name: &str| wanted.contains(name);
    records.configurations.retain(|one| keep(&one.name));
    records.runs.retain(|one| keep(&one.configuration));
    records.events.retain(|one| keep(&one.configuration));
    records.failures.retain(|one| keep(&one.configuration));
    records.complained.retain(|one| keep(&one.configuration));
    records.identities.retain(|one| keep(&one.configuration));
    records
        .level_settings
        .retain(|one| keep(&one.configuration));
    records.claims.clear();
    records.tables.clear();
    records.tradeoffs.clear();
    records
}

/// The effects on how runs ended, and on primary metrics.
fn effects(
    document: &Document,
    directions: &BTreeMap<String, Better>,
    findings: &[CheckFinding],
) -> Vec<PatchEffect> {
    let outcomes = |open_tails: bool| {
        let rows = document.outcomes.iter().enumerate();
        let rows = rows.filter(move |(_, row)| row.is_open_tail() == open_tails);
        rows.map(|(at, row)| {
            let found = CheckFinding::all(findings, FindingSubject::Outcome(at));
            of_end(row, found)
        })
    };
    let rows = document.comparisons.iter().enumerate();
    let rows = rows.filter_map(|(at, row)| {
        let better = directions.get(&row.metric)?;
        Some(PatchEffect {
            workload: row.workload.clone(),
            metric: row.metric.clone(),
            unit: row.unit.clone(),
            reading: reading(row, *better, document.margin),
            verdict: row.verdict,
            ratio: row.ratio,
            difference: row.difference,
            interval: row.ci,
            said: None,
            fails: CheckFinding::all(findings, FindingSubject::Comparison(at)),
        })
    });
    outcomes(false).chain(rows).chain(outcomes(true)).collect()
}

/// The effect on how often runs ended in one way.
fn of_end(row: &OutcomeComparison, found: Option<String>) -> PatchEffect {
    let said = assize_report::outcome_figures(row);
    PatchEffect {
        workload: String::new(),
        metric: row.heading(),
        unit: String::new(),
        reading: match (row.verdict, row.is_more()) {
            (Verdict::Established, true) => EffectReading::Worse,
            (Verdict::Established, false) => EffectReading::Better,
            _ => EffectReading::Undecided,
        },
        verdict: row.verdict,
        ratio: None,
        difference: None,
        interval: None,
        fails: found.or_else(|| row.is_worse().then(|| assize_report::MORE_OFTEN.to_owned())),
        said: Some(said),
    }
}

/// The reading of a row in one word. On the exact machine, established effects can be far
/// too small to matter: an interval within the margin counts as no difference.
fn reading(row: &Comparison, better: Better, margin: f64) -> EffectReading {
    let (none, within) = match row.scale {
        Scale::Raw => (
            0.0,
            row.mean_baseline.map_or(0.0, |mean| mean.abs() * margin),
        ),
        _ => (1.0, margin),
    };
    let inside = |[low, high]: [f64; 2]| low >= none - within && high <= none + within;
    match row.verdict {
        Verdict::Undecided => return EffectReading::Undecided,
        Verdict::Equivalent => return EffectReading::NoDifference,
        _ if within > 0.0 && row.ci_simultaneous.is_some_and(inside) => {
            return EffectReading::NoDifference;
        }
        _ => {}
    }
    let at = row.ratio.or(row.difference);
    match (row.verdict, at) {
        (Verdict::Established | Verdict::Supported, Some(at)) => {
            let rises = at > none;
            match rises == (better == Better::Higher) {
                true => EffectReading::Better,
                false => EffectReading::Worse,
            }
        }
        _ => EffectReading::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A row on the log scale.
    fn row(verdict: Verdict, ratio: f64, ci: [f64; 2]) -> Comparison {
        serde_json::from_value(json!({
            "workload": "sync", "metric": "m", "unit": "ns", "baseline": "a",
            "configuration": "b", "n_baseline": 10, "n": 10, "mean_baseline": 100.0,
            "mean": 100.0 * ratio, "ratio": ratio, "ci": ci, "ci_simultaneous": ci,
            "p_t": 0.5, "p": 0.5, "p_attainable": 0.001, "p_adjusted": 0.5,
            "p_t_adjusted": 0.5, "scale": "log", "difference": null,
            "verdict": verdict, "runs_needed": null, "because": null,
        }))
        .unwrap()
    }

    #[test]
    fn a_row_is_read_by_its_verdict_its_direction_and_the_margin() {
        use Better::{Higher, Lower};
        use Verdict::{Equivalent, Established, Supported, Undecided};
        for (verdict, ratio, ci, better, read) in [
            (Established, 1.5, [1.4, 1.6], Lower, EffectReading::Worse),
            (Established, 1.5, [1.4, 1.6], Higher, EffectReading::Better),
            (Supported, 0.9, [0.8, 0.98], Lower, EffectReading::Better),
            (Supported, 0.9, [0.8, 0.98], Higher, EffectReading::Worse),
            (Undecided, 1.5, [0.9, 2.0], Lower, EffectReading::Undecided),
            // Undecided for another reason, such as lost runs.
            (
                Undecided,
                1.001,
                [0.999, 1.003],
                Lower,
                EffectReading::Undecided,
            ),
            (
                Equivalent,
                1.0,
                [0.99, 1.01],
                Lower,
                EffectReading::NoDifference,
            ),
            // Established, but too small to matter.
            (
                Established,
                1.002,
                [1.001, 1.003],
                Lower,
                EffectReading::NoDifference,
            ),
            (
                Established,
                1.011,
                [1.009, 1.013],
                Lower,
                EffectReading::Worse,
            ),
        ] {
            let found = reading(&row(verdict, ratio, ci), better, 0.01);
            assert_eq!(found, read, "{verdict:?} {ratio} {better:?}");
        }
    }

    #[test]
    fn a_row_of_differences_is_read_against_its_baselines_mean() {
        let raw = |difference: f64, ci: [f64; 2]| Comparison {
            scale: Scale::Raw,
            ratio: None,
            difference: Some(difference),
            ci_simultaneous: Some(ci),
            ..row(Verdict::Established, 1.0, ci)
        };
        let read = |row: &Comparison| reading(row, Better::Lower, 0.01);
        assert_eq!(read(&raw(0.5, [0.2, 0.8])), EffectReading::NoDifference);
        assert_eq!(read(&raw(5.0, [4.0, 6.0])), EffectReading::Worse);
        assert_eq!(read(&raw(-5.0, [-6.0, -4.0])), EffectReading::Better);
        let zero = Comparison {
            mean_baseline: Some(0.0),
            ..raw(5.0, [4.0, 6.0])
        };
        assert_eq!(read(&zero), EffectReading::Worse);
    }

    #[test]
    fn of_all_runs_those_of_the_two_sides_are_kept() {
        let side = |name: &str| assize_bundle::Configuration {
            name: name.into(),
            ..Default::default()
        };
        let all = Records {
            configurations: ["unpatched", "p1", "p2"].map(side).into(),
            claims: vec!["p2 < p1 on m".into()],
            ..Records::default()
        };
        let two = of_two(&all, ["p1", "p2"]);
        let names: Vec<&str> = two
            .configurations
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["p1", "p2"]);
        assert!(two.claims.is_empty());
    }
}
