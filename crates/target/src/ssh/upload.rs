//! Copies everything that runs need to another host.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use assize_job::{Action, Order};

use super::RemotePaths;
use super::connection::{Connection, quote};
use super::probe::HostProbe;
use crate::{Error, agent, needs, packages};

/// Copies the agent, modules and files.
pub(super) fn upload_all(
    connection: &Connection,
    agent: &Path,
    orders: &[Order],
    probe: &HostProbe,
) -> Result<RemotePaths, Error> {
    let mut there = install_agent(connection, agent, probe)?;
    for module in modules(orders) {
        let bytes = read(connection, Path::new(module))?;
        let (_, name) = module.rsplit_once('/').unwrap_or(("", module));
        let path = format!("{}/{}/{name}", there.directory, digest(&bytes));
        put(connection, bytes, &path, 0o600)?;
        there.modules.insert(module.to_string(), path);
    }
    for (here, path) in files(orders) {
        copy(connection, here, path)?;
    }
    Ok(there)
}

fn modules(orders: &[Order]) -> BTreeSet<&str> {
    let actions = orders
        .iter()
        .flat_map(|order| order.job.setup.iter().chain(&order.job.teardown))
        .filter_map(|action| match action {
            Action::Module { module, .. } => Some(module),
            _ => None,
        });
    let payload = orders.iter().flat_map(|order| {
        let payload = &order.payload;
        payload.modules.iter().chain(&payload.module_files)
    });
    payload
        .chain(actions)
        .map(String::as_str)
        .filter(|module| needs::is_file(module))
        .collect()
}

fn files(orders: &[Order]) -> BTreeSet<(&Path, &str)> {
    orders
        .iter()
        .flat_map(|order| &order.payload.files)
        .map(|(here, there)| (here.as_path(), there.as_str()))
        .collect()
}

/// Copies the agent to the first directory from which it can be executed, unless it is
/// there already.
fn install_agent(
    connection: &Connection,
    agent: &Path,
    probe: &HostProbe,
) -> Result<RemotePaths, Error> {
    let what = format!("copy the agent to {}", connection.host());
    let fail = |why: String, mend: Option<String>| Err(connection.error(&what, why, mend));
    if let Some(built) = agent::architecture(agent)
        && built != probe.architecture
    {
        let why = format!("it is for {built}, the host is {}", probe.architecture);
        let mend = "set ASSIZE_AGENT to an agent for that architecture";
        return fail(why, Some(mend.into()));
    }
    let bytes = read(connection, agent)?;
    let name = format!("assize-agent-{}", digest(&bytes));
    let mut refused = Vec::new();
    for directory in &probe.directories {
        let path = format!("{directory}/{name}");
        match is_there(connection, directory, &path, bytes.len())? {
            Ok(true) => {}
            Ok(false) => put(connection, bytes.clone(), &path, 0o700)?,
            Err(why) => {
                refused.push(format!("{directory}: {why}"));
                continue;
            }
        }
        match try_agent(connection, &path)? {
            None => {
                return Ok(RemotePaths {
                    directory: directory.clone(),
                    agent: path,
                    modules: BTreeMap::new(),
                });
            }
            Some(why) => refused.push(why),
        }
        let script = format!("rm -f {}", quote(&path));
        connection.must("remove the agent", &script, Vec::new())?;
    }
    fail(
        format!("it cannot be executed: {}", refused.join(", ")),
        Some("set XDG_CACHE_HOME there to a directory without noexec".into()),
    )
}

