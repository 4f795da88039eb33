//! `assize index`: a page listing all bundles below a directory.

use std::fs;
use std::path::{Path, PathBuf};

use assize_report::html::{BundleLibrary, LibraryRow, library};

use crate::cli::IndexArguments;
use crate::failure::Failure;
use crate::page::{PageInputs, RecordsOrigin};
use crate::terms::JudgingTerms;
use crate::{output, resolutions};

/// The file that makes a directory a bundle.
const BUNDLE: &str = "bundle.json";
/// The default name of the page.
const PAGE: &str = "index.html";

/// Judges all bundles below a directory and writes a page that lists them.
pub(crate) fn index(arguments: &IndexArguments) -> Result<u8, Failure> {
    let directory = &arguments.directory;
    let mut paths = Vec::new();
    bundles(directory, &mut paths)?;
    if paths.is_empty() {
        return Err(Failure::NothingFound {
            place: directory.display().to_string(),
            because: format!("no directory below it holds a {BUNDLE}; name another directory"),
        });
    }
    let mut rows: Vec<LibraryRow> = paths
        .iter()
        .map(|path| row(directory, path, arguments))
        .collect();
    // Newest first; the bundles of one day stay sorted by path.
    rows.sort_by(|a, b| b.date.cmp(&a.date));
    let page = library(&BundleLibrary {
        source: directory.display().to_string(),
        rows,
    });
    let page = page.map_err(|error| Failure::Show(error.to_string()))?;
    let path = match &arguments.output {
        Some(path) => path.clone(),
        None => directory.join(PAGE),
    };
    output::deliver(page.as_bytes(), Some(&path))?;
    Ok(0)
}

/// The bundles below a directory, sorted by path. Links are not followed, as they could form a
/// cycle.
pub(crate) fn bundles(directory: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |source| Failure::Read {
        path: directory.to_path_buf(),
        source,
    };
    if directory.join(BUNDLE).is_file() {
        found.push(directory.to_path_buf());
        return Ok(());
    }
    let mut inside = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            inside.push(entry.path());
        }
    }
    inside.sort();
    for path in inside {
        bundles(&path, found)?;
    }
    Ok(())
}

/// The row of one bundle, or the reason why it cannot be judged.
fn row(directory: &Path, path: &Path, arguments: &IndexArguments) -> LibraryRow {
    let shown = path.strip_prefix(directory).unwrap_or(path);
    let mut row = LibraryRow {
        path: shown.display().to_string(),
        date: date(path),
        ..LibraryRow::default()
    };
    if row.path.is_empty() {
        row.path = directory.display().to_string();
    }
    if let Err(failure) = fill(&mut row, path, arguments) {
        row.problem = Some(failure.to_string());
    }
    row
}

fn fill(row: &mut LibraryRow, path: &Path, arguments: &IndexArguments) -> Result<(), Failure> {
    if let Ok(head) = assize_bundle::read_plan(path) {
        row.title = head.title;
        row.question = head.question;
        let kernels = head.facts.iter();
        row.kernels = kernels
            .filter_map(|(name, value)| match name.strip_prefix("kernel ") {
                Some(kernel) => Some(format!("{kernel} {value}")),
                None => (name == "host_kernel" && head.target == "host").then(|| value.clone()),
            })
            .collect();
    }
    let mut records = assize_bundle::read(path)?;
    resolutions::declare(path, &mut records)?;
    let names = records.configurations.iter();
    row.configurations = names.map(|one| one.name.clone()).collect();
    row.runs = records.runs.len();
    let terms = JudgingTerms::of_bundle(path)?;
    let material = PageInputs {
        records: &records,
        trial: &arguments.trial,
        terms: &terms,
        from: RecordsOrigin::Bundle(path),
    };
    let document = output::judge(&records, &arguments.trial, &terms)?;
    row.answer(&document, &output::words(&[&document], &material)?);
    Ok(())
}

/// The day on which the last run ended, in UTC; empty if there is no log of it.
fn date(bundle: &Path) -> String {
    last_run_ended(bundle).map(day).unwrap_or_default()
}

/// When the last run ended, in seconds since 1970; `None` if there is no log of it.
pub(crate) fn last_run_ended(bundle: &Path) -> Option<f64> {
    let text = fs::read_to_string(bundle.join("log.jsonl")).unwrap_or_default();
    let ended = text.lines().filter_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).ok()?;
        line.get("ended_unix_s")?.as_f64()
    });
    let last = ended.fold(0.0, f64::max);
    (last > 0.0).then_some(last)
}

/// The day in the Gregorian calendar (H. Hinnant, "chrono-compatible low-level date
/// algorithms", `civil_from_days`).
pub(crate) fn day(unix_s: f64) -> String {
    let days = (unix_s / 86_400.0).floor() as i64 + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        // date -u -d @N +%F
        for (unix_s, expected) in [
            (0.0, "1970-01-01"),
            (951_782_399.9, "2000-02-28"),
            (951_782_400.0, "2000-02-29"),
            (951_868_800.0, "2000-03-01"),
            (1_767_225_599.0, "2025-12-31"),
            (1_767_225_600.0, "2026-01-01"),
        ] {
            assert_eq!(day(unix_s), expected, "{unix_s}");
        }
    }
}
