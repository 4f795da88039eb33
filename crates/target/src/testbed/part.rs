//! A directory of the kernel that is one module, built from a tree of sources.
//!
//! The tree is not that of the headers: a series of patches has changed it. Its
//! directory is laid out as in the kernel, below `tree/`, and the headers of the
//! part that lie in `include/` come before those of the kernel
//! (`FIRST_INCLUDE`). Where one of these is another than the kernel's, what is
//! ours and includes it is built along with it, so that both sides of an interface
//! have seen the same declarations.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::build::{self, source_tree};
use super::sources::Sources;
use super::variant::Variant;
use super::{Subject, what};
use crate::Error;
use crate::fault::{list, mend, wrong};
use crate::kernels::Kernel;

/// A directory of the kernel that is one module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its path in the kernel's tree, without a slash at the end.
    pub directory: &'static str,
    /// The module, as its object is called.
    pub module: &'static str,
    /// The option of the kernel's configuration that makes it.
    pub option: &'static str,
    /// Headers elsewhere in the tree that are its own: paths from the top.
    pub headers: &'static [&'static str],
    /// Directories of the testbed whose modules include these headers, with those
    /// that they need, in the order in which they are loaded.
    pub users: &'static [&'static str],
}

/// All that can be built so.
pub const PARTS: &[Part] = &[Part {
    directory: "drivers/gpu/drm/scheduler",
    module: "gpu-sched",
    option: "CONFIG_DRM_SCHED",
    headers: &["include/drm/gpu_scheduler.h", "include/drm/spsc_queue.h"],
    users: &["depq", "simgpu"],
}];

/// Texts of a tree by their paths from its top.
pub type Tree = BTreeMap<String, String>;

/// Below this the tree lies beside our own sources.
const TREE: &str = "tree";
/// Where the headers of tracepoints look for those of the part, by a relative
/// path.
const TRACE: &str = "include/trace";

