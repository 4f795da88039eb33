//! Idle states and frequencies of one configuration, as the file declares them.

use assize_job::{
    Action, Frequency, FrequencyGovernor, FrequencyStep, Idle, IdleGovernor, IdleState,
};
use serde::Deserialize;

use crate::experiment::Experiment;
use crate::levels::combine::Levels;
use crate::settings::layers::SettingLayers;
use crate::settings::power_tables::{self, PowerTable};
use crate::values::error::Error;

/// Maximum number of idle states that the module supports.
const STATES_MAX: usize = 8;
/// Maximum length of the name of an idle state in the kernel.
const NAME_MAX: usize = 15;
/// The longest residency that the module accepts, in nanoseconds.
const RESIDENCY_NS_MAX: u64 = 3_600_000_000_000;
/// Maximum number of frequencies that the module supports.
const STEPS_MAX: usize = 16;
/// The longest time between two frequency changes, in nanoseconds.
const RATE_NS_MAX: u64 = 10_000_000_000;

/// `idle` as written in the file.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WrittenIdle {
    states: NamedOrListed<WrittenState>,
    governor: IdleGovernor,
    delay: bool,
    active_uw: Option<u64>,
    package_uw: Option<u64>,
    package_idle_uw: Option<u64>,
}

impl Default for WrittenIdle {
    fn default() -> Self {
        WrittenIdle {
            states: NamedOrListed::default(),
            governor: IdleGovernor::default(),
            delay: true,
            active_uw: None,
            package_uw: None,
            package_idle_uw: None,
        }
    }
}

/// One idle state in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenState {
    name: Option<String>,
    residency_ns: Option<u64>,
    exit_ns: Option<u64>,
    power_uw: Option<u64>,
    transition_nj: Option<u64>,
}

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

/// One frequency step in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStep {
    frequency_khz: Option<u64>,
    power_uw: Option<u64>,
}

/// The name of a built-in table, or a list in the file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum NamedOrListed<T> {
    Named(String),
    Listed(Vec<T>),
}

impl<T> Default for NamedOrListed<T> {
    fn default() -> Self {
        NamedOrListed::Named(power_tables::TABLES[0].name.to_owned())
    }
}

/// The idle states of a configuration; `None` if none are declared.
/// `frequency`: whether frequencies are declared.
pub(crate) fn idle(
    experiment: &Experiment,
    levels: &Levels<'_>,
    frequency: bool,
) -> Result<Option<Idle>, Error> {
    let top = &experiment.file.idle;
    let layers = SettingLayers::new(experiment, levels, "idle", top, |level| &level.idle);
    if !layers.is_given() {
        return Ok(None);
    }
    let written: WrittenIdle = layers.read()?;
    let table = match &written.states {
        NamedOrListed::Named(name) => power_tables::find(name),
        NamedOrListed::Listed(_) => None,
    };
    let states = match written.states {
        NamedOrListed::Named(_) => table.map(PowerTable::idle_states).unwrap_or_default(),
        NamedOrListed::Listed(states) => listed_states(&layers, states)?,
    };
    if frequency && written.active_uw.is_some() {
        let error = layers.error("active", "has no effect beside frequency");
        return Err(error.mend("remove it: what is busy draws what frequency.steps say"));
    }
    let active_uw = match (written.active_uw, table) {
        (Some(uw), _) => uw,
        (None, Some(table)) => table.active_uw,
        (None, None) if frequency => 0,
        (None, None) => {
            let error = layers.error("states", "are declared without active");
            return Err(error.mend("add active = \"…W\", the power of a CPU that is not idle"));
        }
    };
    if let Some(first) = states.first()
        && !frequency
        && active_uw < first.power_uw
    {
        let why = "is less than a CPU draws in the first idle state";
        return Err(layers.error("active", why));
    }
    let of_table = |of: fn(&PowerTable) -> u64| table.map_or(0, of);
    let package_uw = written.package_uw;
    let package_uw = package_uw.unwrap_or_else(|| of_table(|table| table.package_uw));
    let package_idle_uw = written.package_idle_uw;
    let package_idle_uw =
        package_idle_uw.unwrap_or_else(|| of_table(|table| table.package_idle_uw).min(package_uw));
    if package_idle_uw > package_uw {
        return Err(layers.error("package_idle", "is more than package"));
    }
    Ok(Some(Idle {
        states,
        governor: written.governor,
        delay: written.delay,
        active_uw,
        package_uw,
        package_idle_uw,
    }))
}

