//! Builds a directory of the kernel, which is one module, from a source tree.
//!
//! The tree is not the one the headers belong to: patches have changed it. The directory is
//! placed below `tree/` at its path in the kernel, and those of its headers that are in
//! `include/` come before the kernel's (`FIRST_INCLUDE`). If one of these differs from the
//! kernel's, the testbed's modules that include it are built along with it, so that both
//! sides of an interface were compiled with the same declarations.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::build::{self, source_tree};
use super::sources::ModuleSources;
use super::{KernelToBuildFor, what};
use crate::Error;
use crate::fault::{list, mend, wrong};
use crate::kernels::Kernel;
use crate::sandbox::Sandbox;

/// A directory of the kernel that is one module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelPart {
    /// Its path in the kernel's tree, without a trailing slash.
    pub directory: &'static str,
    /// The name of the module's object, without suffix.
    pub module: &'static str,
    /// The configuration option that enables it.
    pub option: &'static str,
    /// Its headers elsewhere in the tree: paths from the top.
    pub headers: &'static [&'static str],
    /// Directories of the testbed whose modules include these headers, with those they
    /// depend on, in loading order.
    pub users: &'static [&'static str],
}

/// All directories that can be built in this way.
pub const PARTS: &[KernelPart] = &[KernelPart {
    directory: "drivers/gpu/drm/scheduler",
    module: "gpu-sched",
    option: "CONFIG_DRM_SCHED",
    headers: &["include/drm/gpu_scheduler.h", "include/drm/spsc_queue.h"],
    users: &["depq", "simgpu"],
}];

/// Texts of a tree, by path from its top.
pub type SourceTexts = BTreeMap<String, String>;

/// The directory for the tree, next to our own sources.
const TREE: &str = "tree";
/// The directory of the kernel's tracepoint headers, which include the part's header by a path
/// relative to this one.
const TRACE: &str = "include/trace";

impl KernelPart {
    /// Whether a file of the kernel's tree belongs to the part.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let below = path.strip_prefix(self.directory);
        below.is_some_and(|rest| rest.starts_with('/')) || self.headers.contains(&path)
    }

    /// The paths that a tree must contain: the directory and the headers.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.directory).chain(self.headers.iter().copied())
    }

    /// Its headers as they are in the kernel's headers; missing ones are left out.
    ///
    /// # Errors
    /// The kernel's headers are not stored.
    pub fn kernel_headers(&self, kernel: &Kernel) -> Result<SourceTexts, Error> {
        let subject = KernelToBuildFor::new(kernel)?;
        let sources = source_tree(subject.headers);
        let of_kernel = |path: &&str| {
            let mut places = [Some(subject.headers), sources.as_deref()].into_iter();
            let text = places.find_map(|place| std::fs::read_to_string(place?.join(path)).ok());
            text.map(|text| ((*path).to_owned(), text))
        };
        Ok(self.headers.iter().filter_map(of_kernel).collect())
    }

    /// The headers of the tree that differ from the kernel's.
    ///
    /// # Errors
    /// The kernel's headers are not stored.
    pub fn changed_headers(
        &self,
        kernel: &Kernel,
        tree: &SourceTexts,
    ) -> Result<Vec<&'static str>, Error> {
        let of_kernel = self.kernel_headers(kernel)?;
        let changed = |path: &&&str| tree.get(**path) != of_kernel.get(**path);
        Ok(self.headers.iter().filter(changed).copied().collect())
    }

    /// Builds the part from this tree for a kernel, in the sandbox; with `users` also the testbed's
    /// modules that include its headers. Returns module files by name, stored below `root` like
    /// those of the testbed.
    ///
    /// # Errors
    /// The kernel has it built in; no headers, no compiler; for a failed build, the first
    /// line that says why, and the path of the log.
    pub fn build(
        &self,
        root: &Path,
        kernel: &Kernel,
        tree: &SourceTexts,
        users: bool,
        sandbox: &Sandbox,
    ) -> Result<BTreeMap<String, PathBuf>, Error> {
        self.check(kernel, tree)?;
        let subject = KernelToBuildFor::new(kernel)?;
        let files = self.laid_out(&subject, tree, users)?;
        let built = build::ensure_in_sandbox(root, &files, &subject, sandbox);
        built.map_err(|error| self.named(error, kernel))
    }

    /// Fails if the module could not be loaded, or if the tree lacks the directory.
    fn check(&self, kernel: &Kernel, tree: &SourceTexts) -> Result<(), Error> {
        let what = format!("build {} for the kernel {}", self.directory, kernel.name);
        let config = kernel.config.as_ref().map(std::fs::read_to_string);
        let builtin = format!("{}=y", self.option);
        if let Some(Ok(text)) = config
            && text.lines().any(|line| line == builtin)
        {
            let why = format!("{builtin}: it is part of the image");
            return Err(mend(
                wrong(what, why),
                "use a kernel that has it as a module: --kernel debian:6.12",
            ));
        }
        let makefile = format!("{}/Makefile", self.directory);
        if !tree.contains_key(&makefile) {
            return Err(wrong(what, format!("the tree has no {makefile}")));
        }
        Ok(())
    }

    /// All files that its build reads: the tree, the Kbuild files that make it a module,
    /// and the testbed's sources that use it.
    fn laid_out(
        &self,
        subject: &KernelToBuildFor<'_>,
        tree: &SourceTexts,
        users: bool,
    ) -> Result<SourceTexts, Error> {
        let mut files = SourceTexts::new();
        for (path, text) in tree.iter().filter(|(path, _)| self.has(path)) {
            files.insert(format!("{TREE}/{path}"), text.clone());
        }
        for (name, text) in tracing_headers(subject)? {
            files.insert(format!("{TREE}/{TRACE}/{name}"), text);
        }
        files.insert(format!("{TREE}/{}/Kbuild", self.directory), self.kbuild());
        let ours = ModuleSources::ours();
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

    /// Its Kbuild, which makes the part a module whatever the configuration says, and finds
    /// its tracepoint header at the path that the header names.
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

    /// The top Kbuild: the tree's headers come first, then the directories to build.
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

    /// Rewrites an error to use paths of the kernel's tree, as the author of the change
    /// knows them.
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

/// The kernel's headers that include tracepoint headers by a path relative to themselves,
/// by name below `include/trace`. They must be in the tree: from the kernel's own directory
/// they would find the part's unchanged header.
fn tracing_headers(subject: &KernelToBuildFor<'_>) -> Result<SourceTexts, Error> {
    let sources = source_tree(subject.headers);
    let places = [sources.as_deref(), Some(subject.headers)];
    let mut places = places.into_iter().flatten().map(|place| place.join(TRACE));
    let Some(place) = places.find(|place| place.join("define_trace.h").is_file()) else {
        return Ok(SourceTexts::new());
    };
    let mut found = SourceTexts::new();
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
