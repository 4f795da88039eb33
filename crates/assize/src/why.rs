//! `assize why`: attributes the difference in instructions between two configurations.

mod caches;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use assize_bundle::RunExit;
use assize_job::{JOBS, Order};
use assize_plan::{Plan, PlannedRun};
use assize_report::html;
use assize_target::exact::{Exact, Options, TASK_FIELDS, TaskTypes};
use assize_target::{OrderResult, Target};
use assize_why::claims::ClaimOutcome;
use assize_why::difference::{CountedPair, CountedRun, DiffHunk, FunctionEntries};
use assize_why::kernel_map::{EntryProbe, kernel_map};
use assize_why::{
    Calls, Flame, Kept, Misses, Profile, Program, Programs, RunCounts, ShareClaim, Subsystems,
    Symbols, Why, WhyQuestion,
};

use crate::cli::{WhyArguments, WhyFormat};
use crate::failure::Failure;
use crate::levels::ExpectedParts;
use crate::repeat::{RunToRepeat, exact_plan};
use crate::run::target;
use crate::{output, shell};

/// Frames on a page with less than this share of all instructions are merged, and so are the
/// smallest frames if there are too many.
const LEAST_FRAME: f64 = 0.0001;
const MOST_FRAMES: usize = 30_000;
/// The same for a result kept in a bundle, as the page of a report shows several.
const LEAST_KEPT: f64 = 0.001;
const MOST_KEPT: usize = 4_000;

/// The result of a repeated run.
struct RepeatedRun {
    side: CountedRun,
    folded: String,
}

/// Repeats runs of a bundle, counts their instructions, and shows the differences.
pub(crate) fn why(arguments: &WhyArguments) -> Result<u8, Failure> {
    let plan = exact_plan(&arguments.bundle, "why")?;
    let asked = requested_comparison(&plan, arguments)?;
    let pairs = chosen(&plan, &asked, arguments)?;
    let exact = target::exact(Options::default())?;
    let (pairs, folded) = carry_out(&plan, &exact, pairs, &asked, arguments)?;
    let mut why = Why::compare(&asked, &pairs);
    if arguments.keep {
        let flame = Flame::from_pairs(&pairs, true, LEAST_KEPT, MOST_KEPT);
        // Sorted, so that the order of the arguments has no effect.
        let mut runs = why.runs.first().copied().unwrap_or_default();
        runs.sort_unstable();
        assize_bundle::keep_answer(&arguments.bundle, runs, &Kept::new(&why, flame))?;
    }
    if arguments.format == WhyFormat::Folded {
        output::deliver(folded.as_bytes(), arguments.output.as_deref())?;
        return Ok(0);
    }
    if arguments.format == WhyFormat::Pprof {
        let profile = assize_why::pprof::pprof(&asked.a, &asked.b, &pairs);
        output::deliver(&profile, arguments.output.as_deref())?;
        return Ok(0);
    }
    if !arguments.tree {
        why.tree.clear();
    }
    let command = shell::command_line(std::env::args_os().skip(1));
    let text = match arguments.format {
        WhyFormat::Json => {
            let text = serde_json::to_string_pretty(&why);
            text.map_err(|error| Failure::Show(error.to_string()))? + "\n"
        }
        WhyFormat::Html => {
            let flame = Flame::from_pairs(&pairs, arguments.tree, LEAST_FRAME, MOST_FRAMES);
            let page = html::why(&why, &flame, &command);
            page.map_err(|error| Failure::Show(error.to_string()))?
        }
        _ => {
            let rows = (!arguments.all).then_some(arguments.top);
            assize_report::why(&why, rows, &command)
        }
    };
    let text = assize_report::printable(&text).into_owned();
    output::deliver(text.as_bytes(), arguments.output.as_deref())?;
    let refuted = why
        .claims
        .iter()
        .any(|one| one.outcome == ClaimOutcome::Refuted);
    Ok(u8::from(refuted))
}

