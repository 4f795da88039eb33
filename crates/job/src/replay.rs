//! Parses descriptions of jobs in the style of IGT's gem_wsim.
//!
//! A text is a list of steps, separated by line ends or commas; a line that begins with `#` is a
//! comment. docs/experiment.md has the grammar, and lists the features of gem_wsim that are not
//! supported.
//!
//! ```
//! use assize_job::replay::{ReplayStep, parse};
//! let script = parse("1.RCS.500-1000.0.0\n1.BCS.200.-1.1\np.16000").unwrap();
//! assert_eq!(script.steps.len(), 3);
//! assert_eq!(script.steps[2], ReplayStep::Period { ns: 16_000_000 });
//!
//! let error = parse("1.RCS.500.-1.0").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "line 1: 1.RCS.500.-1.0: dependency -1: there is no step before the first; \
//!      count back from the step, or write 0 for none"
//! );
//! ```

use std::fmt;
use std::str::FromStr;

/// Names of engines and their numbers; other engines are given by number.
pub const ENGINES: &[(&str, u32)] = &[
    ("DEFAULT", 0),
    ("RCS", 0),
    ("BCS", 1),
    ("CCS", 2),
    ("VCS", 3),
    ("VCS1", 3),
    ("VCS2", 4),
    ("VECS", 5),
    ("VECS1", 5),
    ("VECS2", 6),
];
/// Limit of engine numbers, exclusive.
const ENGINES_MAX: u32 = 64;
/// Maximum time in a step, in microseconds.
const US_MAX: u64 = 60_000_000;
/// Maximum number of steps, and of dependencies of a step.
const STEPS_MAX: usize = 10_000;
const DEPENDENCIES_MAX: usize = 64;
/// Maximum number of pairs of context and engine.
const LANES_MAX: usize = 256;

/// A parsed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The steps, in the order in which they are executed.
    pub steps: Vec<ReplayStep>,
    /// Each pair of context and engine in use, once.
    pub lanes: Vec<(u32, u32)>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayStep {
    /// Submit a job.
    Batch(ReplayBatch),
    /// Sleep for a time.
    Delay {
        /// The time in nanoseconds.
        ns: u64,
    },
    /// Sleep until this long after the start of the current round.
    Period {
        /// The time in nanoseconds.
        ns: u64,
    },
    /// Wait for the job of a step in this round.
    Sync {
        /// The index of the step.
        step: usize,
    },
    /// From here on, after each job wait for the one submitted this many before it; 0 turns
    /// this off.
    Throttle {
        /// The number of jobs.
        jobs: usize,
    },
    /// From here on, limit the jobs in flight on an engine; 0 turns this off.
    Depth {
        /// The limit.
        jobs: usize,
    },
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayBatch {
    /// Index in [`Script::lanes`].
    pub lane: usize,
    /// Minimum time on the engine, in nanoseconds.
    pub duration_ns: u64,
    /// Upper bound of additional random time, in nanoseconds.
    pub spread_ns: u64,
    /// The jobs it waits for.
    pub dependencies: Vec<Dependency>,
    /// Whether to wait for it at once.
    pub wait: bool,
}

/// A dependency of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependency {
    /// The index of a step in this round that is a job.
    pub step: usize,
    /// Whether the dependency is passed as a sync_file rather than by naming the job.
    pub fence: bool,
}

/// A defect in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayError {
    /// The line number, from 1; 0 for the text as a whole.
    pub line: usize,
    /// The step.
    pub step: String,
    /// The defect.
    pub why: String,
    /// The correction.
    pub mend: String,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: {}: ", self.line, self.step)?;
        }
        write!(f, "{}; {}", self.why, self.mend)
    }
}

impl std::error::Error for ReplayError {}

/// A step's defect, and the correction.
type StepDefect = (String, String);

