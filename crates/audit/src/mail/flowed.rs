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

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str, delsp: bool) -> (String, Vec<u32>) {
        join(text, &Places::From(10), delsp)
    }

    #[test]
    fn soft_breaks_are_joined_and_the_place_is_the_first_line() {
        let (text, starts) = joined("one \ntwo \nthree\nfour\n", false);
        assert_eq!(text, "one two three\nfour\n");
        assert_eq!(starts, [10, 13]);
    }

    #[test]
    fn delsp_takes_the_blank_away() {
        assert_eq!(joined("12 \n34\n", true).0, "1234\n");
    }

    #[test]
    fn only_equal_depth_is_joined() {
        let (text, starts) = joined("> a \n>> b \n>> c\nd\n", false);
        assert_eq!(text, "> a \n> > b c\nd\n");
        assert_eq!(starts, [10, 11, 13]);
    }

    #[test]
    fn stuffing_is_undone() {
        assert_eq!(joined(" From here\n  two\n", false).0, "From here\n two\n");
    }

    #[test]
    fn a_signature_is_neither_joined_nor_continued() {
        let (text, starts) = joined("end \n-- \nname\n", false);
        assert_eq!(text, "end \n-- \nname\n");
        assert_eq!(starts, [10, 11, 12]);
    }
}
