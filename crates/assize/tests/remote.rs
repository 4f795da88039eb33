//! How commands ended, on this machine and on one reached by ssh.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::commands::{faulting, no_log};
use crate::common::{Cache, Outcome, errors, skip};
use crate::full::spread::sshd::Sshd;
use serde_json::Value;

crate::common::tests! {
    needs ["agent"];
    commands_that_fail_here_are_a_result = || each(&Machine::here(), failing),
    commands_that_fail_far_away_are_a_result = || far(failing),
    one_that_fails_of_twelve_is_mentioned_wherever_it_ran = || {
        each(&Machine::here(), failing_once)?;
        far(failing_once)
    },
    what_the_kernel_says_far_away_is_counted = || far(complaining),
}

/// Runs of each side.
const RUNS: u32 = 12;

/// The machine for the commands, and how to reach it.
struct Machine {
    target: String,
    place: tempfile::TempDir,
    cache: Cache,
    /// The sshd, which ends with the test.
    _sshd: Option<Sshd>,
}

impl Machine {
    fn here() -> Machine {
        Machine {
            target: "host".into(),
            place: tempfile::tempdir().unwrap(),
            cache: Cache::new(),
            _sshd: None,
        }
    }

    /// A real sshd on the loopback interface.
    fn far() -> Option<Machine> {
        let sshd = Sshd::start()?;
        let mut machine = Machine {
            target: "ssh:far".into(),
            ..Machine::here()
        };
        let [config, ssh] = ["ssh_config", "ssh"].map(|name| machine.path().join(name));
        fs::write(&config, format!("Host far\n{}", sshd.client())).unwrap();
        let script = format!(
            "#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n",
            config.display()
        );
        fs::write(&ssh, script).unwrap();
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
        machine._sshd = Some(sshd);
        Some(machine)
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    fn assize(&self, arguments: &[&str]) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(env!("CARGO_BIN_EXE_assize"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("ASSIZE_CACHE", self.cache.path())
            .env("PATH", format!("{}:{path}", self.path().display()));
        command.output().unwrap()
    }

    /// Records an experiment whose configuration `new` runs this script; returns the output and
    /// exit status of `run`.
    fn records(&self, script: &str, more: &[&str]) -> Output {
        let script_file = self.path().join("new.sh");
        fs::write(&script_file, script).unwrap();
        let text = format!(
            "title = \"Commands\"\ntarget = \"{}\"\nruns = {RUNS}\n\
             [factors.side.old]\n[factors.side.new]\n\
             workload.it.argv = [\"sh\", \"{}\"]\n\
             [workloads.it]\nkind = \"command\"\nargv = [\"true\"]\n",
            self.target,
            script_file.display()
        );
        fs::write(self.path().join("x.toml"), text).unwrap();
        let fixed = ["run", "x.toml", "--quiet", "--out", "x.bundle"];
        self.assize(&[&fixed[..], more].concat())
    }

    /// The report in this format, on one line.
    fn report(&self, format: &str) -> String {
        let more = match format {
            "kcidb" => &["--kcidb-build", "me:1"][..],
            _ => &[],
        };
        let done = self.assize(&[&["report", "x.bundle", "--format", format], more].concat());
        let text = String::from_utf8_lossy(&done.stdout).replace("&gt;", ">");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn each(machine: &Machine, test: fn(&Machine) -> Outcome) -> Outcome {
    test(machine)
}

fn far(test: fn(&Machine) -> Outcome) -> Outcome {
    Machine::far().map_or(Ok(()), |machine| test(&machine))
}

/// A script whose first `times` executions end with the command `how`.
fn dying(machine: &Machine, times: u32, how: &str) -> String {
    let count = machine.path().join("count");
    let count = count.display();
    format!(
        "n=$(cat {count} 2>/dev/null || echo 0)\necho $((n + 1)) > {count}\n\
         [ $n -ge {times} ] || {how}\n"
    )
}

/// Seven of twelve runs are killed by a signal.
fn failing(machine: &Machine) -> Outcome {
    let script = dying(machine, 7, "kill -SEGV $$");
    let done = machine.records(&script, &["--fail-on", "undecided"]);
    let said = errors(&done);
    assert_eq!(done.status.code(), Some(1), "{said}");
    let first = "Failed workloads with new: worse: 0 of 12 -> 7 of 12 runs";
    for (format, sign) in [
        ("brief", first),
        ("mail", first),
        ("html", "0 of 12 -> 7 of 12 runs"),
        ("junit", "failures=\"1\""),
        ("ktap", "not ok 1 outcomes"),
        ("kcidb", "\"FAIL\""),
        ("github", "::error title=outcomes"),
        ("markdown", "| **failed** | outcomes |"),
    ] {
        let text = machine.report(format);
        assert!(text.contains(sign), "{format}: {text}");
    }
    let document: Value = serde_json::from_str(&machine.report("json")).unwrap();
    let row = &document["outcomes"][0];
    assert_eq!(
        (&row["outcome"], &row["verdict"], &row["count"]),
        (&"exit-status".into(), &"established".into(), &7.into())
    );
    let signature = row["signatures"][0]["signature"].as_str().unwrap();
    assert!(signature.contains("SIGSEGV"), "{signature}");
    Ok(())
}

fn failing_once(machine: &Machine) -> Outcome {
    let done = machine.records(&dying(machine, 1, "exit 3"), &["--fail-on", "undecided"]);
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    for format in [
        "brief", "mail", "html", "junit", "ktap", "kcidb", "markdown",
    ] {
        let text = machine.report(format);
        assert!(text.contains("0 of 12 -> 1 of 12 runs"), "{format}: {text}");
        for verdict in ["not ok", "\"FAIL\"", "<failure", "with new: worse"] {
            assert!(!text.contains(verdict), "{format}: {verdict}: {text}");
        }
    }
    Ok(())
}

/// The kernel's message begins with the name of the program that faulted.
fn complaining(machine: &Machine) -> Outcome {
    if let Some(why) = no_log() {
        skip(&why);
        return Ok(());
    }
    let Some(faults) = faulting(machine.path(), "WARNING: CPU: 0") else {
        skip("cc: not there");
        return Ok(());
    };
    let done = machine.records(&format!("{faults}\n"), &["--json"]);
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    let row = &document["outcomes"][0];
    assert_eq!(
        (
            &row["outcome"],
            &row["configuration"],
            &row["count_baseline"]
        ),
        (&"complained".into(), &"new".into(), &0.into()),
        "{}",
        errors(&done)
    );
    // The kernel may drop some messages if many programs fault at once.
    assert!(row["count"].as_u64() >= Some(1), "{row}");
    let line = row["signatures"][0]["line"].as_str().unwrap();
    assert!(line.contains("segfault at 0"), "{line}");
    Ok(())
}
