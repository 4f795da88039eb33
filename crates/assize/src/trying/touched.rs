//! Decides what to build from the files that a change touches.

use assize_series::Commit;
use assize_target::testbed::{KernelPart, PARTS};

use crate::failure::Failure;

/// The result of looking at a change's files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TouchedFiles {
    pub(crate) scope: BuildScope,
    /// Files from which nothing that runs here is built, each listed once.
    pub(crate) left_out: Vec<String>,
}

/// What to build of each side of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BuildScope {
    /// A directory of the kernel, as modules for an installed kernel.
    Modules(&'static KernelPart),
    /// The whole kernel, required by this file.
    Kernel(String),
}

/// Path prefixes of files that are not code.
const WORDS: &[&str] = &[
    "Documentation/",
    "LICENSES/",
    "MAINTAINERS",
    "CREDITS",
    ".mailmap",
];
/// Each directory below this is a driver that runs only with its device.
const DRIVERS: &str = "drivers/gpu/drm/";

impl TouchedFiles {
    /// All files of these commits together.
    pub(crate) fn of_commits(commits: &[Commit]) -> Result<TouchedFiles, Failure> {
        let mut paths: Vec<&str> = Vec::new();
        for path in commits.iter().flat_map(|commit| &commit.paths) {
            if !paths.contains(&path.as_str()) {
                paths.push(path);
            }
        }
        touched(&paths).map_err(Failure::Argument)
    }
}

impl BuildScope {
    /// Whether a file is built into something.
    pub(crate) fn has(&self, path: &str) -> bool {
        match self {
            BuildScope::Modules(part) => part.has(path),
            BuildScope::Kernel(_) => !is_words(path),
        }
    }
}

/// What to build for a change of these files, or why there is nothing to build.
pub(crate) fn touched(paths: &[&str]) -> Result<TouchedFiles, String> {
    let mut code = paths.iter().filter(|path| !is_words(path));
    let Some(first) = code.next() else {
        return Err("the change touches no code; there is nothing to try".into());
    };
    let is_of = |path: &str| PARTS.iter().find(|part| part.has(path));
    let scope = match paths.iter().find_map(|path| is_of(path)) {
        None => BuildScope::Kernel((*first).to_owned()),
        Some(part) => {
            let all = paths.iter().filter(|path| !part.has(path));
            match all
                .copied()
                .find(|path| !is_words(path) && !is_driver(path))
            {
                Some(other) => BuildScope::Kernel(other.to_owned()),
                None => BuildScope::Modules(part),
            }
        }
    };
    let left_out = paths.iter().filter(|path| !scope.has(path));
    Ok(TouchedFiles {
        left_out: left_out.map(|path| (*path).to_owned()).collect(),
        scope,
    })
}

/// Whether any of these files is built into something that runs.
pub(crate) fn touches_code(paths: &[String]) -> bool {
    let is_built = |path: &String| PARTS.iter().any(|part| part.has(path));
    let left_out = |path: &String| is_words(path) || is_driver(path);
    paths.iter().any(|path| is_built(path) || !left_out(path))
}

fn is_words(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    WORDS.iter().any(|start| path.starts_with(start))
        || file.ends_with(".rst")
        || file == ".gitignore"
}

/// Whether a file belongs to a driver in its own directory: no such driver runs here.
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
            let touched = touched(&[path]).unwrap();
            assert_eq!(touched.scope, BuildScope::Modules(&PARTS[0]));
            assert!(touched.left_out.is_empty());
        }
    }

    #[test]
    fn drivers_that_do_not_run_and_texts_are_left_out_and_named() {
        let others = [
            "drivers/gpu/drm/panfrost/panfrost_job.c",
            "Documentation/gpu/x.rst",
        ];
        let touched = touched(&[others[0], MAIN, others[1]]).unwrap();
        assert_eq!(touched.scope, BuildScope::Modules(&PARTS[0]));
        assert_eq!(touched.left_out, others);
    }

    #[test]
    fn what_is_no_module_takes_the_whole_kernel() {
        for (paths, file) in [
            (&["kernel/sched/fair.c"][..], "kernel/sched/fair.c"),
            (
                &[MAIN, "drivers/gpu/drm/drm_gem.c"],
                "drivers/gpu/drm/drm_gem.c",
            ),
            (
                &[MAIN, "include/drm/drm_device.h"],
                "include/drm/drm_device.h",
            ),
            (
                &["drivers/gpu/drm/ttm/ttm_bo.c", MAIN],
                "drivers/gpu/drm/ttm/ttm_bo.c",
            ),
            (
                &["drivers/gpu/drm/scheduler.c"],
                "drivers/gpu/drm/scheduler.c",
            ),
        ] {
            let touched = touched(paths).unwrap();
            assert_eq!(touched.scope, BuildScope::Kernel(file.into()));
            assert!(touched.left_out.is_empty());
        }
        let mixed = touched(&["MAINTAINERS", "mm/slub.c"]).unwrap();
        assert_eq!(mixed.left_out, ["MAINTAINERS"]);
        for (path, is) in [
            (MAIN, true),
            ("mm/slub.c", true),
            ("drivers/gpu/drm/panfrost/panfrost_job.c", false),
            ("MAINTAINERS", false),
        ] {
            assert_eq!(touches_code(&[path.to_owned()]), is, "{path}");
        }
        let why = touched(&["MAINTAINERS"]).unwrap_err();
        assert!(why.contains("touches no code"), "{why}");
    }
}
