//! Threads that are always busy.

use assize_job::{AgentMessage, Hogs};

use super::prepared::{Prepared, WorkloadContext, prepare_inside};
use super::threads::{TURNS, count, join, spawn, spin};
use crate::records::metric;
use crate::sys;

/// Limit of the random delay of each thread's start: longer than a tick of any kernel.
const OFFSET_NS_MAX: u64 = 20_000_000;

pub(super) fn prepare(hogs: &Hogs, context: &WorkloadContext<'_>) -> Prepared {
    let threads = count(hogs.threads, hogs.per_cpu, sys::cpus());
    let mut stream = context.stream("offset");
    let offsets: Vec<u64> = (0..threads).map(|_| stream.below(OFFSET_NS_MAX)).collect();
    let duration_ns = (!context.background).then_some(hogs.duration_ns);
    prepare_inside(hogs.scheduling.clone(), move || run(&offsets, duration_ns))
}

/// Runs the threads for `duration_ns`, or until the process is killed.
fn run(offsets: &[u64], duration_ns: Option<u64>) -> Result<Vec<AgentMessage>, String> {
    let start = sys::now();
    let busy = |offset: u64| {
        move || {
            let begin = start + offset;
            sys::sleep_until(begin);
            let end = duration_ns.map_or(u64::MAX, |duration| begin.saturating_add(duration));
            let mut turns = 0;
            while sys::now() < end {
                spin();
                turns += TURNS;
            }
            (turns, sys::thread_cpu_time())
        }
    };
    let threads: Result<Vec<_>, _> = offsets.iter().map(|at| spawn("hog", busy(*at))).collect();
    let done = join(threads?)?;
    let metric = |name: &str, value: u64, unit: &str| metric(name, value as f64, unit);
    Ok(vec![
        metric("turns", done.iter().map(|(turns, _)| turns).sum(), ""),
        metric("cpu_time", done.iter().map(|(_, cpu)| cpu).sum(), "ns"),
    ])
}
