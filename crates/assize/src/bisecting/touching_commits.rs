//! The commits in a range that can make a difference.

use assize_series::Commit;

use crate::failure::Failure;
use crate::trying::source::SourceChange;
use crate::trying::touched::BuildScope;

/// The commits in a range that touch anything that is built, oldest first. The commits in
/// between leave the built files unchanged, so they are never built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TouchingCommits {
    /// Their indices in the range.
    places: Vec<usize>,
}

impl TouchingCommits {
    pub(super) fn in_range(commits: &[Commit], scope: &BuildScope) -> TouchingCommits {
        let all = commits.iter().enumerate();
        let touching = all.filter(|(_, commit)| commit.paths.iter().any(|path| scope.has(path)));
        TouchingCommits {
            places: touching.map(|(place, _)| place).collect(),
        }
    }

    /// The number of the last one, counted from 1; 0 is the commit before the range.
    pub(super) fn last(&self) -> usize {
        self.places.len()
    }

    /// The index in the range of the commit with this number.
    pub(super) fn place(&self, at: usize) -> usize {
        let at = at.checked_sub(1);
        let place = at.and_then(|at| self.places.get(at));
        place.copied().unwrap_or_default()
    }

    /// The most verdicts that a search takes if all commits can be tested: one on the end of the
    /// range, one for each commit tried in between, and one on the culprit against its parent.
    pub(super) fn verdicts(&self) -> u32 {
        2 + super::search::tries(self.last())
    }
}

/// Refuses a range that does not start at the commit that the user calls good: the first commit in
/// the range would not be based on it.
pub(super) fn begins_at(change: &SourceChange, good: &str, end: &str) -> Result<(), Failure> {
    let good = if good.is_empty() { "HEAD" } else { good };
    let id = change.resolve(good);
    if id.as_deref() == Some(&change.base.id) {
        return Ok(());
    }
    let base = change.base.short();
    Err(Failure::Argument(format!(
        "{good} is not a first-parent ancestor of the end of the range; the range begins at {base} \
         ({}): write {base}..{end} if {base} is good too",
        change.base.subject
    )))
}

#[cfg(test)]
mod tests {
    use assize_target::testbed::PARTS;

    use super::*;

    #[test]
    fn commits_that_touch_nothing_that_is_built_are_passed_over() {
        let commit = |paths: &[&str]| Commit {
            id: String::new(),
            subject: String::new(),
            written: None,
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        };
        let main = "drivers/gpu/drm/scheduler/sched_main.c";
        let commits = [
            commit(&["MAINTAINERS"]),
            commit(&["MAINTAINERS", main]),
            commit(&[]),
            commit(&["include/drm/gpu_scheduler.h"]),
            commit(&["drivers/gpu/drm/scheduler.c"]),
        ];
        let line = TouchingCommits::in_range(&commits, &BuildScope::Modules(&PARTS[0]));
        assert_eq!(line.last(), 2);
        assert_eq!((line.place(1), line.place(2)), (1, 3));
        assert_eq!(line.verdicts(), 3);
        // For the whole kernel, everything but documentation is built.
        let whole = TouchingCommits::in_range(&commits, &BuildScope::Kernel("mm/slub.c".into()));
        assert_eq!((whole.last(), whole.place(3)), (3, 4));
    }
}
