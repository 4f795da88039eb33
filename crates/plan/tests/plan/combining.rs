//! How levels combine.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_job::{Action, Policy, WorkloadKind};
use assize_plan::{BetterDirection, PlannedConfiguration, StopRule};

use proptest::prelude::*;

use crate::common::{FULL, SMALL, plan};

/// Names that could be confused with each other.
const NAMES: &[&str] = &["off", "on", "base", "a", "B", "b.c", "aa"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_two_configurations_have_the_same_name(
        factors in prop::sample::subsequence(NAMES, 0..4).prop_shuffle(),
        levels in prop::collection::vec(prop::sample::subsequence(NAMES, 1..4).prop_shuffle(), 4),
        aa: bool,
    ) {
        let mut text = format!("aa = {aa}\n{SMALL}");
        let mut count = usize::from(aa);
        let mut product = 1;
        for (factor, levels) in factors.iter().zip(&levels) {
            product *= levels.len();
            for level in levels {
                text += &format!("[factors.\"{factor}\".\"{level}\"]\n");
                text += &format!("command_line = [\"{factor}={level}\"]\n");
            }
        }
        count += product;
        let names: std::collections::BTreeSet<String> = plan(&text)
            .configurations
            .iter()
            .map(|one| one.name.to_lowercase())
            .collect();
        prop_assert_eq!(names.len(), count);
    }
}

fn named<'a>(plan: &'a assize_plan::Plan, name: &str) -> &'a PlannedConfiguration {
    let mut all = plan.configurations.iter();
    all.find(|one| one.name == name)
        .unwrap_or_else(|| panic!("no configuration {name}"))
}

#[test]
fn the_top_of_the_file_arrives() {
    let plan = plan(FULL);
    assert_eq!(plan.experiment, FULL);
    assert_eq!(plan.title, "One of each");
    assert_eq!(plan.target, "live");
    assert_eq!((plan.seed, plan.retries, plan.timeout_ms), (42, 2, 90_000));
    assert_eq!((plan.samples, plan.offset_ns_max), (true, 5_000_000));
    assert_eq!(plan.margin, 0.025);
    assert_eq!(plan.instruments, ["threads", "perf-software"]);
    assert_eq!(plan.primary[1].better, BetterDirection::Higher);
    assert_eq!(plan.higher_is_better, ["throughput", "bandwidth"]);
    let [claim] = plan.claims.as_slice() else {
        panic!("{:?}", plan.claims);
    };
    assert_eq!(claim.text, "hogs < none on latency_ns_p99 in timer");
    assert!(claim.place.ends_with(":19: claims[0]"), "{}", claim.place);
    let looks = StopRule {
        metric: None,
        within: 0.02,
        first_look: 4,
        every: 3,
        looks: 4,
    };
    assert_eq!(plan.until, Some(looks));
    assert_eq!(plan.factors["load"], ["none", "hogs"]);
    assert_eq!(plan.factors["bypass"], ["off", "on"]);
}

#[test]
fn what_is_not_given_has_its_default() {
    let plan = plan(SMALL);
    assert_eq!(
        (plan.target.as_str(), plan.question.as_str()),
        ("exact", "")
    );
    assert_eq!((plan.seed, plan.retries, plan.timeout_ms), (1, 0, 60_000));
    assert_eq!(
        (plan.samples, plan.offset_ns_max, plan.margin),
        (false, 10_000_000, 0.01)
    );
    assert_eq!((plan.until, plan.runs.len()), (None, 8));
    let [base] = plan.configurations.as_slice() else {
        panic!("{:?}", plan.configurations);
    };
    assert_eq!((base.name.as_str(), base.label.as_str()), ("base", ""));
    assert_eq!(base.machine, assize_job::Machine::default());
    assert_eq!(base.workloads, plan.workloads);
    assert_eq!(plan.payload, assize_job::Payload::default());
}

#[test]
fn the_baseline_comes_first_and_then_once_more() {
    let plan = plan(FULL);
    let names: Vec<&str> = plan
        .configurations
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["none", "none/aa", "none+bypass", "hogs"]);
    let [first, again, ..] = plan.configurations.as_slice() else {
        panic!();
    };
    assert_eq!((first.aa, again.aa), (false, true));
    let same = PlannedConfiguration {
        name: first.name.clone(),
        aa: false,
        ..again.clone()
    };
    assert_eq!(same, *first);
    assert_eq!(named(&plan, "hogs").label, "load=hogs, bypass=off");
}

