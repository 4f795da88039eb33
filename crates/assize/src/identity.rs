//! Whether a run used what was requested.

use std::collections::BTreeMap;

use assize_job::{IdentityKind, RunIdentityPart};

/// Digits of a digest that suffice to distinguish two.
const DIGITS: usize = 12;

/// A part that differs from the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdentityMismatch {
    wanted: RunIdentityPart,
    found: Option<String>,
}

impl std::fmt::Display for IdentityMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let RunIdentityPart { kind, name, value } = &self.wanted;
        let wanted = printed_value(*kind, value.as_deref().unwrap_or_default());
        let found = self.found.as_ref().map(|found| printed_value(*kind, found));
        let what = format!("{} {name}", kind.noun());
        let what = what.trim_end();
        match found {
            Some(found) => write!(f, "{what} was {found}, not {wanted}"),
            None => write!(f, "{what} ({wanted}) was missing"),
        }
    }
}

fn printed_value(kind: IdentityKind, value: &str) -> String {
    match kind.is_digest() {
        true => value.chars().take(DIGITS).collect(),
        false => format!("'{value}'"),
    }
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct IdentityComparison {
    /// Parts that differ from the request.
    pub(crate) differences: Vec<IdentityMismatch>,
    /// Settings whose value, as read back, does not show whether they match.
    pub(crate) unclear: Vec<IdentityMismatch>,
}

/// Compares the parts of a run with the requested ones.
///
/// `mapped`: whether the mapped libraries are known.
pub(crate) fn compare(
    expected: &[RunIdentityPart],
    observed: &[RunIdentityPart],
    mapped: bool,
) -> IdentityComparison {
    let found: BTreeMap<(IdentityKind, &str), &Option<String>> = observed
        .iter()
        .map(|part| ((part.kind, part.name.as_str()), &part.value))
        .collect();
    let mut compared = IdentityComparison::default();
    for wanted in expected {
        let told = mapped || wanted.kind != IdentityKind::Library;
        let image = wanted.kind == IdentityKind::Kernel && wanted.name == "image";
        // A guest cannot report its own image, which is always the one that was booted.
        if !told || image {
            continue;
        }
        let value = wanted.value.as_deref().unwrap_or_default();
        let (found, agreement) = match found.get(&(wanted.kind, wanted.name.as_str())) {
            None => (None, IdentityAgreement::No),
            Some(None) => (None, IdentityAgreement::Unclear),
            Some(Some(found)) => (Some(found.clone()), agrees(wanted, value, found)),
        };
        let difference = IdentityMismatch {
            wanted: wanted.clone(),
            found,
        };
        match agreement {
            IdentityAgreement::Yes => {}
            IdentityAgreement::No => compared.differences.push(difference),
            IdentityAgreement::Unclear => compared.unclear.push(difference),
        }
    }
    compared
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdentityAgreement {
    Yes,
    No,
    Unclear,
}

/// Whether the value read back matches the written one.
fn agrees(part: &RunIdentityPart, wanted: &str, found: &str) -> IdentityAgreement {
    let yes = |agreed: bool| match agreed {
        true => IdentityAgreement::Yes,
        false => IdentityAgreement::No,
    };
    let same = same_value(wanted, found);
    match part.kind {
        IdentityKind::Sysctl => yes(same),
        IdentityKind::Parameter => yes(same || same_switch(wanted, found)),
        IdentityKind::Setting if of_kernel(&part.name) => {
            if same || same_switch(wanted, found) || selects(found, wanted) {
                return IdentityAgreement::Yes;
            }
            among(found, wanted)
        }
        IdentityKind::Setting => yes(same),
        // The kernel may add options of its own to the command line.
        IdentityKind::CommandLine => yes(holds(found, wanted)),
        // `uname` has room for 64 characters.
        IdentityKind::Kernel if part.name == "version" && found.len() >= 63 => {
            yes(wanted.starts_with(found))
        }
        _ => yes(wanted == found),
    }
}

/// Whether the words of `wanted` occur in a line, one after the other.
fn holds(line: &str, wanted: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let wanted: Vec<&str> = wanted.split_whitespace().collect();
    wanted.is_empty() || words.windows(wanted.len()).any(|some| some == wanted)
}

fn of_kernel(path: &str) -> bool {
    let roots = ["/proc/", "/sys/", "/dev/"];
    roots.iter().any(|root| path.starts_with(root))
}

/// Compares word by word, numbers by value.
fn same_value(wanted: &str, found: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.trim().trim_matches('"').split_whitespace();
        words
            .map(|word| number(word).map_or_else(|| word.to_string(), |number| number.to_string()))
            .collect()
    };
    words(wanted) == words(found)
}

fn number(word: &str) -> Option<i128> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word),
    };
    let number = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => digits.parse::<i128>().ok()?,
    };
    Some(sign * number)
}

/// Whether both texts stand for the same boolean value.
fn same_switch(wanted: &str, found: &str) -> bool {
    let position = |text: &str| match text.trim() {
        "1" | "y" | "Y" | "on" | "true" | "enabled" => Some(true),
        "0" | "n" | "N" | "off" | "false" | "disabled" => Some(false),
        _ => None,
    };
    position(wanted).is_some() && position(wanted) == position(found)
}

/// Whether a list of choices marks `wanted` as selected: `none [mq-deadline]`.
fn selects(found: &str, wanted: &str) -> bool {
    let wanted = wanted.trim();
    let mut words = found.split_whitespace();
    words.any(|word| word == format!("[{wanted}]") || word == format!("({wanted})"))
}

/// Whether a list has a word set: scheduler features are listed with a prefix `NO_` if they are
/// off.
fn among(found: &str, wanted: &str) -> IdentityAgreement {
    let words: Vec<&str> = found.split_whitespace().collect();
    let wanted: Vec<&str> = wanted.split_whitespace().collect();
    let [wanted] = wanted[..] else {
        return IdentityAgreement::Unclear;
    };
    let opposite = match wanted.strip_prefix("NO_") {
        Some(feature) => feature.to_string(),
        None => format!("NO_{wanted}"),
    };
    // A different single word, or a list with a different choice marked.
    let marked = words
        .iter()
        .any(|word| word.starts_with(['[', '(']) && word.len() > 2);
    // A file that only accepts commands reads as empty: kmemleak after `clear`.
    if words.is_empty() {
        return IdentityAgreement::Unclear;
    }
    if words.len() == 1 || marked || words.contains(&opposite.as_str()) {
        return IdentityAgreement::No;
    }
    match words.contains(&wanted) {
        true => IdentityAgreement::Yes,
        false => IdentityAgreement::Unclear,
    }
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;