impl Part {
    /// Whether a file of the kernel's tree is one of the part.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let below = path.strip_prefix(self.directory);
        below.is_some_and(|rest| rest.starts_with('/')) || self.headers.contains(&path)
    }

    /// The directory and the headers: what a tree must hold.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.directory).chain(self.headers.iter().copied())
    }

    /// Its headers as the kernel's own headers have them: those that are there.
    ///
    /// # Errors
    /// The kernel's headers are not stored.
    pub fn kernel_headers(&self, kernel: &Kernel) -> Result<Tree, Error> {
        let subject = Subject::of(kernel)?;
        let sources = source_tree(subject.headers);
        let of_kernel = |path: &&str| {
            let mut places = [Some(subject.headers), sources.as_deref()].into_iter();
            let text = places.find_map(|place| std::fs::read_to_string(place?.join(path)).ok());
            text.map(|text| ((*path).to_owned(), text))
        };
        Ok(self.headers.iter().filter_map(of_kernel).collect())
    }

    /// Headers of the tree that are other than those of the kernel.
    ///
    /// # Errors
    /// The kernel's headers are not stored.
    pub fn changed_headers(
        &self,
        kernel: &Kernel,
        tree: &Tree,
    ) -> Result<Vec<&'static str>, Error> {
        let of_kernel = self.kernel_headers(kernel)?;
        let changed = |path: &&&str| tree.get(**path) != of_kernel.get(**path);
        Ok(self.headers.iter().filter(changed).copied().collect())
    }

    /// Builds it from this tree for a kernel. With `users` also what is ours and
    /// includes its headers. Files of modules by name, kept below `root` as those
    /// of the testbed are.
    ///
    /// # Errors
    /// The kernel has it built in; no headers, no compiler; a build that failed,
    /// with the first line that says why, and where the log is.
    pub fn build(
        &self,
        root: &Path,
        kernel: &Kernel,
        tree: &Tree,
        users: bool,
    ) -> Result<BTreeMap<String, PathBuf>, Error> {
        self.check(kernel, tree)?;
        let subject = Subject::of(kernel)?;
        let files = self.laid_out(&subject, tree, users)?;
        let texts: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (&**path, &**text))
            .collect();
        let built = build::ensure(&build::Order {
            root,
            sources: &Sources::of(&texts),
            variant: Variant::default(),
            subject: &subject,
            tests: false,
        });
        built.map_err(|error| self.named(error, kernel))
    }

    /// Refuses what could not be loaded, or is not there.
    fn check(&self, kernel: &Kernel, tree: &Tree) -> Result<(), Error> {
        let what = format!("build {} for the kernel {}", self.directory, kernel.name);
        let config = kernel.config.as_ref().map(std::fs::read_to_string);
        let builtin = format!("{}=y", self.option);
        if let Some(Ok(text)) = config
            && text.lines().any(|line| line == builtin)
        {
            let why = format!("{builtin}: it is part of the image");
            return Err(mend(
                wrong(what, why),
                "take a kernel that has it as a module: --kernel debian:6.12",
            ));
        }
        let makefile = format!("{}/Makefile", self.directory);
        if !tree.contains_key(&makefile) {
            return Err(wrong(what, format!("the tree has no {makefile}")));
        }
        Ok(())
    }

    /// All that its build reads: the tree, what makes it a module, and those of
    /// our sources that use it.
    fn laid_out(&self, subject: &Subject<'_>, tree: &Tree, users: bool) -> Result<Tree, Error> {
        let mut files = Tree::new();
        for (path, text) in tree.iter().filter(|(path, _)| self.has(path)) {
            files.insert(format!("{TREE}/{path}"), text.clone());
        }
        for (name, text) in tracing_headers(subject)? {
            files.insert(format!("{TREE}/{TRACE}/{name}"), text);
        }
        files.insert(format!("{TREE}/{}/Kbuild", self.directory), self.kbuild());
        let ours = Sources::ours();
        let wanted = |path: &str| {
            let top = path.split('/').next().unwrap_or(path);
            users && (["Kbuild", "compat", "include", "uapi"].contains(&top) || self.uses(top))
        };
        for (path, text) in ours.files().filter(|(path, _)| wanted(path)) {
            files.insert(path.into(), text.into());
        }
        let rest = files.remove("Kbuild").unwrap_or_default();
        files.insert("Kbuild".into(), self.top(&rest));
        Ok(files)
    }

    fn uses(&self, folder: &str) -> bool {
        self.users.contains(&folder)
    }

    /// Makes the part a module whatever the configuration says, and finds the
    /// header of its tracepoints where that says it lies.
    fn kbuild(&self) -> String {
        format!(
            "# SPDX-License-Identifier: GPL-2.0-only\n\
             {option} := n\n\
             include $(src)/Makefile\n\
             obj-y :=\n\
             obj-m := {module}.o\n\
             ccflags-y += -I$(src)\n",
            option = self.option,
            module = self.module,
        )
    }

    /// The top: the tree's headers first, then what is built.
    fn top(&self, ours: &str) -> String {
        let mut text = format!(
            "# SPDX-License-Identifier: GPL-2.0-only\n\
             FIRST_INCLUDE := $(src)/{TREE}/include\n\
             LINUXINCLUDE := -I$(FIRST_INCLUDE) $(LINUXINCLUDE)\n\
             export LINUXINCLUDE\n\
             obj-m += {TREE}/{}/\n",
            self.directory
        );
        for line in ours.lines() {
            let made = line.strip_prefix("obj-m += ");
            let folder = made.map(|folder| folder.trim_end_matches('/'));
            if folder.is_none_or(|folder| self.uses(folder)) {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }

    /// An error in the words of who posted the change: with paths of the kernel's
    /// tree.
    fn named(&self, mut error: Error, kernel: &Kernel) -> Error {
        if error.what == what(&kernel.name) {
            error.what = format!("build {} for the kernel {}", self.directory, kernel.name);
        }
        for prefix in [format!("kernel/{TREE}/"), format!("{TREE}/")] {
            error.why = error.why.replace(&prefix, "");
        }
        error
    }
}

/// The kernel's headers that include those of tracepoints by a path relative to
/// themselves, by their names below `include/trace`. They must lie in the tree: in
/// the kernel's own they would find the part's header as it was.
fn tracing_headers(subject: &Subject<'_>) -> Result<Tree, Error> {
    let sources = source_tree(subject.headers);
    let places = [sources.as_deref(), Some(subject.headers)];
    let mut places = places.into_iter().flatten().map(|place| place.join(TRACE));
    let Some(place) = places.find(|place| place.join("define_trace.h").is_file()) else {
        return Ok(Tree::new());
    };
    let mut found = Tree::new();
    for folder in ["", "stages/"] {
        let directory = place.join(folder);
        if !directory.is_dir() {
            continue;
        }
        for path in list(&directory)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_header = name.ends_with(".h") && path.is_file();
            if let (true, Ok(text)) = (is_header, std::fs::read_to_string(&path)) {
                found.insert(format!("{folder}{name}"), text);
            }
        }
    }
    Ok(found)
}
