//! The summary of the tables, computed from the same figures.

use std::fmt::Write;

use super::share::Share;
use crate::validity::cases::{Case, Goal, Section};
use crate::validity::tally::Measure;

/// Questions about a single case, with the measures that answer them.
const QUESTIONS: [(&str, &str, Measure); 9] = [
    (
        "A claim about the best of 72 rows in which nothing differs is upheld",
        "claim/best-of-72",
        Measure::ClaimEstablished,
    ),
    (
        "An experiment as large as the one on the dependency queue, in which nothing\n  \
         differs, has a sentence that says something is higher or lower",
        "flagship/null",
        Measure::Directional,
    ),
    (
        "A sentence gives a direction where the table says `undecided`",
        "sentences/blocks-5",
        Measure::Contradicting,
    ),
    (
        "6 blocks find a difference of 20 % in 18 of 72 rows",
        "runs/blocks-72-6",
        Measure::Found,
    ),
    (
        "8 blocks find a difference of 10 % in 18 of 72 rows",
        "power/72-0-0.1-8",
        Measure::Found,
    ),
    (
        "8 blocks find a difference of 10 % in 3 of 10 rows",
        "power/10-0-0.1-8",
        Measure::Found,
    ),
    (
        "8 blocks find a difference of 5 % in 3 of 10 rows",
        "power/10-0-0.05-8",
        Measure::Found,
    ),
    (
        "8 blocks find a difference of 2 % in 3 of 10 rows",
        "power/10-0-0.02-8",
        Measure::Found,
    ),
    (
        "With 5 % of the runs of one side 1.6 times slower and 20 runs per side, the\n  \
         two are called `equivalent`",
        "slow/20",
        Measure::FalseEquivalent,
    ),
];

pub(super) fn write(out: &mut String, cases: &[Case]) {
    promises(out, cases, &super::broken(cases));
    for (question, name, measure) in QUESTIONS {
        let case = cases.iter().find(|case| case.name == name);
        if let Some(share) = case.and_then(|case| Share::of_measure(case, measure)) {
            let _ = writeln!(out, "- {question}: {} %.", share.with_interval());
        }
    }
    for (measure, what) in [
        (Measure::FalseEstablished, "is `established`"),
        (Measure::FalseFound, "is `established` or `supported`"),
        (Measure::Directional, "is given a direction by a sentence"),
    ] {
        worst(out, cases, measure, what);
    }
    alarms(out, cases);
    out.push('\n');
}

fn promises(out: &mut String, cases: &[Case], broken: &[String]) {
    let all = cases.iter().flat_map(|case| &case.shown);
    let made = all.filter(|(_, goal)| *goal != Goal::None).count();
    if broken.is_empty() {
        let _ = writeln!(
            out,
            "- None of {made} promises is broken by more than the simulation error\n  \
             (z = 3.5); more runs never find less."
        );
        return;
    }
    let _ = writeln!(
        out,
        "- Of {made} promises, and that more runs never find less, these are broken by\n  \
         more than the error of the simulation (z = 3.5):"
    );
    for promise in broken {
        let _ = writeln!(out, "  - {promise}");
    }
}

/// The worst document without any difference.
fn worst(out: &mut String, cases: &[Case], measure: Measure, what: &str) {
    let nulls = cases.iter().filter(|case| case.section == Section::Null);
    let shares = nulls.filter_map(|case| Some((case, Share::of_measure(case, measure)?)));
    if let Some((case, share)) = shares.max_by(|a, b| a.1.value().total_cmp(&b.1.value())) {
        let _ = writeln!(
            out,
            "- Where nothing differs, some row {what} in at most {} %\n  of documents ({}).",
            share.with_interval(),
            case.what
        );
    }
}

/// False alarms of other methods.
fn alarms(out: &mut String, cases: &[Case]) {
    let name = "null/72 rows, normal, 8 blocks";
    let Some(case) = cases.iter().find(|case| case.name == name) else {
        return;
    };
    let of = |measure| Share::of_measure(case, measure).map_or("–".into(), Share::plain);
    let _ = writeln!(
        out,
        "- With 72 rows of 8 blocks in which nothing differs, t tests of each row raise a false\n  \
         alarm in {} % of documents, benchstat in {} %, hyperfine's ± in {} %, assize in {} %.",
        of(Measure::PeerFalse(0)),
        of(Measure::PeerFalse(4)),
        of(Measure::PeerFalse(3)),
        of(Measure::FalseFound)
    );
}
