//! From the files that a change touches to what has to be built.

use assize_series::Commit;
use assize_target::testbed::{PARTS, Part};

use crate::failure::Failure;

/// What a change touches.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    /// What is built.
    pub(crate) part: &'static Part,
    /// Files that no module that runs here is made of, each once.
    pub(crate) left_out: Vec<String>,
}

/// Files that are no code.
const WORDS: &[&str] = &[
    "Documentation/",
    "LICENSES/",
    "MAINTAINERS",
    "CREDITS",
    ".mailmap",
];
/// Beginnings of paths to an experiment on which what lies there tells: the first that
/// fits.
const WHOLE: &[(&str, &str)] = &[
    ("kernel/sched/", "experiments/run-job-latency.toml"),
    ("kernel/workqueue", "experiments/try/drm-scheduler.toml"),
    ("kernel/time/", "experiments/tour/cyclictest.toml"),
    ("kernel/locking/", "experiments/run-job-latency-crowd.toml"),
    ("arch/x86/lib/csum", "experiments/checksum.toml"),
    ("arch/x86/lib/", "experiments/usercopy.toml"),
    ("lib/checksum", "experiments/checksum.toml"),
    ("lib/", "experiments/usercopy.toml"),
    ("mm/", "experiments/tour/kernels.toml"),
    ("drivers/gpu/drm/", "experiments/framebuffer-latency.toml"),
];
/// Below it each directory is a driver that runs only with its device.
const DRIVERS: &str = "drivers/gpu/drm/";

impl Touched {
    /// Of all commits together.
    pub(crate) fn of(commits: &[Commit]) -> Result<Touched, Failure> {
        let mut paths: Vec<&str> = Vec::new();
        for path in commits.iter().flat_map(|commit| &commit.paths) {
            if !paths.contains(&path.as_str()) {
                paths.push(path);
            }
        }
        part_of(&paths).map_err(Failure::Argument)
    }
}

/// The part that these files are of, or why there is none.
pub(crate) fn part_of(paths: &[&str]) -> Result<Touched, String> {
    let is_of = |path: &str| PARTS.iter().find(|part| part.has(path));
    let Some(part) = paths.iter().find_map(|path| is_of(path)) else {
        let what = match paths.iter().find(|path| !is_words(path)) {
            Some(path) => whole_kernel(path),
            None => "the change touches no code; there is nothing to try".into(),
        };
        return Err(what);
    };
    let mut left_out = Vec::new();
    for path in paths.iter().filter(|path| !part.has(path)) {
        if !is_words(path) && !is_driver(path) {
            return Err(whole_kernel(path));
        }
        left_out.push((*path).to_owned());
    }
    Ok(Touched { part, left_out })
}

/// Whether any of these files is code.
pub(crate) fn touches_code(paths: &[String]) -> bool {
    paths.iter().any(|path| !is_words(path))
}

fn whole_kernel(path: &str) -> String {
    let known: Vec<&str> = PARTS.iter().map(|part| part.directory).collect();
    let mut rows = WHOLE.iter();
    let row = rows.find(|(start, _)| path.starts_with(start));
    let with = row.map_or_else(String::new, |(_, experiment)| {
        format!(" of an experiment; for this file begin with {experiment}")
    });
    format!(
        "{path}: this needs the whole kernel, which assize try does not build yet (as modules it \
         builds {}): build both sides with `assize kernel build NAME --tree DIR`, or give your \
         own to `assize kernel add`, and make each a level with kernel = \"NAME\"{with}",
        known.join(", ")
    )
}

fn is_words(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    WORDS.iter().any(|start| path.starts_with(start))
        || file.ends_with(".rst")
        || file == ".gitignore"
}

/// Whether a file is of a driver that has a directory of its own: none runs here.
fn is_driver(path: &str) -> bool {
    let below = path
        .strip_prefix(DRIVERS)
        .and_then(|rest| rest.split_once('/'));
    let shared = ["display", "ttm", "clients", "lib"];
    below.is_some_and(|(folder, _)| !shared.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "drivers/gpu/drm/scheduler/sched_main.c";

    #[test]
    fn the_directory_of_a_module_and_its_headers_decide_what_is_built() {
        for path in [MAIN, "include/drm/gpu_scheduler.h"] {
            let touched = part_of(&[path]).unwrap();
            assert_eq!(touched.part.module, "gpu-sched");
            assert!(touched.left_out.is_empty());
        }
    }

    #[test]
    fn drivers_that_do_not_run_and_texts_are_left_out_and_named() {
        let others = [
            "drivers/gpu/drm/panfrost/panfrost_job.c",
            "Documentation/gpu/x.rst",
        ];
        let touched = part_of(&[others[0], MAIN, others[1]]).unwrap();
        assert_eq!(touched.left_out, others);
    }

    #[test]
    fn what_is_no_module_is_refused_with_the_way_that_is_left() {
        for paths in [
            &["kernel/sched/fair.c"][..],
            &[MAIN, "drivers/gpu/drm/drm_gem.c"],
            &[MAIN, "include/drm/drm_device.h"],
            &["drivers/gpu/drm/ttm/ttm_bo.c", MAIN],
            &["drivers/gpu/drm/scheduler.c"],
        ] {
            let why = part_of(paths).unwrap_err();
            assert!(why.contains("this needs the whole kernel"), "{why}");
            assert!(why.contains("assize kernel add"), "{why}");
        }
        let why = part_of(&["MAINTAINERS"]).unwrap_err();
        assert!(why.contains("touches no code"), "{why}");
    }

    #[test]
    fn what_needs_the_whole_kernel_is_told_an_experiment_by_its_place() {
        for (path, experiment) in [
            (
                "kernel/sched/fair.c",
                Some("experiments/run-job-latency.toml"),
            ),
            (
                "kernel/workqueue.c",
                Some("experiments/try/drm-scheduler.toml"),
            ),
            (
                "arch/x86/lib/csum-copy_64.S",
                Some("experiments/checksum.toml"),
            ),
            (
                "arch/x86/lib/memcpy_64.S",
                Some("experiments/usercopy.toml"),
            ),
            ("net/core/dev.c", None),
            ("kernel/schedule.c", None),
        ] {
            let why = part_of(&[path]).unwrap_err();
            let said = why.split("begin with ").nth(1);
            assert_eq!(said, experiment, "{why}");
        }
    }

    #[test]
    fn experiments_that_are_named_are_there() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (at, (start, experiment)) in WHOLE.iter().enumerate() {
            assert!(root.join(experiment).is_file(), "{experiment}");
            let mut before = WHOLE[..at].iter();
            assert!(
                !before.any(|(other, _)| start.starts_with(other)),
                "{start} is never found"
            );
        }
    }
}
