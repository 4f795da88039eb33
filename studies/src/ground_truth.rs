//! Measures how many planted stalls the instrument `gaps` and the kernel's tracers find, and how
//! exact their lengths are.

mod kills;
mod quiet;
mod rates;
mod tracers;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assize_job::gaps::{Cause, Gap, Seen};

use xtask::command::{command, run as run_command};
use xtask::{Error, agent, assize, files, marks, tree};

const PAGE: &str = "studies/ground-truth.md";
const MARK: &str = "made: cargo studies ground-truth";
/// Stalls are planted on a CPU without ticks and tasks, where nothing else happens.
const EXPERIMENT: &str = r#"title = "Ground truth"
question = "Which planted stalls does gaps find?"
cpus = 2
command_line = ["isolcpus=nohz,domain,1", "nohz_full=1", "rcu_nocbs=1"]
runs = 3
instruments = ["gaps"]
gaps = { cpus = [1], threshold = "500ns", baseline = "20ms" }
setup = [{ module = "msr" }]
[factors.stalls.none]
[factors.stalls.smi.stalls]
length = ["1us", "2us", "5us", "10us", "50us", "200us"]
period = "3ms"
jitter = "2500us"
cpu = 1
[factors.stalls.irqs-off.stalls]
kind = "irqs-off"
length = ["1us", "2us", "5us", "10us", "50us", "200us"]
period = "3ms"
jitter = "2500us"
cpu = 1
[workloads.rest]
kind = "command"
argv = ["sleep", "2"]
"#;
/// Maximum difference in ns between two clocks that are read one after the other.
const CLOCKS_NS: u64 = 100;

/// The tables of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Planted stalls found by `gaps`.
    Gaps,
    /// Planted stalls found by the kernel's tracers.
    Tracers,
    /// Findings of all detectors if nothing is planted.
    Quiet,
    /// Verdicts on rare stalls.
    Rates,
    /// A soak that is killed and resumed.
    Kills,
}

impl Part {
    const ALL: [Part; 5] = [
        Part::Gaps,
        Part::Tracers,
        Part::Quiet,
        Part::Rates,
        Part::Kills,
    ];

    fn word(self) -> &'static str {
        match self {
            Part::Gaps => "gaps",
            Part::Tracers => "tracers",
            Part::Quiet => "quiet",
            Part::Rates => "rates",
            Part::Kills => "kills",
        }
    }

    fn mark(self) -> String {
        match self {
            Part::Gaps => MARK.to_owned(),
            other => format!("{MARK}, {}", other.word()),
        }
    }

    fn measure(self, seed: u64) -> Result<String, Error> {
        match self {
            Part::Gaps => Ok(table(&scores(&carry_out("gaps", EXPERIMENT)?)?)),
            Part::Tracers => tracers::measure(),
            Part::Quiet => quiet::measure(),
            Part::Rates => rates::measure(),
            Part::Kills => kills::measure(seed),
        }
    }
}

/// The options of the command.
#[derive(Debug, PartialEq, Eq)]
struct Options {
    parts: Vec<Part>,
    /// The seed of the moments at which a soak is killed.
    seed: u64,
    write: bool,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, Error> {
        let mut options = Options {
            parts: Vec::new(),
            seed: 1,
            write: false,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let part = Part::ALL.into_iter().find(|part| part.word() == word);
            match (word.as_str(), part) {
                (_, Some(part)) => options.parts.push(part),
                ("--write", None) => options.write = true,
                ("--seed", None) => {
                    let number = words.next().and_then(|number| number.parse().ok());
                    options.seed = number.ok_or("--seed: wants a whole number")?;
                }
                (other, None) => {
                    let known = Part::ALL.map(Part::word).join(", ");
                    return Err(format!("{other}: valid: {known}, --seed S, --write"));
                }
            }
        }
        if options.parts.is_empty() {
            options.parts = Part::ALL.to_vec();
        }
        Ok(options)
    }
}

/// `cargo studies ground-truth [PART...] [--seed S] [--write]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let options = Options::parse(arguments)?;
    agent::run(&[])?;
    assize::build()?;
    for part in options.parts {
        let made = part.measure(options.seed)?;
        println!("{made}");
        if options.write {
            marks::write(PAGE, &part.mark(), &made)?;
        }
    }
    Ok(())
}

/// Runs an experiment, and returns its bundle.
fn carry_out(name: &str, experiment: &str) -> Result<PathBuf, Error> {
    let file = written(name, experiment)?;
    let bundle = file.with_file_name("stalls.bundle");
    run_command(assize(&[
        "run",
        &file.display().to_string(),
        "--out",
        &bundle.display().to_string(),
    ])?)?;
    Ok(bundle)
}

/// Writes the file of an experiment to a new directory, and returns its path.
fn written(name: &str, experiment: &str) -> Result<PathBuf, Error> {
    let place = tree::root()?.join("target/ground-truth").join(name);
    files::remove(&place)?;
    let file = place.join("stalls.toml");
    files::write(&file, experiment)?;
    Ok(file)
}

