#![allow(clippy::unwrap_used)] // A test may fail.

use super::*;
use crate::profile::ProfilePlace;
use crate::{Calls, Profile};

fn call(own: u64, callees: &[(&str, Call)]) -> Call {
    Call {
        own,
        entered: 1,
        callees: callees
            .iter()
            .map(|(name, call)| ((*name).to_owned(), call.clone()))
            .collect(),
    }
}

fn side(threads: &[(&str, Call)], jobs: f64) -> CountedRun {
    let mut profile = Profile::default();
    for (thread, call) in threads {
        let place = ProfilePlace {
            thread: (*thread).to_owned(),
            function: "all".into(),
            subsystem: "files".into(),
        };
        profile.instructions += call.inclusive();
        profile.places.insert(place, call.inclusive());
    }
    CountedRun {
        run: 0,
        profile,
        jobs: Some(jobs),
        metric: None,
        reached: Vec::new(),
        calls: Some(Calls {
            threads: call(0, threads).callees,
        }),
        functions: Vec::new(),
        misses: None,
    }
}

/// One configuration has a function with 200,000 instructions and one with 3 that the
/// other lacks.
fn planted() -> CountedPair {
    let read = call(7, &[("tiny", call(3, &[])), ("small", call(2, &[]))]);
    let with = call(90, &[("planted", call(200_000, &[])), ("read", read)]);
    let without = call(90, &[("read", call(7, &[]))]);
    CountedPair {
        seed: 1,
        a: side(&[("cat", with), ("init", call(5, &[]))], 2.0),
        b: side(&[("cat", without)], 1.0),
    }
}

/// Every frame is the sum of its self count and the frames below it.
fn adds_up(frame: &FlameFrame) {
    for side in [0, 1] {
        let below: u64 = frame.below.iter().map(|below| below.all[side]).sum();
        assert_eq!(frame.all[side], frame.own[side] + below, "{}", frame.name);
    }
    frame.below.iter().for_each(adds_up);
}

fn below<'a>(frame: &'a FlameFrame, names: &[&str]) -> &'a FlameFrame {
    let step = |frame: &'a FlameFrame, name: &&str| {
        let found = frame.below.iter().find(|below| below.name == *name);
        found.unwrap()
    };
    names.iter().fold(frame, step)
}

#[test]
fn a_planted_function_is_a_frame_with_its_count() {
    let flame = Flame::from_pairs(&[planted()], true, 0.0, usize::MAX);
    adds_up(&flame.whole);
    assert!(flame.stacks);
    assert_eq!(flame.jobs, [2.0, 1.0]);
    assert_eq!(flame.whole.all, [200_107, 97]);
    let frame = below(&flame.whole, &["cat", "planted"]);
    assert_eq!((frame.all, frame.own), ([200_000, 0], [200_000, 0]));
    assert_eq!(frame.entered, [1, 0]);
    assert_eq!(below(&flame.whole, &["cat"]).below[0].name, "planted");
}

#[test]
fn small_frames_are_one_and_nothing_is_lost() {
    let flame = Flame::from_pairs(&[planted()], true, 0.0001, usize::MAX);
    adds_up(&flame.whole);
    assert_eq!(flame.whole.all, [200_107, 97]);
    let others = below(&flame.whole, &["cat", "read"]).below.last().unwrap();
    assert_eq!((others.others, others.all), (2, [5, 0]));
    assert_eq!((others.own, others.name.as_str()), ([5, 0], ""));
    // A frame that is small in only one configuration is kept.
    assert_eq!(below(&flame.whole, &["cat", "read"]).all, [12, 7]);
}

#[test]
fn there_are_no_more_frames_than_are_wanted() {
    let all = Flame::from_pairs(&[planted()], true, 0.000_01, usize::MAX);
    let few = Flame::from_pairs(&[planted()], true, 0.000_01, 5);
    assert!(all.whole.frames() > 5 && few.whole.frames() <= 5);
    assert!(few.least > all.least, "{few:?}");
    adds_up(&few.whole);
    assert_eq!(few.whole.all, all.whole.all);
}

#[test]
fn without_trees_there_are_thread_subsystem_and_function() {
    let flame = Flame::from_pairs(&[planted()], false, 0.0, usize::MAX);
    adds_up(&flame.whole);
    assert!(!flame.stacks);
    let frame = below(&flame.whole, &["cat", "files", "all"]);
    assert_eq!(frame.all, [200_102, 97]);
    let mut half = planted();
    half.b.calls = None;
    assert!(!Flame::from_pairs(&[half], true, 0.0, usize::MAX).stacks);
}

#[test]
fn seeds_are_added_and_the_same_configuration_twice_differs_in_no_frame() {
    let same = CountedPair {
        b: planted().a,
        ..planted()
    };
    let flame = Flame::from_pairs(&[same.clone(), same], true, 0.0, usize::MAX);
    fn equal(frame: &FlameFrame) {
        assert_eq!(frame.all[0], frame.all[1], "{}", frame.name);
        frame.below.iter().for_each(equal);
    }
    equal(&flame.whole);
    adds_up(&flame.whole);
    assert_eq!((flame.whole.all[0], flame.jobs), (400_214, [4.0, 4.0]));
}

#[test]
fn frames_that_are_some_others_stay_so_when_fewer_are_wanted() {
    let many = Flame::from_pairs(&[planted()], true, 0.0001, usize::MAX);
    let few = many.clone().within(5);
    assert!(few.whole.frames() <= 5 && few.least > many.least, "{few:?}");
    adds_up(&few.whole);
    assert_eq!(few.whole.all, many.whole.all);
    // `read` and the frames below it, two of which were already merged.
    let others = below(&few.whole, &["cat"]).below.last().unwrap();
    assert_eq!((others.others, others.all), (1, [12, 7]));
    assert_eq!(many.clone().within(usize::MAX), many);
}
