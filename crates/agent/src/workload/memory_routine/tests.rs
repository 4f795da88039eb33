#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use assize_job::{CpuMode, Routine};

use super::places::{APART, largest_cache, order, shuffle};
use super::*;
use crate::records::metric_value;

fn small(routine: Routine, cache: CacheState) -> MemoryRoutine {
    MemoryRoutine {
        routine,
        size: 100,
        source_offset: u32::from(routine.reads()) * 3,
        destination_offset: u32::from(routine.writes()) * 8,
        cache,
        arena: (cache == CacheState::Beyond).then_some(5000),
        batches: 3,
        calls: Some(7),
        ..MemoryRoutine::default()
    }
}

fn sample_workload(kind: &MemoryRoutine) -> RoutineWorkload {
    let mut calling = RoutineWorkload {
        kind: kind.clone(),
        background: false,
        samples: false,
        stream: Stream::new(5, "workload.bytes"),
        ready: None,
        start: 0,
        times: TimedSeries::default(),
        alternative: Cell::new(0),
    };
    // The rate of the counter does not matter here, and takes time to measure.
    let called = callable_routine(kind).unwrap();
    let places = RoutinePlaces::new(kind, called, &calling.stream).unwrap();
    let rate = CounterRate { khz: 2_000_000 };
    calling.ready = Some(PreparedCalls {
        called,
        places,
        rate,
        wrong_before: 0,
    });
    calling
}

#[test]
fn every_routine_is_right_in_every_state_of_the_caches() {
    let in_user = |one: &Routine| one.is_in(CpuMode::User);
    for routine in Routine::ALL.into_iter().filter(in_user) {
        if routine.needs_avx2() && !std::arch::is_x86_feature_detected!("avx2") {
            continue;
        }
        for cache in [CacheState::Hot, CacheState::Cold, CacheState::Beyond] {
            let kind = small(routine, cache);
            let mut calling = sample_workload(&kind);
            calling.run().unwrap();
            assert_eq!(calling.times.len(), 3);
            let records = calling.records().unwrap();
            assert_eq!(
                metric_value(&records, "results_wrong"),
                Some(0.0),
                "{kind:?}"
            );
            let alternative = (routine == Routine::MovslRule).then_some(21.0);
            assert_eq!(metric_value(&records, "alternative_calls"), alternative);
            let (call, speed) = (
                metric_value(&records, "call_time"),
                metric_value(&records, "routine_bandwidth"),
            );
            assert!((call.unwrap() * speed.unwrap() - 100_000.0).abs() < 1e-6);
        }
    }
}

#[test]
fn the_rule_with_a_mask_of_0_never_reaches_its_alternative() {
    let mut kind = small(Routine::MovslRule, CacheState::Hot);
    for (mask, reached) in [
        (None, 21.0),
        (Some(8), 21.0),
        (Some(4), 0.0),
        (Some(0), 0.0),
    ] {
        // The addresses of the places differ in the bits 1, 2 and 8.
        kind.mask = mask;
        let mut calling = sample_workload(&kind);
        calling.run().unwrap();
        let records = calling.records().unwrap();
        assert_eq!(
            metric_value(&records, "alternative_calls"),
            Some(reached),
            "{mask:?}"
        );
    }
}

#[test]
fn what_was_not_done_is_wrong_place_by_place() {
    for routine in [Routine::Sse2, Routine::ZeroSse2] {
        let mut calling = sample_workload(&small(routine, CacheState::Cold));
        assert_eq!(
            metric_value(&calling.records().unwrap(), "results_wrong"),
            Some(7.0)
        );
        let mut calling = sample_workload(&small(routine, CacheState::Cold));
        calling.run().unwrap();
        {
            let places = &calling.ready.as_ref().unwrap().places;
            let place = places.destination_area(places.order[4]).unwrap();
            let mut bytes = vec![0; place.length()];
            place.read(&mut bytes);
            bytes[99] ^= 1;
            place.fill(&bytes);
        }
        assert_eq!(
            metric_value(&calling.records().unwrap(), "results_wrong"),
            Some(1.0)
        );
    }
}

