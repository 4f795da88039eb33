//! `Performance counter stats for 'CMD' (N runs):`.

use super::row::Kind;

/// How a header starts.
pub(super) const START: &str = "Performance counter stats for";

/// Longer command lines than this are not looked at.
const LONGEST: usize = 64 * 1024;

/// What the header says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Header {
    /// The command, if it is one.
    pub(super) workload: Option<String>,
    /// The number of runs, with `-r`.
    pub(super) runs: Option<u32>,
}

/// Reads a text that starts with [`START`]: a header, the beginning of one or
/// something else.
pub(super) fn parse(text: &str) -> Kind {
    let Some(target) = text.strip_prefix(START).filter(|_| text.len() <= LONGEST) else {
        return Kind::Other;
    };
    let target = target.trim();
    if target.is_empty() {
        return Kind::HeaderOpen;
    }
    let quoted = target.starts_with(QUOTES);
    let named = ["process id", "thread id", "CPU(s)", "BPF program"]
        .iter()
        .any(|name| target.starts_with(name));
    if !quoted && !named {
        return Kind::Other;
    }
    let Some(body) = target.strip_suffix(':').map(str::trim_end) else {
        return if quoted && closed(target) {
            Kind::Header(read(target, quoted))
        } else {
            Kind::HeaderOpen
        };
    };
    let (command, _) = split_runs(body);
    if named || closed(command) {
        Kind::Header(read(body, quoted))
    } else {
        Kind::HeaderOpen
    }
}

/// The quotes that perf and mailers put around the command.
const QUOTES: [char; 5] = ['\'', '"', '`', '\u{2018}', '\u{2019}'];

/// Whether a quoted command ends with its quote.
fn closed(text: &str) -> bool {
    text.chars().count() > 1 && text.ends_with(QUOTES)
}

/// What a header that was cut off still says.
pub(super) fn cut() -> Header {
    Header::default()
}

/// Takes ` (N runs)` off.
fn split_runs(text: &str) -> (&str, Option<u32>) {
    let Some((command, count)) = text
        .strip_suffix("runs)")
        .or_else(|| text.strip_suffix("run)"))
        .and_then(|text| text.rsplit_once('('))
    else {
        return (text, None);
    };
    match count.trim().parse() {
        Ok(runs) => (command.trim_end(), Some(runs)),
        Err(_) => (text, None),
    }
}

fn read(body: &str, quoted: bool) -> Header {
    let (command, runs) = split_runs(body);
    let command = command.trim_start_matches(QUOTES);
    let command = command.strip_suffix(QUOTES).unwrap_or(command).trim();
    let everything = command == "system wide" || command.starts_with("CPU(s)");
    Header {
        workload: (quoted && !everything && !command.is_empty()).then(|| command.to_owned()),
        runs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> (Option<String>, Option<u32>) {
        match parse(text) {
            Kind::Header(header) => (header.workload, header.runs),
            other => panic!("{text:?} is {other:?}"),
        }
    }

    #[test]
    fn only_a_command_is_a_workload() {
        let of = |text: &str| header(&format!("{START} {text}"));
        assert_eq!(of("'sleep 0.05':"), (Some("sleep 0.05".into()), None));
        assert_eq!(of("'./a' (3 runs):"), (Some("./a".into()), Some(3)));
        assert_eq!(of("'system wide' (10 runs):"), (None, Some(10)));
        assert_eq!(of("'CPU(s) 0-3':"), (None, None));
        assert_eq!(of("process id '8178':"), (None, None));
        assert_eq!(
            of("'sh -c echo 'it (3 runs):' >/dev/null':"),
            (Some("sh -c echo 'it (3 runs):' >/dev/null".into()), None)
        );
    }

    #[test]
    fn a_sentence_about_counters_is_no_header() {
        let text = "Performance counter stats for both kernels are below:";
        assert_eq!(parse(text), Kind::Other);
    }

    #[test]
    fn a_header_that_breaks_off_is_open() {
        assert_eq!(parse("Performance counter stats for"), Kind::HeaderOpen);
        assert_eq!(
            parse("Performance counter stats for 'a b"),
            Kind::HeaderOpen
        );
        assert_eq!(
            parse("Performance counter stats for 'a' (10"),
            Kind::HeaderOpen
        );
    }
}
