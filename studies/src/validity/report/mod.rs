//! The report as Markdown without dates: the same seed gives the same bytes.

mod reading;
mod share;
mod tables;

use super::cases::{Case, Goal, power};
use super::{PAGE, TABLES};
use share::{Share, goal};

/// A function that writes a part of the report.
type Make = fn(&mut String, &[Case]);

/// The parts of the report, with their page and name.
const PARTS: [(&str, &str, Make); 7] = [
    (PAGE, "reading", reading::write),
    (TABLES, "crashes", tables::crashes),
    (TABLES, "faults", tables::single),
    (TABLES, "runs", tables::runs),
    (TABLES, "power", tables::power),
    (TABLES, "nulls", tables::nulls),
    (TABLES, "alarms", tables::alarms),
];

/// All parts: page, mark there, and text.
pub(crate) fn parts(cases: &[Case]) -> impl Iterator<Item = (&'static str, String, String)> {
    PARTS.iter().map(|(page, name, make)| {
        let mut text = String::from("\n\n");
        make(&mut text, cases);
        (*page, format!("made: {name}"), text)
    })
}

/// The goals that are missed.
pub(crate) fn broken(cases: &[Case]) -> Vec<String> {
    let mut broken = Vec::new();
    for case in cases {
        for &(measure, promised) in &case.shown {
            let found = match Share::of_measure(case, measure) {
                _ if promised == Goal::None => continue,
                None => "never counted".to_owned(),
                Some(share) if share.breaks(promised) => format!("{} %", share.with_interval()),
                Some(_) => continue,
            };
            broken.push(format!(
                "{}: {}: {found}, promised {} %",
                case.what,
                measure.says(),
                goal(promised)
            ));
        }
    }
    broken.extend(cliffs(cases));
    broken
}

/// Designs in which more runs find fewer differences.
fn cliffs(cases: &[Case]) -> Vec<String> {
    let mut cliffs = Vec::new();
    for series in &power::SERIES {
        let found = |runs: usize| tables::found(cases, &power::of_series(series, runs));
        let mut best: Option<(usize, Share)> = None;
        for &runs in series.runs {
            let Some(share) = found(runs) else {
                continue;
            };
            if let Some((fewer, more)) = best
                && share.is_below(more)
            {
                cliffs.push(format!(
                    "{}: {runs} runs find {} %, {fewer} runs {} %",
                    series.what,
                    share.plain(),
                    more.plain()
                ));
            }
            if best.is_none_or(|(_, most)| share.value() > most.value()) {
                best = Some((runs, share));
            }
        }
    }
    cliffs
}
