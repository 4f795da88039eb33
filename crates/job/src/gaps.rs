//! Gaps: times in which a CPU did not run the thread that watched it.
//!
//! [`GapsSettings`] has the settings of the instrument `gaps`. Its result is a text, like that of
//! [kernel events](crate::events):
//!
//! ```text
//! assize.gaps/1
//! source gaps
//! start 1000
//! tsc 5000 2100000
//! threshold 10000
//! cpu 1 observed 900000000 blind 80000 outside 0 loop 20 44 reading 31000 rest 100000000 0 0
//! gap 1 2500 12040 interrupt 0 1 0
//! end 1
//! ```
//!
//! `start` is the CLOCK_MONOTONIC time in nanoseconds at which watching began, and `tsc`
//! the value of the time-stamp counter at that time and its frequency in kHz, by which a
//! gap can be found in a trace whose clock is `x86-tsc`. `cpu` says how one CPU was
//! watched; see [`Watched`]. `gap` has the CPU, the beginning in nanoseconds from the
//! start, the length, the cause, and how many context switches, interrupts and softirqs
//! were counted meanwhile. If a tracer reports only the number of several latencies, the
//! longest length and the first beginning, the line has these, with the number at its end.
//! Tracers that watch only part of the time have a line `window CPU AT LENGTH` for each
//! time in which they watched, before the gaps.
//!
//! ```
//! use assize_job::gaps::{Cause, Seen};
//! let text = "assize.gaps/1\nsource gaps\nstart 1000\ntsc 5000 2100000\nthreshold 10000\n\
//!     cpu 1 observed 900 blind 8 outside 0 loop 20 44 reading 31 rest 100 0 0\n\
//!     gap 1 2500 12040 interrupt 0 1 0\nend 1\n";
//! let seen = Seen::parse(text).unwrap();
//! assert_eq!(seen.gaps[0].cause, Cause::Interrupt);
//! assert_eq!(seen.text(), text);
//! ```

use std::fmt::{self, Write};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::events::MalformedText;
use crate::{Policy, Scheduling};

/// The schema of the text, its first line.
pub const GAPS_SCHEMA: &str = "assize.gaps/1";

/// Settings of the instrument `gaps`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GapsSettings {
    /// The CPUs to watch; if empty, all but CPU 0, or CPU 0 if there is no other.
    pub cpus: Vec<u32>,
    /// Minimum length of a gap, in nanoseconds.
    pub threshold_ns: u64,
    /// Length of a window, in nanoseconds: each CPU is watched once per window.
    pub window_ns: u64,
    /// How long a CPU is watched in each window, in nanoseconds; if equal to the window, CPUs are
    /// watched all the time.
    pub width_ns: u64,
    /// Scheduling policy of the watching threads.
    pub policy: Policy,
    /// Real-time priority of the watching threads: 1 to 99 for `fifo` and `rr`, else 0.
    pub priority: u8,
    /// How long the idle machine is watched before each run as a baseline, in nanoseconds.
    pub baseline_ns: u64,
    /// Tolerance for the idle machine, in nanoseconds: if the baseline has more than one
    /// unexplained gap per this time, unexplained gaps under load are not judged.
    pub trust_ns: u64,
}

impl Default for GapsSettings {
    fn default() -> Self {
        GapsSettings {
            cpus: Vec::new(),
            threshold_ns: 10_000,
            window_ns: 1_000_000_000,
            width_ns: 1_000_000_000,
            policy: Policy::Other,
            priority: 0,
            baseline_ns: 100_000_000,
            trust_ns: 10_000_000_000,
        }
    }
}

impl GapsSettings {
    /// The scheduling of the thread on one CPU.
    #[must_use]
    pub fn scheduling(&self, cpu: u32) -> Scheduling {
        Scheduling {
            policy: self.policy,
            priority: self.priority,
            cpus: vec![cpu],
            ..Scheduling::default()
        }
    }

    /// The CPUs to watch, given those that are online.
    #[must_use]
    pub fn cpus_to_watch(&self, online: &[u32]) -> Vec<u32> {
        cpus_to_watch(&self.cpus, online)
    }
}

