//! Injected stalls of one configuration, as the file declares them.

use assize_job::{PLANTED_STALLS, StallKind, Stalls};
use serde::Deserialize;

use crate::plan::PlannedConfiguration;
use crate::values::document::TomlDocument;
use crate::values::error::Error;
use crate::values::keys::{KeySection, OneOrMore, Part, SectionKey, Whole, Word, duration, key};
use crate::values::layers::SettingLayers;
use crate::values::quantity::show_ns;
use crate::values::target::EXACT;

/// The key `stalls` at the top of the file.
pub(crate) const KEY: SectionKey = key(
    "stalls",
    Part(&KEYS).optional(),
    "Stalls to plant (exact only).",
);
/// The key `stalls` of a level.
pub(crate) const KEY_OF_LEVEL: SectionKey = key(
    "stalls",
    Part(&KEYS).optional(),
    "Stall settings to change.",
);

/// The keys of injected stalls.
pub(crate) static KEYS: KeySection = KeySection {
    name: "stalls",
    keys: &[
        key(
            "kind",
            Word(&["smi", "irqs-off"]).or("smi"),
            "Stall by a system management interrupt, which the kernel does not see, or by a long timer interrupt.",
        ),
        key(
            "length",
            OneOrMore(&duration(1)).optional(),
            "Length of a stall, or up to 16 lengths to choose from at random; each 100ns to 100ms; required.",
        ),
        key(
            "period",
            duration(1).optional(),
            "Time before the first stall and between stalls; required.",
        ),
        key(
            "jitter",
            duration(0).or("0ns"),
            "Upper limit of the random deviation of each period, up or down.",
        ),
        key("cpu", Whole(0, 254).or("0"), "The CPU to stall."),
    ],
};

/// `stalls` as written in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawStalls {
    kind: StallKind,
    length_ns: Vec<u64>,
    period_ns: Option<u64>,
    jitter_ns: u64,
    cpu: u32,
}

/// The stalls of a configuration with this many CPUs; `None` if there are none.
pub(crate) fn stalls(
    layers: &SettingLayers<'_>,
    target: &str,
    cpus: u32,
) -> Result<Option<Stalls>, Error> {
    if !layers.is_given() {
        return Ok(None);
    }
    if target != EXACT {
        let why = format!("cannot be planted on the target {target}");
        let error = layers.error("", why);
        return Err(error.mend("use the target exact, on which stalls have a known length"));
    }
    let written: RawStalls = layers.read()?;
    check_lengths(layers, &written.length_ns)?;
    let Some(period_ns) = written.period_ns else {
        return Err(layers
            .error("", "has no period")
            .mend("add period = \"…ms\""));
    };
    if period_ns > Stalls::PERIOD_NS_MAX {
        return Err(layers.error("period", "is more than an hour"));
    }
    let longest = written.length_ns.iter().max().copied().unwrap_or(0);
    let least = longest + Stalls::APART_NS;
    if period_ns.saturating_sub(written.jitter_ns) < least {
        let why = format!(
            "is too short: minus the jitter, it must be at least {}, the longest stall plus {}",
            show_ns(least),
            show_ns(Stalls::APART_NS)
        );
        return Err(layers.error("period", why));
    }
    if written.cpu >= cpus {
        let cpu = written.cpu;
        let why = format!(
            "there is no CPU {cpu}: the last one is {}",
            cpus.saturating_sub(1)
        );
        let error = layers.error("cpu", why);
        return Err(error.mend(format!("set cpus = {} at the top", cpu.saturating_add(1))));
    }
    Ok(Some(Stalls {
        kind: written.kind,
        lengths_ns: written.length_ns,
        period_ns,
        jitter_ns: written.jitter_ns,
        cpu: written.cpu,
    }))
}

fn check_lengths(layers: &SettingLayers<'_>, lengths: &[u64]) -> Result<(), Error> {
    if lengths.is_empty() || lengths.len() > Stalls::LENGTHS_MAX {
        let why = match lengths.len() {
            0 => "has no length".to_owned(),
            many => format!("has {many} lengths, not 1 to {}", Stalls::LENGTHS_MAX),
        };
        return Err(layers.error("length", why).mend("add length = \"…us\""));
    }
    let fits = |ns: &u64| (Stalls::LENGTH_NS_MIN..=Stalls::LENGTH_NS_MAX).contains(ns);
    match lengths.iter().find(|ns| !fits(ns)) {
        Some(ns) => {
            let why = format!("{} is not between 100ns and 100ms", show_ns(*ns));
            Err(layers.error("length", why))
        }
        None => Ok(()),
    }
}

/// The instruments of the file, and `planted-stalls` if any configuration injects stalls.
/// Configurations without stalls then record that there were none.
pub(crate) fn with_truth(
    document: &TomlDocument,
    instruments: &[String],
    configurations: &[PlannedConfiguration],
) -> Result<Vec<String>, Error> {
    let mut instruments = instruments.to_vec();
    let named = instruments.iter().position(|name| name == PLANTED_STALLS);
    let planted = configurations.iter().any(|one| one.stalls.is_some());
    match (named, planted) {
        (Some(at), false) => {
            let path = format!("instruments[{at}]");
            let error = document.error(&path, "records planted stalls, but none are declared");
            return Err(error.mend("add stalls = { length = \"20us\", period = \"250ms\" }"));
        }
        (None, true) => instruments.push(PLANTED_STALLS.to_owned()),
        _ => {}
    }
    Ok(instruments)
}
