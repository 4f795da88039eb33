//! Builds kernels for the exact machine from source.
//!
//! Objects are below `<root>/builds/`, one directory per source tree, compiler and
//! configuration, so that the next build of the tree is incremental. A stored kernel is a
//! copy: image, modules, configuration and headers stay as they were built, whatever
//! happens to the tree. An image does not depend on when, where or by whom it was built,
//! nor on earlier builds, so the same sources give the same bytes.

mod headers;
mod stamps;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::config::{EXACT, KernelConfig, OptionWeight, wishes};
use super::{Kernel, Kernels, add, names, store};
use crate::Error;
use crate::elf::ProgramHost;
use crate::fault::{create, failed, files_below, io, mend, read, remove, write, wrong};
use crate::make::{self, MakeRun};
use crate::parts_hash::PartsHash;
use crate::sandbox::{Folders, Limits, Sandbox};
use crate::scratch;

/// Part of every key: increase it when the same sources are built differently.
const RECIPE: &str = "assize.kernel-build/1";
/// Programs that a build runs, and the packages that contain them.
const TOOLS: &[(&str, &str)] = &[
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("make", "make"),
    ("setpriv", "util-linux"),
    ("flock", "util-linux"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("depmod", "kmod"),
];
/// Fixed values for what an image would say about who built it, when, and how often.
const BUILDER: &[(&str, &str)] = &[
    ("KBUILD_BUILD_TIMESTAMP", "1970-01-01 00:00:00 UTC"),
    ("KBUILD_BUILD_USER", "assize"),
    ("KBUILD_BUILD_HOST", "assize"),
    ("KBUILD_BUILD_VERSION", "1"),
    ("TZ", "UTC"),
];

/// A directory for the sources of one repository, locked against other processes until this
/// is dropped.
#[derive(Debug)]
pub struct WorkTree {
    /// The files of a commit. They stay, so that the next commit only has to bring the
    /// differences and the next build is incremental.
    pub tree: PathBuf,
    /// Git's index of these files.
    pub index: PathBuf,
    _lock: File,
}

/// A kernel that was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltKernel {
    /// The kernel as stored.
    pub kernel: Kernel,
    /// Names of other stored kernels whose image and modules are the same, byte for byte.
    pub same: Vec<String>,
}

impl Kernels {
    /// Builds the kernel of a source tree for the exact machine, and stores it under a name
    /// with its modules and headers, replacing the kernel that had that name. The tree is
    /// only read, and what it makes run is kept in the sandbox.
    ///
    /// # Errors
    /// A name that is reserved or malformed, a tree that is not a kernel's or in which
    /// something was built, missing programs, options that this kernel does not have; for a
    /// failed build, the first line that says why, and the path of its log.
    pub fn build(
        &self,
        name: &str,
        tree: &Path,
        sandbox: &Sandbox,
        progress: &mut dyn FnMut(&str),
    ) -> Result<BuiltKernel, Error> {
        let what = format!("build the kernel {name}");
        if let Some(why) = names::refused(name) {
            return Err(mend(wrong(what, why), "choose another name"));
        }
        let tree = check_tree(&what, tree)?;
        let made = KernelBuildInputs::here(&what)?;
        self.build_by(&made, name, &tree, None, sandbox, progress)
    }

