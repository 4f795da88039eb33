//! The output of programs.

use assize_job::AgentMessage;

use crate::process::ProcessExit;
use crate::records::{doubt, raw};

/// Maximum number of bytes kept of a program's output.
const LIMIT: usize = 1 << 20;

/// Records of the output of a process, named `NAME.stdout` and `NAME.stderr`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_said() {
        assert!(text_records("x".into(), "").is_empty());
        assert_eq!(text_records("x".into(), &"a".repeat(LIMIT)).len(), 1);
        let records = text_records("x".into(), &"ä".repeat(LIMIT));
        assert!(matches!(&records[0], AgentMessage::Raw { text, .. } if text.len() == LIMIT));
        assert!(matches!(&records[1], AgentMessage::Doubt { code, .. } if code == "output-cut"));
    }
}
