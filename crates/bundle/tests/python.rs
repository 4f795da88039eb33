//! pandas, DuckDB and polars can read a bundle directly.
//!
//! No version in Debian 12 reads Parquet, so they are searched for in
//! `target/setup/python-venv` (or in `ASSIZE_DATA_PYTHON`); if one is missing,
//! its test is skipped and counted.

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{head, recorded};
use assize_bundle::Writer;
use serde_json::{Value, json};

type Outcome = Result<(), Box<dyn Error>>;

const RUNS: u32 = 4;

#[test]
fn pandas_reads_the_samples_as_they_are() -> Outcome {
    reads("pandas", "import pandas, pyarrow")
}

#[test]
fn duckdb_reads_the_samples_as_they_are() -> Outcome {
    reads("duckdb", "import duckdb")
}

#[test]
fn polars_reads_the_samples_as_they_are() -> Outcome {
    reads("polars", "import polars")
}

fn python() -> PathBuf {
    std::env::var_os("ASSIZE_DATA_PYTHON").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/setup/python-venv/bin/python3"),
        PathBuf::from,
    )
}

fn reads(name: &str, import: &str) -> Outcome {
    let there = Command::new(python()).args(["-c", import]).output();
    if !there.is_ok_and(|done| done.status.success()) {
        let python = python();
        let python = python.display();
        // The harness would capture the output of `eprintln`.
        writeln!(
            std::io::stderr(),
            "skipped: {python} lacks what `{import}` needs; ./setup.sh full"
        )?;
        return Ok(());
    }
    let place = tempfile::tempdir()?;
    let writer = Writer::create(place.path(), &head(RUNS))?;
    let mut sums = [0.0; 2];
    for index in 0..RUNS {
        let mut run = recorded(index);
        let mut second = run.samples[0].clone();
        second.metric = "jitter µs".into();
        second.values.truncate(10);
        second.t_ns.truncate(10);
        run.samples.push(second);
        for (sum, samples) in sums.iter_mut().zip(&run.samples) {
            *sum += samples.values.iter().sum::<f64>();
        }
        writer.put(&run)?;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_samples.py");
    let done = Command::new(python())
        .arg(script)
        .arg(name)
        .arg(place.path())
        .output()?;
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{error}");
    let seen: Value = serde_json::from_slice(&done.stdout)?;
    assert_eq!(
        seen,
        json!({
            "columns": ["metric", "t_ns", "value"],
            "rows": 110 * RUNS,
            "metrics": {
                "latency": [100 * RUNS, 0, sums[0]],
                "jitter µs": [10 * RUNS, 0, sums[1]],
            },
        })
    );
    Ok(())
}
