//! Effects of factors: in blocks, and without.

use assize_bundle::{Configuration, Records};
use assize_verdict::{Effect, Options, Verdict};

use crate::common::{close, in_blocks, noise, runs_of, tried};

/// The four configurations of `half` and `idle`, in blocks that differ by 20 %,
/// under noise of half a per cent; `half` costs 5 %, `idle` nothing.
fn grid(blocks: usize) -> Records {
    let levels = noise(11, blocks);
    let mut rows = Vec::new();
    for (at, (name, on)) in [("n", 0.0), ("h", 1.0), ("i", 0.0), ("hi", 1.0)]
        .into_iter()
        .enumerate()
    {
        let off = noise(20 + at as u64, blocks);
        let of = |(level, off): (&f64, f64)| 10.0 * (0.2 * level + 0.05 * on + 0.005 * off).exp();
        let values: Vec<f64> = levels.iter().zip(off).map(of).collect();
        rows.push((name, values));
    }
    let rows: Vec<(&str, &[f64])> = rows.iter().map(|(name, v)| (*name, &**v)).collect();
    let mut records = in_blocks(runs_of("w", "t", "s", &rows));
    records.factors = vec!["half".into(), "idle".into()];
    for (name, half, idle) in [
        ("n", false, false),
        ("h", true, false),
        ("i", false, true),
        ("hi", true, true),
    ] {
        records.configurations.push(Configuration {
            name: name.into(),
            label: name.into(),
            factors: [("half".into(), half), ("idle".into(), idle)].into(),
            ..Configuration::default()
        });
    }
    records
}

fn effects(records: &Records) -> Vec<Effect> {
    tried(records, &Options::default())
        .factorial
        .remove(0)
        .effects
}

fn verdicts(records: &Records) -> Vec<Verdict> {
    effects(records).iter().map(|e| e.verdict).collect()
}

#[test]
fn an_effect_far_smaller_than_the_blocks_is_established() {
    use Verdict::{Established, Undecided};
    let found = effects(&grid(8));
    let names: Vec<&str> = found.iter().map(|effect| &*effect.name).collect();
    assert_eq!(names, ["half", "idle", "half:idle"]);
    let ci = found[0].ci.unwrap();
    assert!(ci[0] < 1.05127 && 1.05127 < ci[1] && ci[0] > 1.04, "{ci:?}");
    let words: Vec<Verdict> = found.iter().map(|effect| effect.verdict).collect();
    assert_eq!(words, [Established, Undecided, Undecided]);
    // The smallest p with eight blocks is 2 / 256.
    close(found[0].p_adjusted, 2.0 / 256.0);
    // Without blocks, the same runs show nothing.
    let mut alone = grid(8);
    for run in &mut alone.runs {
        run.block = None;
    }
    assert_eq!(verdicts(&alone), [Undecided; 3]);
}

#[test]
fn few_blocks_support_an_effect_and_two_do_not() {
    use Verdict::{Supported, Undecided};
    assert_eq!(verdicts(&grid(4)), [Supported, Undecided, Undecided]);
    assert_eq!(verdicts(&grid(2)), [Undecided; 3]);
}

#[test]
fn an_effect_on_two_memory_images_is_not_supported_however_many_blocks_there_are() {
    let on = |images: u32| {
        let mut records = grid(12);
        for run in &mut records.runs {
            run.image = run.block.map(|block| block % images);
        }
        records
    };
    assert_eq!(verdicts(&on(2)), [Verdict::Undecided; 3]);
    let found = tried(&on(6), &Options::default()).factorial.remove(0);
    assert_eq!(found.residual_df, 5.0);
    assert_eq!(found.effects[0].verdict, Verdict::Established);
}

#[test]
fn the_effects_of_what_does_not_vary_are_not_supported() {
    let mut records = grid(4);
    for run in &mut records.runs {
        let on = run.configuration.contains('h');
        run.metrics["t"].value = if on { 11.0 } else { 10.0 };
        run.block = None;
    }
    let found = effects(&records);
    close(Some(found[0].ratio), 1.1);
    assert_eq!(verdicts(&records), [Verdict::Undecided; 3]);
}
