//! A cluster with Debian's Slurm daemons on this host.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{errors, skip};

const NODES: usize = 4;
const DAEMONS: [&str; 3] = [
    "/usr/sbin/munged",
    "/usr/sbin/slurmctld",
    "/usr/sbin/slurmd",
];

/// A controller and four nodes of one CPU. Each node is a PID namespace; killing its first process
/// is like cutting its power.
pub struct Cluster {
    place: tempfile::TempDir,
    controller: Vec<Child>,
    nodes: Vec<Child>,
}

impl Cluster {
    /// `None`, with a counted skip, if Slurm cannot be started here.
    pub fn start() -> Option<Cluster> {
        if let Some(missing) = DAEMONS.iter().find(|path| !Path::new(path).exists()) {
            skip(&format!("{missing} is missing; run `./setup.sh full`"));
            return None;
        }
        if !rustix::process::geteuid().is_root() {
            skip("only root can start the nodes of a cluster");
            return None;
        }
        if !may_unshare() {
            skip("this system gives no namespaces of process numbers");
            return None;
        }
        let mut cluster = Cluster {
            place: tempfile::tempdir().unwrap(),
            controller: Vec::new(),
            nodes: Vec::new(),
        };
        cluster.configure();
        cluster.start_munge();
        let controller = cluster.daemon("/usr/sbin/slurmctld", &["-D"]);
        cluster.controller.push(controller);
        for node in 0..NODES {
            let node = cluster.node(node);
            cluster.nodes.push(node);
        }
        cluster.until("all nodes are idle", |cluster| {
            cluster.nodes_in("idle") == NODES
        });
        Some(cluster)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn configure(&self) {
        for name in ["state", "log"] {
            fs::create_dir(self.at(name)).unwrap();
        }
        let free = || TcpListener::bind("127.0.0.1:0").unwrap();
        let bound: Vec<TcpListener> = (0..=NODES).map(|_| free()).collect();
        let mut ports = bound.iter().map(|one| one.local_addr().unwrap().port());
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let (host, here) = (host.trim(), self.place.path().display());
        let mut text = format!(
            "ClusterName=test\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmctldPort={}\n\
             AuthInfo=socket={here}/munge.socket,cred_expire=20\n\
             SlurmUser=root\n\
             StateSaveLocation={here}/state\n\
             SlurmdSpoolDir={here}/%n\n\
             SlurmctldPidFile={here}/controller.pid\n\
             SlurmdPidFile={here}/%n.pid\n\
             SlurmctldLogFile={here}/log/controller\n\
             SlurmdLogFile={here}/log/%n\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_CPU\n\
             ReturnToService=2\n\
             MpiDefault=none\n\
             KillWait=2\n\
             SlurmdTimeout=6\n\
             PartitionName=all Nodes=ALL Default=YES State=UP\n",
            ports.next().unwrap()
        );
        for (node, port) in ports.enumerate() {
            fs::create_dir(self.at(&format!("node{node}"))).unwrap();
            text.push_str(&format!(
                "NodeName=node{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1\n"
            ));
        }
        fs::write(self.at("slurm.conf"), text).unwrap();
    }

    fn start_munge(&mut self) {
        let key = self.at("munge.key");
        let random = fs::File::open("/dev/urandom").unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(random, 1024), &mut bytes).unwrap();
        fs::write(&key, bytes).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o400)).unwrap();
        let files = [
            ("key-file", "munge.key"),
            ("socket", "munge.socket"),
            ("pid-file", "munge.pid"),
            ("seed-file", "munge.seed"),
        ];
        let mut munge = Command::new(DAEMONS[0]);
        munge.args(["--foreground", "--force"]);
        munge.args(files.map(|(option, name)| format!("--{option}={}", self.at(name).display())));
        self.controller.push(quiet(munge));
        self.until("munge listens", |cluster| {
            cluster.at("munge.socket").exists()
        });
    }

    fn daemon(&self, program: &str, arguments: &[&str]) -> Child {
        let mut command = Command::new(program);
        command.arg("-f").arg(self.at("slurm.conf")).args(arguments);
        quiet(command)
    }

    fn node(&self, node: usize) -> Child {
        // The shell reaps orphans of the daemon, so their CPU time is counted.
        let script = "slurmd -D -f \"$0\" -N \"$1\"; exit";
        let mut command = Command::new("unshare");
        command
            .args(["--pid", "--fork", "--kill-child", "--mount-proc"])
            .args(["sh", "-c", script])
            .arg(self.at("slurm.conf"))
            .arg(format!("node{node}"))
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        quiet(command)
    }

    /// The environment variable with the configuration, for Slurm's commands.
    pub fn variable(&self) -> (&'static str, PathBuf) {
        ("SLURM_CONF", self.at("slurm.conf"))
    }

    /// The standard output of a Slurm command.
    pub fn ask(&self, command: &str) -> String {
        let mut words = command.split(' ');
        let (name, value) = self.variable();
        let mut asked = Command::new(words.next().unwrap());
        let done = asked.args(words).env(name, value).output().unwrap();
        match done.status.success() {
            true => String::from_utf8(done.stdout).unwrap(),
            false => errors(&done),
        }
    }

    fn nodes_in(&self, state: &str) -> usize {
        let said = self.ask("sinfo --noheader --Node --format=%N=%t");
        let ends = |line: &&str| line.trim().ends_with(&format!("={state}"));
        said.lines().filter(ends).count()
    }

    /// Waits until something holds.
    pub fn until(&self, what: &str, holds: impl Fn(&Cluster) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            let log = || fs::read_to_string(self.at("log/controller")).unwrap_or_default();
            assert!(
                begun.elapsed() < Duration::from_secs(300),
                "after 300 s not yet: {what}: {}",
                log()
            );
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Cuts the power of a node.
    pub fn kill_node(&mut self, node: usize) {
        self.nodes[node].kill().unwrap();
        self.nodes[node].wait().unwrap();
    }

    /// Starts a node again.
    pub fn start_node(&mut self, node: usize) {
        self.nodes[node] = self.node(node);
    }

    /// Stops a process that executes runs on one of these nodes, so that its job exceeds its time
    /// limit.
    pub fn stop_a_job(&self, on: &[usize]) {
        let executes = |pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("\0run-one\0")
        };
        let stopped = |cluster: &Cluster| {
            let nodes = on.iter().map(|node| cluster.nodes[*node].id()).collect();
            let found = descendants(nodes).into_iter().find(executes);
            let pid = found.and_then(|pid| Pid::from_raw(pid.cast_signed()));
            pid.is_some_and(|pid| kill_process(pid, Signal::STOP).is_ok())
        };
        self.until("a job executes runs", stopped);
    }

    /// The number of jobs that a node has started.
    pub fn jobs_of(&self, node: usize) -> usize {
        let log = fs::read_to_string(self.at(&format!("log/node{node}"))).unwrap();
        log.matches("Launching batch job").count()
    }

    /// The number of jobs that ended with these words in the nodes' logs.
    pub fn ended(&self, words: &str) -> usize {
        let log = |node| fs::read_to_string(self.at(&format!("log/node{node}"))).unwrap();
        (0..NODES)
            .map(|node| log(node).matches(words).count())
            .sum()
    }

    /// The CPU time of the controller's daemons, and of all daemons with their jobs.
    pub fn cpu(&self) -> [Duration; 2] {
        let own: Vec<u32> = self.controller.iter().map(Child::id).collect();
        let all: Vec<u32> = own
            .iter()
            .copied()
            .chain(self.nodes.iter().map(Child::id))
            .collect();
        [own, all].map(|of| {
            let every = descendants(of);
            every.into_iter().map(cpu_of).sum()
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self
            .nodes
            .iter_mut()
            .chain(self.controller.iter_mut().rev())
        {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Whether this user may create PID namespaces.
fn may_unshare() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc", "true"]);
    quiet(command).wait().is_ok_and(|status| status.success())
}

fn quiet(mut command: Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// These processes and all their descendants.
fn descendants(mut of: Vec<u32>) -> Vec<u32> {
    let mut at = 0;
    while let Some(&pid) = of.get(at) {
        // Children are listed per thread.
        let threads = fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten();
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children"));
            let children = children.unwrap_or_default();
            of.extend(
                children
                    .split(' ')
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
        at += 1;
    }
    of
}

/// The CPU time of a process and of its reaped children.
fn cpu_of(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let Some((_, rest)) = stat.rsplit_once(") ") else {
        return Duration::ZERO;
    };
    let fields = rest.split(' ').skip(11).take(4);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
