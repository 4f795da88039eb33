//! Computes the time in each idle state from traced events, and the energy by a model.

use assize_job::{Frequency, Idle};

use super::idle::IdleSpan;

/// An idle-state event of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdleStateStep {
    /// Enters this idle state.
    Enter(u32),
    /// Leaves the idle state.
    Leave,
}

/// A stay in one idle state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sojourn {
    /// The part of it within the window.
    pub span: IdleSpan,
    /// Number of the state, from 0.
    pub state: u32,
    /// Whether it ended within the window.
    pub ended: bool,
}

/// A CPU's stays in idle states within `window`, ascending. `busy`: `Some(true)` if a CPU
/// that traced nothing must have been busy.
///
/// # Errors
///
/// The reason if its states are unknown.
pub(crate) fn sojourns(
    events: &[(u64, IdleStateStep)],
    window: IdleSpan,
    busy: Option<bool>,
) -> Result<Vec<Sojourn>, &'static str> {
    match events.first() {
        None if busy == Some(true) => return Ok(Vec::new()),
        None => return Err("a CPU traced nothing, so that its idle state is not known"),
        Some((time, IdleStateStep::Leave)) if *time > window.from => {
            return Err("a CPU was in an idle state at the start that is not known");
        }
        Some(_) => {}
    }
    let mut found = Vec::new();
    let mut since = None;
    let mut end = |since: &mut Option<(u64, u32)>, to: u64, ended: bool| {
        let Some((from, state)) = since.take() else {
            return;
        };
        let (from, to) = (from.max(window.from), to.min(window.to));
        if from < to {
            found.push(Sojourn {
                span: IdleSpan { from, to },
                state,
                ended: ended && to < window.to,
            });
        }
    };
    for &(time, step) in events {
        end(&mut since, time, true);
        if let IdleStateStep::Enter(state) = step {
            since = Some((time, state));
        }
    }
    end(&mut since, window.to, false);
    Ok(found)
}

/// When a CPU was in a state for which `wanted` is true.
pub(crate) fn spans(sojourns: &[Sojourn], wanted: impl Fn(u32) -> bool) -> Vec<IdleSpan> {
    let picked = sojourns.iter().filter(|one| wanted(one.state));
    picked.map(|one| one.span).collect()
}

/// When a CPU was not idle.
pub(crate) fn busy(sojourns: &[Sojourn], window: IdleSpan) -> Vec<IdleSpan> {
    let mut busy = Vec::with_capacity(sojourns.len() + 1);
    let mut from = window.from;
    for Sojourn { span, .. } in sojourns {
        if from < span.from {
            busy.push(IdleSpan {
                from,
                to: span.from,
            });
        }
        from = span.to;
    }
    if from < window.to {
        busy.push(IdleSpan {
            from,
            to: window.to,
        });
    }
    busy
}

/// Divides spans by frequency. Returns pairs of kHz and nanoseconds, in which a frequency
/// may occur more than once.
pub(crate) fn at_frequencies(spans: &[IdleSpan], changes: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut parts = Vec::new();
    for span in spans {
        for (at, &(since, khz)) in changes.iter().enumerate() {
            let until = changes.get(at + 1).map_or(u64::MAX, |(time, _)| *time);
            let since = if at == 0 { 0 } else { since };
            let (from, to) = (span.from.max(since), span.to.min(until));
            if from < to {
                parts.push((khz, to - from));
            }
        }
    }
    parts
}

/// The frequency changes of a CPU, ascending: time in nanoseconds, and new frequency in
/// kHz. The first frequency holds from the beginning.
pub(crate) type Changes = Vec<(u64, u64)>;

/// The inputs of the energy model.
#[derive(Debug)]
pub(crate) struct PowerDraws<'a> {
    /// The idle states.
    pub idle: &'a Idle,
    /// The declared frequencies, and the changes of frequency of each CPU.
    pub frequency: Option<(&'a Frequency, &'a [Changes])>,
}

