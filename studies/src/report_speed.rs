//! Measures the time and memory for reporting a large bundle.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::speed::{PAGE, asks_to_write};
use xtask::command::{cargo, command, run as run_command};
use xtask::{Error, assize, files, marks, tree};

const RUNS: u32 = 100;
const SAMPLES: u32 = 100_000;
/// Number of measurements of each format, in turn, so that all see the same host.
const ROUNDS: usize = 5;
const FORMATS: [&str; 3] = ["text", "json", "html"];
/// Goals for the page of a large bundle.
const SECONDS: f64 = 5.0;
const MEGABYTES: f64 = 500.0;

/// `cargo studies report-speed [--write]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let write = asks_to_write(arguments)?;
    let lab = Lab::ready()?;
    let mut rows: Vec<Row> = FORMATS.iter().map(|format| Row::new(format)).collect();
    for _ in 0..ROUNDS {
        for row in &mut rows {
            lab.measure(row)?;
        }
    }
    let section = section(&mut rows, lab.size()?);
    println!("{section}");
    if write {
        marks::write(PAGE, "made: report-speed", &section)?;
    }
    let page = rows.iter().find(|row| row.format == "html");
    match page {
        Some(row) if row.slowest() > SECONDS || row.peak_mb > MEGABYTES => Err(format!(
            "the page took {:.2} s and {:.0} MB; its limit is {SECONDS} s and {MEGABYTES} MB",
            row.slowest(),
            row.peak_mb
        )),
        _ => Ok(()),
    }
}

/// The measurements of one format.
struct Row {
    format: &'static str,
    seconds: Vec<f64>,
    peak_mb: f64,
    bytes: u64,
}

impl Row {
    fn new(format: &'static str) -> Row {
        Row {
            format,
            seconds: Vec::new(),
            peak_mb: 0.0,
            bytes: 0,
        }
    }

    fn slowest(&self) -> f64 {
        self.seconds.iter().copied().fold(0.0, f64::max)
    }
}

struct Lab {
    assize: PathBuf,
    directory: PathBuf,
}

impl Lab {
    fn ready() -> Result<Lab, Error> {
        let assize = assize::build()?;
        let example = ["build", "--quiet", "--locked", "--example", "make-bundle"];
        run_command(command(cargo(), &example)?)?;
        let target = tree::target()?;
        let directory = files::scratch("report-speed")?;
        let lab = Lab { assize, directory };
        let mut make = command(target.join("debug/examples/make-bundle"), &[])?;
        make.arg(lab.bundle())
            .args([RUNS.to_string(), SAMPLES.to_string()]);
        run_command(make)?;
        Ok(lab)
    }

    fn bundle(&self) -> PathBuf {
        self.directory.join("bundle")
    }

    fn measure(&self, row: &mut Row) -> Result<(), Error> {
        let out = self.directory.join(row.format);
        let mut report = Command::new(&self.assize);
        report
            .args(["report", "--format", row.format, "--output"])
            .arg(&out)
            .arg(self.bundle());
        let (seconds, peak_mb) = timed(report)?;
        row.seconds.push(seconds);
        row.peak_mb = row.peak_mb.max(peak_mb);
        let size = fs::metadata(&out).map_err(files::fault(&out))?;
        row.bytes = size.len();
        Ok(())
    }

    /// Bytes of the bundle.
    fn size(&self) -> Result<u64, Error> {
        let files = files::below(&self.bundle())?;
        let size = |path: &PathBuf| fs::metadata(path).map(|about| about.len());
        files
            .iter()
            .map(|path| size(path).map_err(files::fault(path)))
            .sum()
    }
}

/// Runs a command; returns the seconds and the peak memory in megabytes, as last reported by the
/// kernel before the end (polled every millisecond).
fn timed(mut command: Command) -> Result<(f64, f64), Error> {
    let shown = format!("{command:?}");
    let fault = |why: std::io::Error| format!("{shown}: {why}");
    let begun = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(fault)?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = 0.0;
    let status = loop {
        peak = peak_mb(&status_file).unwrap_or(peak);
        if let Some(status) = child.try_wait().map_err(fault)? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let seconds = begun.elapsed().as_secs_f64();
    if status.success() {
        Ok((seconds, peak))
    } else {
        Err(format!("{shown}: {status}"))
    }
}

fn peak_mb(status: &str) -> Option<f64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

fn section(rows: &mut [Row], bundle: u64) -> String {
    let mut table = String::new();
    for row in rows {
        row.seconds.sort_by(f64::total_cmp);
        let (Some(least), Some(most)) = (row.seconds.first(), row.seconds.last()) else {
            continue;
        };
        let middle = row.seconds.get(row.seconds.len() / 2).unwrap_or(least);
        table += &format!(
            "| `{}` | {middle:.2} | {least:.2} to {most:.2} | {} | {:.0} | {:.2} |\n",
            row.format,
            row.seconds.len(),
            row.peak_mb,
            row.bytes as f64 / 1e6
        );
    }
    format!(
        "\n## Reports\n\n\
         Made by `cargo studies report-speed --write`: `assize report BUNDLE --format F`\n\
         of a bundle of {RUNS} runs with {SAMPLES} samples each, {:.0} MB on disk, on\n\
         {} CPUs. The limit for the page (`html`) is {SECONDS} s and {MEGABYTES} MB.\n\n\
         | format | median s | range | n | MB of memory at most | MB written |\n\
         | --- | ---: | --- | ---: | ---: | ---: |\n{table}",
        bundle as f64 / 1e6,
        std::thread::available_parallelism().map_or(0, usize::from),
    )
}
