//! The question about each commit: a claim, and the experiment that tests it.

use assize_plan::Overrides;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::failure::Failure;
use crate::hunting::SCHEDULES;
use crate::run::declared;
use crate::trying::builds::BuildProduct;
use crate::trying::experiment::{BaseExperiment, setting, with_sides};

/// The configuration of the reference side.
pub(super) const OLD: &str = "old";
/// The configuration of the side under test.
pub(super) const NEW: &str = "new";

/// Keys of an experiment that a bisection removes, because they ask for other comparisons.
const OTHERS: &[&str] = &["aa", "claims", "primary", "tables", "tradeoffs", "until"];

/// A claim, and the experiment that tests it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BisectionQuestion {
    /// The claim as the user gave it.
    pub(super) claim: String,
    /// The metric in the claim.
    pub(super) metric: String,
    /// Whether the claim is about failures in a hunt: it has no metric.
    #[serde(default)]
    pub(super) hunt: bool,
    /// Whether `metric` is a run ending, such as `crashes`.
    #[serde(default)]
    pub(super) outcome: bool,
    /// The workload in the claim, if it names one.
    pub(super) workload: Option<String>,
    /// The experiment, without the two sides.
    pub(super) experiment: String,
    /// Runs of each side on each workload, by default.
    pub(super) runs: u32,
}

impl BisectionQuestion {
    /// Refuses a claim that names something the experiment does not have, or that would
    /// hold for a commit against itself.
    pub(super) fn parse(claim: &str, base: &BaseExperiment) -> Result<BisectionQuestion, Failure> {
        let refuse = |why: String| Failure::Argument(format!("--claim: {why}"));
        let parsed = assize_plan::parse(&base.text, &base.name)?;
        let plan = parsed.plan(&Overrides::default())?;
        let sides = [OLD, NEW].map(String::from);
        let named = declared::read(&plan, &sides, claim).map_err(refuse)?;
        if !named.differs {
            return Err(refuse(format!(
                "'{claim}' holds for a commit compared with itself, so no commit causes it; write \
                 what is true of BAD but not of GOOD: '{NEW} > {OLD} + 3% on {}'",
                named.metric
            )));
        }
        if assize_job::is_event(&named.metric) {
            return Err(refuse(format!(
                "'{}' counts events; two rates are never shown to be equal, so no commit could be \
                 ruled out; name a metric instead",
                named.metric
            )));
        }
        if named.outcome.is_some() && !named.has_margin {
            return Err(refuse(format!(
                "'{claim}' has no margin; two shares of runs are never shown to be equal, so no \
                 commit could be ruled out; write '{NEW} > {OLD} + 10% on {}' for ten more runs in \
                 a hundred",
                named.metric
            )));
        }
        let experiment = narrowed(&base.text, claim, &named.metric, named.workload.as_deref())
            .map_err(|why| Failure::Argument(format!("{}: {why}", base.name)))?;
        let cells = plan.configurations.len() * plan.workloads.len();
        let question = BisectionQuestion {
            claim: claim.into(),
            hunt: false,
            metric: named.metric,
            outcome: named.outcome.is_some(),
            workload: named.workload,
            experiment,
            runs: (plan.runs.len() / cells.max(1)) as u32,
        };
        // The remaining keys may have needed a key that was removed.
        assize_plan::parse(&question.experiment, &base.name)?.plan(&Overrides::default())?;
        Ok(question)
    }

    /// The question of a hunt: since which commit do runs fail more often.
    pub(super) fn of_hunt(base: &BaseExperiment) -> Result<BisectionQuestion, Failure> {
        let refuse = |error: toml::de::Error| Failure::Argument(format!("{}: {error}", base.name));
        let mut table: Table = base.text.parse().map_err(refuse)?;
        table.retain(|key, _| !OTHERS.contains(&key));
        Ok(BisectionQuestion {
            claim: format!("{NEW} fails more often than {OLD}"),
            hunt: true,
            metric: String::new(),
            outcome: true,
            workload: None,
            experiment: table.to_string(),
            runs: SCHEDULES,
        })
    }

    /// The experiment with one build.
    pub(super) fn experiment_of(&self, made: &BuildProduct) -> Result<String, Failure> {
        Ok(with_sides(&self.experiment, &[(NEW, setting(made)?)]))
    }

    /// The experiment with the builds of both sides.
    pub(super) fn experiment_with(
        &self,
        old: &BuildProduct,
        new: &BuildProduct,
    ) -> Result<String, Failure> {
        let sides = [(OLD, setting(old)?), (NEW, setting(new)?)];
        Ok(with_sides(&self.experiment, &sides))
    }
}

