//! Builds the debug kernels, the modules for them, and the programs that run there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use assize_target::kernels::{Kernels, Source};

use super::kinds::Kind;
use xtask::command::{run as run_command, works};
use xtask::{Error, files, kmod, tree};

/// Programs for building a kernel, each with its package.
const TOOLS: &[(&str, &str)] = &[
    ("gcc", "gcc"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("make", "make"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
];

/// Maximum number of lines shown of a failed build.
const SHOWN: usize = 30;

/// A debug kernel that is built and stored.
pub(super) struct Built {
    /// The name of the kernel in `assize`.
    pub(super) name: String,
    pub(super) release: String,
    /// The directory with the objects, for `make -C` of modules.
    pub(super) objects: PathBuf,
    /// The version that the compiler reports.
    pub(super) compiler: String,
    /// The duration of the build in seconds.
    pub(super) seconds: u64,
    /// The number of options that are set, as built-in or module.
    pub(super) options: usize,
}

/// Builds and stores a kernel, unless one of the same inputs is there.
pub(super) fn kernel(kernels: &Kernels, source: &Source, kind: &Kind) -> Result<Built, Error> {
    let missing: Vec<&str> = TOOLS
        .iter()
        .filter(|(tool, _)| !works(*tool, &["--version"]))
        .map(|(_, package)| *package)
        .collect();
    if !missing.is_empty() {
        return Err(format!(
            "{} are missing; ./setup.sh debug",
            missing.join(", ")
        ));
    }
    let name = format!("debug-{}", kind.name);
    let objects = Kernels::default_root()
        .map_err(|error| error.to_string())?
        .join("debug-kernel")
        .join(kind.name);
    let fragment = fragment(kind)?;
    let compiler = first_line("gcc", &["--version"])?;
    let key = format!("{}\n{compiler}\n{fragment}", source.tree.display());
    let stamp = objects.join("built");
    if let Some(seconds) = built_before(&stamp, &key)
        && kernels.resolve(&name).is_ok()
    {
        println!("{name} is there");
        return describe(name, objects, compiler, seconds);
    }
    // Objects of another compiler or version would be mixed with the new ones.
    files::remove(&objects)?;
    files::write(&objects.join("fragment"), &fragment)?;
    let begun = Instant::now();
    configure(source, &objects, &fragment)?;
    println!("building {name}: some minutes, on all CPUs, at low priority");
    make(source, &objects, &["bzImage", "modules"])?;
    let seconds = begun.elapsed().as_secs();
    let built = describe(name, objects, compiler, seconds)?;
    store(kernels, source, &built)?;
    files::write(&stamp, format!("{seconds}\n{key}"))?;
    Ok(built)
}

/// The duration of the earlier build in seconds, if it had these inputs; else `None`.
fn built_before(stamp: &Path, key: &str) -> Option<u64> {
    let text = fs::read_to_string(stamp).ok()?;
    let (seconds, of) = text.split_once('\n')?;
    (of == key).then(|| seconds.parse().ok())?
}

fn describe(
    name: String,
    objects: PathBuf,
    compiler: String,
    seconds: u64,
) -> Result<Built, Error> {
    let release = objects.join("include/config/kernel.release");
    let config = files::read(&objects.join(".config"))?;
    Ok(Built {
        name,
        release: files::read(&release)?.trim().to_string(),
        objects,
        compiler,
        seconds,
        options: config
            .lines()
            .filter(|line| line.starts_with("CONFIG_"))
            .count(),
    })
}

fn fragment(kind: &Kind) -> Result<String, Error> {
    let mut text = String::new();
    for name in ["base", kind.name] {
        let name = format!("kernel/debug/{name}.config");
        text += &tree::read(&name)?.ok_or_else(|| format!("{name}: not a text"))?;
    }
    Ok(text)
}

/// Generates `.config` from the fragment, and checks that all its lines took effect.
fn configure(source: &Source, objects: &Path, fragment: &str) -> Result<(), Error> {
    let all = format!("KCONFIG_ALLCONFIG={}", objects.join("fragment").display());
    make(source, objects, &[&all, "allnoconfig"])?;
    let config = files::read(&objects.join(".config"))?;
    let lost = lost(fragment, &config);
    if lost.is_empty() {
        return Ok(());
    }
    Err(format!(
        "kernel/debug: Kconfig of {} does not let these be: {}; look what they depend on",
        source.version,
        lost.join(", ")
    ))
}

/// The lines of a fragment that are missing in a configuration.
fn lost<'a>(fragment: &'a str, config: &str) -> Vec<&'a str> {
    let has = |wanted: &str| config.lines().any(|line| line == wanted);
    let holds = |line: &str| match line.strip_suffix("=n") {
        Some(name) => !config.lines().any(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('='))
        }),
        None => has(line),
    };
    fragment
        .lines()
        .filter(|line| line.starts_with("CONFIG_") && !holds(line))
        .collect()
}

