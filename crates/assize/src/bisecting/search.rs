//! Chooses the commit to try next. Pure: commits are indices, and the choice depends only
//! on what is known of them.

use std::collections::BTreeMap;

/// The knowledge about a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommitFinding {
    /// The claim is upheld for it.
    Has,
    /// The claim is refuted for it.
    Lacks,
    /// Unknown: it does not build, or the verdict stays undecided.
    Untestable,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SearchStep {
    /// Try the commit at this index.
    Try(usize),
    /// The commit at this index is the first with the property; the one before it lacks
    /// it.
    Found(usize),
    /// One of these commits; all but the last cannot be tested.
    OneOf(Vec<usize>),
}

/// The next step for commits 0 to `last`. The first lacks the property, whatever `known` says about
/// it; the last is assumed to have it.
///
/// Each commit that can be tested halves the remaining ones: if all can be tested, at
/// most log2 of `last`, rounded up, are tried. If some cannot be tested, the one nearest
/// to the middle comes next, the older one of two.
///
/// The last is tried only where it matters: an earlier commit with the property proves
/// that there is something to find. Without one, the last is tried before it is named,
/// and also as soon as a commit cannot be tested: otherwise a claim that is undecided for
/// all commits would be tried on each.
pub(super) fn next(last: usize, known: &BTreeMap<usize, CommitFinding>) -> SearchStep {
    let (lacks, has) = ends(last, known);
    let middle = lacks.midpoint(has);
    let open = (lacks + 1..has).filter(|at| !known.contains_key(at));
    let open = open.min_by_key(|at| (at.abs_diff(middle), *at));
    let untestable = known.values().any(|one| *one == CommitFinding::Untestable);
    if has == last && !known.contains_key(&last) && (open.is_none() || untestable) {
        return SearchStep::Try(last);
    }
    match open {
        Some(at) => SearchStep::Try(at),
        None if has == lacks + 1 => SearchStep::Found(has),
        None => SearchStep::OneOf((lacks + 1..=has).collect()),
    }
}

/// The last commit that lacks the property, and the first one after it that has it.
pub(super) fn ends(last: usize, known: &BTreeMap<usize, CommitFinding>) -> (usize, usize) {
    let of = |wanted| {
        let all = known.iter().filter(move |(_, known)| **known == wanted);
        all.map(|(at, _)| *at).filter(|at| *at < last)
    };
    let lacks = of(CommitFinding::Lacks).max().unwrap_or(0);
    let has = of(CommitFinding::Has).filter(|at| *at > lacks).min();
    (lacks, has.unwrap_or(last))
}

