//! The description of a bundle, written before its first run.

use std::collections::BTreeMap;
use std::fs;

use assize_bundle::{Configuration, DeclaredTable, DeclaredTradeoff, DeclaredTradeoffMetric, Head};
use assize_plan::{BetterDirection, Plan};
use assize_target::kernels::Kernels;
use assize_target::qemu::Qemu;

use super::target;
use crate::failure::Failure;
use crate::levels;

/// Name of the fact that holds the revision under test.
pub(crate) const REVISION: &str = "revision";

/// The head of a bundle for this plan, on this machine.
pub(crate) fn head(plan: &Plan) -> Result<Head, Failure> {
    let machine = machine(&plan.target, &host_name());
    let value = serde_json::to_value(plan).map_err(|error| Failure::Show(error.to_string()))?;
    Ok(Head {
        source: plan.source.clone(),
        experiment: plan.experiment.clone(),
        plan: value,
        target: plan.target.clone(),
        machine,
        title: plan.title.clone(),
        question: plan.question.clone(),
        configurations: configurations(plan),
        level_settings: levels::level_settings(plan),
        same: BTreeMap::new(),
        factors: plan.switches.clone(),
        workloads: plan.workloads.iter().map(|w| w.name.clone()).collect(),
        primary: plan.primary.iter().map(|p| p.metric.clone()).collect(),
        higher_is_better: plan.higher_is_better.clone(),
        claims: plan.claims.iter().map(|c| c.text.clone()).collect(),
        tables: tables(plan),
        tradeoffs: tradeoffs(plan),
        planned_runs: u32::try_from(plan.runs.len()).unwrap_or(u32::MAX),
        facts: facts(plan)?,
        limits: target::limits(plan),
    })
}

/// The machine that runs are attributed to. Results are the same on every exact machine, so all
/// count as one.
fn machine(target: &str, host: &str) -> String {
    match target.strip_prefix("ssh:") {
        Some(remote) => remote.into(),
        None if target == "exact" => "exact".into(),
        None => host.into(),
    }
}

/// The configurations, baseline first.
pub(crate) fn configurations(plan: &Plan) -> Vec<Configuration> {
    let baseline = plan.configurations.first();
    let of = |configuration: &assize_plan::PlannedConfiguration| Configuration {
        name: configuration.name.clone(),
        label: configuration.label.clone(),
        factors: configuration.switches.clone().into_iter().collect(),
        repeats: baseline
            .filter(|_| configuration.aa)
            .map(|baseline| baseline.name.clone()),
    };
    plan.configurations.iter().map(of).collect()
}

fn tables(plan: &Plan) -> Vec<DeclaredTable> {
    let of = |table: &assize_plan::PlannedTable| DeclaredTable {
        metric: table.metric.clone(),
        workloads: table.workloads.clone(),
        normalised_to: table.normalised_to.clone(),
        factor: table.factor.clone(),
        baselines: table.baselines.clone().into_iter().collect(),
        place: table.place.clone(),
    };
    plan.tables.iter().map(of).collect()
}

fn tradeoffs(plan: &Plan) -> Vec<DeclaredTradeoff> {
    let metric = |side: &assize_plan::PlannedTradeoffMetric| DeclaredTradeoffMetric {
        metric: side.metric.clone(),
        workload: side.workload.clone(),
        higher_is_better: side.better == BetterDirection::Higher,
    };
    let of = |tradeoff: &assize_plan::PlannedTradeoff| DeclaredTradeoff {
        x: metric(&tradeoff.x),
        y: metric(&tradeoff.y),
        place: tradeoff.place.clone(),
    };
    plan.tradeoffs.iter().map(of).collect()
}