/// Parses a text.
///
/// # Errors
/// The first step that is wrong; also if no step submits a job.
pub fn parse(text: &str) -> Result<Script, ReplayError> {
    let mut script = Script {
        steps: Vec::new(),
        lanes: Vec::new(),
    };
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with('#') {
            continue;
        }
        let steps = line.split(',').map(str::trim);
        for word in steps.filter(|word| !word.is_empty()) {
            let error = |(why, mend): StepDefect| ReplayError {
                line: at + 1,
                step: display_word(word),
                why,
                mend,
            };
            if script.steps.len() == STEPS_MAX {
                return Err(error(wrong(
                    format!("there are more than {STEPS_MAX} steps"),
                    "use repeat",
                )));
            }
            let step = script.step(word).map_err(error)?;
            script.steps.push(step);
        }
    }
    if script.lanes.is_empty() {
        return Err(ReplayError {
            line: 0,
            step: String::new(),
            why: "no step submits a job".into(),
            mend: "write one such as 1.RCS.1000.0.0".into(),
        });
    }
    Ok(script)
}

/// A step as shown in messages.
fn display_word(word: &str) -> String {
    let mut short: String = word.chars().take(40).collect();
    if short.len() < word.len() {
        short.push('…');
    }
    short.escape_debug().collect()
}

fn wrong(why: impl Into<String>, mend: impl Into<String>) -> StepDefect {
    (why.into(), mend.into())
}

/// Steps of gem_wsim that are not supported, and why.
const UNKNOWN: &[(&str, &str)] = &[
    ("f", "there are no fences without a job"),
    ("a", "there are no fences without a job"),
    ("B", "engines are not balanced"),
    ("M", "engines are not balanced"),
    ("b", "engines are not balanced"),
    ("P", "a context's priority is fixed"),
    ("S", "engines have no slices"),
    ("X", "jobs are not preempted"),
    ("T", "no job is infinite"),
    ("w", "jobs have no memory"),
    ("W", "jobs have no memory"),
    ("V", "jobs have no memory"),
    ("v", "jobs have no memory"),
];

impl Script {
    /// Parses the next step.
    fn step(&mut self, word: &str) -> Result<ReplayStep, StepDefect> {
        let fields: Vec<&str> = word.split('.').collect();
        match fields[..] {
            ["d", time] => Ok(ReplayStep::Delay {
                ns: microseconds(time)?,
            }),
            ["p", time] => Ok(ReplayStep::Period {
                ns: microseconds(time)?,
            }),
            ["s", back] => Ok(ReplayStep::Sync {
                step: self.job_back(back, back)?,
            }),
            ["t", jobs] => Ok(ReplayStep::Throttle { jobs: count(jobs)? }),
            ["q", jobs] => Ok(ReplayStep::Depth { jobs: count(jobs)? }),
            [context, engine, duration, dependencies, wait]
                if context.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                self.batch([context, engine, duration, dependencies, wait])
            }
            [kind, ..] => {
                if let Some((_, why)) = UNKNOWN.iter().find(|(name, _)| *name == kind) {
                    return Err(wrong(
                        format!("simgpu does not know the step {kind}: {why}"),
                        "remove it",
                    ));
                }
                Err(wrong(
                    "is no step",
                    "write CONTEXT.ENGINE.DURATION.DEPENDENCIES.WAIT, or d, p, s, t or q and a number",
                ))
            }
            [] => Err(wrong("is no step", "remove it")),
        }
    }

    fn batch(&mut self, fields: [&str; 5]) -> Result<ReplayStep, StepDefect> {
        let [context, engine, duration, dependencies, wait] = fields;
        let context: u32 = number(context, "the context")?;
        let engine = engine_of(engine)?;
        let (duration_ns, spread_ns) = duration_of(duration)?;
        let wait = match wait {
            "0" => false,
            "1" => true,
            _ => {
                return Err(wrong(
                    format!("wait is '{}'", display_word(wait)),
                    "write 0 or 1",
                ));
            }
        };
        let mut found = Vec::new();
        for one in dependencies.split('/').filter(|one| *one != "0") {
            if found.len() == DEPENDENCIES_MAX {
                return Err(wrong(
                    format!("more than {DEPENDENCIES_MAX} dependencies"),
                    "give fewer",
                ));
            }
            let (fence, back) = match one.strip_prefix('f') {
                Some(back) => (true, back),
                None => (false, one),
            };
            let step = self.job_back(back, one)?;
            found.push(Dependency { step, fence });
        }
        let at = self
            .lanes
            .iter()
            .position(|lane| *lane == (context, engine));
        let lane = at.unwrap_or(self.lanes.len());
        if at.is_none() {
            if lane == LANES_MAX {
                return Err(wrong(
                    format!("more than {LANES_MAX} pairs of context and engine"),
                    "use fewer contexts",
                ));
            }
            self.lanes.push((context, engine));
        }
        Ok(ReplayStep::Batch(ReplayBatch {
            lane,
            duration_ns,
            spread_ns,
            dependencies: found,
            wait,
        }))
    }

    /// The index of the step this far back, which must be a job. `written` is its text, for
    /// messages.
    fn job_back(&self, back: &str, written: &str) -> Result<usize, StepDefect> {
        let mend = "count back from the step, or write 0 for none";
        let what = format!("dependency {}", display_word(written));
        let back = back
            .strip_prefix('-')
            .and_then(|back| number::<usize>(back, "").ok())
            .filter(|back| *back > 0)
            .ok_or_else(|| wrong(format!("{what}: is no step before this one"), mend))?;
        let step = self
            .steps
            .len()
            .checked_sub(back)
            .ok_or_else(|| wrong(format!("{what}: there is no step before the first"), mend))?;
        match self.steps.get(step) {
            Some(ReplayStep::Batch(_)) => Ok(step),
            _ => Err(wrong(
                format!("{what}: that step submits no job"),
                "name a step that does; every step counts",
            )),
        }
    }
}

