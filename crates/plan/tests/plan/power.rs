//! Idle states and frequencies, and what they need.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_job::{Action, FrequencyGovernor, Idle, IdleGovernor};
use assize_plan::{Plan, PlannedConfiguration};

use crate::common::{SMALL, plan};

const GRID: &str = r#"
title = "Grid"
setup = [{ module = "simgpu" }, { sysctl = "kernel.x", value = 1 }]
[idle]
states = "server"
package_idle = "1W"
[factors.governor.menu]
[factors.governor.ladder]
idle.governor = "ladder"
[factors.frequency.none]
[factors.frequency.ondemand]
frequency = { governor = "ondemand", domain = 2 }
[workloads.w]
kind = "ping-pong"
"#;

fn named<'p>(plan: &'p Plan, name: &str) -> &'p PlannedConfiguration {
    let mut all = plan.configurations.iter();
    let found = all.find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("no {name}: {:?}", plan.configurations))
}

fn modules(configuration: &PlannedConfiguration) -> Vec<&str> {
    let steps = configuration.setup.iter().map(|step| match step {
        Action::Module { module, .. } => module.as_str(),
        _ => "-",
    });
    steps.collect()
}

fn idle(configuration: &PlannedConfiguration) -> &Idle {
    configuration.idle.as_ref().unwrap()
}

#[test]
fn nothing_is_declared_unless_somebody_does() {
    let small = plan(SMALL);
    assert_eq!(small.configurations[0].idle, None);
    assert_eq!(small.configurations[0].frequency, None);
    assert!(small.payload.modules.is_empty());
    let bare = plan(&SMALL.replace("[workloads.w]", "[idle]\n[workloads.w]"));
    let idle = idle(&bare.configurations[0]).clone();
    assert_eq!(idle.states.len(), 3);
    assert_eq!(bare.payload.modules, ["simidle"]);
    assert_eq!(bare.order(0).unwrap().job.idle, Some(idle));
}

#[test]
fn levels_change_a_part_and_modules_are_loaded_before_other_steps() {
    let plan = plan(GRID);
    let base = named(&plan, "menu+none");
    assert_eq!(modules(base), ["simgpu", "simidle", "-"]);
    assert_eq!(idle(base).governor, IdleGovernor::Menu);
    assert_eq!(idle(base).package_uw, 40_000_000);
    assert_eq!(idle(base).package_idle_uw, 1_000_000);
    let both = named(&plan, "ladder+ondemand");
    let loaded = ["simgpu", "simidle", "simfreq", "cpufreq_ondemand", "-"];
    assert_eq!(modules(both), loaded);
    assert_eq!(idle(both).governor, IdleGovernor::Ladder);
    let states = &idle(both).states;
    assert_eq!(*states, idle(base).states);
    let frequency = both.frequency.as_ref().unwrap();
    assert_eq!(frequency.governor, FrequencyGovernor::Ondemand);
    assert_eq!(frequency.domain, 2);
    // One memory image serves all governors: the states are the same.
    let first: Vec<&Action> = plan.payload.first.iter().collect();
    assert_eq!(first.len(), 2, "{first:?}");
}

#[test]
fn states_of_ones_own_pay_from_their_residency_on_unless_it_is_said() {
    let text = format!(
        "{SMALL}[idle]\nactive = \"1W\"\nstates = [{}, {}, {}]\n",
        r#"{ name = "a", residency = "0ns", exit = "0ns", power = "100mW" }"#,
        r#"{ name = "b", residency = "1ms", exit = "50us", power = "40mW" }"#,
        r#"{ name = "c", residency = "2ms", exit = "50us", power = "10mW", transition = "7uJ" }"#,
    );
    let plan = plan(&text);
    let idle = idle(&plan.configurations[0]);
    let transitions: Vec<u64> = idle.states.iter().map(|it| it.transition_nj).collect();
    // 1 ms at 60 mW is 60 uJ.
    assert_eq!(transitions, [0, 60_000, 7_000]);
    assert_eq!((idle.active_uw, idle.package_uw), (1_000_000, 0));
}
