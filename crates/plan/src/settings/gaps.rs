//! Settings of the `gaps` instrument, which watches CPUs, and their checks.

use assize_job::{GapsSettings, Policy};

use crate::values::document::TomlDocument;
use crate::values::error::Error;
use crate::values::keys::{KeySection, List, SectionKey, Whole, Word, duration, key};
use crate::workloads::scheduling::{POLICIES, PRIORITY};

/// The name of the instrument.
const NAME: &str = "gaps";
/// The longest baseline measurement on an idle machine.
const BASELINE_NS_MAX: u64 = 60_000_000_000;

/// The key that names the CPUs to watch.
pub(crate) const CPUS: SectionKey = key(
    "cpus",
    List(&Whole(0, 4095)).or("[]"),
    "CPUs to watch; by default all but CPU 0, or CPU 0 if there is no other.",
);

/// The keys of `gaps`.
pub(crate) static KEYS: KeySection = KeySection {
    name: "gaps",
    keys: &[
        CPUS,
        key(
            "threshold",
            duration(1).or("10us"),
            "The shortest delay that counts as a gap.",
        ),
        key(
            "window",
            duration(1000).or("1s"),
            "Each CPU is watched once per window.",
        ),
        key(
            "width",
            duration(1000).or("1s"),
            "How long each CPU is watched per window; all the time if width equals window.",
        ),
        key(
            "policy",
            Word(POLICIES).or("other"),
            "Scheduling policy of the threads that watch.",
        ),
        PRIORITY,
        key(
            "baseline",
            duration(0).or("100ms"),
            "How long the machine is watched at rest before each run; at most 1min.",
        ),
        key(
            "trust",
            duration(1_000_000).or("10s"),
            "Time in which the machine at rest may have one unexplained gap; if it has more, unexplained gaps get no verdict.",
        ),
    ],
};

/// The settings of the instrument, if the experiment uses it.
pub(crate) fn settings(
    instruments: &[String],
    written: Option<&GapsSettings>,
) -> Option<GapsSettings> {
    let asked = instruments.iter().any(|name| name == NAME);
    asked.then(|| written.cloned().unwrap_or_default())
}

/// Checks the settings; the error is the first mistake. `fewest_cpus` is `None` if
/// the machine decides how many CPUs there are.
pub(crate) fn check(
    document: &TomlDocument,
    instruments: &[String],
    written: Option<&GapsSettings>,
    fewest_cpus: Option<u32>,
) -> Result<(), Error> {
    let error = |key: &str, why: &str| document.error(&format!("gaps.{key}"), why);
    let Some(gaps) = settings(instruments, written) else {
        return written.map_or(Ok(()), |_| {
            let error = document.error(NAME, "the instrument gaps is not requested");
            Err(error.mend("add 'gaps' to instruments"))
        });
    };
    if gaps.width_ns > gaps.window_ns {
        return Err(
            error("width", "is longer than the window").mend("set window too, or a width below 1s")
        );
    }
    if gaps.threshold_ns >= gaps.width_ns {
        return Err(error("threshold", "is not shorter than the width"));
    }
    if gaps.baseline_ns > BASELINE_NS_MAX {
        return Err(error("baseline", "is longer than 1min"));
    }
    let real_time = matches!(gaps.policy, Policy::Fifo | Policy::Rr);
    if real_time && gaps.priority == 0 {
        return Err(
            error("policy", "fifo and rr need a priority of 1 to 99").mend("add priority = 1")
        );
    }
    if !real_time && gaps.priority != 0 {
        let why = format!("priority {} is for the policies fifo and rr", gaps.priority);
        return Err(error("priority", &why).mend("set policy = \"fifo\" or priority = 0"));
    }
    check_cpus(document, NAME, &gaps.cpus, fewest_cpus)
}

/// Checks that each CPU of the list `cpus` in this table is listed once and
/// exists.
pub(crate) fn check_cpus(
    document: &TomlDocument,
    table: &str,
    cpus: &[u32],
    fewest: Option<u32>,
) -> Result<(), Error> {
    for (at, cpu) in cpus.iter().enumerate() {
        let path = format!("{table}.cpus[{at}]");
        if cpus[..at].contains(cpu) {
            return Err(document.error(&path, format!("{cpu} is given twice")));
        }
        if let Some(fewest) = fewest
            && *cpu >= fewest
        {
            let why = format!(
                "there is no CPU {cpu}: the last one is {}",
                fewest.saturating_sub(1)
            );
            let mend = format!("set cpus = {} at the top", cpu.saturating_add(1));
            return Err(document.error(&path, why).mend(mend));
        }
    }
    Ok(())
}
