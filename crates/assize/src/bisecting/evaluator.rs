//! Verdicts on a claim about one commit against another: builds both, runs and judges
//! them, and keeps the verdict.

use std::collections::BTreeSet;

use assize_report::{BisectionFigure, ClaimVerdict};
use assize_series::Commit;
use assize_verdict::{Comparison, Outcome};

use super::question::{BisectionQuestion, OLD};
use super::state::{KeptSide, KeptVerdict, KeptVerdicts};
use crate::cli::{self, Scheduler, TrialArguments};
use crate::failure::Failure;
use crate::hunting::BuildHunts;
use crate::run::interrupt::Interrupt;
use crate::run::{self, MeasuredRecords, Recording};
use crate::trying::builds::{BuildCommit, BuildProduct};
use crate::trying::source::SourceChange;
use crate::{output, shell};

/// A commit that was built.
#[derive(Debug, Clone)]
pub(super) struct BuiltCommit {
    pub(super) commit: Commit,
    pub(super) made: BuildProduct,
    /// Digest of its bytes.
    pub(super) bytes: String,
}

/// Everything needed to reach verdicts.
pub(super) struct BisectionEvaluator<'a> {
    pub(super) change: &'a SourceChange,
    pub(super) builder: Box<dyn BuildCommit + 'a>,
    pub(super) question: &'a BisectionQuestion,
    /// The numbers of runs of each side: for the first try, and for each further one while the
    /// claim stays undecided.
    pub(super) looks: Vec<u32>,
    /// The level of each test.
    pub(super) alpha: f64,
    /// The kernel of all sides, unless each side is a kernel.
    pub(super) kernel: Option<String>,
    pub(super) jobs: Option<u32>,
    pub(super) on: Option<Scheduler>,
    pub(super) quiet: bool,
    pub(super) state: KeptVerdicts,
    pub(super) hunts: BuildHunts,
    /// In a hunt, the end of the range, once it is built.
    pub(super) bad: Option<BuiltCommit>,
    /// The commits that were built.
    pub(super) built: BTreeSet<String>,
    /// The pairs of builds, by their bytes, whose verdicts needed runs.
    pub(super) measured: BTreeSet<[String; 2]>,
    /// The total number of runs for these.
    pub(super) runs: u32,
}

