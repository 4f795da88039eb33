//! How fast a whole audit is: from bytes to records. Mailboxes that hold more and less of
//! it show side by side what figures cost.

use std::hint::black_box;
use std::path::Path;

use assize_audit::{Options, read};
use criterion::{Criterion, Throughput};

mod support;

/// Reads a text and counts the runs found.
fn runs(text: &[u8]) -> usize {
    let audit = read(text, "bench", &Options::default());
    audit.map_or(0, |audit| black_box(audit.records).runs.len())
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit");
    group.sample_size(10);
    for (name, share) in [
        ("mbox of 16 MB", support::SHARE),
        ("mbox of 16 MB without results", u64::MAX),
        ("mbox of 16 MB of results", 1),
    ] {
        let mut mbox = Vec::new();
        if support::write_mbox(&mut mbox, 16 << 20, share).is_ok() {
            group.throughput(Throughput::Bytes(mbox.len() as u64));
            group.bench_function(name, |b| b.iter(|| runs(black_box(&mbox))));
        }
    }
    let post = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo/dep-queue.txt");
    if let Ok(post) = std::fs::read(post) {
        group.throughput(Throughput::Bytes(post.len() as u64));
        group.bench_function("post of 30 runs", |b| b.iter(|| runs(black_box(&post))));
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}
