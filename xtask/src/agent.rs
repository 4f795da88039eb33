//! The agent: one static binary, built apart from everything else.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::Error;
use crate::command::{cargo, command, run as run_command};
use crate::steps::Done;
use crate::tree;

/// Larger than this it would slow every boot down.
const LARGEST: u64 = 5_000_000;
const TRIPLE: &str = "x86_64-unknown-linux-gnu";
/// What cargo calls instead of the linker, which links the agent a second time
/// with its symbols: `assize why` names the agent's functions by them. Nothing
/// else differs, so that code lies where it lies in the agent.
const LINKER: &str = r#"#!/bin/sh
set -e
cc "$@"
for word; do
	shift
	case $word in
	*/assize_agent-*.o | *.rlib | *.a) ;;
	*/assize_agent-*) word=$ASSIZE_AGENT_SYMBOLS agent=yes ;;
	-Wl,--strip-all) word=-Wl,--strip-debug ;;
	esac
	set -- "$@" "$word"
done
[ -z "$agent" ] || cc "$@"
"#;

/// `cargo xtask agent`: builds it and puts it where `assize` looks for it.
pub(crate) fn run(_: &[String]) -> Result<(), Error> {
    let mut build = command(
        cargo(),
        &[
            "build",
            "--locked",
            "--package",
            "assize-agent",
            "--profile",
            "agent",
            // With a target of its own the flag below leaves build scripts
            // and procedural macros alone.
            "--target",
            TRIPLE,
        ],
    )?;
    // The agent is part of what exact figures are a function of, so no path of
    // the host may be in it.
    let flags = [
        "-Ctarget-feature=+crt-static".to_owned(),
        format!("--remap-path-prefix={}=cargo", cargo_home()?.display()),
    ];
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    let path = path()?;
    let symbols = path.with_extension("symbols");
    if !symbols.exists() {
        let profile = ["--profile", "agent", "--target", TRIPLE];
        let clean = [&["clean", "--package", "assize-agent"], &profile[..]].concat();
        run_command(command(cargo(), &clean)?)?;
    }
    build.env("ASSIZE_AGENT_SYMBOLS", symbols);
    build.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", linker()?);
    run_command(build)?;
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

/// Writes [`LINKER`], if it is not there.
fn linker() -> Result<PathBuf, Error> {
    let place = target()?.join("agent-linker");
    if fs::read_to_string(&place).is_ok_and(|text| text == LINKER) {
        return Ok(place);
    }
    let wrong = |why: std::io::Error| format!("{}: {why}", place.display());
    fs::create_dir_all(target()?).map_err(wrong)?;
    fs::write(&place, LINKER).map_err(wrong)?;
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).map_err(wrong)?;
    Ok(place)
}

/// Where cargo keeps the sources of crates.
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

/// Where the agent lies once it is built.
pub(crate) fn path() -> Result<PathBuf, Error> {
    Ok(target()?.join(TRIPLE).join("agent").join("assize-agent"))
}

/// Cargo's target directory.
pub(crate) fn target() -> Result<PathBuf, Error> {
    let root = tree::root()?;
    Ok(match env::var_os("CARGO_TARGET_DIR") {
        Some(target) => root.join(target),
        None => root.join("target"),
    })
}
