//! The lines of fio's report for people, each by itself.

use crate::grammar::number::english;
use crate::grammar::{Figure, Taken};
use crate::roles::words::is_derived_row;

/// What one line says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said<'t> {
    /// `job: (groupid=0, jobs=4): err= 0: …`
    Job { name: &'t str, group: u32 },
    /// `read: IOPS=123k, BW=480MiB/s …`, with what stands before it.
    Rates {
        before: Option<&'t str>,
        direction: String,
        figures: Vec<Figure>,
    },
    /// `clat (usec): min=4, max=1056, avg=197.23, stdev=10.69`, with what stands
    /// before it.
    Latency {
        before: Option<&'t str>,
        name: &'static str,
        average: f64,
        unit: &'static str,
    },
    /// `Latencies for: Sender`, as programs print that do it the way fio does.
    Owner(&'t str),
    /// `clat percentiles (usec):`
    PercentileUnit(&'static str),
    /// `| 99.00th=[ 52], 99.50th=[ 59]`: those that are kept.
    Percentiles(Vec<(&'static str, f64)>),
    /// `READ: bw=480MiB/s …` of a whole group, with what somebody has noted
    /// behind it.
    Total {
        note: Option<&'t str>,
        direction: String,
        figures: Vec<Figure>,
    },
    /// Something else that fio prints.
    Other,
}

impl Said<'_> {
    pub(super) fn taken(&self) -> Taken {
        match self {
            Said::Job { .. } => "fio job",
            Said::Rates { .. } | Said::Total { .. } => "fio rates",
            Said::Latency { .. } => "fio latency",
            Said::PercentileUnit(_) | Said::Percentiles(_) => "fio percentiles",
            Said::Owner(_) | Said::Other => "fio",
        }
    }
}

const LONGEST: usize = 400;
pub(super) const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// Percentiles that are kept.
const KEPT: [&str; 5] = ["50.00", "95.00", "99.00", "99.90", "99.99"];
/// How lines begin that say nothing that is kept.
const OTHERS: [&str; 28] = [
    "bw (",
    "iops        :",
    "iops  :",
    "lat (nsec)   :",
    "lat (usec)   :",
    "lat (msec)   :",
    "lat (usec) :",
    "lat (msec) :",
    "cpu          :",
    "cpu :",
    "IO depths",
    "submit    :",
    "complete  :",
    "issued ",
    "issued:",
    "latency   :",
    "Run status group",
    "Disk stats",
    "fio-",
    "Starting ",
    "Jobs: ",
    "ios=",
    "sync (",
    "sync percentiles",
    "zone resets",
    "submit :",
    "complete :",
    "latency :",
];

/// What a line says, if it is one of fio's.
pub(super) fn said(text: &str) -> Option<Said<'_>> {
    let text = text.trim();
    if text.len() > LONGEST || text.len() < 6 {
        return None;
    }
    if let Some(rest) = text.strip_prefix('|') {
        return percentiles(rest);
    }
    if let Some(name) = text.strip_prefix("Latencies for: ") {
        return Some(Said::Owner(name));
    }
    job(text)
        .or_else(|| total(text))
        .or_else(|| latency(text))
        .or_else(|| rates(text))
        .or_else(|| other(text))
}

fn other(text: &str) -> Option<Said<'_>> {
    let banner = text.contains(": (g=") && text.contains("rw=");
    let disk = text
        .split_once(": ios=")
        .is_some_and(|(name, _)| !name.contains(' '));
    let known = OTHERS.iter().any(|start| text.starts_with(start));
    let status = text.starts_with("Run ") && text.ends_with(" (all jobs):");
    (banner || disk || known || status).then_some(Said::Other)
}

fn job(text: &str) -> Option<Said<'_>> {
    let (name, rest) = text.split_once(": (groupid=")?;
    let (group, rest) = rest.split_once(',')?;
    let fits = !name.is_empty() && rest.trim_start().starts_with("jobs=");
    let group = group.trim().parse().ok()?;
    fits.then_some(Said::Job { name, group })
}

