//! Fetches kernels from Debian's archive.

use std::path::{Path, PathBuf};

use super::{DEBIAN, DebianKernel, Kernel, Kernels, compare_versions, index, names, store};
use crate::Error;
use crate::apt::Apt;
use crate::elf::ProgramHost;
use crate::fault::{create, failed, list, mend, remove, rename, wrong};
use crate::scratch;

/// How much of a kernel to fetch, in increasing order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FetchAmount {
    /// Its image and modules.
    Image,
    /// Also the headers, with the parts of kbuild they need.
    Headers,
    /// Also the compiler that the headers name.
    Compiler,
}

impl Kernels {
    /// Fetches the newest version in the archive of a kernel of [`DEBIAN`], and what `amount` adds
    /// for building its modules. Nothing that is stored already is fetched again.
    ///
    /// # Errors
    /// An unknown name; no apt, no network, no space; a package that is not in the archive.
    pub fn fetch(
        &self,
        name: &str,
        amount: FetchAmount,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Kernel, Error> {
        let base = name.split('@').next().unwrap_or(name);
        let what = format!("fetch the kernel {name}");
        let Some(kernel) = names::debian(name) else {
            let known: Vec<&str> = DEBIAN.iter().map(|kernel| kernel.name).collect();
            let why = match names::debian(base) {
                Some(_) => "an archive keeps few versions: only the newest can be fetched".into(),
                None => format!("Debian's archive has {}", known.join(", ")),
            };
            let near = names::nearest(base, known.iter().copied()).unwrap_or("debian:6.12");
            return Err(mend(
                wrong(what, why),
                format!("assize kernel fetch {near}"),
            ));
        };
        let _lock = crate::lock::take(&self.directory(), progress)?;
        let apt = self.apt(kernel.suite, &what, progress)?;
        let wanted = ResolvedPackages::find(&apt, kernel, &what)?;
        let place = self.place(kernel, &wanted);
        if !place.join("kernel.json").exists() {
            self.store_image(&apt, kernel, &wanted, progress)?;
        }
        let stored = store::load(&place)?;
        if amount >= FetchAmount::Headers && stored.headers.is_none() {
            self.store_headers(&apt, kernel, &wanted, progress)?;
        }
        let stored = store::load(&place)?;
        if amount >= FetchAmount::Compiler && stored.compiler.is_none() {
            self.store_compiler(kernel, &stored, progress)?;
        } else if amount == FetchAmount::Headers
            && let Some(compiler) = lacking(&stored)
        {
            progress(&format!(
                "modules for it need {compiler}, which is not in PATH; assize kernel fetch \
                 --compiler {name} fetches it"
            ));
        }
        progress(&format!("{name} is {}", stored.release));
        store::load(&place)
    }

    /// The directory for a version of a kernel.
    pub(super) fn place(&self, kernel: &DebianKernel, wanted: &ResolvedPackages) -> PathBuf {
        let directory = self.directory().join(names::directory(kernel.name));
        directory.join(&wanted.version)
    }

    /// Opens a suite together with its security updates.
    pub(super) fn apt(
        &self,
        suite: &str,
        what: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Apt, Error> {
        let suites = names::suites(suite);
        let suites: Vec<&str> = suites.iter().map(String::as_str).collect();
        let directory = self.directory().join(".apt").join(suite);
        Apt::open(&directory, &suites, &["deb"], what, progress)
    }

    fn store_image(
        &self,
        apt: &Apt,
        kernel: &DebianKernel,
        wanted: &ResolvedPackages,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let packages = apt.follow(&wanted.image, &|name| {
            [
                "linux-image-",
                "linux-binary-",
                "linux-modules-",
                "linux-base-",
            ]
            .iter()
            .any(|start| name.starts_with(start))
        })?;
        let temporary = scratch::temporary_in(&self.directory())?;
        let unpacked = temporary.path().join("unpacked");
        apt.unpack(&packages, &unpacked, progress)?;
        let release = arrange(&unpacked, temporary.path())?;
        remove(&unpacked)?;
        let modules = temporary.path().join("lib/modules").join(release);
        if !modules.join("modules.dep").exists() {
            progress("indexing the modules");
            index::write(&modules)?;
        }
        store::commit(
            &self.directory(),
            temporary,
            store::KernelDraft {
                name: kernel.name,
                version: &wanted.version,
                headers: None,
                trusted: true,
                origin: format!("package {} of Debian {}", wanted.image, kernel.suite),
            },
        )?;
        Ok(())
    }
}

/// The packages that a name currently resolves to.
pub(super) struct ResolvedPackages {
    image: String,
    pub(super) headers: String,
    version: String,
}

impl ResolvedPackages {
    fn find(apt: &Apt, kernel: &DebianKernel, what: &str) -> Result<Self, Error> {
        let meta = apt.package(kernel.package)?;
        let depends = meta.depends();
        let image = depends.iter().find(|name| name.starts_with("linux-image-"));
        let image = match image {
            Some(image) if kernel.is_image(image) || kernel.series.is_none() => image.clone(),
            _ => newest(apt, kernel, what)?,
        };
        let real = apt.package(&image)?;
        Ok(ResolvedPackages {
            headers: image.replacen("linux-image-", "linux-headers-", 1),
            image,
            version: real.version().replace([':', '/'], "_"),
        })
    }
}

/// The compiler that a kernel's headers name, if it is not available.
fn lacking(stored: &Kernel) -> Option<String> {
    let named = stored.headers.as_deref().and_then(store::named_compiler)?;
    let here = stored.compiler.is_some() || ProgramHost::this().program(&named).is_some();
    (!here).then_some(named)
}

/// The newest image of a kernel's series, for when the package that depends on the newest
/// image has moved on to another series.
fn newest(apt: &Apt, kernel: &DebianKernel, what: &str) -> Result<String, Error> {
    let names = apt.names("linux-image-")?;
    let of_series: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| kernel.is_image(name))
        .collect();
    // apt also reports the names of removed packages.
    let there = match of_series.is_empty() {
        true => Vec::new(),
        false => apt.show(&of_series)?,
    };
    let newest = there
        .iter()
        .max_by(|a, b| compare_versions(a.version(), b.version()));
    newest
        .map(|stanza| stanza.package().to_string())
        .ok_or_else(|| {
            let why = format!("{} has no image of {}", kernel.suite, kernel.name);
            mend(
                failed(what, why),
                "use another one: assize kernel list shows them",
            )
        })
}

/// Moves image, configuration and modules to their places in the store, and returns the
/// release.
fn arrange(unpacked: &Path, to: &Path) -> Result<String, Error> {
    let trees = [
        unpacked.join("lib/modules"),
        unpacked.join("usr/lib/modules"),
    ];
    let modules = trees
        .iter()
        .filter(|tree| tree.is_dir())
        .map(|tree| list(tree))
        .find_map(|found| found.ok()?.into_iter().next())
        .ok_or_else(|| {
            failed(
                format!("store {}", to.display()),
                "the packages have no modules",
            )
        })?;
    let release = modules
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let boot = unpacked.join("boot");
    for (name, places) in [
        (
            "vmlinuz",
            [
                boot.join(format!("vmlinuz-{release}")),
                modules.join("vmlinuz"),
            ],
        ),
        (
            "config",
            [
                boot.join(format!("config-{release}")),
                modules.join("config"),
            ],
        ),
    ] {
        let from = places.iter().find(|path| path.is_file()).ok_or_else(|| {
            failed(
                format!("store {}", to.display()),
                format!("the packages have no {name}"),
            )
        })?;
        rename(from, &to.join(name))?;
    }
    create(&to.join("lib/modules"))?;
    rename(&modules, &to.join("lib/modules").join(&release))?;
    Ok(release)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_packages_go_where_the_store_has_them() {
        let place = tempfile::tempdir().unwrap();
        for modules in ["lib/modules/6.1.0-1", "usr/lib/modules/7.2.0-1"] {
            let unpacked = place.path().join(modules.replace('/', "_"));
            let release = modules.rsplit('/').next().unwrap();
            let (image, config) = match modules.starts_with("usr") {
                // The layouts of sid and of Debian 12.
                true => (format!("{modules}/vmlinuz"), format!("{modules}/config")),
                false => (
                    format!("boot/vmlinuz-{release}"),
                    format!("boot/config-{release}"),
                ),
            };
            for file in [image.as_str(), &config, &format!("{modules}/kernel/a.ko")] {
                create(unpacked.join(file).parent().unwrap()).unwrap();
                std::fs::write(unpacked.join(file), file).unwrap();
            }
            let to = place.path().join(release);
            create(&to).unwrap();
            assert_eq!(arrange(&unpacked, &to).unwrap(), release);
            assert_eq!(std::fs::read_to_string(to.join("vmlinuz")).unwrap(), image);
            assert_eq!(std::fs::read_to_string(to.join("config")).unwrap(), config);
            assert!(
                to.join("lib/modules")
                    .join(release)
                    .join("kernel/a.ko")
                    .is_file()
            );
            assert!(arrange(&unpacked, &to).is_err());
        }
    }
}
