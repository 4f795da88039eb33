//! Runs rt-app.

use std::fs;
use std::path::{Path, PathBuf};

use assize_job::{AgentMessage, KeptOutput, Scheduling};

use super::calibration::{self, Calibration};
use super::output;
use super::prepared::{Prepared, WorkloadContext};
use super::scratch::Directory;
use crate::process::{Body, ProcessExit, program};
use crate::records::doubt;
use crate::sys;

/// Prepares rt-app with an input file, in a temporary directory for its logs. If the file
/// gives no calibration, `calibration_ns` does.
pub(super) fn prepare(
    file: &str,
    calibration_ns: Option<u64>,
    context: &WorkloadContext<'_>,
) -> Result<Prepared, String> {
    let in_file = || sys::failure_of(format!("rt_app: {file}"));
    let path = fs::canonicalize(file).map_err(in_file())?;
    let text = fs::read(&path).map_err(in_file())?;
    let text = String::from_utf8_lossy(&text);
    let directory = Directory::new().map_err(sys::failure_of("directory for logs"))?;
    // If the file is not an object, rt-app rejects it.
    let found = calibration::find(&text).unwrap_or(Calibration::Given);
    let path = match (calibration_ns, &found) {
        (None, _) | (_, Calibration::Given) => path,
        (Some(ns), found) => {
            let own = directory.path().join("calibrated.json");
            fs::write(&own, calibration::with_calibration(&text, found, ns))
                .map_err(sys::failure_of("calibrated file"))?;
            own
        }
    };
    let doubt = (calibration_ns.is_none() && found != Calibration::Given && sys::cpus() > 1)
        .then(|| doubt_calibration(context.name));
    let argv = ["rt-app".into(), path.to_string_lossy().into_owned()];
    let mut exec = program(&argv, context.job.seed)?;
    exec.directory = Some(directory.path().to_string_lossy().into_owned());
    let name = context.name.to_string();
    Ok(Prepared {
        body: Body::Exec(exec),
        scheduling: Scheduling::default(),
        statuses: vec![0],
        read: Box::new(move |left, _| {
            let mut records = read(&name, directory.path(), left);
            records.extend(doubt);
            records
        }),
    })
}

/// A doubt: rt-app calibrates itself again in each run, on one CPU, while other things
/// run.
fn doubt_calibration(name: &str) -> AgentMessage {
    doubt(
        "rt-app-uncalibrated",
        format!(
            "{name}: rt-app calibrated its loop again in each run, on one of several CPUs; give \
             `calibration` in nanoseconds, here or in its file"
        ),
    )
}

fn read(name: &str, directory: &Path, left: &ProcessExit) -> Vec<AgentMessage> {
    let mut records = output::output_records(name, KeptOutput::Head, left);
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut logs: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "log"))
        .collect();
    logs.sort();
    for log in &logs {
        let file = log
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = fs::read(log).unwrap_or_default();
        records.extend(output::text_records(&file, &String::from_utf8_lossy(&text)));
    }
    if logs.is_empty() {
        records.push(doubt(
            "no-logs",
            format!("{name}: rt-app left no logs; its file must not set `logdir`"),
        ));
    }
    records
}
