//! A kernel from Debian's archive.

use std::path::Path;

use super::{DEBIAN, DebianKernel, Kernel, Kernels, index, names, store};
use crate::Error;
use crate::apt::Apt;
use crate::elf::Host;
use crate::fault::{failed, io, list, mend, wrong};

impl Kernels {
    /// Fetches the newest version that the archive has of a kernel of
    /// [`DEBIAN`], with what is needed to build modules if `headers`. What is
    /// stored already is not fetched again.
    ///
    /// # Errors
    /// An unknown name; no apt, no network, no space; a package that the
    /// archive does not have.
    pub fn fetch(
        &self,
        name: &str,
        headers: bool,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Kernel, Error> {
        let base = name.split('@').next().unwrap_or(name);
        let what = format!("fetch the kernel {name}");
        let Some(kernel) = names::debian(name) else {
            let known: Vec<&str> = DEBIAN.iter().map(|kernel| kernel.name).collect();
            let why = match names::debian(base) {
                Some(_) => "an archive keeps few versions, so the newest is fetched".into(),
                None => format!("Debian's archive gives {}", known.join(", ")),
            };
            let near = names::nearest(base, known.iter().copied()).unwrap_or("debian:6.12");
            return Err(mend(
                wrong(what, why),
                format!("assize kernel fetch {near}"),
            ));
        };
        let _lock = crate::lock::take(&self.directory(), progress)?;
        let apt = self.apt(kernel, &what, progress)?;
        let wanted = Wanted::find(&apt, kernel, &what)?;
        let place = self
            .directory()
            .join(names::directory(name))
            .join(&wanted.version);
        if !place.join("kernel.json").exists() {
            self.store_image(&apt, kernel, &wanted, progress)?;
        }
        let stored = store::load(&place)?;
        if !headers || stored.headers.is_some() {
            progress(&format!("{name} is {}", stored.release));
            return Ok(stored);
        }
        self.store_headers(&apt, &wanted, &place, progress)?;
        store::load(&place)
    }

    fn apt(
        &self,
        kernel: &DebianKernel,
        what: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Apt, Error> {
        let security = format!("{}-security", kernel.suite);
        let suites = match kernel.suite {
            "sid" => vec!["sid"],
            suite => vec![suite, security.as_str()],
        };
        let directory = self.directory().join(".apt").join(kernel.suite);
        Apt::open(&directory, &suites, what, progress)
    }

    fn store_image(
        &self,
        apt: &Apt,
        kernel: &DebianKernel,
        wanted: &Wanted,
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
        let temporary = store::temporary_in(&self.directory())?;
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
            store::Draft {
                name: kernel.name,
                version: &wanted.version,
                headers: None,
                origin: format!("package {} of Debian {}", wanted.image, kernel.suite),
            },
        )?;
        Ok(())
    }

    fn store_headers(
        &self,
        apt: &Apt,
        wanted: &Wanted,
        place: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let packages = apt.follow(&wanted.headers, &|name| {
            name.starts_with("linux-headers-") || name.starts_with("linux-kbuild-")
        })?;
        let temporary = store::temporary_in(&self.directory())?;
        let unpacked = temporary.path().join("unpacked");
        apt.unpack(&packages, &unpacked, progress)?;
        let headers = temporary.path().join("headers");
        create(&headers)?;
        // The links inside lead from src/A to ../../lib/B.
        rename(&unpacked.join("usr/src"), &headers.join("src"))?;
        rename(&unpacked.join("usr/lib"), &headers.join("lib"))?;
        for directory in list(&headers.join("src"))? {
            relocate(&directory.join("Makefile"))?;
            let variables = directory.join(".kernelvariables");
            let variables = std::fs::read_to_string(variables).unwrap_or_default();
            if let Some(compiler) = compiler(&variables)
                && Host::this().program(&compiler).is_none()
            {
                progress(&format!(
                    "modules for it are built with {compiler}, which is not in PATH"
                ));
            }
            // It serves to give modules type data, for which kbuild demands
            // pahole; without it modules are the same on every machine.
            let vmlinux = directory.join("vmlinux");
            if vmlinux.is_file() {
                rename(&vmlinux, &directory.join("vmlinux.btf"))?;
            }
        }
        let to = place.join("headers");
        if to.exists() {
            remove(&to)?;
        }
        rename(&headers, &to)?;
        store::describe_headers(place, &Path::new("headers/src").join(&wanted.headers))
    }
}

/// Which packages a name stands for today.
struct Wanted {
    image: String,
    headers: String,
    version: String,
}

impl Wanted {
    fn find(apt: &Apt, kernel: &DebianKernel, what: &str) -> Result<Self, Error> {
        let meta = apt.package(kernel.package)?;
        let depends = meta.depends();
        let image = depends.iter().find(|name| name.starts_with("linux-image-"));
        let image =
            image.ok_or_else(|| failed(what, format!("{} depends on no image", kernel.package)))?;
        let real = apt.package(image)?;
        Ok(Wanted {
            image: image.clone(),
            headers: image.replacen("linux-image-", "linux-headers-", 1),
            version: real.version().replace([':', '/'], "_"),
        })
    }
}

/// Moves image, configuration and modules to where the store has them, and
/// gives the release.
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

/// The compiler that a package's `.kernelvariables` names.
pub(crate) fn compiler(variables: &str) -> Option<String> {
    let mut lines = variables.lines();
    let line = lines.find(|line| line.starts_with("CC ") || line.starts_with("CC="))?;
    let at = line.rfind("gcc")?;
    let name = line[at..].split_whitespace().next()?;
    Some(name.to_string())
}

/// Has a Makefile include its neighbour wherever both lie.
fn relocate(makefile: &Path) -> Result<(), Error> {
    let Ok(text) = std::fs::read_to_string(makefile) else {
        return Ok(());
    };
    let here = "$(dir $(abspath $(lastword $(MAKEFILE_LIST))))../";
    let text = text.replace("/usr/src/", here);
    std::fs::write(makefile, text).map_err(|error| io("write", makefile, &error))
}

fn create(path: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(path).map_err(|error| io("create", path, &error))
}

fn remove(path: &Path) -> Result<(), Error> {
    std::fs::remove_dir_all(path).map_err(|error| io("remove", path, &error))
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    std::fs::rename(from, to).map_err(|error| io("move", from, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_the_one_that_the_package_names() {
        let text = "override ARCH = x86\nCCACHE = ccache\n\
            CC = $(if $(DEBIAN_KERNEL_USE_CCACHE),$(CCACHE)) $(CROSS_COMPILE)gcc-12\n";
        assert_eq!(compiler(text).as_deref(), Some("gcc-12"));
        assert_eq!(compiler("ARCH = x86\n"), None);
        assert_eq!(compiler(""), None);
    }

    #[test]
    fn files_of_packages_go_where_the_store_has_them() {
        let place = tempfile::tempdir().unwrap();
        for modules in ["lib/modules/6.1.0-1", "usr/lib/modules/7.2.0-1"] {
            let unpacked = place.path().join(modules.replace('/', "_"));
            let release = modules.rsplit('/').next().unwrap();
            let (image, config) = match modules.starts_with("usr") {
                // As sid has it, and as Debian 12 has it.
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

    #[test]
    fn a_makefile_finds_its_neighbour_wherever_both_lie() {
        let place = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            create(&place.path().join("src").join(name)).unwrap();
        }
        let makefile = place.path().join("src/a/Makefile");
        std::fs::write(&makefile, "include /usr/src/b/Makefile\n").unwrap();
        std::fs::write(place.path().join("src/b/Makefile"), "all:\n\t@echo found\n").unwrap();
        relocate(&makefile).unwrap();
        let made = std::process::Command::new("make")
            .arg("-sC")
            .arg(place.path().join("src/a"))
            .env_remove("MAKEFLAGS")
            .output();
        match made {
            Ok(made) => assert_eq!(made.stdout, b"found\n"),
            Err(error) => eprintln!("skipped: no make: {error}"),
        }
    }
}