/// The named CPUs; if none are named, all online ones but the first, or the first if it is
/// the only one.
pub(crate) fn cpus_to_watch(named: &[u32], online: &[u32]) -> Vec<u32> {
    match (named.is_empty(), online) {
        (false, _) => named.to_vec(),
        (true, [_, others @ ..]) if !others.is_empty() => others.to_vec(),
        (true, all) => all.to_vec(),
    }
}

/// The cause of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Another thread ran on the CPU.
    Switch,
    /// The CPU handled an interrupt.
    Interrupt,
    /// The CPU handled a softirq.
    Softirq,
    /// The hypervisor ran something else.
    Steal,
    /// The CPU was in system management mode.
    Smi,
    /// The CPU handled a non-maskable interrupt.
    Nmi,
    /// An event was counted since the counters were last read, but perhaps not in this
    /// gap.
    Unclear,
    /// None of the counted events happened.
    Unexplained,
}

impl Cause {
    /// All causes.
    pub const ALL: [Cause; 8] = [
        Cause::Switch,
        Cause::Interrupt,
        Cause::Softirq,
        Cause::Steal,
        Cause::Smi,
        Cause::Nmi,
        Cause::Unclear,
        Cause::Unexplained,
    ];
    /// The causes that the instrument `gaps` distinguishes: all but NMIs.
    pub const OF_GAPS: [Cause; 7] = [
        Cause::Switch,
        Cause::Interrupt,
        Cause::Softirq,
        Cause::Steal,
        Cause::Smi,
        Cause::Unclear,
        Cause::Unexplained,
    ];

    /// Its name in the text.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Cause::Switch => "switch",
            Cause::Interrupt => "interrupt",
            Cause::Softirq => "softirq",
            Cause::Steal => "steal",
            Cause::Smi => "smi",
            Cause::Nmi => "nmi",
            Cause::Unclear => "unclear",
            Cause::Unexplained => "unexplained",
        }
    }
}

impl FromStr for Cause {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let mut all = Cause::ALL.into_iter();
        let found = all.find(|cause| cause.word() == word);
        found.ok_or_else(|| format!("'{word}' is no cause of a gap"))
    }
}

/// All gaps of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// The instrument.
    pub source: String,
    /// When watching began, in nanoseconds on CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// The time-stamp counter at that time and its frequency in kHz; `None` if it was not
    /// read.
    pub tsc: Option<(u64, u64)>,
    /// Minimum length of a gap, in nanoseconds.
    pub threshold_ns: u64,
    /// How each CPU was watched, in ascending order of CPUs.
    pub cpus: Vec<Watched>,
    /// When CPUs were watched, if the source reports it; in order of time.
    pub windows: Vec<Window>,
    /// The gaps, in order of time; at the same time in order of CPUs.
    pub gaps: Vec<Gap>,
}

/// An interval in which a CPU was watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The CPU.
    pub cpu: u32,
    /// Its beginning, in nanoseconds from the start.
    pub at_ns: u64,
    /// Its length.
    pub length_ns: u64,
}

/// How one CPU was watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Watched {
    /// The CPU.
    pub cpu: u32,
    /// The exposure: how long it was watched. Every gap that began in this time is listed.
    pub observed_ns: u64,
    /// Time spent reading counters and recording, instead of watching.
    pub blind_ns: u64,
    /// Time outside the widths of the windows, in which the CPU was not watched.
    pub outside_ns: u64,
    /// Median duration of a loop iteration without delay.
    pub loop_ns_median: u64,
    /// Median of the longest of every 64 iterations.
    pub loop_ns_max: u64,
    /// Median time to read the counters that explain gaps.
    pub reading_ns: u64,
    /// How long the idle machine was watched as a baseline.
    pub rest_ns: u64,
    /// Gaps in the baseline.
    pub rest_gaps: u64,
    /// Unexplained gaps in the baseline.
    pub rest_unexplained: u64,
}

/// One gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The CPU.
    pub cpu: u32,
    /// Its beginning, in nanoseconds from the start.
    pub at_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// Its cause.
    pub cause: Cause,
    /// Context switches since the counters were last read.
    pub switches: u64,
    /// Interrupts since the counters were last read.
    pub interrupts: u64,
    /// Softirqs since the counters were last read.
    pub softirqs: u64,
    /// The number of latencies: more than one from a tracer that reports only the longest
    /// and the first.
    pub count: u64,
}

