//! A kernel for the exact machine, built from its sources.
//!
//! Objects lie below `<root>/builds/`, one directory for each tree of sources,
//! compiler and configuration, and the next build of the tree makes only what has
//! changed. What is stored as a kernel is a copy: image, modules, configuration and
//! headers stay as they were built, whatever the tree becomes. Nothing in an image
//! depends on when, where or by whom it was built, nor on what was built before it, so
//! that the same sources give the same bytes.

mod headers;

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::config::{Configuration, EXACT, Weight, wishes};
use super::{Kernel, Kernels, add, names, store};
use crate::Error;
use crate::elf::Host;
use crate::fault::{failed, io, mend, read, wrong};
use crate::process::{Process, in_words};
use crate::testbed::first_error;

/// Part of every key: to be raised when the same sources are built otherwise.
const RECIPE: &str = "assize.kernel-build/1";
/// A build takes minutes, and how many on a busy host nobody knows.
const LIMIT: Duration = Duration::MAX;
/// Programs that a build starts, and the packages that have them.
const TOOLS: &[(&str, &str)] = &[
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("make", "make"),
    ("setpriv", "util-linux"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("depmod", "kmod"),
];
/// What an image would say of who built it, when, and how often.
const BUILDER: &[(&str, &str)] = &[
    ("KBUILD_BUILD_TIMESTAMP", "1970-01-01 00:00:00 UTC"),
    ("KBUILD_BUILD_USER", "assize"),
    ("KBUILD_BUILD_HOST", "assize"),
    ("KBUILD_BUILD_VERSION", "1"),
    ("TZ", "UTC"),
];

/// A kernel that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// As it is stored.
    pub kernel: Kernel,
    /// Kernels of other names that are the same image, byte for byte.
    pub same: Vec<String>,
}

impl Kernels {
    /// Builds the kernel of a tree of sources for the exact machine, and stores it
    /// under a name with its modules and headers, in the place of what had that name.
    /// The tree is only read.
    ///
    /// # Errors
    /// A name that cannot be had, a tree that is none of the kernel or in which
    /// something was built, programs that are missing, options that this kernel does
    /// not have; the first line that says why a build failed, and where its log is.
    pub fn build(
        &self,
        name: &str,
        tree: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Built, Error> {
        let what = format!("build the kernel {name}");
        if let Some(why) = names::refused(name) {
            return Err(mend(wrong(what, why), "choose another name"));
        }
        let tree = check_tree(&what, tree)?;
        let compiler = compiler(&what)?;
        self.build_by(&compiler, name, &tree, progress)
    }

    /// The same by a compiler that is here.
    fn build_by(
        &self,
        compiler: &str,
        name: &str,
        tree: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Built, Error> {
        let what = format!("build the kernel {name}");
        let place = self.root.join("builds").join(key(tree, compiler, EXACT));
        check_path(&what, &place)?;
        let _lock = crate::lock::take(&place, progress)?;
        let site = Site {
            what: &what,
            tree,
            objects: place.join("objects"),
            log: place.join("build.log"),
        };
        fs::create_dir_all(&site.objects).map_err(|error| io("create", &site.objects, &error))?;
        progress("configuring");
        site.configure(&place, progress)?;
        progress(
            "building the image and its modules: minutes from nothing, seconds after a change",
        );
        site.make(&["bzImage", "modules"])?;
        let built = self.keep(name, &site, compiler)?;
        let all = store::stored(&self.directory())?;
        let same = all
            .into_iter()
            .filter(|other| other.digest == built.digest && other.name != built.name);
        Ok(Built {
            same: same.map(|other| other.name).collect(),
            kernel: built,
        })
    }

    /// Copies what was built to the kernels.
    fn keep(&self, name: &str, site: &Site<'_>, compiler: &str) -> Result<Kernel, Error> {
        let installed = site.objects.join("installed");
        if installed.exists() {
            fs::remove_dir_all(&installed).map_err(|error| io("remove", &installed, &error))?;
        }
        let into = format!("INSTALL_MOD_PATH={}", installed.display());
        site.make(&[&into, "INSTALL_MOD_STRIP=1", "modules_install"])?;
        let release = site.objects.join("include/config/kernel.release");
        let release = String::from_utf8_lossy(&read(&release)?).trim().to_owned();
        let image = site.objects.join("arch/x86/boot/bzImage");
        let temporary = store::temporary_in(&self.directory())?;
        let to = temporary.path();
        add::copy(&image, &to.join("vmlinuz"))?;
        add::copy(&site.objects.join(".config"), &to.join("config"))?;
        let modules = Path::new("lib/modules").join(&release);
        add::copy_tree(&installed.join(&modules), &to.join(&modules), true)?;
        headers::keep(site.tree, &site.objects, &to.join("headers"))?;
        let digest = blake3::hash(&read(&image)?).to_hex();
        let kernel = store::commit(
            &self.directory(),
            temporary,
            store::Draft {
                name,
                version: &format!("{release}.{}", &digest[..8]),
                headers: Some(PathBuf::from("headers")),
                origin: format!("built from {} by {compiler}", site.tree.display()),
            },
        )?;
        self.forget_others(&kernel)?;
        Ok(kernel)
    }
}

/// Where a kernel is built, and from what.
struct Site<'a> {
    what: &'a str,
    tree: &'a Path,
    objects: PathBuf,
    log: PathBuf,
}

impl Site<'_> {
    /// Makes `.config` of the fragment.
    fn configure(&self, place: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), Error> {
        let fragment = place.join("exact.config");
        fs::write(&fragment, EXACT).map_err(|error| io("write", &fragment, &error))?;
        let all = format!("KCONFIG_ALLCONFIG={}", fragment.display());
        self.make(&[&all, "allnoconfig"])?;
        let wishes = wishes(EXACT).map_err(|why| failed(self.what, why))?;
        let config = read(&self.objects.join(".config"))?;
        let config = Configuration::parse(&config, ".config")?;
        let lacking = config.lacks(&wishes);
        if let Some(first) = lacking.iter().find(|wish| wish.weight == Weight::Needed) {
            let why = format!("its Kconfig does not let {first} be: {}", first.why);
            return Err(mend(
                wrong(self.what, why),
                "configure and build it yourself, and give it to assize kernel add",
            ));
        }
        for wish in config.not_taken(&wishes) {
            progress(&format!("this kernel does not have {wish}: {}", wish.why));
        }
        Ok(())
    }

