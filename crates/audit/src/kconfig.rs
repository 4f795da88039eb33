//! Configurations of kernels inside a message: code, not data.

use std::ops::Range;

use crate::Line;

/// So many options make a list of them a kernel's configuration. A few are what a post is
/// about.
const OPTIONS: usize = 12;

/// Which lines of a message are those of kernels' configurations.
pub(crate) fn configurations(lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(first) = (from..lines.len()).find(|&at| is_option(&lines[at].text)) {
        let (end, options) = list(lines, first);
        if options >= OPTIONS {
            found.push(first..end);
        }
        from = end;
    }
    found
}

/// The line behind the last option of a list that begins at a line, and how many there are.
fn list(lines: &[Line<'_>], first: usize) -> (usize, usize) {
    let depth = lines[first].depth;
    let (mut end, mut options) = (first, 0);
    for (at, line) in lines.iter().enumerate().skip(first) {
        let text: &str = &line.text;
        if line.depth != depth || !(text.is_empty() || text.starts_with(['#', 'C'])) {
            break;
        }
        if is_option(text) {
            (end, options) = (at + 1, options + 1);
        } else if text.starts_with('C') {
            break;
        }
    }
    (end, options)
}

/// `CONFIG_HZ=250`, `# CONFIG_HZ_1000 is not set`.
fn is_option(text: &str) -> bool {
    let named = |text: &str, end: &str| {
        let name = text.strip_prefix("CONFIG_");
        let rest = name
            .map(|name| name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'));
        rest.is_some_and(|rest| rest.starts_with(end))
    };
    match text.strip_prefix("# ") {
        Some(text) => named(text, " is not set"),
        None => named(text, "="),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which lines of a text are those of a configuration.
    fn found(text: &str) -> Vec<usize> {
        let lines = (1..).zip(text.lines());
        let lines: Vec<Line<'_>> = lines.map(|(n, text)| Line::plain(n, text)).collect();
        configurations(&lines).into_iter().flatten().collect()
    }

    /// So many options, with what stands between them in a file.
    fn options(count: usize) -> String {
        let option = |number: usize| match number % 3 {
            0 => format!("CONFIG_X{number}=y\n"),
            1 => format!("# CONFIG_X{number} is not set\n"),
            _ => format!("\n#\n# Timers\n#\nCONFIG_X{number}=1000\n"),
        };
        (0..count).map(option).collect()
    }

    #[test]
    fn a_configuration_goes_from_its_first_option_to_its_last() {
        let whole = options(30);
        let count = whole.lines().count();
        assert_eq!(found(&whole), (0..count).collect::<Vec<_>>());
        let around = format!("base 1 2\n\n# end\n{whole}#\n\nbase 1 2\n");
        assert_eq!(found(&around), (3..3 + count).collect::<Vec<_>>());
        let two = format!("{whole}base 1 2\n{whole}");
        assert_eq!(found(&two).len(), 2 * count);
    }

    #[test]
    fn a_few_options_are_what_a_post_is_about() {
        assert!(found(&options(OPTIONS - 1)).is_empty());
        assert!(!found(&options(OPTIONS)).is_empty());
        let parted = "CONFIG_HZ=250: 12 ms\n# CONFIG_HZ\nCONFIG_HZ 12\n".repeat(OPTIONS);
        assert_eq!(found(&parted).len(), 0);
        let figures = "CONFIG_HZ=250\n12.5 ms\n".repeat(OPTIONS);
        assert_eq!(found(&figures).len(), 0);
    }
}
