//! Reports the stalls that the module `simstall` plants while the workload runs.
//!
//! The module records when each stall began and ended; nothing here looks for stalls.
//! Planting starts after all other instruments have started, and stops before they stop.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use assize_job::{AgentMessage, Job, PLANTED_STALLS, RunStage, Stalls};

use super::run_instrument::RunInstrument;
use crate::files;
use crate::records::{doubt, events, failed, histogram, number, raw};
use crate::seed::Stream;
use crate::sys;

/// Metric: number of stalls.
const EVENT: &str = "planted_stalls";
/// Metric: length of each stall.
const LENGTH: &str = "planted_stall";

/// The instrument `planted-stalls`.
#[derive(Default)]
pub(crate) struct PlantedStalls {
    /// The stalls that the job declares.
    stalls: Option<Stalls>,
    seed: u64,
    samples: bool,
    began_ns: u64,
    ended_ns: u64,
    /// Why planting did not start or stop.
    problem: Option<String>,
}

impl RunInstrument for PlantedStalls {
    fn name(&self) -> &'static str {
        PLANTED_STALLS
    }

    fn configure(&mut self, job: &Job, _guest: bool) {
        self.stalls.clone_from(&job.stalls);
        self.seed = Stream::new(job.seed, "stalls").next();
        self.samples = job.samples;
    }

    fn open(&mut self) -> Result<(), String> {
        match &self.stalls {
            Some(_) => files::read(Path::new(Stalls::LOG)).map(|_| ()),
            None => Ok(()),
        }
    }

    fn start(&mut self, _workload: i32) {
        if self.stalls.is_some() {
            self.write(Stalls::START, &self.seed.to_string());
        }
        self.began_ns = sys::now();
    }

    fn stop(&mut self) {
        self.ended_ns = sys::now();
        if self.stalls.is_some() {
            self.write(Stalls::STOP, "1");
        }
    }

    fn records(&mut self) -> Vec<AgentMessage> {
        let Some(stalls) = &self.stalls else {
            return self.stall_records(&StallLog::default());
        };
        let log = match &self.problem {
            Some(problem) => Err(problem.clone()),
            None => files::read(Path::new(Stalls::LOG)).and_then(|text| parse(&text)),
        };
        let log = match log {
            Ok(log) => log,
            // A run without the stalls it declares has failed.
            Err(why) => {
                return vec![failed(RunStage::Workload, PLANTED_STALLS, why)];
            }
        };
        let mut records = self.stall_records(&log);
        records.push(raw("planted-stalls.txt", self.text(&log, stalls)));
        if log.stalls.len() >= Stalls::COUNT_MAX as usize {
            let detail = format!("there were {}, after which none came", Stalls::COUNT_MAX);
            records.push(doubt("planted-stalls-ended", detail));
        }
        records
    }
}

impl PlantedStalls {
    /// Writes to a file of the module; keeps the first problem.
    fn write(&mut self, path: &str, value: &str) {
        if let Err(error) = fs::write(path, value) {
            let why = format!("{path}: {}", sys::error_text(&error));
            self.problem.get_or_insert(why);
        }
    }

    /// The stalls that began before the end, with their times from the start.
    fn times<'a>(&self, log: &'a StallLog) -> impl Iterator<Item = (u64, &'a PlantedStall)> {
        let (from, to) = (self.began_ns, self.ended_ns);
        log.stalls.iter().filter_map(move |stall| {
            let at = log.monotonic_ns(stall.begin);
            (at < to).then(|| (at.saturating_sub(from), stall))
        })
    }

    fn stall_records(&self, log: &StallLog) -> Vec<AgentMessage> {
        let (t_ns, lengths): (Vec<u64>, Vec<u64>) = self
            .times(log)
            .map(|(at, stall)| (at, stall.length))
            .unzip();
        let exposure_ns = self.ended_ns.saturating_sub(self.began_ns);
        let mut records = vec![
            events(EVENT, t_ns.clone(), exposure_ns),
            histogram(LENGTH, "ns", lengths.iter().copied()),
        ];
        if self.samples {
            let before = std::iter::once(&0).chain(&t_ns);
            records.push(AgentMessage::Samples {
                metric: LENGTH.into(),
                unit: "ns".into(),
                start_ns: Some(self.began_ns),
                t_ns: t_ns
                    .iter()
                    .zip(before)
                    .map(|(at, other)| at - other)
                    .collect(),
                values: lengths.into_iter().map(number).collect(),
            });
        }
        records
    }

    /// One line per stall.
    fn text(&self, log: &StallLog, stalls: &Stalls) -> String {
        let mut text = format!(
            "# {} on CPU {}, time-stamp counter at {} kHz\n# t_ns length_ns planned_ns tsc\n",
            stalls.kind.word(),
            stalls.cpu,
            log.khz
        );
        for (at, stall) in self.times(log) {
            let PlantedStall {
                begin,
                length,
                planned_ns,
            } = stall;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{at} {length} {planned_ns} {begin}");
        }
        text
    }
}

