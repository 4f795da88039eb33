//! Builds the patched QEMU: a Debian source package with the patches of `qemu/`.
//!
//! Debian's signature vouches for the archive's lists, these for the hash of the sources,
//! and a table in `qemu/` says which hashes were tested. The result is stored in
//! `<root>/qemu/VERSION/` with its firmware, and appears there by rename. VERSION is QEMU's
//! own version, `+assize.`, and the start of a hash of patches, configure arguments and
//! firmware: two QEMUs of one VERSION emulate the same machine.

mod recipe;
mod steps;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use recipe::{FetchedPart, KnownFile, Recipe, SourceTrust, trust};
use steps::{BuildLog, BuildProgress};
pub use tools::missing;

use crate::Error;
use crate::apt::{Apt, AptPackage, SourceArchive};
use crate::fault::{create, failed, io, list, mend, read, write};
use crate::kernels::compare_versions;
use crate::prune::touch;
use crate::qemu::is_parallel;
use crate::scratch::{into_place, temporary_in};

/// The separator between QEMU's version and the hash.
pub(crate) const MARK: &str = "+assize.";
/// The suites with the source package.
const SUITES: [&str; 2] = ["trixie", "trixie-security"];
const PACKAGE: &str = "qemu";
/// The file in each directory with the digest of its recipe. A directory that has it is
/// complete.
const RECIPE: &str = "recipe";
/// The file with Debian's packages that went into it, `NAME=VERSION` on each line.
const PACKAGES: &str = "packages";
const BINARY: &str = "usr/bin/qemu-system-x86_64";
const DATA: &str = "usr/share/qemu";
/// Firmware, which Debian's source package does not contain: for starting a microvm, for loading
/// either kind of kernel, and for the local APIC. Each entry is a package, its directory, and the
/// files.
const FIRMWARE: [(&str, &str, &[&str]); 2] = [
    ("seabios", "usr/share/seabios", &["bios-microvm.bin"]),
    (
        "qemu-system-data",
        "usr/share/qemu",
        &[
            "kvmvapic.bin",
            "linuxboot.bin",
            "linuxboot_dma.bin",
            "pvh.bin",
        ],
    ),
];
/// How long a QEMU that another version of assize built is kept unused.
const UNUSED: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a build is doing, for messages.
const WHAT: &str = "build QEMU";

/// A stored QEMU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QemuFiles {
    /// The program `qemu-system-x86_64`.
    pub binary: PathBuf,
    /// The directory to pass with `-L`.
    pub data: PathBuf,
    /// `10.0.13+assize.1a2b3c4d`: QEMU's own version, and the hash of the recipe.
    pub version: String,
}

/// The QEMU with this binary's recipe: the one that a package installed, else the newest that was
/// built below `root`.
#[must_use]
pub fn stored(root: &Path) -> Option<QemuFiles> {
    let installed = std::env::current_exe().ok().and_then(installed_with);
    let roots = installed.iter().map(PathBuf::as_path).chain([root]);
    first_stored(roots, &Recipe::ours().digest())
}

/// Where the package `assize-qemu` has its directory `qemu`, if this program is `PREFIX/bin/assize`.
fn installed_with(program: PathBuf) -> Option<PathBuf> {
    Some(program.parent()?.parent()?.join("lib/assize"))
}

fn first_stored<'a>(mut roots: impl Iterator<Item = &'a Path>, recipe: &str) -> Option<QemuFiles> {
    roots.find_map(|root| stored_by(root, recipe))
}

fn stored_by(root: &Path, recipe: &str) -> Option<QemuFiles> {
    let places = places(root).into_iter().filter(|place| {
        let kept = fs::read_to_string(place.join(RECIPE));
        kept.is_ok_and(|kept| kept.trim() == recipe) && place.join(BINARY).is_file()
    });
    let newest = places.max_by(|a, b| compare_versions(&name_of(a), &name_of(b)))?;
    touch(&newest);
    Some(QemuFiles {
        binary: newest.join(BINARY),
        data: newest.join(DATA),
        version: name_of(&newest),
    })
}

/// The directories of all QEMUs that assize built, including those with other recipes.
fn places(root: &Path) -> Vec<PathBuf> {
    let mut places = list(&root.join("qemu")).unwrap_or_default();
    places.retain(|place| !name_of(place).starts_with('.') && name_of(place).contains(MARK));
    places
}

