//! Cases with one fault or one question each.

use super::{Case, Goal, Section};
use crate::validity::planted;
use crate::validity::source::Source;
use crate::validity::tally::Measure;
use crate::validity::trial::{Changed, Grid, Runs, Trial, metric_name, workload_name};

const FEW: Goal = Goal::NoMore(0.05);

fn single(
    name: &str,
    what: impl Into<String>,
    documents: [u32; 2],
    make: impl Fn(&mut Source) -> Trial + Send + Sync + 'static,
) -> Case {
    Case::new(Section::Single, name, what, documents, make)
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = chosen();
    cases.extend(sentences());
    cases.extend(spreads());
    cases.extend(shared_images());
    cases.extend(faults());
    cases.push(factors());
    cases.extend(events());
    cases.extend(equality());
    cases
}

/// Claims chosen among many rows.
fn chosen() -> Vec<Case> {
    let flagship = Grid {
        workloads: 9,
        configurations: 4,
        primary: 2,
        factors: true,
        ..Grid::rows(12, Runs::Blocks(6))
    };
    vec![
        single(
            "claim/best-of-72",
            "a claim on the best of 72 rows in which nothing differs, 8 blocks",
            [400, 60],
            |source| Trial {
                claims_best: true,
                ..Grid::seventy_two(Runs::Blocks(8)).trial(source)
            },
        )
        .shows(Measure::ClaimEstablished, FEW)
        .shows(Measure::ClaimUpheld, FEW),
        single(
            "claim/declared-null",
            "a claim declared beforehand on one of 72 rows in which nothing differs, 8 blocks",
            [400, 40],
            |source| declared(1.0, source),
        )
        .shows(Measure::ClaimUpheld, FEW),
        single(
            "claim/declared",
            "the same on a row that truly falls by 10 %",
            [400, 40],
            |source| declared(0.9, source),
        )
        .shows(Measure::ClaimUpheld, Goal::NoLess(0.8)),
        single(
            "flagship/null",
            "6 blocks of 5 configurations and 9 workloads, 72 primary rows and 360 others, \
             nothing differs",
            [400, 20],
            move |source| flagship.trial(source),
        )
        .shows(Measure::Directional, FEW)
        .shows(Measure::FalseEstablished, FEW),
    ]
}

/// Sentences about rows with arbitrary differences.
fn sentences() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, runs, how) in [
        ("sentences/blocks-5", Runs::Blocks(5), "5 blocks"),
        ("sentences/blocks-8", Runs::Blocks(8), "8 blocks"),
        ("sentences/free-4", Runs::Free(4), "4 runs in random order"),
    ] {
        let grid = Grid {
            workloads: 3,
            configurations: 3,
            changed: Changed::Anything(0.15),
            ..Grid::rows(4, runs)
        };
        let what = format!("any effects up to ±15 % in 36 rows, {how}");
        cases.push(
            single(name, what, [400, 60], move |source| grid.trial(source))
                .shows(Measure::Contradicting, Goal::Never),
        );
    }
    cases
}

/// 72 rows, of which only the first truly changes, and a claim that it falls.
fn declared(ratio: f64, source: &mut Source) -> Trial {
    let grid = Grid::rows(72, Runs::Blocks(8)).changed(Changed::Metrics(1, ratio));
    let mut trial = grid.trial(source);
    let claim = format!("c1 < base on {} in {}", metric_name(0), workload_name(0));
    trial.records.claims.push(claim);
    trial
}

/// Distributions that violate the assumptions of a test.
fn spreads() -> Vec<Case> {
    let mut cases = Vec::new();
    for runs in [2, 3] {
        cases.push(
            single(
                &format!("tied/{runs}"),
                format!("120 rows that count 0, 1 or 2, nothing differs, {runs} runs"),
                [400, 60],
                move |source| planted::tied(120, runs, source),
            )
            .shows(Measure::FalseFound, FEW),
        );
    }
    for (many, few) in [(20, 4), (5, 5), (8, 8)] {
        cases.push(
            single(
                &format!("spread/{many}-{few}"),
                format!("one row, {many} runs against {few} whose spread is four times as large"),
                [2000, 200],
                move |source| planted::unequal_spread(many, few, source),
            )
            .shows(Measure::FalseEstablished, FEW)
            .shows(Measure::FalseFound, FEW),
        );
    }
    cases
}

