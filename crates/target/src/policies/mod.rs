//! The placement policies that come with assize, and the program that attaches them.
//!
//! Their sources are embedded in this crate. A request for one builds all of them, once:
//! the result is stored below `<root>/policies/built` under a hash of the sources, with a
//! list of all other files that were read, and is reused until one of these changes. They
//! are not built for a particular kernel: offsets of structure fields are filled in when a
//! policy is loaded, from the kernel's own type information (CO-RE).

mod build;

use std::path::{Path, PathBuf};

use assize_job::{Order, PlacementPolicy, PolicyForm};

use crate::Error;
use crate::carried::{CarriedPolicy, EXPERIMENT};
use crate::fault::{mend, read, wrong};
use crate::kernels::Kernel;

/// The configuration option that a kernel needs for placement policies.
const SCHED_EXT: &str = "CONFIG_SCHED_CLASS_EXT";
/// The guest path of the program that attaches policies.
pub(crate) const ATTACH: &str = "/experiment/policies/attach";

/// Checks that placement policies can be built here, and returns the compiler.
///
/// # Errors
/// Something is missing; the error says what, and how to get it.
pub fn compiler() -> Result<PathBuf, Error> {
    build::compiler()
}

/// Builds policies and finds their objects.
#[derive(Debug, Clone)]
pub(crate) struct Policies {
    root: PathBuf,
}

/// A policy to be carried to a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PolicyObject {
    /// The policy as requested.
    pub(crate) asked: PlacementPolicy,
    /// The path of its object here.
    pub(crate) file: PathBuf,
    /// The contents of the object.
    pub(crate) bytes: Vec<u8>,
}

impl Policies {
    /// Policies stored below `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Policies {
            root: root.to_path_buf(),
        }
    }

    /// Returns the program that attaches policies and the objects of those policies that
    /// are BPF objects; `None` if there are none.
    ///
    /// # Errors
    /// No compiler, a build that failed, or an object that does not exist.
    pub(crate) fn objects(
        &self,
        policies: &[PlacementPolicy],
    ) -> Result<Option<(PathBuf, Vec<PolicyObject>)>, Error> {
        let objects = policies.iter().filter(|policy| is_object(policy));
        let objects: Vec<&PlacementPolicy> = objects.collect();
        if objects.is_empty() {
            return Ok(None);
        }
        let place = build::ensure(&self.root)?;
        let object = |policy: &PlacementPolicy| {
            let file = match policy.form {
                PolicyForm::Ours => place.join(build::object_of(&policy.name)),
                _ => PathBuf::from(&policy.name),
            };
            let bytes = read(&file).map_err(|error| Error {
                wrong_use: true,
                ..error
            })?;
            Ok(PolicyObject {
                asked: policy.clone(),
                file,
                bytes,
            })
        };
        let objects = objects.into_iter().map(object);
        let objects = objects.collect::<Result<_, Error>>()?;
        Ok(Some((place.join(build::ATTACH), objects)))
    }

    /// The same policy with the command that attaches it here.
    ///
    /// # Errors
    /// Those of [`Policies::objects`].
    pub(crate) fn here(&self, policy: &PlacementPolicy) -> Result<PlacementPolicy, Error> {
        let mut placed = policy.clone();
        if let Some((attach, objects)) = self.objects(std::slice::from_ref(policy))? {
            for object in objects {
                let attach = attach.to_string_lossy();
                placed.argv = argv(&attach, &object.file.to_string_lossy(), policy);
            }
        }
        Ok(placed)
    }
}

/// Whether the policy is a BPF object that has to be attached.
pub(crate) fn is_object(policy: &PlacementPolicy) -> bool {
    matches!(policy.form, PolicyForm::Ours | PolicyForm::Object)
}

/// The command that attaches an object with its tunables.
fn argv(attach: &str, object: &str, policy: &PlacementPolicy) -> Vec<String> {
    let fixed = [attach.to_string(), object.to_string()];
    fixed.into_iter().chain(policy.settings()).collect()
}

impl PolicyObject {
    /// The object's path in the guest, and how it is attached there. The path contains the
    /// digest, since two objects may have the same name.
    pub(crate) fn carried(&self) -> (String, CarriedPolicy) {
        let digest = blake3::hash(&self.bytes).to_hex().to_string();
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let place = format!("{EXPERIMENT}/policies/{}/{name}", &digest[..16]);
        let carried = CarriedPolicy {
            asked: self.asked.clone(),
            argv: argv(ATTACH, &place, &self.asked),
            digest,
        };
        (place, carried)
    }
}

/// Fails if an order wants a policy and its kernel is built without `sched_ext`. If the kernel's
/// configuration is not known, the check passes, since the run itself will show it.
pub(crate) fn check_kernel(kernel: &Kernel, order: &Order) -> Result<(), Error> {
    let Some(policy) = &order.job.policy else {
        return Ok(());
    };
    if kernel
        .built_in(&[SCHED_EXT])?
        .is_none_or(|found| !found.is_empty())
    {
        return Ok(());
    }
    Err(mend(
        wrong(
            format!(
                "use the placement policy {} on the kernel {}",
                policy.name, kernel.name
            ),
            format!("the kernel is built without sched_ext ({SCHED_EXT}=y)"),
        ),
        "use kernel = \"debian:7\", or `policy = \"none\"`",
    ))
}

#[cfg(test)]
mod tests;
