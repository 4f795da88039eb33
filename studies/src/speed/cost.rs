//! The cost of runs: the CPU time of everything that `assize run` starts.

use super::Lab;
use xtask::cpu_time::of_children;
use xtask::{Error, files, tree};

/// Number of runs of `sync`, apart from the first, which creates the image.
const RUNS: u32 = 10;
/// Seconds of idle time in the short and in the long run.
const IDLE: (u32, u32) = (1, 41);
const CPUS: [u32; 3] = [1, 2, 4];

const SYNC: &str = r#"title = "A run of sync"
question = "What does a run of sync cost?"
instruments = ["timer-list", "perf-software"]
images = 1
[factors.queue.depq]
queue.design = "depq"
[workloads.sync]
kind = "sync"
submissions = 500
"#;

/// The section of the page.
pub(super) fn section(lab: &Lab) -> Result<String, Error> {
    let sync = sync(lab)?;
    let tour = tree::root()?.join("experiments/tour/dep-queue.toml");
    // Creates the images, whose cost does not count.
    lab.carry_out(&tour, "tour-images", &["--fresh"])?;
    let (tour, _) = lab.carry_out(&tour, "tour", &["--fresh"])?;
    let mut idle = Vec::new();
    for cpus in CPUS {
        idle.push(idle_second(lab, cpus)?);
    }
    let mut rows = String::new();
    for (cpus, seconds) in CPUS.iter().zip(&idle) {
        let ratio = seconds / idle[0];
        rows.push_str(&format!("| {cpus} | {seconds:.4} | {ratio:.2} |\n"));
    }
    Ok(format!(
        "\n## What runs cost\n\n\
         Seconds of CPU time are those of assize, QEMU and all else that a run starts; nothing\n\
         comes from the cache of answers, and images are there.\n\n\
         | | seconds |\n| --- | ---: |\n\
         | a run of `sync`, 500 jobs on `depq`, CPU time, mean of {RUNS} | {sync:.2} |\n\
         | the 100 runs of `experiments/tour/dep-queue.toml`, from start to end | {tour:.1} |\n\n\
         An idle second of the guest (a command that sleeps {} s less one that sleeps {} s):\n\n\
         | CPUs | seconds of CPU time | to one CPU |\n| ---: | ---: | ---: |\n{rows}",
        IDLE.1, IDLE.0
    ))
}

/// CPU seconds per run of `sync`: the additional cost of more runs divided by their number.
fn sync(lab: &Lab) -> Result<f64, Error> {
    let file = write(lab, "sync.toml", SYNC)?;
    lab.carry_out(&file, "sync-image", &["--runs", "1"])?;
    let one = cost(|| lab.carry_out(&file, "sync-1", &["--fresh", "--runs", "1"]))?;
    let all = (RUNS + 1).to_string();
    let more = cost(|| lab.carry_out(&file, "sync-more", &["--fresh", "--runs", &all]))?;
    Ok((more - one) / f64::from(RUNS))
}

/// CPU seconds per second in which all CPUs of the guest are idle.
fn idle_second(lab: &Lab, cpus: u32) -> Result<f64, Error> {
    let mut costs = Vec::new();
    for seconds in [IDLE.0, IDLE.1] {
        let text = format!(
            "title = \"Idle\"\nquestion = \"What does idle time cost?\"\nimages = 1\nruns = 4\n\
             [workloads.idle]\nkind = \"command\"\nargv = [\"sleep\", \"{seconds}\"]\n"
        );
        let file = write(lab, &format!("idle-{seconds}.toml"), &text)?;
        let cpus_text = cpus.to_string();
        let with = |name: &str| -> Result<(), Error> {
            let name = format!("{name}-{cpus}-{seconds}");
            lab.carry_out(&file, &name, &["--fresh", "--cpus", &cpus_text])
                .map(drop)
        };
        with("idle-image")?;
        costs.push(cost(|| with("idle"))?);
    }
    Ok((costs[1] - costs[0]) / f64::from(4 * (IDLE.1 - IDLE.0)))
}

fn write(lab: &Lab, name: &str, text: &str) -> Result<std::path::PathBuf, Error> {
    let path = lab.directory.join(name);
    files::write(&path, text)?;
    Ok(path)
}

/// The CPU seconds of the processes that `what` starts and reaps.
fn cost<T>(what: impl FnOnce() -> Result<T, Error>) -> Result<f64, Error> {
    let before = of_children()?;
    what()?;
    Ok(of_children()? - before)
}
