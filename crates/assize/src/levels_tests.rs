#![allow(clippy::unwrap_used)] // A test may fail.

use assize_job::{AgentMessage, Order};
use assize_target::{Error, OrderResult, ReportStep};

use super::*;

fn one(kind: IdentityKind, name: &str, value: &str) -> RunIdentityPart {
    RunIdentityPart::new(kind, name, value)
}

fn plan(factors: &str) -> Plan {
    try_plan(factors).unwrap()
}

fn try_plan(factors: &str) -> Result<Plan, assize_plan::Error> {
    let text = format!(
        "title = 't'\nruns = 2\n{factors}\n[workloads.w]\nkind = 'command'\nargv = ['true']\n"
    );
    assize_plan::parse(&text, "test.toml")?.plan(&assize_plan::Overrides::default())
}

/// A target where a module's digest is the first letter of its path.
struct FirstLetterTarget;

impl Target for FirstLetterTarget {
    fn slots(&self) -> usize {
        1
    }

    fn prepare_telling(&self, _: &[Order], _: &ReportStep<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn expected(&self, order: &Order) -> Result<Vec<RunIdentityPart>, Error> {
        let modules = order.job.setup.iter().filter_map(|step| match step {
            Action::Module { module, .. } => Some(module),
            _ => None,
        });
        Ok(modules
            .map(|path| one(IdentityKind::Module, "m", &path[..1]))
            .collect())
    }

    fn run(&self, _: &Order, _: usize) -> Result<OrderResult, Error> {
        unreachable!("{:?}", AgentMessage::End { records: 0 })
    }
}

/// The configurations that are the same as another one, and whether no configuration differs.
fn found(plan: &Plan) -> (Vec<String>, bool) {
    let expected = ExpectedParts::for_runs(plan, &plan.runs, &FirstLetterTarget).unwrap();
    let same = super::same(plan, &expected);
    let said = same.iter().map(|(name, other)| format!("{name} = {other}"));
    let configurations = crate::run::configurations(plan);
    let nothing = assize_bundle::nothing_differs(&configurations, &same);
    (said.collect(), nothing)
}

/// Whether the two levels are the same.
fn are_same(factors: &str) -> bool {
    let (same, nothing_differs) = found(&plan(factors));
    assert_eq!(!same.is_empty(), nothing_differs, "{same:?}");
    nothing_differs
}

fn compare_two(one: &str, other: &str) -> String {
    format!("[factors.f.stock]\n{one}\n[factors.f.slow]\n{other}\n")
}

#[test]
fn configurations_that_differ_in_name_only_are_the_same() {
    let step = |path: &str| format!("setup = [{{ module = '{path}' }}]");
    let two = compare_two(&step("a/1/m.ko"), &step("a/2/m.ko"));
    assert_eq!(found(&plan(&two)), (vec!["slow = stock".into()], true));
    let three = format!("{two}\n[factors.f.third]\n{}\n", step("b/m.ko"));
    assert_eq!(found(&plan(&three)), (vec!["slow = stock".into()], false));
    let four = format!("{three}\n[factors.f.fourth]\n{}\n", step("b/2/m.ko"));
    let pairs = vec!["fourth = third".into(), "slow = stock".into()];
    assert_eq!(found(&plan(&four)), (pairs, false));
    assert!(!are_same(&compare_two(&step("a/m.ko"), &step("b/m.ko"))));
    // Planning refuses settings that are written twice.
    let sysctl = |value: &str| format!("setup = [{{ sysctl = 'kernel.x', value = {value} }}]");
    assert!(try_plan(&compare_two("", "")).is_err());
    assert!(try_plan(&compare_two(&sysctl("1"), &sysctl("'1'"))).is_err());
    assert!(!are_same(&compare_two(&sysctl("1"), &sysctl("2"))));
    assert!(!are_same("aa = true"), "the one exception");
}

#[test]
fn it_does_not_matter_who_asks_for_what_runs_beside_a_workload() {
    let beside = |level: &str| {
        let factors = compare_two("", &format!("background = ['{level}']"));
        let text = format!(
            "title = 't'\nruns = 2\n{factors}\n[workloads.w]\nkind = 'command'\n\
             argv = ['true']\nbackground = ['a']\n[background.a]\nkind = 'hogs'\n\
             [background.b]\nkind = 'hogs'\nthreads = 2\n[workloads.v]\nkind = 'command'\n\
             argv = ['true']\nbackground = ['a', 'b']\n"
        );
        let experiment = assize_plan::parse(&text, "test.toml").unwrap();
        let plan = experiment.plan(&assize_plan::Overrides::default()).unwrap();
        found(&plan).1
    };
    assert!(beside("a"));
    assert!(!beside("b"));
}

#[test]
fn programs_that_nobody_has_looked_at_are_told_apart_by_their_paths() {
    let argv = |path: &str| format!("workload.w.argv = ['{path}']");
    assert!(!are_same(&compare_two(&argv("a/bench"), &argv("b/bench"))));
}

#[test]
fn what_differs_in_one_setting_is_no_repetition() {
    for (one, other) in [
        ("cpus = 1", "cpus = 2"),
        ("command_line = ['a']", "command_line = ['b']"),
        ("environment = { A = '1' }", "environment = { A = '2' }"),
        ("workload.w.argv = ['true']", "workload.w.argv = ['false']"),
        (
            "workload.w.argv = ['true', 'a']",
            "workload.w.argv = ['true', 'b']",
        ),
        ("", "workload.w.scheduling.nice = 5"),
        ("", "teardown = [{ command = ['true'] }]"),
    ] {
        // A real target expects the environment too.
        let environment = one.starts_with("environment");
        assert_eq!(are_same(&compare_two(one, other)), environment, "{other}");
    }
}

#[test]
fn levels_say_in_what_they_may_differ() {
    let plan = plan(&compare_two(
        "",
        "setup = [{ sysctl = 'kernel.x', value = 1 }]",
    ));
    let settings = level_settings(&plan);
    assert!(settings[0].varies.is_empty());
    assert!(settings[1].varies.contains("sysctl"));
    assert!(!settings[1].varies.contains("library"));
    let said = |at: usize| {
        settings[at]
            .settings
            .iter()
            .any(|part| part.kind == "set-up")
    };
    assert!(!said(0) && said(1));
}
