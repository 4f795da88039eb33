//! What `hyperfine --export-json` writes, pretty-printed or on one line.
//!
//! Each of the `times` is a run; a result without them is a summary. Times
//! are seconds whatever the unit on the terminal was. A failing exit code is
//! a doubt about the runs of that command, which are read all the same.

use assize_bundle::Spread;
use serde_json::Value;

use super::begins::Begins;
use super::cells::{bad_number, configuration, label, line_at, push_new, summary};
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// The JSON file that `hyperfine` exports.
pub struct HyperfineJson;

impl Grammar for HyperfineJson {
    fn name(&self) -> &'static str {
        "hyperfine-json"
    }

    fn names_what_it_compares(&self) -> bool {
        true
    }

    fn begins(&self) -> Begins {
        Begins::with(b"{")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        text.strip_prefix('{')
            .is_some_and(|rest| rest.is_empty() || rest.trim_start().starts_with("\"results\""))
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let mut head = line_at(lines, 0)?.trim_start();
        if head == "{" {
            head = line_at(lines, 1)?.trim_start();
        }
        let head = head.strip_prefix('{').unwrap_or(head).trim_start();
        let named = (0..6).any(|at| line_at(lines, at).is_some_and(|t| t.contains("\"command\"")));
        if !head.starts_with("\"results\"") || !named {
            return None;
        }
        let mut block = Block::default();
        let scan = Scan::over(lines);
        block.taken = vec!["hyperfine json"; scan.used];
        let parsed = scan
            .closed
            .then(|| serde_json::from_str::<Value>(&scan.text));
        match parsed {
            Some(Ok(value)) => read_results(&mut block, &value, &scan)?,
            Some(Err(error)) => {
                let doubt = format!("hyperfine's JSON does not parse: {error}");
                block.find(0, Finding::Doubt("bad-json", doubt));
            }
            None => {
                let doubt = "the JSON of hyperfine is not closed; nothing in it is read".to_owned();
                block.find(0, Finding::Doubt("truncated-block", doubt));
            }
        }
        Some(block)
    }
}

/// The text of a JSON object, and where its times stand.
#[derive(Default)]
struct Scan {
    text: String,
    used: usize,
    closed: bool,
    /// For each `"times"` in order: the line of each of its values.
    times: Vec<Vec<usize>>,
}

/// Where the scan is between two bytes.
#[derive(Default)]
struct State {
    depth: usize,
    quoted: bool,
    escaped: bool,
    /// The depth inside the array of times, while in it.
    in_times: Option<usize>,
    in_value: bool,
    /// Where the string that was last closed, or is open, begins.
    string_from: usize,
    /// Whether the last string was `"times"` and no value came since.
    key_is_times: bool,
}

