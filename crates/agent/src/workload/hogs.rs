//! Threads that are always busy.

use assize_job::{AgentMessage, Hogs};

use super::threads::{TURNS, count, join, spawn, spin};
use super::{Prepared, prepare_inside};
use crate::records::metric;
use crate::seed::Stream;
use crate::sys;

/// Each thread starts late by less than this, drawn from the seed: longer than
/// a tick of any kernel.
const OFFSET_NS_MAX: u64 = 20_000_000;

pub(super) fn prepare(hogs: &Hogs, seed: u64, label: &str, background: bool) -> Prepared {
    let threads = count(hogs.threads, hogs.per_cpu, sys::cpus());
    let duration_ns = hogs.duration_ns;
    let mut stream = Stream::new(seed, &format!("{label}.offset"));
    let offsets: Vec<u64> = (0..threads).map(|_| stream.below(OFFSET_NS_MAX)).collect();
    prepare_inside(hogs.scheduling.clone(), move || {
        run(&offsets, (!background).then_some(duration_ns))
    })
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
