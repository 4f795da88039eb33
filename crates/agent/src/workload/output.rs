//! The output of programs.

use assize_job::{AgentMessage, KeptOutput};

use crate::process::ProcessExit;
use crate::records::{doubt, raw};

/// Maximum number of bytes kept of the start of a program's output.
const HEAD: usize = 1 << 20;
/// Maximum number of bytes kept of its end.
const TAIL: usize = 4 << 10;

/// Records of the output of a process, named `NAME.stdout` and `NAME.stderr`.
pub(crate) fn output_records(
    name: &str,
    kept: KeptOutput,
    left: &ProcessExit,
) -> Vec<AgentMessage> {
    let streams = [("stdout", &left.stdout), ("stderr", &left.stderr)];
    let records = streams.into_iter().flat_map(|(stream, bytes)| {
        let name = format!("{name}.{stream}");
        match kept {
            KeptOutput::Head => text_records(&name, &String::from_utf8_lossy(bytes)),
            KeptOutput::Tail if bytes.is_empty() => Vec::new(),
            KeptOutput::Tail => vec![raw(name, tail(bytes))],
        }
    });
    records.collect()
}

/// A record of the start of the text, unless it is empty, and a doubt if it was cut.
pub(crate) fn text_records(name: &str, text: &str) -> Vec<AgentMessage> {
    if text.is_empty() {
        return Vec::new();
    }
    let end = (0..=HEAD.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    let kept = &text[..end.unwrap_or(0)];
    let mut records = vec![raw(name, kept)];
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

/// The end of the output, below a line with length and digest of all of it if that is more.
fn tail(bytes: &[u8]) -> String {
    let start = bytes.len().saturating_sub(TAIL);
    let end = String::from_utf8_lossy(&bytes[start..]);
    if start == 0 {
        return end.into_owned();
    }
    let digest = blake3::hash(bytes);
    format!(
        "[{} bytes, BLAKE3 {digest}; the last {TAIL}:]\n{end}",
        bytes.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_said() {
        assert!(text_records("x", "").is_empty());
        assert_eq!(text_records("x", &"a".repeat(HEAD)).len(), 1);
        let records = text_records("x", &"ä".repeat(HEAD));
        assert!(matches!(&records[0], AgentMessage::Raw { text, .. } if text.len() == HEAD));
        assert!(matches!(&records[1], AgentMessage::Doubt { code, .. } if code == "output-cut"));
    }

    #[test]
    fn a_tail_is_the_whole_or_has_length_and_digest_of_it() {
        let short = "a".repeat(TAIL);
        assert_eq!(tail(short.as_bytes()), short);
        let long = format!("start {short}");
        let digest = blake3::hash(long.as_bytes());
        let kept = tail(long.as_bytes());
        let (head, end) = kept.split_once('\n').unwrap();
        assert_eq!(
            head,
            format!("[4102 bytes, BLAKE3 {digest}; the last 4096:]")
        );
        assert_eq!(end, short);
        assert_ne!(tail(format!("other {short}").as_bytes()), kept);
    }
}
