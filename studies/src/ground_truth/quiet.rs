//! The findings of detectors on a machine where nothing is planted.

use std::fmt::Write as _;

use assize_job::gaps::Cause;
use assize_judge::garwood;

use super::{Looked, carry_out, runs};
use xtask::Error;

/// Number of runs of each detector, and their length in seconds: 30 minutes in total.
const RUNS: u64 = 30;
const RUN_S: u64 = 60;
/// Confidence level of the bound on the rate.
const LEVEL: f64 = 0.95;

/// A detector of stalls.
#[derive(Debug, Clone, Copy)]
struct Detector {
    name: &'static str,
    /// Whether it is a tracer in the kernel.
    tracer: bool,
    kernel: &'static str,
    /// Settings of the instrument. The host has to execute the instructions of a busy detector, so
    /// each watches only part of the time.
    settings: &'static str,
}

const DETECTORS: [Detector; 4] = [
    Detector {
        name: "gaps",
        tracer: false,
        kernel: "debian:6.12",
        settings: "gaps = { cpus = [1], threshold = \"1us\", window = \"1s\", width = \"10ms\", \
                   baseline = \"20ms\" }",
    },
    Detector {
        name: "hwlat",
        tracer: true,
        kernel: "debian:6.12-rt",
        settings: "tracer = { cpus = [1], threshold = \"2us\", window = \"1s\", width = \"10ms\", \
                   mode = \"per-cpu\" }",
    },
    Detector {
        name: "osnoise",
        tracer: true,
        kernel: "debian:6.12-rt",
        settings: "tracer = { cpus = [1], threshold = \"2us\", window = \"1s\", width = \"10ms\" }",
    },
    Detector {
        name: "timerlat",
        tracer: true,
        kernel: "debian:6.12-rt",
        settings: "tracer = { cpus = [1], threshold = \"20us\", period = \"10ms\" }",
    },
];

/// An experiment with two CPUs; the watched one has neither ticks nor tasks, and only a sleeping
/// process runs.
fn experiment(detector: Detector) -> String {
    format!(
        r#"title = "A quiet machine"
question = "What does {name} find where nothing is planted?"
kernel = "{kernel}"
cpus = 2
command_line = ["isolcpus=nohz,domain,1", "nohz_full=1", "rcu_nocbs=1"]
runs = {RUNS}
images = 2
timeout = "3min"
instruments = ["{name}"]
{settings}
{setup}
[factors.stalls.none]
[workloads.rest]
kind = "command"
argv = ["sleep", "{RUN_S}"]
"#,
        name = detector.name,
        kernel = detector.kernel,
        settings = detector.settings,
        setup = match detector.tracer {
            // `gaps` recognises system management interrupts by an MSR.
            false => "setup = [{ module = \"msr\" }]",
            true => "",
        }
    )
}

/// The findings of one detector.
#[derive(Debug, Default, PartialEq, Eq)]
struct Quiet {
    runs: u64,
    observed_ns: u64,
    /// Findings without an explanation.
    false_alarms: u64,
    /// Findings that it attributes to an event known to the kernel.
    explained: u64,
}

/// Measures all detectors, and returns the table.
pub(super) fn measure() -> Result<String, Error> {
    let mut rows = String::new();
    for detector in DETECTORS {
        let name = format!("quiet-{}", detector.name);
        let bundle = carry_out(&name, &experiment(detector))?;
        let runs = runs(&bundle, &format!("{}.txt", detector.name))?;
        rows += &row(detector.name, &count_alarms(&runs));
    }
    Ok(format!(
        "\n| detector | guest, min | observed, s | false alarms | at 95 % fewer than 1 in, s | \
         explained |\n| --- | ---: | ---: | ---: | ---: | ---: |\n{rows}\n"
    ))
}

fn count_alarms(runs: &[Looked]) -> Quiet {
    let mut quiet = Quiet {
        runs: runs.len() as u64,
        ..Quiet::default()
    };
    for run in runs {
        let seen = &run.seen;
        for gap in &seen.gaps {
            match gap.cause {
                Cause::Unexplained => quiet.false_alarms += gap.count,
                _ => quiet.explained += gap.count,
            }
        }
        quiet.observed_ns += seen.cpus.iter().map(|cpu| cpu.observed_ns).sum::<u64>();
    }
    quiet
}

fn row(name: &str, quiet: &Quiet) -> String {
    let mut row = String::new();
    let observed_s = quiet.observed_ns as f64 / 1e9;
    let bound = garwood(quiet.false_alarms, observed_s, LEVEL);
    let bound = bound.map_or("–".into(), |of| format!("{:.1}", 1.0 / of.high));
    let _ = writeln!(
        row,
        "| {name} | {} | {observed_s:.3} | {} | {bound} | {} |",
        quiet.runs * RUN_S / 60,
        quiet.false_alarms,
        quiet.explained,
    );
    row
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use assize_job::gaps::{Gap, Seen, Watched};

    fn looked(causes: &[Cause]) -> Looked {
        let gap = |cause: &Cause| Gap {
            cpu: 1,
            at_ns: 2_000_000,
            length_ns: 3000,
            cause: *cause,
            switches: 0,
            interrupts: 0,
            softirqs: 0,
            count: 1,
        };
        let seen = Seen {
            tsc: Some((5000, 1_000_000)),
            cpus: vec![Watched {
                observed_ns: 300_000_000_000,
                ..Watched::default()
            }],
            gaps: causes.iter().map(gap).collect(),
            ..Seen::default()
        };
        Looked {
            configuration: "none".into(),
            stalls: Vec::new(),
            seen,
        }
    }

    #[test]
    fn what_is_not_explained_is_a_false_alarm() {
        let all = [Cause::Interrupt, Cause::Unexplained];
        let quiet = count_alarms(&[looked(&all[..1]), looked(&all[1..])]);
        assert_eq!((quiet.runs, quiet.false_alarms, quiet.explained), (2, 1, 1));
        assert_eq!(quiet.observed_ns, 600_000_000_000);
        let none = count_alarms(&[looked(&[])]);
        assert_eq!(
            row("gaps", &none),
            "| gaps | 1 | 300.000 | 0 | 100.1 | 0 |\n"
        );
        let unseen = row("gaps", &Quiet::default());
        assert_eq!(unseen, "| gaps | 0 | 0.000 | 0 | – | 0 |\n");
    }

    #[test]
    fn each_detector_is_told_for_half_an_hour() {
        for detector in DETECTORS {
            let experiment = assize_plan::parse(&experiment(detector), "x.toml").unwrap();
            let plan = experiment.plan(&assize_plan::Overrides::default()).unwrap();
            assert_eq!(plan.runs.len() as u64 * RUN_S, 1800);
        }
    }
}
