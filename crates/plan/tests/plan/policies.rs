//! Placement policies: how they are written, and what runs get.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeMap;

use assize_job::{PlacementPolicy, PolicyForm};

use crate::common::{SMALL, mistake, plan};

fn policy(name: &str, form: PolicyForm, tunables: &[(&str, u64)]) -> PlacementPolicy {
    let tunables = tunables
        .iter()
        .map(|(name, value)| ((*name).into(), *value));
    PlacementPolicy {
        name: name.into(),
        form,
        tunables: tunables.collect(),
        argv: Vec::new(),
    }
}

fn planned_policy(policy: &str) -> Option<PlacementPolicy> {
    let plan = plan(&format!("policy = {policy}\n{SMALL}"));
    plan.order(0).unwrap().job.policy
}

#[test]
fn a_policy_of_ours_has_all_of_its_tunables() {
    let full = |fill| {
        policy(
            "pack-full",
            PolicyForm::Ours,
            &[("fill", fill), ("slice", 4_000_000)],
        )
    };
    assert_eq!(planned_policy("\"pack-full\""), Some(full(819)));
    assert_eq!(planned_policy("{ name = \"pack-full\" }"), Some(full(819)));
    assert_eq!(
        planned_policy("{ name = \"pack-full\", fill = \"50%\" }"),
        Some(full(512))
    );
    // Writing the default explicitly changes nothing.
    assert_eq!(
        planned_policy("{ name = \"pack-full\", fill = \"80%\", slice = \"4ms\" }"),
        Some(full(819))
    );
    let power = planned_policy("{ name = \"power\", domain = 4 }").unwrap();
    assert_eq!(power.tunables["domain"], 4);
}

#[test]
fn objects_and_programs_are_taken_as_they_are() {
    let object = policy("a/x.bpf.o", PolicyForm::Object, &[]);
    assert_eq!(planned_policy("\"a/x.bpf.o\""), Some(object));
    let object = policy("x.bpf.o", PolicyForm::Object, &[("depth", 0)]);
    assert_eq!(
        planned_policy("{ name = \"x.bpf.o\", depth = 0 }"),
        Some(object)
    );
    let program = planned_policy("{ program = \"scx_x\", arguments = [\"-v\", \"\"] }").unwrap();
    assert_eq!(program.form, PolicyForm::Program);
    assert_eq!(program.argv, ["scx_x", "-v", ""]);
}

#[test]
fn without_a_policy_orders_are_what_they_were() {
    assert_eq!(planned_policy("\"none\""), None);
    let order = plan(SMALL).order(0).unwrap();
    let text = serde_json::to_string(&order).unwrap();
    assert!(
        !text.contains("policies") && !text.contains("\"policy\":{"),
        "{text}"
    );
}

#[test]
fn a_level_has_its_own_policy_and_all_runs_carry_every_one() {
    let text = format!(
        "policy = \"spread\"\n{SMALL}\
         [factors.policy.spread]\n\
         [factors.policy.none]\npolicy = \"none\"\n\
         [factors.policy.tight]\npolicy = {{ name = \"pack-full\", fill = \"95%\" }}\n\
         [factors.policy.scx]\npolicy.program = \"scx_x\"\n"
    );
    let plan = plan(&text);
    let named: BTreeMap<&str, Option<&str>> = plan
        .configurations
        .iter()
        .map(|one| {
            let policy = one.policy.as_ref();
            (one.name.as_str(), policy.map(|policy| policy.name.as_str()))
        })
        .collect();
    let wanted = [
        ("none", None),
        ("scx", Some("scx_x")),
        ("spread", Some("spread")),
        ("tight", Some("pack-full")),
    ];
    assert_eq!(named, wanted.into());
    let carried = plan.payload.policies.iter();
    let carried: Vec<&str> = carried.map(|policy| policy.name.as_str()).collect();
    assert_eq!(carried, ["pack-full", "scx_x", "spread"]);
    assert!(plan.payload.programs.contains(&"scx_x".to_owned()));
}

#[test]
fn two_factors_cannot_both_have_a_policy() {
    let text = format!(
        "{SMALL}[factors.a.x]\npolicy = \"spread\"\n[factors.a.y]\n\
         [factors.b.x]\npolicy = \"power\"\n[factors.b.y]\n"
    );
    let said = mistake(&text);
    assert!(
        said.contains("sets the placement policy to 'power"),
        "{said}"
    );
}
