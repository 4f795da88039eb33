//! Whether names are those of several workloads or devices, and not of configurations.

use std::collections::BTreeSet;

use crate::listed::lowercase;

/// The words of a name. `w/o`, `5.10-rc3` and `x_y` are one.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let lower = lowercase(name);
    let marks = |c: char| matches!(c, '/' | '.' | '_' | '-' | '+' | '%' | '\'');
    for word in lower.split(|c: char| !(c.is_alphanumeric() || marks(c))) {
        let word = word.trim_matches(|c: char| matches!(c, '.' | '-' | '_' | '\''));
        // `w/o_cache` and `w/_cache` say the opposite of each other.
        let state = ["w/o", "w/"].into_iter().find_map(|state| {
            let rest = word.strip_prefix(state)?.strip_prefix(['_', '-'])?;
            Some((state, rest)).filter(|_| !rest.is_empty())
        });
        if let Some((state, _)) = state {
            words.push(state.to_string());
        }
        let word = state.map_or(word, |(_, rest)| rest);
        let parted = word.len() > 3 && !is_version(word) && !word.starts_with("w/");
        let part = |c: char| parted && matches!(c, '-' | '_' | '/' | '+');
        let parts = word.split(part).filter(|part| !part.is_empty());
        words.extend(parts.map(str::to_string));
    }
    words
}

/// `5.10`, `v6.1-rc3`, `4.19.91-ck2`.
pub(super) fn is_version(word: &str) -> bool {
    if !word.contains('.') {
        return false;
    }
    let bare = word.trim_start_matches(['v', 'V']);
    let number = bare.split(['-', '+', '_']).next().unwrap_or(bare);
    let parts: Vec<&str> = number.split('.').collect();
    (2..=4).contains(&parts.len())
        && parts
            .iter()
            .all(|p| (1..=3).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
        && parts[0]
            .parse::<u32>()
            .is_ok_and(|major| (2..=9).contains(&major))
}

/// An abbreviated commit.
pub(super) fn is_commit(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Whether names differ in nothing but the model of a device or a machine: `read on the
/// AB100 SSD` and `read on the CD200 SSD`.
pub(crate) fn of_several_devices(names: &[&str]) -> bool {
    const DEVICES: [&str; 8] = [
        "ssd", "hdd", "disk", "drive", "cpu", "machine", "server", "laptop",
    ];
    let model = |name: &&str| {
        let mut words = words(name);
        let at = words
            .iter()
            .position(|word| DEVICES.contains(&word.as_str()))?;
        let model = at.checked_sub(1).map(|at| words.remove(at))?;
        let numbered = |of: fn(&u8) -> bool| model.bytes().any(|b| of(&b));
        (numbered(u8::is_ascii_digit) && numbered(u8::is_ascii_alphabetic))
            .then_some((model, words))
    };
    let parted: Option<Vec<(String, Vec<String>)>> = names.iter().map(model).collect();
    parted.is_some_and(|parted| {
        let models: BTreeSet<&String> = parted.iter().map(|(model, _)| model).collect();
        let rests: BTreeSet<&Vec<String>> = parted.iter().map(|(_, rest)| rest).collect();
        models.len() >= 2 && models.len() == names.len() && rests.len() == 1
    })
}

/// The numbers in a name that may be parameters: `8` of `8 jobs, before`, and none of
/// `v6.8-rc2`.
fn parameters(name: &str) -> BTreeSet<String> {
    let number = |word: &String| {
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
        unit.len() < word.len() && unit.len() <= 2 && unit.bytes().all(|b| b.is_ascii_alphabetic())
    };
    words(name).into_iter().filter(number).collect()
}

/// Whether names are of several workloads, each measured with several configurations:
/// `8 jobs, before`, `8 jobs, after`, `16 jobs, before`, `16 jobs, after`.
pub(crate) fn of_several_workloads(names: &[&str]) -> bool {
    let all: Vec<BTreeSet<String>> = names.iter().take(24).map(|name| parameters(name)).collect();
    let distinct: BTreeSet<&BTreeSet<String>> = all.iter().filter(|own| !own.is_empty()).collect();
    let again = distinct
        .into_iter()
        .filter(|own| all.iter().filter(|other| other == own).count() >= 2);
    again.count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_devices_are_no_configurations() {
        assert!(of_several_devices(&[
            "raw speed, AB100 SSD",
            "raw speed, CD9C SSD"
        ]));
        for names in [
            ["raw speed, AB100 SSD", "slow speed, CD9C SSD"],
            ["raw speed, one SSD", "raw speed, no SSD"],
            ["raw speed, AB100", "raw speed, CD9C"],
        ] {
            assert!(!of_several_devices(&names), "{names:?}");
        }
    }

    #[test]
    fn names_of_several_workloads_are_told_by_their_numbers() {
        for names in [
            &[
                "8 jobs, before",
                "8 jobs, after",
                "16 jobs, before",
                "16 jobs, after",
            ][..],
            &["T1_3", "T1_3 after defrag", "T1_4", "T1_4 after defrag"],
        ] {
            assert!(of_several_workloads(names), "{names:?}");
        }
        for names in [
            &["before", "after"][..],
            &["before 4.19", "after 4.19", "before 5.10", "after 5.10"],
            &["base", "with 2 patches", "with 4 patches"],
            &["8 threads", "16 threads"],
            &["v1", "v1 fast", "v2", "v2 fast"],
        ] {
            assert!(!of_several_workloads(names), "{names:?}");
        }
    }
}