#[test]
fn places_are_where_they_were_asked_for() {
    for cache in [CacheState::Hot, CacheState::Cold, CacheState::Beyond] {
        let kind = small(Routine::Mov, cache);
        let calling = sample_workload(&kind);
        let places = &calling.ready.as_ref().unwrap().places;
        let count = match cache {
            CacheState::Hot => 1,
            CacheState::Cold => 7,
            // Each 100 bytes, and their offset, take three lines.
            CacheState::Beyond => 5000_usize.div_ceil(192),
        };
        assert_eq!(places.order.len(), count);
        let mut sorted = places.order.clone();
        sorted.sort_unstable();
        // Flushed places are not used in the order of their addresses.
        let is_drawn = cache == CacheState::Cold;
        assert_eq!(places.order != sorted, is_drawn, "{cache:?}");
        assert_eq!(sorted, (0..count).map(|at| at * 192).collect::<Vec<_>>());
        for at in &places.order {
            assert_eq!(places.source_area(*at).unwrap().start().addr() % LINE, 3);
            assert_eq!(
                places.destination_area(*at).unwrap().start().addr() % LINE,
                8
            );
        }
    }
    let order = |seed| {
        let mut order: Vec<usize> = (0..20).collect();
        shuffle(&mut order, &mut Stream::new(seed, "order"));
        order
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn each_place_is_taken_in_turn() {
    let calling = sample_workload(&small(Routine::Mov, CacheState::Cold));
    let places = &calling.ready.as_ref().unwrap().places;
    let taken = Cell::new(Vec::new());
    let note = |to: *mut u8, _: *const u8| {
        let mut all = taken.take();
        all.push(to.addr() - places.destination.start().addr() - places.to);
        taken.set(all);
    };
    places.time_calls(5, 16, note);
    let round = places.order.iter().cycle().skip(5).take(16);
    assert_eq!(taken.take(), round.copied().collect::<Vec<_>>());
}

#[test]
fn the_largest_cache_is_read_as_the_kernel_writes_it() {
    let directory = tempfile::tempdir().unwrap();
    assert!(
        largest_cache(directory.path())
            .unwrap_err()
            .ends_with("set arena")
    );
    for (index, size) in ["32K\n", "1024K\n", "0K\n", "many"].iter().enumerate() {
        let cache = directory.path().join(format!("index{index}"));
        std::fs::create_dir(&cache).unwrap();
        std::fs::write(cache.join("size"), size).unwrap();
    }
    assert_eq!(largest_cache(directory.path()), Ok(1 << 20));
}

#[test]
fn the_median_is_the_one_in_the_middle() {
    assert_eq!(median(&mut [9, 1, 5]), 5);
    assert_eq!(median(&mut [9, 1, 5, 7]), 5);
    assert_eq!(median(&mut []), 0);
}

#[test]
fn the_kernel_comes_by_each_place_once_in_equal_steps() {
    for count in [1, 2, 3, 16, 30, 97] {
        for seed in 0..5 {
            let order = order(count, true, true, &mut Stream::new(seed, "order"));
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count).collect::<Vec<_>>());
            let step = order.get(1).copied().unwrap_or(0);
            let next = |pair: &[usize]| (pair[0] + step) % count == pair[1];
            assert!(order.windows(2).all(next), "{order:?}");
        }
    }
    let order_from = |seed| order(97, true, true, &mut Stream::new(seed, "order"));
    assert_ne!(order_from(1), order_from(2));
}

#[test]
fn a_batch_in_the_kernel_names_the_places_that_are_filled() {
    let mut kind = small(Routine::Mov, CacheState::Cold);
    let calling = sample_workload(&kind);
    let places = &calling.ready.as_ref().unwrap().places;
    kind.routine = Routine::CopyFromUser;
    kind.mode = CpuMode::Kernel;
    let Ok(CallableRoutine::Kernel(routine)) = callable_routine(&kind) else {
        panic!("the kernel has it");
    };
    let batch = places.batch(routine, 2, 5);
    assert_eq!(batch.from, places.source.start().addr() as u64 + 3);
    // The kernel's memory has no address in this process.
    assert_eq!(batch.to, APART as u64 + 8);
    assert_eq!((batch.length, batch.calls), (100, 5));
    assert_eq!((batch.places, batch.apart), (7, 192));
    assert_eq!(batch.first as usize * 192, places.order[2]);
}
