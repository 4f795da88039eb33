//! Stores kernels on disk.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::kernel::Kernel;
use super::{image, names, version};
use crate::Error;
use crate::fault::{failed, io, list, mend, read, write, wrong};
use crate::scratch;

/// The schema of `kernel.json`.
const SCHEMA: &str = "assize.kernel/1";

/// The contents of `kernel.json`. The file is written last, so a directory that has it is
/// complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KernelDescription {
    schema: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) release: String,
    pub(super) digest: String,
    /// Either absolute, or relative to this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) headers: Option<PathBuf>,
    /// Whether it was built without a sandbox, because the user trusts its sources.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) trusted: bool,
    /// Where the kernel came from, in words.
    pub(super) origin: String,
}

/// Every kernel below `directory`, by name, versions from old to new.
pub(super) fn stored(directory: &Path) -> Result<Vec<Kernel>, Error> {
    let mut kernels = Vec::new();
    for name in subdirectories(directory)? {
        for place in subdirectories(&name)? {
            if place.join("kernel.json").exists() {
                kernels.push(load(&place)?);
            }
        }
    }
    kernels.sort_by(|a, b| {
        (a.name.cmp(&b.name)).then_with(|| version::compare(&a.version, &b.version))
    });
    Ok(kernels)
}

/// The subdirectories that are not temporary; none if `path` does not exist.
pub(super) fn subdirectories(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut all = list(path)?;
    all.retain(|path| {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        !hidden && path.is_dir()
    });
    Ok(all)
}

/// Loads the kernel in a directory.
pub(super) fn load(place: &Path) -> Result<Kernel, Error> {
    let path = place.join("kernel.json");
    let damaged = |why: String| {
        mend(
            failed(format!("read {}", path.display()), why),
            format!("remove {} and fetch or add it again", place.display()),
        )
    };
    let text = read(&path)?;
    let told: KernelDescription =
        serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    if told.schema != SCHEMA {
        return Err(damaged(format!(
            "its schema is {}, not {SCHEMA}",
            told.schema
        )));
    }
    let image = place.join("vmlinuz");
    if !image.is_file() {
        return Err(damaged("there is no vmlinuz beside it".into()));
    }
    let existing = |path: PathBuf| path.exists().then_some(path);
    // Headers that are elsewhere are those of a tree that the user has built.
    let elsewhere = told.headers.as_ref().is_some_and(|path| path.is_absolute());
    let headers = told.headers.and_then(|path| existing(place.join(path)));
    Ok(Kernel {
        modules: existing(place.join("lib/modules").join(&told.release)),
        config: existing(place.join("config")),
        compiler: headers.as_deref().and_then(|headers| {
            let root = place.ancestors().nth(3)?;
            stored_compiler(root, headers)
        }),
        headers,
        trusted: told.trusted || elsewhere || names::debian(&told.name).is_some(),
        name: told.name,
        version: told.version,
        release: told.release,
        image,
        digest: told.digest,
    })
}

/// The program directory of the newest stored compiler that these headers name. `root` is
/// the root of the cache.
pub(super) fn stored_compiler(root: &Path, headers: &Path) -> Option<PathBuf> {
    let directory = root.join("compilers").join(named_compiler(headers)?);
    let places = subdirectories(&directory).unwrap_or_default();
    let name = |place: &PathBuf| {
        let name = place.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let newest = places
        .into_iter()
        .max_by(|a, b| version::compare(&name(a), &name(b)))?;
    Some(newest.join("usr/bin"))
}

/// The compiler that a header directory names.
pub(super) fn named_compiler(headers: &Path) -> Option<String> {
    let variables = std::fs::read_to_string(headers.join(".kernelvariables"));
    compiler_named(&variables.unwrap_or_default())
}

/// The compiler that a package's `.kernelvariables` names.
pub(crate) fn compiler_named(variables: &str) -> Option<String> {
    let mut lines = variables.lines();
    let line = lines.find(|line| line.starts_with("CC ") || line.starts_with("CC="))?;
    let at = line.rfind("gcc")?;
    let name = line[at..].split_whitespace().next()?;
    Some(name.to_string())
}

/// Records in `kernel.json` that the kernel in `place` has headers, at a path below it.
pub(super) fn describe_headers(place: &Path, headers: &Path) -> Result<(), Error> {
    let path = place.join("kernel.json");
    let mut told: KernelDescription = serde_json::from_slice(&read(&path)?)
        .map_err(|error| failed(format!("read {}", path.display()), error))?;
    told.headers = Some(headers.to_path_buf());
    let aside = place.join("kernel.json.new");
    write_description(&aside, &told)?;
    std::fs::rename(&aside, &path).map_err(|error| io("write", &path, &error))
}

fn write_description(path: &Path, told: &KernelDescription) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(told)
        .map_err(|error| failed(format!("write {}", path.display()), error))?;
    write(path, text + "\n")
}

