//! Frequencies of one configuration, as the file declares them.

use assize_job::{Frequency, FrequencyGovernor, FrequencyStep};
use serde::Deserialize;

use super::power_tables::{self, NAMES, NamedOrListed, PowerTable};
use crate::values::error::Error;
use crate::values::keys::{
    FREQUENCY, KeySection, POWER, Table, Whole, Word, WordOrList, duration, key,
};
use crate::values::layers::SettingLayers;

/// Maximum number of frequencies that the module supports.
const STEPS_MAX: usize = 16;
/// The longest time between two frequency changes, in nanoseconds.
const RATE_NS_MAX: u64 = 10_000_000_000;

/// The keys of `frequency`, which declares frequencies of CPUs.
pub(crate) static KEYS: KeySection = KeySection {
    name: "frequency",
    keys: &[
        key(
            "steps",
            WordOrList(NAMES, &Table(&STEP_KEYS)).or("phone"),
            "The frequencies, ascending: a built-in table or your own.",
        ),
        key(
            "governor",
            Word(&[
                "schedutil",
                "performance",
                "powersave",
                "ondemand",
                "conservative",
                "userspace",
            ])
            .or("schedutil"),
            "The cpufreq governor.",
        ),
        key(
            "domain",
            Whole(0, 255).or("1"),
            "Number of CPUs that share a frequency; 0 for all CPUs.",
        ),
        key(
            "set",
            FREQUENCY.optional(),
            "The frequency that the governor userspace sets.",
        ),
        key(
            "rate",
            duration(1000).or("1ms"),
            "Shortest time between changes by schedutil; at most 10s.",
        ),
    ],
};

/// The keys of a frequency.
pub(crate) static STEP_KEYS: KeySection = KeySection {
    name: "frequency-step",
    keys: &[
        key("frequency", FREQUENCY.required(), "The frequency."),
        key(
            "power",
            POWER.required(),
            "Modelled power of a CPU that is not idle.",
        ),
    ],
};

/// `frequency` as written in the file.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WrittenFrequency {
    steps: NamedOrListed<WrittenStep>,
    governor: FrequencyGovernor,
    domain: u32,
    set_khz: Option<u64>,
    rate_ns: u64,
}

impl Default for WrittenFrequency {
    fn default() -> Self {
        WrittenFrequency {
            steps: NamedOrListed::default(),
            governor: FrequencyGovernor::default(),
            domain: 1,
            set_khz: None,
            rate_ns: 1_000_000,
        }
    }
}

/// A frequency as written in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStep {
    frequency_khz: Option<u64>,
    power_uw: Option<u64>,
}

/// The frequencies of a configuration; `None` if none are declared.
pub(crate) fn frequency(layers: &SettingLayers<'_>) -> Result<Option<Frequency>, Error> {
    if !layers.is_given() {
        return Ok(None);
    }
    let written: WrittenFrequency = layers.read()?;
    let steps = match written.steps {
        NamedOrListed::Named(name) => power_tables::find(&name)
            .map(PowerTable::frequency_steps)
            .unwrap_or_default(),
        NamedOrListed::Listed(steps) => listed_steps(layers, steps)?,
    };
    if !written.rate_ns.is_multiple_of(1000) || written.rate_ns > RATE_NS_MAX {
        let why = "must be whole microseconds, at most 10s";
        return Err(layers.error("rate", why));
    }
    let userspace = written.governor == FrequencyGovernor::Userspace;
    match written.set_khz {
        None if userspace => {
            let error = layers.error(
                "governor",
                "the governor userspace needs a frequency to set",
            );
            return Err(error.mend("add set = \"…MHz\""));
        }
        Some(_) if !userspace => {
            let why = format!(
                "the governor {} does not use this key",
                written.governor.word()
            );
            let error = layers.error("set", why);
            return Err(error.mend("write governor = \"userspace\", or remove it"));
        }
        Some(khz) if !steps.iter().any(|step| step.frequency_khz == khz) => {
            let error = layers.error("set", format!("{khz} kHz is not one of the steps"));
            let known = steps.iter().map(|step| step.frequency_khz.to_string());
            let known: Vec<String> = known.collect();
            return Err(error.mend(format!("the steps are {} kHz", known.join(", "))));
        }
        _ => {}
    }
    Ok(Some(Frequency {
        steps,
        governor: written.governor,
        domain: written.domain,
        set_khz: written.set_khz,
        rate_ns: written.rate_ns,
    }))
}

fn listed_steps(
    layers: &SettingLayers<'_>,
    steps: Vec<WrittenStep>,
) -> Result<Vec<FrequencyStep>, Error> {
    if steps.is_empty() || steps.len() > STEPS_MAX {
        let why = format!("has {} frequencies, not 1 to {STEPS_MAX}", steps.len());
        return Err(layers.error("steps", why));
    }
    let mut done: Vec<FrequencyStep> = Vec::new();
    for (at, step) in steps.into_iter().enumerate() {
        let step = FrequencyStep {
            frequency_khz: layers.required(step.frequency_khz, "steps", at, "frequency")?,
            power_uw: layers.required(step.power_uw, "steps", at, "power")?,
        };
        let error = |key: &str, why: &str| layers.error(&format!("steps[{at}].{key}"), why);
        if let Some(before) = done.last() {
            if step.frequency_khz <= before.frequency_khz {
                let error = error("frequency", "is not above the previous frequency");
                return Err(error.mend("list them ascending"));
            }
            if step.power_uw < before.power_uw {
                return Err(error("power", "is less than at the previous frequency"));
            }
        }
        done.push(step);
    }
    Ok(done)
}
