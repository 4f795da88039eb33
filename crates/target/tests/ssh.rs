//! The target `ssh:HOST` over a real sshd.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use crate::support::sshd::Sshd;
use crate::support::{HELLO, Scripts, WHOLE, command, raw};
use assize_job::{AgentMessage, Job, Machine, Order, Payload};
use assize_target::{RunFailure, RunOutcome, Ssh, Target};

fn ssh(sshd: &Sshd, agent: &Path) -> Ssh {
    Ssh::with_command(&sshd.host(), sshd.words("user"), agent.into()).unwrap()
}

fn with_payload(payload: Payload) -> Order {
    Order {
        payload,
        ..Order::default()
    }
}

#[test]
fn a_run_goes_there_and_back() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let script = format!(
        "{HELLO}; job=$(cat | sed 's/\"/./g')
         printf '{{\"record\":\"raw\",\"name\":\"%s\",\"text\":\"%s\"}}\\n' \"$0\" \"$job\"
         echo '{{\"record\":\"end\",\"records\":2}}'"
    );
    let ssh = ssh(&sshd, &scripts.agent(&script));
    assert_eq!(ssh.slots(), 1);
    let order = Order::default();
    ssh.prepare(std::slice::from_ref(&order)).unwrap();
    let done = ssh.run(&order, 0).unwrap();
    assert_eq!(done.machine["target"], sshd.host());
    let RunOutcome::Completed(records) = done.outcome else {
        panic!("{:?}", done.outcome);
    };
    let AgentMessage::Raw { name, text } = &records[1] else {
        panic!("{records:?}");
    };
    let cache = sshd.cache();
    assert!(name.starts_with(cache.to_str().unwrap()), "{name}");
    assert_eq!(
        *text,
        serde_json::to_string(&order.job).unwrap().replace('"', ".")
    );
    // Only the agent is left.
    assert_eq!(fs::read_dir(cache).unwrap().count(), 1);
}

#[test]
fn the_agent_is_copied_once() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let agent = scripts.agent(WHOLE);
    let agents = || {
        let mut files: Vec<_> = fs::read_dir(sshd.cache())
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.path(), entry.metadata().unwrap().modified().unwrap()))
            .collect();
        files.sort();
        files
    };
    ssh(&sshd, &agent).prepare(&[Order::default()]).unwrap();
    let first = agents();
    assert_eq!(first.len(), 1);
    assert_eq!(fs::read(&first[0].0).unwrap(), fs::read(&agent).unwrap());
    ssh(&sshd, &agent).prepare(&[Order::default()]).unwrap();
    assert_eq!(agents(), first);
    // A truncated one is copied again.
    fs::write(&first[0].0, "#!/bin/sh\n").unwrap();
    ssh(&sshd, &agent).prepare(&[Order::default()]).unwrap();
    assert_eq!(fs::read(&first[0].0).unwrap(), fs::read(&agent).unwrap());
    fs::write(&agent, format!("#!/bin/sh\n{HELLO}")).unwrap();
    ssh(&sshd, &agent).prepare(&[Order::default()]).unwrap();
    assert_eq!(agents().len(), 2);
}

#[test]
fn files_directories_and_modules_are_copied() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let agent = scripts.agent(WHOLE);
    let file = scripts.path("it's a file");
    fs::write(&file, "one\0two").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let tree = scripts.path("tree");
    fs::create_dir_all(tree.join("a/b")).unwrap();
    fs::write(tree.join("a/b/c"), "deep").unwrap();
    let module = scripts.path("depq.ko");
    fs::write(&module, "module").unwrap();
    let at = |name: &str| sshd.path(name).to_str().unwrap().to_string();
    let order = with_payload(Payload {
        // Files to be copied need not exist there before.
        programs: vec![at("new folder/file")],
        files: vec![(file, at("new folder/file")), (tree, at("tree"))],
        modules: vec![module.to_str().unwrap().into()],
        ..Payload::default()
    });
    let ssh = ssh(&sshd, &agent);
    ssh.prepare(std::slice::from_ref(&order)).unwrap();
    let copied = sshd.path("new folder/file");
    assert_eq!(fs::read(&copied).unwrap(), b"one\0two");
    assert_eq!(
        fs::metadata(&copied).unwrap().permissions().mode() & 0o777,
        0o755
    );
    assert_eq!(fs::read(sshd.path("tree/a/b/c")).unwrap(), b"deep");
    let modules: Vec<_> = fs::read_dir(sshd.cache())
        .unwrap()
        .map(|entry| entry.unwrap().path().join("depq.ko"))
        .filter(|path| path.exists())
        .collect();
    assert_eq!(modules.len(), 1);
    assert_eq!(fs::read(&modules[0]).unwrap(), b"module");
}

