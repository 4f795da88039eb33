//! The directory of criterion.rs: `target/criterion`.
//!
//! Each benchmark has a directory for every baseline (`new` for the last run), with
//! `sample.json`: how many iterations each sample had and how many nanoseconds it took.
//! `benchmark.json` has its name. The samples are of one process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::common::{Context, better, json, numbers, of_one_process, samples};
use crate::declared::error::{Error, Fault};
use crate::declared::input::Stands;
use crate::declared::metric::Better;
use crate::declared::sheet::{Of, Sheet};

/// Deepest directory that is searched.
const DEEPEST: usize = 6;

/// A benchmark: its name, and its baselines with their directories.
type Benchmarks = BTreeMap<String, BTreeMap<String, PathBuf>>;

/// Reads a directory; returns false if it is not one of criterion's.
pub(super) fn read(
    path: &Path,
    source: &str,
    stands: Stands,
    context: &Context<'_>,
    sheet: &mut Sheet,
) -> Result<bool, Error> {
    let io = |error: std::io::Error| Error::io(source, error);
    let mut found = Benchmarks::new();
    look(path, path, DEEPEST, &mut found).map_err(io)?;
    if found.is_empty() {
        return Ok(false);
    }
    for (name, baselines) in &found {
        for (baseline, directory) in baselines {
            let saved = !matches!(baseline.as_str(), "new" | "base");
            let configuration = match stands {
                Stands::Alone if saved => baseline.as_str(),
                Stands::AsConfiguration if baseline == "new" => context.configuration,
                _ => continue,
            };
            let of = Of {
                configuration,
                workload: name,
                ..Of::default()
            };
            let file = directory.join("sample.json").display().to_string();
            add(directory, of, sheet).map_err(|fault| Error::whole(&file, fault))?;
        }
    }
    if sheet.configurations() < 2 && stands == Stands::Alone {
        let text = "holds fewer than two saved baselines; make them with cargo bench -- \
                    --save-baseline before (and after), or give two directories: assize audit \
                    base=DIR patched=DIR";
        return Err(Error::whole(source, text.to_owned()));
    }
    of_one_process(sheet, "samples of criterion");
    Ok(true)
}

/// Finds the directories with samples.
fn look(top: &Path, path: &Path, depth: usize, found: &mut Benchmarks) -> std::io::Result<()> {
    if path.join("sample.json").is_file() {
        let baseline = path.file_name().unwrap_or_default();
        let above = path.parent().unwrap_or(path);
        let named = fs::read_to_string(path.join("benchmark.json"));
        let named = named
            .ok()
            .and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let id = named.and_then(|value| Some(value.get("full_id")?.as_str()?.to_owned()));
        let within = above.strip_prefix(top).unwrap_or(above);
        let name = id.unwrap_or_else(|| within.display().to_string());
        let baselines = found.entry(name).or_default();
        baselines.insert(baseline.to_string_lossy().into_owned(), path.to_path_buf());
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            look(top, &entry.path(), depth - 1, found)?;
        }
    }
    Ok(())
}

fn add(directory: &Path, of: Of<'_>, sheet: &mut Sheet) -> Result<(), Fault> {
    let file = directory.join("sample.json");
    let text = fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}"))?;
    let value = json(&text, "sample.json of criterion")?;
    let (iterations, times) = (
        numbers(&value, "iters", "the sample")?,
        numbers(&value, "times", "the sample")?,
    );
    if iterations.len() != times.len() || iterations.iter().any(|n| *n < 1.0) {
        return Err("has not as many times as iterations; run the benchmark again".to_owned());
    }
    let each: Vec<f64> = times.iter().zip(&iterations).map(|(t, n)| t / n).collect();
    samples(sheet, of, "time", "ns", &each);
    better(sheet, "time", Better::Lower);
    Ok(())
}
