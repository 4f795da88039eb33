//! Resolves names that users type: case-insensitive, and by any unique prefix.

use strsim::levenshtein;

/// The kind of thing that a name refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// A configuration.
    Configuration,
    /// A workload.
    Workload,
    /// A metric or an event.
    Metric,
}

/// A name that matches nothing, or several things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameError {
    /// The kind of thing that the name should refer to.
    pub kind: NameKind,
    /// The name as given.
    pub given: String,
    /// Whether it matches several things; otherwise it matches none.
    pub ambiguous: bool,
    /// The names that match, or all names if none does.
    pub candidates: Vec<String>,
    /// The closest name, if none matches.
    pub nearest: Option<String>,
}

/// The index of the candidate that `given` refers to.
///
/// An exact match has priority over a match without regard to case, and that over a prefix, which
/// must match only one candidate. Runs of white space count as one space.
pub(crate) fn resolve(
    kind: NameKind,
    given: &str,
    candidates: &[String],
) -> Result<usize, NameError> {
    let wanted = folded(given);
    if let Some(exact) = candidates.iter().position(|c| c == given) {
        return Ok(exact);
    }
    let folds: Vec<String> = candidates.iter().map(|c| folded(c)).collect();
    let same = fitting(&folds, |c| c == wanted);
    let fits = if same.is_empty() && !wanted.is_empty() {
        fitting(&folds, |c| c.starts_with(&wanted))
    } else {
        same
    };
    if let [one] = fits[..] {
        return Ok(one);
    }
    Err(NameError {
        kind,
        given: given.to_owned(),
        ambiguous: !fits.is_empty(),
        nearest: nearest(&wanted, &folds).map(|i| candidates[i].clone()),
        candidates: if fits.is_empty() {
            candidates.to_vec()
        } else {
            fits.iter().map(|&i| candidates[i].clone()).collect()
        },
    })
}

/// A name in lower case with white space collapsed.
pub(crate) fn folded(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

fn fitting(folds: &[String], fits: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..folds.len()).filter(|&i| fits(&folds[i])).collect()
}

/// The candidate that contains `wanted`, else the one at the smallest edit
/// distance; the first of ties.
fn nearest(wanted: &str, folds: &[String]) -> Option<usize> {
    if !wanted.is_empty()
        && let Some(containing) = folds.iter().position(|c| c.contains(wanted))
    {
        return Some(containing);
    }
    (0..folds.len()).min_by_key(|&i| levenshtein(wanted, &folds[i]))
}

/// The candidate that `given` probably means: one that contains it or differs in
/// few characters.
pub fn similar<'c, S: AsRef<str>>(given: &str, candidates: &'c [S]) -> Option<&'c S> {
    let wanted = folded(given);
    let folds: Vec<String> = candidates.iter().map(|c| folded(c.as_ref())).collect();
    let near = nearest(&wanted, &folds)?;
    let most = 1 + folds[near].chars().count() / 3;
    let alike = !wanted.is_empty()
        && (folds[near].contains(&wanted) || levenshtein(&wanted, &folds[near]) <= most);
    alike.then(|| &candidates[near])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    fn find(given: &str, names: &[&str]) -> Result<usize, NameError> {
        resolve(NameKind::Configuration, given, &list(names))
    }

    #[test]
    fn an_exact_name_wins_over_the_prefix_of_another() {
        assert_eq!(find("IRQ", &["IRQ plus bypass", "IRQ"]), Ok(1));
        assert_eq!(find("irq", &["IRQ plus bypass", "IRQ"]), Ok(1));
        assert_eq!(find("irq  PLUS", &["IRQ plus bypass", "IRQ"]), Ok(0));
    }

    #[test]
    fn an_ambiguous_prefix_lists_what_it_fits() {
        let error = find("drm", &["DRM sched", "DRM dep", "other"]).unwrap_err();
        assert!(error.ambiguous);
        assert_eq!(error.candidates, list(&["DRM sched", "DRM dep"]));
        assert_eq!(
            error.to_string(),
            "\"drm\" fits more than one configuration: DRM sched, DRM dep"
        );
    }

    #[test]
    fn an_unknown_name_names_the_nearest() {
        let error = find("bypas plus irq", &["DRM sched", "IRQ plus bypass"]).unwrap_err();
        assert!(!error.ambiguous);
        assert_eq!(error.nearest.as_deref(), Some("IRQ plus bypass"));
        let error = find("energy-pkg", &["energy", "power/energy-pkg/"]).unwrap_err();
        assert_eq!(error.nearest.as_deref(), Some("power/energy-pkg/"));
        assert!(find("", &["a"]).is_err());
    }

    #[test]
    fn only_what_is_alike_may_have_been_meant() {
        let names = list(&["jitter", "latency_ns_p99", "jobs"]);
        let alike = |given: &str| similar(given, &names).map(String::as_str);
        assert_eq!(alike("jiter"), Some("jitter"));
        assert_eq!(alike("p99"), Some("latency_ns_p99"));
        assert_eq!(alike("context_switches"), None);
        assert_eq!((alike(""), similar("a", &[] as &[String])), (None, None));
    }

    #[test]
    fn names_that_differ_in_case_only_need_the_exact_one() {
        assert_eq!(find("A", &["a", "A"]), Ok(1));
        assert_eq!(find("Ab", &["ab", "AB", "Ab"]), Ok(2));
        assert!(find("aB", &["ab", "AB"]).unwrap_err().ambiguous);
    }
}
