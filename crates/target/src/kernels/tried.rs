//! Kernels of commits, which `assize try` builds. Each is a function of its commit, the
//! compiler, the configuration and the recipe, and is built once; the least recently used
//! are removed when there are too many.

use std::path::Path;

use super::build::{KernelBuildInputs, WorkTree, check_tree};
use super::{Kernel, Kernels, names, store};
use crate::Error;
use crate::fault::read;
use crate::prune::{prune_some, touch};
use crate::sandbox::Sandbox;

/// Prefix of their names; the first digits of the commit follow.
const TRIED: &str = "try-";
/// Number of digits.
const DIGITS: usize = 12;
/// Limit in bytes for all of them together: about thirty kernels.
const MOST: u64 = 2 << 30;

impl Kernel {
    /// Whether it was built from a commit for `assize try`.
    #[must_use]
    pub fn is_tried(&self) -> bool {
        is_tried(&self.name)
    }
}

impl Kernels {
    /// The stored kernel of a commit, if a build now would use the same compiler,
    /// configuration and recipe.
    ///
    /// # Errors
    /// Programs that a build needs are missing; a description cannot be read.
    pub fn tried(&self, commit: &str) -> Result<Option<Kernel>, Error> {
        let name = name(commit);
        let made = KernelBuildInputs::here(&format!("build the kernel {name}"))?;
        self.tried_by(commit, &made)
    }

    fn tried_by(&self, commit: &str, made: &KernelBuildInputs) -> Result<Option<Kernel>, Error> {
        let name = name(commit);
        let place = self.directory().join(names::directory(&name));
        let wanted = origin(commit, made);
        for version in store::subdirectories(&place)? {
            let path = version.join("kernel.json");
            if !path.is_file() {
                continue;
            }
            let told: serde_json::Value = serde_json::from_slice(&read(&path)?).unwrap_or_default();
            if told.get("origin").and_then(|text| text.as_str()) == Some(&wanted) {
                touch(&place);
                return store::load(&version).map(Some);
            }
        }
        Ok(None)
    }

    /// Builds the kernel of a commit whose files are in `place`.
    ///
    /// # Errors
    /// Those of [`Kernels::build`].
    pub fn build_tried(
        &self,
        commit: &str,
        place: &WorkTree,
        sandbox: &Sandbox,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Kernel, Error> {
        let name = name(commit);
        let what = format!("build the kernel {name}");
        let tree = check_tree(&what, &place.tree)?;
        let made = KernelBuildInputs::here(&what)?;
        self.build_tried_by(commit, &tree, &made, sandbox, progress)
    }

    fn build_tried_by(
        &self,
        commit: &str,
        tree: &Path,
        made: &KernelBuildInputs,
        sandbox: &Sandbox,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Kernel, Error> {
        let name = name(commit);
        let origin = Some(origin(commit, made));
        let built = self.build_by(made, &name, tree, origin, sandbox, progress)?;
        touch(&self.directory().join(names::directory(&name)));
        prune_some(&self.directory(), MOST, &is_tried);
        Ok(built.kernel)
    }
}

fn name(commit: &str) -> String {
    format!("{TRIED}{}", commit.get(..DIGITS).unwrap_or(commit))
}

/// Whether this is a name given here; a name chosen by the user may have the same prefix.
fn is_tried(name: &str) -> bool {
    let digits = name.strip_prefix(TRIED);
    digits.is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn origin(commit: &str, made: &KernelBuildInputs) -> String {
    let (compiler, recipe) = (&made.compiler, made.digest());
    format!("built of commit {commit} by {compiler}, recipe {recipe}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.

    use super::super::build::tests::Lab;
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn a_kernel_is_built_once_for_a_commit_and_a_compiler() {
        let Some(lab) = Lab::new() else { return };
        let (kernels, made) = (lab.kernels(), KernelBuildInputs::with_compiler("gcc 12"));
        assert_eq!(kernels.tried_by(COMMIT, &made).unwrap(), None);
        let tree = lab.with("int slice = 1;\n");
        let build = |made: &KernelBuildInputs| {
            kernels.build_tried_by(COMMIT, &tree, made, &Sandbox::Off, &mut |_| ())
        };
        let built = build(&made).unwrap();
        assert!(built.is_tried(), "{}", built.name);
        assert_eq!(
            kernels.tried_by(COMMIT, &made).unwrap(),
            Some(built.clone())
        );
        // A commit with the same first digits, another compiler, and a name that is not
        // ours.
        let other = format!("{}9", &COMMIT[..39]);
        assert_eq!(name(&other), built.name);
        assert_eq!(kernels.tried_by(&other, &made).unwrap(), None);
        let newer = KernelBuildInputs::with_compiler("gcc 13");
        assert_eq!(kernels.tried_by(COMMIT, &newer).unwrap(), None);
        build(&newer).unwrap();
        assert_eq!(
            kernels.tried_by(COMMIT, &made).unwrap(),
            None,
            "it was replaced"
        );
        for name in [
            "try-slice",
            "try-0123456789ag",
            "try-0123456789abc",
            "0123456789ab",
        ] {
            assert!(!is_tried(name), "{name}");
        }
    }

    #[test]
    fn only_kernels_that_were_tried_are_removed_and_not_those_in_use() {
        let place = tempfile::tempdir().unwrap();
        let names = ["try-000000000001", "try-000000000002", "try-mine", "mine"];
        for (name, hours) in names.into_iter().zip([9, 0, 9, 9]) {
            let directory = place.path().join(name);
            std::fs::create_dir(&directory).unwrap();
            std::fs::write(directory.join("vmlinuz"), vec![1; 100_000]).unwrap();
            let used = std::time::SystemTime::now() - std::time::Duration::from_secs(3600 * hours);
            let file = std::fs::File::open(&directory).unwrap();
            file.set_modified(used).unwrap();
        }
        prune_some(place.path(), 0, &is_tried);
        let left = names.map(|name| place.path().join(name).exists());
        assert_eq!(left, [false, true, true, true]);
    }
}
