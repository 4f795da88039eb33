//! The targets of the trials.

use std::ffi::OsString;

use super::sshd::{self, Sshd};

/// A target on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Exact,
    Host,
    Ssh,
}

/// All targets, in the order in which they are used.
pub(super) const NAMES: &[Name] = &[Name::Exact, Name::Host, Name::Ssh];

impl Name {
    /// The name on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Name::Exact => "exact",
            Name::Host => "host",
            Name::Ssh => "ssh:localhost",
        }
    }
}

/// A prepared target.
pub(super) struct Target {
    name: Name,
    word: String,
    /// The sshd of a remote target; it ends with this value.
    sshd: Option<Sshd>,
}

impl Target {
    pub(super) fn new(name: Name, sshd: Option<Sshd>) -> Target {
        let word = match &sshd {
            Some(_) => format!("ssh:{}", sshd::HOST),
            None => name.word().to_owned(),
        };
        Target { name, word, sshd }
    }

    /// The name in file names and in the table.
    pub(super) fn name(&self) -> &'static str {
        match self.name {
            Name::Exact => "exact",
            Name::Host => "host",
            Name::Ssh => "ssh",
        }
    }

    /// The argument of `--target`.
    pub(super) fn word(&self) -> &str {
        &self.word
    }

    /// Whether it is a real machine, whose settings must not be changed and which is not quiet.
    pub(super) fn is_real(&self) -> bool {
        self.name != Name::Exact
    }

    /// The metric of the probe's loop. On a real machine, it is the time of the fastest part of the
    /// loop, because other processes use the CPU too.
    pub(super) fn metric(&self) -> &'static str {
        if self.is_real() {
            "loop_fastest"
        } else {
            "loop_time"
        }
    }

    /// The length of the probe's loop: `2` takes 4 ms on the exact machine. On a real machine, a
    /// tenth of the loop takes at least half a millisecond and must fit between two interruptions.
    pub(super) fn units(&self) -> &'static str {
        if self.is_real() { "20" } else { "2" }
    }

    /// The PATH of the target's programs, if not the usual one.
    pub(super) fn path(&self) -> Option<OsString> {
        let sshd = self.sshd.as_ref()?;
        let mut path = sshd.path.clone().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Some(path)
    }
}
