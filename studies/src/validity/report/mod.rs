//! The report, as Markdown without dates: the same seed gives the same bytes.

mod reading;
mod share;
mod tables;

use std::fmt::Write;

use super::cases::{Case, Goal, power};
use super::noise::Noise;
use share::{Share, goal};

/// The whole report.
pub(crate) fn text(cases: &[Case], seed: u64, quick: bool) -> String {
    let mut out = String::new();
    head(&mut out, seed, quick);
    reading::write(&mut out, cases, &broken(cases));
    tables::single(&mut out, cases);
    tables::runs(&mut out, cases);
    tables::power(&mut out, cases);
    tables::nulls(&mut out, cases);
    tables::alarms(&mut out, cases);
    // One newline at the end of the file.
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The goals that are missed.
pub(crate) fn broken(cases: &[Case]) -> Vec<String> {
    let mut broken = Vec::new();
    for case in cases {
        for &(measure, promised) in &case.shown {
            let found = match Share::of(case, measure) {
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

/// Designs in which more runs find less.
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

fn head(out: &mut String, seed: u64, quick: bool) {
    let command = if quick {
        format!("cargo studies validity --quick --seed {seed}")
    } else {
        format!("cargo studies validity --seed {seed} --write")
    };
    let _ = write!(
        out,
        "# How often the verdicts are wrong\n\n\
         After this page you know how often verdicts, sentences and claims are wrong, how often a\n\
         true difference is found, and how to repeat the simulation that measures both.\n\n\
         Written by `{command}`; the same seed gives the same bytes. Do not edit.\n\n\
         In simulated records it is known what differs. They are judged as every verb does, from\n\
         the records to the document, at α = 0.05, and the verdicts, sentences and claims that a\n\
         reader would see are counted. Unless stated otherwise, runs have a standard deviation of\n\
         3 %. All figures are per cent. In brackets is the 95 % interval (Wilson) of\n\
         the simulation itself; it counts documents, since the rows of one document\n\
         go together.\n\n\
         The noises, s being the standard deviation:\n\n"
    );
    for noise in Noise::ALL {
        let _ = writeln!(out, "- **{}**: {}.", noise.name(), noise.description());
    }
    out.push('\n');
}