impl Scan {
    /// Reads lines until the braces close, or until a line that cannot be
    /// JSON. A line end inside a string (a mailer wrapped it) is a blank.
    fn over(lines: &[Line<'_>]) -> Self {
        let mut scan = Scan::default();
        let mut state = State::default();
        for at in 0.. {
            let Some(line) = line_at(lines, at) else {
                break;
            };
            if at > 0 && !state.quoted && !json_like(line) {
                break;
            }
            scan.used = at + 1;
            let from = scan.text.len();
            scan.text.push_str(line);
            scan.text.push(' ');
            for (offset, byte) in line.bytes().enumerate() {
                scan.step(&mut state, at, from + offset, byte);
                if state.depth == 0 && byte == b'}' && !state.quoted {
                    scan.text.truncate(from + offset + 1);
                    scan.closed = true;
                    return scan;
                }
            }
            state.in_value = false;
        }
        scan
    }

    fn step(&mut self, state: &mut State, line: usize, at: usize, byte: u8) {
        if state.quoted {
            match byte {
                _ if state.escaped => state.escaped = false,
                b'\\' => state.escaped = true,
                b'"' => {
                    state.quoted = false;
                    state.key_is_times = self.text.get(state.string_from..at) == Some("times");
                }
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                state.quoted = true;
                state.string_from = at + 1;
            }
            b'[' | b'{' => {
                state.depth += 1;
                if byte == b'[' && state.key_is_times {
                    state.in_times = Some(state.depth);
                    self.times.push(Vec::new());
                }
                state.key_is_times = false;
            }
            b']' | b'}' => {
                if state.in_times == Some(state.depth) {
                    state.in_times = None;
                }
                state.depth = state.depth.saturating_sub(1);
            }
            _ => {}
        }
        let value = !byte.is_ascii_whitespace() && !b",[]{}:\"".contains(&byte);
        if value
            && !state.in_value
            && state.in_times.is_some()
            && let Some(times) = self.times.last_mut()
        {
            times.push(line);
        }
        state.in_value = value;
    }
}

/// Whether a line can stand in pretty-printed JSON.
fn json_like(line: &str) -> bool {
    match line.trim_start().as_bytes() {
        [b'"' | b'[' | b']' | b'{' | b'}' | b'-' | b'0'..=b'9', ..] => true,
        rest => {
            let word = rest.split(|b| !b.is_ascii_alphabetic()).next();
            matches!(
                word,
                Some(b"null" | b"true" | b"false" | b"NaN" | b"Infinity")
            )
        }
    }
}

/// Reads all results; `None` if this is some other program's file.
fn read_results(block: &mut Block, value: &Value, scan: &Scan) -> Option<()> {
    let results = value.get("results")?.as_array()?;
    if !results.iter().all(|r| r.get("command").is_some()) {
        return None;
    }
    let mut places = scan.times.iter();
    for result in results {
        let labels = configuration(result.get("command")?.as_str());
        match result.get("times").and_then(Value::as_array) {
            Some(times) if !times.is_empty() => {
                let places = places.next().map_or(&[][..], Vec::as_slice);
                read_times(block, result, &labels, times, places);
            }
            _ => read_means(block, result, &labels),
        }
        read_exit_codes(block, result, &labels);
    }
    Some(())
}

fn read_times(
    block: &mut Block,
    result: &Value,
    labels: &Labels,
    times: &[Value],
    places: &[usize],
) {
    let memory = result
        .get("memory_usage_byte")
        .and_then(Value::as_array)
        .filter(|m| m.len() == times.len());
    for (i, time) in times.iter().enumerate() {
        let at = places.get(i).copied().unwrap_or(0);
        let Some(seconds) = time.as_f64() else {
            block.find(at, bad_number(&time.to_string(), "time"));
            continue;
        };
        let mut figures = vec![Figure::new("time", seconds, "s")];
        if let Some(bytes) = memory.and_then(|m| m[i].as_f64()) {
            push_new(&mut figures, Figure::new("memory_usage", bytes, "byte"));
        }
        let labels = Labels {
            repetition: u32::try_from(i + 1).ok(),
            ..labels.clone()
        };
        block.find(at, Finding::Run { labels, figures });
    }
}

fn read_means(block: &mut Block, result: &Value, labels: &Labels) {
    let deviation = result.get("stddev").and_then(Value::as_f64);
    let metrics = [
        ("time", "mean", deviation),
        ("user", "user", None),
        ("sys", "system", None),
    ];
    let before = block.findings.len();
    for (metric, key, deviation) in metrics {
        match result.get(key).map(|v| (v, v.as_f64())) {
            Some((_, Some(mean))) => {
                let figure = Figure::new(metric, mean, "s");
                let spread = deviation.map(Spread::StandardDeviation);
                block.find(0, summary(labels, figure, spread, None));
            }
            Some((other, None)) => {
                block.find(0, bad_number(&other.to_string(), metric));
            }
            None => {}
        }
    }
    if block.findings.len() == before {
        let name = labels.configuration.as_deref().unwrap_or("a command");
        let doubt = format!("hyperfine's JSON has no time of `{name}`");
        block.find(0, Finding::Doubt("truncated-block", doubt));
    }
}

/// Notes that runs failed; a `null` stands for a run ended by a signal.
fn read_exit_codes(block: &mut Block, result: &Value, labels: &Labels) {
    let Some(codes) = result.get("exit_codes").and_then(Value::as_array) else {
        return;
    };
    let failed = codes.iter().filter(|c| c.as_i64() != Some(0)).count();
    if failed > 0 {
        let name = label(labels.configuration.as_deref().unwrap_or("a command"));
        let doubt = format!("{failed} of {} runs of `{name}` failed", codes.len());
        block.find(0, Finding::Doubt("failed-run", doubt));
    }
}
