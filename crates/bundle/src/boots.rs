//! The boots of hosts that runs come from.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The fact that names a run's boot: `/proc/sys/kernel/random/boot_id`.
const FACT: &str = "boot_id";
/// The beginning of a limit that older bundles state although their runs do not record a boot.
const UNFOUNDED: &str = "Runs of a host are of one machine and one boot of it";

/// The boots of hosts that runs come from; empty for runs of virtual machines, each of which has
/// its own boot or image.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Boots {
    /// The kernel's boot IDs.
    pub ids: BTreeSet<String>,
    /// Whether the boot of some runs is unknown.
    pub unknown: bool,
}

impl Boots {
    /// Whether there are no runs of hosts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Boots::default()
    }

    /// Adds a run on a host, given its environment.
    pub(crate) fn take(&mut self, environment: &BTreeMap<String, String>) {
        match environment.get(FACT) {
            Some(id) => self.ids.extend([id.clone()]),
            None => self.unknown = true,
        }
    }

    /// Adds the boots of other runs.
    pub fn join(&mut self, other: Boots) {
        self.ids.extend(other.ids);
        self.unknown |= other.unknown;
    }

    /// The ID of a boot that both have runs from.
    #[must_use]
    pub fn shared<'a>(&'a self, other: &'a Boots) -> Option<&'a str> {
        self.ids.intersection(&other.ids).next().map(String::as_str)
    }

    /// The consequence for the scope of verdicts, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let such = "such as where the kernel and its data lie in memory";
        Some(match (self.ids.len(), self.unknown) {
            (0, false) => return None,
            (1, false) => format!(
                "All runs are of one boot of one machine: whatever was fixed at boot, {such}, is \
                 the same in all of them, and a verdict holds for that boot only."
            ),
            (boots, false) => format!(
                "The runs are of {boots} boots: whatever was fixed at boot, {such}, is the same in \
                 all runs of a boot."
            ),
            (_, true) => format!(
                "The boot of the runs is not recorded: whatever is fixed at boot, {such}, may be \
                 the same in all of them."
            ),
        })
    }
}

/// Drops from a bundle's limits the one about boots that its runs do not support.
pub(crate) fn borne_out(limits: Vec<String>) -> Vec<String> {
    let is_founded = |limit: &String| !limit.starts_with(UNFOUNDED);
    limits.into_iter().filter(is_founded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boots(ids: &[Option<&str>]) -> Boots {
        let mut boots = Boots::default();
        for id in ids {
            let fact = id.map(|id| (FACT.to_owned(), id.to_owned()));
            boots.take(&fact.into_iter().collect());
        }
        boots
    }

    #[test]
    fn one_boot_is_said_only_where_all_runs_name_the_same() {
        let said = |ids: &[Option<&str>]| boots(ids).sentence().unwrap_or_default();
        assert!(said(&[Some("a"), Some("a")]).contains("one boot"));
        assert!(said(&[Some("a"), Some("b")]).starts_with("The runs are of 2 boots"));
        for unknown in [&[None, None][..], &[Some("a"), None]] {
            assert!(said(unknown).starts_with("The boot of the runs is not recorded"));
        }
        assert_eq!(boots(&[]).sentence(), None);
    }

    #[test]
    fn a_boot_is_shared_if_both_name_it() {
        let (one, other) = (boots(&[Some("a"), Some("b")]), boots(&[Some("b")]));
        assert_eq!(one.shared(&other), Some("b"));
        assert_eq!(one.shared(&boots(&[Some("c"), None])), None);
        assert_eq!(boots(&[None]).shared(&boots(&[None])), None);
    }
}
