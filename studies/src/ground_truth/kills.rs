//! Kills and resumes a soak: no event may be lost or counted twice, and the exposure must be exact.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::{assize, runs, written};
use xtask::command::run as run_command;
use xtask::draw::Draws;
use xtask::{Error, files};

/// 30 minutes of a watched CPU with occasional stalls. `gaps` watches only part of the time, as the
/// host has to execute the instructions of a busy CPU.
const EXPERIMENT: &str = r#"title = "A soak"
question = "Does a soak that is killed count what one that is not killed counts?"
cpus = 2
command_line = ["isolcpus=nohz,domain,1", "nohz_full=1", "rcu_nocbs=1"]
runs = 30
images = 2
timeout = "3min"
instruments = ["gaps"]
gaps = { cpus = [1], threshold = "1us", window = "1s", width = "10ms", baseline = "20ms" }
setup = [{ module = "msr" }]
stalls = { length = ["2us", "20us"], period = "50ms", jitter = "45ms", cpu = 1 }
[factors.stalls.smi]
[workloads.rest]
kind = "command"
argv = ["sleep", "60"]
"#;
/// Number of kills.
const KILLS: usize = 5;
/// Stream number of the random draws.
const PART: u64 = 2000;
/// The file that may differ between executions.
const LOG: &str = "log.jsonl";

/// Measures the soak, and returns the table.
pub(super) fn measure(seed: u64) -> Result<String, Error> {
    let file = written("kills", EXPERIMENT)?;
    let [whole, killed] = ["whole.bundle", "killed.bundle"].map(|name| file.with_file_name(name));
    let begun = Instant::now();
    run_command(soak(&file, &whole)?)?;
    let took = begun.elapsed();
    // Short enough that the soak cannot end before the last kill.
    let longest = took / (KILLS as u32 + 1);
    let mut draws = Draws::new(seed, PART);
    let mut recorded = Vec::new();
    for _ in 0..KILLS {
        let most = usize::try_from(longest.as_millis()).unwrap_or(usize::MAX);
        kill_after(soak(&file, &killed)?, draws.time(0, most.max(1)))?;
        recorded.push(complete(&killed)?.to_string());
    }
    run_command(soak(&file, &killed)?)?;
    let differ = different(&contents(&whole)?, &contents(&killed)?);
    let counted = (Counted::in_bundle(&whole)?, Counted::in_bundle(&killed)?);
    let made = table(seed, &recorded, &counted);
    if !differ.is_empty() {
        return Err(format!("{made}\nnot the same: {}", differ.join(", ")));
    }
    Ok(made)
}

/// Starts or resumes the soak; no run comes from the cache.
fn soak(file: &Path, bundle: &Path) -> Result<Command, Error> {
    let (file, out) = (file.display().to_string(), bundle.display().to_string());
    let how = match bundle.join("bundle.json").exists() {
        true => vec!["--resume", &out],
        false => vec![&*file, "--out", &out],
    };
    assize(&[&["run", "--fresh", "--quiet"], &how[..]].concat())
}

/// Kills the soak with SIGKILL after `time`; fails if the soak has already ended.
fn kill_after(mut command: Command, time: Duration) -> Result<(), Error> {
    let fault = |why| format!("assize run: {why}");
    let mut child = command.spawn().map_err(fault)?;
    thread::sleep(time);
    if let Some(status) = child.try_wait().map_err(fault)? {
        return Err(format!("assize run ended before it was killed: {status}"));
    }
    child.kill().map_err(fault)?;
    child.wait().map_err(fault)?;
    Ok(())
}

/// The number of runs in a bundle.
fn complete(bundle: &Path) -> Result<usize, Error> {
    let runs = bundle.join("runs");
    if !runs.exists() {
        return Ok(0);
    }
    let is_run = |path: &&PathBuf| path.extension().is_some_and(|end| end == "json");
    Ok(files::entries(&runs)?.iter().filter(is_run).count())
}