/// The command `assize` without the output of its verdict.
fn assize(arguments: &[&str]) -> Result<Command, Error> {
    let mut command = command(assize::path()?, arguments)?;
    command.stdout(Stdio::null());
    Ok(command)
}

/// The stalls planted in one run, and the findings of the instrument.
struct Looked {
    configuration: String,
    stalls: Vec<Stall>,
    seen: Seen,
}

/// All runs of a bundle. `file` is the recording of the instrument.
fn runs(bundle: &Path, file: &str) -> Result<Vec<Looked>, Error> {
    let planned = tree::json(&bundle.join("bundle.json"))?["head"]["planned_runs"].as_u64();
    let mut runs = Vec::new();
    for index in 0..planned.unwrap_or(0) {
        let run = tree::json(&bundle.join(format!("runs/{index:04}.json")))?;
        let name = run["configuration"].as_str().unwrap_or_default();
        let text = |file: &str| {
            let path = bundle.join(format!("raw/{index:04}-{file}"));
            files::read(&path)
        };
        runs.push(Looked {
            configuration: name.to_owned(),
            stalls: match name {
                "none" => Vec::new(),
                _ => stalls(&text("planted-stalls.txt")?)?,
            },
            seen: Seen::parse(&text(file)?).map_err(|why| format!("{file}: {why:?}"))?,
        });
    }
    Ok(runs)
}

/// The score of each configuration, over all its runs.
fn scores(bundle: &Path) -> Result<BTreeMap<String, Score>, Error> {
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for run in runs(bundle, "gaps.txt")? {
        let cause = match run.configuration.as_str() {
            "irqs-off" => Cause::Interrupt,
            _ => Cause::Smi,
        };
        let score = scores.entry(run.configuration).or_default();
        score.add(&run.stalls, cause, &run.seen)?;
    }
    Ok(scores)
}

/// One planted stall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stall {
    length_ns: u64,
    planned_ns: u64,
    tsc: u64,
}

fn stalls(text: &str) -> Result<Vec<Stall>, Error> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let one = |line: &str| {
        let words: Vec<u64> = line
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        match words[..] {
            [_, length_ns, planned_ns, tsc] => Ok(Stall {
                length_ns,
                planned_ns,
                tsc,
            }),
            _ => Err(format!("planted-stalls.txt: no stall: {line}")),
        }
    };
    lines.map(one).collect()
}

/// The findings on planted stalls.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    /// Results by planned length.
    lengths: BTreeMap<u64, Found>,
    /// Gaps that match no planted stall, by cause.
    others: BTreeMap<&'static str, u64>,
    observed_ns: u64,
}

/// The findings on stalls of one length.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    planted: u64,
    /// Stalls missed while the counters were being read, which is not exposure.
    blind: u64,
    /// Measured minus planted length of each stall found.
    more_ns: Vec<i64>,
    /// The number of stalls with the correct cause.
    explained: u64,
}

impl Score {
    /// Adds one run; `cause` is the cause of the planted stalls.
    fn add(&mut self, planted: &[Stall], cause: Cause, seen: &Seen) -> Result<(), Error> {
        let (start, khz) = seen.tsc.ok_or("gaps.txt: no time-stamp counter")?;
        let mut left: Vec<&Gap> = seen.gaps.iter().collect();
        for stall in planted {
            let at = stall.tsc.saturating_sub(start) * 1_000_000 / khz.max(1);
            let found = self.lengths.entry(stall.planned_ns).or_default();
            found.planted += 1;
            let of_it = |gap: &&Gap| {
                let end = gap.at_ns + gap.length_ns + CLOCKS_NS;
                gap.at_ns <= at + CLOCKS_NS && at + stall.length_ns <= end
            };
            if let Some(place) = left.iter().position(of_it) {
                let gap = left.remove(place);
                let more = i128::from(gap.length_ns) - i128::from(stall.length_ns);
                found.more_ns.push(i64::try_from(more).unwrap_or(i64::MAX));
                found.explained += u64::from(gap.cause == cause);
            } else if is_blind(seen, at) {
                found.blind += 1;
            }
        }
        for gap in left {
            *self.others.entry(gap.cause.word()).or_default() += 1;
        }
        self.observed_ns += seen.cpus.iter().map(|cpu| cpu.observed_ns).sum::<u64>();
        Ok(())
    }
}

/// Whether the counters were being read at this time, after an earlier gap.
fn is_blind(seen: &Seen, at: u64) -> bool {
    let reading = seen
        .cpus
        .iter()
        .map(|cpu| cpu.reading_ns)
        .max()
        .unwrap_or(0);
    let ends = seen.gaps.iter().map(|gap| gap.at_ns + gap.length_ns);
    let last = ends.filter(|end| *end <= at + CLOCKS_NS).max();
    last.is_some_and(|end| at.saturating_sub(end) <= 2 * reading)
}