/// The description of a kernel whose files are still in a temporary directory.
pub(super) struct KernelDraft<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    pub(super) headers: Option<PathBuf>,
    pub(super) trusted: bool,
    pub(super) origin: String,
}

/// Writes the description of `temporary/vmlinuz` and moves the directory to its place,
/// replacing what is there.
pub(super) fn commit(
    directory: &Path,
    temporary: tempfile::TempDir,
    draft: KernelDraft<'_>,
) -> Result<Kernel, Error> {
    let image = read(&temporary.path().join("vmlinuz"))?;
    let release = image::release(&image).and_then(|release| {
        let refused = names::release_refused(&release);
        refused.map_or(Ok(release), Err)
    });
    let release = release.map_err(|why| wrong(format!("store the kernel {}", draft.name), why))?;
    let told = KernelDescription {
        schema: SCHEMA.into(),
        name: draft.name.into(),
        version: draft.version.into(),
        release,
        digest: blake3::hash(&image).to_hex().to_string(),
        headers: draft.headers,
        trusted: draft.trusted,
        origin: draft.origin,
    };
    write_description(&temporary.path().join("kernel.json"), &told)?;
    let place = directory
        .join(names::directory(draft.name))
        .join(draft.version);
    scratch::into_place(temporary, &place)?;
    load(&place)
}

/// The running kernel, from the files that distributions install below `root`.
pub(super) fn running(root: &Path, release: Option<&str>) -> Result<Kernel, Error> {
    let release = match release {
        Some(release) => release.to_string(),
        None => rustix::system::uname()
            .release()
            .to_string_lossy()
            .into_owned(),
    };
    let modules = root.join("lib/modules").join(&release);
    let candidates = [
        root.join("boot").join(format!("vmlinuz-{release}")),
        modules.join("vmlinuz"),
        root.join("boot/vmlinuz-linux"),
    ];
    let what = "find the kernel running";
    let (image, bytes) = candidates
        .iter()
        .find_map(|path| Some((path.clone(), std::fs::read(path).ok()?)))
        .ok_or_else(|| {
            let why = format!("no readable image of {release} in /boot or /lib/modules");
            mend(
                wrong(what, why),
                "assize kernel fetch debian:6.12, or make /boot/vmlinuz-… readable",
            )
        })?;
    let said =
        image::release(&bytes).map_err(|why| wrong(what, format!("{}: {why}", image.display())))?;
    if said != release {
        let why = format!("{} is {said}, but {release} runs", image.display());
        return Err(mend(wrong(what, why), "boot the installed kernel"));
    }
    let existing = |path: PathBuf| path.exists().then_some(path);
    Ok(Kernel {
        name: "running".into(),
        version: release.clone(),
        config: existing(root.join("boot").join(format!("config-{release}")))
            .or_else(|| existing(modules.join("config"))),
        headers: existing(modules.join("build")),
        compiler: None,
        trusted: true,
        modules: existing(modules),
        release,
        image,
        digest: blake3::hash(&bytes).to_hex().to_string(),
    })
}
