//! `assize bisect`: finds the commit in a range that makes a claim true.
//!
//! Each commit that is tried gets a verdict against the commit before the range; `search`
//! picks the next one.

mod checked_out;
mod evaluator;
mod hunted;
mod question;
mod search;
mod state;
mod touching_commits;

use std::collections::{BTreeMap, BTreeSet};

use assize_report::{
    BISECTION, Bisection, BisectionAnswer, ClaimVerdict, Culprit, TriedCommit, TriedResult,
};
use assize_target::Sandbox;
use assize_target::kernels::{Kernel, Kernels};
use assize_verdict::Outcome;

use crate::cli::{self, BisectArguments, BisectFormat};
use crate::failure::Failure;
use crate::hunting::BuildHunts;
use crate::trying::builds::{BuildCommit, ModuleBuild};
use crate::trying::described;
use crate::trying::experiment::BaseExperiment;
use crate::trying::source::{self, ChangeOptions, SourceChange};
use crate::trying::touched::{BuildScope, TouchedFiles};
use crate::trying::whole::{self, KernelBuild};
use crate::{output, shell};
use evaluator::{BisectionEvaluator, BuiltCommit};
use question::{BisectionQuestion, NEW, OLD};
use search::{CommitFinding, SearchStep};
use state::{BisectionTerms, KeptVerdicts};
use touching_commits::TouchingCommits;

pub(crate) use checked_out::{is_test, wrong_use_of_test};

/// How often the number of runs is doubled for an undecided verdict, unless an option
/// gives the maximum.
const DOUBLINGS: u32 = 2;

/// Finds the commit, or tests the one that is checked out.
pub(crate) fn bisect(arguments: &BisectArguments) -> Result<u8, Failure> {
    if let Some(good) = &arguments.test {
        return checked_out::test(arguments, good);
    }
    let say = output::progress(arguments.quiet);
    let kernels = Kernels::new(Kernels::default_root()?);
    let asked = ChangeOptions {
        range: arguments.range.as_deref(),
        patch: arguments.patch.as_deref(),
        base: arguments.base.as_deref(),
    };
    if let Some(range) = asked.range.filter(|range| !range.contains("..")) {
        return Err(Failure::Argument(format!(
            "{range}: one commit is not a range; write GOOD..{range}"
        )));
    }
    let change = SourceChange::from_options(&asked, &kernels, &say)?;
    if let Some((good, end)) = asked.range.and_then(|range| range.split_once("..")) {
        touching_commits::begins_at(&change, good, end)?;
    }
    let touched = TouchedFiles::of_commits(&change.commits)?;
    let line = TouchingCommits::in_range(&change.commits, &touched.scope);
    let given = BisectionSetup::checked(arguments, &touched.scope, &kernels)?;
    say(&given.announced());
    let mut evaluator = given.evaluator(arguments, &change, &say, line.verdicts())?;
    let found = BisectionSearch {
        evaluator: &mut evaluator,
        line: &line,
        tried: Vec::new(),
    }
    .carry_out()?;
    let bisection = found.document(&evaluator, &touched, &given, arguments);
    let text = match arguments.format {
        BisectFormat::Text => assize_report::bisection_text(&bisection),
        BisectFormat::Json => assize_report::bisection_json(&bisection)
            .map_err(|error| Failure::Show(error.to_string()))?,
    };
    output::deliver(text.as_bytes(), arguments.output.as_deref())?;
    Ok(u8::from(!matches!(
        bisection.answer,
        BisectionAnswer::Found(_)
    )))
}

/// The question, and where it is run.
struct BisectionSetup {
    scope: BuildScope,
    /// The name of the experiment and why it was chosen.
    choice: String,
    title: String,
    /// Whether the experiment uses the exact machine.
    exact: bool,
    /// The kernel of all sides, unless each side is a kernel.
    kernel: Option<Kernel>,
    sandbox: Sandbox,
    question: BisectionQuestion,
    looks: Vec<u32>,
}

