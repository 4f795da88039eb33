//! Reports slow preparation of a target.

use std::time::Duration;

use assize_target::PreparationStep;

/// Interval at which the target's preparation is polled.
pub(super) const TURN: Duration = Duration::from_millis(10);
/// Number of polls before anything is printed.
const SOON: u32 = 50;

/// Prints the steps of preparing a target, if they take long.
#[derive(Debug)]
pub(super) struct GettingReady<'a> {
    target: &'a str,
    turns: u32,
    steps: Vec<String>,
}

impl<'a> GettingReady<'a> {
    pub(super) fn new(target: &'a str) -> Self {
        GettingReady {
            target,
            turns: 0,
            steps: Vec::new(),
        }
    }

    /// Counts a poll; `steps` have begun since the last one.
    pub(super) fn turn(
        &mut self,
        steps: impl Iterator<Item = PreparationStep>,
        mut say: impl FnMut(&str),
    ) {
        self.turns = self.turns.saturating_add(1);
        self.steps.extend(steps.map(|step| step.to_string()));
        if self.turns == SOON {
            say(&format!("getting the target {} ready", self.target));
        }
        if self.turns >= SOON {
            self.steps.drain(..).for_each(|step| say(&step));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: usize) -> PreparationStep {
        PreparationStep::Boot {
            kernel: "debian:6.12".into(),
            number,
            of: 2,
        }
    }

    #[test]
    fn what_takes_long_is_told_step_by_step() {
        let mut said = Vec::new();
        let mut ready = GettingReady::new("exact");
        let kernel = || "debian:6.12".to_owned();
        let first = [
            PreparationStep::Modules { kernel: kernel() },
            PreparationStep::Initramfs { kernel: kernel() },
        ];
        ready.turn(first.into_iter(), |text| said.push(text.to_owned()));
        for _ in 1..SOON {
            assert_eq!(said, [""; 0], "it may be ready soon");
            ready.turn(std::iter::empty(), |text| said.push(text.to_owned()));
        }
        ready.turn([step(1)].into_iter(), |text| said.push(text.to_owned()));
        ready.turn([step(2)].into_iter(), |text| said.push(text.to_owned()));
        assert_eq!(
            said,
            [
                "getting the target exact ready",
                "building the testbed's modules for debian:6.12",
                "packing the initramfs for debian:6.12",
                "booting debian:6.12, 1 of 2",
                "booting debian:6.12, 2 of 2",
            ]
        );
    }
}