/// A number with fio's suffix for thousands: `123k`, `1.5M`.
fn scaled(text: &str) -> Option<(f64, f64)> {
    let text = text.trim();
    let (digits, factor) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1e3),
        b'M' => (&text[..text.len() - 1], 1e6),
        b'G' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    let places = digits.split_once('.').map_or(0, |(_, d)| d.len().min(9));
    let step = factor / 10_f64.powi(i32::try_from(places).unwrap_or(0));
    Some((english(digits)? * factor, step))
}

/// The value behind `key=` up to a comma, a blank or a parenthesis.
fn value<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find(key) {
        let at = from + found;
        let alone = !text[..at].ends_with(|c: char| c.is_alphanumeric());
        let rest = text[at + key.len()..].strip_prefix('=');
        if let Some(rest) = rest.filter(|_| alone) {
            let rest = rest.trim_start();
            let end = rest.find([',', ' ', '(']).unwrap_or(rest.len());
            return Some(&rest[..end]);
        }
        from = at + key.len();
    }
    None
}

/// A bandwidth with its unit: `480MiB/s`; of old versions `53.1MB/s`, which are
/// MiB.
fn bandwidth(text: &str) -> Option<(f64, &'static str)> {
    const UNITS: [(&str, &str); 12] = [
        ("GiB/s", "GiB/s"),
        ("MiB/s", "MiB/s"),
        ("KiB/s", "KiB/s"),
        ("GB/s", "GB/s"),
        ("MB/s", "MB/s"),
        ("kB/s", "kB/s"),
        ("KB/s", "KB/s"),
        ("B/s", "B/s"),
        ("b/s", "b/s"),
        ("TiB/s", "TiB/s"),
        ("G/s", "GB/s"),
        ("M/s", "MB/s"),
    ];
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, *unit)))?;
    Some((english(digits.trim())?, unit))
}

fn figures(direction: &str, text: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    let iops = value(text, "IOPS").or_else(|| value(text, "iops"));
    if let Some((value, step)) = iops.and_then(scaled) {
        let mut figure = Figure::new(format!("{direction} iops"), value, "IOPS");
        figure.step = Some(step);
        figures.push(figure);
    }
    let keys = ["BW", "bw", "aggrb"];
    let bw = keys.iter().find_map(|key| value(text, key));
    if let Some((value, unit)) = bw.and_then(bandwidth) {
        figures.push(Figure::new(format!("{direction} bw"), value, unit));
    }
    figures
}

/// What the line of a whole group, or the rest of it that a mailer has wrapped, says of how
/// much was done in which time: `io=8136MiB (8531MB), run=245999-246658msec`. Of several
/// jobs the longest time counts.
pub(super) fn extent(direction: &str, text: &str) -> Vec<Figure> {
    let split = |text: &str| {
        let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
        Some((english(&text[..unit])?, text[unit..].to_owned()))
    };
    let size = value(text, "io").and_then(split);
    let size = size.filter(|(_, unit)| unit.len() <= 3 && unit.ends_with(['B', 'b']));
    let time = value(text, "run").or_else(|| value(text, "maxt"));
    let time = time.and_then(|text| split(text.rsplit('-').next()?));
    let time = time.filter(|(_, unit)| matches!(unit.as_str(), "msec" | "sec" | "usec"));
    let named = |what: &str, found: Option<(f64, String)>| {
        let (value, unit) = found?;
        Some(Figure::new(format!("{direction} {what}"), value, unit))
    };
    let figures = [named("io", size), named("run", time)];
    figures.into_iter().flatten().collect()
}

/// `read: IOPS=…`, `read : io=…, bw=…, iops=…`, `after :  read: IOPS=…`,
/// `before: IOPS=…, BW=…`.
fn rates(text: &str) -> Option<Said<'_>> {
    let keyed = text.contains("IOPS=") && text.contains("BW=")
        || text.contains("io=") && text.contains("bw=") && text.contains("iops=");
    let first = ["IOPS=", "io=", "BW="]
        .iter()
        .filter_map(|key| text.find(key))
        .min()?;
    if !keyed {
        return None;
    }
    let head = text[..first].trim_end().strip_suffix(':')?.trim_end();
    let word = head
        .rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let mut directions = DIRECTIONS.iter();
    let (direction, before) = match directions.find(|d| d.eq_ignore_ascii_case(word)) {
        Some(direction) => (*direction, head[..head.len() - word.len()].trim()),
        None => ("io", head),
    };
    let before = before
        .trim_end_matches([':', ' '])
        .trim_start_matches('(')
        .trim_end_matches(')')
        .trim();
    // `average: IOPS=546k` below its runs is no run.
    if is_derived_row(before) {
        return Some(Said::Other);
    }
    let before = Some(before).filter(|name| !name.is_empty());
    let few = before.is_none_or(|name| name.split_whitespace().count() <= 5);
    let figures = figures(direction, &text[first..]);
    (few && !figures.is_empty()).then(|| Said::Rates {
        before,
        direction: direction.to_owned(),
        figures,
    })
}

