//! Measures how fast a bundle is read and thinned for a page: 100 runs of
//! 100,000 samples each.
//!
//! `cargo run --example make-bundle DIR` makes the bundle; pass its place as
//! `ASSIZE_BENCH_BUNDLE=DIR`.

#![allow(clippy::print_stdout)] // A benchmark's output is its purpose.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use assize_bundle::{EvidenceLimits, evidence, read};
use criterion::Criterion;

/// The peak memory of this process, according to the kernel.
fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(
        line.split_whitespace()
            .skip(1)
            .collect::<Vec<_>>()
            .join(" "),
    )
}

fn bench(criterion: &mut Criterion, bundle: &Path) {
    let mut group = criterion.benchmark_group("bundle");
    group.sample_size(10);
    group.bench_function("read", |b| {
        b.iter(|| read(black_box(bundle)).map_or(0, |records| records.runs.len()));
    });
    let limits = EvidenceLimits::default();
    group.bench_function("evidence", |b| {
        b.iter(|| evidence(black_box(bundle), &limits).map_or(0, |shown| shown.curves.len()));
    });
    group.finish();
    println!("peak memory: {}", peak().unwrap_or_default());
}

fn main() {
    let Some(bundle) = std::env::var_os("ASSIZE_BENCH_BUNDLE").map(PathBuf::from) else {
        println!("skipped: ASSIZE_BENCH_BUNDLE names no bundle; see benches/evidence.rs");
        return;
    };
    let mut criterion = Criterion::default().configure_from_args();
    bench(&mut criterion, &bundle);
    criterion.final_summary();
}
