//! Fetches kernel sources from Debian packages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Kernels, names};
use crate::Error;
use crate::apt::{Apt, AptPackage};
use crate::fault::{create, failed, io, list, mend, remove, write, wrong};
use crate::scratch;

/// The suite in which source packages are named as below.
const SUITE: &str = "bookworm";
/// The file in a partial tree that lists its parts, one per line.
const PARTS: &str = ".parts";
/// Suffix of a directory that contains all sources of a version, packed.
const PACKED: &str = ".git";

/// The unpacked sources of one kernel version, all or parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The version of the package.
    pub version: String,
    /// The tree.
    pub tree: PathBuf,
}

impl Kernels {
    /// Fetches the newest sources of a series such as `6.12` from the archive into
    /// `root/sources/SERIES/VERSION`, where they stay until there are newer ones. 150 MB to
    /// fetch, 1.7 GB on disk.
    ///
    /// # Errors
    /// No apt, no network, no space; a series that the archive does not have.
    pub fn fetch_source(
        &self,
        series: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Source, Error> {
        self.fetch_sources(series, &[], progress)
    }

    /// Like [`Kernels::fetch_source`], but keeps only these files and directories of the
    /// tree, at their paths. A complete tree, if there is one, serves as well, and parts
    /// stored earlier stay.
    ///
    /// # Errors
    /// Those of [`Kernels::fetch_source`]; a part that the sources do not have.
    pub fn fetch_source_parts(
        &self,
        series: &str,
        parts: &[&str],
        progress: &mut dyn FnMut(&str),
    ) -> Result<Source, Error> {
        self.fetch_sources(series, parts, progress)
    }

    /// Parts of the sources of exactly this version of a series, if they are stored.
    #[must_use]
    pub fn stored_source_parts(
        &self,
        series: &str,
        version: &str,
        parts: &[&str],
    ) -> Option<Source> {
        let tree = self.source_place(series, version);
        holds(&tree, parts).then(|| Source {
            version: version.into(),
            tree,
        })
    }

    /// All sources of a series, in packed form. `pack` receives the tree and its version, and
    /// replaces the tree with what should be stored. Stored sources are used whatever their
    /// version; otherwise the newest are fetched.
    ///
    /// # Errors
    /// Those of [`Kernels::fetch_source`], and those of `pack`.
    pub fn packed_source<E: From<Error>>(
        &self,
        series: &str,
        pack: impl FnOnce(&Path, &str) -> Result<(), E>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Source, E> {
        let (package, what) = package(series)?;
        let sources = self.root.join("sources");
        let _lock = crate::lock::take(&sources, progress)?;
        if let Some(source) = packed(&sources.join(series))? {
            return Ok(source);
        }
        let apt = self.archive_of_sources(&what, progress)?;
        let version = apt.package(&package)?.version().to_string();
        let unpacked = unpacked(
            &apt,
            package,
            &version,
            &sources,
            &BTreeSet::new(),
            progress,
        )?;
        let tree = unpacked.path().join(TREE);
        progress(&format!("packing the sources of {version}"));
        pack(&tree, &version)?;
        let mut place = self.source_place(series, &version).into_os_string();
        place.push(PACKED);
        let place = PathBuf::from(place);
        rename(&tree, &place)?;
        Ok(Source {
            version,
            tree: place,
        })
    }

    fn archive_of_sources(&self, what: &str, progress: &mut dyn FnMut(&str)) -> Result<Apt, Error> {
        let security = format!("{SUITE}-security");
        let place = self.directory().join(".apt").join(SUITE);
        Apt::open(&place, &[SUITE, &security], &["deb"], what, progress)
    }

    fn source_place(&self, series: &str, version: &str) -> PathBuf {
        let of_series = self.root.join("sources").join(series);
        of_series.join(version.replace([':', '/'], "_"))
    }

    /// Fetches these parts; all sources if there are none.
    fn fetch_sources(
        &self,
        series: &str,
        parts: &[&str],
        progress: &mut dyn FnMut(&str),
    ) -> Result<Source, Error> {
        let (package, what) = package(series)?;
        let sources = self.root.join("sources");
        let _lock = crate::lock::take(&sources, progress)?;
        let apt = self.archive_of_sources(&what, progress)?;
        let version = apt.package(&package)?.version().to_string();
        let place = self.source_place(series, &version);
        if !holds(&place, parts) {
            let parts = with_kept(&place, parts);
            let unpacked = unpacked(&apt, package, &version, &sources, &parts, progress)?;
            forget(&sources.join(series))?;
            rename(&unpacked.path().join(TREE), &place)?;
        }
        Ok(Source {
            version,
            tree: place,
        })
    }
}

/// The source package of a series, and the start of messages about fetching it.
fn package(series: &str) -> Result<(String, String), Error> {
    let package = format!("linux-source-{series}");
    let what = format!("fetch {package}");
    if series.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return Ok((package, what));
    }
    let known: Vec<&str> = super::DEBIAN.iter().map(|kernel| kernel.name).collect();
    let near = names::nearest(series, known.into_iter()).unwrap_or("6.12");
    let near = near.trim_start_matches("debian:");
    let why = "a kernel series consists of digits and dots";
    Err(mend(wrong(what, why), format!("write {near}")))
}

/// The stored packed sources of a series.
fn packed(of_series: &Path) -> Result<Option<Source>, Error> {
    if !of_series.is_dir() {
        return Ok(None);
    }
    let source = |tree: PathBuf| {
        let name = tree.file_name()?.to_str()?.strip_suffix(PACKED)?;
        let version = name.to_owned();
        Some(Source { version, tree })
    };
    Ok(list(of_series)?.into_iter().filter_map(source).next_back())
}

/// Name of the tree inside a temporary directory.
const TREE: &str = "tree";

/// Unpacks the sources of a package, all or these parts, in a temporary directory.
fn unpacked(
    apt: &Apt,
    name: String,
    version: &str,
    sources: &Path,
    parts: &BTreeSet<String>,
    progress: &mut dyn FnMut(&str),
) -> Result<tempfile::TempDir, Error> {
    let what = format!("fetch {name}");
    let temporary = scratch::temporary_in(sources)?;
    let wanted = AptPackage {
        name,
        version: version.into(),
    };
    let packed = temporary.path().join("package");
    apt.unpack(&[wanted], &packed, progress)?;
    let tree = temporary.path().join(TREE);
    progress(&format!("unpacking the sources of {version}"));
    unpack(&packed.join("usr/src"), &tree, parts, &what)?;
    Ok(temporary)
}

/// Whether a tree has these parts, or everything if none are given.
fn holds(tree: &Path, parts: &[&str]) -> bool {
    match std::fs::read_to_string(tree.join(PARTS)) {
        Ok(kept) => {
            let kept: BTreeSet<&str> = kept.lines().collect();
            !parts.is_empty() && parts.iter().all(|part| kept.contains(part))
        }
        Err(_) => tree.is_dir(),
    }
}

/// These parts and those that the tree already has; empty if everything is wanted.
fn with_kept(tree: &Path, parts: &[&str]) -> BTreeSet<String> {
    let kept = std::fs::read_to_string(tree.join(PARTS)).unwrap_or_default();
    let kept = kept.lines().filter(|_| !parts.is_empty());
    parts
        .iter()
        .copied()
        .chain(kept)
        .map(String::from)
        .collect()
}

/// Unpacks the one archive `linux-source-*.tar.*` of a directory, all or these parts.
fn unpack(from: &Path, to: &Path, parts: &BTreeSet<String>, what: &str) -> Result<(), Error> {
    let archive = list(from)?.into_iter().find_map(|path| {
        let name = path.file_name()?.to_str()?.to_string();
        let (top, _) = name.split_once(".tar.")?;
        let top = top.starts_with("linux-source-").then(|| top.to_string())?;
        Some((path, top))
    });
    let (archive, top) = archive.ok_or_else(|| failed(what, "the package holds no archive"))?;
    create(to)?;
    let output = Command::new("tar")
        .args(["--strip-components=1", "-xf"])
        .arg(&archive)
        .arg("-C")
        .arg(to)
        .args(parts.iter().map(|part| format!("{top}/{part}")))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| mend(failed(what, format!("start tar: {error}")), INSTALL))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().next().unwrap_or("it printed no reason");
        return Err(mend(failed(what, format!("tar: {why}")), INSTALL));
    }
    if parts.is_empty() {
        return Ok(());
    }
    let text: String = parts.iter().map(|part| format!("{part}\n")).collect();
    let path = to.join(PARTS);
    write(&path, text)
}

