//! Finds the render node by the name of its driver: its number depends on which other
//! drivers are loaded.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::device::{self, iowr};

const PLACE: &str = "/dev/dri";
const DRIVER: &str = "simgpu";

/// `struct drm_version` of DRM; each string is a length and an address.
#[repr(C)]
#[derive(Debug, Default)]
struct Version {
    number: [i32; 3],
    pad: u32,
    name_length: u64,
    name: u64,
    date_length: u64,
    date: u64,
    about_length: u64,
    about: u64,
}

const _: () = assert!(size_of::<Version>() == 64);

/// `DRM_IOCTL_VERSION`.
const VERSION: u32 = iowr::<Version>(b'd' as u32, 0);

/// Opens the render node of simgpu.
pub(super) fn open() -> Result<File, String> {
    let nodes = nodes(Path::new(PLACE));
    let mut others = Vec::new();
    for node in &nodes {
        let path = node.display().to_string();
        // Report why a node cannot be opened only if no other node is simgpu's.
        match device::open(&path, DRIVER) {
            Ok(file) if is_ours(&file) => return Ok(file),
            Ok(_) => {}
            Err(why) => others.push(why),
        }
    }
    match others.pop() {
        Some(why) => Err(why),
        None => Err(format!(
            "{PLACE}: there is no render node of {DRIVER}; load the module: \
             [[setup]] module = \"{DRIVER}\""
        )),
    }
}

/// Render nodes, in the order of their numbers.
fn nodes(place: &Path) -> Vec<PathBuf> {
    let number = |path: &PathBuf| -> Option<u32> {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix("renderD")?.parse().ok()
    };
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut nodes: Vec<(u32, PathBuf)> = paths
        .filter_map(|path| Some((number(&path)?, path)))
        .collect();
    nodes.sort();
    nodes.into_iter().map(|(_, path)| path).collect()
}

/// Whether the node's driver is simgpu.
fn is_ours(file: &File) -> bool {
    let mut name = [0_u8; 16];
    let mut version = Version {
        name_length: name.len() as u64,
        name: name.as_mut_ptr() as u64,
        ..Version::default()
    };
    // SAFETY: the number tells the kernel to read and write a `Version`; it
    // writes at most the given length of the name, and nothing to the other
    // texts.
    let read = unsafe { device::ioctl(file, VERSION, &mut version) };
    // The kernel returns the full length of the name, even if the buffer is shorter.
    read.is_ok() && name.get(..version.name_length as usize) == Some(DRIVER.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn render_nodes_are_tried_in_the_order_of_their_numbers() {
        let place = tempfile::tempdir().unwrap();
        for name in [
            "renderD130",
            "renderD1000",
            "card0",
            "renderD128",
            "renderDx",
        ] {
            fs::write(place.path().join(name), "").unwrap();
        }
        let names: Vec<String> = nodes(place.path())
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_string())
            .collect();
        assert_eq!(names, ["renderD128", "renderD130", "renderD1000"]);
        assert!(nodes(&place.path().join("none")).is_empty());
    }

    #[test]
    fn a_file_that_is_no_drm_device_is_not_ours() {
        assert!(!is_ours(&tempfile::tempfile().unwrap()));
    }
}
