//! How fast a whole audit is, from bytes to records, of mails with more and fewer figures.

#![allow(missing_docs)] // The macros of criterion make functions without.

use std::fmt::Write;
use std::hint::black_box;

use assize_audit::{Options, read};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Results, and what most mails consist of.
const RESULTS: &str = include_str!("../tests/posts/whole/queue.txt");
const PROSE: &str = "\
> The second series was taken with the scheduler in its default state.

I ran each of them five times after a reboot, nothing else was running,
and the governor was set to performance; the fan was at full speed.
";

/// A mailbox of 16 MB, of which one message in `share` posts results.
fn mailbox(share: u64) -> String {
    let mut all = String::new();
    for number in 1.. {
        let results = if number % share == 0 { RESULTS } else { "" };
        let _ = writeln!(
            all,
            "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: A. Sender <sender@example.org>\n\
             Subject: Re: [PATCH {number}/9] sched: Wake fewer threads\n\
             Date: Tue, 3 Mar 2026 10:11:12 +0000\nMessage-ID: <{number}.sender@example.org>\n\n\
             {PROSE}{PROSE}{PROSE}{results}\n"
        );
        if all.len() >= 16 << 20 {
            break;
        }
    }
    all
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit");
    group.sample_size(10);
    for (name, share) in [
        ("mbox of 16 MB", 20),
        ("mbox of 16 MB without results", u64::MAX),
        ("mbox of 16 MB of results", 1),
    ] {
        let mbox = mailbox(share);
        group.throughput(Throughput::Bytes(mbox.len() as u64));
        group.bench_function(name, |b| {
            b.iter(|| read(black_box(mbox.as_bytes()), "bench", &Options::default()));
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
