//! Idle states and frequencies that an experiment can name.
//!
//! `studies/idle.md` gives the source of each figure.

use assize_job::{FrequencyStep, IdleState};
use serde::Deserialize;

/// Idle states, frequencies and powers of the CPUs of one kind of machine.
#[derive(Debug)]
pub(crate) struct PowerTable {
    /// The name of the table.
    pub(crate) name: &'static str,
    /// Idle states: name, target residency and exit latency in microseconds,
    /// power in microwatts.
    states: &'static [(&'static str, u64, u64, u64)],
    /// Frequency steps: megahertz, and the microwatts of a busy CPU.
    steps: &'static [(u64, u64)],
    /// Microwatts of a busy CPU if frequencies are not declared.
    pub(crate) active_uw: u64,
    /// Microwatts of the shared package.
    pub(crate) package_uw: u64,
    /// Microwatts of the shared package while all CPUs are in the deepest state.
    pub(crate) package_idle_uw: u64,
}

/// The names of [`TABLES`].
pub(crate) const NAMES: &[&str] = &["phone", "server"];

/// The built-in tables. The first is the default.
pub(crate) static TABLES: [PowerTable; 2] = [
    // The small cores of MediaTek's MT8186: arch/arm64/boot/dts/mediatek.
    PowerTable {
        name: "phone",
        states: &[
            ("wfi", 1, 1, 18_000),
            ("retention", 1600, 150, 4_000),
            ("off", 2100, 350, 500),
        ],
        // 84 uW / (MHz V²), the dynamic-power-coefficient of its device tree.
        steps: &[
            (500, 15_120),
            (774, 29_623),
            (975, 43_049),
            (1275, 68_544),
            (1500, 92_379),
            (1800, 136_458),
            (2000, 178_664),
        ],
        active_uw: 178_664,
        package_uw: 40_000,
        package_idle_uw: 4_000,
    },
    // Skylake servers: drivers/idle/intel_idle.c.
    PowerTable {
        name: "server",
        states: &[
            ("C1", 2, 2, 1_500_000),
            ("C1E", 20, 10, 900_000),
            ("C6", 600, 133, 100_000),
        ],
        steps: &[
            (1000, 1_800_000),
            (1500, 2_600_000),
            (2000, 3_600_000),
            (2500, 4_800_000),
            (3000, 6_000_000),
        ],
        active_uw: 6_000_000,
        package_uw: 40_000_000,
        package_idle_uw: 12_000_000,
    },
];

/// The table of this name.
pub(crate) fn find(name: &str) -> Option<&'static PowerTable> {
    TABLES.iter().find(|table| table.name == name)
}

/// The name of a built-in table, or a list in the file.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum NamedOrListed<T> {
    Named(String),
    Listed(Vec<T>),
}

impl<T> Default for NamedOrListed<T> {
    fn default() -> Self {
        NamedOrListed::Named(TABLES[0].name.to_owned())
    }
}

impl PowerTable {
    pub(crate) fn idle_states(&self) -> Vec<IdleState> {
        let mut states: Vec<IdleState> = Vec::new();
        for (name, residency_us, exit_us, power_uw) in self.states {
            let mut state = IdleState {
                name: (*name).to_owned(),
                residency_ns: residency_us * 1000,
                exit_ns: exit_us * 1000,
                power_uw: *power_uw,
                transition_nj: 0,
            };
            state.transition_nj = break_even_nj(states.last(), &state);
            states.push(state);
        }
        states
    }

    pub(crate) fn frequency_steps(&self) -> Vec<FrequencyStep> {
        let step = |(mhz, power_uw): &(u64, u64)| FrequencyStep {
            frequency_khz: mhz * 1000,
            power_uw: *power_uw,
        };
        self.steps.iter().map(step).collect()
    }
}

/// The energy of entering and leaving a state, in nanojoules, for which a stay of exactly the
/// target residency costs as much energy as in the next shallower state. That is the definition of
/// target residency.
pub(crate) fn break_even_nj(above: Option<&IdleState>, state: &IdleState) -> u64 {
    let Some(above) = above else {
        return 0;
    };
    let less_uw = above.power_uw.saturating_sub(state.power_uw);
    let femtojoules = u128::from(less_uw) * u128::from(state.residency_ns);
    let nanojoules = u64::try_from(femtojoules / 1_000_000).unwrap_or(u64::MAX / 2);
    above.transition_nj.saturating_add(nanojoules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_tables() {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn a_state_pays_from_its_target_residency_on() {
        for table in &TABLES {
            let states = table.idle_states();
            for pair in states.windows(2) {
                let [above, state] = pair else { continue };
                let draws = |state: &IdleState, ns: u64| {
                    let asleep = u128::from(state.power_uw) * u128::from(ns);
                    asleep / 1_000_000 + u128::from(state.transition_nj)
                };
                let (short, long) = (state.residency_ns * 9 / 10, state.residency_ns * 11 / 10);
                assert!(draws(state, short) > draws(above, short), "{}", state.name);
                assert!(draws(state, long) < draws(above, long), "{}", state.name);
            }
        }
    }

    #[test]
    fn frequencies_ascend_and_the_highest_is_that_of_a_busy_cpu() {
        for table in &TABLES {
            let steps = table.frequency_steps();
            assert!(steps.windows(2).all(|pair| {
                pair[0].frequency_khz < pair[1].frequency_khz && pair[0].power_uw < pair[1].power_uw
            }));
            assert_eq!(
                steps.last().map(|step| step.power_uw),
                Some(table.active_uw)
            );
        }
    }
}