fn total(text: &str) -> Option<Said<'_>> {
    let (word, rest) = text.split_once(':')?;
    let direction = word.trim().to_ascii_lowercase();
    let upper = word.trim().bytes().all(|b| b.is_ascii_uppercase());
    if !upper || !DIRECTIONS.contains(&direction.as_str()) {
        return None;
    }
    let rest = rest.trim_start();
    let known = rest.starts_with("bw=") || rest.starts_with("io=");
    let mut figures = figures(&direction, rest);
    let measured = !figures.is_empty();
    figures.extend(extent(&direction, rest));
    let note = rest.split_once(" #").map(|(_, note)| note.trim());
    (known && measured).then_some(Said::Total {
        note,
        direction,
        figures,
    })
}

fn unit_in_parentheses(text: &str) -> Option<&'static str> {
    let (_, rest) = text.split_once('(')?;
    let unit = rest.split_once(')')?.0.trim();
    ["nsec", "usec", "msec", "sec"]
        .into_iter()
        .find(|u| *u == unit)
}

fn latency(text: &str) -> Option<Said<'_>> {
    // `before: clat (usec): …`
    let (before, text) = match text.split_once(':') {
        Some((head, rest)) if !head.contains('(') && rest.contains("lat") => {
            let head = head.trim();
            let few = (1..=3).contains(&head.split_whitespace().count());
            (Some(head).filter(|_| few), rest.trim_start())
        }
        _ => (None, text),
    };
    if text.starts_with("percentiles (") && text.trim_end().ends_with(':') {
        return unit_in_parentheses(text).map(Said::PercentileUnit);
    }
    let name = ["slat", "clat", "lat"].into_iter().find(|name| {
        text.strip_prefix(name)
            .is_some_and(|r| r.starts_with([' ', '(']))
    })?;
    let unit = unit_in_parentheses(text)?;
    if text.trim_end().ends_with(':') && text.contains("percentiles") {
        return Some(Said::PercentileUnit(unit));
    }
    let (average, _) = scaled(value(text, "avg")?)?;
    value(text, "min")?;
    Some(Said::Latency {
        before,
        name,
        average,
        unit,
    })
}

/// ` 99.00th=[   52], 99.50th=[   59],`
fn percentiles(text: &str) -> Option<Said<'_>> {
    if !text.contains("th=[") {
        return None;
    }
    let mut kept = Vec::new();
    for part in text.split(']') {
        let Some((percentile, value)) = part.split_once("th=[") else {
            continue;
        };
        let percentile = percentile.trim_start_matches([',', ' ']).trim();
        // Some versions print four digits.
        let digits = |text: &str| text.trim_end_matches('0').to_owned();
        let known = KEPT
            .into_iter()
            .find(|kept| digits(kept) == digits(percentile));
        if let (Some(percentile), Some(value)) = (known, english(value.trim())) {
            kept.push((percentile, value));
        }
    }
    Some(Said::Percentiles(kept))
}

/// Whether a line that is none of fio's stands in the middle of a report: one of
/// the next two is of the inside of one.
pub(super) fn is_inside(text: &str, next: [Option<&str>; 2]) -> bool {
    let inner = |text: &str| match said(text) {
        Some(Said::Latency { before, .. }) => before.is_none(),
        Some(Said::Percentiles(_) | Said::PercentileUnit(_)) => true,
        Some(Said::Other) => text.starts_with([' ', '\t']),
        _ => false,
    };
    let text = text.trim();
    let below = next
        .into_iter()
        .flatten()
        .take_while(|text| !text.trim().is_empty());
    !text.ends_with(':') && text.len() <= LONGEST && below.into_iter().any(inner)
}

