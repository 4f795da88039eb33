//! How soon each race of `experiments/races.toml` fails: in a hunt, by strategy, and in a loop on
//! Debian's QEMU, whose CPUs are threads of the host.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use xtask::machines::machines;
use xtask::{Error, agent, assize, cpu_time, files, marks, tree};

const EXPERIMENT: &str = "experiments/races.toml";
const PAGE: &str = "docs/hunt.md";
/// The schedules of each hunt.
const SCHEDULES: u32 = 30;
/// A loop on stock QEMU ends with so many failures.
const FAILURES: u32 = 3;
/// Or after so many seconds of CPU time.
const LIMIT: f64 = 60.0;
/// The attempts in each run of a hunt: some 50 ms of the machine's time.
const ATTEMPTS: u32 = 400;
const LOOK: Duration = Duration::from_millis(100);

/// `cargo studies races [--write] [RACE...]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let write = arguments.iter().any(|word| word == "--write");
    let asked: Vec<&String> = arguments.iter().filter(|word| *word != "--write").collect();
    if write && !asked.is_empty() {
        return Err("--write is for all races".into());
    }
    agent::run(&[])?;
    let study = RaceStudy {
        assize: assize::build()?,
        text: files::read(&tree::root()?.join(EXPERIMENT))?,
        place: files::scratch("races")?,
    };
    let all = races(&study.text);
    if let Some(other) = asked.iter().find(|word| !all.contains(**word)) {
        return Err(format!("{other}: there is no such race in {EXPERIMENT}"));
    }
    let mut rows = String::new();
    for race in all
        .iter()
        .filter(|race| asked.is_empty() || asked.contains(race))
    {
        let row = study.row(race)?;
        print!("{row}");
        rows += &row;
    }
    if write {
        marks::write(PAGE, "made: races", &format!("\n{HEAD}{rows}"))?;
    }
    Ok(())
}

const HEAD: &str = "| race | `turns` | `locked` | `delays` | all, CPU time | stock QEMU, CPU time | stock ÷ all |\n\
                    | --- | --- | --- | --- | --- | --- | --- |\n";
/// The strategies of a hunt.
const STRATEGIES: [&str; 3] = ["turns", "locked", "delays"];

/// The levels of the factor `race`.
fn races(text: &str) -> Vec<String> {
    let name = |line: &str| {
        line.strip_prefix("[factors.race.")?
            .strip_suffix(']')
            .map(str::to_owned)
    };
    text.lines().filter_map(name).collect()
}

/// Failures, and what they took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct FailureCost {
    failures: u32,
    runs: u32,
    seconds: f64,
}

impl FailureCost {
    fn is_enough(&self) -> bool {
        self.failures >= FAILURES || self.seconds >= LIMIT
    }

    /// CPU seconds for each failure. With none it is more than what was spent.
    fn each(&self) -> f64 {
        self.seconds / f64::from(self.failures.max(1))
    }

    /// `3 of 41, 6.2 s`.
    fn cell(&self) -> String {
        let more = if self.failures == 0 { "> " } else { "" };
        format!(
            "{} of {}, {more}{:.1} s",
            self.failures,
            self.runs,
            self.each()
        )
    }

    /// How many times as long as the other it takes to fail.
    fn over(&self, other: &FailureCost) -> String {
        let ratio = self.each() / other.each();
        match (self.failures, other.failures) {
            (0, 0) => "–".into(),
            (0, _) => format!("> {ratio:.1}"),
            (_, 0) => format!("< {ratio:.2}"),
            _ => format!("{ratio:.2}"),
        }
    }
}

/// What a hunt found, by strategy, and the CPU time that it took.
struct HuntCost {
    strategies: BTreeMap<String, [u32; 2]>,
    seconds: f64,
}

impl HuntCost {
    fn all(&self) -> FailureCost {
        let sum = |at: fn(&[u32; 2]) -> u32| self.strategies.values().map(at).sum();
        FailureCost {
            failures: sum(|one| one[0]),
            runs: sum(|one| one[1]),
            seconds: self.seconds,
        }
    }