/// Maximum number of commits tried if all can be tested.
pub(super) fn tries(last: usize) -> u32 {
    last.max(1).next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The last step of the search, and which commits it tried.
    fn search(truth: &[CommitFinding]) -> (SearchStep, Vec<usize>) {
        let last = truth.len() - 1;
        let (mut known, mut tried) = (BTreeMap::new(), Vec::new());
        loop {
            match next(last, &known) {
                SearchStep::Try(at) => {
                    assert!(known.insert(at, truth[at]).is_none(), "{at} twice");
                    tried.push(at);
                }
                end => return (end, tried),
            }
        }
    }

    /// `.` lacks the property, `#` has it, `?` cannot be tested.
    fn truth(text: &str) -> Vec<CommitFinding> {
        let of = |c| match c {
            '.' => CommitFinding::Lacks,
            '#' => CommitFinding::Has,
            _ => CommitFinding::Untestable,
        };
        text.chars().map(of).collect()
    }

    fn found(text: &str) -> (SearchStep, usize) {
        let (end, tried) = search(&truth(text));
        (end, tried.len())
    }

    #[test]
    fn each_of_sixteen_commits_is_found_with_four_builds() {
        for first in 1..=16 {
            let all: String = (0..=16)
                .map(|at| if at < first { '.' } else { '#' })
                .collect();
            let (end, tried) = found(&all);
            assert_eq!(end, SearchStep::Found(first), "{all}");
            // The last is tried if it is the culprit.
            assert_eq!(tried, if first == 16 { 5 } else { 4 }, "{all}");
        }
        assert_eq!(tries(16), 4);
    }

    #[test]
    fn of_one_commit_it_is_tried() {
        assert_eq!(found(".#"), (SearchStep::Found(1), 1));
        assert_eq!((tries(1), tries(2), tries(3)), (0, 1, 2));
    }

    #[test]
    fn the_last_is_tried_where_nothing_before_it_has_it() {
        let tried = |text| search(&truth(text)).1;
        assert_eq!(tried("....#"), [2, 3, 4], "before it is named");
        assert_eq!(
            tried("..?.#"),
            [2, 4, 1, 3],
            "once something cannot be tested"
        );
        assert_eq!(tried("...##"), [2, 3], "not where another proves it");
        assert_eq!(tried("??.##"), [2, 3]);
    }

    #[test]
    fn what_cannot_be_tested_is_passed_over_to_the_next_nearest() {
        assert_eq!(found("....?####").0, SearchStep::OneOf(vec![4, 5]));
        assert_eq!(found("..?.?####").0, SearchStep::OneOf(vec![4, 5]));
        assert_eq!(found(".....?###").0, SearchStep::OneOf(vec![5, 6]));
        // An untestable commit next to the change, on its far side, does not matter.
        assert_eq!(found("...#?####").0, SearchStep::Found(3));
        assert_eq!(found("..?.#####").0, SearchStep::Found(4));
        let (_, tried) = search(&truth("....?####"));
        assert_eq!(tried, [4, 8, 3, 5], "the older of two that are as near");
    }

    #[test]
    fn where_nothing_between_can_be_tested_all_are_named() {
        assert_eq!(found(".????#"), (SearchStep::OneOf(vec![1, 2, 3, 4, 5]), 5));
        assert_eq!(found(".?#"), (SearchStep::OneOf(vec![1, 2]), 2));
    }

    #[test]
    fn of_a_history_that_goes_back_and_forth_it_finds_a_place_that_begins() {
        for text in [".#.#", "..##..##", ".#.#.#.#.#", ".##.....#"] {
            let all = truth(text);
            let (SearchStep::Found(at), _) = search(&all) else {
                panic!("{text}");
            };
            assert_eq!(
                (all[at - 1], all[at]),
                (CommitFinding::Lacks, CommitFinding::Has),
                "{text} {at}"
            );
        }
    }

    #[test]
    fn what_is_known_beforehand_is_not_tried_again() {
        let known = BTreeMap::from([(8, CommitFinding::Lacks), (12, CommitFinding::Has)]);
        assert_eq!(next(16, &known), SearchStep::Try(10));
        assert_eq!(ends(16, &known), (8, 12));
        // The state of the first commit is fixed.
        let odd = BTreeMap::from([(0, CommitFinding::Has), (2, CommitFinding::Lacks)]);
        assert_eq!(next(2, &odd), SearchStep::Try(1));
    }

    proptest! {
        #[test]
        fn every_history_ends_at_a_beginning_or_at_what_cannot_be_tested(
            middle in proptest::collection::vec(0..3u8, 0..40)
        ) {
            let of = |kind: &u8| [CommitFinding::Lacks, CommitFinding::Has, CommitFinding::Untestable][usize::from(*kind)];
            let mut all = vec![CommitFinding::Lacks];
            all.extend(middle.iter().map(of));
            all.push(CommitFinding::Has);
            let (end, tried) = search(&all);
            prop_assert!(tried.len() <= middle.len() + 1);
            let last_is_named = !matches!(end, SearchStep::Found(at) if at < all.len() - 1)
                && !matches!(&end, SearchStep::OneOf(places) if places.last() < Some(&(all.len() - 1)));
            prop_assert!(!last_is_named || tried.contains(&(all.len() - 1)), "{tried:?}");
            match end {
                SearchStep::Found(at) => {
                    prop_assert_eq!(all[at], CommitFinding::Has);
                    prop_assert_eq!(all[at - 1], CommitFinding::Lacks);
                }
                SearchStep::OneOf(places) => {
                    let (first, last) = (places[0], places[places.len() - 1]);
                    prop_assert!(places.len() > 1);
                    prop_assert_eq!(all[first - 1], CommitFinding::Lacks);
                    prop_assert_eq!(all[last], CommitFinding::Has);
                    let all_are = all[first..last].iter().all(|one| *one == CommitFinding::Untestable);
                    prop_assert!(all_are);
                }
                SearchStep::Try(_) => prop_assert!(false),
            }
        }

        #[test]
        fn one_change_among_commits_that_can_be_tested_takes_few_tries(
            last in 1..200usize, share in 0.0..1.0f64
        ) {
            let first = 1 + ((last as f64 - 1.0) * share) as usize;
            let all: Vec<CommitFinding> = (0..=last)
                .map(|at| if at < first { CommitFinding::Lacks } else { CommitFinding::Has })
                .collect();
            let (end, tried) = search(&all);
            prop_assert_eq!(end, SearchStep::Found(first));
            prop_assert!(tried.len() <= tries(last) as usize + usize::from(first == last));
        }
    }
}
