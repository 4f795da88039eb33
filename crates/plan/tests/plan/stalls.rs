//! Injected stalls.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_job::{Action, StallKind, Stalls};

use crate::common::{SMALL, plan};

const GRID: &str = r#"
title = "Grid"
cpus = 2
setup = [{ sysctl = "kernel.x", value = 1 }]
[stalls]
length = ["1us", "20us"]
period = "250ms"
jitter = "50ms"
cpu = 1
[factors.stalls.smi]
[factors.stalls.rare]
stalls = { kind = "irqs-off", period = "1s" }
[workloads.w]
kind = "ping-pong"
"#;

#[test]
fn levels_change_a_part_and_the_module_is_loaded_first() {
    let plan = plan(GRID);
    let [smi, rare] = [0, 1].map(|at| plan.configurations[at].stalls.clone().unwrap());
    let wanted = Stalls {
        kind: StallKind::Smi,
        lengths_ns: vec![1000, 20_000],
        period_ns: 250_000_000,
        jitter_ns: 50_000_000,
        cpu: 1,
    };
    assert_eq!(smi, wanted);
    let wanted = Stalls {
        kind: StallKind::IrqsOff,
        period_ns: 1_000_000_000,
        ..wanted
    };
    assert_eq!(rare, wanted);
    let setup = &plan.configurations[1].setup;
    assert_eq!(setup[0], rare.module());
    assert!(matches!(setup[1], Action::Sysctl { .. }), "{setup:?}");
    assert_eq!(plan.payload.modules, ["simstall"]);
    let stalls: Vec<_> = (0..2)
        .map(|run| plan.order(run).unwrap().job.stalls)
        .collect();
    assert!(stalls.contains(&Some(smi)) && stalls.contains(&Some(rare)));
}

#[test]
fn who_plants_is_told_what_was_and_nobody_else() {
    assert!(plan(SMALL).instruments.is_empty());
    assert_eq!(plan(SMALL).configurations[0].stalls, None);
    assert_eq!(plan(GRID).instruments, ["planted-stalls"]);
    let named = format!("instruments = [\"planted-stalls\", \"proc-stat\"]\n{GRID}");
    assert_eq!(plan(&named).instruments, ["planted-stalls", "proc-stat"]);
    // If one level injects stalls, every configuration records what was
    // injected.
    let some = "[factors.stalls.none]\n[factors.stalls.some]\n\
                stalls = { length = \"1us\", period = \"1ms\" }\n";
    let plan = plan(&SMALL.replace("[workloads.w]", &format!("{some}[workloads.w]")));
    assert_eq!(plan.configurations[0].stalls, None);
    assert!(plan.configurations[1].stalls.is_some());
    assert_eq!(plan.instruments, ["planted-stalls"]);
}
