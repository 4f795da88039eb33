//! Lines of several reports behind the names of the files they were found in.

use std::collections::BTreeMap;

use crate::grammar::{Block, Finding, Labels};

/// So many files with numbers in a row are of repetitions: two may be of anything.
const FEWEST: u32 = 3;

/// Where files are called `base.1.fio`, `base.2.fio` and so on, without a gap, each is of
/// one run of `base`.
pub(super) fn count(block: &mut Block) {
    let mut numbers: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (_, finding) in &block.findings {
        let name = labels(finding).and_then(|labels| labels.configuration.as_deref());
        if let Some((stem, number)) = name.and_then(numbered) {
            numbers.entry(stem.to_owned()).or_default().push(number);
        }
    }
    let counted = |all: &Vec<u32>| {
        let first = all.first().copied().unwrap_or_default();
        let told = u32::try_from(all.len()).is_ok_and(|n| n >= FEWEST);
        first <= 1 && told && (first..).zip(all).all(|(number, own)| number == *own)
    };
    numbers.retain(|_, all| counted(all));
    for (_, finding) in &mut block.findings {
        let Finding::Run { labels, .. } = finding else {
            continue;
        };
        let parted = labels.configuration.as_deref().and_then(numbered);
        if let Some((stem, number)) = parted.filter(|(stem, _)| numbers.contains_key(*stem)) {
            let stem = stem.to_owned();
            labels.configuration = Some(stem);
            labels.repetition = Some(number);
        }
    }
}

fn labels(finding: &Finding) -> Option<&Labels> {
    match finding {
        Finding::Run { labels, .. } => Some(labels),
        _ => None,
    }
}

/// `base.1.fio`, `base-2.txt`, `base_3.log`: a name and a number.
fn numbered(file: &str) -> Option<(&str, u32)> {
    const ENDS: [&str; 5] = [".fio", ".log", ".out", ".txt", ".res"];
    let name = ENDS.iter().find_map(|end| file.strip_suffix(end))?;
    let (stem, number) = name.rsplit_once(['.', '-', '_'])?;
    let fits = !stem.is_empty() && !file.contains(' ') && number.len() <= 3;
    let number = number.parse().ok().filter(|_| fits)?;
    Some((stem, number))
}

#[cfg(test)]
mod tests {
    use super::super::Fio;
    use crate::grammar::testing;

    /// Configuration and repetition of each run.
    fn runs(text: &str) -> Vec<(String, Option<u32>)> {
        let runs = testing::runs(&Fio, text).into_iter();
        runs.map(|(labels, _)| (labels.configuration.unwrap_or_default(), labels.repetition))
            .collect()
    }

    fn post(names: &[&str]) -> String {
        let line = |name: &&str| format!("{name}:  read: IOPS=75k, BW=293MiB/s (307MB/s)\n");
        names.iter().map(line).collect()
    }

    #[test]
    fn files_with_numbers_in_a_row_are_of_one_configuration() {
        let told = |name: &str, number| (name.to_owned(), Some(number));
        assert_eq!(
            runs(&post(&["old.1.fio", "old.2.fio", "old.3.fio"])),
            [told("old", 1), told("old", 2), told("old", 3)]
        );
        let both = [
            "a-0.txt", "a-1.txt", "a-2.txt", "b-0.txt", "b-1.txt", "b-2.txt",
        ];
        assert_eq!(runs(&post(&both))[5], told("b", 2));
    }

    #[test]
    fn files_with_other_numbers_are_what_they_are_called() {
        for names in [
            // Numbers of jobs.
            &["old.1.fio", "old.2.fio", "old.4.fio"][..],
            &["old.1.fio", "old.2.fio"],
            &["old.7.fio", "old.8.fio", "old.9.fio"],
            &["old.1.dat", "old.2.dat", "old.3.dat"],
        ] {
            let told = |name: &&str| ((*name).to_owned(), None);
            let all: Vec<_> = names.iter().map(told).collect();
            assert_eq!(runs(&post(names)), all);
        }
    }
}
