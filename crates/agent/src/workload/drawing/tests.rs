#![allow(clippy::unwrap_used)] // A test may fail.

use super::*;
use crate::records::metric_value;

fn small() -> Drawing {
    Drawing {
        operations: 5,
        width: 90,
        height: 70,
        images: 2,
        image_side: 40,
        ..Drawing::default()
    }
}

fn sample_session(drawing: &Drawing) -> DrawingSession {
    let mut session = DrawingSession {
        drawing: drawing.clone(),
        operations: Some(drawing.operations),
        samples: false,
        stream: Stream::new(5, "workload.drawing"),
        ends: None,
        start: 0,
        times: TimedSeries::default(),
        sent: SentTotals::default(),
        drawn: None,
    };
    session.set_up().unwrap();
    session
}

fn value(records: &[AgentMessage], name: &str) -> f64 {
    metric_value(records, name).unwrap()
}

#[test]
fn the_screen_is_the_one_that_was_asked_for_whatever_the_buffer() {
    // An image has 6424 bytes, more than the server's buffer holds at first.
    for (images_by, image) in [(ImagesBy::Socket, 24 + 6400), (ImagesBy::SharedMemory, 40)] {
        for buffer in [64, 4096, 16384] {
            let drawing = Drawing {
                images_by,
                buffer,
                ..small()
            };
            let mut session = sample_session(&drawing);
            session.run().unwrap();
            assert_eq!(session.times.len(), 5);
            assert!(session.drawn.as_ref().unwrap() != &Screen::new(90, 70));
            let records = session.records().unwrap();
            assert!(value(&records, "pixels_wrong").abs() < 0.5, "{drawing:?}");
            // A colour and rectangles; four times a colour and a text; a copy;
            // images; the final request for an answer.
            let one = 16 + (12 + 80) + 4 * (16 + 16 + 20) + 28 + 2 * image + 4;
            assert_eq!(value(&records, "request_bytes") as u32, 5 * one);
            assert_eq!(value(&records, "requests") as u32, 5 * (2 + 8 + 1 + 2 + 1));
        }
    }
}

#[test]
fn a_pixel_that_is_not_the_one_asked_for_is_counted() {
    let mut session = sample_session(&small());
    session.run().unwrap();
    let screen = session.drawn.as_mut().unwrap();
    screen.colour = 0x0100_0000;
    screen.fill(Rectangle {
        x: 3,
        y: 4,
        width: 2,
        height: 3,
    });
    assert_eq!(value(&session.records().unwrap(), "pixels_wrong") as u32, 6);
}

#[test]
fn what_is_drawn_comes_from_the_seed() {
    let drawn = |seed| {
        let drawing = small();
        let (_, segment) = segment(&drawing).unwrap();
        let mut bytes = Vec::new();
        let mut artist = RequestGenerator::new(&drawing, &Stream::new(seed, "drawing"));
        artist.operation(&mut bytes, &segment).unwrap();
        bytes
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
}

#[test]
fn a_request_that_is_cut_off_or_has_no_length_ends_the_server() {
    let serve_error = |bytes: &[u8]| {
        let (mut client, server) = UnixStream::pair().unwrap();
        client.write_all(bytes).unwrap();
        drop(client);
        let segment = Mapping::memfd(4).unwrap();
        serve(server, &segment, Screen::new(2, 2)).unwrap_err()
    };
    assert!(serve_error(&[43, 0]).contains("cut off"));
    assert!(serve_error(&[43, 0, 0, 0]).contains("no length"));
    assert!(serve_error(&[9, 0, 1, 0]).contains("no request has the code"));
    let mut outside = Vec::new();
    let place = Rectangle {
        x: 0,
        y: 0,
        width: 2,
        height: 2,
    };
    Request::PutShared(place, 0).write(&mut outside).unwrap();
    assert!(serve_error(&outside).contains("shared memory"));
}
