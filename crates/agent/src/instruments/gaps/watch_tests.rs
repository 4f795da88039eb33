use super::*;

const RATE: CounterRate = CounterRate { khz: 1_000_000 };
/// Length of an iteration of the loop, and of a reading of the counters, in ticks.
const TURN: u64 = 20;
const READING: u64 = 3_000;

/// A machine on which stalls are planted.
struct PlantedMachine {
    now: u64,
    /// Time, length and kind of each; ascending.
    stalls: Vec<(u64, u64, MachineStall)>,
    counted: CpuCounts,
    slept: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MachineStall {
    Tick,
    Switch,
    Nothing,
    Smi,
}

impl PlantedMachine {
    fn new(mut stalls: Vec<(u64, u64, MachineStall)>) -> PlantedMachine {
        stalls.sort_by_key(|(at, ..)| *at);
        PlantedMachine {
            now: 0,
            stalls,
            counted: CpuCounts::default(),
            slept: 0,
        }
    }

    fn advance(&mut self, by: u64) {
        self.now += by;
        while let Some((at, length, what)) = self.stalls.first().copied() {
            if at > self.now {
                break;
            }
            self.stalls.remove(0);
            self.now += length;
            match what {
                MachineStall::Tick => self.counted.interrupts += 1,
                MachineStall::Switch => self.counted.switches += 1,
                MachineStall::Smi => self.counted.smis += 1,
                MachineStall::Nothing => {}
            }
        }
    }
}

impl WatchedMachine for PlantedMachine {
    fn now(&mut self) -> u64 {
        self.advance(TURN);
        self.now
    }

    fn counts(&mut self) -> CpuCounts {
        self.advance(READING);
        self.counted
    }

    fn steal(&mut self) -> u64 {
        self.advance(READING);
        0
    }

    fn own_counts(&mut self) -> CpuCounts {
        self.advance(READING / 20);
        CpuCounts {
            interrupts: 0,
            ..self.counted
        }
    }

