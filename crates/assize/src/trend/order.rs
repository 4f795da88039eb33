//! The order of bundles in a trend.

use std::cmp::Ordering;

use assize_bundle::Head;
use assize_report::TrendPoint;
use assize_series::GitRepository;

use super::{TrendBundle, point};
use crate::cli::{TrendArguments, TrendOrder};
use crate::failure::Failure;
use crate::library::{day, last_run_ended};
use crate::run::REVISION;
use crate::trying::described;

/// Prefix of the kernels that `assize try` builds; the commit follows.
const OF_TRY: &str = "kernel try-";

pub(super) struct OrderedBundles {
    /// The name of the order: `commit`, `date` or `path`.
    pub(super) by: &'static str,
    pub(super) entries: Vec<TrendBundle>,
    /// The bundles as they are shown.
    pub(super) points: Vec<TrendPoint>,
}

/// The revision that was run: as given, or that of the kernel if exactly one was built from a
/// commit.
pub(super) fn revision(head: &Head) -> Option<String> {
    if let Some(given) = head.facts.get(REVISION) {
        return Some(given.clone());
    }
    let mut built = head
        .facts
        .keys()
        .filter_map(|name| name.strip_prefix(OF_TRY));
    let only = built.next()?;
    built.next().is_none().then(|| only.to_owned())
}

/// Sorts bundles in the requested order; by default by commit if that is possible, else by date.
pub(super) fn ordered(
    entries: Vec<TrendBundle>,
    arguments: &TrendArguments,
) -> Result<OrderedBundles, Failure> {
    let all: Vec<(TrendBundle, TrendPoint)> = entries
        .into_iter()
        .map(|entry| {
            let point = point(&entry);
            (entry, point)
        })
        .collect();
    match arguments.order {
        Some(TrendOrder::Commit) => Ok(by_commit(commits(&all, arguments)?, all)),
        Some(TrendOrder::Date) => by_date(all),
        Some(TrendOrder::Path) => Ok(by_path(all)),
        None => match commits(&all, arguments) {
            Ok(known) => Ok(by_commit(known, all)),
            Err(_) => by_date(all),
        },
    }
}

type BundlesWithPoints = Vec<(TrendBundle, TrendPoint)>;

fn apart(by: &'static str, all: BundlesWithPoints) -> OrderedBundles {
    let (entries, points) = all.into_iter().unzip();
    OrderedBundles {
        by,
        entries,
        points,
    }
}

struct BundleCommit {
    id: String,
    committed: i64,
}

/// Sorts by commit time; commits with the same time are sorted by ancestry.
fn by_commit(
    (repository, known): (GitRepository, Vec<BundleCommit>),
    all: BundlesWithPoints,
) -> OrderedBundles {
    let mut both: Vec<(BundleCommit, (TrendBundle, TrendPoint))> =
        known.into_iter().zip(all).collect();
    both.sort_by(|(a, one), (b, other)| {
        let by_time = a.committed.cmp(&b.committed);
        by_time.then_with(|| match a.id == b.id {
            true => earlier(&one.0, &other.0),
            false if repository.is_ancestor(&a.id, &b.id) => Ordering::Less,
            false if repository.is_ancestor(&b.id, &a.id) => Ordering::Greater,
            false => a.id.cmp(&b.id),
        })
    });
    let named = both.into_iter().map(|(known, (entry, mut point))| {
        point.date = Some(day(known.committed as f64));
        if let Ok(commit) = repository.describe(&known.id) {
            point.subject = Some(described(&commit).subject);
        }
        point.revision = Some(known.id);
        (entry, point)
    });
    apart("commit", named.collect())
}

/// Orders two bundles of the same commit: the older one first.
fn earlier(one: &TrendBundle, other: &TrendBundle) -> Ordering {
    let [a, b] = [one, other].map(|entry| last_run_ended(&entry.path).unwrap_or_default());
    a.total_cmp(&b).then_with(|| one.path.cmp(&other.path))
}

