//! The targets on which trials are carried out.

use std::ffi::OsString;

use super::sshd::{self, Sshd};

/// What is asked for on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Exact,
    Host,
    Ssh,
}

/// All, in the order in which they are used.
pub(super) const NAMES: &[Name] = &[Name::Exact, Name::Host, Name::Ssh];

impl Name {
    /// As it is written.
    pub(super) fn word(self) -> &'static str {
        match self {
            Name::Exact => "exact",
            Name::Host => "host",
            Name::Ssh => "ssh:localhost",
        }
    }
}

/// One that is ready.
pub(super) struct Target {
    name: Name,
    word: String,
    /// Ends with the target.
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

    /// For names of files and the table.
    pub(super) fn name(&self) -> &'static str {
        match self.name {
            Name::Exact => "exact",
            Name::Host => "host",
            Name::Ssh => "ssh",
        }
    }

    /// For `--target`.
    pub(super) fn word(&self) -> &str {
        &self.word
    }

    /// Whether it is a machine that cannot be changed, and is not quiet.
    pub(super) fn is_real(&self) -> bool {
        self.name != Name::Exact
    }

    /// What is to be said of the probe's loop. Where others use the CPU too,
    /// it is the fastest part.
    pub(super) fn metric(&self) -> &'static str {
        if self.is_real() {
            "loop_fastest"
        } else {
            "loop_time"
        }
    }

    /// Length of the probe's loop: 4 ms on the exact machine. On a real one a
    /// tenth of it, half a millisecond or more, must fit between two
    /// interruptions.
    pub(super) fn units(&self) -> &'static str {
        if self.is_real() { "20" } else { "2" }
    }

    /// Where programs are looked for, if not where they always are.
    pub(super) fn path(&self) -> Option<OsString> {
        let sshd = self.sshd.as_ref()?;
        let mut path = sshd.path.clone().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Some(path)
    }
}