#[test]
fn a_hang_is_ended_there_too() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let pid = sshd.path("pid");
    let script = format!(
        "[ \"$1\" = run ] || exit 0; {HELLO}; sleep 1000 & echo $! > {}; wait",
        pid.display()
    );
    let order = Order {
        job: Job {
            timeout_ms: 1500,
            ..Job::default()
        },
        ..Order::default()
    };
    let ssh = ssh(&sshd, &scripts.agent(&script)).with_grace(Duration::from_millis(500));
    ssh.prepare(std::slice::from_ref(&order)).unwrap();
    let done = ssh.run(&order, 0).unwrap();
    let RunOutcome::Failed {
        failure, records, ..
    } = done.outcome
    else {
        panic!("{:?}", done.outcome);
    };
    assert_eq!(failure, RunFailure::Timeout { after_s: 2 });
    assert_eq!(records.len(), 1);
    let pid = fs::read_to_string(pid).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    assert!(stat.is_err() || stat.unwrap().contains(") Z "));
}

#[test]
fn a_crash_is_a_failed_run() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let script = format!("[ \"$1\" = run ] || exit 0; {HELLO}; echo oh >&2; exit 7");
    let ssh = ssh(&sshd, &scripts.agent(&script));
    let RunOutcome::Failed {
        failure, console, ..
    } = ssh.run(&Order::default(), 0).unwrap().outcome
    else {
        panic!("completed");
    };
    let RunFailure::Ended { how } = failure else {
        panic!("{failure:?}");
    };
    assert!(
        how.starts_with("the agent ended with exit status: 7"),
        "{how}"
    );
    assert_eq!(console, "oh");
}

/// A host whose connection is lost during the first run. The boot ID that it names is in
/// a file.
fn lost_during_a_run(sshd: &Sshd, scripts: &Scripts) -> Ssh {
    let (boot, lost) = (scripts.path("boot"), scripts.path("lost"));
    fs::write(&boot, "one\n").unwrap();
    let wrapper = scripts.path("ssh");
    let text = format!(
        "#!/bin/bash\nset -o pipefail\n\
         case \"$*\" in\n\
         *\"boot_id'\") cat {boot}; exit ;;\n\
         *'status=$?'*) [ -e {lost} ] || {{ touch {lost}; exit 255; }} ;;\n\
         esac\n\
         {} \"$@\" | sed \"s/^assize:boot:.*/assize:boot:$(cat {boot})/\"\n",
        sshd.words("user").join(" "),
        boot = boot.display(),
        lost = lost.display(),
    );
    fs::write(&wrapper, text).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let words = vec![wrapper.to_str().unwrap().to_owned()];
    let agent = scripts.agent(WHOLE);
    Ssh::with_command(&sshd.host(), words, agent)
        .unwrap()
        .with_return(Duration::ZERO)
}

#[test]
fn a_host_that_boots_again_during_a_run_has_crashed() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let ssh = lost_during_a_run(&sshd, &scripts);
    let order = Order::default();
    ssh.prepare(std::slice::from_ref(&order)).unwrap();
    // What was copied there is lost too.
    fs::remove_dir_all(sshd.cache()).unwrap();
    fs::write(scripts.path("boot"), "two\n").unwrap();
    let RunOutcome::Failed { failure, .. } = ssh.run(&order, 0).unwrap().outcome else {
        panic!("completed");
    };
    assert_eq!(failure, RunFailure::Rebooted);
    let next = ssh.run(&order, 0).unwrap().outcome;
    assert!(matches!(next, RunOutcome::Completed(_)), "{next:?}");
}

#[test]
fn a_network_that_fails_during_a_run_is_no_crash() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let ssh = lost_during_a_run(&sshd, &scripts);
    let order = Order::default();
    ssh.prepare(std::slice::from_ref(&order)).unwrap();
    let RunOutcome::Failed { failure, .. } = ssh.run(&order, 0).unwrap().outcome else {
        panic!("completed");
    };
    assert!(matches!(failure, RunFailure::Ended { .. }), "{failure:?}");
}

#[test]
fn a_host_that_does_not_come_back_ends_the_experiment() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let ssh = lost_during_a_run(&sshd, &scripts);
    let order = Order::default();
    ssh.prepare(std::slice::from_ref(&order)).unwrap();
    fs::remove_file(scripts.path("boot")).unwrap();
    let error = ssh.run(&order, 0).unwrap_err();
    assert!(error.why.contains("has not answered for 0 s"), "{error}");
    assert!(error.mend.unwrap().contains("--resume"));
}

#[test]
fn strangers_are_told_how_to_get_in() {
    let Some(sshd) = Sshd::start() else { return };
    let agent = Scripts::new().agent(WHOLE);
    let ssh = Ssh::with_command(&sshd.host(), sshd.words("stranger"), agent).unwrap();
    let error = ssh.prepare(&[Order::default()]).unwrap_err();
    assert!(error.why.contains("Permission denied"), "{error}");
    assert_eq!(
        error.mend,
        Some(format!("run `ssh-copy-id {}`", sshd.host()))
    );
}

