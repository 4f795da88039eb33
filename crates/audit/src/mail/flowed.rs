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

    #[test]
    fn lines_of_one_depth_are_joined_but_signatures_are_not() {
        for (text, delsp, joined, starts) in [
            (
                "one \ntwo \nthree\nfour\n",
                false,
                "one two three\nfour\n",
                &[10, 13][..],
            ),
            ("12 \n34\n", true, "1234\n", &[10]),
            (
                "> a \n>> b \n>> c\nd\n",
                false,
                "> a \n> > b c\nd\n",
                &[10, 11, 13],
            ),
            (" From here\n  two\n", false, "From here\n two\n", &[10, 11]),
            (
                "end \n-- \nname\n",
                false,
                "end \n-- \nname\n",
                &[10, 11, 12],
            ),
        ] {
            let found = join(text, &Places::From(10), delsp);
            assert_eq!(found, (joined.to_owned(), starts.to_vec()));
        }
    }
}