/// The text of an experiment that tests only the claim. It declares the claim and makes
/// its metric primary, so that no other test takes a share of the level.
fn narrowed(
    text: &str,
    claim: &str,
    metric: &str,
    workload: Option<&str>,
) -> Result<String, String> {
    let mut table: Table = text.parse().map_err(|error| format!("{error}"))?;
    let primary = table.get("primary").and_then(Value::as_array);
    let entry = primary.into_iter().flatten().find(|entry| {
        let name = entry.get("metric").and_then(Value::as_str);
        name == Some(metric)
    });
    let entry = entry.cloned();
    table.retain(|key, _| !OTHERS.contains(&key));
    if let (Some(name), Some(Value::Table(all))) = (workload, table.get_mut("workloads")) {
        all.retain(|key, _| key == name);
    }
    // Keys come before tables, or they would be read as keys of the last table.
    let mut whole = Table::new();
    whole.insert("claims".into(), Value::Array(vec![claim.into()]));
    if let Some(entry) = entry {
        whole.insert("primary".into(), Value::Array(vec![entry]));
    }
    whole.extend(table);
    let text = toml::to_string(&whole).map_err(|error| error.to_string())?;
    Ok(format!("# The settings that one claim needs.\n{text}"))
}

#[cfg(test)]
mod tests {
    use assize_target::testbed::PARTS;

    use super::*;

    fn parsed(claim: &str) -> Result<BisectionQuestion, String> {
        let base = BaseExperiment::named_or_for(
            None,
            &crate::trying::touched::BuildScope::Modules(&PARTS[0]),
        )
        .unwrap();
        BisectionQuestion::parse(claim, &base).map_err(|failure| failure.to_string())
    }

    fn with_levels(question: &BisectionQuestion) -> assize_plan::Plan {
        let made = |path: &str| BuildProduct::Modules(vec![path.into()]);
        let text = question.experiment_with(&made("/o/a.ko"), &made("/n/a.ko"));
        let experiment = assize_plan::parse(&text.unwrap(), "x.toml").unwrap();
        experiment.plan(&Overrides::default()).unwrap()
    }

    #[test]
    fn only_what_the_claim_needs_is_left_of_an_experiment() {
        let claim = "new > old + 3% on busy_time_per_job in sync";
        let question = parsed(claim).unwrap();
        assert_eq!(question.metric, "busy_time_per_job");
        assert_eq!(question.workload.as_deref(), Some("sync"));
        let plan = with_levels(&question);
        let names = |of: Vec<&String>| of.into_iter().cloned().collect::<Vec<_>>();
        assert_eq!(
            names(plan.workloads.iter().map(|one| &one.name).collect()),
            ["sync"]
        );
        assert_eq!(
            names(plan.configurations.iter().map(|one| &one.name).collect()),
            [OLD, NEW]
        );
        assert_eq!(
            names(plan.claims.iter().map(|one| &one.text).collect()),
            [claim]
        );
        assert_eq!(
            names(plan.primary.iter().map(|one| &one.metric).collect()),
            ["busy_time_per_job"]
        );
        assert_eq!(plan.runs.len() as u32, 2 * question.runs);
    }

    #[test]
    fn a_claim_without_a_workload_keeps_them_all() {
        let question = parsed("old < new on busy_time_per_job").unwrap();
        let base = BaseExperiment::named_or_for(
            None,
            &crate::trying::touched::BuildScope::Modules(&PARTS[0]),
        )
        .unwrap();
        let all: Table = base.text.parse().unwrap();
        let all = all["workloads"].as_table().unwrap().len();
        assert!(all > 1);
        assert_eq!(with_levels(&question).workloads.len(), all);
    }

    #[test]
    fn what_cannot_be_asked_is_refused_with_what_can() {
        for (claim, why) in [
            (
                "new > old on busy_time_per_jb in sync",
                "did you mean \"busy_time_per_job\"?",
            ),
            (
                "new > old on busy_time_per_job in sink",
                "did you mean \"sync\"?",
            ),
            (
                "bad > good on busy_time_per_job",
                "no configuration \"bad\"",
            ),
            (
                "new = old on busy_time_per_job",
                "holds for a commit compared with itself",
            ),
            (
                "new <= old + 2% on busy_time_per_job",
                "holds for a commit compared with itself",
            ),
            ("new > old on frames_missed in frames", "counts events"),
            ("new > old on crashes in sync", "has no margin"),
            ("busy_time_per_job rises", "expected `A < B on METRIC"),
        ] {
            let error = parsed(claim).unwrap_err();
            assert!(
                error.starts_with("--claim: ") && error.contains(why),
                "{claim}: {error}"
            );
        }
    }
}
