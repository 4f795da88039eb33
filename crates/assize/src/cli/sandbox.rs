//! The option of every verb that builds sources which somebody else may have written.

use assize_target::{Error, Sandbox};
use clap::Args;

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SandboxArguments {
    /// Build without the sandbox; the sources can then run any code as you
    #[arg(long)]
    pub(crate) no_sandbox: bool,
}

impl SandboxArguments {
    /// The sandbox to build in.
    pub(crate) fn choose(&self) -> Result<Sandbox, Error> {
        match self.no_sandbox {
            true => Ok(Sandbox::Off),
            false => Sandbox::find(),
        }
    }
}
