//! Measures how much of the variation between exact runs comes from images and how much from seeds.

use std::fmt::Write as _;
use std::path::Path;

use assize_judge::variance_components::{Observation, VarianceComponents, fit};
use serde_json::Value;

use xtask::command::{command, run as run_command};
use xtask::{Error, agent, assize, files, tree};

/// Images per experiment.
const IMAGES: u32 = 4;
/// Seeds per image.
const SEEDS: u32 = 3;
/// Experiments, each with the workloads and levels to keep.
const REDUCED: [(&str, &[&str], &[&str]); 2] = [
    ("experiments/tour/dep-queue.toml", &["frames", "sync"], &[]),
    (
        "experiments/run-job-latency.toml",
        &["stream-normal"],
        &["--set", "worker=workqueue,highpri,follow"],
    ),
];
/// The error for a run whose value is 0.
const NO_LOGARITHM: &str = "a value is 0";

/// `cargo studies images`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    if !arguments.is_empty() {
        return Err("takes no arguments".into());
    }
    agent::run(&[])?;
    assize::build()?;
    let place = tree::root()?.join("target/images");
    let mut table = String::from(
        "| experiment | workload | metric | image | image × configuration | seed | rest | 8 images \
         | 1 image, 8 seeds |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (path, workloads, levels) in REDUCED {
        let bundle = carry_out(&place, path, workloads, levels)?;
        rows(&bundle, path, &mut table)?;
    }
    println!("{table}");
    Ok(())
}

/// Runs part of an experiment, and returns its bundle.
fn carry_out(
    place: &Path,
    path: &str,
    workloads: &[&str],
    levels: &[&str],
) -> Result<std::path::PathBuf, Error> {
    let text = files::read(&tree::root()?.join(path))?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let file = place.join(name);
    let bundle = file.with_extension("bundle");
    files::write(&file, reduced(&text, workloads))?;
    files::remove(&bundle)?;
    let (shown, out) = (file.display().to_string(), bundle.display().to_string());
    let assize = assize::path()?;
    let arguments = [&["run", &shown, "--out", &out], levels].concat();
    let mut command = command(assize, &arguments)?;
    command.stdout(std::process::Stdio::null());
    run_command(command)?;
    Ok(bundle)
}

/// Reduces an experiment to these workloads, with several seeds on each image. Drops tables, and
/// the repeated baseline, which has other seeds.
fn reduced(text: &str, workloads: &[&str]) -> String {
    let runs = IMAGES * SEEDS;
    let mut reduced = format!("images = {IMAGES}\nruns = {runs}\n");
    let mut kept = true;
    for line in text.lines() {
        if line.starts_with('[') {
            let workload = line.strip_prefix("[workloads.");
            let workload = workload.and_then(|rest| rest.strip_suffix(']'));
            kept = line != "[[tables]]" && workload.is_none_or(|name| workloads.contains(&name));
        }
        let replaced = ["runs =", "aa ="].iter().any(|key| line.starts_with(key));
        if kept && !replaced {
            reduced.push_str(line);
            reduced.push('\n');
        }
    }
    reduced
}

/// Adds a row for each workload and primary metric.
fn rows(bundle: &Path, path: &str, table: &mut String) -> Result<(), Error> {
    let head = tree::json(&bundle.join("bundle.json"))?["head"].take();
    let texts = |key: &str| -> Vec<String> {
        let all = head[key].as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(String::from).collect()
    };
    let runs = tree::runs(bundle)?;
    for workload in texts("workloads") {
        for metric in texts("primary") {
            let found = observations(&runs, &workload, &metric);
            let shown = match found.and_then(|all| fit(&all).map_err(|why| why.to_string())) {
                Ok(components) => cells(&components),
                Err(why) => format!("{why} | | | | |"),
            };
            let name = path.trim_start_matches("experiments/");
            let _ = writeln!(table, "| {name} | {workload} | `{metric}` | {shown} |");
        }
    }
    Ok(())
}

/// The logarithms of a metric on a workload.
fn observations(runs: &[Value], workload: &str, metric: &str) -> Result<Vec<Observation>, String> {
    let mut names: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for run in runs.iter().filter(|run| run["workload"] == workload) {
        let name = run["configuration"].as_str().unwrap_or_default();
        let at = names.iter().position(|one| *one == name);
        let at = at.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        let number = |key: &str| {
            let number = run[key].as_u64().and_then(|n| u32::try_from(n).ok());
            number.ok_or_else(|| format!("a run has no {key}"))
        };
        let value = run["metrics"][metric]["value"].as_f64();
        let value = value.ok_or("not measured")?;
        if value <= 0.0 {
            return Err(NO_LOGARITHM.into());
        }
        all.push(Observation {
            configuration: u32::try_from(at).unwrap_or(u32::MAX),
            image: number("image")?,
            block: number("block")?,
            value: value.ln(),
        });
    }
    Ok(all)
}

/// Cells of a row: standard deviations in percent of the value, and the standard error of a ratio
/// with one seed on each of eight images, and with eight seeds on a single image.
fn cells(of: &VarianceComponents) -> String {
    let percent = |variance: f64| format!("{:.3} %", 100.0 * variance.sqrt());
    let error = |images, seeds| format!("{:.3} %", 100.0 * of.difference(images, seeds));
    let parts = [of.image, of.image_by_configuration, of.seed, of.rest].map(percent);
    format!(
        "{} | {} | {}",
        parts.join(" | "),
        error(8.0, 1.0),
        error(1.0, 8.0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduced_experiment_keeps_what_it_is_about() {
        let text = "title = \"x\"\nruns = 8\naa = true\n[[tables]]\nmetric = \"m\"\n\
                    [workloads.a]\nkind = \"sync\"\n[workloads.b]\nkind = \"frames\"\n\
                    [background.hogs]\nkind = \"hogs\"\n";
        let wanted = "images = 4\nruns = 12\ntitle = \"x\"\n[workloads.b]\nkind = \"frames\"\n\
                      [background.hogs]\nkind = \"hogs\"\n";
        assert_eq!(reduced(text, &["b"]), wanted);
    }

    #[test]
    fn what_was_planted_in_runs_is_found() {
        let run = |block: u32, configuration: u32| {
            let image = block % 3;
            let value = f64::from(1 + image) * f64::from(1 + configuration);
            serde_json::json!({
                "workload": "w", "configuration": format!("c{configuration}"),
                "image": image, "block": block, "metrics": {"m": {"value": value}},
            })
        };
        let runs: Vec<Value> = (0..6).flat_map(|b| [run(b, 0), run(b, 1)]).collect();
        let found = fit(&observations(&runs, "w", "m").unwrap()).unwrap();
        assert!(found.image > 0.2 && found.rest < 1e-20, "{found:?}");
        assert!(found.seed < 1e-20 && found.image_by_configuration < 1e-20);
        assert!(observations(&runs, "w", "other").is_err());
    }
}