/// Idle states that the file lists. If a state's transition energy is absent, it
/// is chosen such that the state breaks even at its target residency.
fn listed_states(
    layers: &SettingLayers<'_>,
    states: Vec<WrittenState>,
) -> Result<Vec<IdleState>, Error> {
    if states.is_empty() || states.len() > STATES_MAX {
        let why = format!("are {}, not 1 to {STATES_MAX}", states.len());
        return Err(layers.error("states", why));
    }
    let mut done: Vec<IdleState> = Vec::new();
    for (at, state) in states.into_iter().enumerate() {
        let must = |value, key| layers.required(value, "states", at, key);
        let name = layers.required(state.name, "states", at, "name")?;
        let mut state = IdleState {
            name,
            residency_ns: must(state.residency_ns, "residency")?,
            exit_ns: must(state.exit_ns, "exit")?,
            power_uw: must(state.power_uw, "power")?,
            transition_nj: state.transition_nj.unwrap_or(u64::MAX),
        };
        check_state(layers, &done, &state)?;
        if state.transition_nj == u64::MAX {
            state.transition_nj = power_tables::break_even_nj(done.last(), &state);
        }
        done.push(state);
    }
    Ok(done)
}

/// Checks one state; `before` are the shallower states.
fn check_state(
    layers: &SettingLayers<'_>,
    before: &[IdleState],
    state: &IdleState,
) -> Result<(), Error> {
    let at = before.len();
    let error = |key: &str, why: String| layers.error(&format!("states[{at}].{key}"), why);
    let name = &state.name;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.len() > NAME_MAX || !name.bytes().all(fits) {
        let why = format!("'{name}' is no name of a state");
        let mend = format!("use 1 to {NAME_MAX} letters, digits, '-' and '_'");
        return Err(error("name", why).mend(mend));
    }
    if before.iter().any(|other| other.name == *name) {
        return Err(error("name", format!("a second state is called '{name}'")));
    }
    if state.residency_ns < state.exit_ns {
        let why = "is shorter than exit: it could never pay".to_owned();
        return Err(error("residency", why));
    }
    if state.residency_ns > RESIDENCY_NS_MAX {
        return Err(error("residency", "is more than an hour".to_owned()));
    }
    let Some(above) = before.last() else {
        return Ok(());
    };
    let other = &above.name;
    if state.residency_ns < above.residency_ns {
        let why = format!("is shorter than that of {other}, which is shallower");
        return Err(error("residency", why));
    }
    if state.exit_ns < above.exit_ns {
        let why = format!("is shorter than that of {other}, which is shallower");
        return Err(error("exit", why));
    }
    if state.power_uw > above.power_uw {
        let why = format!("is more than that of {other}, which is shallower");
        return Err(error("power", why));
    }
    Ok(())
}

/// The frequencies of a configuration; `None` if none are declared.
pub(crate) fn frequency(
    experiment: &Experiment,
    levels: &Levels<'_>,
) -> Result<Option<Frequency>, Error> {
    let top = &experiment.file.frequency;
    let layers = SettingLayers::new(experiment, levels, "frequency", top, |level| {
        &level.frequency
    });
    if !layers.is_given() {
        return Ok(None);
    }
    let written: WrittenFrequency = layers.read()?;
    let steps = match written.steps {
        NamedOrListed::Named(name) => power_tables::find(&name)
            .map(PowerTable::frequency_steps)
            .unwrap_or_default(),
        NamedOrListed::Listed(steps) => listed_steps(&layers, steps)?,
    };
    if !written.rate_ns.is_multiple_of(1000) || written.rate_ns > RATE_NS_MAX {
        let why = "must be whole microseconds, at most 10s";
        return Err(layers.error("rate", why));
    }
    let userspace = written.governor == FrequencyGovernor::Userspace;
    match written.set_khz {
        None if userspace => {
            let error = layers.error("governor", "userspace sets what it is told to");
            return Err(error.mend("add set = \"…MHz\""));
        }
        Some(_) if !userspace => {
            let why = format!("{} does not take it", written.governor.word());
            let error = layers.error("set", why);
            return Err(error.mend("write governor = \"userspace\", or remove it"));
        }
        Some(khz) if !steps.iter().any(|step| step.frequency_khz == khz) => {
            let error = layers.error("set", format!("{khz} kHz is none of the steps"));
            let known = steps.iter().map(|step| step.frequency_khz.to_string());
            let known: Vec<String> = known.collect();
            return Err(error.mend(format!("those are {} kHz", known.join(", "))));
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
        let why = format!("are {}, not 1 to {STEPS_MAX}", steps.len());
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
                let error = error("frequency", "is not above the one before");
                return Err(error.mend("list them ascending"));
            }
            if step.power_uw < before.power_uw {
                return Err(error("power", "is less than at the frequency before"));
            }
        }
        done.push(step);
    }
    Ok(done)
}

/// The steps that load the modules for the declared idle states and frequencies.
pub(crate) fn steps<'a>(
    idle: Option<&'a Idle>,
    frequency: Option<&'a Frequency>,
) -> impl Iterator<Item = Action> + 'a {
    let frequency = frequency.into_iter().flat_map(Frequency::modules);
    idle.map(Idle::module).into_iter().chain(frequency)
}
