//! The sources of a kernel, as Debian packages them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Kernels, names, store};
use crate::Error;
use crate::apt::{Apt, Package};
use crate::fault::{failed, io, list, mend, wrong};

/// The suite whose packages of sources are named as below.
const SUITE: &str = "bookworm";

/// The sources of one version of a kernel, unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The version of the package.
    pub version: String,
    /// The tree.
    pub tree: PathBuf,
}

impl Kernels {
    /// Fetches the newest sources that the archive has of a series such as
    /// `6.12`, into `root/sources`. They are kept until there are newer ones.
    ///
    /// # Errors
    /// No apt, no network, no space; a series that the archive does not have.
    pub fn fetch_source(
        &self,
        series: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Source, Error> {
        let package = format!("linux-source-{series}");
        let what = format!("fetch {package}");
        if !series.chars().all(|c| c.is_ascii_digit() || c == '.') {
            let known: Vec<&str> = super::DEBIAN.iter().map(|kernel| kernel.name).collect();
            let near = names::nearest(series, known.into_iter()).unwrap_or("6.12");
            let near = near.trim_start_matches("debian:");
            let why = "a series is digits and dots";
            return Err(mend(wrong(what, why), format!("write {near}")));
        }
        let sources = self.root.join("sources");
        let _lock = crate::lock::take(&sources, progress)?;
        let security = format!("{SUITE}-security");
        let apt = Apt::open(
            &self.directory().join(".apt").join(SUITE),
            &[SUITE, &security],
            &what,
            progress,
        )?;
        let version = apt.package(&package)?.version().to_string();
        let of_series = sources.join(series);
        let place = of_series.join(version.replace([':', '/'], "_"));
        if !place.is_dir() {
            let temporary = store::temporary_in(&sources)?;
            let wanted = Package {
                name: package,
                version: version.clone(),
            };
            let packed = temporary.path().join("package");
            apt.unpack(&[wanted], &packed, progress)?;
            let tree = temporary.path().join("tree");
            progress(&format!("unpacking the sources of {version}"));
            unpack(&packed.join("usr/src"), &tree, &what)?;
            forget(&of_series)?;
            rename(&tree, &place)?;
        }
        Ok(Source {
            version,
            tree: place,
        })
    }
}

/// Unpacks the one archive `linux-source-*.tar.*` of a directory.
fn unpack(from: &Path, to: &Path, what: &str) -> Result<(), Error> {
    let archive = list(from)?.into_iter().find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("linux-source-") && name.contains(".tar.")
    });
    let archive = archive.ok_or_else(|| failed(what, "the package holds no archive"))?;
    std::fs::create_dir_all(to).map_err(|error| io("create", to, &error))?;
    let output = Command::new("tar")
        .args(["--strip-components=1", "-xf"])
        .arg(&archive)
        .arg("-C")
        .arg(to)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| mend(failed(what, format!("start tar: {error}")), INSTALL))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let why = said.lines().next().unwrap_or("it did not say why");
    Err(mend(failed(what, format!("tar: {why}")), INSTALL))
}

const INSTALL: &str = "check the free space; apt-get install tar xz-utils";

/// Removes what there is of older versions.
fn forget(of_series: &Path) -> Result<(), Error> {
    if !of_series.is_dir() {
        return Ok(());
    }
    for old in list(of_series)? {
        std::fs::remove_dir_all(&old).map_err(|error| io("remove", &old, &error))?;
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    let parent = to.parent().unwrap_or(to);
    std::fs::create_dir_all(parent).map_err(|error| io("create", parent, &error))?;
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

    #[test]
    fn the_archive_of_the_package_is_unpacked_without_its_first_directory() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        std::fs::create_dir_all(from.join("linux-source-1.0")).unwrap();
        std::fs::write(from.join("linux-source-1.0/Makefile"), "all:\n").unwrap();
        let packed = Command::new("tar")
            .args(["-czf", "linux-source-1.0.tar.gz", "linux-source-1.0"])
            .current_dir(&from)
            .status();
        assert!(packed.unwrap().success());
        unpack(&from, &to, "try").unwrap();
        assert_eq!(
            std::fs::read_to_string(to.join("Makefile")).unwrap(),
            "all:\n"
        );
        std::fs::remove_file(from.join("linux-source-1.0.tar.gz")).unwrap();
        assert!(unpack(&from, &to, "try").is_err());
    }
}
