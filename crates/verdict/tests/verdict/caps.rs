//! The best verdict that each lint allows, with that lint alone and without it.

use assize_bundle::Records;
use assize_verdict::{Comparison, Options, Verdict};

use crate::common::{around, grouped, in_blocks, lints, row, runs_of, tried};

/// An obvious effect: 10 % less, with 1 % of noise.
fn planted(n: usize) -> Records {
    let (old, new) = (around(10.0, 0.01, 1, n), around(9.0, 0.01, 2, n));
    runs_of("w", "t", "s", &[("old", &old), ("new", &new)])
}

fn judged(records: &Records) -> (Comparison, Vec<String>) {
    let document = tried(records, &Options::default());
    let found = row(&document, "w", "t", "new").clone();
    let codes = document.lints.into_iter().map(|lint| lint.code);
    (found, codes.collect())
}

/// The verdict and the lint that caps it.
fn capped(records: &Records) -> (Verdict, Option<String>) {
    let (found, codes) = judged(records);
    if let Some(code) = &found.capped_by {
        let at_most = match found.verdict {
            Verdict::Undecided => "undecided".to_owned(),
            verdict => format!("at most {},", verdict.word()),
        };
        let says = format!("{at_most} because of the lint {code}");
        assert!(found.because.unwrap().contains(&says));
        assert!(codes.contains(code), "a cap has its lint");
        assert_eq!(found.runs_needed, None, "more runs would not lift it");
    }
    (found.verdict, found.capped_by)
}

fn capped_by(verdict: Verdict, lint: &str) -> (Verdict, Option<String>) {
    (verdict, Some(lint.to_owned()))
}

const FREE: (Verdict, Option<String>) = (Verdict::Established, None);

#[test]
fn runs_given_configuration_by_configuration_establish_nothing() {
    assert_eq!(capped(&planted(6)), FREE);
    assert_eq!(
        capped(&grouped(planted(6))),
        capped_by(Verdict::Supported, "unrandomised-order")
    );
    // Within blocks, the order is random.
    assert_eq!(capped(&in_blocks(grouped(planted(6)))), FREE);
    // The lint does not cap a row that is undecided anyway.
    let (old, new) = (around(10.0, 0.1, 1, 6), around(10.0, 0.1, 2, 6));
    let nothing = runs_of("w", "t", "s", &[("old", &old), ("new", &new)]);
    assert_eq!(capped(&grouped(nothing)), (Verdict::Undecided, None));
}

#[test]
fn a_drift_under_grouped_runs_leaves_nothing_decided() {
    // The machine gets steadily faster, so the second half is lower.
    let falling: Vec<f64> = (0..12).map(|at| 10.0 - 0.1 * f64::from(at)).collect();
    let rows: [(&str, &[f64]); 2] = [("old", &falling[..6]), ("new", &falling[6..])];
    let records = runs_of("w", "t", "s", &rows);
    assert_eq!(
        capped(&grouped(records.clone())),
        capped_by(Verdict::Undecided, "drift")
    );
    assert!(
        lints(&tried(&grouped(records), &Options::default()), "drift")[0].contains("decreases")
    );
    // The same values, without a trend within configurations.
    let mixed = |from: usize| [2, 0, 5, 3, 1, 4].map(|at| falling[from + at]);
    let rows: [(&str, &[f64]); 2] = [("old", &mixed(0)), ("new", &mixed(6))];
    assert_eq!(
        capped(&grouped(runs_of("w", "t", "s", &rows))),
        capped_by(Verdict::Supported, "unrandomised-order")
    );
    // A trend within both sides is not a difference between them.
    let both = |factor: f64| (0..6).map(move |at| factor * (10.0 - 0.1 * f64::from(at)));
    let (old, new): (Vec<f64>, Vec<f64>) = (both(1.0).collect(), both(0.8).collect());
    let rows: [(&str, &[f64]); 2] = [("old", &old), ("new", &new)];
    assert_eq!(capped(&runs_of("w", "t", "s", &rows)), FREE);
}

#[test]
fn runs_that_resemble_their_neighbours_leave_nothing_decided() {
    // One period of a wave: far less information than from twelve independent values.
    let wave: Vec<f64> = (0..12)
        .map(|at| (0.55 * f64::from(at)).sin() + 0.01 * f64::from(at))
        .collect();
    let side = |level: f64, order: &[usize]| -> Vec<f64> {
        order.iter().map(|&at| level + 0.1 * wave[at]).collect()
    };
    let rows = |order: &[usize]| {
        let (old, new) = (side(10.0, order), side(9.0, order));
        runs_of("w", "t", "s", &[("old", &old), ("new", &new)])
    };
    let as_they_were: Vec<usize> = (0..12).collect();
    assert_eq!(
        capped(&rows(&as_they_were)),
        capped_by(Verdict::Undecided, "dependent-runs")
    );
    let mixed = [4, 9, 0, 7, 2, 11, 5, 1, 8, 3, 10, 6];
    assert_eq!(capped(&rows(&mixed)), FREE);
    // In blocks, variation common to neighbouring runs cancels.
    assert_eq!(capped(&in_blocks(rows(&as_they_were))), FREE);
}

