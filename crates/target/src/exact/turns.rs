//! The options of QEMU's `-icount` for how the CPUs of a machine take turns.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use assize_job::Interleaving;

use crate::qemu::joined;

/// How the CPUs of a machine take turns, besides the seed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TurnOptions<'a> {
    /// The turns that the order asks for.
    pub(crate) ordered: Option<&'a Interleaving>,
    /// How delays are drawn; `None` for no random delays.
    pub(crate) drawn: Option<DelayDraw>,
    /// Whether QEMU logs the delays that take place.
    pub(crate) logged: bool,
}

/// The file in a machine's directory with the delays that the order lists.
const DELAYS: &str = "delays";
/// The file in which QEMU logs the delays that took place.
pub(super) const DELAYED: &str = "delayed";

impl TurnOptions<'_> {
    /// Writes the listed delays to `directory`, and returns the options to add to `-icount`; `None`
    /// if only the seed matters.
    pub(super) fn icount(&self, directory: &Path) -> io::Result<Option<OsString>> {
        let mut words = Vec::new();
        if let Some(quantum) = self.ordered.and_then(|ordered| ordered.quantum_ns) {
            words.push(OsString::from(format!("quantum={quantum}")));
        }
        let delays = self.ordered.map_or(&[][..], |ordered| &ordered.delays);
        if !delays.is_empty() {
            let path = directory.join(DELAYS);
            let lines: String = delays.iter().map(|delay| format!("{delay}\n")).collect();
            fs::write(&path, lines)?;
            words.push(joined("delays=", &path));
        }
        if let Some(drawn) = self.drawn {
            words.push(drawn.icount().into());
        }
        if self.logged {
            words.push(joined("delayed=", &directory.join(DELAYED)));
        }
        let all = words.join(&OsString::from(","));
        Ok((!all.is_empty()).then_some(all))
    }
}

/// How the delays of a run are drawn from its seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DelayDraw {
    /// The average time between two delays of a CPU, whatever it executes, in ns; 0 for none.
    pub every_ns: u32,
    /// One of this many locked instructions is followed by a delay; 0 for none.
    pub locked: u32,
    /// The minimum and maximum length of a delay, in ns; each doubling of the length is equally
    /// likely.
    pub length_ns: [u32; 2],
    /// The time before which there are no delays, in ns since the machine was switched on.
    pub from_ns: u64,
}

impl DelayDraw {
    /// The options to add to `-icount`.
    fn icount(self) -> String {
        let [least, most] = self.length_ns;
        format!(
            "delay-every={},delay-locked={},delay-least={least},delay-most={most},delay-from={}",
            self.every_ns, self.locked, self.from_ns
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use assize_job::Delay;

    use super::*;

    #[test]
    fn what_an_order_lists_is_what_the_machine_is_given() {
        let place = tempfile::tempdir().unwrap();
        let delay = |cpu, at_ns, length_ns| Delay {
            cpu,
            at_ns,
            length_ns,
        };
        let ordered = Interleaving {
            quantum_ns: Some(700),
            delays: vec![delay(1, 5, 9), delay(0, 6, 2)],
        };
        let options = TurnOptions {
            ordered: Some(&ordered),
            ..TurnOptions::default()
        };
        let list = place.path().join(DELAYS);
        let words = options.icount(place.path()).unwrap().unwrap();
        let wanted = format!("quantum=700,delays={}", list.display());
        assert_eq!(words.to_str(), Some(wanted.as_str()));
        assert_eq!(fs::read_to_string(&list).unwrap(), "1 5 9\n0 6 2\n");
        let plain = TurnOptions::default();
        assert_eq!(plain.icount(place.path()).unwrap(), None);
    }
}