    /// `9 of 40`.
    fn cell(&self, strategy: &str) -> String {
        let [failures, runs] = self.strategies.get(strategy).copied().unwrap_or_default();
        format!("{failures} of {runs}")
    }
}

struct RaceStudy {
    assize: PathBuf,
    /// The text of the experiment.
    text: String,
    place: PathBuf,
}

impl RaceStudy {
    fn row(&self, race: &str) -> Result<String, Error> {
        let hunt = self.hunt(race)?;
        let (all, stock) = (hunt.all(), self.stock(race)?);
        let mut row = format!("| `{race}` |");
        for strategy in STRATEGIES {
            row += &format!(" {} |", hunt.cell(strategy));
        }
        for cell in [all, stock] {
            row += &format!(" {} |", cell.cell());
        }
        row += &format!(" {} |\n", stock.over(&all));
        Ok(row)
    }

    fn command(&self, verb: &str, race: &str, out: &Path) -> Result<Command, Error> {
        files::remove(out)?;
        let mut command = Command::new(&self.assize);
        let level = format!("race={race}");
        command
            .args([
                verb, "--quiet", "--set", &level, "--set", "fix=off", "--out",
            ])
            .arg(out)
            .env("ASSIZE_AGENT", agent::path()?)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Ok(command)
    }

    /// Hunts with so many schedules. The time counts from when the machine is ready.
    fn hunt(&self, race: &str) -> Result<HuntCost, Error> {
        let out = self.place.join("hunt");
        let mut command = self.command("hunt", race, &out)?;
        let experiment = self.place.join("races.toml");
        files::write(&experiment, with_attempts(&self.text, ATTEMPTS))?;
        command
            .args(["--seeds", &SCHEDULES.to_string()])
            .arg(experiment);
        let mut child = command.spawn().map_err(failed)?;
        let (mut ready, mut seconds) = (None, 0.0);
        let journal = out.join("journal.jsonl");
        loop {
            sleep(LOOK);
            let text = files::read(&journal).unwrap_or_default();
            if !text.is_empty() {
                let spent = cpu_time::of_process(child.id())?;
                seconds = spent - *ready.get_or_insert(spent);
            }
            if of_journal(&text).values().map(|one| one[1]).sum::<u32>() >= SCHEDULES {
                stop(&mut child)?;
                break;
            }
            if let Some(status) = child.try_wait().map_err(failed)? {
                return Err(format!("{race}: the hunt ended by itself: {status}"));
            }
        }
        let strategies = of_journal(&files::read(&journal)?);
        Ok(HuntCost {
            strategies,
            seconds,
        })
    }

    /// Boots Debian's QEMU and makes attempts until the kernel panics, again and again.
    fn stock(&self, race: &str) -> Result<FailureCost, Error> {
        let one = self.boot(race, 1)?;
        let mut cost = FailureCost::default();
        while !cost.is_enough() {
            let boot = self.boot(race, 1_000_000)?;
            cost.failures += boot.failures;
            cost.runs += 1;
            cost.seconds += (boot.seconds - one.seconds).max(0.0);
        }
        Ok(cost)
    }

    /// A run with so many attempts. A kernel that panics may spin for ever instead of ending the
    /// machine, so its console is watched.
    fn boot(&self, race: &str, attempts: u32) -> Result<FailureCost, Error> {
        let (file, out) = (
            self.place.join("stock.toml"),
            self.place.join("stock.bundle"),
        );
        files::write(&file, looping(&self.text, attempts))?;
        let mut command = self.command("run", race, &out)?;
        command.args(["--target", "live"]).arg(&file);
        let mut child = command.spawn().map_err(failed)?;
        let mut cost = FailureCost {
            runs: 1,
            ..FailureCost::default()
        };
        while child.try_wait().map_err(failed)?.is_none() {
            sleep(LOOK);
            let Some(qemu) = qemu_below(child.id()) else {
                continue;
            };
            // It may have ended since.
            cost.seconds = cpu_time::of_process(qemu.id).unwrap_or(cost.seconds);
            let console = files::read(&qemu.console).unwrap_or_default();
            if console.contains("Kernel panic") {
                cost.failures = 1;
                stop(&mut child)?;
                return Ok(cost);
            }
        }
        // It may have ended between two looks.
        let run = files::read(&out.join("runs/0000.json"))?;
        let run: Value = serde_json::from_str(&run).map_err(failed)?;
        let why = run["exit"]["failed"]["why"].as_str();
        cost.failures = u32::from(why.is_some_and(|why| why.contains("panic")));
        Ok(cost)
    }
}

