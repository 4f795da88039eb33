//! Frame rates and scores.

use assize_audit::grammar::Finding;
use assize_audit::grammar::frames::Frames;

use super::{blocks, doubts, survives, survives_long_lines};

/// Metric, value and unit of each sample in a text.
fn samples(text: &str) -> Vec<(String, f64, String)> {
    let findings = blocks(&Frames, text)
        .into_iter()
        .flat_map(|block| block.findings);
    findings
        .filter_map(|(_, finding)| match finding {
            Finding::Sample(figure) => Some((figure.metric, figure.value, figure.unit)),
            _ => None,
        })
        .collect()
}

#[test]
fn frame_counters_are_samples() {
    for (line, rate) in [
        ("303 frames in 5.0 seconds = 60.565 FPS", 60.565),
        ("299 frames in 5 seconds: 59.799999 fps", 59.799_999),
        ("Rendered 120 frames in 2.000000 sec (59.990000 fps)", 59.99),
        ("fps: 59.8", 59.8),
        ("  FPS: 60.0", 60.0),
    ] {
        let expected = ("fps".to_owned(), rate, "frames/s".to_owned());
        assert_eq!(samples(line), [expected], "{line}");
    }
}

#[test]
fn scores_are_samples_without_unit() {
    for (line, score) in [("glmark2 Score: 1234", 1234.0), ("Score: 4139", 4139.0)] {
        assert_eq!(
            samples(line),
            [("score".to_owned(), score, String::new())],
            "{line}"
        );
    }
}

#[test]
fn adjacent_lines_are_one_block_with_a_sample_each() {
    let text =
        "303 frames in 5.0 seconds = 60.565 FPS\n300 frames in 5.0 seconds = 59.9 FPS\ntext\n";
    let blocks = blocks(&Frames, text);
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].taken, ["frame rate"; 2]);
    assert_eq!(blocks[0].findings[1].0, 1);
}

#[test]
fn prose_is_not_a_figure() {
    for line in [
        "we get 60 fps here",
        "fps: 60 here",
        "fps: unlimited",
        "60 fps",
        "Score: high",
        "Score: 4139 points",
        "300 frames in 5 seconds is fine",
        "300 frames in 5 seconds = 60 FPS at best",
        "300 frames in 5 minutes = 1 FPS",
        "glmark2 Score: see below",
        "fps:",
        "",
    ] {
        assert!(blocks(&Frames, line).is_empty(), "{line}");
    }
}

#[test]
fn bad_numbers_are_doubted() {
    for bad in ["nan", "inf", "1,2,3", "-59.8"] {
        let text = format!("fps: 60\nfps: {bad}\nfps: 61\n");
        assert_eq!(doubts(&Frames, &text), ["bad-number"], "{bad}");
        assert_eq!(samples(&text).len(), 2);
        assert_eq!(blocks(&Frames, &text)[0].findings[1].0, 1);
    }
}

#[test]
fn any_text_is_survived() {
    let text = "303 frames in 5.0 seconds = 60.565 FPS\n299 frames in 5 seconds: 59.8 fps\n\
                fps: 59.8\nglmark2 Score: 12\nScore: 3\n";
    survives(&Frames, &[text]);
    survives_long_lines(&Frames, text);
}
