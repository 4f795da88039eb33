//! Renders verdicts as an HTML page, a plain-text mail, a short terminal summary, JSON or
//! CSV, and as test results for CI.
//!
//! Every format shows the same [`Document`]; none computes anything. The text report is
//! at most 72 columns wide, starts with the answer and ends with the command that
//! reproduces it.
//!
//! [`Document`]: assize_verdict::Document

mod bisection;
mod brief;
mod checks;
mod contrasts;
mod csv;
pub mod html;
mod hunt;
mod json;
mod number;
mod printable;
mod readable;
mod series;
mod style;
mod text;
mod trend;
mod when;
mod why;
mod wrap;

pub use bisection::{
    BISECTION, BISECTION_LINES, Bisection, BisectionAnswer, BisectionFigure, ClaimVerdict, Culprit,
    TriedCommit, TriedResult, bisection_json, bisection_text,
};
pub use brief::{Brief, brief};
pub use checks::{
    Check, CheckFinding, CheckState, Checks, FindingSubject, MORE_OFTEN, github, gitlab, junit,
    kcidb, ktap, markdown,
};
pub use contrasts::{MetricWords, describe_outcome, outcome_figures};
pub use csv::csv;
pub use hunt::{
    FailureRate, FoundDelay, FoundFailure, FoundSchedule, HUNT, HUNT_LIMITS, Hunt, HuntAnswer,
    HuntComparison, HuntedSide, OtherFailure, excluded, hunt, hunt_json,
};
pub use json::{json, word};
pub use number::{ratio, significant};
pub use printable::printable;
pub use series::{
    EffectReading, LINES, PatchEffect, PatchName, PatchOutcome, SERIES, SeriesReport, TriedPatch,
    series_json, series_text,
};
pub use style::Style;
pub use text::text;
pub use trend::{
    SkippedBundle, TREND, Trend, TrendInput, TrendPoint, TrendSeries, TrendStep, trend_json,
    trend_text,
};
pub use when::{milliseconds, when};
pub use why::why;
pub use wrap::WIDTH;