    /// Runs make in the tree, with all it says in the log.
    fn make(&self, arguments: &[&str]) -> Result<(), Error> {
        let could_not = |error: std::io::Error| failed(self.what, format!("make: {error}"));
        let errors = File::create(&self.log).map_err(|error| io("write", &self.log, &error))?;
        let command = command(self.tree, &self.objects, arguments);
        let mut process =
            Process::start(command, self.tree, errors, None, LIMIT).map_err(could_not)?;
        drop(process.child().stdin.take());
        if let Some(mut output) = process.child().stdout.take() {
            // Nothing comes here: the command sends its output to its errors.
            output.read_to_end(&mut Vec::new()).map_err(could_not)?;
        }
        let why = match process.wait().map_err(could_not)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => format!("make: {}", in_words(status)),
            None => "make did not end".into(),
        };
        let text = read(&self.log)?;
        let line = first_error(&String::from_utf8_lossy(&text)).unwrap_or(why);
        let line = line.replace(&format!("{}/", self.tree.display()), "");
        Err(mend(
            failed(self.what, line),
            format!("the whole log is {}", self.log.display()),
        ))
    }
}

/// make, which ends what it has started if the kernel tells it to end because this
/// process has ended. Killed, as other children are, it would leave make in
/// subdirectories going on, in objects of which the next build believes that they
/// are its own.
fn command(tree: &Path, objects: &Path, arguments: &[&str]) -> Command {
    const SCRIPT: &str = "exec setpriv --pdeathsig TERM make \"$@\" >&2";
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut command = Command::new("sh");
    command
        .args(["-c", SCRIPT, "make", "-C"])
        .arg(tree)
        .arg(format!("O={}", objects.display()))
        .arg(format!("-j{jobs}"))
        // Else a tree of git that is no release has a '+' behind its version.
        .arg("LOCALVERSION=")
        .args(arguments)
        // Many variables mean something to kbuild.
        .env_clear()
        .env("LC_ALL", "C")
        .envs(BUILDER.iter().copied());
    for name in ["HOME", "TMPDIR", "PATH"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// The tree without links, if it is one of the kernel in which nothing was built.
fn check_tree(what: &str, tree: &Path) -> Result<PathBuf, Error> {
    let tree = fs::canonicalize(tree).map_err(|error| io("read", tree, &error))?;
    for file in [
        "Makefile",
        "Kconfig",
        "arch/x86/Kconfig",
        "scripts/Kconfig.include",
    ] {
        if !tree.join(file).is_file() {
            let why = format!(
                "{} is no tree of the kernel: it has no {file}",
                tree.display()
            );
            return Err(mend(wrong(what, why), "name the top of one: --tree DIR"));
        }
    }
    if let Some(file) = [".config", "include/config", "arch/x86/include/generated"]
        .iter()
        .find(|file| tree.join(file).exists())
    {
        let why = format!(
            "something was built in {} ({file} is there), and make does not build elsewhere then",
            tree.display()
        );
        let how = "take a tree of its own: git worktree add DIR; or clean this one: make mrproper";
        return Err(mend(wrong(what, why), how));
    }
    check_path(what, &tree)?;
    Ok(tree)
}

/// Whether make can work with this path, which it would take for several.
fn check_path(what: &str, path: &Path) -> Result<(), Error> {
    let text = path.to_string_lossy();
    if !text.contains([' ', '\t', '\n', ':', '#', '$', '\'', '"', '%', '=']) {
        return Ok(());
    }
    let why = format!("make cannot work in {text}, because of the signs in its path");
    Err(mend(wrong(what, why), "move it to a plain path"))
}

/// What the compiler calls itself, if all that a build needs is here.
fn compiler(what: &str) -> Result<String, Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let host = Host::at_root(Path::new("/"), std::env::split_paths(&path).collect());
    let missing: Vec<_> = TOOLS
        .iter()
        .filter(|(program, _)| host.program(program).is_none())
        .collect();
    if !missing.is_empty() {
        let programs: Vec<&str> = missing.iter().map(|(program, _)| *program).collect();
        let packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
        let why = format!("not found in PATH: {}", programs.join(", "));
        return Err(mend(
            wrong(what, why),
            format!("apt install {} libelf-dev", packages.join(" ")),
        ));
    }
    let said = Command::new("gcc")
        .arg("--version")
        .env("LC_ALL", "C")
        .output();
    let said = said.map_err(|error| failed(what, format!("gcc: {error}")))?;
    let text = String::from_utf8_lossy(&said.stdout);
    let line = text.lines().next();
    line.map(String::from)
        .ok_or_else(|| failed(what, "gcc does not say its version"))
}

/// The name of the directory for objects.
fn key(tree: &Path, compiler: &str, fragment: &str) -> String {
    let mut hash = blake3::Hasher::new();
    let tree = tree.as_os_str().as_encoded_bytes();
    for part in [
        RECIPE.as_bytes(),
        tree,
        compiler.as_bytes(),
        fragment.as_bytes(),
    ] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().to_hex()[..32].to_string()
}

#[cfg(test)]
mod tests;
