//! Remarks that people put behind figures: `83668  <-- slower`, `2908735  # same file`.

/// A line of a table without the remark behind its last figure.
pub(super) fn without_remark(text: &str) -> &str {
    let marks = memchr::memchr2_iter(b'#', b'<', text.as_bytes());
    let head = marks.filter_map(|at| head_of(text, at)).next();
    match head {
        Some(head) if !text[head.len()..].contains(['|', '│']) => head,
        _ => text,
    }
}

/// The same of one cell between pipes.
pub(super) fn without_arrow(cell: &str) -> &str {
    let at = memchr::memchr(b'<', cell.as_bytes());
    at.and_then(|at| head_of(cell, at)).unwrap_or(cell)
}

/// What stands before a mark, if that ends as figures do and a remark follows the mark.
fn head_of(text: &str, at: usize) -> Option<&str> {
    let (head, rest) = (&text[..at], &text[at..]);
    let figures = head.trim_end();
    let apart = figures.len() < head.len();
    let ends = figures.ends_with(|c: char| c.is_ascii_digit() || matches!(c, '%' | ')' | '|'));
    let noted = match rest.strip_prefix('#') {
        // `#  0.998 CPUs utilized` is a figure of its own.
        Some(note) => note.starts_with(' ') && note.trim_start().starts_with(char::is_alphabetic),
        None => is_arrow(rest),
    };
    (apart && ends && noted).then_some(figures)
}

/// Whether a text begins with an arrow that points to what is left of it: `<--`, `<==`.
fn is_arrow(text: &str) -> bool {
    let shaft = text.trim_start_matches('<');
    let rest = shaft.trim_start_matches(['-', '=']);
    let length = shaft.len() - rest.len();
    (1..=20).contains(&length)
        && (length >= 2 || shaft.starts_with('-'))
        && !rest.starts_with(|c: char| c.is_ascii_digit() || c == '>')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_the_last_figure_is_cut_off() {
        for (line, figures) in [
            (
                "stat  1  1310  2908  (+121%)  # other files",
                "stat  1  1310  2908  (+121%)",
            ),
            ("c=16   159673   83668  <-- slower", "c=16   159673   83668"),
            ("c=16   159673   83668  <---", "c=16   159673   83668"),
            ("| c=16 | 159 | 836 |  <== here", "| c=16 | 159 | 836 |"),
        ] {
            assert_eq!(without_remark(line), figures);
        }
    }

    #[test]
    fn what_holds_figures_is_no_remark() {
        for line in [
            "      1,234  cycles    #    3.2 GHz",
            "      1,234            #    3.2 GHz",
            "run 12 #3   14.5  15.5",
            "size <4k   14.5  15.5",
            "depth <-1  14.5  15.5",
            "| c=16 | 159 <-- | 836 |",
        ] {
            assert_eq!(without_remark(line), line);
        }
    }

    #[test]
    fn a_cell_may_have_an_arrow_of_its_own() {
        assert_eq!(without_arrow("83668  (-48%)  <--"), "83668  (-48%)");
        assert_eq!(without_arrow("83668 <4k"), "83668 <4k");
        assert_eq!(without_arrow("name <--"), "name <--");
    }
}
