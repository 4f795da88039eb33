//! Fetches Debian packages with apt into a private directory.
//!
//! Lists, sources and state are private, and no package counts as installed; the machine's
//! own apt is not touched. The administrator's proxies and other network settings apply,
//! hooks do not. Everything is verified with Debian's keyring.

mod parse;
mod sources;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) use parse::{Stanza, stanzas};

use crate::Error;
use crate::fault::{create, failed, io, mend, remove, write, wrong};
use crate::kernels::compare_versions;

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A private view of some suites of the archive.
#[derive(Debug)]
pub(crate) struct Apt {
    directory: PathBuf,
    what: String,
}

/// A package at a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AptPackage {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// The upstream archive of a source package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceArchive {
    /// Name and version: `qemu=1:10.0.13+ds-0+deb13u1`.
    pub(crate) package: String,
    /// The file's name: `qemu_10.0.13+ds.orig.tar.xz`.
    pub(crate) file: String,
    /// The SHA-256 that the signed lists give.
    pub(crate) sha256: String,
}

impl Apt {
    /// Sets up `directory` for these suites and fetches their package lists of these kinds: `deb`,
    /// `deb-src` or both. Errors begin with `what`.
    pub(crate) fn open(
        directory: &Path,
        suites: &[&str],
        kinds: &[&str],
        what: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, Error> {
        let apt = Apt {
            directory: std::path::absolute(directory)
                .map_err(|error| io("find", directory, &error))?,
            what: what.into(),
        };
        if !Path::new(KEYRING).is_file() {
            return Err(mend(
                wrong(what, format!("there is no {KEYRING}")),
                "apt-get install debian-archive-keyring; without apt: \
                 assize kernel add NAME --kernel IMAGE --modules DIR",
            ));
        }
        apt.write_configuration(suites, kinds)?;
        progress(&format!(
            "reading the package lists of {}",
            suites.join(", ")
        ));
        apt.run("apt-get", &["-q", "update"], &apt.directory)?;
        Ok(apt)
    }

    fn write_configuration(&self, suites: &[&str], kinds: &[&str]) -> Result<(), Error> {
        let at = |name: &str| self.directory.join(name);
        for name in ["state/lists/partial", "cache/archives/partial"] {
            create(&at(name))?;
        }
        let mirrors = sources::mirrors();
        let path = |name: &str| at(name).display().to_string();
        for (name, text) in [
            ("status", String::new()),
            (
                "sources.list",
                sources::list(&mirrors, suites, kinds, KEYRING),
            ),
            (
                "first.conf",
                format!("Dir::Etc::main \"{}\";\n", path("apt.conf")),
            ),
            ("apt.conf", configuration(&path)),
        ] {
            write(&at(name), text)?;
        }
        Ok(())
    }

    /// Returns the archive's entries for the newest versions of these packages. Packages
    /// that the archive does not have are left out.
    pub(crate) fn show(&self, names: &[&str]) -> Result<Vec<Stanza>, Error> {
        let mut arguments = vec!["--no-all-versions", "show"];
        arguments.extend(names);
        match self.run("apt-cache", &arguments, &self.directory) {
            Ok(text) => Ok(parse::stanzas(&text)),
            Err(error) if error.why.contains("No packages found") => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Returns every package name with this prefix, including packages that are only
    /// mentioned by others.
    pub(crate) fn names(&self, start: &str) -> Result<Vec<String>, Error> {
        let told = self.run("apt-cache", &["pkgnames", start], &self.directory)?;
        Ok(told.lines().map(String::from).collect())
    }

    /// Returns the archive's entry for one package.
    pub(crate) fn package(&self, name: &str) -> Result<Stanza, Error> {
        let found = self.show(&[name])?;
        found
            .into_iter()
            .find(|stanza| stanza.package() == name)
            .ok_or_else(|| {
                mend(
                    failed(&*self.what, format!("the archive has no package {name}")),
                    format!("look for another one: https://packages.debian.org/{name}"),
                )
            })
    }

    /// Returns `first` and its dependencies, recursively, as far as `wanted` accepts them. Of
    /// alternative dependencies, only the first is followed.
    pub(crate) fn follow(
        &self,
        first: &str,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<AptPackage>, Error> {
        let mut packages: Vec<AptPackage> = Vec::new();
        let mut open = vec![first.to_string()];
        while let Some(name) = open.pop() {
            if packages.iter().any(|package| package.name == name) {
                continue;
            }
            let stanza = self.package(&name)?;
            open.extend(stanza.depends().into_iter().filter(|name| wanted(name)));
            packages.push(AptPackage {
                name,
                version: stanza.version().into(),
            });
        }
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(packages)
    }

    /// Fetches packages and unpacks them into a directory.
    pub(crate) fn unpack(
        &self,
        packages: &[AptPackage],
        into: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        let archives = into.join(".archives");
        create(&archives)?;
        for package in packages {
            let exact = format!("{}={}", package.name, package.version);
            progress(&format!("fetching {} {}", package.name, package.version));
            self.run("apt-get", &["-q", "download", &exact], &archives)?;
        }
        for archive in crate::fault::list(&archives)? {
            let (from, to) = (archive.to_string_lossy(), into.to_string_lossy());
            self.run("dpkg-deb", &["-x", &from, &to], into)?;
        }
        remove(&archives)
    }

    /// Finds the newest source package of this name: its upstream archive (`.orig.tar`).
    pub(crate) fn source(&self, name: &str) -> Result<SourceArchive, Error> {
        let text = self.run(
            "apt-cache",
            &["--only-source", "showsrc", name],
            &self.directory,
        )?;
        let stanzas = parse::stanzas(&text);
        let newest = stanzas
            .iter()
            .filter(|stanza| stanza.package() == name)
            .map(Stanza::version)
            .max_by(|a, b| compare_versions(a, b));
        let version = newest.ok_or_else(|| {
            failed(
                &*self.what,
                format!("the archive has no source package {name}"),
            )
        })?;
        let exact = format!("{name}={version}");
        let told = self.run(
            "apt-get",
            &["-qq", "--print-uris", "--only-source", "source", &exact],
            &self.directory,
        )?;
        let found = parse::archive(&told);
        let (file, sha256) = found.ok_or_else(|| {
            let why = format!("the source package {exact} has no archive with a SHA-256");
            failed(&*self.what, why)
        })?;
        Ok(SourceArchive {
            package: exact,
            file,
            sha256,
        })
    }

    /// Fetches a source archive into a directory. apt verifies its bytes against the hash
    /// in the signed lists of the Debian archive.
    pub(crate) fn fetch_source(
        &self,
        source: &SourceArchive,
        into: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<PathBuf, Error> {
        create(into)?;
        progress(&format!("fetching {}", source.file));
        let tar = [
            "-q",
            "--download-only",
            "--only-source",
            "--tar-only",
            "source",
            &source.package,
        ];
        self.run("apt-get", &tar, into)?;
        let path = into.join(&source.file);
        if path.is_file() {
            return Ok(path);
        }
        let why = format!("apt-get reported that it had fetched {}", source.file);
        Err(failed(&*self.what, format!("{why}, but it is not there")))
    }

    fn run(&self, program: &str, arguments: &[&str], directory: &Path) -> Result<String, Error> {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(directory)
            .env("APT_CONFIG", self.directory.join("first.conf"))
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| no_program(&self.what, program, &error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let (why, how) = parse::complaint(&said, program);
        let error = failed(&*self.what, why);
        Err(match how {
            Some(how) => mend(error, how),
            None => error,
        })
    }
}

fn no_program(what: &str, program: &str, error: &std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::NotFound {
        return mend(
            wrong(what, format!("{program} is not installed")),
            "add a kernel that you have built or copied: assize kernel add NAME --kernel IMAGE --modules DIR",
        );
    }
    failed(what, format!("start {program}: {error}"))
}

/// The private apt configuration. apt reads it after everything in `/etc/apt/apt.conf.d`,
/// so it takes precedence.
fn configuration(path: &dyn Fn(&str) -> String) -> String {
    let mut text = String::new();
    if Path::new("/etc/apt/apt.conf").is_file() {
        text += "#include \"/etc/apt/apt.conf\";\n";
    }
    for hook in [
        "APT::Update::Pre-Invoke",
        "APT::Update::Post-Invoke",
        "APT::Update::Post-Invoke-Success",
        "DPkg::Post-Invoke",
        "DPkg::Pre-Install-Pkgs",
        "APT::Default-Release",
    ] {
        text += &format!("#clear {hook};\n");
    }
    for (key, value) in [
        ("Dir::State", path("state")),
        ("Dir::State::status", path("status")),
        ("Dir::Cache", path("cache")),
        ("Dir::Etc::sourcelist", path("sources.list")),
        ("Dir::Etc::sourceparts", "/dev/null".into()),
        ("Dir::Etc::preferences", "/dev/null".into()),
        ("Dir::Etc::preferencesparts", "/dev/null".into()),
        ("APT::Architecture", "amd64".into()),
        ("APT::Update::Error-Mode", "any".into()),
        ("Acquire::Languages", "none".into()),
        (
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled",
            "false".into(),
        ),
    ] {
        text += &format!("{key} \"{value}\";\n");
    }
    text
}
