//! The two expensive figures: the exact permutation test at its largest, and the
//! hierarchical bootstrap.

#![expect(missing_docs, reason = "criterion_group! makes a function without")]

use assize_judge::bootstrap;
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

fn quantile_bootstrap(c: &mut Criterion) {
    let runs =
        |from: usize| -> Vec<Vec<f64>> { (0..10).map(|r| values(10_000, from + 31 * r)).collect() };
    let (a, b) = (runs(0), runs(17));
    c.bench_function("bootstrap, p99 of 10 against 10 runs of 10,000", |bench| {
        bench.iter(|| bootstrap::quantile_ratio(black_box(&a), black_box(&b), 0.99, 10_000, 0));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = exact_permutation, quantile_bootstrap
}
criterion_main!(benches);
