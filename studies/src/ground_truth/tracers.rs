//! Measures how many planted stalls the kernel's tracers find.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use assize_job::TracerKind;
use assize_job::gaps::{Cause, Gap, Seen};

use super::{Stall, carry_out, runs};
use xtask::Error;

/// The time in ns from the recorded start of a window until the tracer actually looks.
const EDGE_NS: u64 = 10_000;

/// An experiment with one level for each length, as hwlat reports only the longest stall of a
/// window.
fn experiment(kind: TracerKind) -> String {
    let tracer = match kind {
        TracerKind::Hwlat => {
            r#"threshold = "2us", window = "50ms", width = "40ms", mode = "per-cpu""#
        }
        TracerKind::Osnoise => r#"threshold = "2us", window = "50ms""#,
        TracerKind::Timerlat => r#"threshold = "20us""#,
    };
    let name = kind.word();
    let mut text = format!(
        r#"title = "Ground truth of {name}"
question = "Which planted stalls does {name} find?"
kernel = "debian:6.12-rt"
cpus = 2
command_line = ["isolcpus=nohz,domain,1", "nohz_full=1", "rcu_nocbs=1"]
runs = 1
instruments = ["{name}"]
tracer = {{ cpus = [1], {tracer} }}
[factors.stalls.none]
"#
    );
    for us in [1, 2, 5, 10, 50, 200] {
        let _ = write!(
            text,
            "[factors.stalls.{us}us.stalls]\nlength = \"{us}us\"\nperiod = \"3ms\"\n\
             jitter = \"2500us\"\ncpu = 1\n"
        );
    }
    text + "[workloads.rest]\nkind = \"command\"\nargv = [\"sleep\", \"1\"]\n"
}

/// Measures all three tracers, and returns the table.
pub(super) fn measure() -> Result<String, Error> {
    let mut rows = String::new();
    for kind in TracerKind::ALL {
        let bundle = carry_out(kind.word(), &experiment(kind))?;
        for (length_us, score) in scores(&bundle, kind)? {
            rows += &row(kind, length_us, &score);
        }
    }
    Ok(format!(
        "\n| tracer | stalls, us | planted while it looked | found | share | too long by, ns | \
         observed, s | besides |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n{rows}\n"
    ))
}

/// The score of a tracer by planted length in microseconds; 0 if nothing was planted.
fn scores(bundle: &Path, kind: TracerKind) -> Result<BTreeMap<u64, Score>, Error> {
    let mut scores: BTreeMap<u64, Score> = BTreeMap::new();
    for run in runs(bundle, &format!("{}.txt", kind.word()))? {
        let length = run
            .stalls
            .first()
            .map_or(0, |stall| stall.planned_ns / 1000);
        let score = scores.entry(length).or_default();
        match kind {
            TracerKind::Hwlat => score.add_counts(&run.stalls, &run.seen)?,
            _ => score.add(&run.stalls, &run.seen)?,
        }
    }
    Ok(scores)
}

/// The findings on stalls of one length.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    planted: u64,
    found: u64,
    /// Reported minus planted length of each stall found.
    more_ns: Vec<i64>,
    /// Unexplained latencies that match no planted stall.
    besides: u64,
    observed_ns: u64,
}

impl Score {
    /// Adds a run of a tracer that reports each latency.
    fn add(&mut self, stalls: &[Stall], seen: &Seen) -> Result<(), Error> {
        let mut left: Vec<&Gap> = seen
            .gaps
            .iter()
            .filter(|gap| gap.cause == Cause::Unexplained)
            .collect();
        for (at, stall) in in_sight(stalls, seen)? {
            self.planted += 1;
            let end = at + stall.length_ns;
            let of_it =
                |gap: &&Gap| gap.at_ns < end + EDGE_NS && at < gap.at_ns + gap.length_ns + EDGE_NS;
            if let Some(place) = left.iter().position(of_it) {
                let gap = left.remove(place);
                self.found += 1;
                self.more_ns
                    .push(difference(gap.length_ns, stall.length_ns));
            }
        }
        self.besides += left.len() as u64;
        self.observed_ns += observed_ns(seen);
        Ok(())
    }

    /// Adds a run of a tracer that counts the latencies of a window and reports the longest.
    fn add_counts(&mut self, stalls: &[Stall], seen: &Seen) -> Result<(), Error> {
        let stalls = in_sight(stalls, seen)?;
        for window in &seen.windows {
            let of_it =
                |at: u64| (window.at_ns..window.at_ns + window.length_ns + EDGE_NS).contains(&at);
            let inside: Vec<&Stall> = stalls
                .iter()
                .filter(|(at, _)| of_it(*at))
                .map(|(_, stall)| *stall)
                .collect();
            let gaps = seen.gaps.iter().filter(|gap| of_it(gap.at_ns));
            let (planted, mut counted) = (inside.len() as u64, 0);
            let longest = inside.iter().map(|stall| stall.length_ns).max();
            for gap in gaps {
                counted += gap.count;
                let more = longest.map(|longest| difference(gap.length_ns, longest));
                self.more_ns.extend(more);
            }
            self.planted += planted;
            self.found += counted.min(planted);
            self.besides += counted.saturating_sub(planted);
        }
        self.observed_ns += observed_ns(seen);
        Ok(())
    }
}