    /// The work tree for a repository, independent of kernel names.
    ///
    /// # Errors
    /// A directory cannot be created.
    pub fn work_tree(
        &self,
        repository: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<WorkTree, Error> {
        let key = blake3::hash(repository.as_os_str().as_encoded_bytes()).to_hex();
        let place = self.root.join("trees").join(&key[..32]);
        check_path("check sources out", &place)?;
        let lock = crate::lock::take(&place, progress)?;
        let (tree, index) = (place.join("tree"), place.join("index"));
        create(&tree)?;
        // Left by a git process that was killed.
        let left = place.join("index.lock");
        if left.exists() {
            fs::remove_file(&left).map_err(|error| io("remove", &left, &error))?;
        }
        Ok(WorkTree {
            tree,
            index,
            _lock: lock,
        })
    }

    /// Like [`Kernels::build`], with an installed compiler. `origin` describes where the kernel
    /// came from, if not just from the tree.
    pub(super) fn build_by(
        &self,
        made: &KernelBuildInputs,
        name: &str,
        tree: &Path,
        origin: Option<String>,
        sandbox: &Sandbox,
        progress: &mut dyn FnMut(&str),
    ) -> Result<BuiltKernel, Error> {
        let what = format!("build the kernel {name}");
        let place = self.root.join("builds").join(made.key(tree));
        create(&place)?;
        // make changes to the tree, where a relative path means something else.
        let place = fs::canonicalize(&place).map_err(|error| io("find", &place, &error))?;
        check_path(&what, &place)?;
        let _lock = crate::lock::take(&place, progress)?;
        let site = KernelBuildSite {
            what: &what,
            tree,
            objects: place.join("objects"),
            place: &place,
            sandbox,
        };
        let begun = place.join("begun");
        // make would take an object for newer than its source, or half of one for the whole.
        if stamps::misdated(tree, &begun)?.is_some() || site.unfinished().exists() {
            fs::remove_dir_all(&site.objects).map_err(|error| io("remove", &place, &error))?;
        }
        create(&site.objects)?;
        write(&begun, "")?;
        progress("configuring");
        site.configure(progress)?;
        progress(
            "building the image and its modules: minutes from scratch, seconds after a change",
        );
        site.make(&["bzImage", "modules"])?;
        let _kernels = crate::lock::take(&self.directory(), progress)?;
        let origin =
            origin.unwrap_or_else(|| format!("built from {} by {}", tree.display(), made.compiler));
        let built = self.keep(name, &site, origin, &begun)?;
        let mut same = Vec::new();
        for other in store::stored(&self.directory())? {
            let may_be = other.name != built.name && other.digest == built.digest;
            if may_be && other.bytes()? == built.bytes()? {
                same.push(other.name);
            }
        }
        Ok(BuiltKernel {
            same,
            kernel: built,
        })
    }

    /// Copies the build output to the stored kernels.
    fn keep(
        &self,
        name: &str,
        site: &KernelBuildSite<'_>,
        origin: String,
        begun: &Path,
    ) -> Result<Kernel, Error> {
        let installed = site.objects.join("installed");
        if installed.exists() {
            remove(&installed)?;
        }
        let into = format!("INSTALL_MOD_PATH={}", installed.display());
        site.make(&[&into, "INSTALL_MOD_STRIP=1", "modules_install"])?;
        let release = site.objects.join("include/config/kernel.release");
        let release = String::from_utf8_lossy(&read(&release)?).trim().to_owned();
        if let Some(why) = names::release_refused(&release) {
            return Err(failed(site.what, why));
        }
        let image = site.objects.join("arch/x86/boot/bzImage");
        let temporary = scratch::temporary_in(&self.directory())?;
        let to = temporary.path();
        add::copy(&image, &to.join("vmlinuz"))?;
        add::copy(&site.objects.join(".config"), &to.join("config"))?;
        let modules = Path::new("lib/modules").join(&release);
        add::copy_tree(&installed.join(&modules), &to.join(&modules), true)?;
        headers::keep(site.what, site.tree, &site.objects, &to.join("headers"))?;
        if let Some(path) = stamps::changed(site.tree, begun)? {
            let why = format!("{} was changed while it was built", path.display());
            return Err(mend(
                failed(site.what, why),
                "build again when nothing writes to the tree",
            ));
        }
        let mut content = blake3::Hasher::new();
        content.update(&read(&image)?);
        for (path, digest) in digests(&to.join(&modules))? {
            content.update(path.as_os_str().as_encoded_bytes());
            content.update(digest.as_bytes());
        }
        let digest = content.finalize().to_hex();
        let kernel = store::commit(
            &self.directory(),
            temporary,
            store::KernelDraft {
                name,
                version: &format!("{release}.{}", &digest[..8]),
                headers: Some(PathBuf::from("headers")),
                trusted: *site.sandbox == Sandbox::Off,
                origin,
            },
        )?;
        self.forget_others(&kernel)?;
        Ok(kernel)
    }
}

impl Kernel {
    /// A digest of image and modules: equal for two kernels if these are the same bytes,
    /// whatever the kernels are called.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn bytes(&self) -> Result<String, Error> {
        let found = match &self.modules {
            Some(directory) => digests(directory)?,
            None => BTreeMap::new(),
        };
        let mut hash = PartsHash::default();
        hash.add(&self.digest);
        for (path, digest) in &found {
            hash.add(path.as_os_str().as_encoded_bytes());
            hash.add(digest.as_bytes());
        }
        Ok(hash.hex(32))
    }
}