impl BisectionEvaluator<'_> {
    pub(super) fn report(&self, line: &str) {
        if !self.quiet {
            eprintln!("{}", assize_report::printable(line));
        }
    }

    /// Builds a commit, or returns why it does not build.
    pub(super) fn build(
        &mut self,
        commit: &Commit,
    ) -> Result<Result<BuiltCommit, String>, Failure> {
        let of_user = Interrupt::watch()?;
        self.report(&format!(
            "building {} of {}",
            self.builder.what(),
            commit.subject
        ));
        self.built.insert(commit.id.clone());
        let built = self.builder.build(commit)?;
        if of_user.came() {
            return Err(stopped());
        }
        Ok(match built {
            Ok(made) => Ok(BuiltCommit {
                bytes: made.bytes()?,
                commit: commit.clone(),
                made,
            }),
            Err(error) => {
                let why = error.why;
                self.report(&format!("it does not build: {}: {why}", commit.subject));
                Err(why)
            }
        })
    }

    /// Builds the commit that all others are compared with.
    pub(super) fn build_good(&mut self, good: &Commit) -> Result<BuiltCommit, Failure> {
        self.report(&format!("building {} of GOOD", self.builder.what()));
        self.built.insert(good.id.clone());
        let built = self.builder.build(good)?;
        let made = built.map_err(|error| self.builder.of_base(error))?;
        Ok(BuiltCommit {
            bytes: made.bytes()?,
            commit: good.clone(),
            made,
        })
    }

    /// The verdict on the claim. Reuses the verdict if the same bytes were judged before; otherwise
    /// runs the experiment, with more and more runs while the claim is undecided.
    pub(super) fn judge(
        &mut self,
        old: &BuiltCommit,
        new: &BuiltCommit,
    ) -> Result<ClaimVerdict, Failure> {
        if old.bytes == new.bytes {
            self.report(&format!(
                "not run, the build is identical to that of {}: {}",
                old.commit.subject, new.commit.subject
            ));
            return Ok(nothing_differs());
        }
        if let Some(given) = self.state.find(&old.bytes, &new.bytes).cloned() {
            return Ok(self.reuse(given, new));
        }
        let mut carried_out = 0;
        let mut last = None;
        for runs in self.looks.clone() {
            let (verdict, recorded) = self.look(old, new, runs)?;
            carried_out += recorded;
            let decided = verdict.outcome != Outcome::Undecided;
            last = Some(verdict);
            if decided {
                break;
            }
        }
        let verdict = last.unwrap_or_else(nothing_differs);
        self.report(&format!(
            "{}: {}: {}",
            verdict.outcome.word(),
            new.commit.subject,
            verdict.because
        ));
        let of = |side: &BuiltCommit| KeptSide {
            commit: side.commit.id.clone(),
            modules: side.bytes.clone(),
        };
        self.count([&old.bytes, &new.bytes], carried_out);
        self.state.keep(KeptVerdict {
            old: of(old),
            new: of(new),
            carried_out,
            verdict: verdict.clone(),
        })?;
        Ok(verdict)
    }

    /// Reuses an earlier verdict: on the same bytes, or from an earlier run of this
    /// command.
    fn reuse(&mut self, given: KeptVerdict, new: &BuiltCommit) -> ClaimVerdict {
        let mut verdict = given.verdict;
        self.count([&given.old.modules, &given.new.modules], given.carried_out);
        if given.new.commit != new.commit.id {
            verdict.same_as = Some(given.new.commit);
        }
        self.report(&format!(
            "{}, known already: {}",
            verdict.outcome.word(),
            new.commit.subject
        ));
        verdict
    }

    fn count(&mut self, pair: [&String; 2], carried_out: u32) {
        if self.measured.insert(pair.map(String::clone)) {
            self.runs += carried_out;
        }
    }

    /// Runs the experiment with this many runs of each side and judges them.
    fn look(
        &mut self,
        old: &BuiltCommit,
        new: &BuiltCommit,
        runs: u32,
    ) -> Result<(ClaimVerdict, u32), Failure> {
        if self.question.hunt {
            return self.by_rates(old, new, runs);
        }
        let [new_id, old_id] = [new, old].map(|side| side.commit.short());
        let name = format!("{new_id}-against-{old_id}-{runs}.bundle");
        let text = self.question.experiment_with(&old.made, &new.made)?;
        let question = cli::QuestionArguments::default();
        let measured = run::record_runs(&Recording {
            text: &text,
            name: &name,
            out: Some(self.state.directory().join(&name)),
            resume: true,
            kernel: self.kernel.clone(),
            runs: Some(runs),
            jobs: self.jobs,
            on: self.on,
            quiet: self.quiet,
            question: &question,
            may_lose: if self.question.outcome {
                |_| true
            } else {
                |_| false
            },
            gives_up: false,
            show_output: false,
        })
        .map_err(|failure| match failure {
            Failure::Interrupted { .. } | Failure::InterruptedEarly => stopped(),
            other => other,
        })?;
        let records = &measured.records;
        let recorded = (records.runs.len() + records.failures.len()) as u32;
        Ok((self.verdict(&measured, name)?, recorded))
    }

    fn verdict(&self, measured: &MeasuredRecords, bundle: String) -> Result<ClaimVerdict, Failure> {
        let trial = TrialArguments {
            question: cli::QuestionArguments {
                baseline: Some(OLD.into()),
                ..cli::QuestionArguments::default()
            },
            primary: vec![self.question.metric.clone()],
            alpha: self.alpha,
            ..TrialArguments::default()
        };
        let mut records = measured.records.clone();
        let is_meant = |name: &str| name == self.question.metric;
        for run in &mut records.runs {
            run.metrics.retain(|name, _| is_meant(name));
        }
        records.events.retain(|one| is_meant(&one.event));
        records.unsupported.retain(|one| is_meant(&one.metric));
        let mut options = output::options(&trial, &measured.terms)?;
        options.level = 1.0 - options.alpha;
        if records.runs.iter().all(|run| run.metrics.is_empty()) {
            // An event: no metric is primary.
            options.primary.clear();
            records.primary.clear();
        }
        let document = assize_verdict::try_records(&records, &options)?;
        let claim = document.claims.first();
        Ok(ClaimVerdict {
            outcome: claim.map_or(Outcome::Undecided, |claim| claim.outcome),
            because: claim.map_or_else(String::new, |claim| claim.because.clone()),
            figures: document.comparisons.iter().map(figure).collect(),
            outcomes: document.outcomes,
            runs: measured.runs,
            bundle: Some(bundle),
            same_as: None,
        })
    }
}

/// The verdict if both sides are the same bytes and so cannot differ.
pub(super) fn nothing_differs() -> ClaimVerdict {
    ClaimVerdict {
        outcome: Outcome::Refuted,
        because: "the builds of both sides are identical".into(),
        figures: Vec::new(),
        outcomes: Vec::new(),
        runs: 0,
        bundle: None,
        same_as: None,
    }
}

fn figure(row: &Comparison) -> BisectionFigure {
    BisectionFigure {
        workload: row.workload.clone(),
        metric: row.metric.clone(),
        unit: row.unit.clone(),
        old: row.mean_baseline,
        new: row.mean,
        ratio: row.ratio,
        difference: row.difference,
        interval: row.ci,
        verdict: row.verdict,
    }
}

pub(super) fn stopped() -> Failure {
    Failure::Stopped {
        again: shell::command_line(std::env::args_os().skip(1)),
    }
}
