//! Tests which grid of switches (factors that are on or off) is used for fitting
//! effects.
use assize_plan::{Overrides, Plan};

const GRID: &str = r#"
title = "t"
runs = 2
include = [{ queue = "old", bypass = "off", put = "worker" }, { queue = "new" }]
FACTORIAL

[factors.queue.old]
[factors.queue.new]
workload.w.environment = { Q = "1" }
[factors.bypass.off]
[factors.bypass.on]
workload.w.environment = { B = "1" }
[factors.put.worker]
[factors.put.irq]
workload.w.environment = { P = "1" }
[factors.put.submit]
workload.w.environment = { P = "2" }

[workloads.w]
kind = "command"
argv = ["true"]
"#;

fn planned(factorial: &str, overrides: &Overrides) -> Result<Plan, String> {
    let text = GRID.replace("FACTORIAL", factorial);
    let experiment = assize_plan::parse(&text, "x.toml").map_err(|error| error.to_string())?;
    experiment
        .plan(overrides)
        .map_err(|error| error.to_string())
}

#[test]
fn a_smaller_grid_is_fitted_in_a_larger_experiment() {
    let factorial =
        "factorial = { queue = 'new', bypass = ['off', 'on'], put = ['worker', 'irq'] }";
    let plan = planned(factorial, &Overrides::default()).unwrap();
    assert_eq!(plan.switches, ["bypass", "irq"]);
    let of_grid: Vec<(&str, Vec<bool>)> = plan
        .configurations
        .iter()
        .filter(|one| !one.switches.is_empty())
        .map(|one| (&*one.name, one.switches.values().copied().collect()))
        .collect();
    assert_eq!(
        of_grid,
        [
            ("new+worker", vec![false, false]),
            ("new+irq", vec![false, true]),
            ("new+bypass+worker", vec![true, false]),
            ("new+bypass+irq", vec![true, true]),
        ]
    );
    assert_eq!(plan.configurations.len(), 7);
}

#[test]
fn without_it_three_levels_are_no_grid() {
    let plan = planned("", &Overrides::default()).unwrap();
    assert!(plan.switches.is_empty());
    assert!(
        plan.configurations
            .iter()
            .all(|one| one.switches.is_empty())
    );
}

#[test]
fn a_grid_of_which_a_part_is_left_out_is_not_fitted() {
    let factorial =
        "factorial = { queue = 'new', bypass = ['off', 'on'], put = ['worker', 'irq'] }";
    let overrides = Overrides {
        levels: [("put".to_owned(), vec!["worker".to_owned()])]
            .into_iter()
            .collect(),
        ..Overrides::default()
    };
    assert!(planned(factorial, &overrides).unwrap().switches.is_empty());
}

#[test]
fn mistakes_name_their_place() {
    for (factorial, words) in [
        ("factorial = { bypas = ['off', 'on'] }", "no factor 'bypas'"),
        (
            "factorial = { put = ['worker', 'now'] }",
            "no level 'now' of put",
        ),
        (
            "factorial = { put = ['irq', 'irq'] }",
            "two different levels",
        ),
        (
            "factorial = { put = ['irq', 'submit', 'worker'] }",
            "two different levels",
        ),
        ("factorial = { put = ['worker', 'irq'] }", "fewer than two"),
        (
            "factorial = { bypass = ['off', 'on'], put = ['worker', 'irq'] }",
            "no configuration has bypass=on, put=worker",
        ),
    ] {
        let error = planned(factorial, &Overrides::default()).unwrap_err();
        assert!(error.contains(words), "{factorial}: {error}");
        assert!(error.starts_with("x.toml:"), "{error}");
    }
}
