//! The output of programs.

use assize_job::AgentMessage;

use crate::process::ProcessExit;
use crate::records::{doubt, raw};

/// Maximum number of bytes kept of a tool's output.
const LIMIT: usize = 1 << 20;
/// Maximum number of lines, and bytes, that explain why a program failed.
const LINES: usize = 5;
const BYTES: usize = 2000;

/// The output of the process, under names that begin with `name`.
pub(crate) fn output_records(name: &str, left: &ProcessExit) -> Vec<AgentMessage> {
    let mut records = text_records(format!("{name}.stdout"), &left.stdout);
    records.extend(text_records(format!("{name}.stderr"), &left.stderr));
    records
}

/// A record of the text, unless it is empty, and a doubt if it was cut.
pub(crate) fn text_records(name: String, text: &str) -> Vec<AgentMessage> {
    if text.is_empty() {
        return Vec::new();
    }
    let end = (0..=LIMIT.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    let kept = &text[..end.unwrap_or(0)];
    let mut records = vec![raw(name.clone(), kept)];
    if kept.len() < text.len() {
        records.push(doubt(
            "output-cut",
            format!(
                "{name}: {} bytes were printed, {} are kept",
                text.len(),
                kept.len()
            ),
        ));
    }
    records
}

/// The last lines of standard error, or of standard output if that is empty, on
/// one line.
pub(crate) fn last_lines(left: &ProcessExit) -> String {
    let said = [&left.stderr, &left.stdout]
        .into_iter()
        .find(|text| !text.trim().is_empty());
    let lines: Vec<&str> = said
        .map(|text| {
            text.lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .collect()
        })
        .unwrap_or_default();
    let joined = lines[lines.len().saturating_sub(LINES)..].join("; ");
    let start = joined.len().saturating_sub(BYTES);
    let start = (start..=joined.len()).find(|at| joined.is_char_boundary(*at));
    joined[start.unwrap_or(0)..].to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{CpuTime, ProcessEnd};

    fn left(stdout: &str, stderr: &str) -> ProcessExit {
        ProcessExit {
            end: ProcessEnd::Exited(1),
            cpu: CpuTime::default(),
            failure: None,
            stdout: stdout.into(),
            stderr: stderr.into(),
            results: String::new(),
        }
    }

    #[test]
    fn the_last_lines_tell() {
        assert_eq!(last_lines(&left("out\n", "")), "out");
        assert_eq!(last_lines(&left("out\n", " a\n\nb\n")), "a; b");
        assert_eq!(last_lines(&left("", "1\n2\n3\n4\n5\n6\n")), "2; 3; 4; 5; 6");
        assert_eq!(last_lines(&left("", &"ä".repeat(3000))).len(), BYTES);
        assert_eq!(last_lines(&left("", "")), "");
    }

    #[test]
    fn what_is_cut_is_said() {
        assert!(text_records("x".into(), "").is_empty());
        assert_eq!(text_records("x".into(), &"a".repeat(LIMIT)).len(), 1);
        let records = text_records("x".into(), &"ä".repeat(LIMIT));
        assert!(matches!(&records[0], AgentMessage::Raw { text, .. } if text.len() == LIMIT));
        assert!(matches!(&records[1], AgentMessage::Doubt { code, .. } if code == "output-cut"));
    }
}