/// The commits of all bundles, and the repository that has them.
fn commits(
    all: &BundlesWithPoints,
    arguments: &TrendArguments,
) -> Result<(GitRepository, Vec<BundleCommit>), Failure> {
    let tree = arguments.tree.display();
    let repository = GitRepository::open(&arguments.tree)
        .map_err(|error| Failure::Argument(format!("--order commit: {tree}: {error}")))?;
    let mut known = Vec::new();
    for (_, point) in all {
        let path = &point.path;
        let Some(name) = &point.revision else {
            return Err(Failure::Argument(format!(
                "--order commit: {path}: records no revision (assize run --revision); give --order \
                 date"
            )));
        };
        let Some(id) = repository.resolve(name) else {
            return Err(Failure::Argument(format!(
                "--order commit: {path}: its revision {name} is not in {tree}; name a tree that \
                 has it: --tree DIR, or give --order date"
            )));
        };
        let committed = repository
            .committed(&id)
            .map_err(|error| Failure::Argument(format!("--order commit: {error}")))?;
        known.push(BundleCommit { id, committed });
    }
    Ok((repository, known))
}

fn by_date(all: BundlesWithPoints) -> Result<OrderedBundles, Failure> {
    let mut dated = Vec::new();
    for (entry, mut point) in all {
        let Some(at) = last_run_ended(&entry.path) else {
            return Err(Failure::Argument(format!(
                "{}: the end of its runs is not recorded; give --order path",
                point.path
            )));
        };
        point.date = Some(day(at));
        dated.push((at, entry, point));
    }
    // The sort is stable: bundles that ended at the same time stay sorted by path.
    dated.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all = dated.into_iter().map(|(_, entry, point)| (entry, point));
    Ok(apart("date", all.collect()))
}

fn by_path(mut all: BundlesWithPoints) -> OrderedBundles {
    for (entry, point) in &mut all {
        point.date = last_run_ended(&entry.path).map(day);
    }
    all.sort_by(|(_, a), (_, b)| natural(&a.path, &b.path));
    apart("path", all)
}

/// Compares names, treating numbers in them as numbers: `n9` before `n10`.
fn natural(one: &str, other: &str) -> Ordering {
    let (a, b) = (runs_of(one), runs_of(other));
    let number = |text: &str| text.trim_start_matches('0').to_owned();
    for (a, b) in a.iter().zip(&b) {
        let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let order = match digits(a) && digits(b) {
            true => {
                let (a, b) = (number(a), number(b));
                a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
            }
            false => a.cmp(b),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len()).then_with(|| one.cmp(other))
}

/// Splits a text into runs of digits and runs of other characters.
fn runs_of(text: &str) -> Vec<&str> {
    let digit = |byte: &u8| byte.is_ascii_digit();
    let runs = text.as_bytes().chunk_by(|a, b| digit(a) == digit(b));
    let mut from = 0;
    runs.map(|run| {
        from += run.len();
        text.get(from - run.len()..from).unwrap_or_default()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_paths_are_numbers() {
        let mut names = ["n10", "n9", "n09", "m2/x", "m2", "v6.12.9", "v6.12.10", "n"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            ["m2", "m2/x", "n", "n09", "n9", "n10", "v6.12.9", "v6.12.10"]
        );
        assert_eq!(natural("é1", "é1"), Ordering::Equal);
    }

    #[test]
    fn a_revision_is_what_was_given_or_the_one_kernel_of_a_commit() {
        let of = |facts: &[(&str, &str)]| {
            let facts = facts
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()));
            revision(&Head {
                facts: facts.collect(),
                ..Head::default()
            })
        };
        assert_eq!(
            of(&[("kernel try-0123456789ab", "6.12")]),
            Some("0123456789ab".into())
        );
        let both = [("kernel try-0123456789ab", "6.12"), ("revision", "v6.12.3")];
        assert_eq!(of(&both), Some("v6.12.3".into()));
        assert_eq!(of(&[("kernel try-01", "6"), ("kernel try-02", "6")]), None);
        assert_eq!(of(&[("kernel debian:6.12", "6.12")]), None);
    }
}
