//! Reports before the first run and after the last.

use std::collections::BTreeSet;

use assize_plan::Plan;
use assize_target::Target;

use super::progress::RunTally;

/// The counts after the last run; `stopped` is the number of blocks at an early stop.
pub(super) fn summary(planned: usize, tally: RunTally, stopped: Option<usize>) -> String {
    let RunTally {
        recorded,
        new,
        cached,
        failed,
    } = tally;
    let mut text = if cached as usize == planned {
        format!("all {planned} runs came from the cache")
    } else {
        format!("{recorded} of {planned} runs recorded")
    };
    if (cached as usize) < planned && cached > 0 {
        text.push_str(&match cached {
            all if all == new => "; all new runs came from the cache".to_string(),
            some => format!("; {some} came from the cache"),
        });
    }
    if let Some(blocks) = stopped {
        text.push_str(&format!(
            "; stopped after {blocks} blocks: all verdicts decided, intervals narrow enough"
        ));
    }
    if failed > 0 {
        text.push_str(&format!("; {failed} failed"));
    }
    text
}

/// The features that the target lacks and the configurations that need them, one line each.
pub(super) fn lacking(plan: &Plan, target: &dyn Target) -> Vec<String> {
    let mut lines: Vec<(String, BTreeSet<usize>)> = Vec::new();
    let mut seen = BTreeSet::new();
    for run in &plan.runs {
        if !seen.insert((run.configuration, run.workload)) {
            continue;
        }
        let order = plan.order(run.index);
        for why in order.iter().flat_map(|order| target.lacking(order)) {
            match lines.iter_mut().find(|(known, _)| *known == why) {
                Some((_, of)) => {
                    of.insert(run.configuration);
                }
                None => lines.push((why, BTreeSet::from([run.configuration]))),
            }
        }
    }
    let all = plan.configurations.len();
    let told = lines.into_iter().map(|(why, of)| {
        let names = of.iter().filter_map(|at| plan.configurations.get(*at));
        let names: Vec<&str> = names.map(|one| one.name.as_str()).collect();
        match names.len() == all {
            true => why,
            false => format!("{}: {why}", names.join(", ")),
        }
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_says_what_was_measured_now() {
        let tally = |recorded, new, cached, failed| RunTally {
            recorded,
            new,
            cached,
            failed,
        };
        for (tally, stopped, want) in [
            (tally(8, 8, 0, 0), None, "8 of 8 runs recorded"),
            (tally(8, 8, 8, 0), None, "all 8 runs came from the cache"),
            (
                tally(8, 3, 3, 0),
                None,
                "8 of 8 runs recorded; all new runs came from the cache",
            ),
            (
                tally(8, 8, 2, 1),
                None,
                "8 of 8 runs recorded; 2 came from the cache; 1 failed",
            ),
            (
                tally(4, 4, 0, 0),
                Some(2),
                "4 of 8 runs recorded; stopped after 2 blocks: all verdicts decided, intervals \
                 narrow enough",
            ),
        ] {
            assert_eq!(summary(8, tally, stopped), want);
        }
    }
}