fn table(scores: &BTreeMap<String, Score>) -> String {
    let mut text = String::from(
        "\n| stalls | length, us | planted | in blind time | found | of those in sight | cause \
         told | too long by, ns |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for (name, score) in scores {
        for (length, found) in &score.lengths {
            let seen = found.more_ns.len() as u64;
            let in_sight = found.planted - found.blind;
            let (least, most) = (found.more_ns.iter().min(), found.more_ns.iter().max());
            let more = match (least, most) {
                (Some(least), Some(most)) if least == most => least.to_string(),
                (Some(least), Some(most)) => format!("{least} to {most}"),
                _ => "–".into(),
            };
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {seen} | {} % | {} | {more} |",
                length / 1000,
                found.planted,
                found.blind,
                (100 * seen).checked_div(in_sight).unwrap_or(0),
                found.explained,
            );
        }
    }
    text += "\n| stalls | observed, s | gaps besides |\n| --- | ---: | --- |\n";
    for (name, score) in scores {
        let others: Vec<String> = score
            .others
            .iter()
            .map(|(cause, count)| format!("{count} {cause}"))
            .collect();
        let others = match others.is_empty() {
            true => "none".into(),
            false => others.join(", "),
        };
        let ms = score.observed_ns / 1_000_000;
        let _ = writeln!(
            text,
            "| {name} | {}.{:03} | {others} |",
            ms / 1000,
            ms % 1000
        );
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use assize_job::gaps::Watched;

    fn seen(gaps: &[(u64, u64, Cause)]) -> Seen {
        let gap = |(at_ns, length_ns, cause): &(u64, u64, Cause)| Gap {
            cpu: 1,
            at_ns: *at_ns,
            length_ns: *length_ns,
            cause: *cause,
            switches: 0,
            interrupts: 0,
            softirqs: 0,
            count: 1,
        };
        Seen {
            tsc: Some((5000, 1_000_000)),
            cpus: vec![Watched {
                observed_ns: 2_000_000_000,
                reading_ns: 1000,
                ..Watched::default()
            }],
            gaps: gaps.iter().map(gap).collect(),
            ..Seen::default()
        }
    }

    fn stall(at: u64, length_ns: u64) -> Stall {
        Stall {
            length_ns,
            planned_ns: length_ns,
            tsc: 5000 + at,
        }
    }

    #[test]
    fn parts_are_named_and_unknown_words_refused() {
        let parse = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(String::from).collect();
            Options::parse(&words)
        };
        let all = parse("--write").unwrap();
        assert_eq!(
            (all.parts, all.seed, all.write),
            (Part::ALL.to_vec(), 1, true)
        );
        let some = parse("kills --seed 7 quiet").unwrap();
        assert_eq!(some.parts, [Part::Kills, Part::Quiet]);
        assert_eq!((some.seed, some.write), (7, false));
        for bad in ["noise", "--seed", "--seed x", "--writ"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let page = include_str!("../../studies/ground-truth.md");
        for part in Part::ALL {
            assert!(marks::put(page, &part.mark(), "").is_ok(), "{part:?}");
        }
    }

    #[test]
    fn each_stall_has_its_gap_is_blind_or_is_missed() {
        let planted = [
            stall(10_000, 2000),
            stall(13_000, 2000),
            stall(900_000, 2000),
            stall(990_000, 50_000),
        ];
        let gaps = [
            (9990, 2034, Cause::Smi),
            (500_000, 800, Cause::Unexplained),
            (989_995, 50_011, Cause::Unexplained),
        ];
        let mut score = Score::default();
        score.add(&planted, Cause::Smi, &seen(&gaps)).unwrap();
        let two = &score.lengths[&2000];
        assert_eq!((two.planted, two.blind, two.explained), (3, 1, 1));
        assert_eq!(two.more_ns, [34]);
        assert_eq!(score.lengths[&50_000].more_ns, [11]);
        assert_eq!(score.lengths[&50_000].explained, 0);
        assert_eq!(score.others, BTreeMap::from([("unexplained", 1)]));
        let text = table(&BTreeMap::from([("smi".to_owned(), score)]));
        assert!(
            text.contains("| smi | 2 | 3 | 1 | 1 | 50 % | 1 | 34 |"),
            "{text}"
        );
        assert!(text.contains("| smi | 2.000 | 1 unexplained |"), "{text}");
    }

    #[test]
    fn nothing_planted_and_nothing_found_is_none() {
        let mut score = Score::default();
        score.add(&[], Cause::Smi, &seen(&[])).unwrap();
        let text = table(&BTreeMap::from([("none".to_owned(), score)]));
        assert!(text.contains("| none | 2.000 | none |"), "{text}");
        assert!(stalls("# x\n1 2 3\n").is_err());
        assert_eq!(
            stalls("# x\n1 2000 2001 9\n").unwrap(),
            [Stall {
                length_ns: 2000,
                planned_ns: 2001,
                tsc: 9
            }]
        );
    }
}
