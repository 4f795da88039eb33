//! Distributed runs: by Slurm, with its real daemons, and by Kubernetes, with the pods of its
//! manifest.

mod cluster;
mod kubernetes;
mod scale;
mod verbs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Cache, Outcome, command, errors, files, recorded};
use cluster::Cluster;
use scale::MeasuredParts;

/// The number of runs in the experiment.
const RUNS: usize = 200;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12"];
    slurm_loses_nodes_time_and_the_command_and_no_run = killed,
    handing_out_a_run_costs_little = cost,
    a_series_and_a_search_are_what_they_are_on_one_machine = verbs::same_as_here,
    what_cannot_go_on_says_why = stuck,
    the_manifest_of_kubernetes_has_one_pod_for_each_run = kubernetes::manifest,
}

const EXPERIMENT: &str = r#"
title = "Test"
question = "Is it the same on a farm?"
runs = 25
samples = true

[factors.loops.l10]
[factors.loops.l20]
workload.one.loops = 20
workload.two.loops = 20
[factors.loops.l30]
workload.one.loops = 30
workload.two.loops = 30
[factors.loops.l40]
workload.one.loops = 40
workload.two.loops = 40

[workloads.one]
kind = "ping-pong"
loops = 10

[workloads.two]
kind = "ping-pong"
loops = 10
"#;

/// An experiment, and a cache that all nodes share.
struct Place {
    directory: tempfile::TempDir,
    cache: Cache,
}

impl Place {
    fn new() -> Place {
        let place = Place {
            directory: tempfile::tempdir().unwrap(),
            cache: Cache::new(),
        };
        fs::write(place.here().join("test.toml"), EXPERIMENT).unwrap();
        place
    }

    fn here(&self) -> &Path {
        self.directory.path()
    }

    fn assize<S: AsRef<str>>(&self, arguments: &[S]) -> Command {
        let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
        let mut assize = command(self.here(), &arguments);
        assize.env("ASSIZE_CACHE", self.cache.path());
        assize
    }

    fn run(&self, arguments: &[&str]) -> Command {
        self.assize(&[&["run"], arguments].concat())
    }

    fn on_slurm(&self, cluster: &Cluster, arguments: &[&str]) -> Command {
        let mut run = self.run(&[arguments, &["--on", "slurm"]].concat());
        let (name, value) = cluster.variable();
        run.env(name, value);
        run
    }

    fn recorded(&self, bundle: &str) -> usize {
        recorded(&self.here().join(bundle))
    }

    /// Checks that a bundle is, byte for byte, `whole`.
    fn is_whole(&self, bundle: &str) {
        let [whole, found] = ["whole", bundle].map(|name| files(&self.here().join(name)));
        assert!(found.keys().eq(whole.keys()), "the same files");
        let differ = |name: &&PathBuf| found[*name] != whole[*name];
        assert_eq!(
            whole.keys().filter(differ).collect::<Vec<_>>(),
            Vec::<&PathBuf>::new()
        );
        let left = self.here().join(format!("{bundle}.slurm"));
        assert!(!left.exists(), "what jobs printed is removed");
    }
}

fn done(mut command: Command) -> Output {
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    done
}

/// Starts the command and returns it once this many runs are recorded.
fn begun(place: &Place, mut command: Command, runs: usize) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let since = Instant::now();
    while place.recorded("farm") < runs {
        assert!(
            since.elapsed() < Duration::from_secs(300),
            "no run is recorded"
        );
        thread::sleep(Duration::from_millis(50));
    }
    child
}

fn killed() -> Outcome {
    let Some(mut cluster) = Cluster::start() else {
        return Ok(());
    };
    let place = Place::new();
    done(place.run(&["test.toml", "--quiet", "--out", "whole"]));
    // With cached runs, no node would execute anything.
    place.cache.empty();
    let mut command = place.on_slurm(&cluster, &["test.toml", "--jobs", "4", "--out", "farm"]);
    command.env("SBATCH_TIMELIMIT", "1");
    let mut child = begun(&place, command, 20);
    child.kill().unwrap();
    child.wait().unwrap();
    let jobs = cluster.ask("squeue --noheader");
    assert!(!jobs.trim().is_empty(), "jobs do not need the command");
    let mut again = place.on_slurm(&cluster, &["--resume", "farm", "--jobs", "4"]);
    again.env("SBATCH_TIMELIMIT", "1");
    let child = begun(&place, again, 40);
    cluster.kill_node(0);
    cluster.stop_a_job(&[2, 3]);
    cluster.until("a second kill", |_| place.recorded("farm") >= 80);
    cluster.kill_node(1);
    cluster.until("the first node is missed", |cluster| {
        cluster
            .ask("sinfo --noheader --nodes=node0 --format=%t")
            .contains("down")
    });
    cluster.start_node(0);
    let ended = child.wait_with_output().unwrap();
    let said = errors(&ended);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    place.is_whole("farm");
    assert_eq!(place.recorded("farm"), RUNS);
    let limit = cluster.ended("DUE TO TIME LIMIT");
    assert!(limit > 0, "a job ran into its limit: {said}");
    let log = fs::read_to_string(place.here().join("farm/log.jsonl")).unwrap();
    let executed = log.lines().filter(|line| line.contains("\"cached\":false"));
    assert!(executed.count() >= RUNS, "the nodes executed the runs");
    let jobs = [0, 1, 2, 3].map(|node| cluster.jobs_of(node));
    assert!(jobs.iter().all(|jobs| *jobs > 0), "{jobs:?}");
    println!("jobs of each node: {jobs:?}; {limit} ran into the limit");
    Ok(())
}

