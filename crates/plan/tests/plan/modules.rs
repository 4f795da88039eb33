//! Modules of different levels are carried side by side, and no configuration
//! has two with the same name.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::collections::BTreeMap;

use assize_job::Action;

use crate::common::{mistake, plan};

/// An experiment with this top and two levels with these set-ups.
fn two(top: &str, one: &str, other: &str) -> String {
    format!(
        "title = \"x\"\n{top}\n\
         [factors.build.stock]\nsetup = [{one}]\n\
         [factors.build.slow]\nsetup = [{other}]\n\
         [workloads.w]\nkind = \"hackbench\"\n"
    )
}

const BY_NAME: &str = "{ module = \"gpu-sched\" }";
const STOCK: &str = "{ module = \"a/gpu-sched.ko\" }";
const SLOW: &str = "{ module = \"b/gpu-sched.ko\" }";

#[test]
fn files_of_one_name_are_carried_side_by_side() {
    let both = plan(&two("", STOCK, SLOW)).payload;
    assert_eq!(both.module_files, ["a/gpu-sched.ko", "b/gpu-sched.ko"]);
    assert!(both.modules.is_empty());
    let mixed = plan(&two("", BY_NAME, SLOW)).payload;
    assert_eq!(mixed.modules, ["gpu-sched"]);
    assert_eq!(mixed.module_files, ["b/gpu-sched.ko"]);
}

#[test]
fn two_modules_of_one_name_in_one_configuration_are_refused_with_both_sources() {
    let general = format!("setup = [{STOCK}]");
    let error = mistake(&two(&general, BY_NAME, "{ sysctl = \"a.b\", value = 1 }"));
    for word in [
        "a/gpu-sched.ko",
        "setup[0]",
        "gpu_sched",
        "factors.build.stock",
    ] {
        assert!(error.contains(word), "{word}: {error}");
    }
    let error = mistake(&two(&general, "{ sysctl = \"a.b\", value = 1 }", SLOW));
    assert!(
        error.contains("a/gpu-sched.ko and b/gpu-sched.ko"),
        "{error}"
    );
}

#[test]
fn a_file_of_the_payload_and_another_of_a_level_are_refused() {
    let text = two("", BY_NAME, SLOW) + "[payload]\nmodules = [\"a/gpu-sched.ko\"]\n";
    let error = mistake(&text);
    assert!(error.contains("payload.modules[0]"), "{error}");
    // A plain name means the file that the payload carries.
    plan(
        &(two("", BY_NAME, "{ sysctl = \"a.b\", value = 1 }")
            + "[payload]\nmodules = [\"a/gpu-sched.ko\"]\n"),
    );
    // If the payload contains the module by name, the level's file is used.
    plan(&(two("", BY_NAME, SLOW) + "[payload]\nmodules = [\"gpu-sched\"]\n"));
}

#[test]
fn one_name_in_two_spellings_is_one_step() {
    let general = "setup = [{ module = \"gpu_sched\", parameters = { a = 1 } }]";
    let both = plan(&two(
        general,
        "{ module = \"gpu-sched\", parameters = { b = 2 } }",
        BY_NAME,
    ));
    assert_eq!(both.configurations[0].setup.len(), 1);
    assert_eq!(both.configurations[1].setup.len(), 1);
}

#[test]
fn modules_that_every_set_up_begins_with_are_loaded_first() {
    let loads = |module: &str| Action::Module {
        module: module.into(),
        parameters: BTreeMap::new(),
    };
    let same = "setup = [{ module = \"simgpu\" }, { module = \"loop\", parameters = { a = 1 } }]";
    let sysctl = "{ sysctl = \"a.b\", value = 1 }";
    let varied = "{ module = \"zram-x\", parameters = { n = 2 } }";
    let payload = plan(&two(same, varied, &format!("{sysctl}, {BY_NAME}"))).payload;
    assert_eq!(payload.first.len(), 2);
    assert_eq!(payload.first[0], loads("simgpu"));
    assert!(
        matches!(&payload.first[1], Action::Module { parameters, .. }
        if parameters["a"] == "1")
    );
    // A module that other steps load without parameters is the same for all levels.
    assert_eq!(payload.varied, ["zram_x"]);
    assert_eq!(payload.always, ["loop", "simgpu"]);
    let none = |one: &str, other: &str| {
        let payload = plan(&two("", one, other)).payload;
        assert!(payload.first.is_empty(), "{one}, {other}");
        payload.always
    };
    assert_eq!(none(BY_NAME, SLOW), ["gpu_sched"]);
    assert_eq!(none(STOCK, SLOW), ["gpu_sched"]);
    assert_eq!(none(BY_NAME, varied), [""; 0]);
    none(
        &format!("{sysctl}, {BY_NAME}"),
        &format!("{sysctl}, {BY_NAME}, {varied}"),
    );
    none(
        BY_NAME,
        "{ module = \"gpu-sched\", parameters = { n = 2 } }",
    );
}