impl Seen {
    /// Formats the text. The same gaps give the same bytes.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{GAPS_SCHEMA}\nsource {}\nstart {}\n",
            self.source, self.start_ns
        );
        if let Some((at, khz)) = self.tsc {
            let _ = writeln!(text, "tsc {at} {khz}");
        }
        let _ = writeln!(text, "threshold {}", self.threshold_ns);
        for cpu in &self.cpus {
            let _ = writeln!(text, "{cpu}");
        }
        for Window {
            cpu,
            at_ns,
            length_ns,
        } in &self.windows
        {
            let _ = writeln!(text, "window {cpu} {at_ns} {length_ns}");
        }
        for gap in &self.gaps {
            let _ = writeln!(text, "{gap}");
        }
        let _ = writeln!(text, "end {}", self.gaps.len());
        text
    }

    /// Parses the text.
    ///
    /// # Errors
    /// [`MalformedText`] with the first line that is invalid; also if the end is missing.
    pub fn parse(text: &str) -> Result<Seen, MalformedText> {
        let mut seen = Seen::default();
        let mut ended = false;
        let mut count = 0;
        for (at, line) in text.lines().enumerate() {
            count = at + 1;
            let malformed = |why: String| MalformedText { line: count, why };
            if at == 0 {
                if line != GAPS_SCHEMA {
                    return Err(malformed(format!("not of the schema {GAPS_SCHEMA}")));
                }
                continue;
            }
            if ended {
                return Err(malformed("something follows the end".into()));
            }
            ended = seen.line(line).map_err(malformed)?;
        }
        match ended {
            true => Ok(seen),
            false => Err(MalformedText {
                line: count + 1,
                why: "the end is missing".into(),
            }),
        }
    }

    /// Parses a line. Returns whether it is the last.
    fn line(&mut self, line: &str) -> Result<bool, String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut words = LineWords(rest.split(' '));
        match word {
            "source" => self.source = rest.to_owned(),
            "start" => self.start_ns = words.number()?,
            "tsc" => self.tsc = Some((words.number()?, words.number()?)),
            "threshold" => self.threshold_ns = words.number()?,
            "cpu" => self.cpus.push(words.watched()?),
            "window" => self.windows.push(Window {
                cpu: words.number()?,
                at_ns: words.number()?,
                length_ns: words.number()?,
            }),
            "gap" => self.gaps.push(words.gap()?),
            "end" => {
                let count: usize = words.number()?;
                if count != self.gaps.len() {
                    let there = self.gaps.len();
                    return Err(format!("{count} gaps announced, {there} there"));
                }
                return words.end().map(|()| true);
            }
            _ => return Err(format!("'{word}' begins no line")),
        }
        match word {
            "source" => Ok(false),
            _ => words.end().map(|()| false),
        }
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cpu {} observed {} blind {} outside {} loop {} {} reading {} rest {} {} {}",
            self.cpu,
            self.observed_ns,
            self.blind_ns,
            self.outside_ns,
            self.loop_ns_median,
            self.loop_ns_max,
            self.reading_ns,
            self.rest_ns,
            self.rest_gaps,
            self.rest_unexplained
        )
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "gap {} {} {} {} {} {} {}",
            self.cpu,
            self.at_ns,
            self.length_ns,
            self.cause.word(),
            self.switches,
            self.interrupts,
            self.softirqs
        )?;
        match self.count {
            1 => Ok(()),
            count => write!(f, " {count}"),
        }
    }
}

/// The remaining words of a line.
struct LineWords<'t>(std::str::Split<'t, char>);