impl BisectionSetup {
    /// Finds mistakes before anything is built.
    fn checked(
        arguments: &BisectArguments,
        scope: &BuildScope,
        kernels: &Kernels,
    ) -> Result<BisectionSetup, Failure> {
        let base = BaseExperiment::named_or_for(arguments.experiment.as_deref(), scope)?;
        base.can_run_on(arguments.farm.on)?;
        let question = match &arguments.claim {
            Some(claim) => BisectionQuestion::parse(claim, &base)?,
            None => BisectionQuestion::of_hunt(&base)?,
        };
        let kernel = match scope {
            BuildScope::Modules(_) => {
                let named = source::kernel(arguments.base.as_deref(), arguments.kernel.as_deref())?;
                Some(kernels.resolve(named.unwrap_or(&base.kernel))?)
            }
            BuildScope::Kernel(file) => {
                whole::no_kernel_named(file, arguments.kernel.as_deref())?;
                None
            }
        };
        let runs = arguments.runs.unwrap_or(question.runs);
        Ok(BisectionSetup {
            scope: scope.clone(),
            exact: base.is_exact(),
            choice: base.choice,
            title: base.title,
            looks: match question.hunt {
                true => vec![runs],
                false => looks(runs, arguments.max_runs)?,
            },
            kernel,
            sandbox: arguments.sandbox.choose()?,
            question,
        })
    }

    /// The message that names what is tried and the experiment.
    fn announced(&self) -> String {
        let of = match &self.scope {
            BuildScope::Modules(part) => part.directory,
            BuildScope::Kernel(file) => file,
        };
        format!("{of} -> {}", self.choice)
    }

    /// The builder of the sides.
    fn builder<'a>(
        &'a self,
        change: &'a SourceChange,
        say: &'a dyn Fn(&str),
    ) -> Result<Box<dyn BuildCommit + 'a>, Failure> {
        let sandbox = self.sandbox.clone();
        let (BuildScope::Modules(part), Some(kernel)) = (&self.scope, &self.kernel) else {
            let kernels = Kernels::new(Kernels::default_root()?);
            return Ok(Box::new(KernelBuild::open(change, kernels, sandbox, say)?));
        };
        let mut paths = change.commits.iter().flat_map(|commit| &commit.paths);
        let headers = paths.any(|path| part.headers.contains(&path.as_str()));
        let good = change.tree(&change.base, part)?;
        let differs = !part.changed_headers(kernel, &good)?.is_empty();
        let users = headers || differs;
        Ok(Box::new(ModuleBuild::new(
            change, part, kernel, sandbox, users,
        )))
    }

    /// An evaluator for this many verdicts: each test of each verdict gets its share of the
    /// level, so that all hold at once.
    fn evaluator<'a>(
        &'a self,
        arguments: &'a BisectArguments,
        change: &'a SourceChange,
        say: &'a dyn Fn(&str),
        verdicts: u32,
    ) -> Result<BisectionEvaluator<'a>, Failure> {
        let tests = f64::from(verdicts) * self.tests_each();
        let alpha = cli::ALPHA / tests.max(1.0);
        let terms = BisectionTerms {
            assize: env!("CARGO_PKG_VERSION").into(),
            good: change.base.id.clone(),
            kernel: match &self.kernel {
                Some(kernel) => format!("{} {}", kernel.name, kernel.version),
                None => "of each commit".into(),
            },
            question: self.question.clone(),
            looks: self.looks.clone(),
            alpha,
        };
        Ok(BisectionEvaluator {
            change,
            builder: self.builder(change, say)?,
            question: &self.question,
            looks: self.looks.clone(),
            alpha,
            kernel: self.kernel.as_ref().map(|kernel| kernel.name.clone()),
            jobs: arguments.jobs,
            on: arguments.farm.on,
            quiet: arguments.quiet,
            state: KeptVerdicts::open(&kept_in(arguments), &terms)?,
            hunts: BuildHunts::new(&kept_in(arguments)),
            bad: None,
            built: BTreeSet::new(),
            measured: BTreeSet::new(),
            runs: 0,
        })
    }
}

