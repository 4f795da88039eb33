//! `assize try --each` and `assize bisect` on a cluster: they must give the same result as on one
//! machine.

use std::fs;

use serde_json::Value;

use super::cluster::Cluster;
use crate::common::scheduler::{NEUTRAL, Place, SLOWER};
use crate::common::{Outcome, errors, files};

const CLAIM: &str = "new > old + 50% on busy_time_per_job in sync";
/// The verbs with their arguments, and the runs that each needs.
const VERBS: [(&[&str], usize); 2] = [
    (&["try", "good..bad", "--each"], 3 * 2 * 6),
    (&["bisect", "good..bad", "--claim", CLAIM], 3 * 2 * 6),
];

pub(super) fn same_as_here() -> Outcome {
    let (Some(cluster), Some(place)) = (Cluster::start(), Place::new()) else {
        return Ok(());
    };
    place.git(&["tag", "good"]);
    place.commit("drm/sched: Describe the module", NEUTRAL);
    place.commit("drm/sched: Wait before each job", SLOWER);
    place.git(&["tag", "bad"]);
    let (variable, configuration) = cluster.variable();
    let carried_out = |words: &[&str], on: &[&str]| {
        place.forget_runs();
        let usual = ["--experiment", "short.toml", "--quiet", "--format", "json"];
        let done = place
            .command(&[words, &usual, &["--out", "out"], on].concat())
            .env(variable, &configuration)
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
        let mut said: Value = serde_json::from_slice(&done.stdout).unwrap();
        said["reproduce"].take();
        let out = place.path().join("out");
        let found = files(&out);
        fs::remove_dir_all(out).unwrap();
        (said, found)
    };
    for (words, runs) in VERBS {
        let here = carried_out(words, &[]);
        let jobs = || (0..4).map(|node| cluster.jobs_of(node)).sum::<usize>();
        let before = jobs();
        let farm = carried_out(words, &["--on", "slurm"]);
        assert!(jobs() > before, "{words:?}: no node executed a job");
        assert_eq!(farm.0, here.0, "{words:?}");
        assert!(farm.1.keys().eq(here.1.keys()), "{words:?}: the same files");
        let mut differ: Vec<_> = here.1.keys().collect();
        differ.retain(|name| farm.1[*name] != here.1[*name]);
        assert!(differ.is_empty(), "{words:?}: {differ:?}");
        let recorded = here.1.keys().filter(|path| {
            let folder = path.parent().and_then(|parent| parent.file_name());
            folder.is_some_and(|folder| folder == "runs")
        });
        assert_eq!(recorded.count(), runs, "{words:?}");
    }
    Ok(())
}
