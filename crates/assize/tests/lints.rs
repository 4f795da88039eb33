//! The list of lint codes agrees with the sources and with docs/lints.md.

use std::collections::BTreeSet;
use std::fs;

use assize_verdict::LINTS;
use regex::Regex;

use crate::common::{root, sources};

const PAGE: &str = "docs/lints.md";
const HEAD: &str = "\
# Lints

A lint is a defect of the data, with a code, a place and a sentence with the figures.
`--fail-on CODE` makes the exit status 1 if a verdict has a lint with this code,
`--fail-on lint` if it has any. A test writes this page from
`crates/verdict/src/lints/codes.rs`.

";

#[test]
fn the_page_has_every_code() {
    let rows = LINTS
        .iter()
        .map(|(code, says)| format!("- `{code}`: {says}\n"));
    let text = HEAD.to_owned() + &rows.collect::<String>();
    let path = root().join(PAGE);
    if std::env::var_os("ASSIZE_GOLDEN").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, text, "{PAGE} is out of date: cargo xtask golden");
}

#[test]
fn codes_are_in_order_and_there_once() {
    let codes: Vec<&str> = LINTS.iter().map(|(code, _)| *code).collect();
    assert!(codes.is_sorted());
    assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len());
}

/// All lints and doubts in the sources are in the list, and no others: a code that `--fail-on`
/// accepts but that never occurs is as bad as an unknown one.
#[test]
fn the_list_holds_what_the_sources_say() {
    let listed: BTreeSet<&str> = LINTS.iter().map(|(code, _)| *code).collect();
    let texts = sources(&["agent", "assize", "audit", "bundle", "target", "verdict"]);
    let made = Regex::new(
        r#"(?:\b(?:lint|doubt|Doubt|leave_out)\([^;"]{0,120}|\bcode(?::| =) )"([a-z]+(?:-[a-z]+)*)""#,
    )
    .unwrap();
    let mut said = BTreeSet::new();
    for text in &texts {
        said.extend(made.captures_iter(text).map(|found| found[1].to_owned()));
    }
    assert!(said.len() > 40, "{said:?}");
    let unknown: Vec<&String> = said
        .iter()
        .filter(|code| !listed.contains(code.as_str()))
        .collect();
    assert!(unknown.is_empty(), "add to LINTS: {unknown:?}");
    let quoted = |code: &str| {
        let literal = format!("\"{code}\"");
        texts.iter().filter(|text| text.contains(&literal)).count()
    };
    let never: Vec<&&str> = listed.iter().filter(|code| quoted(code) < 2).collect();
    assert!(never.is_empty(), "nothing says these: {never:?}");
}