/// The numbers of runs of each side: for the first try, and for each further one while the verdict
/// stays undecided.
fn looks(runs: u32, most: Option<u32>) -> Result<Vec<u32>, Failure> {
    let most = most.unwrap_or_else(|| runs.saturating_mul(1 << DOUBLINGS));
    if most < runs {
        return Err(Failure::Argument(format!(
            "--max-runs {most}: the first verdict takes {runs} runs of each side; give --runs \
             {most} too"
        )));
    }
    let doubled = std::iter::successors(Some(runs), |runs| runs.checked_mul(2));
    let mut looks: Vec<u32> = doubled.take_while(|runs| *runs < most).collect();
    looks.push(most);
    Ok(looks)
}

/// A search in progress.
struct BisectionSearch<'s, 'c> {
    evaluator: &'s mut BisectionEvaluator<'c>,
    line: &'s TouchingCommits,
    tried: Vec<TriedCommit>,
}

/// The result of a search.
struct BisectionResult {
    /// The kernel that the commits ran on, in words.
    machine: String,
    answer: BisectionAnswer,
    tried: Vec<TriedCommit>,
    touching: usize,
}

impl BisectionSearch<'_, '_> {
    fn carry_out(mut self) -> Result<BisectionResult, Failure> {
        let good = self.evaluator.build_good(&self.evaluator.change.base)?;
        let machine = whole::described(&good.made);
        let answer = self.answer(good)?;
        Ok(BisectionResult {
            machine,
            answer,
            tried: self.tried,
            touching: self.line.last(),
        })
    }

    fn answer(&mut self, good: BuiltCommit) -> Result<BisectionAnswer, Failure> {
        let last = self.line.last();
        let mut known = BTreeMap::new();
        let mut sides = BTreeMap::from([(0, good.clone())]);
        // In a hunt other commits are compared with the last one, too.
        let mut first = self.evaluator.question.hunt.then_some(last);
        loop {
            let at = match search::next(last, &known) {
                SearchStep::Try(at) => first.take().unwrap_or(at),
                SearchStep::OneOf(places) => return self.one_of(&places, &mut sides),
                SearchStep::Found(at) => {
                    return match (sides.remove(&(at - 1)), sides.remove(&at)) {
                        (Some(parent), Some(side)) => self.against_parent(at, &parent, &side),
                        _ => Err(Failure::Show("the search skipped a commit".into())),
                    };
                }
            };
            let outcome = match self.try_at(at, &good)? {
                None if at == last => return Err(self.end_does_not_build()),
                None => Outcome::Undecided,
                Some((side, verdict)) => {
                    sides.insert(at, side);
                    verdict.outcome
                }
            };
            let found = match outcome {
                Outcome::Upheld => CommitFinding::Has,
                Outcome::Refuted if at == last => return Ok(BisectionAnswer::NotThere),
                Outcome::Undecided if at == last => return Ok(BisectionAnswer::Undecided),
                Outcome::Refuted => CommitFinding::Lacks,
                Outcome::Undecided => CommitFinding::Untestable,
            };
            known.insert(at, found);
        }
    }

    /// Builds and judges the commit with this number; returns `None` if it cannot be tested.
    fn try_at(
        &mut self,
        at: usize,
        good: &BuiltCommit,
    ) -> Result<Option<(BuiltCommit, ClaimVerdict)>, Failure> {
        let place = self.line.place(at);
        let Some(commit) = self.evaluator.change.commits.get(place) else {
            return Ok(None);
        };
        let (result, side) = match self.evaluator.build(commit)? {
            Err(why) => (TriedResult::NotBuilt(why), None),
            Ok(side) => match self.judge(at, good, &side) {
                // It crashes and GOOD does not, so it cannot be tested.
                Err(Failure::FailedRuns { cells, .. })
                    if at != self.line.last() && cells.iter().all(|cell| is_of(NEW, cell)) =>
                {
                    let why = format!("every run failed: {}", cells.join("; "));
                    self.evaluator.report(&format!("{}: {why}", commit.subject));
                    (TriedResult::NotBuilt(why), None)
                }
                judged => {
                    let verdict = judged?;
                    (TriedResult::Verdict(verdict.clone()), Some((side, verdict)))
                }
            },
        };
        self.tried.push(TriedCommit {
            commit: described(commit),
            place: place + 1,
            result,
        });
        Ok(side)
    }

