//! The results of `assize when` that a bundle keeps: a curve, and the first differences on each
//! CPU.

use assize_why::When;
use assize_why::when::{PathStep, WhenAnswer};
use serde::Serialize;

use super::page::ReportPage;
use crate::when::{milliseconds, percent, when_sentences};

/// Margin at both ends of the curve, in per cent of the width.
const EDGE: f64 = 4.0;

/// One result.
#[derive(Debug, Serialize)]
pub(super) struct MomentsView {
    run: u32,
    title: String,
    sentences: Vec<String>,
    points: Vec<MomentPoint>,
    /// The moments between which the end became certain, in per cent of the width.
    decided: Option<[f64; 2]>,
    paths: Vec<PathView>,
    commands: Vec<String>,
}

#[derive(Debug, Serialize)]
struct MomentPoint {
    /// Position, in per cent of the width.
    x: f64,
    /// The share and the ends of its interval, in per cent of the height from the top.
    y: f64,
    low: f64,
    high: f64,
    time: String,
    bad: u32,
    draws: u32,
    share: String,
    interval: String,
}

#[derive(Debug, Serialize)]
struct PathView {
    title: String,
    rows: Vec<[String; 3]>,
}

/// The results on runs of the document.
pub(super) fn moments(page: &ReportPage<'_>) -> Vec<MomentsView> {
    let all = page.attributions.moments.iter();
    all.map(|when| view(page, when)).collect()
}

fn view(page: &ReportPage<'_>, when: &When) -> MomentsView {
    let last = when.moments.len().saturating_sub(1).max(1);
    let across = |at: usize| EDGE + (100.0 - 2.0 * EDGE) * at as f64 / last as f64;
    let points: Vec<MomentPoint> = when
        .moments
        .iter()
        .enumerate()
        .map(|(at, moment)| {
            let share = &moment.share;
            let part = f64::from(share.bad) / f64::from(share.draws.max(1));
            MomentPoint {
                x: across(at),
                y: 100.0 * (1.0 - part),
                low: 100.0 * (1.0 - share.low),
                high: 100.0 * (1.0 - share.high),
                time: milliseconds(moment.time_ns),
                bad: share.bad,
                draws: share.draws,
                share: percent(share),
                interval: format!("{:.0}–{:.0}", share.low * 100.0, share.high * 100.0),
            }
        })
        .collect();
    let decided = match &when.answer {
        WhenAnswer::Moment { open_ns, .. } => {
            let all = when.moments.iter();
            let open = all.take_while(|one| one.time_ns <= *open_ns).count();
            let open = open.saturating_sub(1);
            Some([across(open), across(open + 1) - across(open)])
        }
        _ => None,
    };
    let shell = page.attributions.shell.as_ref();
    let commands = shell.map_or_else(Vec::new, |shell| {
        let open = match &when.answer {
            WhenAnswer::Moment { open_ns, .. } => Some(format!("{open_ns}ns")),
            _ => None,
        };
        vec![shell.debug(when.run, open.as_deref())]
    });
    MomentsView {
        run: when.run,
        title: format!(
            "Run {}: {} on {}",
            when.run, when.configuration, when.workload
        ),
        sentences: when_sentences(when),
        points,
        decided,
        paths: paths(when),
        commands,
    }
}

fn paths(when: &When) -> Vec<PathView> {
    let Some(parting) = &when.parting else {
        return Vec::new();
    };
    let functions = parting.cpus.iter().map(|one| (one, "functions"));
    let events = parting.events.iter().map(|one| (one, "events"));
    functions
        .chain(events)
        .map(|(one, what)| PathView {
            title: format!("CPU {}, {what}", one.cpu),
            rows: {
                let said = |step: Option<&PathStep>| {
                    step.map_or_else(String::new, |step| {
                        format!("{} {}", milliseconds(step.time_ns), step.what)
                    })
                };
                let both = one.common.iter().map(|step| {
                    let text = said(Some(step));
                    ["both".into(), text.clone(), text]
                });
                let most = one.bad.len().max(one.good.len());
                let apart = (0..most).map(|at| {
                    let (bad, good) = (one.bad.get(at), one.good.get(at));
                    [String::new(), said(bad), said(good)]
                });
                both.chain(apart).collect()
            },
        })
        .collect()
}