fn difference(found: u64, planted: u64) -> i64 {
    i64::try_from(i128::from(found) - i128::from(planted)).unwrap_or(i64::MAX)
}

fn observed_ns(seen: &Seen) -> u64 {
    seen.cpus.iter().map(|cpu| cpu.observed_ns).sum()
}

/// The stalls that happened while the tracer was looking, with their start times.
fn in_sight<'s>(stalls: &'s [Stall], seen: &Seen) -> Result<Vec<(u64, &'s Stall)>, Error> {
    let (start, khz) = seen.tsc.ok_or("no time-stamp counter")?;
    let looked = |at: u64| {
        let mut windows = seen.windows.iter();
        seen.windows.is_empty()
            || windows.any(|one| (one.at_ns..one.at_ns + one.length_ns).contains(&at))
    };
    Ok(stalls
        .iter()
        .map(|stall| {
            let ticks = stall.tsc.saturating_sub(start);
            (ticks * 1_000_000 / khz.max(1), stall)
        })
        .filter(|(at, _)| looked(*at))
        .collect())
}

fn row(kind: TracerKind, length_us: u64, score: &Score) -> String {
    let more = match (score.more_ns.iter().min(), score.more_ns.iter().max()) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => "–".into(),
    };
    let length = match length_us {
        0 => "none".into(),
        us => us.to_string(),
    };
    let share = (100 * score.found).checked_div(score.planted);
    let share = share.map_or("–".into(), |share| format!("{share} %"));
    let ms = score.observed_ns / 1_000_000;
    format!(
        "| {} | {length} | {} | {} | {share} | {more} | {}.{:03} | {} |\n",
        kind.word(),
        score.planted,
        score.found,
        ms / 1000,
        ms % 1000,
        score.besides
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use assize_job::gaps::{Watched, Window};

    fn seen(gaps: &[(u64, u64, Cause, u64)]) -> Seen {
        let gap = |&(at_ns, length_ns, cause, count): &(u64, u64, Cause, u64)| Gap {
            cpu: 1,
            at_ns,
            length_ns,
            cause,
            switches: 0,
            interrupts: 0,
            softirqs: 0,
            count,
        };
        Seen {
            tsc: Some((5000, 1_000_000)),
            cpus: vec![Watched {
                observed_ns: 40_000_000,
                ..Watched::default()
            }],
            windows: vec![Window {
                cpu: 1,
                at_ns: 1_000_000,
                length_ns: 40_000_000,
            }],
            gaps: gaps.iter().map(gap).collect(),
            ..Seen::default()
        }
    }

    fn stall(at: u64) -> Stall {
        Stall {
            length_ns: 50_000,
            planned_ns: 50_000,
            tsc: 5000 + at,
        }
    }

    #[test]
    fn what_is_found_besides_is_a_false_alarm_and_what_nobody_looked_at_is_not_missed() {
        let stalls = [stall(100), stall(2_000_000), stall(9_000_000)];
        let mut score = Score::default();
        let gaps = [
            (1_999_950, 50_100, Cause::Unexplained, 1),
            (5_000_000, 3000, Cause::Unexplained, 1),
            (7_000_000, 3000, Cause::Interrupt, 1),
        ];
        score.add(&stalls, &seen(&gaps)).unwrap();
        assert_eq!((score.planted, score.found, score.besides), (2, 1, 1));
        assert_eq!(score.more_ns, [100]);
        let row = row(TracerKind::Osnoise, 50, &score);
        assert_eq!(row, "| osnoise | 50 | 2 | 1 | 50 % | 100 | 0.040 | 1 |\n");
    }

    #[test]
    fn of_a_window_the_number_and_the_longest_are_compared() {
        let stalls = [stall(100), stall(2_000_000), stall(9_000_000)];
        let mut score = Score::default();
        let gaps = [(2_000_000, 51_000, Cause::Unexplained, 3)];
        score.add_counts(&stalls, &seen(&gaps)).unwrap();
        assert_eq!((score.planted, score.found, score.besides), (2, 2, 1));
        assert_eq!(score.more_ns, [1000]);
        let none = row(TracerKind::Hwlat, 0, &Score::default());
        assert_eq!(none, "| hwlat | none | 0 | 0 | – | – | 0.000 | 0 |\n");
    }

    #[test]
    fn the_experiments_are_ones() {
        for kind in TracerKind::ALL {
            let experiment = assize_plan::parse(&experiment(kind), "x.toml").unwrap();
            experiment.plan(&assize_plan::Overrides::default()).unwrap();
        }
    }
}
