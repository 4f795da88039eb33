//! The directories of trials: a separate cache, and the files of their experiments.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use assize_target::kernels::Kernels;

use crate::Error;
use crate::files::{self, fault};

/// Directories below `target/trials`.
pub(super) struct Place {
    /// The files that levels name, and the experiment files.
    pub(super) files: PathBuf,
    /// Output of runs on a real machine.
    pub(super) scratch: PathBuf,
    pub(super) bundles: PathBuf,
    /// The cache of `assize`. Its results are not used, but existing memory images are.
    pub(super) cache: PathBuf,
    pub(super) sshd: PathBuf,
}

impl Place {
    /// Creates the directories, and empties those that must be empty.
    pub(super) fn new(root: &Path) -> Result<Place, Error> {
        let place = Place {
            files: root.join("files"),
            scratch: root.join("scratch"),
            bundles: root.join("bundles"),
            cache: root.join("cache"),
            sshd: root.join("sshd"),
        };
        for old in [&place.scratch, &place.bundles, &place.cache.join("runs")] {
            files::remove(old)?;
        }
        let kernels = place.cache.join("kernels");
        for new in [&place.files, &place.scratch, &place.bundles, &kernels] {
            files::create(new)?;
        }
        place.link()?;
        Ok(place)
    }

    /// Links kernels and QEMU from the default cache.
    fn link(&self) -> Result<(), Error> {
        let usual = Kernels::default_root().map_err(|error| error.to_string())?;
        let kernels = usual.join("kernels");
        for path in files::entries(&kernels)? {
            let name = path.file_name().unwrap_or_default();
            if !name.to_string_lossy().starts_with('.') {
                link(&path, &self.cache.join("kernels").join(name))?;
            }
        }
        link(&usual.join("qemu"), &self.cache.join("qemu"))
    }
}

/// Removes the memory images below `root`, and the initramfs images that machines booted
/// from.
pub(super) fn remove_images(root: &Path) -> Result<(), Error> {
    for name in ["images", "initramfs"] {
        files::remove(&root.join("cache").join(name))?;
    }
    Ok(())
}

/// Creates a link, replacing an existing one.
fn link(to: &Path, from: &Path) -> Result<(), Error> {
    if from.is_symlink() {
        fs::remove_file(from).map_err(fault(from))?;
    }
    symlink(to, from).map_err(fault(from))
}
