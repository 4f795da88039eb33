//! What inside a message is code: no format looks at it.

use std::borrow::Cow;
use std::ops::Range;

use crate::diff;
use crate::line::{Explained, Line};

/// The lines that are code, each with what kind it is and its text.
pub(super) struct Code<'a>(Vec<(usize, &'static str, Cow<'a, str>)>);

impl<'a> Code<'a> {
    /// Takes the text of all such lines, which stay where they are.
    pub(super) fn take_from(lines: &mut [Line<'a>]) -> Self {
        let mut code = Code(Vec::new());
        code.take("diff", diff::patches(lines), lines);
        code
    }

    fn take(&mut self, what: &'static str, ranges: Vec<Range<usize>>, lines: &mut [Line<'a>]) {
        for at in ranges.into_iter().flatten() {
            self.0.push((at, what, std::mem::take(&mut lines[at].text)));
        }
    }

    /// Where they are, and what.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &'static str)> {
        self.0.iter().map(|(at, what, _)| (*at, *what))
    }

    /// Gives the lines that are explained their text back.
    pub(super) fn explain(self, explained: &mut [Explained]) {
        for (at, _, text) in self.0 {
            if let Some(line) = explained.get_mut(at) {
                line.text = text.into_owned();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::audit::read;
    use crate::options::Options;

    #[test]
    fn code_is_explained_and_not_read() {
        let patch = "diff --git a/x.txt b/x.txt\nnew file mode 100644\n--- /dev/null\n+++ b/x.txt\n\
                     @@ -0,0 +1,3 @@\n+| kernel | time ms |\n+| base   | 12.5    |\n+| new    | 11.5    |";
        let text = format!("Hello,\n{patch}\nbye");
        let explain = Options {
            explain: true,
            ..Options::default()
        };
        let audit = read(text.as_bytes(), "post", &explain).unwrap();
        let said = audit.explained.iter();
        let said: Vec<(&str, &str)> = said.map(|line| (&*line.taken, &*line.text)).collect();
        let expected = patch.lines().map(|line| ("diff", line));
        assert_eq!(said[1..said.len() - 1], expected.collect::<Vec<_>>());
        let records = &audit.records;
        assert!(records.statements.is_empty() && records.runs.is_empty());
        assert!(records.doubts.is_empty());
    }
}