#[test]
fn levels_change_the_machine() {
    let plan = plan(FULL);
    let machine = &named(&plan, "none").machine;
    assert_eq!(
        (machine.cpus, machine.memory_mib, machine.kernel.as_str()),
        (2, 1024, "debian:6.1")
    );
    assert_eq!(machine.command_line, ["quiet", "threadirqs", "isolcpus=1"]);
    let machine = &named(&plan, "none+bypass").machine;
    assert_eq!((machine.cpus, machine.kernel.as_str()), (2, "debian:6.12"));
    assert_eq!(
        machine.command_line,
        ["quiet", "threadirqs", "isolcpus=0", "nohz=off"]
    );
}

#[test]
fn a_module_is_loaded_once_with_the_parameters_of_all() {
    let plan = plan(FULL);
    let [
        Action::Module { module, parameters },
        Action::Sysctl { value, .. },
    ] = named(&plan, "none+bypass").setup.as_slice()
    else {
        panic!("{:?}", named(&plan, "none+bypass").setup);
    };
    assert_eq!((module.as_str(), value.as_str()), ("depq", "0"));
    let parameters: Vec<_> = parameters
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    assert_eq!(parameters, [("bypass", "1"), ("queues", "4")]);
}

#[test]
fn a_level_has_the_last_word_on_a_sysctl_and_tears_down_first() {
    let plan = plan(FULL);
    let hogs = named(&plan, "hogs");
    let [Action::Module { .. }, Action::Sysctl { value, .. }] = hogs.setup.as_slice() else {
        panic!("{:?}", hogs.setup);
    };
    assert_eq!(value, "1");
    let [Action::Write { .. }, Action::Command { argv }] = hogs.teardown.as_slice() else {
        panic!("{:?}", hogs.teardown);
    };
    assert_eq!(argv, &["rmmod", "depq"]);
    assert_eq!(named(&plan, "none").teardown.len(), 1);
}

