use assize_job::{CpuMode, Routine};

use super::super::kernel::in_kernel;
use super::*;

/// A mistake in a routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlantedMistake {
    Nothing,
    /// The last byte is wrong.
    Short,
    /// A byte after the place is written.
    Long,
    /// A byte before the place is written.
    Early,
    /// One byte in the middle is wrong.
    Spoiled,
    /// The source is written.
    Source,
    /// The number of bytes left is too large by one.
    LeftMore,
    /// The number of bytes left is 0.
    LeftNothing,
    /// Bytes that were not copied are not zeroed, or are zeroed where they must
    /// not be.
    Tail,
    /// The sum is wrong.
    Sum,
}

/// A routine in plain code on the same pages, with a planted mistake.
fn plain(
    routine: KernelRoutine,
    ground: &TrialPages,
    trial: RoutineTrial,
    planted: PlantedMistake,
) -> RoutineResult {
    let [from, to] = [&ground.from, &ground.to].map(|page| window(page).unwrap());
    let (mut source, mut bytes) = (vec![0; WINDOW], vec![0; WINDOW]);
    from.read(&mut source);
    to.read(&mut bytes);
    let RoutineTrial { length, over, .. } = trial;
    let done = length - over;
    for at in 0..done {
        match routine.makes {
            CallProduct::Copy | CallProduct::CopyAndSum => {
                bytes[trial.to + at] = source[trial.from + at]
            }
            CallProduct::Zeroes => bytes[trial.to + at] = 0,
            CallProduct::Sum => {}
        }
    }
    let tail = trial.to + done..(trial.to + length).min(WINDOW);
    let zeroes = routine.fault == FaultAction::ExactThenZeroes;
    if zeroes != (planted == PlantedMistake::Tail) {
        bytes[tail].fill(0);
    }
    let mut result = RoutineResult {
        left: over as u64,
        sum: u32::from(plain_sum(
            &source[trial.from..(trial.from + length).min(WINDOW)],
            0,
        )),
    };
    match planted {
        PlantedMistake::Short if done > 0 => bytes[trial.to + done - 1] ^= 0x55,
        PlantedMistake::Long if trial.to + length < WINDOW => bytes[trial.to + length] ^= 0x55,
        PlantedMistake::Early => bytes[trial.to - 1] ^= 0x55,
        PlantedMistake::Spoiled if done > 0 => bytes[trial.to + done / 2] ^= 1,
        PlantedMistake::Source => source[trial.from] ^= 1,
        PlantedMistake::LeftMore => result.left += 1,
        PlantedMistake::LeftNothing => result.left = 0,
        PlantedMistake::Sum => result.sum += 1,
        _ => {}
    }
    from.fill(&source);
    to.fill(&bytes);
    result
}

fn found(routine: KernelRoutine, planted: PlantedMistake) -> u64 {
    let page = || Mapping::anonymous(PAGE).unwrap();
    let ground = TrialPages {
        from: page(),
        to: page(),
    };
    let mut stream = Stream::new(3, "check");
    let call = |trial| Ok(plain(routine, &ground, trial, planted));
    count_wrong(routine, &ground, &mut stream, call).unwrap()
}

fn every() -> impl Iterator<Item = (Routine, KernelRoutine)> {
    let all = Routine::ALL.into_iter();
    let all = all.filter(|one| one.is_in(CpuMode::Kernel));
    all.map(|one| (one, in_kernel(one).unwrap()))
}

#[test]
fn a_plain_routine_is_right_everywhere() {
    for (name, routine) in every() {
        assert_eq!(found(routine, PlantedMistake::Nothing), 0, "{name:?}");
    }
}

#[test]
fn each_mistake_of_a_routine_is_found() {
    for (name, routine) in every() {
        let writes = routine.makes != CallProduct::Sum;
        let user = routine.from_user || routine.to_user;
        for (planted, has) in [
            (PlantedMistake::Short, writes),
            (PlantedMistake::Long, true),
            (PlantedMistake::Early, true),
            (PlantedMistake::Spoiled, writes),
            (PlantedMistake::Source, true),
            (
                PlantedMistake::LeftMore,
                !matches!(routine.fault, FaultAction::Word),
            ),
            (PlantedMistake::LeftNothing, user),
            (PlantedMistake::Sum, routine.makes.sums()),
            (
                PlantedMistake::Tail,
                routine.from_user && routine.fault != FaultAction::Word,
            ),
        ] {
            if has {
                assert!(found(routine, planted) > 0, "{name:?} {planted:?}");
            }
        }
    }
}

#[test]
fn places_end_at_the_end_of_memory_before_it_and_behind_it() {
    let routine = in_kernel(Routine::CopyFromUser).unwrap();
    let mut stream = Stream::new(1, "places");
    let trials: Vec<RoutineTrial> = (0..TRIALS)
        .map(|number| random_trial(routine, number % 2 == 1, &mut stream))
        .collect();
    let ends = |one: &RoutineTrial| one.from + one.length - one.over;
    assert!(trials.iter().any(|one| one.over > 64));
    assert!(trials.iter().any(|one| one.over == 0 && ends(one) < WINDOW));
    for one in trials.iter().filter(|one| one.over > 0) {
        assert_eq!(ends(one), WINDOW);
    }
    for one in &trials {
        assert!(one.to >= ROOM && one.to + one.length <= WINDOW, "{one:?}");
    }
    // If the process has no memory in it, no place extends beyond the end of
    // that.
    let kernel = in_kernel(Routine::Memcpy).unwrap();
    assert_eq!(random_trial(kernel, true, &mut stream).over, 0);
}

#[test]
fn two_zeroes_of_a_sum_are_the_same() {
    assert!(is_same_sum(0xffff, 0) && is_same_sum(0, 0xffff) && is_same_sum(u32::MAX, 0));
    assert!(is_same_sum(0x0001_0001, 2) && !is_same_sum(0x0001_0001, 1));
}
