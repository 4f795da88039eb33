//! Adds a kernel that the user built.

use std::path::{Path, PathBuf};

use super::{Kernel, Kernels, image, names, store};
use crate::Error;
use crate::fault::{create, io, list, mend, read, remove, wrong};
use crate::scratch;

impl Kernels {
    /// Stores a kernel under a name, replacing the one that had that name.
    ///
    /// `modules` is a directory `…/lib/modules/RELEASE`, or one that contains it, as `make
    /// modules_install INSTALL_MOD_PATH=DIR` leaves it. `headers` is the tree it was built
    /// in; it is not copied.
    ///
    /// # Errors
    /// A name that is reserved or malformed, a file that is not a kernel image, modules of
    /// another kernel.
    pub fn add(
        &self,
        name: &str,
        image: &Path,
        modules: Option<&Path>,
        headers: Option<&Path>,
    ) -> Result<Kernel, Error> {
        let what = format!("add the kernel {name}");
        if let Some(why) = names::refused(name) {
            return Err(mend(wrong(what, why), "choose another name"));
        }
        let bytes = read(image)?;
        let release = image::release(&bytes).map_err(|why| {
            mend(
                wrong(&*what, format!("{}: {why}", image.display())),
                "give arch/x86/boot/bzImage of a built tree",
            )
        })?;
        let modules = modules
            .map(|given| find_modules(&what, given, &release))
            .transpose()?;
        let headers = headers
            .map(|given| find_headers(&what, given))
            .transpose()?;
        let _lock = crate::lock::take(&self.directory(), &mut |_| ())?;
        let temporary = scratch::temporary_in(&self.directory())?;
        copy(image, &temporary.path().join("vmlinuz"))?;
        if let Some(modules) = modules {
            let to = temporary.path().join("lib/modules").join(&release);
            copy_tree(&modules, &to, true)?;
        }
        let config = image.with_file_name(format!("config-{release}"));
        if config.is_file() {
            copy(&config, &temporary.path().join("config"))?;
        }
        let short = blake3::hash(&bytes).to_hex();
        let version = format!("{release}.{}", &short[..8]);
        let kernel = store::commit(
            &self.directory(),
            temporary,
            store::KernelDraft {
                name,
                version: &version,
                headers,
                trusted: true,
                origin: format!("added from {}", image.display()),
            },
        )?;
        self.forget_others(&kernel)?;
        Ok(kernel)
    }

    /// Removes other versions: a name given by the user means one kernel.
    pub(super) fn forget_others(&self, kernel: &Kernel) -> Result<(), Error> {
        let directory = self.directory().join(names::directory(&kernel.name));
        for other in list(&directory)? {
            if !other.ends_with(&kernel.version) {
                remove(&other)?;
            }
        }
        Ok(())
    }
}

fn find_modules(what: &str, given: &Path, release: &str) -> Result<PathBuf, Error> {
    let below = [
        given.join("lib/modules").join(release),
        given.join("modules").join(release),
        given.join(release),
    ];
    let place = below
        .iter()
        .find(|path| path.is_dir())
        .map_or(given, PathBuf::as_path);
    if place.join("modules.dep").is_file() {
        let named = place.file_name().is_some_and(|name| name == release);
        if named {
            return Ok(place.to_path_buf());
        }
        let why = format!("{} is not the directory of {release}", place.display());
        return Err(mend(
            wrong(what, why),
            format!("give the directory lib/modules/{release}"),
        ));
    }
    let why = format!(
        "there is no modules.dep for {release} in {}",
        given.display()
    );
    Err(mend(
        wrong(what, why),
        "make modules_install INSTALL_MOD_PATH=DIR, and give DIR",
    ))
}

fn find_headers(what: &str, given: &Path) -> Result<PathBuf, Error> {
    let place = std::fs::canonicalize(given).map_err(|error| io("read", given, &error))?;
    if place.join("Makefile").is_file() && place.join("scripts").is_dir() {
        return Ok(place);
    }
    let why = format!("{} has no Makefile and scripts", given.display());
    Err(mend(
        wrong(what, why),
        "give the tree that the kernel was built in",
    ))
}

/// Copies a file without its set-id bits.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    let plain = || {
        // Shares blocks where the file system can.
        std::fs::copy(from, to)?;
        let mode = std::fs::metadata(to)?.permissions().mode();
        match mode & 0o7000 {
            0 => Ok(()),
            _ => std::fs::set_permissions(to, std::fs::Permissions::from_mode(mode & 0o777)),
        }
    };
    plain().map_err(|error| io("copy to", to, &error))
}

/// Copies a directory. Links at the top are left out: `build` and `source` point into the
/// user's tree.
pub(super) fn copy_tree(from: &Path, to: &Path, top: bool) -> Result<(), Error> {
    create(to)?;
    for path in list(from)? {
        let Some(name) = path.file_name() else {
            continue;
        };
        let target = to.join(name);
        let kind = path
            .symlink_metadata()
            .map_err(|error| io("read", &path, &error))?;
        if kind.is_dir() {
            copy_tree(&path, &target, false)?;
        } else if kind.is_file() || (kind.is_symlink() && !top) {
            copy(&path, &target)?;
        }
    }
    Ok(())
}
