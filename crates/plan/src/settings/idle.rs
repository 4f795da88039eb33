//! Idle states of one configuration, as the file declares them.

use assize_job::{Idle, IdleGovernor, IdleState};
use serde::Deserialize;

use super::power_tables::{self, NAMES, NamedOrListed, PowerTable};
use crate::values::error::Error;
use crate::values::keys::{
    ENERGY, Flag, KeySection, POWER, Table, Text, Word, WordOrList, duration, key,
};
use crate::values::layers::SettingLayers;

/// Maximum number of idle states that the module supports.
const STATES_MAX: usize = 8;
/// Maximum length of the name of an idle state in the kernel.
const NAME_MAX: usize = 15;
/// The longest residency that the module accepts, in nanoseconds.
const RESIDENCY_NS_MAX: u64 = 3_600_000_000_000;

/// The keys of `idle`, which declares idle states of CPUs.
pub(crate) static KEYS: KeySection = KeySection {
    name: "idle",
    keys: &[
        key(
            "states",
            WordOrList(NAMES, &Table(&STATE_KEYS)).or("phone"),
            "The states, the shallowest first: a built-in table or your own.",
        ),
        key(
            "governor",
            Word(&["menu", "ladder", "haltpoll", "teo"]).or("menu"),
            "The cpuidle governor.",
        ),
        key(
            "delay",
            Flag.or("true"),
            "A CPU that leaves a state is busy for the state's exit latency.",
        ),
        key(
            "active",
            POWER.optional(),
            "Modelled power of a CPU that is not idle; required for your own states, not allowed with frequency.",
        ),
        key(
            "package",
            POWER.optional(),
            "Modelled power of what all CPUs share; by default 0 for your own states.",
        ),
        key(
            "package_idle",
            POWER.optional(),
            "Like package, but while all CPUs are in the deepest state; by default 0 for your own states.",
        ),
    ],
};

/// The keys of an idle state.
pub(crate) static STATE_KEYS: KeySection = KeySection {
    name: "idle-state",
    keys: &[
        key("name", Text.required(), "Name of the state."),
        key(
            "residency",
            duration(0).required(),
            "Target residency: the shortest idle time for which the state pays off.",
        ),
        key("exit", duration(0).required(), "Exit latency."),
        key(
            "power",
            POWER.required(),
            "Modelled power of a CPU in this state.",
        ),
        key(
            "transition",
            ENERGY.optional(),
            "Modelled energy of entering and leaving the state once; by default such that the state pays off from its target residency on.",
        ),
    ],
};

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

/// An idle state as written in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenState {
    name: Option<String>,
    residency_ns: Option<u64>,
    exit_ns: Option<u64>,
    power_uw: Option<u64>,
    transition_nj: Option<u64>,
}

/// The idle states of a configuration; `None` if none are declared.
/// `frequency`: whether frequencies are declared.
pub(crate) fn idle(layers: &SettingLayers<'_>, frequency: bool) -> Result<Option<Idle>, Error> {
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
        NamedOrListed::Listed(states) => listed_states(layers, states)?,
    };
    if frequency && written.active_uw.is_some() {
        let error = layers.error("active", "has no effect with frequency");
        return Err(error.mend("remove it: a busy CPU draws the power given in frequency.steps"));
    }
    let active_uw = match (written.active_uw, table) {
        (Some(uw), _) => uw,
        (None, Some(table)) => table.active_uw,
        (None, None) if frequency => 0,
        (None, None) => {
            let error = layers.error(
                "states",
                "need the key 'active', the power of a CPU that is not idle",
            );
            return Err(error.mend("add active = \"…W\""));
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
        let why = format!("has {} states, not 1 to {STATES_MAX}", states.len());
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
        let why = format!("'{name}' is not a name for a state");
        let mend = format!("use 1 to {NAME_MAX} letters, digits, '-' and '_'");
        return Err(error("name", why).mend(mend));
    }
    if before.iter().any(|other| other.name == *name) {
        return Err(error("name", format!("two states are called '{name}'")));
    }
    if state.residency_ns < state.exit_ns {
        let why = "is shorter than exit: the state could never pay off".to_owned();
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