/// All files of a bundle except its log.
fn contents(bundle: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, Error> {
    let mut files = BTreeMap::new();
    for path in files::below(bundle)? {
        let bytes = fs::read(&path).map_err(files::fault(&path))?;
        let name = path.strip_prefix(bundle).unwrap_or(&path);
        files.insert(name.to_path_buf(), bytes);
    }
    files.remove(Path::new(LOG));
    Ok(files)
}

/// The files that differ, or exist on one side only.
fn different(a: &BTreeMap<PathBuf, Vec<u8>>, b: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let all = a
        .keys()
        .chain(b.keys().filter(|name| !a.contains_key(*name)));
    all.filter(|name| a.get(*name) != b.get(*name))
        .map(|name| name.display().to_string())
        .collect()
}

/// The counts of a soak.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    runs: usize,
    planted: u64,
    gaps: u64,
    observed_ns: u64,
    files: usize,
}

impl Counted {
    fn in_bundle(bundle: &Path) -> Result<Counted, Error> {
        let mut counted = Counted {
            files: contents(bundle)?.len(),
            ..Counted::default()
        };
        for run in runs(bundle, "gaps.txt")? {
            counted.runs += 1;
            counted.planted += run.stalls.len() as u64;
            counted.gaps += run.seen.gaps.len() as u64;
            counted.observed_ns += run.seen.cpus.iter().map(|cpu| cpu.observed_ns).sum::<u64>();
        }
        Ok(counted)
    }

    fn row(&self, name: &str, recorded: &str) -> String {
        format!(
            "| {name} | {recorded} | {} | {} | {} | {} | {} |\n",
            self.runs, self.planted, self.gaps, self.observed_ns, self.files
        )
    }
}

fn table(seed: u64, recorded: &[String], (whole, killed): &(Counted, Counted)) -> String {
    let killed = killed.row(
        &format!("killed {} times (seed {seed})", recorded.len()),
        &recorded.join(", "),
    );
    format!(
        "\n| soak | runs there when it was killed | runs | stalls planted | gaps | exposure, ns | \
         files |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n{}{killed}\n",
        whole.row("undisturbed", "–"),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_lost_added_or_changed_is_named_and_the_log_is_not() {
        let place = tempfile::tempdir().unwrap();
        let bundle = |name: &str, files: &[(&str, &str)]| {
            for (file, text) in files {
                let path = place.path().join(name).join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            contents(&place.path().join(name)).unwrap()
        };
        let whole = [("bundle.json", "1"), ("runs/0000.json", "2"), (LOG, "3")];
        let a = bundle("a", &whole);
        assert_eq!(a.len(), 2);
        let same = [("bundle.json", "1"), ("runs/0000.json", "2"), (LOG, "4")];
        assert!(different(&a, &bundle("b", &same)).is_empty());
        let changed = [("bundle.json", "1"), ("runs/0000.json", "3")];
        assert_eq!(different(&a, &bundle("c", &changed)), ["runs/0000.json"]);
        assert_eq!(different(&a, &bundle("d", &whole[..1])), ["runs/0000.json"]);
        let more = [whole[0], whole[1], ("runs/0001.json", "2")];
        assert_eq!(different(&a, &bundle("e", &more)), ["runs/0001.json"]);
        assert_eq!(complete(&place.path().join("e")).unwrap(), 2);
        assert_eq!(complete(&place.path().join("f")).unwrap(), 0);
    }

    #[test]
    fn one_that_ends_before_it_is_killed_is_no_kill() {
        let early = kill_after(Command::new("true"), Duration::from_millis(500));
        assert!(early.unwrap_err().contains("ended before"));
        let mut endless = Command::new("sleep");
        endless.arg("600");
        kill_after(endless, Duration::from_millis(1)).unwrap();
    }

    #[test]
    fn the_soak_is_half_an_hour() {
        let experiment = assize_plan::parse(EXPERIMENT, "x.toml").unwrap();
        let plan = experiment.plan(&assize_plan::Overrides::default()).unwrap();
        assert_eq!(plan.runs.len(), 30);
        let text = table(
            7,
            &["0".into(), "3".into()],
            &<(Counted, Counted)>::default(),
        );
        assert!(
            text.contains("| killed 2 times (seed 7) | 0, 3 | 0 |"),
            "{text}"
        );
    }
}