/// Blocks that share memory images, some of which favour one configuration.
fn shared_images() -> Vec<Case> {
    let mut cases = Vec::new();
    for (blocks, images) in [(16, 2), (16, 4), (24, 8)] {
        let case = |name: &str, what: &str, spread: f64, ratio: f64| {
            single(
                &format!("images/{blocks}-{images}{name}"),
                format!(
                    "one row, {blocks} blocks on {images} memory images that suit configurations \
                     by chance{what}"
                ),
                [2000, 200],
                move |source| planted::images((blocks, images), spread, ratio, source),
            )
        };
        cases.push(
            case("", "", planted::SPREAD, 1.0)
                .shows(Measure::FalseEstablished, FEW)
                .shows(Measure::FalseFound, FEW)
                .shows(Measure::Covered, Goal::NoLess(0.95)),
        );
        cases.push(
            case(
                "-1.012",
                ", 0.5 % each, a true difference of 1.2 %",
                0.005,
                1.012,
            )
            .shows(Measure::FalseEquivalent, FEW),
        );
    }
    let case = single(
        "images/24-8-0.85",
        "the same, a true difference of 15 %",
        [400, 40],
        |source| planted::images((24, 8), planted::SPREAD, 0.85, source),
    );
    cases.push(case.shows(Measure::Found, Goal::NoLess(0.8)));
    cases
}

/// Runs with systematic faults.
fn faults() -> Vec<Case> {
    vec![
        single(
            "drift/8",
            "one row, 8 runs of one configuration after 8 of the other, a drift of 0.09 \
             standard deviations a run",
            [2000, 200],
            |source| planted::drifting(8, 0.09, source),
        )
        .shows(Measure::FalseEstablished, FEW)
        .shows(Measure::DriftLint, Goal::None),
        single(
            "image/8",
            "one row, 8 blocks on one memory image, with which configurations differ by as \
             much as with a seed",
            [2000, 200],
            |source| planted::images((8, 1), planted::SPREAD, 1.0, source),
        )
        .shows(Measure::FalseEstablished, FEW),
        single(
            "images/8",
            "the same, each block on a memory image of its own",
            [2000, 200],
            |source| planted::images((8, 8), planted::SPREAD, 1.0, source),
        )
        .shows(Measure::FalseEstablished, FEW),
        single(
            "machines/3",
            "one row, 3 machines with 8 blocks each, true effects with a standard deviation \
             of 5 % about none",
            [2000, 200],
            |source| planted::machines(3, 8, 0.05, source),
        )
        .shows(Measure::FalseEstablished, FEW),
    ]
}

/// Effects of factors, with more variation between blocks than between runs.
fn factors() -> Case {
    let grid = Grid {
        configurations: 3,
        factors: true,
        block_spread: 0.2,
        changed: Changed::FirstFactor(1.05),
        ..Grid::rows(1, Runs::Blocks(8))
    };
    single(
        "factors/5",
        "two factors in 8 blocks that differ by 20 %; one changes 5 %, the other nothing",
        [1000, 100],
        move |source| grid.trial(source),
    )
    .shows(Measure::FactorFound, Goal::NoLess(0.8))
    .shows(Measure::FactorFalse, FEW)
}

fn events() -> Vec<Case> {
    let mut cases = Vec::new();
    for size in [1, 2, 3, 5] {
        let events = if size == 1 {
            "events one by one".to_owned()
        } else {
            format!("events in clusters of {size} on average")
        };
        let size = f64::from(size);
        for times in [false, true] {
            let how = if times { "with" } else { "without" };
            let what = format!("{events}, one count of each with the same rate, {how} times");
            cases.push(single(
                &format!("events/{size}-{how}"),
                what,
                [2000, 200],
                move |source| planted::events(size, times, source),
            ));
        }
        let what = format!("{events}, the same rate, counted in 8 blocks");
        let name = format!("events/{size}-runs");
        cases.push(single(&name, what, [2000, 100], move |source| {
            planted::events_of_runs(size, 8, source)
        }));
    }
    let rates = |case: Case| case.shows(Measure::RateEstablished, FEW);
    let rates = |case| rates(case).shows(Measure::RateFound, FEW);
    cases.into_iter().map(rates).collect()
}

/// Whether configurations are rightly called equivalent.
fn equality() -> Vec<Case> {
    let mut cases = Vec::new();
    for (runs, documents) in [
        (5, [1000, 100]),
        (8, [1000, 100]),
        (20, [200, 0]),
        (60, [200, 0]),
    ] {
        cases.push(
            single(
                &format!("slow/{runs}"),
                format!("one row, {runs} runs, 5 % of one side's 1.6 times slower: `equivalent`"),
                documents,
                move |source| planted::slow_runs(runs, 0.05, source),
            )
            .shows(Measure::FalseEquivalent, Goal::None),
        );
    }
    cases
}