/// A QEMU, and the file with its console.
struct RunningQemu {
    id: u32,
    console: PathBuf,
}

/// The QEMU that a process has started.
fn qemu_below(id: u32) -> Option<RunningQemu> {
    machines(&[id]).into_iter().find_map(|id| {
        let words = files::read(Path::new(&format!("/proc/{id}/cmdline"))).ok()?;
        let (_, rest) = words.split_once("id=console,path=")?;
        let console = rest.split('\0').next()?.into();
        Some(RunningQemu { id, console })
    })
}

/// The experiment with so many attempts in each run.
fn with_attempts(text: &str, attempts: u32) -> String {
    let setup = format!(
        "setup = [{{ module = \"simrace\", parameters = {{ attempts = {attempts} }} }},\n{{ sysctl"
    );
    text.replace("setup = [{ sysctl", &setup)
}

/// One run with so many attempts, which ends with the first failure.
fn looping(text: &str, attempts: u32) -> String {
    let timeout = format!("timeout = \"{LIMIT:.0}s\"");
    let hung = "{ sysctl = \"kernel.hung_task_panic\", value = 1 },\n{ sysctl";
    with_attempts(text, attempts)
        .replace(
            "runs = 100",
            "runs = 1\ncommand_line = [\"panic_on_warn=1\"]",
        )
        .replace("timeout = \"3s\"", &timeout)
        .replace("{ sysctl", hung)
}

/// Failures and runs in a journal, by strategy.
fn of_journal(text: &str) -> BTreeMap<String, [u32; 2]> {
    let lines = text.lines().skip(1);
    let runs = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut strategies = BTreeMap::<String, [u32; 2]>::new();
    for run in runs {
        let name = run["strategy"].as_str().unwrap_or_default();
        let [failures, runs] = strategies.entry(name.into()).or_default();
        *failures += u32::from(run.get("failure").is_some());
        *runs += 1;
    }
    strategies
}

/// Interrupts a hunt.
fn stop(child: &mut Child) -> Result<(), Error> {
    kill_process(Pid::from_child(child), Signal::INT).map_err(failed)?;
    child.wait().map_err(failed)?;
    Ok(())
}

fn failed(error: impl Display) -> Error {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_and_compared_also_where_there_are_none() {
        let text = "{}\n{\"strategy\":\"turns\"}\n{\"strategy\":\"turns\",\"failure\":{}}\n{\"str";
        let hunt = HuntCost {
            strategies: of_journal(text),
            seconds: 8.0,
        };
        assert_eq!(
            (hunt.cell("turns"), hunt.cell("delays")),
            ("1 of 2".into(), "0 of 0".into())
        );
        let found = hunt.all();
        assert_eq!(found.cell(), "1 of 2, 8.0 s");
        let none = FailureCost {
            failures: 0,
            runs: 9,
            seconds: 60.0,
        };
        assert_eq!(none.cell(), "0 of 9, > 60.0 s");
        assert_eq!(none.over(&found), "> 7.5");
        assert_eq!(found.over(&none), "< 0.13");
        assert_eq!(none.over(&none), "–");
    }

    #[test]
    fn the_experiment_has_races_and_loops() {
        let text = files::read(&tree::root().unwrap().join(EXPERIMENT)).unwrap();
        assert_eq!(races(&text).len(), 12);
        assert!(with_attempts(&text, 7).contains("attempts = 7"));
        let looped = looping(&text, 7);
        for part in [
            "attempts = 7",
            "panic_on_warn=1",
            "timeout = \"60s\"",
            "hung_task_panic",
        ] {
            assert!(looped.contains(part), "{part}");
        }
    }
}
