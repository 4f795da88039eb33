//! The real rt-app.

use std::fs;
use std::path::{Path, PathBuf};

use assize_job::{Record, Scheduling};

use super::scratch::Directory;
use super::{Prepared, output, program};
use crate::process::{Body, Left};
use crate::sys;

/// Has rt-app run a file in a directory of its own, where it leaves its logs
/// unless the file says otherwise.
pub(super) fn prepare(name: &str, file: &str, seed: u64) -> Result<Prepared, String> {
    let failed = |what: &str, error: &std::io::Error| format!("{what}: {}", sys::words(error));
    let path =
        fs::canonicalize(file).map_err(|error| failed(&format!("rt_app: {file}"), &error))?;
    let mut exec = program(
        &["rt-app".into(), path.to_string_lossy().into_owned()],
        seed,
    )?;
    let directory = Directory::new().map_err(|error| failed("directory for logs", &error))?;
    exec.directory = Some(directory.path().to_string_lossy().into_owned());
    let name = name.to_string();
    Ok(Prepared {
        body: Body::Exec(exec),
        scheduling: Scheduling::default(),
        statuses: vec![0],
        read: Box::new(move |left, _| read(&name, directory.path(), left)),
    })
}

fn read(name: &str, directory: &Path, left: &Left) -> Vec<Record> {
    let mut records = output::raw(name, left);
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
        records.extend(output::keep(file, &String::from_utf8_lossy(&text)));
    }
    if logs.is_empty() {
        records.push(Record::Doubt {
            code: "no-logs".into(),
            detail: format!("{name}: rt-app left no logs; its file must not set `logdir`"),
        });
    }
    records
}
