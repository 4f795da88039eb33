//! Makes a bundle for benchmarks: `make-bundle DIR [RUNS [SAMPLES]]`.
//!
//! Each run holds one latency as `samples = true` records it: how often each
//! value occurred, and each value with its time.

use std::path::Path;
use std::process::ExitCode;

use assize_bundle::{
    Configuration, Error, Head, Histogram, Measurement, Run, RunExit, RunRecord, Samples, Writer,
};

const USAGE: &str = "usage: make-bundle DIR [RUNS [SAMPLES]]";
const NAMES: [&str; 2] = ["base", "queue"];

/// The generator of Steele, Lea and Flood (SplitMix64): small, and the same
/// everywhere.
struct Random(u64);

impl Random {
    /// A number in \[0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Latencies in whole nanoseconds: approximately log-normal, with one in a
/// thousand from a long tail.
fn latencies(index: u32, count: u32) -> Vec<f64> {
    let mut random = Random(u64::from(index));
    let scale = 20_000.0 * (1.0 + 0.05 * f64::from(index % 2) + 0.01 * random.next());
    let one = |_| {
        let z: f64 = (0..6).map(|_| random.next()).sum::<f64>() * 2.0 - 6.0;
        let tail = if random.next() < 0.001 {
            (1.0 - random.next()).powf(-1.2)
        } else {
            1.0
        };
        (scale * (0.35 * z).exp() * tail).round()
    };
    (0..count).map(one).collect()
}

fn recorded(index: u32, count: u32) -> RunRecord {
    let values = latencies(index, count);
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let buckets = sorted
        .chunk_by(|a, b| a == b)
        .filter_map(|same| Some((*same.first()? as u64, same.len() as u64)));
    let name = NAMES[index as usize % NAMES.len()];
    let mut run = Run::new(name, "stream", index / 2 + 1);
    run.order = index;
    run.block = Some(index / 2);
    run.seed = Some(u64::from(index / 2));
    if let (Some(middle), Some(max)) = (sorted.get(sorted.len() / 2), sorted.last()) {
        let p50 = Measurement::new(*middle, "ns");
        run.metrics.insert("latency_ns_p50".into(), p50);
        let max = Measurement::new(*max, "ns");
        run.metrics.insert("latency_ns_max".into(), max);
    }
    RunRecord {
        index,
        exit: RunExit::Completed,
        ending: None,
        complaints: Vec::new(),
        unavailable: Vec::new(),
        environment: std::collections::BTreeMap::new(),
        identity: Vec::new(),
        events: Vec::new(),
        doubts: Vec::new(),
        histograms: vec![Histogram {
            metric: "latency".into(),
            unit: "ns".into(),
            buckets: buckets.collect(),
            exact: true,
        }],
        samples: vec![Samples {
            metric: "latency".into(),
            unit: "ns".into(),
            start_ns: None,
            t_ns: (0..u64::from(count)).map(|at| 50_000 * at).collect(),
            values,
        }],
        raw: Vec::new(),
        run,
    }
}

fn make(directory: &Path, runs: u32, samples: u32) -> Result<(), Error> {
    let named = |name: &str| Configuration {
        name: name.into(),
        label: name.into(),
        ..Configuration::default()
    };
    let head = Head {
        title: "A bundle to measure with".into(),
        question: "how long does it take to show this?".into(),
        target: "host".into(),
        machine: "made".into(),
        configurations: NAMES.map(named).to_vec(),
        workloads: vec!["stream".into()],
        primary: vec!["latency_ns_p50".into()],
        plan: serde_json::json!({"margin": 0.01}),
        planned_runs: runs,
        ..Head::default()
    };
    let writer = Writer::create(directory, &head)?;
    (0..runs).try_for_each(|index| writer.put(&recorded(index, samples)))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, otherwise| {
        let given = arguments.get(at).map(|text| text.parse::<u32>());
        given.unwrap_or(Ok(otherwise))
    };
    let (Some(directory), Ok(runs), Ok(samples)) =
        (arguments.first(), number(1, 100), number(2, 100_000))
    else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match make(Path::new(directory), runs, samples) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("make-bundle: {error}");
            ExitCode::from(3)
        }
    }
}
