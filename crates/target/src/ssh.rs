//! The ssh target: another host.

mod connection;
mod probe;
mod reboot;
mod upload;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assize_job::{Action, Job, LinkedProgram, Order, RunIdentityPart};

use crate::carried::{CarriedFiles, module_here};
use crate::host::{encode, failure_of_exit, limits};
use crate::kernels::Kernels;
use crate::talk::{ChildEnd, ChildLimits};
use crate::testbed::Testbed;
use crate::{
    Error, OrderResult, PreparationStep, ReportStep, RunFailure, RunOutcome, Target, agent, needs,
    packages, stream,
};
use connection::{Connection, quote};
use probe::HostProbe;

/// How far an agent may exceed the limit that it enforces itself.
const GRACE: Duration = Duration::from_secs(30);
/// How long a host that was lost may take to answer again.
const RETURN: Duration = Duration::from_secs(300);
/// How long killing leftover processes may take.
const ENDING: Duration = Duration::from_secs(30);

/// Another host, reached by ssh; the agent is copied there.
///
/// As with [`crate::Host`], the machine is used unchanged. Nothing has to be installed there except
/// sh, the programs that the experiment names, and `tar` if it copies directories.
#[derive(Debug)]
pub struct Ssh {
    connection: Connection,
    agent: Option<PathBuf>,
    grace: Duration,
    may_return: Duration,
    prepared: Mutex<Option<Arc<PreparedHost>>>,
}

/// A host on which everything was prepared.
#[derive(Debug)]
struct PreparedHost {
    paths: RemotePaths,
    /// The boot during which it was prepared.
    boot_id: String,
    orders: Vec<Order>,
}

/// Paths on the other host.
#[derive(Debug, Clone)]
struct RemotePaths {
    directory: String,
    agent: String,
    /// Path of a module file here to its path there.
    modules: BTreeMap<String, String>,
}

impl Ssh {
    /// The host of `ssh:HOST`, which is anything ssh accepts, such as an alias, `user@host`
    /// or `ssh://user@host:port`. The words of `$ASSIZE_SSH` replace `ssh`. Does not
    /// connect yet.
    ///
    /// # Errors
    /// It cannot be the name of a host.
    pub fn new(host: &str) -> Result<Ssh, Error> {
        Ok(Ssh::over(Connection::new(without_prefix(host))?))
    }

    /// Like [`Ssh::new`], with these words instead of `$ASSIZE_SSH`, and this agent instead
    /// of the one that [`agent::find`] finds.
    ///
    /// # Errors
    /// It cannot be the name of a host.
    pub fn with_command(host: &str, ssh: Vec<String>, agent: PathBuf) -> Result<Ssh, Error> {
        let connection = Connection::with_command(without_prefix(host), ssh)?;
        Ok(Ssh {
            agent: Some(agent),
            ..Ssh::over(connection)
        })
    }