#[test]
fn several_runs_from_one_image_establish_nothing() {
    let with = |image: fn(u32) -> u32| {
        let mut records = planted(6);
        for run in &mut records.runs {
            run.image = Some(image(run.repetition));
        }
        records
    };
    assert_eq!(capped(&with(|repetition| repetition)), FREE);
    let shared = capped_by(Verdict::Supported, "shared-image");
    assert_eq!(capped(&with(|_| 0)), shared);
    // Blocks do not turn one image into several.
    assert_eq!(capped(&in_blocks(with(|_| 0))), shared);
    // Images of the same number on two machines are different images.
    let mut records = with(|repetition| (repetition - 1) % 3);
    for run in &mut records.runs {
        run.machine = Some(["x", "y"][usize::from(run.repetition > 3)].into());
    }
    assert_eq!(judged(&records).0.capped_by, None);
}

/// Runs on images, each of which favours one configuration by about 1 %, with a tenth of that as
/// noise. There is no true difference: over many images these effects cancel.
fn on_images(blocks: u32, images: u32) -> Records {
    let luck = |image: u32| 0.01 * [1.0, 0.5, -1.2, 0.9, -0.8, -0.4][image as usize % 6];
    let noise = |seed| around(10.0, 0.001, seed, blocks as usize);
    let (old, mut new) = (noise(1), noise(2));
    for (block, value) in (0..).zip(&mut new) {
        *value *= 1.0 + luck(block % images);
    }
    let mut records = in_blocks(runs_of("w", "t", "s", &[("old", &old), ("new", &new)]));
    for run in &mut records.runs {
        run.image = run.block.map(|block| block % images);
    }
    records
}

#[test]
fn what_two_memory_images_add_is_no_effect_however_many_runs_there_are() {
    // Sixteen runs of each; all pairs have the same direction.
    let (found, codes) = judged(&on_images(16, 2));
    assert_eq!(found.verdict, Verdict::Undecided);
    assert_eq!((found.n, found.images), (Some(16), Some(2)));
    assert!(codes.contains(&"shared-image".into()));
    let ci = found.ci.unwrap();
    assert!(ci[0] < 1.0 && 1.0 < ci[1], "{ci:?}");
    // A few images whose effects cancel do not show equivalence either.
    let (found, _) = judged(&on_images(16, 4));
    assert_eq!(found.verdict, Verdict::Undecided, "{found:?}");
    // An effect on all images is established.
    let mut records = on_images(18, 6);
    for run in &mut records.runs {
        let new = run.configuration == "new";
        run.metrics["t"].value *= if new { 0.9 } else { 1.0 };
    }
    assert_eq!(capped(&records), FREE);
}

#[test]
fn an_image_with_two_runs_is_named_though_there_are_as_many_images_as_runs() {
    // Nine blocks on eight images; each configuration lacks one run.
    let mut records = on_images(9, 8);
    records.runs.retain(|run| {
        let failed = [("old", Some(2)), ("new", Some(3))];
        !failed.contains(&(&run.configuration, run.block))
    });
    let (found, codes) = judged(&records);
    assert_eq!((found.n, found.images), (Some(7), Some(6)));
    assert!(codes.contains(&"shared-image".into()), "{codes:?}");
}

#[test]
fn too_few_memory_images_show_neither_a_difference_nor_equality() {
    // This holds even if the means agree closely.
    let judged = |images: u32, ratio: f64| {
        let old = around(10.0, 0.0001, 3, 24);
        let new = around(10.0 * ratio, 0.0001, 4, 24);
        let mut records = in_blocks(runs_of("w", "t", "s", &[("old", &old), ("new", &new)]));
        for run in &mut records.runs {
            run.image = run.block.map(|block| block % images);
        }
        judged(&records).0.verdict
    };
    assert_eq!(judged(2, 0.9), Verdict::Undecided);
    assert_eq!(judged(3, 0.9), Verdict::Supported);
    assert_eq!(judged(6, 0.9), Verdict::Established);
    assert_eq!(judged(4, 1.0), Verdict::Undecided);
    assert_eq!(judged(5, 1.0), Verdict::Equivalent);
}

#[test]
fn few_runs_that_vary_much_establish_nothing() {
    let rows = |of_few: f64, of_many: f64| {
        let (many, few) = (around(10.0, of_many, 1, 12), around(7.0, of_few, 5, 4));
        runs_of("w", "t", "s", &[("old", &many), ("new", &few)])
    };
    assert_eq!(capped(&rows(0.01, 0.01)), FREE);
    assert_eq!(
        capped(&rows(0.05, 0.005)),
        capped_by(Verdict::Supported, "unequal-spread")
    );
    // If the side with more runs varies more, the relabelings overestimate the
    // variance.
    assert_eq!(capped(&rows(0.005, 0.05)), FREE);
    // With equal numbers of runs, unequal spreads do no harm.
    let (old, new) = (around(10.0, 0.005, 1, 6), around(7.0, 0.05, 5, 6));
    let even = runs_of("w", "t", "s", &[("old", &old), ("new", &new)]);
    assert_eq!(capped(&even), FREE);
}
