#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use proptest::prelude::*;

use super::*;
use crate::event_builder::EventBuilder;

fn timeline_of(builder: &EventBuilder, spans: usize) -> Timeline {
    timeline(4, &TracedRun::new(builder.events()), spans)
}

/// Each span as times, label and kind.
fn spans(lane: &TimelineLane) -> Vec<(f64, f64, &str, SpanKind)> {
    let span = |span: &'_ BusySpan| (span.start_ns, span.end_ns, span.kind);
    let both = lane.spans.iter().map(|s| (span(s), s.label.as_str()));
    both.map(|((from, to, kind), label)| (from, to, label, kind))
        .collect()
}

#[test]
fn a_picture_shows_who_had_each_cpu_and_what_each_engine_did() {
    let mut builder = EventBuilder::default();
    builder.call(57, "sync").call(3, "kworker/1:0");
    builder.by_worker(1000, 1, "drm_sched_job");
    let timeline = timeline_of(&builder, 100);
    let names: Vec<_> = timeline
        .lanes
        .iter()
        .map(|lane| (lane.name.as_str(), lane.kind.as_str()))
        .collect();
    assert_eq!(
        names,
        [("CPU 0", "cpu"), ("CPU 1", "cpu"), ("engine 0", "engine")]
    );
    assert_eq!(
        spans(&timeline.lanes[0]),
        [
            (0.0, 1070.0, "sync", SpanKind::Submitter),
            (2150.0, 1_000_000.0, "sync", SpanKind::Submitter),
        ]
    );
    let worker = (1100.0, 1140.0, "kworker/1:0", SpanKind::Worker);
    assert_eq!(spans(&timeline.lanes[1]), [worker]);
    assert_eq!(
        spans(&timeline.lanes[2]),
        [(1120.0, 2120.0, "1:1", SpanKind::Job)]
    );
    assert_eq!((timeline.run, timeline.end_ns), (4, 1e6));
    assert!(timeline.thinned.is_empty());
}

#[test]
fn priorities_are_said_where_they_are_not_the_usual_one() {
    let mut builder = EventBuilder::default();
    builder.call(57, "sync").call(3, "hog");
    for (at, tid, prio) in [(10, 57, 49), (20, 3, 130), (30, 57, -1), (40, 3, 120)] {
        let values = [0, 120, 1, i64::from(tid), prio];
        builder.event(at, (0, 0), "sched_switch", &values);
        builder.switch(at + 5, 0, (tid, 1), 0);
    }
    let timeline = timeline_of(&builder, 100);
    let labels: Vec<&str> = timeline.lanes[0]
        .spans
        .iter()
        .map(|s| s.label.as_str())
        .collect();
    let wanted = [
        "sync (real-time 50)",
        "hog (nice 10)",
        "sync (deadline)",
        "hog",
    ];
    assert_eq!(labels, wanted);
}

#[test]
fn jobs_on_an_engine_follow_each_other() {
    let mut builder = EventBuilder::default();
    for seqno in 1..=3 {
        builder.submitted(1000, seqno, "depq_job_queue");
    }
    for seqno in 1..=3 {
        builder.event(1100, (1, 3), "simgpu_run", &[1, seqno, 0]);
    }
    builder.event(1300, (0, 0), "hw_done", &[1, 1, 0]);
    builder.event(1700, (0, 0), "hw_done", &[1, 2, 110]);
    let timeline = timeline_of(&builder, 100);
    let engine = timeline.lanes.last().unwrap();
    assert_eq!(
        spans(engine),
        [
            (1100.0, 1300.0, "1:1", SpanKind::Job),
            (1300.0, 1700.0, "1:2", SpanKind::FailedJob),
            (1700.0, 1e6, "1:3", SpanKind::Job),
        ]
    );
    assert_eq!(timeline.thinned.len(), 1);
    assert!(timeline.thinned[0].starts_with("engine 0: 2 of 3 jobs were handed to it before"));
}

#[test]
fn what_was_lost_or_merged_is_said() {
    let mut builder = EventBuilder::default();
    builder.call(57, "sync").call(3, "hog");
    for at in 0..100 {
        let tid = [3, 57, 57][at as usize % 3];
        builder.switch(1000 * at, 0, (0, 0), tid);
        builder.switch(1000 * at + 600, 0, (tid, 1), 0);
    }
    builder.switch(200_000, 0, (0, 0), 3);
    builder.switch(290_000, 0, (3, 1), 0);
    let mut run = TracedRun::new(builder.events());
    run.events.lost = 7;
    let timeline = timeline(0, &run, 10);
    let spans = spans(&timeline.lanes[0]);
    assert!(spans.len() <= 10);
    let (.., label, kind) = spans[0];
    assert_eq!(
        (kind, label),
        (SpanKind::Merged, "17 x sync, hog, busy 61 %")
    );
    assert_eq!(
        *spans.last().unwrap(),
        (200_000.0, 290_000.0, "hog", SpanKind::Thread)
    );
    assert_eq!(
        timeline.thinned,
        [
            "7 kernel events of run 0 were lost; later events are missing",
            "CPU 0: 99 stretches shorter than 16.4 us are drawn as 6 blocks; each says how many \
             and whose they are, and how much of it was busy"
        ]
    );
}

#[test]
fn nothing_gives_an_empty_picture() {
    let timeline = timeline_of(&EventBuilder::default(), 10);
    assert!(timeline.lanes.is_empty() && timeline.thinned.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_hides_no_busy_time_and_counts_what_it_merged(
        steps in prop::collection::vec((0u64..3000, 0u64..3000), 0..200),
        limit in 1usize..60,
    ) {
        let mut at = 0;
        let busy: Vec<BusyTime> = steps
            .iter()
            .map(|(idle, busy)| {
                let from = at + idle;
                at = from + busy;
                BusyTime { from, to: at, label: (from % 5).to_string(), kind: SpanKind::Thread }
            })
            .collect();
        let merged = merge::merge(&busy, limit);
        prop_assert!(merged.spans.len() <= limit);
        let shown = merged.spans.iter().filter(|span| span.kind != SpanKind::Merged).count();
        prop_assert_eq!(shown + merged.were, busy.len());
        prop_assert_eq!(shown + merged.blocks, merged.spans.len());
        prop_assert!(merged.spans.windows(2).all(|two| two[0].end_ns <= two[1].start_ns));
        for one in &busy {
            let (from, to) = (one.from as f64, one.to as f64);
            let mut over = merged.spans.iter().filter(|s| s.start_ns <= from && to <= s.end_ns);
            prop_assert!(over.any(|span| span.label.contains(&one.label) || span.label.contains("more")));
            let whole = merged.spans.iter().any(|s| (s.start_ns, s.end_ns) == (from, to));
            prop_assert!(whole || one.to - one.from < merged.shorter_than);
        }
    }
}
