use super::*;
use crate::records::metric_value;
use assize_job::{FlushInstruction, FrameFence, FrameFlush, FrameStore};

const SEED: u64 = 5;

fn small() -> FramesStream {
    FramesStream {
        width: 37,
        height: 11,
        pixel_bytes: 3,
        frames: 2,
        ..FramesStream::default()
    }
}

fn sample_streaming(stream: &FramesStream) -> FramesStreaming {
    let mut streaming = FramesStreaming {
        stream: stream.clone(),
        background: false,
        samples: false,
        pixels: Stream::new(SEED, "workload.pixels"),
        frames: None,
        start: 0,
        times: TimedSeries::default(),
        late: Vec::new(),
    };
    streaming.set_up().unwrap();
    streaming
}

#[test]
fn frames_arrive_whole_by_every_store_flush_and_fence() {
    let stores = [
        FrameStore::RepMovsb,
        FrameStore::Mov,
        FrameStore::Movnti,
        FrameStore::Movntdq,
        FrameStore::Vmovntdq,
    ];
    let memories = [FrameMemory::Anonymous, FrameMemory::Memfd];
    for (number, store) in stores.into_iter().enumerate() {
        if store == FrameStore::Vmovntdq && !std::arch::is_x86_feature_detected!("avx2") {
            continue;
        }
        for each in [FrameEach::Line, FrameEach::Frame] {
            let flushes = [
                FrameFlush::Nothing,
                FrameFlush::Source,
                FrameFlush::Destination,
            ];
            let fences = [FrameFence::Nothing, FrameFence::Sfence, FrameFence::Mfence];
            let stream = FramesStream {
                store,
                each,
                flush: flushes[number % 3],
                flush_by: FlushInstruction::Clflush,
                fence: fences[number % 3],
                source: memories[number % 2],
                destination: memories[(number + 1) % 2],
                bands: 1 + number as u32,
                pause_ns: number as u64,
                ..small()
            };
            let mut streaming = sample_streaming(&stream);
            streaming.run().unwrap();
            let records = streaming.records().unwrap();
            assert_eq!(
                metric_value(&records, "pixels_wrong"),
                Some(0.0),
                "{stream:?}"
            );
            assert_eq!(metric_value(&records, "frames"), Some(2.0));
        }
    }
}

#[test]
fn what_did_not_arrive_is_counted_pixel_by_pixel() {
    let stream = small();
    // Nothing was copied: all pixels are wrong.
    let mut streaming = sample_streaming(&stream);
    let all = f64::from(stream.width * stream.height);
    assert_eq!(
        metric_value(&streaming.records().unwrap(), "pixels_wrong"),
        Some(all)
    );
    // Flip a bit of one pixel, in the last line.
    let mut streaming = sample_streaming(&stream);
    streaming.run().unwrap();
    {
        let frames = streaming.frames.as_ref().unwrap();
        let line = frames.destination_lines(10, 1).unwrap();
        let mut bytes = vec![0; line.length()];
        line.read(&mut bytes);
        bytes[110] ^= 1;
        line.fill(&bytes);
    }
    assert_eq!(
        metric_value(&streaming.records().unwrap(), "pixels_wrong"),
        Some(1.0)
    );
}

#[test]
fn before_it_is_copied_the_destination_holds_the_complement_of_the_frame() {
    let streaming = sample_streaming(&small());
    let frames = streaming.frames.as_ref().unwrap();
    let mut pixels = streaming.pixels.clone();
    for number in 0..frames.lines {
        let (mut line, mut found) = (vec![0; 111], vec![0; 111]);
        draw(&mut pixels, &mut line);
        frames
            .destination_lines(number, 1)
            .unwrap()
            .read(&mut found);
        let complement: Vec<u8> = line.iter().map(|byte| !byte).collect();
        assert_eq!(found, complement);
    }
}

#[test]
fn the_control_copies_nothing_and_says_nothing_of_pixels() {
    let stream = FramesStream {
        store: FrameStore::Compute,
        ..small()
    };
    let mut streaming = sample_streaming(&stream);
    streaming.run().unwrap();
    let all = (stream.width * stream.height) as usize;
    let frames = streaming.frames.as_ref().unwrap();
    assert_eq!(frames.wrong(&streaming.pixels, 3).unwrap(), all);
    let records = streaming.records().unwrap();
    assert_eq!(metric_value(&records, "frames"), Some(2.0));
    assert_eq!(metric_value(&records, "pixels_wrong"), None);
    assert_eq!(metric_value(&records, "bandwidth"), None);
}

#[test]
fn each_seed_has_a_frame_of_its_own() {
    let line = |seed| {
        let mut line = [0; 20];
        draw(&mut Stream::new(seed, "pixels"), &mut line);
        line
    };
    assert_eq!(line(1), line(1));
    assert_ne!(line(1), line(2));
}

#[test]
fn a_duration_ends_the_copying_and_periods_that_pass_are_late() {
    let stream = FramesStream {
        duration_ns: Some(3_000_000),
        period_ns: Some(1_000_000),
        ..small()
    };
    let mut streaming = sample_streaming(&stream);
    streaming.run().unwrap();
    let records = streaming.records().unwrap();
    let late = records.iter().find_map(|record| match record {
        AgentMessage::Events { event, count, .. } if event == "frames_late" => Some(*count),
        _ => None,
    });
    // Each period either has a frame or is late.
    let frames = metric_value(&records, "frames").unwrap();
    assert!(
        frames >= 1.0 && frames as u64 + late.unwrap() >= 3,
        "{records:?}"
    );
    assert_eq!(periods_passed(100, 110, 10), 0);
    assert_eq!(periods_passed(100, 111, 10), 1);
    assert_eq!(periods_passed(100, 131, 10), 3);
}