/// The CPU time of a command and its children, by a shell.
fn cpu(command: &Command) -> Duration {
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$0\" \"$@\" > /dev/null; times"]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.current_dir(command.get_current_dir().unwrap());
    shell.envs(
        command
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let said = String::from_utf8(done(shell).stdout).unwrap();
    // User and system time of the children, as `0m1.234s`.
    let last = said.lines().last().unwrap();
    let seconds = last.split_whitespace().map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
    });
    Duration::from_secs_f64(seconds.sum())
}

/// Measures the cost of distributing runs, all of which are cached.
fn cost() -> Outcome {
    let Some(cluster) = Cluster::start() else {
        return Ok(());
    };
    let place = Place::new();
    done(place.run(&["test.toml", "--quiet", "--out", "whole"]));
    let here = cpu(&place.run(&["test.toml", "--quiet", "--out", "here"]));
    let handed_out = |bundle: &str, each: usize, options: &[&str]| {
        let arguments = [&["test.toml", "--quiet", "--out", bundle], options].concat();
        let before = cluster.cpu();
        let command = cpu(&place.on_slurm(&cluster, &arguments));
        let after = cluster.cpu();
        place.is_whole(bundle);
        let [controller, all] = [after[0] - before[0], after[1] - before[1]];
        let cost = (all + command).saturating_sub(here) / RUNS as u32;
        println!(
            "{each} runs a job: handing out a run costs {cost:?} of CPU; controller \
             {controller:?}, all daemons and jobs {all:?}, command {command:?}, one machine \
             {here:?}"
        );
        (controller, all)
    };
    handed_out("default", 25, &[]);
    handed_out("ten", 10, &["--jobs", "10"]);
    let (controller, all) = handed_out("each", 1, &["--jobs", "100"]);
    let jobs = RUNS as f64;
    let merge = elapsed(&place.assize(&["merge", "whole", "--out", "merged"]));
    let judge = cpu(&place.assize(&["compare", "whole"]));
    let parts = MeasuredParts {
        submission: controller.as_secs_f64() / jobs,
        job: (all - controller).as_secs_f64() / jobs,
        image: image(&place),
        record: merge.as_secs_f64() / jobs,
        judge: judge.as_secs_f64() / jobs,
    };
    println!(
        "{parts:?}\n10,000 runs:\n{}",
        parts.table(1000.0, 10_000.0, 25.0)
    );
    Ok(())
}

fn elapsed(command: &Command) -> Duration {
    let begun = Instant::now();
    cpu(command);
    begun.elapsed()
}

/// The seconds for booting and saving a memory image.
fn image(place: &Place) -> f64 {
    let cache = Cache::new();
    fs::remove_file(cache.path().join("images")).unwrap();
    let first = ["run-one", "whole", "--index", "0", "--out"];
    let [boots, resumes] = ["boots", "resumes"].map(|part| {
        cache.empty();
        let mut run = place.assize(&[&first[..], &[part]].concat());
        run.env("ASSIZE_CACHE", cache.path());
        elapsed(&run).as_secs_f64()
    });
    boots - resumes
}

fn stuck() -> Outcome {
    let Some(cluster) = Cluster::start() else {
        return Ok(());
    };
    let place = Place::new();
    // The nodes lack files of this host.
    let mut run = place.on_slurm(&cluster, &["test.toml", "--runs", "1", "--out", "lacking"]);
    run.env("SBATCH_EXPORT", "ASSIZE_CACHE=/dev/null/none");
    let ended = run.output().unwrap();
    let said = errors(&ended);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("no run was recorded: assize: "), "{said}");
    assert!(said.contains("lacking.slurm"), "{said}");
    // Cancelled while it waits for nodes.
    cluster.ask("scontrol update NodeName=node[0-3] State=DRAIN Reason=test");
    let mut run = place.on_slurm(&cluster, &["test.toml", "--out", "cancelled"]);
    let child = run
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    cluster.until("jobs wait", |cluster| {
        !cluster.ask("squeue --noheader").trim().is_empty()
    });
    cluster.ask("scancel --user=root");
    let ended = child.wait_with_output().unwrap();
    let said = errors(&ended);
    assert_eq!(ended.status.code(), Some(3), "{said}");
    assert!(said.contains("was cancelled"), "{said}");
    // Without Slurm, and on another target.
    let mut run = place.run(&["test.toml", "--on", "slurm", "--out", "none"]);
    let ended = run.env("PATH", "/nowhere").output().unwrap();
    assert_eq!(ended.status.code(), Some(3));
    assert!(errors(&ended).contains("--on slurm: squeue: No such file"));
    let run = place
        .run(&["test.toml", "--on", "slurm", "--target", "host"])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(
        errors(&run).contains("needs the target exact"),
        "{}",
        errors(&run)
    );
    Ok(())
}
