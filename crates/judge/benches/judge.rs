//! The expensive figure: the permutation test, exact at its largest and drawn.

#![expect(missing_docs, reason = "criterion_group! makes a function without")]

use assize_judge::family::{Contrast, ContrastBlock, step_down};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

/// Irregular but deterministic values.
fn values(n: usize, from: usize) -> Vec<f64> {
    (from..from + n)
        .map(|i| 1.0 + ((i * 7919) % 1009) as f64 / 1009.0)
        .collect()
}

fn exact_permutation(c: &mut Criterion) {
    let contrast = |n: usize| {
        let block = ContrastBlock {
            site: 0,
            a: values(n, 0),
            b: values(n, n),
        };
        [Contrast {
            blocks: vec![block],
            resolution: 0.0,
            relative: true,
        }]
    };
    let exact = contrast(11);
    c.bench_function(
        "permutation, 11 against 11 (705,432 relabelings)",
        |bench| bench.iter(|| step_down(black_box(&exact), 0)),
    );
    let drawn = contrast(12);
    c.bench_function("permutation, 12 against 12 (draws)", |bench| {
        bench.iter(|| step_down(black_box(&drawn), 0));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = exact_permutation
}
criterion_main!(benches);