/// Whether a mailer has wrapped a line: the next begins with what belongs into
/// it.
pub(super) fn goes_on(text: &str, next: Option<&str>) -> bool {
    let Some(next) = next.map(str::trim) else {
        return false;
    };
    let open = text.trim_end().ends_with([',', '=', '(', '-'])
        || text.contains("th=[") && !text.trim_end().ends_with([',', ']'])
        || text.matches('(').count() > text.matches(')').count();
    let rest = [
        "io=", "run=", "stdev=", "max=", "avg=", "samples=", "resets", "), ",
    ]
    .iter()
    .any(|start| next.starts_with(start))
        || next.ends_with("msec") && !next.contains(": ");
    !next.is_empty() && said(next).is_none() && (open || rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, f64, String)> {
        match said(text) {
            Some(Said::Rates { figures, .. } | Said::Total { figures, .. }) => figures
                .into_iter()
                .map(|f| (f.metric, f.value, f.unit))
                .collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn rates_of_all_versions_are_read() {
        let new = names("  read: IOPS=123k, BW=480MiB/s (503MB/s)(28.1GiB/60001msec)");
        assert_eq!(new[0], ("read iops".into(), 123_000.0, "IOPS".into()));
        assert_eq!(new[1], ("read bw".into(), 480.0, "MiB/s".into()));
        let old = names("  write: io=20480MB, bw=53.1MB/s, iops=13592 , runt= 38575msec");
        assert_eq!(old[0], ("write iops".into(), 13592.0, "IOPS".into()));
        assert_eq!(old[1], ("write bw".into(), 53.1, "MB/s".into()));
        let all = names("  READ: io=2048MB, aggrb=54373KB/s, minb=1KB/s, maxb=1KB/s, mint=1msec");
        assert_eq!(all[0], ("read bw".into(), 54373.0, "KB/s".into()));
        assert_eq!(all[1..], [("read io".into(), 2048.0, "MB".into())]);
    }

    #[test]
    fn how_much_a_group_did_in_which_time_is_read() {
        let all = names(
            "WRITE: bw=66.0MiB/s (69.2MB/s), 16.5MiB/s-16.6MiB/s (17.3MB/s-17.4MB/s), \
             io=16.0GiB (17.2GB), run=245999-246658msec",
        );
        let all: Vec<(&str, f64, &str)> =
            all.iter().map(|(m, v, u)| (&m[..], *v, &u[..])).collect();
        assert_eq!(
            all,
            [
                ("write bw", 66.0, "MiB/s"),
                ("write io", 16.0, "GiB"),
                ("write run", 246_658.0, "msec")
            ]
        );
        let old = extent(
            "read",
            "io=2048.0MB, aggrb=5KB/s, mint=1004msec, maxt=1007msec",
        );
        assert_eq!(old[1], Figure::new("read run", 1007.0, "msec"));
        for text in [
            "io=many, run=fast",
            "run=12-13",
            "ratio=3.0MB",
            "bw=66.0MiB/s",
        ] {
            assert!(extent("read", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn what_stands_before_the_rates_is_kept() {
        for (text, name) in [
            (
                "(passthru) read: IOPS=17.2k, BW=67.4MiB/s (70.6MB/s)",
                Some("passthru"),
            ),
            ("after :  read: IOPS=239, BW=960KiB/s", Some("after")),
            ("before: IOPS=37.9k, BW=148MiB/s", Some("before")),
            ("WRITE: IOPS= 670K BW=2745MiB/s", None),
            ("read: IOPS=17.2k, BW=67.4MiB/s", None),
        ] {
            let Some(Said::Rates { before, .. }) = said(text) else {
                panic!("{text}")
            };
            assert_eq!(before, name);
        }
        assert_eq!(said("average: IOPS=546k, BW=2132MiB/s"), Some(Said::Other));
        for text in [
            "wbps=4096 wseqiops=1 wrandiops=1",
            "IOPS=189.80K, BW=741MiB/s, IOS/call=4/3",
            "we saw that all reads together had: IOPS=1k, BW=1MiB/s",
        ] {
            assert!(!matches!(said(text), Some(Said::Rates { .. })), "{text}");
        }
    }
}
