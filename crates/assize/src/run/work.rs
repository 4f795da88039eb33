//! A plan and the bundle that its runs are recorded in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assize_bundle::{Head, Writer};
use assize_plan::Plan;

use super::{head, one, place, planning};
use crate::cli::RunArguments;
use crate::failure::Failure;

/// A plan and where it is recorded.
pub(super) struct PlannedWork {
    pub(super) plan: Plan,
    pub(super) directory: PathBuf,
    pub(super) resumed: bool,
}

impl PlannedWork {
    pub(super) fn new(experiment: &Path, arguments: &RunArguments) -> Result<Self, Failure> {
        let (plan, _) = planning::plan(experiment, &arguments.overrides)?;
        let directory = match &arguments.out {
            Some(directory) => {
                place::must_be_free(directory)?;
                directory.clone()
            }
            None => place::free(experiment),
        };
        Ok(PlannedWork {
            plan,
            directory,
            resumed: false,
        })
    }

    pub(super) fn resumed(directory: &Path) -> Result<Self, Failure> {
        let head = assize_bundle::read_plan(directory)?;
        Ok(PlannedWork {
            plan: one::plan_of(head.plan, directory)?,
            directory: directory.to_path_buf(),
            resumed: true,
        })
    }

    /// Opens the bundle; `shared` lets other processes record runs at the same time. `same` maps
    /// configurations to an earlier one that requests the same.
    pub(super) fn writer(
        &self,
        shared: bool,
        same: BTreeMap<String, String>,
    ) -> Result<Writer, Failure> {
        let head = Head {
            same,
            ..head::head(&self.plan)?
        };
        let writer = if shared {
            Writer::join(&self.directory, &head)
        } else if self.resumed {
            Writer::resume(&self.directory, &head)
        } else {
            Writer::create(&self.directory, &head)
        };
        writer.map_err(Failure::Record)
    }

    /// The input of `compare` for this bundle.
    pub(super) fn inputs(&self) -> [PathBuf; 1] {
        [self.directory.clone()]
    }
}
