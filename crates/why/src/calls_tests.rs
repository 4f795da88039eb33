#![allow(clippy::unwrap_used)] // A test may fail.

use super::*;
use crate::Subsystems;
use crate::counts::tests::TEXT;
use crate::programs::InstructionNames;

const KALLSYMS: &str = "ffffffff81000000 t schedule\nffffffff81000005 t mystery\n";

fn calls_of(text: &str) -> Result<Calls, Error> {
    let counts = RunCounts::parse(text)?;
    let symbols = Symbols::parse(KALLSYMS)?;
    let profile = Profile::from_counts(
        &counts,
        &symbols,
        &InstructionNames::default(),
        &Subsystems::shipped(),
    );
    Calls::from_counts(&counts, &symbols, &profile)
}

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn callees_and_own_instructions_are_all_that_was_counted() {
    let calls = calls_of(TEXT).unwrap();
    let thread = &calls.threads["a b"];
    assert_eq!(thread.inclusive(), 45);
    // Nodes with the same name and caller are merged.
    let schedule = &thread.callees["schedule"];
    assert_eq!((schedule.own, schedule.entered), (28, 2));
    assert_eq!(schedule.inclusive(), 38);
    assert_eq!(thread.callees[USER].own, 7);
    assert_eq!(
        calls.folded(),
        "a b;schedule 28\na b;schedule;mystery 10\na b;user space 7\n"
    );
}

#[test]
fn a_function_has_what_it_calls_once_however_often_it_calls_itself() {
    let text = TEXT.replace(
        "node 1 ffffffff81000005 10 3\n",
        "node 1 ffffffff81000005 10 3\nnode 2 ffffffff81000000 0 5\n",
    );
    let calls = calls_of(&text).unwrap();
    let share = |all: &[&str]| calls.share(&names(all));
    let want = |inclusive, own, entered| CallShare {
        inclusive,
        own,
        entered,
    };
    assert_eq!(share(&["schedule"]), want(38, 28, 7));
    assert_eq!(share(&["mystery"]), want(10, 10, 3));
    assert_eq!(share(&["schedule", "mystery"]), want(38, 38, 10));
    assert_eq!(share(&["nobody"]), want(0, 0, 0));
}

#[test]
fn trees_that_do_not_hold_what_was_counted_are_refused() {
    for (from, to) in [
        (
            "node 1 ffffffff81000005 10 3",
            "node 1 ffffffff81000005 11 3",
        ),
        (
            "node 1 ffffffff81000005 10 3",
            "node 1 ffffffff81000000 10 3",
        ),
        ("node 0 0 7 2\n", ""),
        ("root 1", "root 0"),
    ] {
        let error = calls_of(&TEXT.replace(from, to)).unwrap_err();
        assert!(matches!(error, Error::Trees { .. }), "{error}");
    }
}