    /// Sets how far the agent may exceed the limit that it enforces itself; 30 s by
    /// default.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Ssh {
        self.grace = grace;
        self
    }

    /// Sets how long a host that was lost may take to answer again; 300 s by default.
    #[must_use]
    pub fn with_return(mut self, limit: Duration) -> Ssh {
        self.may_return = limit;
        self
    }

    fn over(connection: Connection) -> Ssh {
        Ssh {
            connection,
            agent: None,
            grace: GRACE,
            may_return: RETURN,
            prepared: Mutex::new(None),
        }
    }

    fn name(&self) -> String {
        let host = self.connection.host();
        match host.strip_prefix("ssh:") {
            Some(_) => host.to_string(),
            None => format!("ssh:{host}"),
        }
    }

    /// Queries the host, and fails if these runs are not possible there.
    fn look(&self, orders: &[Order]) -> Result<HostProbe, Error> {
        // A program that is about to be copied there need not exist yet.
        let brought = |linked: &&LinkedProgram| {
            let files = orders.iter().flat_map(|order| &order.payload.files);
            !files
                .map(|(_, there)| there)
                .any(|there| std::path::Path::new(&linked.program).starts_with(there))
        };
        let programs = needs::programs(orders);
        let programs = programs.iter().filter(brought);
        let script = probe::script(programs, &needs::kernel_files(orders));
        self.connection.open()?;
        let answer = self
            .connection
            .must("probe the system", &script, Vec::new())?;
        let probe = probe::read(&answer);
        let what = format!("run on {}", self.name());
        if probe.system != "Linux" {
            let why = format!("its system is `{}`, not Linux", probe.system);
            return Err(self.connection.error(&what, why, None));
        }
        let as_root = format!("use `--target {}`", root_at(self.connection.host()));
        needs::check(
            orders,
            &probe.facts,
            &probe.unwritable,
            &self.name(),
            &as_root,
        )?;
        if !probe.missing.is_empty() {
            let missing: Vec<&str> = probe.missing.iter().map(String::as_str).collect();
            let why = format!("not found in PATH there: {}", missing.join(", "));
            let mend = packages::install(missing).map(|mend| format!("{mend} there"));
            return Err(self.connection.error(&what, why, mend));
        }
        Ok(probe)
    }

    fn there(&self, order: &Order) -> Result<Arc<PreparedHost>, Error> {
        let known = |ssh: &Ssh| ssh.lock().clone();
        if let Some(there) = known(self) {
            return Ok(there);
        }
        self.prepare(std::slice::from_ref(order))?;
        known(self).ok_or_else(|| {
            let what = format!("run on {}", self.name());
            self.connection
                .error(&what, "it was not prepared".into(), None)
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<PreparedHost>>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a host that was lost during a run. If it has rebooted since, prepares it again and
    /// returns the failure of the run.
    ///
    /// # Errors
    /// The host does not answer again, or cannot be prepared.
    fn after_loss(&self, before: &PreparedHost) -> Result<Option<RunFailure>, Error> {
        let boot_id = reboot::wait_for_boot_id(&self.connection, self.may_return)?;
        if boot_id == before.boot_id {
            return Ok(None);
        }
        self.prepare(&before.orders)?;
        Ok(Some(RunFailure::Rebooted))
    }

    /// Kills the processes that a run left there.
    fn end(&self, there: &RemotePaths) {
        let limits = ChildLimits {
            time: Some(ENDING),
            bytes: 1 << 20,
        };
        // If this fails, the host cannot be reached, and the next run reports that.
        let _ = self
            .connection
            .run(&end_script(&there.directory), Vec::new(), limits);
    }
}

impl Target for Ssh {
    /// One, because runs on one machine affect each other.
    fn slots(&self) -> usize {
        1
    }

    fn prepare_telling(&self, orders: &[Order], tell: &ReportStep<'_>) -> Result<(), Error> {
        needs::same_machine(orders, &self.name())?;
        if let [module, ..] =
            Testbed::new(&Kernels::default_root().unwrap_or_default()).named_modules(orders)[..]
        {
            let what = format!("run on {}", self.name());
            let why = format!("the testbed's module {module} is not built for other hosts");
            let mend = "build it there and give the path of its .ko file, or use `--target exact`";
            return Err(self.connection.error(&what, why, Some(mend.into())));
        }
        let mut policies = orders.iter().filter_map(|order| order.job.policy.as_ref());
        if let Some(policy) = policies.next() {
            let what = format!("run on {}", self.name());
            let why = format!(
                "the placement policy {} is not copied to other hosts",
                policy.name
            );
            let mend = "run assize there with `--target host`, or use `--target exact`";
            return Err(self.connection.error(&what, why, Some(mend.into())));
        }
        let agent = match &self.agent {
            Some(agent) => agent.clone(),
            None => agent::find()?,
        };
        let host = self.connection.host().to_owned();
        tell(PreparationStep::Host { host });
        let probe = self.look(orders)?;
        let paths = upload::upload_all(&self.connection, &agent, orders, &probe)?;
        *self.lock() = Some(Arc::new(PreparedHost {
            paths,
            boot_id: probe.boot_id,
            orders: orders.to_vec(),
        }));
        Ok(())
    }

    fn expected(&self, order: &Order) -> Result<Vec<RunIdentityPart>, Error> {
        let mut carried = CarriedFiles::default();
        for action in &order.job.setup {
            if let Action::Module { module, .. } = action
                && needs::is_file(module)
            {
                carried.modules.push(module_here(module)?);
            }
        }
        for (here, there) in &order.payload.files {
            if here.is_file() {
                carried.digest_here(&here.to_string_lossy(), there)?;
            }
        }
        Ok(carried.expected(&order.job, false))
    }

    fn run(&self, order: &Order, _slot: usize) -> Result<OrderResult, Error> {
        let started = Instant::now();
        let prepared = self.there(order)?;
        let there = &prepared.paths;
        let limits = limits(&order.job, self.grace);
        let job = encode(&translated(&order.job, &there.modules), &self.name())?;
        let talk = self.connection.run(&run_script(there), job, limits)?;
        let lost = (talk.end != ChildEnd::Time)
            .then(|| self.connection.trouble(&talk))
            .flatten();
        let rebooted = match &lost {
            Some(_) => self.after_loss(&prepared)?,
            None => None,
        };
        let who = match lost {
            Some(error) => format!("{error}; ssh"),
            None => "the agent".into(),
        };
        let ended = rebooted.or_else(|| failure_of_exit(&talk, limits, &who));
        let outcome = stream::outcome_of_process(&talk.stdout, &talk.stderr, ended);
        if !matches!(outcome, RunOutcome::Completed(_)) {
            self.end(there);
        }
        Ok(OrderResult {
            outcome,
            machine: needs::recorded(&order.machine, &self.name()),
            cached: false,
            elapsed: started.elapsed(),
        })
    }
}

/// The host without the target's prefix `ssh:`.
fn without_prefix(host: &str) -> &str {
    match host.strip_prefix("ssh:") {
        Some(rest) if !rest.starts_with("//") => rest,
        _ => host,
    }
}

/// The name of the target for root on the same host.
fn root_at(host: &str) -> String {
    let (scheme, rest) = match host.strip_prefix("ssh://") {
        Some(rest) => ("ssh://", rest),
        None => ("ssh:", host),
    };
    let bare = rest.rsplit_once('@').map_or(rest, |(_, bare)| bare);
    format!("{scheme}root@{bare}")
}

/// The job with the paths of its module files there.
fn translated(job: &Job, modules: &BTreeMap<String, String>) -> Job {
    let mut job = job.clone();
    for action in job.setup.iter_mut().chain(&mut job.teardown) {
        if let Action::Module { module, .. } = action
            && let Some(there) = modules.get(module)
        {
            module.clone_from(there);
        }
    }
    job
}

/// The script that runs the agent. If it has its own session, as under sshd, it writes the
/// session's id to a file, so that [`end_script`] can kill leftover processes.
fn run_script(there: &RemotePaths) -> String {
    let note = quote(&format!("{}/session", there.directory));
    let agent = quote(&there.agent);
    format!(
        r#"read -r line < /proc/$$/stat
set -- ${{line##*) }}
if [ "$4" = $$ ] || [ "$4" = "$PPID" ]; then echo "$4" > {note}; fi
{agent} run
status=$?
rm -f {note}
exit $status
"#
    )
}

/// The script that kills every process of the session that a run has recorded.
fn end_script(directory: &str) -> String {
    let note = quote(&format!("{directory}/session"));
    format!(
        r#"[ -e {note} ] || exit 0
read -r session < {note}
rm -f {note}
for round in 1 2 3; do
    for stat in /proc/[0-9]*/stat; do
        read -r line < "$stat" || continue
        pid=${{stat#/proc/}}
        set -- ${{line##*) }}
        if [ "$4" = "$session" ]; then kill -KILL "${{pid%/stat}}"; fi
    done
done 2> /dev/null
exit 0
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_target_and_hosts_are_taken() {
        assert_eq!(without_prefix("ssh:me@box"), "me@box");
        assert_eq!(without_prefix("box"), "box");
        assert_eq!(without_prefix("ssh://me@box:22"), "ssh://me@box:22");
        assert_eq!(without_prefix("ssh:ssh://me@box:22"), "ssh://me@box:22");
    }

    #[test]
    fn root_is_on_the_same_host() {
        assert_eq!(root_at("me@box"), "ssh:root@box");
        assert_eq!(root_at("box"), "ssh:root@box");
        assert_eq!(root_at("ssh://me@box:22"), "ssh://root@box:22");
    }

    #[test]
    fn modules_get_the_path_they_have_there() {
        let module = |module: &str| Action::Module {
            module: module.into(),
            parameters: BTreeMap::new(),
        };
        let job = Job {
            setup: vec![module("./depq.ko"), module("drm")],
            teardown: vec![module("./depq.ko")],
            ..Job::default()
        };
        let modules = BTreeMap::from([("./depq.ko".to_string(), "/c/depq.ko".to_string())]);
        let there = translated(&job, &modules);
        assert_eq!(there.setup, [module("/c/depq.ko"), module("drm")]);
        assert_eq!(there.teardown, [module("/c/depq.ko")]);
    }
}
