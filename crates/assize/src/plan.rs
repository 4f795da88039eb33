//! `assize plan`: shows what an experiment file would run, without running it.

use std::collections::BTreeSet;

use assize_plan::Plan;
use assize_verdict::count_of;

use crate::cli::{ALPHA, PlanArguments};
use crate::failure::Failure;
use crate::reach::{self, DesignReach};
use crate::terms::JudgingTerms;
use crate::{exposure, output, run};

/// Shows a plan, or writes it to a file.
pub(crate) fn plan(arguments: &PlanArguments) -> Result<u8, Failure> {
    let (plan, missing) = run::plan(&arguments.experiment, &arguments.overrides)?;
    for kernel in missing {
        eprintln!(
            "{kernel} has not been fetched yet; before running: assize kernel fetch {kernel}"
        );
    }
    if let Some(path) = &arguments.output {
        let text = serde_json::to_string_pretty(&plan);
        let text = text.map_err(|error| Failure::Show(error.to_string()))?;
        output::deliver(format!("{text}\n").as_bytes(), Some(path))?;
        output::print(format!("{} runs, from index 0\n", plan.runs.len()).as_bytes())?;
        return Ok(0);
    }
    let reach = DesignReach::of_plan(&plan, arguments.like.as_deref())?;
    let text = described(&plan) + "\n" + &reach.described() + &exposure::described(&plan);
    output::print(assize_report::printable(&text).as_bytes())?;
    Ok(0)
}

fn described(plan: &Plan) -> String {
    let mut text = format!("{}\n", plan.title);
    if !plan.question.is_empty() {
        text.push_str(&format!("{}\n", plan.question));
    }
    text.push_str(&format!("\ntarget: {}\n", plan.target));
    for (factor, levels) in &plan.factors {
        text.push_str(&format!("factor {factor}: {}\n", levels.join(", ")));
    }
    for configuration in &plan.configurations {
        let again = if configuration.aa { ", again" } else { "" };
        text.push_str(&format!(
            "configuration {}: {}{again}\n",
            configuration.name, configuration.label
        ));
    }
    for workload in &plan.workloads {
        text.push_str(&format!("workload {}\n", workload.name));
    }
    for instrument in &plan.instruments {
        text.push_str(&format!("instrument {instrument}\n"));
    }
    for primary in &plan.primary {
        text.push_str(&format!("primary metric {}\n", primary.metric));
    }
    for claim in &plan.claims {
        text.push_str(&format!("claim {}\n", claim.text));
    }
    text.push_str(&shown_by_the_report(plan));
    if let Some(until) = &plan.until {
        text.push_str(&format!(
            "stops early once the intervals of the primary metrics are within a factor {} of the ratio\n",
            1.0 + until.within
        ));
        for looks in &JudgingTerms::planned(plan).looks {
            for (end, level) in looks.ends.iter().zip(looks.levels(ALPHA)) {
                let level = reach::two_digits(level);
                text.push_str(&format!("look: after {end} blocks, at the level {level}\n"));
            }
        }
    }
    let cells = plan.configurations.len() * plan.workloads.len();
    text.push_str(&format!(
        "{} runs: {} of each of {cells} cells\n",
        plan.runs.len(),
        plan.runs.len() / cells.max(1)
    ));
    text.push_str(&images(plan));
    text
}

/// Tables and trade-offs.
fn shown_by_the_report(plan: &Plan) -> String {
    let mut text = String::new();
    for table in &plan.tables {
        let relative = table.normalised_to.as_ref();
        let relative = relative.map_or(String::new(), |name| format!(", normalised to {name}"));
        text.push_str(&format!(
            "table of {} on {}{relative}\n",
            table.metric,
            table.workloads.join(", ")
        ));
    }
    for tradeoff in &plan.tradeoffs {
        let side = |side: &assize_plan::PlannedTradeoffMetric| {
            format!("{} in {}", side.metric, side.workload)
        };
        text.push_str(&format!(
            "trade-off of {} against {}\n",
            side(&tradeoff.x),
            side(&tradeoff.y)
        ));
    }
    text
}

/// How many memory images there are, and how often a machine boots to create them.
fn images(plan: &Plan) -> String {
    if plan.images.is_empty() {
        return String::new();
    }
    let machines = plan.configurations.iter();
    let machines: BTreeSet<_> = machines.map(|one| &one.machine).collect();
    format!(
        "{}: {} unless already kept\n",
        count_of(plan.images.len(), "memory image"),
        count_of(plan.images.len() * machines.len(), "boot")
    )
}
