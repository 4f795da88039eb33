//! Measures the speed of exact runs: an empty workload on the exact machine, booted and from a
//! memory image, and on virtme-ng with the same kernel and command; also the cost of a run of the
//! tour, of the whole tour, and of idle time.

mod cost;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use xtask::command::output;
use xtask::{Error, agent, assize, files, marks, tree};

/// Number of measurements of each kind, in turn, so that all see the same host.
const ROUNDS: usize = 5;
pub(crate) const PAGE: &str = "docs/speed.md";

const EXPERIMENT: &str = r#"title = "Nothing"
question = "How long does a run take that does nothing?"
runs = 30
[workloads.nothing]
kind = "command"
argv = ["true"]
"#;

/// `cargo studies speed [--write]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let write = asks_to_write(arguments)?;
    let lab = Lab::ready()?;
    let mut cold = Vec::new();
    let mut image = Vec::new();
    let mut virtme = Vec::new();
    // The first run creates the memory image.
    lab.assize("once", &["--runs", "1", "--fresh"])?;
    for round in 0..ROUNDS {
        let name = format!("cold{round}");
        cold.push(lab.assize(&name, &["--runs", "1", "--cold"])?.1[0]);
        let name = format!("image{round}");
        image.push(lab.assize(&name, &["--runs", "1", "--fresh"])?.1[0]);
        if let Some(seconds) = lab.virtme()? {
            virtme.push(seconds);
        }
    }
    let (thirty, each) = lab.assize("thirty", &["--fresh", "--jobs", "2"])?;
    let (again, _) = lab.assize("again", &["--jobs", "2"])?;
    let mut page = page(
        &lab,
        &mut cold,
        &mut image,
        &mut virtme,
        thirty,
        each,
        again,
    )?;
    page.push_str(&cost::section(&lab)?);
    println!("{page}");
    if write {
        marks::write(PAGE, "made: speed", &page)?;
    }
    Ok(())
}

/// Whether `--write` is given, the only option of these measurements.
pub(crate) fn asks_to_write(arguments: &[String]) -> Result<bool, Error> {
    match arguments {
        [] => Ok(false),
        [word] if word == "--write" => Ok(true),
        _ => Err("only --write is known".into()),
    }
}

struct Lab {
    assize: PathBuf,
    directory: PathBuf,
    /// Debian's version of the kernel package.
    version: String,
    /// The kernel's image, in the layout that virtme-ng needs.
    kernel: PathBuf,
    vng: Option<PathBuf>,
}

impl Lab {
    fn ready() -> Result<Lab, Error> {
        agent::run(&[])?;
        let assize = assize::build()?;
        let target = tree::target()?;
        let directory = files::scratch("speed")?;
        files::write(&directory.join("nothing.toml"), EXPERIMENT)?;
        let vng = target.join("setup/virtme-ng/bin/vng");
        let stored = kernel()?;
        let vng = vng.exists().then_some(vng);
        let kernel = match &vng {
            Some(_) => tree_for_virtme(&stored, &directory)?,
            None => stored.clone(),
        };
        Ok(Lab {
            assize,
            version: version(&stored),
            kernel,
            directory,
            vng,
        })
    }

    /// Runs the experiment; returns the total seconds, and the seconds of each run.
    fn assize(&self, name: &str, arguments: &[&str]) -> Result<(f64, Vec<f64>), Error> {
        self.carry_out(&self.directory.join("nothing.toml"), name, arguments)
    }

    /// Runs an experiment; returns the total seconds, and the seconds of each run.
    fn carry_out(
        &self,
        experiment: &Path,
        name: &str,
        arguments: &[&str],
    ) -> Result<(f64, Vec<f64>), Error> {
        let out = self.directory.join(name);
        let begun = Instant::now();
        let mut run = Command::new(&self.assize);
        run.args(["run", "--quiet", "--out"])
            .arg(&out)
            .args(arguments)
            .arg(experiment)
            .env("ASSIZE_AGENT", agent::path()?);
        quietly(run)?;
        let all = begun.elapsed().as_secs_f64();
        Ok((all, walls(&out.join("log.jsonl"))?))
    }

    /// Runs the same command with the same kernel in virtme-ng, also without KVM.
    fn virtme(&self) -> Result<Option<f64>, Error> {
        let Some(vng) = &self.vng else {
            return Ok(None);
        };
        let begun = Instant::now();
        let beside = vng.parent().unwrap_or(Path::new("/")).display();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut run = Command::new(vng);
        // virtme-ng starts another program of its package by name.
        run.env("PATH", format!("{beside}:{path}"))
            .args(["--disable-kvm", "--cpus", "1", "--memory", "256M", "-r"])
            .arg(&self.kernel)
            .args(["--", "true"]);
        quietly(run)?;
        Ok(Some(begun.elapsed().as_secs_f64()))
    }
}