/// The digests of all modules below a directory, by relative path.
fn digests(directory: &Path) -> Result<BTreeMap<PathBuf, blake3::Hash>, Error> {
    let mut found = BTreeMap::new();
    for path in files_below(directory)? {
        if path.to_string_lossy().contains(".ko") {
            let inside = path.strip_prefix(directory).unwrap_or(&path).to_path_buf();
            found.insert(inside, blake3::hash(&read(&path)?));
        }
    }
    Ok(found)
}

/// The source tree of a kernel, and the directories of its build.
struct KernelBuildSite<'a> {
    what: &'a str,
    tree: &'a Path,
    objects: PathBuf,
    /// The directory of the objects, the log and the configuration.
    place: &'a Path,
    sandbox: &'a Sandbox,
}

impl KernelBuildSite<'_> {
    /// Creates `.config` from the fragment.
    fn configure(&self, progress: &mut dyn FnMut(&str)) -> Result<(), Error> {
        let fragment = self.place.join("exact.config");
        write(&fragment, EXACT)?;
        let all = format!("KCONFIG_ALLCONFIG={}", fragment.display());
        self.make(&[&all, "allnoconfig"])?;
        let wishes = wishes(EXACT).map_err(|why| failed(self.what, why))?;
        let config = read(&self.objects.join(".config"))?;
        let config = KernelConfig::parse(&config, ".config")?;
        let lacking = config.lacks(&wishes);
        if let Some(first) = lacking
            .iter()
            .find(|wish| wish.weight == OptionWeight::Needed)
        {
            let why = format!("its Kconfig does not allow {first}: {}", first.why);
            return Err(mend(
                wrong(self.what, why),
                "configure and build the kernel yourself, then: assize kernel add NAME --kernel \
                 IMAGE",
            ));
        }
        for wish in config.not_taken(&wishes) {
            progress(&format!("this kernel does not have {wish}: {}", wish.why));
        }
        Ok(())
    }

    /// Runs make in the tree; all output goes to the log.
    fn make(&self, arguments: &[&str]) -> Result<(), Error> {
        let lock = make_lock(&self.objects);
        // In the sandbox only the objects are writable, so make cannot create the file there.
        let created = File::options().create(true).append(true).open(&lock);
        created.map_err(|error| io("write", &lock, &error))?;
        let hidden = format!("{}/", self.tree.display());
        let run = MakeRun {
            what: self.what,
            directory: self.tree,
            log: &self.place.join("build.log"),
            shown: (&hidden, ""),
            sandbox: self.sandbox,
            folders: Folders {
                readable: vec![self.tree.to_owned(), self.place.to_owned()],
                writable: self.objects.clone(),
            },
            limits: Limits::default(),
            unfinished: Some(&self.unfinished()),
        };
        run.run(command(self.tree, &self.objects, arguments))
    }

    /// A file that is left by a build whose make was killed.
    fn unfinished(&self) -> PathBuf {
        self.place.join("unfinished")
    }
}