    /// Blames a commit only if the claim is upheld against its parent.
    fn against_parent(
        &mut self,
        at: usize,
        parent: &BuiltCommit,
        side: &BuiltCommit,
    ) -> Result<BisectionAnswer, Failure> {
        let verdict = self.evaluator.judge(parent, side)?;
        let place = self.line.place(at);
        let change = self.evaluator.change;
        // The preceding commit in the range, which has the same files as the one that was
        // built.
        let before = place.checked_sub(1).and_then(|at| change.commits.get(at));
        Ok(of_one(Culprit {
            commit: described(&side.commit),
            place: place + 1,
            parent: described(before.unwrap_or(&change.base)),
            verdict,
        }))
    }

    /// Names several commits only if the claim is upheld for all of them together: the
    /// last against the one before the first.
    fn one_of(
        &mut self,
        places: &[usize],
        sides: &mut BTreeMap<usize, BuiltCommit>,
    ) -> Result<BisectionAnswer, Failure> {
        let ends = places.first().zip(places.last());
        let ends = ends.and_then(|(first, last)| {
            Some((
                *last,
                sides.remove(&first.checked_sub(1)?)?,
                sides.remove(last)?,
            ))
        });
        let Some((last, before, after)) = ends else {
            return Err(Failure::Show("the search skipped a commit".into()));
        };
        let verdict = self.evaluator.judge(&before, &after)?;
        if verdict.outcome == Outcome::Upheld {
            let commits = places.iter().map(|at| self.commit(*at)).collect();
            return Ok(BisectionAnswer::OneOf(commits));
        }
        Ok(BisectionAnswer::NotOfOne(Culprit {
            commit: described(&after.commit),
            place: self.line.place(last) + 1,
            parent: described(&before.commit),
            verdict,
        }))
    }

    fn commit(&self, at: usize) -> assize_report::PatchName {
        let commits = &self.evaluator.change.commits;
        let commit = commits.get(self.line.place(at));
        described(commit.unwrap_or(&self.evaluator.change.base))
    }

    fn end_does_not_build(&self) -> Failure {
        let why = self.tried.last().and_then(|one| match &one.result {
            TriedResult::NotBuilt(why) => Some(why.as_str()),
            TriedResult::Verdict(_) => None,
        });
        Failure::Argument(format!(
            "BAD does not build, so it cannot be judged: {}; name an older commit \
             that does",
            why.unwrap_or_default()
        ))
    }
}

/// The answer for a commit, given its verdict against its parent.
fn of_one(convicted: Culprit) -> BisectionAnswer {
    match convicted.verdict.outcome {
        Outcome::Upheld => BisectionAnswer::Found(convicted),
        Outcome::Refuted | Outcome::Undecided => BisectionAnswer::NotOfOne(convicted),
    }
}

/// Whether a cell in which all runs failed belongs to this side.
fn is_of(side: &str, cell: &str) -> bool {
    cell.strip_prefix(side)
        .is_some_and(|rest| rest.starts_with(" on "))
}

/// The directory for the verdicts. Tests of single commits have a separate one, because they use
/// another level.
fn kept_in(arguments: &BisectArguments) -> std::path::PathBuf {
    match arguments.test {
        Some(_) => arguments.out.join("test"),
        None => arguments.out.clone(),
    }
}

