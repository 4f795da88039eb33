//! Sets the governors of idle states and frequencies for a run.

use std::fs;
use std::path::Path;

use assize_job::{FREQUENCY_POLICIES, Frequency, IDLE_GOVERNOR, Idle, Job};

use crate::sys;

/// The step that failed, and why.
type PowerFailure = (String, String);

/// The governors before the run.
#[derive(Debug, Default)]
pub(crate) struct Governors {
    /// Files and their previous content, in the order in which they were
    /// written.
    before: Vec<(String, String)>,
}

impl Governors {
    /// Sets the governors that the job declares and reads them back. The set-up has
    /// already loaded the drivers.
    pub(crate) fn set(&mut self, job: &Job) -> Result<(), PowerFailure> {
        if let Some(idle) = &job.idle {
            let what = format!("idle governor {}", idle.governor.word());
            self.set_idle(idle).map_err(|why| (what, why))?;
        }
        if let Some(frequency) = &job.frequency {
            let what = format!("frequency governor {}", frequency.governor.word());
            set_frequency(frequency).map_err(|why| (what, why))?;
        }
        Ok(())
    }

    /// Restores the idle governor, on a machine that outlives the run. Frequencies are
    /// restored when their driver is unloaded.
    pub(crate) fn restore(self) {
        for (path, value) in self.before.into_iter().rev() {
            // If this fails, the environment of the next run shows it.
            let _ = fs::write(path, value);
        }
    }

    fn set_idle(&mut self, idle: &Idle) -> Result<(), String> {
        for (path, wanted) in idle.settings() {
            if path == IDLE_GOVERNOR {
                let known = path.replace("current_governor", "available_governors");
                is_known(&known, &wanted, "CONFIG_CPU_IDLE_GOV")?;
                self.before.push((path.clone(), read(&path)?));
                write_setting(&path, &wanted)?;
            }
            is_now(&path, &wanted)?;
        }
        Ok(())
    }
}

fn set_frequency(frequency: &Frequency) -> Result<(), String> {
    let policies = policies();
    if policies.is_empty() {
        return Err(format!("{FREQUENCY_POLICIES}: no CPU has a frequency"));
    }
    for policy in policies {
        for (path, wanted) in frequency.settings() {
            let path = path.replace("policy0", &policy);
            if path.ends_with("/scaling_governor") {
                let known = path.replace("scaling_governor", "scaling_available_governors");
                is_known(&known, &wanted, "CONFIG_CPU_FREQ_GOV")?;
            }
            if !path.ends_with("/scaling_driver") {
                write_setting(&path, &wanted)?;
            }
            is_now(&path, &wanted)?;
        }
    }
    Ok(())
}

/// The files of the settings that the job declares.
pub(crate) fn settings(job: &Job) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    if let Some(idle) = &job.idle {
        paths.extend(idle.settings().into_iter().map(|(path, _)| path));
    }
    if let Some(frequency) = &job.frequency {
        let first = frequency.settings();
        let every = policies().into_iter().flat_map(|policy| {
            let path = |(path, _): &(String, String)| path.replace("policy0", &policy);
            first.iter().map(path).collect::<Vec<_>>()
        });
        paths.extend(every);
    }
    paths
}

/// Names of the cpufreq policies: groups of CPUs that share a frequency.
fn policies() -> Vec<String> {
    let entries = fs::read_dir(FREQUENCY_POLICIES).into_iter().flatten();
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with("policy"))
        .collect();
    names.sort();
    names
}

/// Fails, naming the available governors, unless the kernel has this one.
fn is_known(path: &str, wanted: &str, option: &str) -> Result<(), String> {
    let known = read(path)?;
    if known.split_whitespace().any(|name| name == wanted) {
        return Ok(());
    }
    let known: Vec<&str> = known.split_whitespace().collect();
    // The kernel offers this one only as a guest of KVM, even if it is built in.
    let guest = match wanted {
        "haltpoll" => " as a guest of KVM",
        _ => "",
    };
    Err(format!(
        "this kernel has {}, not {wanted}; name one of these, or use a kernel with {option}_{}{guest}",
        known.join(", "),
        wanted.to_uppercase()
    ))
}

fn is_now(path: &str, wanted: &str) -> Result<(), String> {
    let found = read(path)?;
    match found == wanted {
        true => Ok(()),
        false => Err(format!("{path}: it is '{found}', not '{wanted}'")),
    }
}

fn read(path: &str) -> Result<String, String> {
    let text = fs::read_to_string(Path::new(path));
    let text = text.map_err(sys::failure_of(&path))?;
    Ok(text.trim().to_owned())
}

fn write_setting(path: &str, value: &str) -> Result<(), String> {
    fs::write(path, value).map_err(sys::failure_of(&path))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn a_governor_that_is_not_there_is_told_those_that_are() {
        let place = tempfile::tempdir().unwrap();
        let path = place
            .path()
            .join("available")
            .to_string_lossy()
            .into_owned();
        fs::write(&path, "ladder menu \n").unwrap();
        assert_eq!(is_known(&path, "menu", "X"), Ok(()));
        let why = is_known(&path, "teo", "CONFIG_CPU_IDLE_GOV").unwrap_err();
        assert!(
            why.starts_with("this kernel has ladder, menu, not teo"),
            "{why}"
        );
        assert!(why.ends_with("CONFIG_CPU_IDLE_GOV_TEO"), "{why}");
        let why = is_known(&path, "haltpoll", "CONFIG_CPU_IDLE_GOV").unwrap_err();
        assert!(why.ends_with("_HALTPOLL as a guest of KVM"), "{why}");
        // Part of a name is no match.
        assert!(is_known(&path, "men", "X").is_err());
    }

    #[test]
    fn what_is_read_back_decides() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("current").to_string_lossy().into_owned();
        fs::write(&path, "menu\n").unwrap();
        assert_eq!(is_now(&path, "menu"), Ok(()));
        let why = is_now(&path, "ladder").unwrap_err();
        assert!(why.ends_with("it is 'menu', not 'ladder'"), "{why}");
    }

    #[test]
    fn nothing_is_set_where_nothing_is_declared() {
        let mut governors = Governors::default();
        assert_eq!(governors.set(&Job::default()), Ok(()));
        assert!(governors.before.is_empty() && settings(&Job::default()).is_empty());
    }
}