const INSTALL: &str = "check the free space; apt-get install tar xz-utils";

/// Removes unpacked sources of older versions.
fn forget(of_series: &Path) -> Result<(), Error> {
    if !of_series.is_dir() {
        return Ok(());
    }
    let is_packed = |path: &PathBuf| path.to_string_lossy().ends_with(PACKED);
    for old in list(of_series)?.into_iter().filter(|old| !is_packed(old)) {
        remove(&old)?;
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    let parent = to.parent().unwrap_or(to);
    create(parent)?;
    std::fs::rename(from, to).map_err(|error| io("create", to, &error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

    use super::*;

    #[test]
    fn a_series_is_a_number() {
        let place = tempfile::tempdir().unwrap();
        let kernels = Kernels::new(place.path().to_path_buf());
        for series in ["debian:6.12", "6.12; true", "../x"] {
            let error = kernels.fetch_source(series, &mut |_| ()).unwrap_err();
            assert!(error.wrong_use, "{error}");
        }
    }

    /// A directory with the archive of a package.
    fn archive() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        let tree = place.path().join("linux-source-1.0");
        std::fs::create_dir_all(tree.join("scripts/mod")).unwrap();
        for (path, text) in [
            ("Makefile", "all:\n"),
            ("scripts/check.pl", "1;\n"),
            ("scripts/mod/a.c", "\n"),
        ] {
            std::fs::write(tree.join(path), text).unwrap();
        }
        let packed = Command::new("tar")
            .args(["-czf", "linux-source-1.0.tar.gz", "linux-source-1.0"])
            .current_dir(place.path())
            .status();
        assert!(packed.unwrap().success());
        place
    }

    #[test]
    fn the_archive_of_the_package_is_unpacked_without_its_first_directory() {
        let (from, to) = (archive(), tempfile::tempdir().unwrap());
        unpack(from.path(), to.path(), &BTreeSet::new(), "try").unwrap();
        let text = std::fs::read_to_string(to.path().join("Makefile"));
        assert_eq!(text.unwrap(), "all:\n");
        assert!(holds(to.path(), &[]) && holds(to.path(), &["scripts/check.pl"]));
        std::fs::remove_file(from.path().join("linux-source-1.0.tar.gz")).unwrap();
        assert!(unpack(from.path(), to.path(), &BTreeSet::new(), "try").is_err());
    }

    #[test]
    fn packed_sources_are_found_and_outlive_those_that_are_unpacked() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(packed(&place.path().join("none")).unwrap(), None);
        std::fs::create_dir(place.path().join("6.12.1-1")).unwrap();
        assert_eq!(packed(place.path()).unwrap(), None);
        let tree = place.path().join("6.12.1-1.git");
        std::fs::create_dir(&tree).unwrap();
        forget(place.path()).unwrap();
        assert!(!place.path().join("6.12.1-1").exists());
        let version = "6.12.1-1".to_owned();
        let found = packed(place.path()).unwrap();
        assert_eq!(found, Some(Source { version, tree }));
    }

    #[test]
    fn of_an_archive_the_parts_that_are_asked_for_are_kept() {
        let (from, to) = (archive(), tempfile::tempdir().unwrap());
        let tree = to.path().join("tree");
        let script = ["scripts/check.pl"];
        assert!(!holds(&tree, &script) && !holds(&tree, &[]));
        unpack(from.path(), &tree, &with_kept(&tree, &script), "try").unwrap();
        assert!(tree.join("scripts/check.pl").is_file());
        assert!(!tree.join("Makefile").exists() && !tree.join("scripts/mod").exists());
        assert!(holds(&tree, &script) && !holds(&tree, &["scripts/mod"]));
        assert!(!holds(&tree, &[]), "it has not all");

        let both = with_kept(&tree, &["scripts/mod"]);
        let more = to.path().join("more");
        unpack(from.path(), &more, &both, "try").unwrap();
        assert!(more.join("scripts/check.pl").is_file() && more.join("scripts/mod/a.c").is_file());
        assert!(with_kept(&tree, &[]).is_empty(), "all is no list of parts");

        let none = BTreeSet::from(["none".to_string()]);
        let error = unpack(from.path(), &to.path().join("none"), &none, "try").unwrap_err();
        assert!(error.why.contains("linux-source-1.0/none"), "{error}");
    }
}