fn kernel() -> Result<PathBuf, Error> {
    let text = output(&assize::path()?.display().to_string(), &["doctor"])?;
    let line = text
        .lines()
        .find(|line| line.split_whitespace().nth(2) == Some("debian:6.12"));
    line.and_then(|line| line.split(" in ").nth(1))
        .map(PathBuf::from)
        .ok_or_else(|| "debian:6.12 is not there; run `cargo xtask lab`".into())
}

/// Links `boot/` and `lib/modules/` into one directory, with depmod's indices, as virtme-ng needs
/// them.
fn tree_for_virtme(image: &Path, directory: &Path) -> Result<PathBuf, Error> {
    let root = directory.join("kernel");
    let stored = image.parent().unwrap_or(Path::new("/")).join("lib/modules");
    let stored = files::entries(&stored)?;
    let stored = stored.first().ok_or("the kernel has no modules")?;
    let release = stored.file_name().unwrap_or_default().to_string_lossy();
    files::create(&root.join("lib/modules"))?;
    let there = root.join("boot").join(format!("vmlinuz-{release}"));
    files::copy(image, &there)?;
    let mut copy = Command::new("cp");
    copy.arg("-a").arg(stored).arg(root.join("lib/modules"));
    quietly(copy)?;
    let mut depmod = Command::new("/sbin/depmod");
    depmod.arg("-b").arg(&root).arg(&*release);
    quietly(depmod)?;
    Ok(there)
}

fn version(image: &Path) -> String {
    let path = image.display().to_string();
    path.rsplit('/').nth(1).unwrap_or("?").to_string()
}

fn quietly(mut command: Command) -> Result<(), Error> {
    let shown = format!("{command:?}");
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|why| format!("{shown}: {why}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{shown}: {status}"))
    }
}

/// The seconds of each run, from the log of a bundle.
fn walls(log: &Path) -> Result<Vec<f64>, Error> {
    let text = files::read(log)?;
    let walls: Vec<f64> = text
        .lines()
        .filter_map(|line| line.split("\"wall_s\":").nth(1)?.split([',', '}']).next())
        .filter_map(|number| number.parse().ok())
        .collect();
    if walls.is_empty() {
        return Err(format!("{}: no run in it", log.display()));
    }
    Ok(walls)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

fn page(
    lab: &Lab,
    cold: &mut [f64],
    image: &mut [f64],
    virtme: &mut [f64],
    thirty: f64,
    mut each: Vec<f64>,
    again: f64,
) -> Result<String, Error> {
    let row = |what: &str, values: &mut [f64]| {
        if values.is_empty() {
            return format!("| {what} | not installed | | |\n");
        }
        let middle = median(values);
        format!(
            "| {what} | {middle:.2} | {:.2} to {:.2} | {} |\n",
            values[0],
            values[values.len() - 1],
            values.len()
        )
    };
    let qemu = output(&lab.assize.display().to_string(), &["doctor"])?;
    let qemu = qemu
        .lines()
        .find(|line| line.split_whitespace().nth(1) == Some("QEMU"))
        .and_then(|line| line.split_whitespace().nth(2))
        .unwrap_or("?")
        .to_string();
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1))
        .unwrap_or("unknown CPU")
        .to_string();
    let kernel = &lab.version;
    Ok(format!(
        "\nMade by `cargo studies speed --write`. The workload is `true`; the kernel is\n\
         debian:6.12 ({kernel}), the same image in all rows, on one CPU of the guest\n\
         and without KVM. The host: {} CPUs, {cpu}. The first three rows were\n\
         measured in turn, {ROUNDS} times each.\n\n\
         | wall seconds | median | range | n |\n| --- | ---: | --- | ---: |\n\
         {}{}{}{}\n\
         | in total | seconds |\n| --- | ---: |\n\
         | 30 runs with `--jobs 2`, nothing from the cache | {thirty:.2} |\n\
         | the same again, all from the cache | {again:.2} |\n\n\
         assize used QEMU {qemu}; virtme-ng uses the QEMU in PATH. Before\n\
         the workload starts, virtme-ng also starts udev and mounts the file system of the\n\
         host; this time is included.\n",
        std::thread::available_parallelism().map_or(0, usize::from),
        row("assize, from a memory image", image),
        row("assize, `--cold`: booted for the run", cold),
        row("virtme-ng, `vng --disable-kvm`", virtme),
        row("each of 30 runs with `--jobs 2`", &mut each),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_mark_for_each_measurement() {
        let page = xtask::tree::read(PAGE).unwrap().unwrap();
        for name in ["speed", "first-hour", "report-speed"] {
            assert!(marks::put(&page, &format!("made: {name}"), "").is_ok());
        }
    }
}
