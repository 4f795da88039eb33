//! Units of what is measured.

/// Units of time, with their power of ten in seconds; minutes have none.
const TIMES: [(&str, Option<i32>); 5] = [
    ("ns|nsec|nsecs|nanosecond|nanoseconds", Some(-9)),
    (
        "us|\u{b5}s|\u{3bc}s|usec|usecs|microsecond|microseconds",
        Some(-6),
    ),
    ("ms|msec|msecs|millisecond|milliseconds", Some(-3)),
    ("s|sec|secs|second|seconds", Some(0)),
    ("min|mins|minute|minutes", None),
];

/// Units of rates, energies and other measurements, except quotients. Sizes are left out:
/// they are seldom measured and often configured.
const MEASURES: [&str; 29] = [
    "mbps", "gbps", "kbps", "Kbps", "Mbps", "Gbps", "MBps", "GBps", "IOPS", "iops", "IOps",
    "KIOPS", "MIOPS", "ops", "tps", "TPS", "qps", "QPS", "rps", "RPS", "fps", "FPS", "pps",
    "cycles", "J", "Joules", "W", "mW", "Watts",
];

/// The power of ten that converts a time in this unit to seconds.
pub(crate) fn power_of_seconds(unit: &str) -> Option<i32> {
    // `17 Seconds`
    let is = |name: &str| name == unit || name.len() > 3 && name.eq_ignore_ascii_case(unit);
    let mut known = TIMES.iter();
    let (_, power) = known.find(|(names, _)| names.split('|').any(is))?;
    *power
}

/// The power of thousands of an SI prefix: `500m/s` is 0.5 per second.
pub(crate) fn thousands(prefix: &str) -> Option<i32> {
    const ALL: [&str; 11] = [
        "p",
        "n",
        "u|\u{b5}|\u{3bc}",
        "m",
        "",
        "k|K",
        "M",
        "G",
        "T",
        "P",
        "E",
    ];
    let at = ALL
        .iter()
        .position(|all| all.split('|').any(|one| one == prefix))?;
    i32::try_from(at).ok().map(|at| at - 4)
}

/// Whether a word is a unit of time.
pub(crate) fn is_time(word: &str) -> bool {
    let mut all = TIMES.iter().flat_map(|(names, _)| names.split('|'));
    word.len() <= 12 && all.any(|name| name.eq_ignore_ascii_case(word))
}

/// Whether a word is a unit of what is measured: a time, a rate, an energy.
pub(crate) fn is_measure(word: &str) -> bool {
    is_time(word) || MEASURES.contains(&word) || is_quotient(word)
}

/// Whether a word is a time per item or an amount per time: `ns/op`, `MB/s`.
pub(crate) fn is_quotient(word: &str) -> bool {
    let plain = |part: &str, least: usize| {
        (least..=12).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphabetic())
    };
    word.split_once('/').is_some_and(|(a, b)| {
        let costs = is_time(a) || matches!(a, "cycles" | "instructions" | "insns");
        // `ms/s` is a share of time that is given, and seldom measured.
        let rate = plain(a, 1) && !is_time(a) && matches!(b, "s" | "sec" | "second" | "ms" | "us");
        costs && plain(b, 2) || rate
    })
}

/// Whether a word is a unit of something measured, or a size.
pub(crate) fn is_unit(word: &str) -> bool {
    const SIZES: [&str; 9] = ["%", "B", "kB", "KB", "KiB", "MB", "MiB", "GB", "GiB"];
    is_measure(word) || SIZES.contains(&word)
}

/// Returns a name for what is measured in a unit.
pub(crate) fn metric_of(unit: &str) -> &str {
    if is_time(unit) { "time" } else { unit }
}

/// Splits a text into a name and the unit after it; the unit is empty if there is none. `variant B`
/// is not measured in bytes, `size (B)` is.
pub(crate) fn parted(text: &str) -> (&str, &str) {
    for (open, close) in [('[', ']'), ('(', ')')] {
        let inner = text.strip_suffix(close).and_then(|t| t.rsplit_once(open));
        if let Some((name, unit)) = inner
            && !name.trim().is_empty()
            && !unit.trim().is_empty()
        {
            return (name.trim(), unit.trim());
        }
    }
    match text.rsplit_once(char::is_whitespace) {
        Some((name, unit)) if is_unit(unit) && unit != "B" => (name.trim_end(), unit),
        None if is_unit(text) && text != "B" => (metric_of(text), text),
        _ => (text, ""),
    }
}

/// The unit behind a name in a header; empty if there is none that is known.
pub(crate) fn unit_of_header(name: &str) -> &str {
    Some(parted(name).1)
        .filter(|unit| is_unit(unit))
        .unwrap_or_default()
}
