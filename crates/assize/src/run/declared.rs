//! Checks, before anything is run, that the claims of an experiment can be tested.

use assize_job::{Workload, event_names, measured};
use assize_plan::{Experiment, Overrides, Plan};
use assize_verdict::{ClaimNames, NamedClaim};

use crate::failure::Failure;

/// Refuses a claim that is malformed or names something that the experiment lacks. Names that the
/// command line leaves out are allowed.
pub(super) fn check(experiment: &Experiment) -> Result<(), Failure> {
    let plan = experiment.plan(&Overrides::default())?;
    let names: Vec<String> = plan.configurations.iter().map(|c| c.name.clone()).collect();
    for claim in &plan.claims {
        let refuse = |why: String| Failure::Argument(format!("{}: {why}", claim.place));
        read(&plan, &names, &claim.text).map_err(refuse)?;
    }
    Ok(())
}

/// Parses a claim, given the configurations of a plan; the error says why it cannot be tested.
pub(crate) fn read(
    plan: &Plan,
    configurations: &[String],
    claim: &str,
) -> Result<NamedClaim, String> {
    let found = ClaimNames {
        configurations: configurations.to_vec(),
        workloads: plan.workloads.iter().map(|w| w.name.clone()).collect(),
        metrics: metrics(plan, claim, |_| true),
    }
    .read(claim)
    .map_err(|error| error.to_string())?;
    if let Some(workload) = &found.workload
        && found.outcome.is_none()
        && !metrics(plan, claim, |one| one.name == *workload).contains(&found.metric)
    {
        return Err(format!(
            "'{}' is not measured in '{workload}'; name another workload, or leave out \
             `in {workload}`",
            found.metric
        ));
    }
    Ok(found)
}

/// The events whose rates are claimed, each once, with the index in [`Plan::workloads`] of the
/// workload that counts it. Claims about parts of the experiment that the command line leaves out
/// are skipped.
pub(crate) fn rates(plan: &Plan) -> Vec<(String, usize)> {
    let mut rates = Vec::new();
    let names: Vec<String> = plan.configurations.iter().map(|c| c.name.clone()).collect();
    let claims = plan.claims.iter();
    let named = claims.filter_map(|claim| read(plan, &names, &claim.text).ok());
    for claim in named {
        for (at, workload) in plan.workloads.iter().enumerate() {
            let counted = event_names(&[workload], &plan.instruments);
            let here = claim
                .workload
                .as_ref()
                .is_none_or(|on| *on == workload.name);
            let rate = (claim.metric.clone(), at);
            if here && counted.contains(&&*claim.metric) && !rates.contains(&rate) {
                rates.push(rate);
            }
        }
    }
    rates
}

/// The metrics and events that runs of some workloads can have, each once.
fn metrics(plan: &Plan, claim: &str, which: impl Fn(&Workload) -> bool) -> Vec<String> {
    let every = plan.configurations.iter().flat_map(|one| &one.workloads);
    let workloads: Vec<&Workload> = every.filter(|one| which(one)).collect();
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !names.contains(&name) {
            names.push(name);
        }
    };
    for name in measured(&workloads, &plan.instruments) {
        if name.is_open() {
            // Of a family of metrics, adds those that the claim may name.
            let spoken = phrases(claim).into_iter();
            spoken.filter(|text| name.matches(text)).for_each(&mut add);
        } else {
            add(name.to_string());
        }
    }
    for event in event_names(&workloads, &plan.instruments) {
        add(event.to_owned());
    }
    names
}

/// Every sequence of consecutive words in a text, without surrounding quotes.
fn phrases(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut phrases = Vec::new();
    for from in 0..words.len() {
        for to in from + 1..=words.len() {
            let phrase = words[from..to].join(" ");
            phrases.push(phrase.trim_matches(['\'', '"']).to_owned());
        }
    }
    phrases
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
title = "x"
instruments = ["cpu-idle"]
claims = ["CLAIM"]
[factors.queue.drm-sched]
[factors.queue.depq]
cpus = 2
[factors.queue.depq-2]
cpus = 3
[workloads.pong]
kind = "ping-pong"
[workloads.timer]
kind = "cyclictest"
[workloads.screen]
kind = "frames"
"#;

    fn checked(claim: &str) -> Result<(), String> {
        let file = FILE.replace("CLAIM", claim);
        let experiment = assize_plan::parse(&file, "x.toml").unwrap();
        check(&experiment).map_err(|failure| failure.to_string())
    }

    #[test]
    fn names_that_the_experiment_has_may_be_claimed() {
        for claim in [
            "depq < drm-sched on elapsed",
            "depq-2 <= drm-sched + 0.5% on elapsed in pong",
            "depq = depq-2 on latency_ns_p99 in timer",
            "depq < drm on cpu1_non_idle in timer",
            "depq > drm on frames_missed in screen",
            "depq <= drm + 5% on crashes",
            "depq < drm on kernel warnings in timer",
        ] {
            assert_eq!(checked(claim), Ok(()), "{claim}");
        }
    }

    #[test]
    fn a_mistake_is_named_with_file_line_key_and_mend() {
        for (claim, expected) in [
            ("depq is better", "no <, > or =: expected `A < B on METRIC"),
            (
                "depk < drm-sched on elapsed",
                "no configuration \"depk\"; did you mean \"depq\"?",
            ),
            (
                "depq < drm-sched on elapst",
                "no metric \"elapst\"; did you mean \"elapsed\"?",
            ),
            (
                "depq < drm-sched on elapsed in ping",
                "no workload \"ping\"; did you mean \"pong\"?",
            ),
            (
                "depq < drm-sched on latency_ns_p99 in pong",
                "is not measured in 'pong'",
            ),
            (
                "depq <= drm-sched on elapsed",
                "`<=` needs a margin: write `A <= B + 2%`",
            ),
        ] {
            let error = checked(claim).unwrap_err();
            assert!(error.starts_with("x.toml:4: claims[0]: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
    }
}