#[test]
fn a_host_that_does_not_answer_is_named() {
    let Some(sshd) = Sshd::start() else { return };
    let (host, words) = (sshd.host(), sshd.words("user"));
    drop(sshd);
    let ssh = Ssh::with_command(&host, words, "/bin/true".into()).unwrap();
    let error = ssh.prepare(&[Order::default()]).unwrap_err();
    assert_eq!(error.what, format!("reach {host}"));
    assert!(error.why.contains("Connection refused"), "{error}");
    assert!(!error.wrong_use);
}

#[test]
fn what_is_missing_there_is_named() {
    let Some(sshd) = Sshd::start() else { return };
    let order = with_payload(Payload {
        programs: vec!["sh".into(), "assize-no-such-program".into()],
        ..Payload::default()
    });
    let scripts = Scripts::new();
    let error = ssh(&sshd, &scripts.agent(WHOLE))
        .prepare(&[order])
        .unwrap_err();
    assert_eq!(error.why, "not found in PATH there: assize-no-such-program");
    // Nothing was copied before the error.
    assert!(!sshd.cache().exists());
}

#[test]
fn an_agent_that_cannot_be_executed_is_an_error() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let agent = scripts.agent("");
    fs::write(&agent, "#!/nowhere/sh\n").unwrap();
    let error = ssh(&sshd, &agent).prepare(&[Order::default()]).unwrap_err();
    assert!(error.why.starts_with("it cannot be executed: "), "{error}");
    assert_eq!(fs::read_dir(sshd.cache()).unwrap().count(), 0);
    // The next directory was tried too.
    assert_eq!(error.why.matches("assize-agent-").count(), 2, "{error}");
}

#[test]
fn a_directory_of_somebody_else_is_not_used() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let elsewhere = scripts.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir_all(sshd.cache().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sshd.cache()).unwrap();
    // No other test uses this agent, so this one can remove it.
    let agent = scripts.agent(&format!("{WHOLE} # {}", elsewhere.display()));
    let ssh = ssh(&sshd, &agent);
    let order = Order::default();
    ssh.prepare(std::slice::from_ref(&order)).unwrap();
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    let done = ssh.run(&order, 0).unwrap();
    assert!(
        matches!(done.outcome, RunOutcome::Completed(_)),
        "{:?}",
        done.outcome
    );
    let fallback = format!("/tmp/assize-{}", rustix::process::geteuid().as_raw());
    let agents = fs::read_dir(fallback)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let bytes = fs::read(&agent).unwrap();
    let copied = Vec::from_iter(agents.filter(|path| fs::read(path).is_ok_and(|it| it == bytes)));
    assert_eq!(copied.len(), 1);
    fs::remove_file(&copied[0]).unwrap();
}

#[test]
fn an_agent_for_another_architecture_is_an_error() {
    let Some(sshd) = Sshd::start() else { return };
    let scripts = Scripts::new();
    let agent = scripts.agent("");
    let (machine, name) = match std::env::consts::ARCH {
        "x86_64" => (183, "aarch64"),
        _ => (62, "x86_64"),
    };
    let mut elf = fs::read("/bin/true").unwrap();
    elf[18] = machine;
    fs::write(&agent, elf).unwrap();
    let error = ssh(&sshd, &agent).prepare(&[Order::default()]).unwrap_err();
    assert!(
        error.why.starts_with(&format!("it is for {name}, ")),
        "{error}"
    );
}

#[test]
fn another_machine_is_refused_without_connecting() {
    let ssh = Ssh::with_command("nobody", vec!["/nowhere".into()], "/bin/true".into()).unwrap();
    let machines = [1, 2].map(|cpus| Order {
        machine: Machine {
            cpus,
            ..Machine::default()
        },
        ..Order::default()
    });
    let error = ssh.prepare(&machines).unwrap_err();
    assert!(
        error.wrong_use && error.what == "run on ssh:nobody",
        "{error}"
    );
}

#[test]
fn the_real_agent_completes_a_run() {
    let Some(agent) = crate::support::real_agent() else {
        return;
    };
    let Some(sshd) = Sshd::start() else { return };
    let order = Order {
        job: Job {
            workload: command(&["echo", "seed {seed}"]),
            seed: 7,
            instruments: vec!["proc-stat".into()],
            timeout_ms: 20_000,
            ..Job::default()
        },
        ..Order::default()
    };
    let ssh = ssh(&sshd, &agent);
    ssh.prepare(std::slice::from_ref(&order)).unwrap();
    for _ in 0..2 {
        let done = ssh.run(&order, 0).unwrap();
        let RunOutcome::Completed(records) = done.outcome else {
            panic!("{:?}", done.outcome);
        };
        assert!(
            raw(&records).any(|text| text.contains("seed 7")),
            "{records:?}"
        );
    }
}
