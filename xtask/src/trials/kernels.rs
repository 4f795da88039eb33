//! The kernels of the trials: one with a changed byte that nothing reads, copies, and some with
//! other headers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use assize_target::kernels::{Kernel, Kernels};
use assize_target::policies;

use super::build::KERNEL;
use crate::files::{self, fault};
use crate::{Error, tree};

/// The kernel of the planted level.
const OTHER: &str = "debian:6.1";
/// The kernel of the trial of placement policies.
const WITH_POLICIES: &str = "debian:7";
/// The directory of headers that the compiler searches first.
const FIRST: &str = "arch/x86/include/generated/linux";

/// Stores kernels in this cache, unless they are there, or returns the reason why it cannot:
/// `trial-null` with a changed byte, `trial-same`, `trial-headers` with a planted change in its
/// headers, and `trial-headers-same` without one.
pub(super) fn store(cache: &Path) -> Result<Option<String>, Error> {
    let kernels = Kernels::new(cache.to_path_buf());
    if let Err(error) = kernels.resolve(OTHER) {
        return Ok(Some(error.to_string()));
    }
    let kernel = kernels.resolve(KERNEL).map_err(|error| error.to_string())?;
    let Some(headers) = &kernel.headers else {
        return Ok(Some(format!("no headers of {KERNEL}")));
    };
    let changed = cache.join("vmlinuz-null");
    files::write(&changed, with_a_byte(&kernel.image)?)?;
    let mut overlaid = Vec::new();
    for name in ["planted", "same"] {
        let header = format!("tests/trials/module/headers/{name}.h");
        let header = tree::read(&header)?.ok_or_else(|| format!("{header}: not a text"))?;
        overlaid.push(overlay(
            headers,
            &cache.join("headers").join(name),
            &header,
        )?);
    }
    for (name, image, headers) in [
        ("trial-null", &changed, headers),
        ("trial-same", &kernel.image, headers),
        ("trial-headers", &kernel.image, &overlaid[0]),
        ("trial-headers-same", &kernel.image, &overlaid[1]),
    ] {
        add(&kernels, &kernel, (name, image, headers))?;
    }
    Ok(None)
}

/// The reason why placement policies cannot be tested here; `None` if they can.
pub(super) fn lacks_policies(cache: &Path) -> Option<String> {
    let kernels = Kernels::new(cache.to_path_buf());
    let kernel = kernels.resolve(WITH_POLICIES).map(drop);
    let error = kernel.and_then(|()| policies::compiler().map(drop)).err()?;
    Some(error.to_string())
}

/// The image with a changed byte in its DOS stub, of which only the signature is still used.
fn with_a_byte(image: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = fs::read(image).map_err(fault(image))?;
    let unread = bytes.get_mut(0x10).filter(|byte| **byte == 0);
    *unread.ok_or("the image has something where the stub for DOS ended")? = 1;
    Ok(bytes)
}

fn add(
    kernels: &Kernels,
    kernel: &Kernel,
    (name, image, headers): (&str, &Path, &Path),
) -> Result<(), Error> {
    let there = kernels.resolve(name).ok();
    let wanted = fs::read(image).map_err(fault(image))?;
    let is_it = |there: &Kernel| {
        there.release == kernel.release
            && there.headers.as_deref() == Some(headers)
            && fs::read(&there.image).is_ok_and(|bytes| bytes == wanted)
    };
    if there.is_some_and(|there| is_it(&there)) {
        return Ok(());
    }
    let modules = kernel.modules.as_deref();
    let added = kernels.add(name, image, modules, Some(headers));
    added.map(drop).map_err(|error| error.to_string())
}

/// A copy of headers with a `linux/hrtimer.h` that is found before the original. The other files
/// are links.
fn overlay(headers: &Path, to: &Path, header: &str) -> Result<PathBuf, Error> {
    let headers = fs::canonicalize(headers).map_err(fault(headers))?;
    let name = headers.file_name().unwrap_or_default();
    let copy = to.join("src").join(name);
    files::remove(to)?;
    copy_tree(&headers, &copy)?;
    let around = headers.parent().unwrap_or(&headers);
    link_all(around, &to.join("src"))?;
    link_all(around.parent().unwrap_or(around), to)?;
    files::write(&copy.join(FIRST).join("hrtimer.h"), header)?;
    fs::canonicalize(&copy).map_err(fault(&copy))
}

/// Links each entry of a directory that does not exist yet.
fn link_all(from: &Path, to: &Path) -> Result<(), Error> {
    for path in files::entries(from)? {
        let link = to.join(path.file_name().unwrap_or_default());
        if !link.exists() {
            symlink(&path, &link).map_err(fault(&link))?;
        }
    }
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), Error> {
    files::create(to)?;
    for path in files::entries(from)? {
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_symlink() {
            let target = fs::read_link(&path).map_err(fault(&path))?;
            symlink(target, &to).map_err(fault(&to))?;
        } else if path.is_dir() {
            copy_tree(&path, &to)?;
        } else {
            files::copy(&path, &to)?;
        }
    }
    Ok(())
}