/// Energy by the declared powers, in femtojoules. `None` if a CPU was in an undeclared
/// state or its frequencies are unknown.
pub(crate) fn energy_fj(
    cpus: &[Vec<Sojourn>],
    window: IdleSpan,
    draws: &PowerDraws<'_>,
) -> Option<u128> {
    let over = |uw: u64, ns: u64| u128::from(uw) * u128::from(ns);
    let PowerDraws { idle, frequency } = draws;
    let mut sum = 0;
    for (at, sojourns) in cpus.iter().enumerate() {
        for sojourn in sojourns {
            let state = idle.states.get(usize::try_from(sojourn.state).ok()?)?;
            sum += over(state.power_uw, sojourn.span.to - sojourn.span.from);
            if sojourn.ended {
                sum += over(state.transition_nj, 1_000_000);
            }
        }
        let busy = busy(sojourns, window);
        match frequency {
            None => sum += over(idle.active_uw, super::idle::length(&busy)),
            Some((declared, changes)) => {
                for (khz, ns) in at_frequencies(&busy, changes.get(at)?) {
                    sum += over(declared.power_uw(khz), ns);
                }
            }
        }
    }
    let deepest = all_in(cpus, window, |state| is_deepest(state, idle.states.len()));
    let asleep = super::idle::length(&deepest);
    sum += over(idle.package_idle_uw, asleep);
    sum += over(idle.package_uw, window.to - window.from - asleep);
    Some(sum)
}

/// Whether this is the last of `states` states.
pub(crate) fn is_deepest(state: u32, states: usize) -> bool {
    usize::try_from(state).is_ok_and(|state| state + 1 == states)
}