/// Finds the name that the user means: given in full or as a unique prefix, without regard to case.
fn resolve_name<'a>(names: &[&'a str], given: &str, what: &str) -> Result<&'a str, Failure> {
    let lower = given.to_lowercase();
    let whole = |name: &&&str| name.to_lowercase() == lower;
    if let Some(name) = names.iter().find(whole) {
        return Ok(name);
    }
    let begins = |name: &&&str| name.to_lowercase().starts_with(&lower);
    let mut found = names.iter().filter(begins);
    match (found.next(), found.next()) {
        (Some(name), None) => Ok(name),
        (None, _) => Err(Failure::Argument(format!(
            "why: there is no {what} '{given}'; valid: {}",
            names.join(", ")
        ))),
        (Some(_), Some(_)) => Err(Failure::Argument(format!(
            "why: several {what}s begin with '{given}'; valid: {}",
            names.join(", ")
        ))),
    }
}

fn requested_comparison(plan: &Plan, arguments: &WhyArguments) -> Result<WhyQuestion, Failure> {
    let configurations: Vec<&str> = plan.configurations.iter().map(|one| &*one.name).collect();
    let workloads: Vec<&str> = plan.workloads.iter().map(|one| &*one.name).collect();
    let workload = match (&arguments.workload, &workloads[..]) {
        (Some(given), _) => resolve_name(&workloads, given, "workload")?,
        (None, [only]) => only,
        (None, several) => {
            return Err(Failure::Argument(format!(
                "why: name a workload with --workload: {}",
                several.join(", ")
            )));
        }
    };
    let claims = arguments.explains.iter();
    let claims: Result<Vec<ShareClaim>, String> = claims
        .map(|text| ShareClaim::parse(text, &arguments.metric))
        .collect();
    Ok(WhyQuestion {
        hunks: hunks(arguments.diff.as_deref())?,
        caches: caches::geometry(arguments.cache.as_deref())?,
        claims: claims.map_err(|why| Failure::Argument(format!("--explains: {why}")))?,
        workload: workload.to_owned(),
        a: resolve_name(&configurations, &arguments.a, "configuration")?.to_owned(),
        b: resolve_name(&configurations, &arguments.b, "configuration")?.to_owned(),
        metric: arguments.metric.clone(),
        reached: arguments.reached.clone(),
    })
}

fn hunks(path: Option<&Path>) -> Result<Vec<DiffHunk>, Failure> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let wrong = |why: String| Failure::Argument(format!("--diff: {}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let all = assize_series::touched(&String::from_utf8_lossy(&bytes));
    if all.is_empty() {
        let why = "it contains no hunk of a unified diff; use the output of `git diff`";
        return Err(wrong(why.into()));
    }
    let one = |one: assize_series::TouchedHunk| DiffHunk {
        path: one.path,
        range: one.range,
        functions: one.functions,
        outside: one.outside,
    };
    Ok(all.into_iter().map(one).collect())
}

/// The first pairs of runs in the schedule, as many as requested, that both
/// configurations completed with the same seed.
fn chosen<'a>(
    plan: &Plan,
    asked: &WhyQuestion,
    arguments: &'a WhyArguments,
) -> Result<Vec<[RunToRepeat<'a>; 2]>, Failure> {
    let bundle = arguments.bundle.as_path();
    let named = |run: &&PlannedRun, name: &str| {
        let configuration = plan.configurations.get(run.configuration);
        let workload = plan.workloads.get(run.workload);
        configuration.is_some_and(|one| one.name == name)
            && workload.is_some_and(|one| one.name == asked.workload)
    };
    let again = |run: &PlannedRun| -> Result<Option<RunToRepeat<'a>>, Failure> {
        let found = RunToRepeat::find(plan, run, bundle)?;
        Ok(found.filter(|one| one.recorded.exit == RunExit::Completed))
    };
    let wanted = usize::try_from(arguments.seeds).unwrap_or(usize::MAX);
    let mut pairs = Vec::new();
    for first in plan.runs.iter().filter(|run| named(run, &asked.a)) {
        let beside = |run: &&PlannedRun| run.block == first.block && named(run, &asked.b);
        let Some(second) = plan.runs.iter().find(beside) else {
            continue;
        };
        if pairs.len() < wanted
            && let (Some(a), Some(b)) = (again(first)?, again(second)?)
        {
            pairs.push([a, b]);
        }
    }
    if pairs.len() == wanted {
        return Ok(pairs);
    }
    Err(Failure::Argument(format!(
        "why: {}: {} of the {wanted} requested seeds are recorded for both {} and {} \
         on {}; record more with `assize run`, or ask for fewer with --seeds",
        bundle.display(),
        pairs.len(),
        asked.a,
        asked.b,
        asked.workload
    )))
}

