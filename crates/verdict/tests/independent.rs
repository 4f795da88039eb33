//! scipy computes the same figures from runs in blocks.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use assize_bundle::{Configuration, DeclaredTable, Measurement, Records, Run};
use assize_verdict::{Options, TTest, try_records};

/// Twelve blocks of a baseline, the same again and a change, with one run of
/// the change missing; two workloads, one normalised to the other.
fn records() -> Records {
    let mut records = Records {
        tables: vec![DeclaredTable {
            metric: "time".into(),
            workloads: vec!["pipe".into(), "socket".into()],
            normalised_to: Some("pipe".into()),
            ..DeclaredTable::default()
        }],
        ..Records::default()
    };
    for name in ["base", "base/aa", "queue"] {
        records.configurations.push(Configuration {
            name: name.into(),
            label: name.into(),
            repeats: (name == "base/aa").then(|| "base".into()),
            ..Configuration::default()
        });
    }
    let mut order = 0;
    for block in 0..12_u32 {
        for workload in ["pipe", "socket"] {
            for (at, name) in (0..).zip(["base", "base/aa", "queue"]) {
                if name == "queue" && workload == "pipe" && block == 5 {
                    continue;
                }
                let mut run = Run::new(name, workload, block + 1);
                run.order = order;
                run.block = Some(block);
                order += 1;
                let seed = f64::from(block * block % 13 + 5);
                let salt = if workload == "pipe" { 7 } else { 4 };
                let noise = f64::from((block * salt + at * 5) % 11) / 100.0;
                let change = if name == "queue" { 0.95 } else { 1.0 };
                let time = Measurement::new(seed * (1.0 + noise) * change, "s");
                run.metrics.insert("time".into(), time);
                let drift = Measurement::new(seed + noise * 40.0 - 7.0, "");
                run.metrics.insert("offset".into(), drift);
                records.runs.push(run);
            }
        }
    }
    records
}

#[test]
fn scipy_computes_the_same_figures_from_runs_in_blocks() {
    let document = try_records(&records(), &Options::default()).unwrap();
    let tests: Vec<_> = document.comparisons.iter().map(|row| row.t_test).collect();
    assert_eq!(tests, [Some(TTest::Paired); 4]);
    assert_eq!(document.noise_floor.len(), 4);
    assert_eq!(document.tables[0].rows.len(), 3);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracle/independent.py");
    let name = std::env::var_os("ASSIZE_PYTHON").unwrap_or_else(|| "/usr/bin/python3".into());
    let mut child = Command::new(name)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let json = serde_json::to_vec(&document).unwrap();
    child.stdin.take().unwrap().write_all(&json).unwrap();
    let done = child.wait_with_output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(
        done.status.success(),
        "{out}{err}\n(python3-scipy is missing? ./setup.sh installs it)"
    );
}
