//! Builds the sides of a change as whole kernels.

use assize_series::Commit;
use assize_target::Sandbox;
use assize_target::kernels::{Kernels, WorkTree};

use super::builds::{BuildCommit, BuildProduct};
use super::source::SourceChange;
use crate::failure::Failure;

/// A description of what is built.
pub(crate) const BUILT: &str = "the kernel, in the configuration of assize kernel config";

/// Builds the kernel at each commit, all in the same source directory, so that each build
/// only compiles what differs from the previous one.
pub(crate) struct KernelBuild<'a> {
    change: &'a SourceChange,
    kernels: Kernels,
    place: WorkTree,
    sandbox: Sandbox,
    say: &'a dyn Fn(&str),
}

impl<'a> KernelBuild<'a> {
    /// Opens the source directory for a change's repository.
    pub(crate) fn open(
        change: &'a SourceChange,
        kernels: Kernels,
        sandbox: Sandbox,
        say: &'a dyn Fn(&str),
    ) -> Result<Self, Failure> {
        let place = kernels.work_tree(change.home(), &mut |line| say(line))?;
        Ok(KernelBuild {
            change,
            kernels,
            place,
            sandbox,
            say,
        })
    }
}

impl BuildCommit for KernelBuild<'_> {
    fn what(&self) -> &str {
        "the kernel"
    }

    fn build(
        &self,
        commit: &Commit,
    ) -> Result<Result<BuildProduct, assize_target::Error>, Failure> {
        if let Some(kernel) = self.kernels.tried(&commit.id)? {
            (self.say)(&format!("{} is built already", kernel.name));
            return Ok(Ok(BuildProduct::Kernel(Box::new(kernel))));
        }
        self.change.check_out(commit, &self.place)?;
        let say = &mut |line: &str| (self.say)(line);
        let built = self
            .kernels
            .build_tried(&commit.id, &self.place, &self.sandbox, say);
        Ok(built.map(|kernel| BuildProduct::Kernel(Box::new(kernel))))
    }

    fn of_base(&self, error: assize_target::Error) -> Failure {
        error.into()
    }

    fn same(&self) -> &'static str {
        "nothing is run: image and modules are identical with and without the change; the \
         configuration (assize kernel config) leaves out the changed code, or the compiler \
         generates the same code for both"
    }
}

/// Refuses `--kernel` for a change to this file.
pub(crate) fn no_kernel_named(file: &str, kernel: Option<&str>) -> Result<(), Failure> {
    match kernel {
        None => Ok(()),
        Some(_) => Err(Failure::Argument(format!(
            "{file}: --kernel is for changes to modules; this change builds its own kernel"
        ))),
    }
}

/// The kernel of the base, as shown at the head of an answer.
pub(crate) fn described(base: &BuildProduct) -> String {
    match base {
        BuildProduct::Kernel(kernel) => format!("{} of the base, {}", kernel.release, kernel.name),
        BuildProduct::Modules(_) => String::new(),
    }
}
