//! Settings of the kernel's tracers, and their checks.

use assize_job::{TracerKind, TracerMode, TracerSettings};
use serde::Deserialize;

use super::gaps::{CPUS, check_cpus};
use crate::values::document::TomlDocument;
use crate::values::error::Error;
use crate::values::keys::{KeySection, Word, duration, key};

/// The name of the table in the file.
const TABLE: &str = "tracer";
/// The kernel's time unit for these settings.
const MICROSECOND_NS: u64 = 1_000;
/// The shortest and the longest period of timerlat.
const PERIOD_NS: std::ops::RangeInclusive<u64> = 100_000..=1_000_000_000;

/// The `tracer` table as written in the file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTracer {
    cpus: Vec<u32>,
    threshold_ns: u64,
    window_ns: Option<u64>,
    width_ns: Option<u64>,
    mode: Option<TracerMode>,
    period_ns: Option<u64>,
}

/// The keys of `tracer`.
pub(crate) static KEYS: KeySection = KeySection {
    name: "tracer",
    keys: &[
        CPUS,
        key(
            "threshold",
            duration(1).or("10us"),
            "The shortest latency that counts; at least 2us for hwlat.",
        ),
        key(
            "window",
            duration(1).optional(),
            "hwlat, osnoise: each CPU is watched once per window. By default 1s (hwlat) or 100ms (osnoise).",
        ),
        key(
            "width",
            duration(1).optional(),
            "hwlat, osnoise: how long each CPU is watched per window. By default half the window (hwlat) or the whole window (osnoise).",
        ),
        key(
            "mode",
            Word(&["none", "round-robin", "per-cpu"]).optional(),
            "hwlat. none: one thread, which the tracer does not move. round-robin (the default): one thread, which moves to the next CPU after each window. per-cpu: one thread per CPU.",
        ),
        key(
            "period",
            duration(1).optional(),
            "timerlat: time between timers, 100us to 1s; by default 1ms.",
        ),
    ],
};

/// The tracer that the experiment uses; an error if it uses two.
fn requested_tracer(
    document: &TomlDocument,
    instruments: &[String],
) -> Result<Option<TracerKind>, Error> {
    let mut found: Option<TracerKind> = None;
    for (at, name) in instruments.iter().enumerate() {
        let Some(kind) = TracerKind::from_name(name) else {
            continue;
        };
        if let Some(other) = found {
            let why = format!(
                "{name} and {} would detect each other's activity: only one tracer can be used",
                other.word()
            );
            let error = document.error(&format!("instruments[{at}]"), why);
            return Err(error.mend("write one experiment for each tracer"));
        }
        found = Some(kind);
    }
    Ok(found)
}

/// The settings of the tracer that the experiment uses; `None` without a tracer.
pub(crate) fn settings(
    document: &TomlDocument,
    instruments: &[String],
    written: Option<&RawTracer>,
) -> Result<Option<TracerSettings>, Error> {
    let Some(kind) = requested_tracer(document, instruments)? else {
        return Ok(None);
    };
    let usual = TracerSettings::for_kind(kind);
    let Some(written) = written else {
        return Ok(Some(usual));
    };
    let window_ns = written.window_ns.unwrap_or(usual.window_ns);
    let width_ns = match kind {
        TracerKind::Hwlat => window_ns / 2 / MICROSECOND_NS * MICROSECOND_NS,
        TracerKind::Osnoise | TracerKind::Timerlat => window_ns,
    };
    Ok(Some(TracerSettings {
        cpus: written.cpus.clone(),
        threshold_ns: written.threshold_ns,
        window_ns,
        width_ns: written.width_ns.unwrap_or(width_ns),
        mode: written.mode.unwrap_or(usual.mode),
        period_ns: written.period_ns.unwrap_or(usual.period_ns),
    }))
}

/// Checks the settings; the error is the first mistake.
pub(crate) fn check(
    document: &TomlDocument,
    instruments: &[String],
    written: Option<&RawTracer>,
    fewest_cpus: Option<u32>,
) -> Result<(), Error> {
    let Some(written) = written else {
        return requested_tracer(document, instruments).map(|_| ());
    };
    let (Some(kind), Some(settings)) = (
        requested_tracer(document, instruments)?,
        settings(document, instruments, Some(written))?,
    ) else {
        let error = document.error(TABLE, "no tracer is requested");
        return Err(error.mend("add 'hwlat', 'osnoise' or 'timerlat' to instruments"));
    };
    if let Some(key) = unknown(kind, written) {
        let why = format!("{} has no such setting", kind.word());
        return Err(document
            .error(&format!("{TABLE}.{key}"), why)
            .mend("remove it"));
    }
    document.reject(TABLE, first_rejected(kind, &settings))?;
    check_cpus(document, TABLE, &settings.cpus, fewest_cpus)
}

/// The first key in the file that this kind of tracer lacks.
fn unknown(kind: TracerKind, written: &RawTracer) -> Option<&'static str> {
    let (is_hwlat, is_timerlat) = (kind == TracerKind::Hwlat, kind == TracerKind::Timerlat);
    [
        ("window", written.window_ns.is_some(), !is_timerlat),
        ("width", written.width_ns.is_some(), !is_timerlat),
        ("mode", written.mode.is_some(), is_hwlat),
        ("period", written.period_ns.is_some(), is_timerlat),
    ]
    .into_iter()
    .find_map(|(key, is_given, is_known)| (is_given && !is_known).then_some(key))
}

/// The first value that the kernel would reject: key, reason and correction.
fn first_rejected(
    kind: TracerKind,
    settings: &TracerSettings,
) -> Option<(&'static str, String, String)> {
    let uneven = |ns: u64| !ns.is_multiple_of(MICROSECOND_NS) || ns == 0;
    let times = [
        ("threshold", settings.threshold_ns),
        ("window", settings.window_ns),
        ("width", settings.width_ns),
        ("period", settings.period_ns),
    ];
    if let Some((key, _)) = times.into_iter().find(|(_, ns)| uneven(*ns)) {
        let why = "is not a whole number of microseconds";
        return Some((key, why.into(), "write for example 10us".into()));
    }
    if settings.threshold_ns < kind.threshold_ns_min() {
        let why = format!("{} cannot detect less than 2us", kind.word());
        return Some((
            "threshold",
            why,
            "use 2us or more, or the tracer osnoise".into(),
        ));
    }
    let (width, window) = (settings.width_ns, settings.window_ns);
    if kind == TracerKind::Hwlat && width >= window {
        let why = "leaves no time for anything else: hwlat runs with interrupts disabled";
        return Some((
            "width",
            why.into(),
            "make it shorter than the window".into(),
        ));
    }
    if width > window {
        let why = "is longer than the window";
        return Some(("width", why.into(), "make it at most the window".into()));
    }
    if settings.threshold_ns >= width {
        let why = "is not shorter than the width";
        return Some((
            "threshold",
            why.into(),
            "make it smaller, or the width longer".into(),
        ));
    }
    if kind == TracerKind::Timerlat && !PERIOD_NS.contains(&settings.period_ns) {
        let why = "is not between 100us and 1s, the kernel's limits";
        return Some(("period", why.into(), "write for example 1ms".into()));
    }
    None
}