fn number<T: FromStr>(text: &str, what: &str) -> Result<T, StepDefect> {
    let digits = text.chars().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| {
        wrong(
            format!("{what} is '{}'", display_word(text)),
            "write a whole number",
        )
    })
}

fn count(text: &str) -> Result<usize, StepDefect> {
    number::<u32>(text, "the number of jobs").map(|count| count as usize)
}

fn microseconds(text: &str) -> Result<u64, StepDefect> {
    let us: u64 = number(text, "the time")?;
    if us > US_MAX {
        return Err(wrong(
            format!("{us} microseconds are more than {US_MAX}"),
            "give less",
        ));
    }
    Ok(us * 1000)
}

/// Minimum time and upper bound of additional random time, in nanoseconds.
fn duration_of(text: &str) -> Result<(u64, u64), StepDefect> {
    let Some((least, most)) = text.split_once('-') else {
        if text == "*" {
            return Err(wrong("no job is infinite", "give a duration"));
        }
        return Ok((microseconds(text)?, 0));
    };
    let (least, most) = (microseconds(least)?, microseconds(most)?);
    if most < least {
        return Err(wrong(
            format!("the range {} ends before it begins", display_word(text)),
            "write LEAST-MOST",
        ));
    }
    Ok((least, most - least))
}

fn engine_of(text: &str) -> Result<u32, StepDefect> {
    if let Some((_, engine)) = ENGINES.iter().find(|(name, _)| *name == text) {
        return Ok(*engine);
    }
    let engine = number::<u32>(text, "").ok();
    let engine = engine.filter(|engine| *engine < ENGINES_MAX);
    engine.ok_or_else(|| {
        let names: Vec<&str> = ENGINES.iter().map(|(name, _)| *name).collect();
        wrong(
            format!("no engine '{}'", display_word(text)),
            format!("write a number below {ENGINES_MAX} or {}", names.join(", ")),
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn a_workload_with_everything_is_read() {
        let text = "# a comment, with a comma\n1.VCS1.3000.0.1\n\
                    1.RCS.500-1000.-1.0, 1.RCS.3700.0.0\n\n  2.0.1000.-2/f-3.0\n\
                    d.10\nt.4,q.2\ns.-4\np.16000\n";
        let script = parse(text).unwrap();
        assert_eq!(script.lanes, [(1, 3), (1, 0), (2, 0)]);
        assert_eq!(script.steps.len(), 9);
        assert_eq!(
            script.steps[1],
            ReplayStep::Batch(ReplayBatch {
                lane: 1,
                duration_ns: 500_000,
                spread_ns: 500_000,
                dependencies: vec![Dependency {
                    step: 0,
                    fence: false
                }],
                wait: false,
            })
        );
        let ReplayStep::Batch(last) = &script.steps[3] else {
            panic!("{:?}", script.steps[3])
        };
        let on = |step, fence| Dependency { step, fence };
        assert_eq!(last.dependencies, [on(1, false), on(0, true)]);
        assert_eq!(script.steps[4], ReplayStep::Delay { ns: 10_000 });
        assert_eq!(script.steps[5], ReplayStep::Throttle { jobs: 4 });
        assert_eq!(script.steps[6], ReplayStep::Depth { jobs: 2 });
        assert_eq!(script.steps[7], ReplayStep::Sync { step: 3 });
        assert_eq!(script.steps[8], ReplayStep::Period { ns: 16_000_000 });
    }

    #[test]
    fn mistakes_name_line_and_mend() {
        for (text, line, why) in [
            ("1.RCS.10.0.0\n1.RCS.10.0.2", 2, "wait is '2'"),
            ("1.XCS.10.0.0", 1, "no engine 'XCS'"),
            ("1.64.10.0.0", 1, "no engine '64'"),
            ("1.+6.10.0.0", 1, "no engine '+6'"),
            ("1.RCS.*.0.0", 1, "no job is infinite"),
            (
                "1.RCS.20-10.0.0",
                1,
                "the range 20-10 ends before it begins",
            ),
            ("1.RCS.-10.0.0", 1, "the time is ''"),
            ("1.RCS.+10.0.0", 1, "the time is '+10'"),
            (
                "1.RCS.60000001.0.0",
                1,
                "60000001 microseconds are more than 60000000",
            ),
            (
                "1.RCS.10.1.0",
                1,
                "dependency 1: is no step before this one",
            ),
            (
                "1.RCS.10.-0.0",
                1,
                "dependency -0: is no step before this one",
            ),
            (
                "1.RCS.10.f-1.0",
                1,
                "dependency f-1: there is no step before the first",
            ),
            (
                "1.RCS.10.0.0\nd.1\ns.-1",
                3,
                "dependency -1: that step submits no job",
            ),
            (
                "1.RCS.10.0.0\na.-1",
                2,
                "simgpu does not know the step a: there are no fences without a job",
            ),
            ("1.RCS.10.0", 1, "is no step"),
            ("p.", 1, "the time is ''"),
            ("t.x", 1, "the number of jobs is 'x'"),
            ("# nothing", 0, "no step submits a job"),
            ("d.5", 0, "no step submits a job"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!((error.line, error.why.as_str()), (line, why), "{text}");
            assert!(!error.mend.is_empty() && !error.to_string().contains('\n'));
        }
    }

    #[test]
    fn there_is_an_end_to_everything() {
        assert!(parse(&"1.RCS.1.0.0\n".repeat(STEPS_MAX)).is_ok());
        assert!(parse(&"1.RCS.1.0.0,".repeat(STEPS_MAX + 1)).is_err());
        let contexts = |count| {
            (0..count)
                .map(|n| format!("{n}.RCS.1.0.0\n"))
                .collect::<String>()
        };
        assert!(parse(&contexts(LANES_MAX)).is_ok());
        assert!(parse(&contexts(LANES_MAX + 1)).is_err());
        let many = vec!["-1"; DEPENDENCIES_MAX + 1].join("/");
        assert!(parse(&format!("1.RCS.1.0.0\n1.RCS.1.{many}.0")).is_err());
    }
}
