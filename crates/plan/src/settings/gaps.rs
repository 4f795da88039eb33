//! Settings of the `gaps` instrument, which watches CPUs, and their checks.

use assize_job::{GapsSettings, Policy};

use crate::experiment::Experiment;
use crate::plan::PlannedConfiguration;
use crate::values::error::Error;

/// The name of the instrument.
const NAME: &str = "gaps";
/// The longest baseline measurement on an idle machine.
const BASELINE_NS_MAX: u64 = 60_000_000_000;

/// The settings of `gaps`, if the experiment uses it.
pub(crate) fn settings(experiment: &Experiment) -> Option<GapsSettings> {
    let file = &experiment.file;
    let asked = file.instruments.iter().any(|name| name == NAME);
    asked.then(|| file.gaps.clone().unwrap_or_default())
}

/// Checks the settings; the error is the first mistake.
pub(crate) fn find(
    experiment: &Experiment,
    configurations: &[PlannedConfiguration],
) -> Result<(), Error> {
    let error = |key: &str, why: String| Err(experiment.error(&format!("gaps.{key}"), why));
    let Some(gaps) = settings(experiment) else {
        return match experiment.file.gaps {
            None => Ok(()),
            Some(_) => {
                let error = experiment.error(NAME, "the instrument gaps is not asked for");
                Err(error.mend("add 'gaps' to instruments"))
            }
        };
    };
    if gaps.width_ns > gaps.window_ns {
        return error("width", "is longer than the window".into())
            .map_err(|error: Error| error.mend("set window too, or a width below 1s"));
    }
    if gaps.threshold_ns >= gaps.width_ns {
        return error("threshold", "is not shorter than the width".into());
    }
    if gaps.baseline_ns > BASELINE_NS_MAX {
        return error("baseline", "is longer than 1min".into());
    }
    let real_time = matches!(gaps.policy, Policy::Fifo | Policy::Rr);
    if real_time && gaps.priority == 0 {
        return error("policy", "fifo and rr want a priority of 1 to 99".into())
            .map_err(|error: Error| error.mend("add priority = 1"));
    }
    if !real_time && gaps.priority != 0 {
        let why = format!("priority {} is for the policies fifo and rr", gaps.priority);
        return error("priority", why)
            .map_err(|error: Error| error.mend("set policy = \"fifo\" or priority = 0"));
    }
    check_cpus(experiment, NAME, &gaps.cpus, configurations)
}

/// Checks that each CPU of the list `cpus` in this table is listed once and
/// exists.
pub(crate) fn check_cpus(
    experiment: &Experiment,
    table: &str,
    cpus: &[u32],
    configurations: &[PlannedConfiguration],
) -> Result<(), Error> {
    let error = |key: &str, why: String| Err(experiment.error(&format!("{table}.{key}"), why));
    for (at, cpu) in cpus.iter().enumerate() {
        let key = format!("cpus[{at}]");
        if cpus[..at].contains(cpu) {
            return error(&key, format!("{cpu} is given twice"));
        }
        let machines = configurations.iter().map(|one| one.machine.cpus);
        let fewest = machines.min().unwrap_or(0);
        if is_virtual(experiment) && *cpu >= fewest {
            let why = format!("there is no CPU {cpu} among {fewest}, which count from 0");
            let mend = format!("set cpus = {} at the top", cpu.saturating_add(1));
            return error(&key, why).map_err(|error: Error| error.mend(mend));
        }
    }
    Ok(())
}

/// Whether the experiment sets the number of CPUs, as it does for assize's
/// virtual machines.
fn is_virtual(experiment: &Experiment) -> bool {
    matches!(experiment.file.target.as_str(), "exact" | "live")
}
