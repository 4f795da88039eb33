//! How fast a whole audit is, from bytes to records, of mails with more and fewer figures.

use std::fmt::Write;
use std::hint::black_box;

use assize_audit::{Options, read};
use criterion::{Criterion, Throughput};

/// Results, and what most mails consist of.
const RESULTS: &str = include_str!("../tests/posts/whole/queue.txt");
const PROSE: &str = "\
> The second series was taken with the scheduler in its default state.

I ran each of them five times after a reboot, nothing else was running,
and the governor was set to performance; the fan was at full speed.

diff --git a/kernel/sched/core.c b/kernel/sched/core.c
--- a/kernel/sched/core.c
+++ b/kernel/sched/core.c
@@ -412 +412,2 @@ static int wake_up_one(struct rq *rq)
+\tlockdep_assert_rq_held(rq);
 \t\treturn -EINVAL;
";
/// One message in so many posts results, which is more than lists of the kernel see.
const SHARE: u64 = 20;

/// A mailbox of at least so many bytes, of which one message in `share` posts results.
fn mailbox(size: usize, share: u64) -> String {
    let mut all = String::new();
    let mut number = 0;
    while all.len() < size {
        number += 1;
        let _ = writeln!(
            all,
            "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: A. Sender <sender@example.org>\n\
             Subject: Re: [PATCH {number}/9] sched: Wake fewer threads\n\
             Date: Tue, 3 Mar 2026 10:11:12 +0000\nMessage-ID: <{number}.sender@example.org>\n\n\
             {}{}\n",
            PROSE.repeat(3),
            if number % share == 0 { RESULTS } else { "" }
        );
    }
    all
}

/// Reads a text and counts the runs found.
fn runs(text: &[u8]) -> usize {
    let audit = read(text, "bench", &Options::default());
    audit.map_or(0, |audit| black_box(audit.records).runs.len())
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit");
    group.sample_size(10);
    for (name, share) in [
        ("mbox of 16 MB", SHARE),
        ("mbox of 16 MB without results", u64::MAX),
        ("mbox of 16 MB of results", 1),
    ] {
        let mbox = mailbox(16 << 20, share);
        group.throughput(Throughput::Bytes(mbox.len() as u64));
        group.bench_function(name, |b| b.iter(|| runs(black_box(mbox.as_bytes()))));
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
}