/// Runs `make` on the sources, with objects in a separate directory.
fn make(source: &Source, objects: &Path, what: &[&str]) -> Result<(), Error> {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let log = objects.join("log");
    let file = fs::File::create(&log).map_err(|why| format!("{}: {why}", log.display()))?;
    let same = file.try_clone().map_err(|why| why.to_string())?;
    let status = Command::new("nice")
        .args(["-n", "19", "make", "-C"])
        .arg(&source.tree)
        .arg(format!("O={}", objects.display()))
        .arg(format!("-j{jobs}"))
        .args(what)
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(same)
        .status()
        .map_err(|why| format!("make: {why}"))?;
    if status.success() {
        return Ok(());
    }
    let said = files::read(&log)?;
    let lines: Vec<&str> = said.lines().collect();
    eprintln!("{}", lines[lines.len().saturating_sub(SHOWN)..].join("\n"));
    Err(format!(
        "make {}: {status}; {}",
        what.join(" "),
        log.display()
    ))
}

/// Stores the kernel, its modules and headers where `assize` finds them by name.
fn store(kernels: &Kernels, source: &Source, built: &Built) -> Result<(), Error> {
    let objects = &built.objects;
    let installed = objects.join("installed");
    let place = format!("INSTALL_MOD_PATH={}", installed.display());
    make(source, objects, &[&place, "modules_install"])?;
    let image = objects.join("arch/x86/boot/bzImage");
    let config = image.with_file_name(format!("config-{}", built.release));
    files::copy(&objects.join(".config"), &config)?;
    kernels
        .add(&built.name, &image, Some(&installed), Some(objects))
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Builds the modules of the tree, and those with planted bugs, in a copy of their sources. Returns
/// the directory of the copy.
pub(super) fn modules(built: &Built, place: &Path) -> Result<PathBuf, Error> {
    let copy = place.join("kernel");
    kmod::copy(&copy)?;
    for directory in [copy.clone(), copy.join("debug/planted")] {
        let mut make = Command::new("make");
        make.args(["-s", "-C"])
            .arg(&built.objects)
            .arg(format!("M={}", directory.display()))
            .arg("modules")
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .stdin(Stdio::null());
        run_command(make)?;
    }
    Ok(copy)
}

/// The module of that name in the copy.
pub(super) fn module(copy: &Path, name: &str) -> Result<PathBuf, Error> {
    let file = format!("{name}.ko");
    let built = files::below(copy)?;
    let of_it = |path: &PathBuf| path.file_name().is_some_and(|name| *name == *file);
    let found = built.into_iter().find(of_it);
    found.ok_or_else(|| format!("{}: no {file} was built", copy.display()))
}

fn first_line(program: &str, arguments: &[&str]) -> Result<String, Error> {
    let text = xtask::command::output(program, arguments)?;
    Ok(text.lines().next().unwrap_or_default().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_kconfig_did_not_take_are_found() {
        let fragment = "# a\nCONFIG_A=y\nCONFIG_B=m\nCONFIG_C=n\nCONFIG_D=n\n";
        let config = "CONFIG_A=y\nCONFIG_B=y\n# CONFIG_C is not set\nCONFIG_D=y\nCONFIG_CC=y\n";
        assert_eq!(lost(fragment, config), ["CONFIG_B=m", "CONFIG_D=n"]);
    }

    #[test]
    fn a_build_is_taken_again_only_for_the_same() {
        let place = std::env::temp_dir().join(format!("assize-stamp-{}", std::process::id()));
        fs::write(&place, "12\nkey\nof it").unwrap();
        assert_eq!(built_before(&place, "key\nof it"), Some(12));
        assert_eq!(built_before(&place, "key\nof another"), None);
        fs::remove_file(&place).unwrap();
    }
}
