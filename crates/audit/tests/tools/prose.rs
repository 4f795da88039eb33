//! Figures and doubts in sentences.

use super::*;

/// Configuration, metric, value and unit of each statement.
fn statements(text: &str) -> Vec<(String, String, f64, String)> {
    let statement = |(_, f): (usize, Finding)| match f {
        Finding::Statement {
            labels,
            figure,
            normalised_to,
        } => {
            let side = labels
                .configuration
                .or(normalised_to.map(|n| format!("/{n}")));
            Some((
                side.unwrap_or_default(),
                figure.metric,
                figure.value,
                figure.unit,
            ))
        }
        _ => None,
    };
    read(text)
        .findings
        .into_iter()
        .filter_map(statement)
        .collect()
}

fn said(side: &str, metric: &str, value: f64, unit: &str) -> (String, String, f64, String) {
    (side.to_owned(), metric.to_owned(), value, unit.to_owned())
}

#[test]
fn from_and_to_are_before_and_after() {
    assert_eq!(
        statements("with it my run dropped from 63 seconds down to 50 seconds."),
        [
            said("before", "figure", 63.0, "seconds"),
            said("after", "figure", 50.0, "seconds")
        ]
    );
    assert_eq!(
        statements("a delay between from about 40 to ~20us"),
        [
            said("before", "delay", 40.0, "us"),
            said("after", "delay", 20.0, "us")
        ]
    );
    assert_eq!(
        statements("it goes from 20ms to 87ms")[1],
        said("after", "figure", 87.0, "ms")
    );
}

#[test]
fn changes_are_relative_to_before() {
    for (text, metric, value, unit) in [
        ("resulted in a 0.9% speedup in it", "speedup", 0.9, "%"),
        ("is 3.5 % faster", "speedup", 3.5, "%"),
        ("a ~12% throughput regression", "regression", 12.0, "%"),
        ("a reduction of 5%.", "reduction", 5.0, "%"),
        ("reduces the wakeups by 20 percent", "reduction", 20.0, "%"),
        (
            "calls speeding up by a factor of 1.5. But",
            "speedup",
            1.5,
            "x",
        ),
        ("by a factor of 3", "figure", 3.0, "x"),
        ("it is 1.5x faster now", "speedup", 1.5, "x"),
        ("2 times slower", "slowdown", 2.0, "x"),
    ] {
        assert_eq!(
            statements(text),
            [said("/before", metric, value, unit)],
            "{text}"
        );
    }
}

#[test]
fn a_sentence_may_be_wrapped() {
    let wrapped = read("so my run dropped from 63 seconds down to\n50 seconds.\n");
    assert_eq!(wrapped.taken, ["figure in prose"; 2]);
    assert_eq!(statements("it resulted in a 0.9%\nspeedup there").len(), 1);
    assert_eq!(
        statements("it grew by a factor\nof 1.5, which is a 3%\nregression").len(),
        2
    );
}

#[test]
fn a_match_in_one_line_takes_one_line() {
    let read = read("a 0.9% speedup\nand a 1.5% regression\n");
    assert_eq!(read.taken, ["figure in prose"; 2]);
    let lines: Vec<_> = read.findings.iter().map(|f| f.0).collect();
    assert_eq!(lines, [1, 2]);
}

#[test]
fn other_numbers_are_left_alone() {
    for text in [
        "we moved from 5.10 to 5.15",
        "from 2011-03-14 to 2011-03-15",
        "see line 100 to 200 of commit 3bd8978",
        "https://example.com/?a=20%20faster",
        "+\ta 20% speedup",
        "-	from 20ms to 87ms",
        " * a 20% speedup",
        "x = 20% faster",
        "return from 1 s to 2 s;",
        "3-5% faster",
        "the battery is at 20%",
        "by a factor of 1.5.3",
        "@@ -1,2 +3% faster @@",
        "a v20% faster",
    ] {
        assert_eq!(statements(text), [], "{text}");
    }
}

#[test]
fn code_that_is_not_reached_is_a_doubt() {
    for text in [
        "This above return will never happen on our platform.",
        "so the option doesn't seem to have any effect for us.",
        "that function is never called here",
        "the new path is not executed",
        "it has no effect on this machine",
        "the option does not\nhave any effect",
        "The option doesn’t have any effect",
    ] {
        assert_eq!(read(text).doubts(), ["unreached-code"], "{text}");
    }
    for text in [
        "/* will never happen */",
        "never mind",
        "it has an effect on us",
        "never be shy",
    ] {
        assert!(read(text).doubts().is_empty(), "{text}");
    }
}