/// The module's log.
#[derive(Debug, Default, PartialEq, Eq)]
struct StallLog {
    /// The rate of the time-stamp counter that the kernel measured.
    khz: u64,
    /// A reading of the counter.
    tsc: u64,
    /// CLOCK_MONOTONIC at that reading, in nanoseconds.
    now_ns: u64,
    stalls: Vec<PlantedStall>,
}

/// One stall.
#[derive(Debug, PartialEq, Eq)]
struct PlantedStall {
    /// The time-stamp counter at its start.
    begin: u64,
    /// In ticks of that counter, which are nanoseconds on machines where stalls are
    /// planted. The rate that the kernel measured may be off by some millionths, so it is
    /// not used here.
    length: u64,
    planned_ns: u64,
}

impl StallLog {
    /// CLOCK_MONOTONIC when the counter had this value.
    fn monotonic_ns(&self, tsc: u64) -> u64 {
        let cycles = i128::from(tsc) - i128::from(self.tsc);
        let since = cycles * 1_000_000 / i128::from(self.khz.max(1));
        u64::try_from(i128::from(self.now_ns) + since).unwrap_or(0)
    }
}

/// Parses the module's log.
fn parse(text: &str) -> Result<StallLog, String> {
    let wrong = || format!("{} is not as it should be", Stalls::LOG);
    let mut lines = text.lines();
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let field = |name: &str| {
        let at = first.iter().position(|word| *word == name)?;
        first.get(at + 1)?.parse::<u64>().ok()
    };
    let known = ["tsc_khz", "tsc", "monotonic_ns"].map(field);
    let [Some(khz), Some(tsc), Some(now_ns)] = known else {
        return Err(wrong());
    };
    let stalls = lines.map(|line| {
        let mut numbers = line.split(' ').map(|word| word.parse().ok());
        let mut next = || numbers.next().flatten();
        Some(PlantedStall {
            begin: next()?,
            length: next()?,
            planned_ns: next()?,
        })
    });
    Ok(StallLog {
        khz,
        tsc,
        now_ns,
        stalls: stalls.collect::<Option<_>>().ok_or_else(wrong)?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;

    const LOG: &str = "smi cpu 1 tsc_khz 500000 tsc 10000 monotonic_ns 50000\n\
                       4000 20 40\n6000 999 2000\n9990 3 7\n";

    #[test]
    fn the_log_says_when_each_stall_was_by_the_clock_of_the_run() {
        let log = parse(LOG).unwrap();
        let at: Vec<u64> = log
            .stalls
            .iter()
            .map(|one| log.monotonic_ns(one.begin))
            .collect();
        assert_eq!(at, [38_000, 42_000, 49_980]);
        assert_eq!(log.monotonic_ns(10_001), 50_002);
        assert_eq!(log.stalls[1].length, 999);
        assert_eq!(log.stalls[1].planned_ns, 2000);
    }

    #[test]
    fn what_came_after_the_end_is_not_told() {
        let instrument = PlantedStalls {
            samples: true,
            began_ns: 37_000,
            ended_ns: 49_000,
            ..PlantedStalls::default()
        };
        let records = instrument.stall_records(&parse(LOG).unwrap());
        let [
            AgentMessage::Events {
                count,
                exposure_ns,
                t_ns,
                ..
            },
            AgentMessage::Histogram { buckets, .. },
            AgentMessage::Samples {
                t_ns: since,
                values,
                ..
            },
        ] = &records[..]
        else {
            panic!("{records:?}");
        };
        assert_eq!((*count, *exposure_ns), (2, 12_000));
        assert_eq!(*t_ns, [1000, 5000]);
        assert_eq!(*buckets, [(20, 1), (999, 1)]);
        assert_eq!(
            (&since[..], &values[..]),
            (&[1000, 4000][..], &[20.0, 999.0][..])
        );
    }

    #[test]
    fn a_run_without_stalls_says_that_there_were_none() {
        let mut instrument = PlantedStalls::default();
        instrument.configure(&Job::default(), true);
        assert_eq!(instrument.open(), Ok(()));
        instrument.start(1);
        instrument.stop();
        let records = instrument.records();
        assert!(
            matches!(
                &records[..],
                [
                    AgentMessage::Events { count: 0, .. },
                    AgentMessage::Histogram { .. }
                ]
            ),
            "{records:?}"
        );
    }

    #[test]
    fn a_log_that_is_cut_off_is_no_log() {
        for at in [0, 10, 30, 45, LOG.len() - 3] {
            assert!(parse(&LOG[..at]).is_err(), "{at}");
        }
        assert!(parse(&LOG.replace("999", "x")).is_err());
        let none = "irqs-off cpu 0 tsc_khz 1 tsc 2 monotonic_ns 3\n";
        assert!(parse(none).unwrap().stalls.is_empty());
    }
}