impl BisectionResult {
    fn document(
        self,
        evaluator: &BisectionEvaluator<'_>,
        touched: &TouchedFiles,
        given: &BisectionSetup,
        arguments: &BisectArguments,
    ) -> Bisection {
        let change = evaluator.change;
        let directory = shell::name_of(&arguments.out);
        let tests = evaluator.measured.len() as f64 * given.tests_each();
        Bisection {
            schema: BISECTION.into(),
            claim: given.question.claim.clone(),
            hunted: given.question.hunt,
            good: described(&change.base),
            bad: described(change.commits.last().unwrap_or(&change.base)),
            commits: change.commits.len(),
            touching: self.touching,
            why: why(&self.answer, given, &directory),
            answer: self.answer,
            tried: self.tried,
            builds: evaluator.built.len(),
            runs: evaluator.runs,
            level: 1.0 - evaluator.alpha,
            joint: 1.0 - evaluator.alpha * tests,
            kernel: match &given.kernel {
                Some(kernel) => format!("{} {}", kernel.name, kernel.version),
                None => self.machine,
            },
            built: match &given.scope {
                BuildScope::Modules(part) => format!("{} of {}", part.module, part.directory),
                BuildScope::Kernel(_) => whole::BUILT.into(),
            },
            left_out: touched.left_out.clone(),
            experiment: match given.question.hunt {
                true => format!("{}, {} schedules at most", given.title, evaluator.looks[0]),
                false => format!("{}, {} times a side", given.title, evaluator.looks[0]),
            },
            directory,
            reproduce: shell::command_line(std::env::args_os().skip(1)),
        }
    }
}

/// The `assize why` command that shows which instructions the result is due to.
fn why(answer: &BisectionAnswer, given: &BisectionSetup, directory: &str) -> Option<String> {
    let (BisectionAnswer::Found(found) | BisectionAnswer::NotOfOne(found)) = answer else {
        return None;
    };
    if given.question.outcome {
        return None;
    }
    // The small configuration of a kernel built here lacks what `assize why` needs.
    let answers = given.exact && matches!(given.scope, BuildScope::Modules(_));
    let bundle = found.verdict.bundle.as_ref().filter(|_| answers)?;
    let largest = found.verdict.figures.iter().max_by(|a, b| {
        let size =
            |of: &assize_report::BisectionFigure| of.ratio.map_or(0.0, |ratio| ratio.ln().abs());
        size(a).total_cmp(&size(b))
    });
    let workload = given.question.workload.as_ref();
    let workload = workload.or(largest.map(|figure| &figure.workload))?;
    let bundle = format!("{directory}/{bundle}");
    let words = ["why", &bundle, OLD, NEW, "--workload", workload];
    Some(shell::command_line(words.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_named_only_if_the_claim_is_upheld_of_it_against_its_parent() {
        let patch = assize_report::PatchName {
            commit: "0123".into(),
            subject: "words".into(),
            author: None,
            date: None,
        };
        let of = |outcome| {
            of_one(Culprit {
                commit: patch.clone(),
                place: 2,
                parent: patch.clone(),
                verdict: ClaimVerdict {
                    outcome,
                    ..evaluator::nothing_differs()
                },
            })
        };
        assert!(matches!(of(Outcome::Upheld), BisectionAnswer::Found(_)));
        for outcome in [Outcome::Refuted, Outcome::Undecided] {
            assert!(
                matches!(of(outcome), BisectionAnswer::NotOfOne(_)),
                "{outcome:?}"
            );
        }
    }

    #[test]
    fn a_failed_cell_is_of_one_side() {
        assert!(is_of(NEW, "new on sync: 6 of 6: it crashed"));
        for other in [
            "old on sync: 6 of 6: it crashed",
            "newer on sync: 6 of 6: x",
        ] {
            assert!(!is_of(NEW, other), "{other}");
        }
    }

    #[test]
    fn runs_double_up_to_the_limit() {
        let of = |runs, most| looks(runs, most).unwrap();
        assert_eq!(of(10, None), [10, 20, 40]);
        assert_eq!(of(6, Some(6)), [6]);
        assert_eq!(of(6, Some(20)), [6, 12, 20]);
        let error = looks(10, Some(6)).unwrap_err().to_string();
        assert!(error.contains("--runs 6"), "{error}");
    }
}
