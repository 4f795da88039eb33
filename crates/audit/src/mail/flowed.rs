//! `format=flowed`: paragraphs that were broken for transport.

use super::text::Places;

/// Joins softly broken lines of equal quote depth. Gives the text and where
/// each of its lines begins.
pub(super) fn join(text: &str, places: &Places, delsp: bool) -> (String, Vec<u32>) {
    let mut out = String::with_capacity(text.len());
    let mut starts = Vec::new();
    // The quote depth of the line that waits to be continued.
    let mut open: Option<usize> = None;
    for (index, line) in text.lines().enumerate() {
        let unmarked = line.trim_start_matches('>');
        let depth = line.len() - unmarked.len();
        let content = unmarked.strip_prefix(' ').unwrap_or(unmarked);
        let signature = content == "-- ";
        if open != Some(depth) || signature {
            if open.is_some() {
                out.push('\n');
            }
            starts.push(places.line(index));
            for _ in 0..depth {
                out.push_str("> ");
            }
        }
        if content.ends_with(' ') && !signature {
            let kept = content.strip_suffix(' ').filter(|_| delsp);
            out.push_str(kept.unwrap_or(content));
            open = Some(depth);
        } else {
            out.push_str(content);
            out.push('\n');
            open = None;
        }
    }
    (out, starts)
}
