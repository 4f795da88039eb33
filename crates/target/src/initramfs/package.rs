//! Copies Debian packages into the initramfs tree.
//!
//! All files of a package are carried except documentation and files that only a system with an
//! init uses ([`LEFT_OUT`]), and with each ELF file the libraries it links; so plug-ins, which
//! nothing names, are included. The packages that own these libraries are carried in turn, and so
//! are the architecture-independent packages (data) that a package depends on. The exceptions are
//! the C library's package and the packages that every Debian system has: of those, only linked
//! libraries are carried.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use assize_job::{CarriedPackage, Package};

use super::carry::{Carrier, interpreter, text};
use super::tree::ArchiveTree;
use crate::Error;
use crate::apt::Stanza;
use crate::dpkg::Dpkg;
use crate::elf::{self, LoaderEnvironment};
use crate::fault::{io, mend, wrong};
use crate::module_files::glob;

/// Path prefixes left out of every package.
const LEFT_OUT: [&str; 28] = [
    "/etc/cron.",
    "/etc/default/",
    "/etc/init.d/",
    "/etc/logrotate.d/",
    "/lib/systemd/",
    "/usr/include/",
    "/usr/lib/debug/",
    "/usr/lib/mime/",
    "/usr/lib/systemd/",
    "/usr/share/applications/",
    "/usr/share/bash-completion/",
    "/usr/share/bug/",
    "/usr/share/doc/",
    "/usr/share/doc-base/",
    "/usr/share/fish/",
    "/usr/share/gtk-doc/",
    "/usr/share/help/",
    "/usr/share/icons/",
    "/usr/share/info/",
    "/usr/share/lintian/",
    "/usr/share/locale/",
    "/usr/share/man/",
    "/usr/share/menu/",
    "/usr/share/metainfo/",
    "/usr/share/pixmaps/",
    "/usr/share/pkgconfig/",
    "/usr/share/polkit-1/",
    "/usr/share/zsh/",
];

/// The C library's package, which every program links.
const C_LIBRARY: &str = "libc6";

impl Carrier<'_> {
    /// Carries packages by name, and the packages they depend on.
    pub(super) fn packages(&mut self, asked: &[Package]) -> Result<Vec<CarriedPackage>, Error> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let dpkg = Dpkg::read(self.host)?;
        let mut held: BTreeMap<String, CarriedPackage> = BTreeMap::new();
        for package in asked {
            let stanza = dpkg.package(&package.name);
            let stanza = stanza.ok_or_else(|| not_installed(&package.name))?;
            let found = self.package(&dpkg, stanza, &package.only)?;
            held.insert(package.name.clone(), found);
        }
        let mut open: Vec<String> = held.keys().cloned().collect();
        while let Some(name) = open.pop() {
            let needs = dpkg.package(&name).map(Stanza::may_depend);
            let data = needs.into_iter().flatten().filter(|need| {
                let stanza = dpkg.package(need);
                stanza.is_some_and(|one| one.architecture() == "all")
            });
            let libraries = self.carried_libraries.values();
            let owners = libraries.filter_map(|library| dpkg.owner(library));
            let wanted: Vec<String> = owners.map(String::from).chain(data).collect();
            for name in wanted {
                let Some(stanza) = dpkg.package(&name) else {
                    continue;
                };
                if held.contains_key(&name) || stanza.is_base() || name == C_LIBRARY {
                    continue;
                }
                held.insert(name.clone(), self.package(&dpkg, stanza, &[])?);
                open.push(name);
            }
        }
        for (link, middle, target) in dpkg.alternatives() {
            self.tree.comes_from(format!("the alternative {link}"));
            if self.tree.has(&target) && !self.tree.has(&link) && !self.tree.has(&middle) {
                self.tree.link(&middle, &target)?;
                self.tree.link(&link, &middle)?;
            }
        }
        Ok(held.into_values().collect())
    }

    fn package(
        &mut self,
        dpkg: &Dpkg<'_>,
        stanza: &Stanza,
        only: &[String],
    ) -> Result<CarriedPackage, Error> {
        let name = stanza.package();
        self.tree.comes_from(format!("the package {name}"));
        let mut held = CarriedPackage {
            name: name.into(),
            version: stanza.version().into(),
            files: Vec::new(),
        };
        for path in dpkg.paths(stanza)? {
            let there = text(&path)?;
            let wanted = only.is_empty() || only.iter().any(|pattern| glob(pattern, &there));
            if !wanted || is_left_out(&there) {
                continue;
            }
            match self.host.path_below_root(&path).symlink_metadata() {
                Ok(data) if data.is_symlink() => self.link_of_package(&path, &there)?,
                Ok(data) if data.is_file() => {
                    self.file_of_package(&path, &there, &data)?;
                    held.files.extend(self.tree.file_at(&there));
                }
                Ok(_) => {}
                // The administrator may have removed a configuration file.
                Err(_) if there.starts_with("/etc/") => {}
                Err(error) => {
                    let error = io(&format!("copy the package {name}:"), &path, &error);
                    return Err(mend(
                        error,
                        format!("run `apt-get install --reinstall {name}`"),
                    ));
                }
            }
        }
        held.files.sort();
        Ok(held)
    }

    fn link_of_package(&mut self, path: &Path, there: &str) -> Result<(), Error> {
        let at = self.host.path_below_root(path);
        let target = std::fs::read_link(&at).map_err(|error| io("copy", path, &error))?;
        // The loader may already have requested it by this name.
        match self.tree.has(there) {
            true => Ok(()),
            false => self.tree.link(there, &text(&target)?),
        }
    }

    fn file_of_package(&mut self, path: &Path, there: &str, data: &Metadata) -> Result<(), Error> {
        ArchiveTree::check_visible(there)?;
        if self.tree.has(there) {
            return Ok(());
        }
        let library = self.carried_libraries.get(&self.host.real(path)).cloned();
        if let Some(library) = library {
            return self.tree.link(there, &text(&library)?);
        }
        let bytes = elf::read_at(self.host, path)?;
        let executable = data.permissions().mode() & 0o100 != 0;
        self.needs_of(path, &bytes, executable)?;
        let mode = match executable || bytes.starts_with(b"\x7fELF") {
            true => 0o755,
            false => 0o644,
        };
        self.tree.file(there, bytes, mode)
    }

    /// Carries the dependencies of a file. Missing ones are skipped: the file lacks them on
    /// this machine too.
    fn needs_of(&mut self, path: &Path, bytes: &[u8], executable: bool) -> Result<(), Error> {
        if let Ok(Some(closure)) =
            elf::closure(self.host, path, bytes, &LoaderEnvironment::default())
        {
            return self.closure(&closure);
        }
        let words = interpreter(bytes).filter(|_| executable);
        let here = |word: &String| self.host.program(word).is_some();
        match words.is_some_and(|words| words.iter().all(here)) {
            true => self.with_needs(&path.to_string_lossy(), path, bytes, 0),
            false => Ok(()),
        }
    }
}

fn is_left_out(path: &str) -> bool {
    LEFT_OUT.iter().any(|place| path.starts_with(place)) || path == "/."
}

fn not_installed(name: &str) -> Error {
    let error = wrong(
        format!("copy the package {name}"),
        "it is not installed here",
    );
    mend(error, format!("run `apt-get install {name}`"))
}
