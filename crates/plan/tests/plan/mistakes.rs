//! The message for each kind of mistake.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use crate::common::mistake;

/// Files with one mistake each, after which `=> ` and the message follow.
const CASES: &str = include_str!("mistakes.txt");

#[test]
fn a_mistake_has_its_line_and_column() {
    let text = "title = \"x\"\nprimary = [\n  { metric = \"é\", better = \"up\" },\n]\n";
    let error = assize_plan::parse(text, "some/x.toml").unwrap_err();
    assert_eq!(error.place, "some/x.toml");
    assert_eq!((error.line, error.column), (Some(3), Some(28)));
    assert_eq!(error.key, "primary[0].better");
    // A file that ends too early has its mistake in its last line.
    let error = assize_plan::parse("title = \"x\"\nruns = [\n", "x").unwrap_err();
    assert_eq!(error.line, Some(2));
}

#[test]
fn each_mistake_has_its_message() {
    let mut told = String::new();
    for case in CASES.split_inclusive("\n\n") {
        let text = case.split("=> ").next().unwrap();
        told += &format!("{text}=> {}\n\n", mistake(text));
    }
    if std::env::var_os("ASSIZE_GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plan/mistakes.txt");
        std::fs::write(path, &told).unwrap();
        return;
    }
    for (told, wanted) in told.split("\n\n").zip(CASES.split("\n\n")) {
        assert_eq!(told, wanted);
    }
    assert!(CASES.matches("=> ").count() >= 90);
}