/// Repeats all runs, as many in parallel as the target has slots.
fn carry_out(
    plan: &Plan,
    exact: &Exact,
    pairs: Vec<[RunToRepeat<'_>; 2]>,
    asked: &WhyQuestion,
    arguments: &WhyArguments,
) -> Result<(Vec<CountedPair>, String), Failure> {
    let runs: Vec<&RunToRepeat<'_>> = pairs.iter().flatten().collect();
    let orders: Vec<Order> = runs.iter().map(|again| again.order.clone()).collect();
    exact.prepare(&orders)?;
    let planned: Vec<PlannedRun> = runs.iter().map(|again| again.run).collect();
    let expected = ExpectedParts::for_runs(plan, &planned, exact)?;
    let next = Mutex::new(0..runs.len());
    let results: Mutex<BTreeMap<usize, Result<RepeatedRun, Failure>>> = Mutex::default();
    thread::scope(|scope| {
        for slot in 0..exact.slots().min(runs.len()) {
            let (next, results, runs, expected) = (&next, &results, &runs, &expected);
            scope.spawn(move || {
                // No thread panics while it holds a lock.
                let take = || next.lock().ok()?.next();
                while let Some(at) = take() {
                    let Some(again) = runs.get(at) else { break };
                    let done = again.count(plan, exact, slot, (expected, asked, arguments));
                    if let Ok(mut results) = results.lock() {
                        results.insert(at, done);
                    }
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_default();
    let mut sides = Vec::new();
    for done in results.into_values() {
        sides.push(done?);
    }
    let mut sides = sides.into_iter();
    let (mut all, mut folded) = (Vec::new(), String::new());
    for [first, second] in &pairs {
        let (Some(a), Some(b)) = (sides.next(), sides.next()) else {
            break;
        };
        for (again, done) in [(first, &a), (second, &b)] {
            let root = &again.recorded.run.configuration;
            for line in done.folded.lines() {
                folded.push_str(&format!("{root};{line}\n"));
            }
        }
        all.push(CountedPair {
            seed: first.run.seed,
            a: a.side,
            b: b.side,
        });
    }
    Ok((all, folded))
}

impl RunToRepeat<'_> {
    fn count(
        &self,
        plan: &Plan,
        exact: &Exact,
        slot: usize,
        (expected, asked, arguments): (&ExpectedParts, &WhyQuestion, &WhyArguments),
    ) -> Result<RepeatedRun, Failure> {
        let texts = exact.symbols(&self.order, slot)?;
        let kernel = |error: assize_why::Error| {
            let kernel = &self.order.machine.kernel;
            Failure::Argument(format!("why: {kernel}: {error}"))
        };
        let symbols = Symbols::parse(&String::from_utf8_lossy(&texts.kallsyms)).map_err(kernel)?;
        let probes: Result<Vec<EntryProbe>, String> = arguments
            .reached
            .iter()
            .map(|text| EntryProbe::parse(text))
            .collect();
        let probes = probes.map_err(|why| Failure::Argument(format!("--reached: {why}")))?;
        let trees = counts_calls(asked, arguments);
        let task = task_fields(&texts.tasks).map_err(kernel)?;
        let (mut text, numbers) = kernel_map(&symbols, &task, &probes, trees).map_err(kernel)?;
        text += &asked.caches.map_or(String::new(), |caches| caches.line());
        let counted = exact.count(&self.order, slot, &text)?;
        self.refuse_other(plan, &counted.done, expected)?;
        let counts = RunCounts::parse(&counted.counts).map_err(|error| {
            Failure::Inexact(format!("the plugin wrote an invalid count: {error}"))
        })?;
        let shipped = Subsystems::shipped();
        let placed = programs(exact, &self.order)?.place(&counts);
        let profile = Profile::from_counts(&counts, &symbols, &placed, &shipped);
        let modelled = asked.caches.is_some();
        let misses = modelled.then(|| Misses::from_counts(&counts, &symbols, &placed, &shipped));
        let inexact = |error: assize_why::Error| {
            Failure::Inexact(format!("run {} of the schedule: {error}", self.run.index))
        };
        let calls = trees.then(|| Calls::from_counts(&counts, &symbols, &profile));
        let calls = calls.transpose().map_err(inexact)?;
        let metric = |name: &str| Some(self.recorded.run.metrics.get(name)?.value);
        let reached = numbers.iter().map(|of| entered(&counts, of)).collect();
        Ok(RepeatedRun {
            folded: match &calls {
                Some(calls) if arguments.tree => calls.folded(),
                _ => profile.folded(),
            },
            side: CountedRun {
                functions: asked.functions().map(|one| symbols.meant(one)).collect(),
                calls,
                misses: misses.transpose().map_err(inexact)?,
                run: self.run.index,
                profile,
                jobs: metric(JOBS),
                metric: metric(&arguments.metric),
                reached,
            },
        })
    }

    /// Fails unless the repeated run gave the recorded result.
    fn refuse_other(
        &self,
        plan: &Plan,
        done: &OrderResult,
        expected: &ExpectedParts,
    ) -> Result<(), Failure> {
        let Some(what) = self.difference(plan, done, expected) else {
            return Ok(());
        };
        Err(Failure::Argument(format!(
            "why: {}: run {} can no longer be repeated, so its counts would explain nothing: \
             {what}; rerun the experiment with this assize: `assize run --out NEW`",
            self.bundle.display(),
            self.run.index
        )))
    }
}

/// Whether to count calls too.
fn counts_calls(asked: &WhyQuestion, arguments: &WhyArguments) -> bool {
    arguments.tree
        || arguments.keep
        || arguments.format == WhyFormat::Pprof
        || asked.functions().next().is_some()
        || !asked.hunks.is_empty()
}

/// The offsets of the task fields that the plugin reads.
fn task_fields(tasks: &TaskTypes) -> Result<Vec<(&'static str, u64)>, assize_why::Error> {
    let offsets = match tasks {
        TaskTypes::Btf(types) => assize_why::types::offsets(types, "task_struct", TASK_FIELDS)?,
        TaskTypes::Offsets(offsets) => *offsets,
    };
    Ok(TASK_FIELDS.into_iter().zip(offsets).collect())
}

/// The programs and libraries on the machine of a run.
fn programs(exact: &Exact, order: &Order) -> Result<Programs, Failure> {
    let files = exact.programs(order)?;
    let read = files
        .iter()
        .filter_map(|one| Program::read(&one.path, &one.bytes, one.symbols.as_deref()));
    Ok(Programs {
        all: read.collect(),
    })
}

/// How often each of the functions with this name was entered, added up.
fn entered(counts: &RunCounts, numbers: &[usize]) -> FunctionEntries {
    let mut all = FunctionEntries::default();
    for entries in numbers.iter().filter_map(|at| counts.entries.get(*at)) {
        all.times += entries.times;
        for (bits, times) in &entries.sizes {
            *all.sizes.entry(*bits).or_default() += times;
        }
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn a_name_is_whole_or_a_prefix_that_only_one_has() {
        let names = ["drm-sched", "depq", "depq+irq"];
        assert_eq!(
            resolve_name(&names, "DRM", "configuration").unwrap(),
            "drm-sched"
        );
        assert_eq!(
            resolve_name(&names, "depq", "configuration").unwrap(),
            "depq"
        );
        for (given, words) in [("d", "several"), ("x", "there is no")] {
            let text = resolve_name(&names, given, "configuration")
                .unwrap_err()
                .to_string();
            assert!(text.contains(words) && text.contains("depq+irq"), "{text}");
        }
    }
}
