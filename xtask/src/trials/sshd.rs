//! A host reached over ssh: this host, through an sshd started here.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::{Error, files};

/// The host name for ssh.
pub(super) const HOST: &str = "trials";
const SSHD: &str = "/usr/sbin/sshd";
const SSH: &str = "/usr/bin/ssh";
const KEYGEN: &str = "/usr/bin/ssh-keygen";

/// The sshd; it ends on drop.
pub(super) struct Sshd {
    child: Child,
    /// A directory for the start of PATH, with a program `ssh` that knows the host.
    pub(super) path: PathBuf,
}

/// The first missing requirement, if any.
pub(super) fn missing() -> Option<String> {
    let mut needed = [SSHD, SSH, KEYGEN].into_iter();
    let missing = needed.find(|path| !Path::new(path).exists())?;
    Some(format!("{missing} is missing; ./setup.sh test"))
}

impl Sshd {
    /// Starts an sshd with new keys; all its files are below `place`.
    pub(super) fn start(place: &Path) -> Result<Sshd, Error> {
        let at = |name: &str| place.join(name);
        files::remove(place)?;
        files::create(&at("bin"))?;
        for key in ["host", "user"] {
            generate(&at(key))?;
        }
        // The directory where root's sshd chroots; other users do not need it.
        let _ = fs::create_dir_all("/run/sshd");
        // Another process may take the free port first.
        for _ in 0..5 {
            let port = free_port()?;
            if let Some(child) = listen(place, port)? {
                let path = at("bin");
                // From here on, the sshd is killed on drop.
                let sshd = Sshd { child, path };
                client(place, port)?;
                return Ok(sshd);
            }
        }
        let said = fs::read_to_string(at("log")).unwrap_or_default();
        Err(format!("{SSHD}: {}", said.trim()))
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> Result<u16, Error> {
    let listener = TcpListener::bind("127.0.0.1:0");
    let address = listener.and_then(|listener| listener.local_addr());
    Ok(address.map_err(|why| format!("127.0.0.1: {why}"))?.port())
}

/// Starts an sshd; `None` if the port was taken.
fn listen(place: &Path, port: u16) -> Result<Option<Child>, Error> {
    let at = |name: &str| place.join(name).display().to_string();
    let config = format!(
        "ListenAddress 127.0.0.1\nPort {port}\nPidFile none\nUsePAM no\nStrictModes no\n\
         HostKey {}\nAuthorizedKeysFile {}\nPasswordAuthentication no\n\
         KbdInteractiveAuthentication no\nPermitRootLogin yes\n\
         SetEnv XDG_CACHE_HOME={}\n",
        at("host"),
        at("user.pub"),
        at("cache"),
    );
    files::write(&place.join("config"), &config)?;
    let log = place.join("log");
    let said = fs::File::create(&log).map_err(|why| format!("{}: {why}", log.display()))?;
    let mut child = Command::new(SSHD)
        .args(["-D", "-e", "-f", &at("config")])
        .stdin(Stdio::null())
        .stderr(said)
        .spawn()
        .map_err(|why| format!("{SSHD}: {why}"))?;
    while child.try_wait().is_ok_and(|ended| ended.is_none()) {
        if fs::read_to_string(&log).is_ok_and(|said| said.contains("Server listening")) {
            return Ok(Some(child));
        }
        sleep(Duration::from_millis(10));
    }
    Ok(None)
}

/// Writes a program `ssh` that knows the host by name.
fn client(place: &Path, port: u16) -> Result<(), Error> {
    let at = |name: &str| place.join(name).display().to_string();
    let config = format!(
        "Host {HOST}\nHostName 127.0.0.1\nPort {port}\nStrictHostKeyChecking accept-new\n\
         UserKnownHostsFile {}\nIdentitiesOnly yes\nIdentityAgent none\nIdentityFile {}\n",
        at("known"),
        at("user"),
    );
    files::write(&place.join("ssh_config"), &config)?;
    let program = place.join("bin/ssh");
    let text = format!("#!/bin/sh\nexec {SSH} -F '{}' \"$@\"\n", at("ssh_config"));
    files::write(&program, &text)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))
        .map_err(|why| format!("{}: {why}", program.display()))
}

fn generate(path: &Path) -> Result<(), Error> {
    let made = Command::new(KEYGEN)
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(path)
        .status();
    match made {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{KEYGEN}: {status}")),
        Err(why) => Err(format!("{KEYGEN}: {why}")),
    }
}
