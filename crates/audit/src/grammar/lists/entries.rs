//! One line of a list: what its figure is of, the figure, and what may stand behind it.

use super::super::quantity::{is_measure, quantity};
use super::{LONGEST, WORDS};
use crate::roles::words::{names_configuration, names_measurement};

/// What is set and not measured.
const SETTINGS: &[&str] = &[
    "runtime",
    "testtime",
    "timeout",
    "ramp_time",
    "interval",
    "period",
    "sleep",
    "delay",
    "deadline",
    "quota",
    "limit",
    "slice",
    "frequency",
    "clock",
    "size",
    "iodepth",
    "bs",
    "wait",
];

/// One line of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry<'t> {
    pub(super) label: &'t str,
    pub(super) value: f64,
    pub(super) unit: &'t str,
    /// The seconds of the kernel's time stamp before it.
    pub(super) stamp: Option<f64>,
}

/// A line without the time stamp of the kernel's log, `[    2.591449] `, and that.
fn unstamped(text: &str) -> (Option<f64>, &str) {
    let parted = text.trim_start().strip_prefix('[').and_then(|rest| {
        let (stamp, rest) = rest.split_once("] ")?;
        Some((stamp.trim().parse().ok()?, rest))
    });
    match parted {
        Some((stamp, rest)) => (Some(stamp), rest),
        None => (None, text),
    }
}

/// `throughput: 1240 MB/s`.
pub(super) fn entry(text: &str) -> Option<Entry<'_>> {
    let (stamp, text) = unstamped(text);
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim_start();
    // `@total_time: 354134` is what bpftrace prints of a variable.
    let (variable, text) = match text.strip_prefix('@') {
        Some(name) => (true, name),
        None => (false, text),
    };
    if text.len() > LONGEST || !text.as_bytes().first()?.is_ascii_alphanumeric() {
        return None;
    }
    let at = text.find([':', '='])?;
    // A setting is written without blanks: `runtime=30s`.
    let (head, rest) = (&text[..at], &text[at + 1..]);
    if text.as_bytes()[at] == b'=' && !head.ends_with([' ', '\t']) {
        return None;
    }
    let head = head.trim();
    // `patched: ~5.1 Gb/s`: about so much, which is never said of what is set.
    let about = rest.trim_start().strip_prefix(['~', '≈']);
    let rest = about.filter(|_| names_configuration(head)).unwrap_or(rest);
    let (value, tail) = quantity(rest)?;
    let counted = variable && value.unit.is_empty() && names_measurement(head);
    let known = (is_measure(value.unit) || counted)
        && head.split_whitespace().count() <= WORDS
        && !head.contains(['"', '<', '>', '(', '/', '\\', ';']) | names_configuration(head)
        && !is_setting(head);
    // A change beside it is a claim of its own: `1240 MB/s (+3.1%)`. Before and
    // after there may be words: `Before: 153 MB/s, 6-8 threads wait`.
    let goes_on = (tail.starts_with(", ") || is_restated(tail)) && names_configuration(head);
    (known && (tail.trim().is_empty() || is_change(tail) || goes_on)).then_some(Entry {
        label: head,
        value: value.value,
        unit: value.unit,
        stamp,
    })
}

/// Whether a label is that of what is set and not measured.
pub(in crate::grammar) fn is_setting(label: &str) -> bool {
    label
        .to_ascii_lowercase()
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .any(|word| SETTINGS.contains(&word) || word.split('_').any(is_time_setting))
}

/// Whether a part of an identifier says that it is set: `reset_on_delay_ms`.
fn is_time_setting(part: &str) -> bool {
    matches!(part, "delay" | "timeout" | "interval" | "period")
}

/// `(+3.1%)`, `-2 %`, `(3% faster)`, ` about 3% improvement, as before`.
pub(super) fn is_change(tail: &str) -> bool {
    let inner = tail
        .trim()
        .trim_start_matches(['(', '[', ','])
        .trim_end_matches([')', ']']);
    // `.1%` is a change too.
    let inner = inner.trim_start_matches(['~', '+', '.']);
    let worded = inner.strip_prefix("about ").filter(|rest| !rest.is_empty());
    let Some((change, rest)) = quantity(worded.unwrap_or(inner)) else {
        return false;
    };
    // `about 3.2% improvement, which I cannot explain`.
    let said = match worded {
        Some(_) => rest.split(", ").next().unwrap_or_default(),
        None => rest,
    };
    let grows = |word: &str| {
        let stem = word.trim_end_matches(['.', ',']).to_ascii_lowercase();
        CHANGES.contains(&stem.as_str())
    };
    change.unit == "%"
        && said.split_whitespace().count() <= 2
        && (worded.is_none() || said.split_whitespace().any(grows))
}

/// What a change in per cent is, if a sentence says it.
const CHANGES: [&str; 12] = [
    "improvement",
    "regression",
    "increase",
    "decrease",
    "speedup",
    "slowdown",
    "faster",
    "slower",
    "better",
    "worse",
    "higher",
    "lower",
];

/// ` (123 ns per IO)`: the same in another unit.
fn is_restated(tail: &str) -> bool {
    let inner = tail
        .strip_prefix(" (")
        .and_then(|rest| rest.strip_suffix(')'));
    inner.and_then(quantity).is_some_and(|(amount, rest)| {
        is_measure(amount.unit) && !rest.contains(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::super::Lists;
    use crate::grammar::testing::placed;

    #[test]
    fn variables_of_bpftrace_are_figures_if_their_names_are_of_measurements() {
        let text = |name: &str| {
            format!(
                "Result before:\n\n  @{name}: 622642\n\nResult after:\n\n  @{name}: 354134 (-43.1% time spent)\n"
            )
        };
        assert_eq!(
            placed(&Lists, &text("log_total_time")),
            crate::grammar::testing::told(&[
                ("Result before", "log_total_time", 622_642.0),
                ("Result after", "log_total_time", 354_134.0),
            ])
        );
        assert!(placed(&Lists, &text("address")).is_empty());
    }

    #[test]
    fn figures_of_states_may_be_rounded() {
        assert_eq!(
            placed(&Lists, "Original: ~1.3 GB/s\nPatched:  ~4.7 GB/s\n"),
            crate::grammar::testing::told(&[("Original", "GB/s", 1.3), ("Patched", "GB/s", 4.7),])
        );
        assert!(placed(&Lists, "Reader: ~1.3 GB/s\nWriter:  ~4.7 GB/s\n").is_empty());
        let headed = "Before:\n  boot: ~3 s\n\nAfter:\n  boot: ~2 s\n";
        assert!(placed(&Lists, headed).is_empty());
    }

    #[test]
    fn the_same_in_another_unit_behind_a_figure_is_no_other_figure() {
        let values = |text: &str| -> Vec<(String, f64)> {
            let all = placed(&Lists, text).into_iter();
            all.map(|(name, _, value)| (name, value)).collect()
        };
        let told = [("Before".to_owned(), 8.09), ("After".to_owned(), 8.68)];
        let text = "Null device\nBefore: 8.09M/s (123ns per IO)\nAfter: 8.68M/s (115ns per IO)\n";
        assert_eq!(values(text), told);
        let said = text.replace("(123ns per IO)", "about 3.5% slower, as I said");
        assert_eq!(values(&said), told);
        // Two figures, or words.
        for tail in [
            "(123ns per 12 IO)",
            "(all of it)",
            "123ns",
            "about 3.5% of all, I think",
        ] {
            let text = text.replace("(123ns per IO)", tail);
            assert!(values(&text).is_empty(), "{text}");
        }
    }
}
