//! Frames copied to the card of an exact machine arrive complete, and machines without a card are
//! unchanged.

use assize_job::{
    Action, AgentMessage, Display, FlushInstruction, FrameEach, FrameFence, FrameFlush,
    FrameMemory, FrameStore, FramesStream, Job, Machine, Order, Payload, Workload, WorkloadKind,
};
use assize_target::exact::{Exact, Options};
use assize_target::kernels::Kernels;
use assize_target::{RunOutcome, Target};

/// The exact machine; `None`, with a counted skip, if it is not available.
fn exact() -> Option<Exact> {
    let root = Kernels::default_root().unwrap();
    let options = Options {
        fresh: true,
        cold: false,
        unpinned: false,
    };
    let there = Kernels::new(root.clone())
        .resolve(&Machine::default().kernel)
        .and_then(|_| Exact::new(root, options));
    there
        .map_err(|error| crate::support::skip(&error.to_string()))
        .ok()
}

fn order(display: Option<Display>, stream: FramesStream) -> Order {
    Order {
        machine: Machine {
            display,
            ..Machine::default()
        },
        job: Job {
            seed: 3,
            workload: Workload {
                name: "stream".into(),
                kind: WorkloadKind::FramesStream(stream),
            },
            timeout_ms: 20_000,
            ..Job::default()
        },
        ..Order::default()
    }
}

fn to(destination: FrameMemory) -> FramesStream {
    FramesStream {
        width: 640,
        height: 480,
        frames: 1,
        destination,
        ..FramesStream::default()
    }
}

fn records(exact: &Exact, order: &Order) -> Vec<AgentMessage> {
    match exact.run(order, 0).unwrap().outcome {
        RunOutcome::Completed(records) => records,
        RunOutcome::Failed {
            failure, console, ..
        } => panic!("{failure}\n{console}"),
    }
}

fn why(exact: &Exact, order: &Order) -> String {
    match exact.run(order, 0).unwrap().outcome {
        RunOutcome::Completed(records) => panic!("{records:?}"),
        RunOutcome::Failed { failure, .. } => failure.to_string(),
    }
}

fn value(records: &[AgentMessage], wanted: &str) -> f64 {
    let found = records.iter().find_map(|record| match record {
        AgentMessage::Metric { metric, value, .. } if metric == wanted => Some(*value),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no {wanted}: {records:?}"))
}

#[test]
fn every_pixel_of_a_frame_arrives_in_a_bar_by_every_store_and_the_same_each_time() {
    let Some(exact) = exact() else {
        return;
    };
    let card = Some(Display::Bochs);
    let stores = [
        FrameStore::RepMovsb,
        FrameStore::Mov,
        FrameStore::Movnti,
        FrameStore::Movntdq,
    ];
    let memories = [FrameMemory::Uncached, FrameMemory::WriteCombined];
    let mut streams: Vec<FramesStream> = Vec::new();
    for destination in memories {
        let of = |store| FramesStream {
            store,
            ..to(destination)
        };
        streams.extend(stores.map(of));
    }
    // A whole screen, with everything that can follow a line.
    streams.push(FramesStream {
        width: 1920,
        height: 1080,
        flush: FrameFlush::Source,
        flush_by: FlushInstruction::Clflush,
        fence: FrameFence::Mfence,
        each: FrameEach::Line,
        bands: 3,
        pause_ns: 10_000,
        ..to(FrameMemory::WriteCombined)
    });
    // From one half of the card's memory to the other.
    streams.push(FramesStream {
        source: FrameMemory::Uncached,
        flush: FrameFlush::Destination,
        ..to(FrameMemory::WriteCombined)
    });
    for stream in streams {
        let order = order(card, stream.clone());
        let first = records(&exact, &order);
        assert!(value(&first, "pixels_wrong").abs() < 0.5, "{stream:?}");
        assert!((value(&first, "frames") - 1.0).abs() < 0.5);
        assert_eq!(first, records(&exact, &order), "{stream:?}");
    }
}

#[test]
fn drivers_give_framebuffers_and_dumb_buffers_with_and_without_a_card() {
    let Some(exact) = exact() else {
        return;
    };
    // vgem is a card without hardware: its buffers are ordinary memory.
    for (display, module, destination) in [
        (Some(Display::Bochs), "bochs", FrameMemory::Framebuffer),
        (Some(Display::Bochs), "bochs", FrameMemory::DumbBuffer),
        (None, "vgem", FrameMemory::DumbBuffer),
    ] {
        let mut order = order(display, to(destination));
        order.job.setup = vec![Action::Module {
            module: module.into(),
            parameters: std::collections::BTreeMap::new(),
        }];
        order.payload = Payload {
            modules: vec![module.into()],
            ..Payload::default()
        };
        let first = records(&exact, &order);
        let wrong = value(&first, "pixels_wrong");
        assert!(wrong.abs() < 0.5, "{module} {destination:?}");
        assert_eq!(first, records(&exact, &order), "{module} {destination:?}");
    }
}

#[test]
fn what_a_machine_cannot_do_fails_the_run_and_says_why() {
    let Some(exact) = exact() else {
        return;
    };
    let said = why(&exact, &order(None, to(FrameMemory::WriteCombined)));
    assert!(said.contains("no display controller"), "{said}");
    let card = Some(Display::Bochs);
    let wide = FramesStream {
        store: FrameStore::Vmovntdq,
        ..to(FrameMemory::WriteCombined)
    };
    let said = why(&exact, &order(card, wide));
    assert!(said.contains("no AVX2"), "{said}");
    let registers = FramesStream {
        bar: 2,
        ..to(FrameMemory::WriteCombined)
    };
    let said = why(&exact, &order(card, registers));
    assert!(said.contains("BAR 2 is not prefetchable"), "{said}");
    let large = FramesStream {
        width: 4096,
        height: 2160,
        ..to(FrameMemory::Uncached)
    };
    let said = why(&exact, &order(card, large));
    assert!(
        said.contains("it has 16777216 bytes, and 35389440 are needed"),
        "{said}"
    );
}