fn name_of(place: &Path) -> String {
    let name = place.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Returns the patched QEMU, building it if necessary.
///
/// # Errors
/// A missing requirement of the build, which the error names; no apt, no network, no space; a
/// source to which the patches do not apply; a failed build, whose log is kept.
pub fn ensure(root: &Path, progress: &mut dyn FnMut(&str)) -> Result<QemuFiles, Error> {
    if let Some(there) = stored(root) {
        return Ok(there);
    }
    let recipe = Recipe::ours();
    let known = recipe.known_files()?;
    let missing = missing();
    if !missing.is_empty() {
        let names = missing.join(" ");
        return Err(mend(
            failed(WHAT, format!("there is no {}", missing.join(", no "))),
            format!("apt-get install {names}, then assize kernel fetch --qemu"),
        ));
    }
    let directory = root.join("qemu");
    let _lock = crate::lock::take(&directory, progress)?;
    if let Some(there) = stored(root) {
        return Ok(there);
    }
    let build = QemuBuild {
        recipe,
        known,
        directory: &directory,
    };
    let place = build.carry_out(progress)?;
    prune(root, &place, SystemTime::now());
    stored(root).ok_or_else(|| failed(WHAT, format!("{} is incomplete", place.display())))
}

/// Removes QEMUs of other recipes that have not been used for a long time.
fn prune(root: &Path, but: &Path, now: SystemTime) {
    for place in places(root).iter().filter(|place| *place != but) {
        let used = fs::metadata(place).and_then(|about| about.modified());
        let age = used.ok().and_then(|used| now.duration_since(used).ok());
        if age.is_some_and(|age| age > UNUSED) {
            // If this fails, it only wastes space.
            let _ = fs::remove_dir_all(place);
        }
    }
}

struct QemuBuild<'a> {
    recipe: Recipe<'a>,
    known: Vec<KnownFile>,
    /// `<root>/qemu`, which is locked.
    directory: &'a Path,
}