/// Whether the agent is in this directory, which is created if missing; `Err` with the
/// reason if the directory cannot be used.
fn is_there(
    connection: &Connection,
    directory: &str,
    path: &str,
    size: usize,
) -> Result<Result<bool, String>, Error> {
    // Nobody else may own the directory or write to it, since its files are executed.
    let script = format!(
        r#"directory={directory} path={path}
say() {{ printf 'assize:%s\n' "$1"; exit 0; }}
[ -d "$directory" ] || (umask 077 && mkdir -p "$directory") || say 'it cannot be made'
[ ! -L "$directory" ] && [ -O "$directory" ] || say 'it belongs to somebody else'
chmod 700 "$directory" && [ -w "$directory" ] || say 'it cannot be written'
[ -x "$path" ] && [ "$(wc -c < "$path")" -eq {size} ] && say present
say absent
"#,
        directory = quote(directory),
        path = quote(path),
    );
    let answer = connection.must("look for the agent", &script, Vec::new())?;
    let said = answer.lines().find_map(|line| line.strip_prefix("assize:"));
    Ok(match said {
        Some("present") => Ok(true),
        Some("absent") => Ok(false),
        Some(why) => Err(why.to_string()),
        None => Err("no answer".to_string()),
    })
}

/// Why the agent cannot be executed there; `None` if it can.
fn try_agent(connection: &Connection, path: &str) -> Result<Option<String>, Error> {
    // The shell exits with 126 or 127 if it cannot execute a program.
    let script = format!(
        "{} --version < /dev/null 2>&1; printf '\\nassize:status:%s\\n' $?",
        quote(path)
    );
    let answer = connection.must("try the agent", &script, Vec::new())?;
    let (said, status) = answer
        .rsplit_once("\nassize:status:")
        .unwrap_or((&answer, "unknown"));
    Ok(match status.trim() {
        "126" | "127" | "unknown" => {
            let said = super::connection::last_line(said).unwrap_or("no reason was given");
            Some(said.to_string())
        }
        _ => None,
    })
}

/// Writes a file there atomically.
fn put(connection: &Connection, bytes: Vec<u8>, path: &str, mode: u32) -> Result<(), Error> {
    let size = bytes.len();
    let (directory, _) = path.rsplit_once('/').unwrap_or((".", path));
    let script = format!(
        r#"set -e
umask 077
directory={directory} path={path}
[ -d "$directory" ] || (umask 022; mkdir -p "$directory")
new="$path.new-$$"
trap 'rm -f "$new"' EXIT
cat > "$new"
[ "$(wc -c < "$new")" -eq {size} ] || {{ echo "$path: cut short" >&2; exit 1; }}
chmod {mode:o} "$new"
mv -f "$new" "$path"
"#,
        directory = quote(directory),
        path = quote(path),
    );
    connection
        .must(&format!("copy {path}"), &script, bytes)
        .map(|_| ())
}

/// Copies a file or directory to an absolute path there.
fn copy(connection: &Connection, here: &Path, there: &str) -> Result<(), Error> {
    let metadata = fs::metadata(here).map_err(|error| unreadable(connection, here, &error))?;
    if !metadata.is_dir() {
        let mode = metadata.permissions().mode() & 0o777;
        return put(connection, read(connection, here)?, there, mode);
    }
    let packed = Command::new("tar")
        .args(["-c", "-C"])
        .arg(here)
        .arg(".")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            let what = format!("copy {}", here.display());
            connection.error(&what, format!("tar: {error}"), packages::install(["tar"]))
        })?;
    if !packed.status.success() {
        let said = String::from_utf8_lossy(&packed.stderr);
        let said = super::connection::last_line(&said).unwrap_or("tar failed");
        let what = format!("copy {}", here.display());
        return Err(connection.error(&what, said.into(), None));
    }
    let path = quote(there);
    let script = format!("mkdir -p {path} && exec tar -x -o -C {path}");
    connection
        .must(&format!("copy {there}"), &script, packed.stdout)
        .map(|_| ())
}

fn read(connection: &Connection, path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| unreadable(connection, path, &error))
}

fn unreadable(connection: &Connection, path: &Path, error: &io::Error) -> Error {
    let what = format!("copy {} to {}", path.display(), connection.host());
    connection.error(&what, error.to_string(), None)
}

/// A digest long enough to name a file by.
fn digest(bytes: &[u8]) -> String {
    let mut digest = blake3::hash(bytes).to_hex().to_string();
    digest.truncate(16);
    digest
}
