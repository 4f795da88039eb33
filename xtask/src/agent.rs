//! The agent: a static binary that is built separately from everything else.

use std::env;
use std::fs;
use std::path::PathBuf;

use crate::Error;
use crate::command::{command, run as run_command};
use crate::steps::Done;
use crate::tree;

/// Maximum size in bytes: a larger agent would slow down every boot.
const LARGEST: u64 = 5_000_000;
const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// `cargo xtask agent`: runs `make agent` and checks the result.
pub fn run(_: &[String]) -> Result<(), Error> {
    run_command(command("make", &["--no-print-directory", "agent"])?)?;
    let path = path()?;
    let agent = fs::read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    for place in [cargo_home()?.join("registry"), tree::root()?.join("crates")] {
        let place = place.as_os_str().as_encoded_bytes();
        if agent.windows(place.len()).any(|part| part == place) {
            let place = String::from_utf8_lossy(place);
            return Err(format!(
                "{}: holds {place}, a path of this host",
                path.display()
            ));
        }
    }
    let size = agent.len() as u64;
    if size > LARGEST {
        return Err(format!(
            "{}: {size} bytes, more than {LARGEST}",
            path.display()
        ));
    }
    println!("{}: {size} bytes", path.display());
    Ok(())
}

/// The directory where cargo keeps the sources of crates.
fn cargo_home() -> Result<PathBuf, Error> {
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let named = env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(home).ok_or_else(|| "HOME is not set".into())
}

/// The step of `check`.
pub(crate) fn step() -> Result<Done, Error> {
    run(&[])?;
    Ok(Done::Ok)
}

/// The path of the agent once it is built.
pub fn path() -> Result<PathBuf, Error> {
    Ok(tree::target()?
        .join(TRIPLE)
        .join("agent")
        .join("assize-agent"))
}