/// The make command. Its children end when this process ends: a sandbox ends with everything in it;
/// without one, the kernel sends make SIGTERM. If make were killed instead, as other children are,
/// make in subdirectories would go on writing objects, which the next build would take for its own.
/// A running compiler still finishes, and kbuild then removes its output: all these processes hold
/// the lock next to the objects, for which the next build waits.
fn command(tree: &Path, objects: &Path, arguments: &[&str]) -> Command {
    const SCRIPT: &str = "exec setpriv --pdeathsig TERM flock --no-fork \"$0\" make \"$@\" >&2";
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let mut command = Command::new("sh");
    command
        .args(["-c", SCRIPT])
        .arg(make_lock(objects))
        .arg("-C")
        .arg(tree)
        .arg(format!("O={}", objects.display()))
        .arg(format!("-j{jobs}"))
        // Otherwise kbuild appends '+' to the version of a git tree that is not a release.
        .arg("LOCALVERSION=")
        .args(arguments)
        // kbuild reads many environment variables.
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

/// The lock that all processes started by make hold.
fn make_lock(objects: &Path) -> PathBuf {
    objects.with_file_name(".make")
}

/// Checks that this is a kernel's tree in which nothing was built, and returns its path
/// with links resolved.
pub(super) fn check_tree(what: &str, tree: &Path) -> Result<PathBuf, Error> {
    let tree = fs::canonicalize(tree).map_err(|error| io("read", tree, &error))?;
    for file in [
        "Makefile",
        "Kconfig",
        "arch/x86/Kconfig",
        "scripts/Kconfig.include",
    ] {
        if !tree.join(file).is_file() {
            let why = format!("{} is not a kernel tree: it has no {file}", tree.display());
            return Err(mend(wrong(what, why), "name the top of one: --tree DIR"));
        }
    }
    if let Some(file) = [".config", "include/config", "arch/x86/include/generated"]
        .iter()
        .find(|file| tree.join(file).exists())
    {
        let why = format!(
            "something was built in {} ({file} exists), so make cannot build in another directory",
            tree.display()
        );
        let how = "use a separate tree: git worktree add DIR; or clean this one: make mrproper";
        return Err(mend(wrong(what, why), how));
    }
    check_path(what, &tree)?;
    Ok(tree)
}

/// Fails if make cannot work with this path.
fn check_path(what: &str, path: &Path) -> Result<(), Error> {
    match make::refused(path) {
        None => Ok(()),
        Some(why) => Err(mend(wrong(what, why), "move it to a plain path")),
    }
}

/// The compiler's version line, if all programs that a build needs are installed.
fn compiler(what: &str) -> Result<String, Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // kbuild looks for depmod in these, too.
    let also = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let directories = std::env::split_paths(&path).chain(also).collect();
    let host = ProgramHost::at_root(Path::new("/"), directories);
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
        .ok_or_else(|| failed(what, "gcc prints no version"))
}

/// Everything that the result of a kernel build depends on besides the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KernelBuildInputs {
    /// The compiler's version line.
    pub(super) compiler: String,
    fragment: &'static str,
}

impl KernelBuildInputs {
    /// The current compiler and configuration, if all programs that a build needs are
    /// installed.
    pub(super) fn here(what: &str) -> Result<Self, Error> {
        Ok(KernelBuildInputs::with_compiler(&compiler(what)?))
    }

    /// The current configuration with this compiler.
    pub(super) fn with_compiler(compiler: &str) -> Self {
        KernelBuildInputs {
            compiler: compiler.to_owned(),
            fragment: EXACT,
        }
    }

    /// The name of the object directory.
    fn key(&self, tree: &Path) -> String {
        let tree = tree.as_os_str().as_encoded_bytes();
        self.hash(&[RECIPE.as_bytes(), tree])
    }

    /// A digest of compiler, configuration and recipe.
    pub(super) fn digest(&self) -> String {
        self.hash(&[RECIPE.as_bytes()])
    }

    fn hash(&self, first: &[&[u8]]) -> String {
        let mut hash = PartsHash::default();
        let own = [self.compiler.as_bytes(), self.fragment.as_bytes()];
        first
            .iter()
            .copied()
            .chain(own)
            .for_each(|part| hash.add(part));
        hash.hex(32)
    }
}

#[cfg(test)]
pub(super) mod tests;