#[test]
fn factors_tear_down_in_the_reverse_of_their_order() {
    let text = format!(
        "{SMALL}
        [factors.a.x]
        teardown = [{{ command = [\"first\"] }}]
        [factors.b.x]
        teardown = [{{ command = [\"second\"] }}]"
    );
    let plan = plan(&text);
    let commands: Vec<&str> = plan.configurations[0]
        .teardown
        .iter()
        .map(|step| match step {
            Action::Command { argv } => argv[0].as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(commands, ["second", "first"]);
}

#[test]
fn parameters_are_merged_and_those_of_the_plan_are_not_touched() {
    let plan = plan(&FULL.replace(
        "environment = { BYPASS = \"yes\" }",
        "environment = { BYPASS = \"yes\", LANG = \"de\" }
workload.timer = { loops = 7, scheduling = { priority = 20 } }
workload.hogs.threads = 3",
    ));
    let timer = |workloads: &[assize_job::Workload]| match &workloads[0].kind {
        WorkloadKind::Cyclictest(timer) => timer.clone(),
        other => panic!("{other:?}"),
    };
    let (base, bypass) = (
        timer(&plan.workloads),
        timer(&named(&plan, "none+bypass").workloads),
    );
    assert_eq!((base.loops, base.scheduling.priority), (200, 10));
    assert_eq!((bypass.loops, bypass.scheduling.priority), (7, 20));
    assert_eq!(
        (bypass.interval_ns, bypass.scheduling.policy),
        (500_000, Policy::Fifo)
    );
    assert_eq!(bypass.scheduling.cpus, [1]);
    let WorkloadKind::Command(copy) = &named(&plan, "none+bypass").workloads[1].kind else {
        panic!();
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        copy.environment,
        [pair("LANG", "de"), pair("BYPASS", "yes")]
    );
}

#[test]
fn what_a_workload_has_beside_it_is_beside_no_other() {
    let text = "\
title = \"x\"
[factors.load.none]
[factors.load.loop]
background = [\"loop\"]
workload.hogs.threads = 4
[workloads.alone]
kind = \"ping-pong\"
[workloads.beside]
kind = \"ping-pong\"
background = [\"hogs\", \"loop\"]
[background.hogs]
kind = \"hogs\"
threads = 2
per_cpu = true
[background.loop]
kind = \"hogs\"
";
    let plan = plan(text);
    let beside = |configuration: &str, workload: usize| {
        let mut runs = plan.runs.iter();
        let run = runs.find(|run| {
            plan.configurations[run.configuration].name == configuration && run.workload == workload
        });
        let order = plan.order(run.unwrap().index).unwrap();
        let hogs = order.job.background.into_iter().map(|one| match one.kind {
            WorkloadKind::Hogs(hogs) => (one.name, hogs.threads),
            other => panic!("{other:?}"),
        });
        hogs.collect::<Vec<_>>()
    };
    let hogs = |threads| ("hogs".to_owned(), threads);
    let spin = || ("loop".to_owned(), 1);
    assert_eq!(beside("none", 0), []);
    assert_eq!(beside("none", 1), [hogs(2), spin()]);
    assert_eq!(beside("loop", 0), [spin()]);
    // A background workload that both name runs only once.
    assert_eq!(beside("loop", 1), [spin(), hogs(4)]);
    let written = serde_json::to_string(&plan).unwrap();
    let again: assize_plan::Plan = serde_json::from_str(&written).unwrap();
    assert_eq!(again, plan);
}

#[test]
fn a_duration_at_the_top_is_that_of_all_who_have_one() {
    let plan = plan(FULL);
    let WorkloadKind::Periodic(frames) = &plan.workloads[2].kind else {
        panic!();
    };
    assert_eq!(frames.duration_ns, 200_000_000);
    let names: Vec<&str> = frames.loops.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["render", "audio"]);
    assert_eq!(
        (frames.loops[0].period_ns, frames.loops[1].threads),
        (16_000_000, 2)
    );
}

#[test]
fn music_brings_its_card_and_its_player() {
    let text = "title = \"x\"
        setup = [{ sysctl = \"a.b\", value = 1 }]
        [factors.card.dummy]
        [factors.card.other]
        workload.a.device = \"default\"
        [workloads.a]
        kind = \"audio\"";
    let plan = plan(text);
    let loads = |at: usize| match &plan.configurations[at].setup[0] {
        Action::Module { module, .. } => Some(module.clone()),
        _ => None,
    };
    assert_eq!(loads(0).as_deref(), Some("snd-dummy"));
    assert_eq!(loads(1), None);
    assert_eq!(plan.payload.programs, ["mpg123"]);
    assert_eq!(plan.payload.packages, [assize_job::Audio::package()]);
}

#[test]
fn rt_app_is_calibrated_on_the_exact_machine_unless_somebody_says_how() {
    let of = |more: &str, target: &str| {
        let text = format!(
            "title = \"x\"
            target = \"{target}\"
            [workloads.a]
            kind = \"periodic\"
            rt_app = \"a.json\"
            {more}
            [workloads.b]
            kind = \"periodic\"
            loops = [{{ name = \"l\" }}]"
        );
        let plan = plan(&text);
        let workloads = plan.configurations[0].workloads.iter();
        workloads
            .map(|workload| match &workload.kind {
                WorkloadKind::Periodic(periodic) => periodic.calibration_ns,
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    let exact = assize_job::Periodic::EXACT_CALIBRATION_NS;
    assert_eq!(of("", "exact"), [Some(exact), None]);
    assert_eq!(of("", "host"), [None, None]);
    assert_eq!(of("calibration = \"7ns\"", "exact"), [Some(7), None]);
}

#[test]
fn packages_are_carried_once_each() {
    let text = "title = \"x\"
        [workloads.a]
        kind = \"hackbench\"
        [payload]
        packages = [\"mpg123\", \"alsa-utils\", \"mpg123\"]";
    let packages = plan(text).payload.packages;
    let whole = |name: &str| assize_job::Package {
        name: name.into(),
        only: Vec::new(),
    };
    assert_eq!(packages, [whole("alsa-utils"), whole("mpg123")]);
}

#[test]
fn the_payload_has_what_everything_names() {
    let payload = plan(FULL).payload;
    assert_eq!(payload.programs, ["./copy", "cyclictest", "rmmod"]);
    assert_eq!(payload.modules, ["depq"]);
    assert_eq!(payload.files.len(), 1);
    let text = "title = \"x\"
        setup = [{ module = \"./a.ko\" }, { command = [\"insmod\", \"b\"] }]
        [workloads.a]
        kind = \"periodic\"
        rt_app = \"loops/two.json\"
        [workloads.b]
        kind = \"hackbench\"";
    let plan = plan(text);
    assert_eq!(plan.payload.programs, ["hackbench", "insmod", "rt-app"]);
    assert!(plan.payload.modules.is_empty());
    assert_eq!(plan.payload.module_files, ["./a.ko"]);
    assert_eq!(
        plan.payload.files,
        [("loops/two.json".into(), "/experiment/loops/two.json".into())]
    );
    let WorkloadKind::Periodic(periodic) = &plan.workloads[0].kind else {
        panic!();
    };
    assert_eq!(
        periodic.rt_app.as_deref(),
        Some("/experiment/loops/two.json")
    );
}

#[test]
fn a_plan_survives_being_written() {
    let plan = plan(FULL);
    let text = serde_json::to_string(&plan).unwrap();
    let again: assize_plan::Plan = serde_json::from_str(&text).unwrap();
    assert_eq!(again, plan);
}
