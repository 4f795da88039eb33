//! Runs shell scripts on another host.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::talk::{ANSWER, ChildEnd, ChildLimits, ChildOutput, talk};
use crate::{Error, packages};

/// Environment variable that names a command to use instead of `ssh`.
const VARIABLE: &str = "ASSIZE_SSH";
/// ssh's exit status if ssh itself failed, not the remote command.
const SSH_FAILED: i32 = 255;
/// Maximum length of the socket's path: 108 bytes are allowed, of which ssh needs some
/// itself.
const SOCKET_PATH: usize = 80;
/// How long any command except a run may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// A host reached by ssh, over one shared connection if possible.
#[derive(Debug)]
pub(super) struct Connection {
    host: String,
    words: Vec<String>,
    /// The directory with the socket of the shared connection, if there is one.
    directory: Option<TempDir>,
}

impl Connection {
    /// A host, by any name that ssh accepts, reached by `$ASSIZE_SSH` or `ssh`. Does not
    /// connect.
    pub(super) fn new(host: &str) -> Result<Connection, Error> {
        let words = words(&env::var(VARIABLE).unwrap_or_default());
        Connection::with_command(host, words)
    }

    pub(super) fn with_command(host: &str, words: Vec<String>) -> Result<Connection, Error> {
        let odd = |c: char| c.is_whitespace() || c.is_control();
        if host.is_empty() || host.starts_with('-') || host.contains(odd) {
            return Err(Error {
                what: format!("run on ssh:{host}"),
                why: "this is no name of a host".into(),
                mend: Some("use `ssh:HOST`, `ssh:USER@HOST` or `ssh://USER@HOST:PORT`".into()),
                wrong_use: true,
            });
        }
        let directory = tempfile::Builder::new()
            .prefix("assize-ssh-")
            .tempdir()
            .ok();
        Ok(Connection {
            host: host.to_string(),
            words,
            directory: directory.filter(|at| at.path().as_os_str().len() < SOCKET_PATH),
        })
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    fn socket(&self) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.path().join("socket"))
    }

    /// `ssh` with its options and the host, without a remote command.
    fn command(&self, options: &[&str]) -> Command {
        let (program, words) = self
            .words
            .split_first()
            .map_or(("ssh", &[][..]), |(p, w)| (p, w));
        let mut command = Command::new(program);
        command.args(words).args(["-T", "-o", "BatchMode=yes"]);
        command.args(["-o", "ConnectTimeout=15", "-o", "LogLevel=ERROR"]);
        command.args([
            "-o",
            "ServerAliveInterval=15",
            "-o",
            "ServerAliveCountMax=4",
        ]);
        command.args(["-o", "ClearAllForwardings=yes"]);
        if let Some(socket) = self.socket() {
            let path = format!(
                "ControlPath={}",
                socket.display().to_string().replace('%', "%%")
            );
            command.args([
                "-o",
                "ControlMaster=auto",
                "-o",
                "ControlPersist=60",
                "-o",
                &path,
            ]);
        }
        command.args(options).arg("--").arg(&self.host);
        command
    }

    /// Opens the connection that [`Connection::run`] shares.
    ///
    /// # Errors
    /// The host cannot be reached, or does not let this user in.
    pub(super) fn open(&self) -> Result<(), Error> {
        let Some(directory) = &self.directory else {
            return Ok(());
        };
        if self.socket().is_some_and(|socket| socket.exists()) {
            return Ok(());
        }
        // Not a pipe: the background process keeps standard error open.
        let said = directory.path().join("said");
        let status = File::create(&said).and_then(|file| {
            self.command(&["-f", "-N", "-M"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(file)
                .status()
        });
        match status {
            Err(error) => Err(self.no_ssh(&error)),
            Ok(status) if status.success() => Ok(()),
            Ok(_) => {
                let said = fs::read_to_string(&said).unwrap_or_default();
                let (why, mend) = reason(&said, &self.host);
                Err(self.error(&format!("reach {}", self.host), why, mend))
            }
        }
    }

    /// Runs a shell script there with this input.
    ///
    /// # Errors
    /// ssh itself cannot be started. If the script ends early, the answer says why; see
    /// [`Connection::trouble`].
    pub(super) fn run(
        &self,
        script: &str,
        input: Vec<u8>,
        limits: ChildLimits,
    ) -> Result<ChildOutput, Error> {
        let mut command = self.command(&[]);
        // The login shell may be any shell; the script is for sh.
        command.arg(format!("exec sh -c {}", quote(script)));
        talk(command, input, limits).map_err(|error| self.no_ssh(&error))
    }

    /// Runs a shell script there that must succeed, and returns its output.
    ///
    /// # Errors
    /// The host cannot be reached, or the script fails.
    pub(super) fn must(&self, what: &str, script: &str, input: Vec<u8>) -> Result<String, Error> {
        let limits = ChildLimits {
            time: Some(PATIENCE),
            bytes: ANSWER,
        };
        let talk = self.run(script, input, limits)?;
        if let Some(error) = self.trouble(&talk) {
            return Err(error);
        }
        if !talk.success() {
            let why = last_line(&talk.stderr).unwrap_or("no reason was given");
            return Err(self.error(&format!("{what} on {}", self.host), why.into(), None));
        }
        Ok(String::from_utf8_lossy(&talk.stdout).into_owned())
    }

    /// The error, if the connection failed.
    pub(super) fn trouble(&self, talk: &ChildOutput) -> Option<Error> {
        let what = format!("reach {}", self.host);
        match talk.end {
            ChildEnd::Time => {
                let why = format!("no answer within {} s", PATIENCE.as_secs());
                Some(self.error(&what, why, None))
            }
            ChildEnd::Exit(status) if status.code() == Some(SSH_FAILED) => {
                let (why, mend) = reason(&talk.stderr, &self.host);
                Some(self.error(&what, why, mend))
            }
            ChildEnd::Exit(_) | ChildEnd::Bytes => None,
        }
    }

    fn no_ssh(&self, error: &io::Error) -> Error {
        let program = self.words.first().map_or("ssh", String::as_str);
        let missing = error.kind() == io::ErrorKind::NotFound;
        self.error(
            &format!("reach {}", self.host),
            format!("{program}: {error}"),
            missing.then(|| packages::install([program])).flatten(),
        )
    }

    pub(super) fn error(&self, what: &str, why: String, mend: Option<String>) -> Error {
        Error {
            what: what.into(),
            why,
            mend,
            wrong_use: false,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.socket().is_some_and(|socket| socket.exists()) {
            // Otherwise the background process would end a minute later.
            let _ = self
                .command(&["-O", "exit"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// Splits a command into words; `ssh` if there are none.
fn words(command: &str) -> Vec<String> {
    let words: Vec<String> = command.split_whitespace().map(str::to_string).collect();
    if words.is_empty() {
        return vec!["ssh".into()];
    }
    words
}

/// Why ssh failed, by its own message, and how to fix it.
fn reason(stderr: &str, host: &str) -> (String, Option<String>) {
    let why = last_line(stderr).unwrap_or("ssh failed without a reason");
    let mend = if why.contains("Permission denied") {
        Some(format!("run `ssh-copy-id {host}`"))
    } else if why.contains("Host key verification failed") {
        Some(format!("run `ssh {host}` once and accept the key"))
    } else if why.contains("Could not resolve") {
        Some("check the name, or add it to ~/.ssh/config".into())
    } else if why.contains("Connection refused") {
        Some("check that sshd runs there, and on which port".into())
    } else {
        None
    };
    (why.to_string(), mend)
}

/// The last non-empty line, without the carriage return at the end of ssh's lines.
pub(super) fn last_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).rfind(|line| !line.is_empty())
}

/// Quotes a text as one shell word.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn quoted_words_pass_a_shell_unchanged(text in "[^\0]{0,20}") {
            let script = format!("printf %s {}", quote(&text));
            let done = Command::new("sh").arg("-c").arg(script).output().unwrap();
            prop_assert_eq!(String::from_utf8(done.stdout).unwrap(), text);
        }
    }

    #[test]
    fn no_host_becomes_an_option() {
        for host in ["", "-oProxyCommand=reboot", "a b", "a\n"] {
            let error = Connection::new(host).unwrap_err();
            assert!(error.wrong_use, "{host}");
        }
    }

    #[test]
    fn words_replace_ssh() {
        assert_eq!(words(" ssh -p  22 "), ["ssh", "-p", "22"]);
        assert_eq!(words(" "), ["ssh"]);
    }

    #[test]
    fn reasons_have_mends() {
        let (why, mend) = reason("banner\r\na@b: Permission denied (publickey).\r\n", "a@b");
        assert_eq!(why, "a@b: Permission denied (publickey).");
        assert_eq!(mend.as_deref(), Some("run `ssh-copy-id a@b`"));
        let (why, mend) = reason("", "b");
        assert_eq!((why.as_str(), mend), ("ssh failed without a reason", None));
    }

    #[test]
    fn a_program_that_is_missing_is_named() {
        let connection = Connection::with_command("h", vec!["/nowhere/ssh".into()]).unwrap();
        let error = connection.must("look", "true", Vec::new()).unwrap_err();
        assert!(error.why.starts_with("/nowhere/ssh: "), "{error}");
        assert_eq!(
            error.mend.as_deref(),
            Some("run `apt install openssh-client`")
        );
    }
}