    fn sleep(&mut self, ticks: u64) {
        self.slept += ticks;
        self.now += ticks;
        self.stalls.retain(|(at, ..)| *at > self.now);
    }
}

fn limits(width: u64, window: u64) -> GapLimits {
    GapLimits {
        threshold: 10_000,
        notice: 500,
        width,
        window,
    }
}

/// Watches until the counter reaches `until`.
fn watched(machine: &mut PlantedMachine, limits: GapLimits, until: u64) -> GapWatch {
    let mut watch = GapWatch::new(limits, RATE);
    watch.run(machine, |now| now >= until);
    watch
}

#[test]
fn each_planted_stall_is_found_with_its_length_and_cause() {
    let all = [
        MachineStall::Tick,
        MachineStall::Switch,
        MachineStall::Nothing,
        MachineStall::Smi,
    ];
    let stalls = (0..400u64).map(|at| {
        let what = all[usize::try_from(at).unwrap() % 4];
        (100_000 + at * 100_000, 12_000 + 7 * at, what)
    });
    let planted: Vec<_> = stalls.collect();
    let mut machine = PlantedMachine::new(planted.clone());
    let watch = watched(&mut machine, limits(1, 1), 41_000_000);
    assert_eq!(watch.found.len(), planted.len());
    for (found, (at, length, what)) in watch.found.iter().zip(planted) {
        assert!(found.span.from.abs_diff(at) <= TURN, "{found:?} {at}");
        assert_eq!(found.span.length, length + TURN);
        let cause = match what {
            MachineStall::Tick => Cause::Interrupt,
            MachineStall::Switch => Cause::Switch,
            MachineStall::Nothing => Cause::Unexplained,
            MachineStall::Smi => Cause::Smi,
        };
        assert_eq!(found.cause, cause, "{found:?}");
    }
    let watched = watch.watched(Watched::default());
    // Each reading is blind, together with the iterations around it.
    assert_eq!(watched.blind_ns, 400 * (READING + 2 * TURN));
    assert!(watched.observed_ns + watched.blind_ns <= 41_000_000 + READING);
    assert!(watched.observed_ns + watched.blind_ns > 40_900_000);
}

#[test]
fn a_quiet_machine_has_no_gap() {
    let mut machine = PlantedMachine::new(Vec::new());
    let watch = watched(&mut machine, limits(1, 1), 20_000_000);
    assert!(watch.found.is_empty());
    assert_eq!(watch.watched(Watched::default()).blind_ns, 0);
    assert_eq!(watch.iteration_lengths(&mut machine), (TURN, TURN));
    assert_eq!(GapWatch::reading_length(&mut machine), READING + TURN);
}

/// Ticks below the threshold, and now and then a stall that no counter shows.
fn ticks_and_stalls(every: u64, tick: u64, until: u64) -> PlantedMachine {
    let ticks = (1..until / every).map(|at| (at * every, tick, MachineStall::Tick));
    let stalls = (1..20).map(|at| (at * until / 20 + every / 2, 11_000, MachineStall::Nothing));
    PlantedMachine::new(ticks.chain(stalls).collect())
}

#[test]
fn an_interrupt_before_a_gap_is_not_its_cause() {
    let until = 2_000_000_000;
    let mut machine = ticks_and_stalls(4_000_000, 2_000, until);
    let watch = watched(&mut machine, limits(1, 1), until);
    assert_eq!(watch.found.len(), 19);
    let causes: Vec<Cause> = watch.found.iter().map(|found| found.cause).collect();
    assert_eq!(causes, [Cause::Unexplained; 19]);
}

#[test]
fn where_counters_cannot_be_read_often_enough_the_cause_is_unclear() {
    let until = 100_000_000;
    let mut machine = ticks_and_stalls(31_250, 600, until);
    let watch = watched(&mut machine, limits(1, 1), until);
    assert_eq!(watch.found.len(), 19);
    let unclear = watch.found.iter().filter(|f| f.cause == Cause::Unclear);
    assert!(unclear.count() > 5, "{:?}", watch.found);
    let wrong = |f: &&TickGap| f.cause == Cause::Interrupt;
    assert_eq!(watch.found.iter().filter(wrong).count(), 0);
    let watched = watch.watched(Watched::default());
    assert!(watched.blind_ns < watched.observed_ns / 15, "{watched:?}");
}

#[test]
fn with_a_width_it_sleeps_for_the_rest_and_sees_its_share() {
    let stalls = (0..1000u64).map(|at| (at * 99_990, 12_000, MachineStall::Nothing));
    let mut machine = PlantedMachine::new(stalls.collect());
    let watch = watched(&mut machine, limits(1_000_000, 4_000_000), 99_000_000);
    let watched = watch.watched(Watched::default());
    let share = watched.observed_ns + watched.blind_ns;
    assert!(share.abs_diff(99_000_000 / 4) < 1_000_000, "{watched:?}");
    assert!(machine.slept > 70_000_000);
    let rate = watch.found.len() as f64 / (watched.observed_ns as f64 / 1e9);
    // One per 100 us; readings and gaps themselves take some of the time.
    assert!((8_500.0..12_000.0).contains(&rate), "{rate}");
}

#[test]
fn gaps_without_room_end_the_exposure() {
    let stalls = (0..1000u64).map(|at| (at * 100_000, 12_000, MachineStall::Nothing));
    let mut machine = PlantedMachine::new(stalls.collect());
    let mut watch = GapWatch::new(limits(1, 1), RATE);
    watch.room = 10;
    watch.run(&mut machine, |now| now >= 90_000_000);
    assert!(watch.is_full());
    assert_eq!(watch.found.len(), 10);
    let watched = watch.watched(Watched::default());
    assert!(watched.observed_ns < 1_100_000, "{watched:?}");
}

#[test]
fn a_second_time_begins_anew() {
    let mut machine = PlantedMachine::new(vec![(50_000, 11_000, MachineStall::Nothing)]);
    let mut watch = watched(&mut machine, limits(1, 1), 100_000);
    assert_eq!(watch.gaps(3, 0).len(), 1);
    watch.run(&mut machine, |now| now >= 200_000);
    assert!(watch.found.is_empty());
    let watched = watch.watched(Watched::default());
    assert!(
        (90_000..100_000).contains(&watched.observed_ns),
        "{watched:?}"
    );
}

#[test]
fn a_switch_is_told_also_where_interrupts_cannot_be() {
    let until = 100_000_000;
    let mut machine = ticks_and_stalls(31_250, 600, until);
    for (_, length, what) in &mut machine.stalls {
        if *length == 11_000 {
            *what = MachineStall::Switch;
        }
    }
    let watch = watched(&mut machine, limits(1, 1), until);
    let causes: Vec<Cause> = watch.found.iter().map(|found| found.cause).collect();
    assert_eq!(causes, [Cause::Switch; 19]);
}
