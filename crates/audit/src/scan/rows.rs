//! Where tables may begin.

use super::digits::has_digit;
use crate::Line;
use crate::grammar::table::may_be_row;

/// Where the next line stands that may be a row of a table. Lines are looked at only when
/// a table may begin above them: most lines of a patch never are.
#[derive(Default)]
pub(super) struct Rows {
    /// The lines up to here have been looked at.
    looked: usize,
    /// The last of them that may be a row.
    last: Option<usize>,
}

impl Rows {
    /// Whether one stands within `far` lines from `at`, which never falls; also where that
    /// does not matter.
    pub(super) fn near(&mut self, lines: &[Line<'_>], at: usize, far: Option<usize>) -> bool {
        let Some(far) = far else {
            return true;
        };
        let end = lines.len().min(at.saturating_add(far + 1));
        self.looked = self.looked.max(at);
        while self.last.is_none_or(|last| last < at) && self.looked < end {
            let text: &str = &lines[self.looked].text;
            if has_digit(text.as_bytes()) && may_be_row(text) {
                self.last = Some(self.looked);
            }
            self.looked += 1;
        }
        self.last.is_some_and(|last| (at..end).contains(&last))
    }
}