/// When all CPUs were in states for which `wanted` is true at the same time.
pub(crate) fn all_in(
    cpus: &[Vec<Sojourn>],
    window: IdleSpan,
    wanted: impl Fn(u32) -> bool + Copy,
) -> Vec<IdleSpan> {
    let mut all = vec![window];
    for sojourns in cpus {
        all = super::idle::intersect_spans(&all, &spans(sojourns, wanted));
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use assize_job::{FrequencyGovernor, FrequencyStep, IdleGovernor, IdleState};

    use super::IdleStateStep::{Enter, Leave};
    use super::*;

    const WINDOW: IdleSpan = IdleSpan {
        from: 1000,
        to: 2000,
    };

    fn sojourn(from: u64, to: u64, state: u32, ended: bool) -> Sojourn {
        Sojourn {
            span: IdleSpan { from, to },
            state,
            ended,
        }
    }

    /// Two states of 10 and 1 uW, and 100 uW while busy.
    fn idle() -> Idle {
        let state = |name: &str, power_uw, transition_nj| IdleState {
            name: name.into(),
            residency_ns: 0,
            exit_ns: 0,
            power_uw,
            transition_nj,
        };
        Idle {
            states: vec![state("light", 10, 0), state("deep", 1, 0)],
            governor: IdleGovernor::Menu,
            delay: true,
            active_uw: 100,
            package_uw: 0,
            package_idle_uw: 0,
        }
    }

    fn energy(cpus: &[Vec<Sojourn>], idle: &Idle) -> Option<u128> {
        let frequency = None;
        energy_fj(cpus, WINDOW, &PowerDraws { idle, frequency })
    }

    #[test]
    fn a_sojourn_lasts_from_entering_to_leaving() {
        type SojournCase<'a> = (&'a [(u64, IdleStateStep)], &'a [Sojourn]);
        let cases: &[SojournCase<'_>] = &[
            (
                &[(1100, Enter(1)), (1300, Leave)],
                &[sojourn(1100, 1300, 1, true)],
            ),
            // In the state since before the window, until after it, or both.
            (&[(900, Enter(0))], &[sojourn(1000, 2000, 0, false)]),
            (
                &[(900, Enter(0)), (2100, Leave)],
                &[sojourn(1000, 2000, 0, false)],
            ),
            (
                &[(900, Enter(0)), (1200, Leave)],
                &[sojourn(1000, 1200, 0, true)],
            ),
            // Entirely before or after the window.
            (&[(100, Enter(0)), (1000, Leave)], &[]),
            (&[(2000, Enter(0)), (2100, Leave)], &[]),
            (&[(900, Leave)], &[]),
            // From one state to another without leaving in between.
            (
                &[(1100, Enter(0)), (1200, Enter(1)), (1300, Leave)],
                &[sojourn(1100, 1200, 0, true), sojourn(1200, 1300, 1, true)],
            ),
        ];
        for (events, wanted) in cases {
            assert_eq!(
                sojourns(events, WINDOW, None).unwrap(),
                *wanted,
                "{events:?}"
            );
        }
    }

    #[test]
    fn a_state_that_was_not_seen_is_not_guessed() {
        assert!(sojourns(&[(1001, Leave)], WINDOW, None).is_err());
        assert!(sojourns(&[], WINDOW, None).is_err());
        assert!(sojourns(&[], WINDOW, Some(false)).is_err());
        assert_eq!(sojourns(&[], WINDOW, Some(true)), Ok(Vec::new()));
    }

    #[test]
    fn energy_is_that_of_a_schedule_computed_by_hand() {
        let mut idle = idle();
        // Busy 300, light 200, deep 500: 300 * 100 + 200 * 10 + 500 * 1.
        let first = vec![sojourn(1100, 1300, 0, true), sojourn(1500, 2000, 1, false)];
        assert_eq!(energy(std::slice::from_ref(&first), &idle), Some(32_500));
        // A second CPU is busy for 400 and deep for 600.
        let second = vec![sojourn(1400, 2000, 1, false)];
        let both = [first, second];
        assert_eq!(energy(&both, &idle), Some(32_500 + 40_600));
        // Both are deep for 500, when the package draws 2; otherwise it draws
        // 7.
        (idle.package_uw, idle.package_idle_uw) = (7, 2);
        assert_eq!(energy(&both, &idle), Some(73_100 + 500 * 7 + 500 * 2));
        // Leaving the light state takes 3 nJ: one sojourn there ends in the
        // window.
        idle.states[0].transition_nj = 3;
        idle.states[1].transition_nj = 50;
        assert_eq!(energy(&both, &idle), Some(73_100 + 4_500 + 3_000_000));
    }

    #[test]
    fn states_of_one_power_draw_the_same_whoever_chooses() {
        let mut idle = idle();
        idle.states[1].power_uw = 10;
        let energies = [0, 1].map(|state| {
            let chosen = vec![
                sojourn(1100, 1300, state, true),
                sojourn(1500, 2000, 0, false),
            ];
            energy(&[chosen], &idle)
        });
        assert_eq!(energies[0], energies[1]);
    }

    #[test]
    fn a_state_that_is_not_declared_has_no_energy() {
        assert_eq!(energy(&[vec![sojourn(1100, 1300, 2, true)]], &idle()), None);
    }

    #[test]
    fn what_is_busy_draws_what_its_frequency_does() {
        let step = |frequency_khz, power_uw| FrequencyStep {
            frequency_khz,
            power_uw,
        };
        let declared = Frequency {
            steps: vec![step(500, 20), step(1000, 50)],
            governor: FrequencyGovernor::Schedutil,
            domain: 1,
            set_khz: None,
            rate_ns: 0,
        };
        let idle = idle();
        // Busy until 1400, and from 1900; at 500 until 1100, then at 1000.
        let cpu = vec![sojourn(1400, 1900, 1, true)];
        let changes = [vec![(7, 500), (1100, 1000)]];
        let draws = PowerDraws {
            idle: &idle,
            frequency: Some((&declared, &changes)),
        };
        let wanted = 100 * 20 + 300 * 50 + 500 + 100 * 50;
        assert_eq!(energy_fj(&[cpu], WINDOW, &draws), Some(wanted));
        // Without the frequencies the energy is not known.
        let draws = PowerDraws {
            idle: &idle,
            frequency: Some((&declared, &[])),
        };
        assert_eq!(energy_fj(&[Vec::new()], WINDOW, &draws), None);
    }

    #[test]
    fn busy_is_what_lies_between_sojourns() {
        let all = [sojourn(1000, 1100, 0, true), sojourn(1200, 1300, 1, true)];
        let wanted = [(1100, 1200), (1300, 2000)].map(|(from, to)| IdleSpan { from, to });
        assert_eq!(busy(&all, WINDOW), wanted);
        assert_eq!(busy(&[], WINDOW), [WINDOW]);
        assert_eq!(busy(&[sojourn(1000, 2000, 0, false)], WINDOW), []);
    }
}
