//! A real sshd on the loopback interface.

#![allow(dead_code, unreachable_pub)] // Each test uses a part of it.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use super::skip;

const SSHD: &str = "/usr/sbin/sshd";

/// An sshd that ends with the test.
pub struct Sshd {
    directory: Arc<TempDir>,
    child: Child,
    port: u16,
}

impl Sshd {
    /// Starts an sshd that accepts this user by a temporary key; `None`, with a counted skip, if
    /// that is not possible.
    pub fn start() -> Option<Sshd> {
        Sshd::start_with(&[], "")
    }

    /// Like [`Sshd::start`], with environment variables and more configuration lines.
    pub fn start_with(environment: &[(&str, String)], more: &str) -> Option<Sshd> {
        for needed in [SSHD, "/usr/bin/ssh", "/usr/bin/ssh-keygen"] {
            if !Path::new(needed).exists() {
                skip(&format!("{needed} is missing; run `./setup.sh full`"));
                return None;
            }
        }
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let at = |name: &str| directory.path().join(name);
        for key in ["host", "user", "stranger"] {
            generate(&at(key));
        }
        fs::copy(at("user.pub"), at("authorized")).unwrap();
        if rustix::process::geteuid().is_root() {
            // sshd's privilege separation directory.
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let cache = ("XDG_CACHE_HOME", at("cache").display().to_string());
        let variables = [&[cache], environment].concat();
        let variables = variables
            .iter()
            .map(|(name, value)| format!(" {name}={value}"));
        let more = format!("SetEnv{}\n{more}", variables.collect::<String>());
        // Another process may take the free port first.
        (0..5)
            .find_map(|_| Sshd::listen(&directory, &more))
            .or_else(|| {
                panic!("{}", fs::read_to_string(at("log")).unwrap());
            })
    }

    fn listen(directory: &Arc<TempDir>, more: &str) -> Option<Sshd> {
        let at = |name: &str| directory.path().join(name);
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .unwrap()
            .port();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nPidFile none\nUsePAM no\nStrictModes no\n\
             HostKey {}\nAuthorizedKeysFile {}\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPermitRootLogin yes\n{more}",
            at("host").display(),
            at("authorized").display(),
        );
        fs::write(at("config"), config).unwrap();
        let child = Command::new(SSHD)
            .args(["-D", "-e", "-f"])
            .arg(at("config"))
            .stdin(Stdio::null())
            .stderr(fs::File::create(at("log")).unwrap())
            .spawn()
            .unwrap();
        let mut sshd = Sshd {
            directory: Arc::clone(directory),
            child,
            port,
        };
        while sshd.child.try_wait().unwrap().is_none() {
            let log = fs::read_to_string(at("log")).unwrap();
            if log.contains("Server listening") {
                return Some(sshd);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// A path in its directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The directory for assize's files on this host.
    pub fn cache(&self) -> PathBuf {
        self.path("cache/assize")
    }

    /// The name of the host for assize.
    pub fn host(&self) -> String {
        let user = Command::new("id").arg("-un").output().unwrap();
        let user = String::from_utf8(user.stdout).unwrap();
        format!("ssh://{}@127.0.0.1:{}", user.trim(), self.port)
    }

    /// The lines of an `ssh_config` for it, without `Host`.
    pub fn client(&self) -> String {
        format!(
            "HostName 127.0.0.1\nPort {}\nStrictHostKeyChecking accept-new\n\
             UserKnownHostsFile {}\nIdentitiesOnly yes\nIdentityAgent none\n\
             IdentityFile {}\n",
            self.port,
            self.path("known").display(),
            self.path("user").display(),
        )
    }

    /// The ssh command with this key.
    pub fn words(&self, key: &str) -> Vec<String> {
        let known = format!("UserKnownHostsFile={}", self.path("known").display());
        let key = self.path(key).display().to_string();
        [
            "ssh",
            "-F",
            "none",
            "-o",
            "StrictHostKeyChecking=accept-new",
            "-o",
            &known,
            "-o",
            "IdentitiesOnly=yes",
            "-o",
            "IdentityAgent=none",
            "-i",
            &key,
        ]
        .map(str::to_string)
        .to_vec()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn generate(path: &Path) {
    let done = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(path)
        .status()
        .unwrap();
    assert!(done.success());
}