/// Facts in which bundles must agree for their runs to be pooled. Those whose names begin with
/// `host` are for information only.
fn facts(plan: &Plan) -> Result<BTreeMap<String, String>, Failure> {
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: String| facts.insert(name.to_string(), value);
    add("host_name", host_name());
    add("host_kernel", line_of("/proc/sys/kernel/osrelease"));
    add("host_cpu", cpu_model(&all_of("/proc/cpuinfo")));
    if let Some(revision) = &plan.overrides.revision {
        add(REVISION, revision.clone());
    }
    if assize_plan::is_virtual(&plan.target) {
        let root = Kernels::default_root()?;
        let qemu = match plan.target.as_str() {
            "live" => Qemu::find_live(&root)?,
            _ => Qemu::find(&root)?,
        };
        add("qemu", qemu.version);
        let kernels = Kernels::new(root);
        for configuration in &plan.configurations {
            let kernel = kernels.resolve(&configuration.machine.kernel)?;
            add(&format!("kernel {}", kernel.name), kernel.version);
        }
    }
    Ok(facts)
}

fn host_name() -> String {
    line_of("/proc/sys/kernel/hostname")
}

fn line_of(path: &str) -> String {
    all_of(path).trim().to_string()
}

fn all_of(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn cpu_model(cpuinfo: &str) -> String {
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.and_then(|rest| rest.split_once(':'));
    model.map_or_else(String::new, |(_, name)| name.trim().into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    fn plan(more: &str, factors: &str) -> Plan {
        let text = format!(
            "title = 't'\nquestion = 'q'\ntarget = 'host'\nruns = 2\n{more}\n{factors}\n\
             [workloads.w]\nkind = 'command'\nargv = ['true']\n"
        );
        let experiment = assize_plan::parse(&text, "test.toml").unwrap();
        experiment.plan(&assize_plan::Overrides::default()).unwrap()
    }

    fn factor(name: &str, levels: &[&str]) -> String {
        let level = |level: &&str| {
            format!("[factors.{name}.{level}]\nworkload.w.environment = {{ {name} = '{level}' }}\n")
        };
        levels.iter().map(level).collect()
    }

    #[test]
    fn two_factors_of_two_levels_are_a_grid() {
        let factors = factor("a", &["off", "on"]) + &factor("b", &["low", "high"]);
        let head = head(&plan("", &factors)).unwrap();
        assert_eq!(head.factors, ["a", "b"]);
        let on = |at: usize| -> Vec<bool> {
            head.configurations[at].factors.values().copied().collect()
        };
        assert_eq!(on(0), [false, false], "the baseline");
        assert_eq!(head.configurations.len(), 4);
        assert!((1..4).all(|at| on(at).contains(&true)));
    }

    #[test]
    fn three_levels_are_no_grid_of_switches() {
        let head = head(&plan("", &factor("a", &["x", "y", "z"]))).unwrap();
        assert!(head.factors.is_empty());
        assert!(head.configurations.iter().all(|c| c.factors.is_empty()));
        assert_eq!((head.planned_runs, &*head.target), (6, "host"));
    }

    #[test]
    fn the_baseline_once_more_says_what_it_repeats() {
        let head = head(&plan("aa = true", "")).unwrap();
        let [first, again] = &head.configurations[..] else {
            unreachable!("two configurations")
        };
        assert_eq!(first.repeats, None);
        assert_eq!(again.repeats.as_ref(), Some(&first.name));
    }

    #[test]
    fn all_exact_machines_are_one_and_others_are_not() {
        assert_eq!(machine("exact", "here"), "exact");
        assert_eq!(machine("host", "here"), "here");
        assert_eq!(machine("live", "here"), "here");
        assert_eq!(machine("ssh:root@board", "here"), "root@board");
    }

    #[test]
    fn the_model_is_read_from_the_first_cpu() {
        let text = "processor\t: 0\nmodel name\t: A CPU @ 2 GHz\nmodel name\t: B\n";
        assert_eq!(cpu_model(text), "A CPU @ 2 GHz");
        assert_eq!(cpu_model(""), "");
    }
}