impl QemuBuild<'_> {
    /// Builds, and returns the new directory.
    fn carry_out(&self, progress: &mut dyn FnMut(&str)) -> Result<PathBuf, Error> {
        let work = temporary_in(self.directory)?;
        let made = temporary_in(self.directory)?;
        let (place, kinds) = (self.directory.join(".apt-source"), ["deb", "deb-src"]);
        let apt = Apt::open(&place, &SUITES, &kinds, WHAT, progress)?;
        let found = self.source(&apt, progress)?;
        let archive = apt.fetch_source(&found, &work.path().join("archive"), progress)?;
        let mut packages = Vec::new();
        for (name, _, _) in FIRMWARE {
            packages.push(AptPackage {
                name: name.into(),
                version: apt.package(name)?.version().into(),
            });
        }
        let unpacked = work.path().join("firmware");
        apt.unpack(&packages, &unpacked, progress)?;
        let firmware = copy_firmware(&unpacked, made.path())?;
        let digest = short(&self.recipe.digest(), &firmware);
        let mut log = BuildLog::begin(self.directory.join("build.log"))?;
        let source = work.path().join("source");
        progress("unpacking and patching it");
        unpack(&mut log, &archive, &source)?;
        self.patch(&mut log, &source, work.path())?;
        self.fetch_wheel(&mut log, work.path(), &source, progress)?;
        let version = read(&source.join("VERSION"))?;
        let version = String::from_utf8_lossy(&version).trim().to_string();
        let built = self.compile(&mut log, &source, &version, &digest, progress)?;
        if !is_parallel(&built) {
            let why = "the QEMU that was built has no clock per CPU (-icount parallel)";
            return Err(failed(WHAT, why));
        }
        let binary = made.path().join(BINARY);
        create(&made.path().join("usr/bin"))?;
        fs::copy(&built, &binary).map_err(|error| io("write", &binary, &error))?;
        let mut sources = format!("{}\n", found.package);
        for package in &packages {
            sources += &format!("{}={}\n", package.name, package.version);
        }
        write(&made.path().join(PACKAGES), sources.as_bytes())?;
        let recipe = self.recipe.digest() + "\n";
        write(&made.path().join(RECIPE), recipe.as_bytes())?;
        let place = self.directory.join(format!("{version}{MARK}{digest}"));
        into_place(made, &place)?;
        Ok(place)
    }

    /// Finds the sources, and checks that they are known.
    fn source(&self, apt: &Apt, progress: &mut dyn FnMut(&str)) -> Result<SourceArchive, Error> {
        let source = apt.source(PACKAGE)?;
        match trust(&self.known, &source.file, &source.sha256) {
            Ok(SourceTrust::Known) => {}
            Ok(SourceTrust::Newer) => progress(&format!(
                "{} is newer than the version tested; Debian's signature was checked",
                source.file
            )),
            Err(why) => {
                let update = "use a newer assize, or one CPU in exact machines";
                return Err(mend(failed(WHAT, why), update));
            }
        }
        Ok(source)
    }

    /// Applies the patches, each of which must fit exactly.
    fn patch(&self, log: &mut BuildLog, source: &Path, work: &Path) -> Result<(), Error> {
        for (name, text) in self.recipe.patches() {
            let file = work.join("patch");
            write(&file, text.as_bytes())?;
            let mut command = Command::new("patch");
            command
                .args(["-p1", "-F0", "--batch", "--input"])
                .arg(&file);
            let what = format!("apply qemu/{name}");
            log.run(&what, command, source, &mut |_| ())?;
        }
        Ok(())
    }

    /// Fetches Meson, which configures QEMU, from the Python registry, and checks its hash.
    fn fetch_wheel(
        &self,
        log: &mut BuildLog,
        work: &Path,
        source: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let wheels = source.join("python/wheels");
        for known in self
            .known
            .iter()
            .filter(|known| known.what == FetchedPart::Wheel)
        {
            if wheels.join(&known.file).is_file() {
                continue;
            }
            let name = known.file.split('-').next().unwrap_or_default();
            let exact = format!("{name}=={}", known.version);
            progress(&format!("fetching {exact} from the Python registry"));
            let wanted = work.join("wanted");
            let text = format!("{exact} --hash=sha256:{}\n", known.sha256);
            write(&wanted, text.as_bytes())?;
            let venv = work.join("venv");
            let mut make = Command::new("python3");
            make.args(["-m", "venv"]).arg(&venv);
            log.run("make a virtual environment", make, work, &mut |_| ())?;
            let mut pip = Command::new(venv.join("bin/pip"));
            pip.args(["download", "--no-deps", "--require-hashes"])
                .args(["--only-binary", ":all:", "-r"])
                .arg(&wanted)
                .arg("-d")
                .arg(&wheels);
            let what = format!("fetch {exact} from the Python registry");
            log.run(&what, pip, work, &mut |_| ()).map_err(|error| {
                mend(
                    error,
                    "check the network, and the proxy and index of pip: pip config list",
                )
            })?;
        }
        Ok(())
    }

    /// Configures and compiles; returns the program.
    fn compile(
        &self,
        log: &mut BuildLog,
        source: &Path,
        version: &str,
        digest: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<PathBuf, Error> {
        progress(&format!("configuring QEMU {version}"));
        let build = source.with_file_name("build");
        create(&build)?;
        let work = source.parent().unwrap_or(source).display();
        let mut configure = niced(&source.join("configure"));
        configure
            .args(self.recipe.configure())
            .args(["--prefix=/usr", "--disable-download"])
            // Assertions contain file names; this makes the bytes independent of the directory.
            .arg(format!("--extra-cflags=-ffile-prefix-map={work}=."))
            .arg(format!("--with-pkgversion={}{digest}", &MARK[1..]));
        log.run("configure QEMU", configure, &build, &mut |_| ())?;
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        progress(&format!(
            "building QEMU {version}, some minutes; {jobs} at once"
        ));
        let mut ninja = niced(Path::new("ninja"));
        ninja
            .args(["-j", &jobs.to_string(), "qemu-system-x86_64"])
            .env("NINJA_STATUS", "[%f/%t] ");
        let mut tenths = BuildProgress::default();
        log.run(WHAT, ninja, &build, &mut |line| {
            if let Some(percent) = tenths.see(line) {
                progress(&format!("building QEMU {version}: {percent} %"));
            }
        })?;
        Ok(build.join("qemu-system-x86_64"))
    }
}

/// Copies firmware from unpacked packages into the new directory. Returns its hash.
fn copy_firmware(unpacked: &Path, made: &Path) -> Result<String, Error> {
    let data = made.join(DATA);
    create(&data)?;
    let mut hasher = blake3::Hasher::new();
    for (_, folder, names) in FIRMWARE {
        for name in names {
            let bytes = read(&unpacked.join(folder).join(name))?;
            write(&data.join(name), &bytes)?;
            hasher.update(name.as_bytes());
            hasher.update(blake3::hash(&bytes).as_bytes());
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// A program run at a lower priority.
fn niced(program: &Path) -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "5"]).arg(program);
    command
}

/// The short hash that follows the version in a directory's name.
fn short(recipe: &str, firmware: &str) -> String {
    let both = blake3::hash(format!("{recipe} {firmware}").as_bytes());
    both.to_hex().chars().take(8).collect()
}

fn unpack(log: &mut BuildLog, archive: &Path, to: &Path) -> Result<(), Error> {
    create(to)?;
    let mut tar = Command::new("tar");
    tar.args(["--strip-components=1", "-xf"])
        .arg(archive)
        .arg("-C")
        .arg(to);
    log.run("unpack the sources of QEMU", tar, to, &mut |_| ())
}

#[cfg(test)]
mod tests;
