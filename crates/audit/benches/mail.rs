//! How fast mail becomes lines.

use std::hint::black_box;

use assize_audit::mail::messages;
use criterion::{Criterion, Throughput};

mod support;

/// Reads all messages of a mailbox and counts their lines.
fn lines(mbox: &[u8]) -> usize {
    messages(mbox)
        .filter_map(Result::ok)
        .map(|message| black_box(message.lines()).len())
        .sum()
}

fn bench(criterion: &mut Criterion) {
    let mut mbox = Vec::new();
    if support::write_mbox(&mut mbox, 16 << 20, support::SHARE).is_err() {
        return;
    }
    let mut group = criterion.benchmark_group("mail");
    group.throughput(Throughput::Bytes(mbox.len() as u64));
    group.sample_size(20);
    group.bench_function("mbox of 16 MB", |b| b.iter(|| lines(black_box(&mbox))));
    let crlf: Vec<u8> = String::from_utf8_lossy(&mbox).replace('\n', "\r\n").into();
    group.throughput(Throughput::Bytes(crlf.len() as u64));
    group.bench_function("with CRLF", |b| b.iter(|| lines(black_box(&crlf))));
    let plain = mbox.get(1..).unwrap_or_default();
    group.throughput(Throughput::Bytes(plain.len() as u64));
    group.bench_function("as plain text", |b| b.iter(|| lines(black_box(plain))));
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}