impl LineWords<'_> {
    fn next(&mut self) -> Result<&str, String> {
        self.0.next().ok_or_else(|| "the line breaks off".into())
    }

    fn number<T: FromStr>(&mut self) -> Result<T, String> {
        let word = self.next()?;
        let number = word.parse();
        number.map_err(|_| format!("'{word}' is not a number that fits here"))
    }

    fn labelled_number<T: FromStr>(&mut self, name: &str) -> Result<T, String> {
        match self.next()? {
            word if word == name => self.number(),
            word => Err(format!("'{word}' is in the place of '{name}'")),
        }
    }

    fn end(mut self) -> Result<(), String> {
        match self.0.next() {
            None => Ok(()),
            Some(word) => Err(format!("'{word}' is one word too many")),
        }
    }

    fn watched(&mut self) -> Result<Watched, String> {
        Ok(Watched {
            cpu: self.number()?,
            observed_ns: self.labelled_number("observed")?,
            blind_ns: self.labelled_number("blind")?,
            outside_ns: self.labelled_number("outside")?,
            loop_ns_median: self.labelled_number("loop")?,
            loop_ns_max: self.number()?,
            reading_ns: self.labelled_number("reading")?,
            rest_ns: self.labelled_number("rest")?,
            rest_gaps: self.number()?,
            rest_unexplained: self.number()?,
        })
    }

    fn gap(&mut self) -> Result<Gap, String> {
        Ok(Gap {
            cpu: self.number()?,
            at_ns: self.number()?,
            length_ns: self.number()?,
            cause: self.next()?.parse()?,
            switches: self.number()?,
            interrupts: self.number()?,
            softirqs: self.number()?,
            count: match self.0.clone().next() {
                Some(_) => self.number()?,
                None => 1,
            },
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(lengths: &[(u32, u64, usize)]) -> Seen {
        let gap = |&(cpu, length_ns, cause): &(u32, u64, usize)| Gap {
            cpu,
            at_ns: length_ns / 2,
            length_ns,
            cause: Cause::ALL[cause % Cause::ALL.len()],
            switches: length_ns % 3,
            interrupts: length_ns % 5,
            softirqs: length_ns % 7,
            count: 1 + length_ns % 2,
        };
        let cpu = |cpu| Watched {
            cpu,
            observed_ns: 7,
            rest_unexplained: u64::from(cpu),
            ..Watched::default()
        };
        Seen {
            source: "gaps".into(),
            start_ns: 9,
            tsc: lengths.len().is_multiple_of(2).then_some((1, 2)),
            threshold_ns: 10,
            cpus: vec![cpu(0), cpu(3)],
            windows: vec![Window {
                cpu: 3,
                at_ns: 4,
                length_ns: 5,
            }],
            gaps: lengths.iter().map(gap).collect(),
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(gaps in proptest::collection::vec((0u32..9, any::<u64>(), 0usize..9), 0..20)) {
            let seen = seen(&gaps);
            prop_assert_eq!(Seen::parse(&seen.text()).unwrap(), seen);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,200}") {
            let _ = Seen::parse(&text);
            let _ = Seen::parse(&format!("{GAPS_SCHEMA}\n{text}"));
        }
    }

    #[test]
    fn a_text_that_is_cut_off_or_wrong_is_named_by_its_line() {
        let text = seen(&[(1, 20, 0), (2, 30, 6)]).text();
        let lines: Vec<&str> = text.lines().collect();
        for end in 0..lines.len() {
            let error = Seen::parse(&lines[..end].join("\n")).unwrap_err();
            assert_eq!(error.line, end + 1, "{error}");
        }
        for (from, to, why) in [
            ("gap 1", "gap x", "'x' is not a number"),
            ("switch", "swatch", "no cause of a gap"),
            ("end 2", "end 3", "3 gaps announced, 2 there"),
            ("end 2", "end 2 2", "one word too many"),
            ("blind", "blond", "in the place of 'blind'"),
            ("threshold", "limit", "begins no line"),
        ] {
            let error = Seen::parse(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.why.contains(why), "{from}: {error}");
        }
    }

    #[test]
    fn all_but_the_first_cpu_are_watched_where_there_are_several() {
        let gaps = GapsSettings::default();
        assert_eq!(gaps.cpus_to_watch(&[0]), [0]);
        assert_eq!(gaps.cpus_to_watch(&[0, 1, 3]), [1, 3]);
        let gaps = GapsSettings {
            cpus: vec![0],
            ..gaps
        };
        assert_eq!(gaps.cpus_to_watch(&[0, 1]), [0]);
    }
}
