//! No text makes the parser panic, and every error names a line of the file.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_plan::{Overrides, parse};
use proptest::prelude::*;

use crate::common::FULL;

fn holds(text: &str) -> Result<(), TestCaseError> {
    match parse(text, "x.toml") {
        Ok(experiment) => {
            prop_assert!(experiment.plan(&Overrides::default()).is_ok());
        }
        Err(error) => {
            let line = error.line.map(|line| line as usize);
            let last = text.lines().count().max(1);
            prop_assert!(
                line.is_some_and(|line| (1..=last).contains(&line)),
                "{error}"
            );
            prop_assert!(error.column.is_some_and(|column| column >= 1));
            let shown = error.to_string();
            prop_assert!(shown.starts_with("x.toml:"), "{shown}");
            prop_assert!(!shown.contains('\n'), "{shown}");
            prop_assert!(!error.why.is_empty());
        }
    }
    Ok(())
}

/// Text fragments that are likely to provoke a mistake.
const PIECES: &[&str] = &[
    "",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\n",
    "\0",
    "\u{feff}",
    "é",
    "0",
    "-1",
    "9223372036854775807",
    "99999999999999999999",
    "1e9",
    "nan",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[[]]",
    "1979-05-27",
    "\"1ms\"",
    "\"1M\"",
    "\"9%\"",
    "\"off\"",
    "\"on\"",
    "factors",
    "factors.x",
    "workloads",
    "[factors.y.off]\n",
    "[factors.y.on]\n",
    "kind = \"hogs\"\n",
    "runs = 10000\n",
    "setup",
    "include = [{ load = \"hogs\" }]\n",
    "\"\\u0000\"",
    "#",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text(text in any::<String>()) {
        holds(&text)?;
    }

    #[test]
    fn pieces_of_toml(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..20)) {
        holds(&pieces.concat())?;
    }

    #[test]
    fn an_experiment_with_a_stretch_replaced(
        start: prop::sample::Index,
        length in 0_usize..40,
        piece in prop::sample::select(PIECES),
    ) {
        let characters: Vec<char> = FULL.chars().collect();
        let start = start.index(characters.len());
        let end = (start + length).min(characters.len());
        let before: String = characters[..start].iter().collect();
        let after: String = characters[end..].iter().collect();
        holds(&format!("{before}{piece}{after}"))?;
    }

    #[test]
    fn an_experiment_with_lines_moved(
        from: prop::sample::Index,
        to: prop::sample::Index,
        keep: bool,
    ) {
        let mut lines: Vec<&str> = FULL.lines().collect();
        let at = from.index(lines.len());
        let line = lines[at];
        if !keep {
            lines.remove(at);
        }
        lines.insert(to.index(lines.len() + 1), line);
        holds(&lines.join("\n"))?;
    }

    #[test]
    fn an_experiment_with_a_value_replaced(
        line: prop::sample::Index,
        piece in prop::sample::select(PIECES),
    ) {
        let mut lines: Vec<String> = FULL.lines().map(str::to_owned).collect();
        let at = line.index(lines.len());
        let key = lines[at].split_once('=').map(|(key, _)| key.to_owned());
        if let Some(key) = key {
            lines[at] = format!("{key}= {piece}");
        }
        holds(&lines.join("\r\n"))?;
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let text = format!("title = {}1{}", open.repeat(5000), close.repeat(5000));
        assert!(parse(&text, "x.toml").is_err());
    }
    let text = format!("{}title = 1", "a.".repeat(5000));
    assert!(parse(&text, "x.toml").is_err());
}

#[test]
fn large_numbers_of_things_are_refused_before_they_are_built() {
    let mut text = String::from("title = \"x\"\nruns = 10000\n[workloads.w]\nkind = \"hogs\"\n");
    for factor in 0..40 {
        text += &format!("[factors.f{factor}.off]\n[factors.f{factor}.on]\ncpus = 2\n");
    }
    let error = parse(&text, "x.toml").unwrap_err().to_string();
    assert!(error.contains("more than 1024 configurations"), "{error}");
}
