//! The tables.

use std::fmt::Write;

use super::share::{Share, goal};
use crate::validity::cases::{Case, Section, power};
use crate::validity::peers::PEERS;
use crate::validity::tally::Measure;

/// The share of true differences that a case finds.
pub(super) fn found(cases: &[Case], name: &str) -> Option<Share> {
    let case = cases.iter().find(|case| case.name == name)?;
    Share::of_measure(case, Measure::Found)
}

fn in_section(cases: &[Case], section: Section) -> impl Iterator<Item = &Case> {
    cases.iter().filter(move |case| case.section == section)
}

/// A share with its interval, or a dash.
fn share(case: &Case, measure: Measure) -> String {
    Share::of_measure(case, measure).map_or("–".into(), Share::with_interval)
}

/// A share alone, or a dash.
fn plain(case: &Case, measure: Measure) -> String {
    Share::of_measure(case, measure).map_or("–".into(), Share::plain)
}

fn head(out: &mut String, words: &[&str], columns: &[&str]) {
    let all: Vec<&str> = words.iter().chain(columns).copied().collect();
    let _ = writeln!(out, "| {} |", all.join(" | "));
    let (left, right) = ("---|".repeat(words.len()), "--:|".repeat(columns.len()));
    let _ = writeln!(out, "|{left}{right}");
}

/// Cases with one fault or question each.
pub(super) fn single(out: &mut String, cases: &[Case]) {
    promised(out, in_section(cases, Section::Single));
}

/// Cases in which runs crash.
pub(super) fn crashes(out: &mut String, cases: &[Case]) {
    promised(out, in_section(cases, Section::Crashes));
}

fn promised<'c>(out: &mut String, cases: impl Iterator<Item = &'c Case>) {
    let columns = ["documents", "found", "promised"];
    head(out, &["records", "counted"], &columns);
    for case in cases {
        for &(measure, promised) in &case.shown {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                case.what,
                measure.says(),
                case.tally.documents(),
                share(case, measure),
                goal(promised)
            );
        }
    }
    out.push('\n');
}

/// Designs with increasing numbers of runs.
pub(super) fn runs(out: &mut String, cases: &[Case]) {
    let columns = [
        "runs",
        "found",
        "`established`",
        "falsely `established`, any row",
    ];
    head(out, &["design"], &columns);
    for series in &power::SERIES {
        for &runs in series.runs {
            let name = power::of_series(series, runs);
            let Some(case) = cases.iter().find(|case| case.name == name) else {
                continue;
            };
            let _ = writeln!(
                out,
                "| {} | {runs} | {} | {} | {} |",
                series.what,
                share(case, Measure::Found),
                plain(case, Measure::Established),
                plain(case, Measure::FalseEstablished)
            );
        }
    }
    out.push('\n');
}

/// The power by effect, rows and blocks, next to that of other methods.
pub(super) fn power(out: &mut String, cases: &[Case]) {
    let mut columns = vec!["blocks", "assize"];
    columns.extend(PEERS);
    head(
        out,
        &["true differences", "correlation", "effect"],
        &columns,
    );
    for (rows, changed) in power::ROWS {
        for rho in power::CORRELATIONS {
            for effect in power::EFFECTS {
                for blocks in power::BLOCKS {
                    let name = power::of_table(rows, rho, effect, blocks);
                    let Some(case) = cases.iter().find(|case| case.name == name) else {
                        continue;
                    };
                    let peers: Vec<String> = (0..PEERS.len())
                        .map(|peer| plain(case, Measure::PeerFound(peer)))
                        .collect();
                    let _ = writeln!(
                        out,
                        "| {changed} of {rows} | {rho} | {:.0} % | {blocks} | {} | {} |",
                        100.0 * effect,
                        share(case, Measure::Found),
                        peers.join(" | ")
                    );
                }
            }
        }
    }
    out.push('\n');
}

/// Cases without any difference.
pub(super) fn nulls(out: &mut String, cases: &[Case]) {
    let columns = [
        "documents",
        "`established`",
        "or `supported`",
        "direction",
        "holds the truth",
        "`equivalent`",
    ];
    head(out, &["records"], &columns);
    for case in in_section(cases, Section::Null) {
        let _ = write!(out, "| {} | {} |", case.what, case.tally.documents());
        for measure in [
            Measure::FalseEstablished,
            Measure::FalseFound,
            Measure::Directional,
        ] {
            let _ = write!(out, " {} |", share(case, measure));
        }
        let _ = writeln!(
            out,
            " {} | {} |",
            plain(case, Measure::Covered),
            plain(case, Measure::Equivalent)
        );
    }
    out.push('\n');
}

/// False alarms of other methods.
pub(super) fn alarms(out: &mut String, cases: &[Case]) {
    let mut columns = vec!["assize"];
    columns.extend(PEERS);
    head(out, &["records"], &columns);
    let nulls = in_section(cases, Section::Null).filter(|case| case.with_peers);
    let mixed = in_section(cases, Section::Power).filter(|case| case.with_peers);
    let mixed = mixed.filter(|case| case.name.starts_with("power/72-0-0.1-"));
    for case in nulls.chain(mixed) {
        let alarms: Vec<String> = (0..PEERS.len())
            .map(|peer| plain(case, Measure::PeerFalse(peer)))
            .collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            case.what,
            plain(case, Measure::FalseEstablished),
            alarms.join(" | ")
        );
    }
    out.push('\n');
}
