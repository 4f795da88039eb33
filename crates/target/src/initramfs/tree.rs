//! A file tree in memory, and the cpio archive made from it.

use std::collections::BTreeMap;
use std::io::Write as _;

use crate::Error;
use crate::fault::wrong;

/// Directories that are links into `/usr`.
const MERGED: [&str; 6] = ["bin", "lib", "lib32", "lib64", "libx32", "sbin"];

#[derive(Debug, Clone, PartialEq, Eq)]
enum TreeNode {
    Directory(u32),
    File(Vec<u8>, u32),
    Link(String),
    Device(u32, (u32, u32)),
}

/// The tree. Paths have no leading slash.
#[derive(Debug, Clone, Default)]
pub(super) struct ArchiveTree {
    nodes: BTreeMap<String, TreeNode>,
    /// Origin of the entries being added.
    source: String,
    /// Path to origin.
    sources: BTreeMap<String, String>,
}

impl ArchiveTree {
    /// Sets the origin of the entries added from now on: `the program ./a/test`.
    pub(super) fn comes_from(&mut self, source: impl Into<String>) {
        self.source = source.into();
    }

    /// Adds a directory and its parents.
    pub(super) fn directory(&mut self, path: &str, mode: u32) -> Result<(), Error> {
        let path = self.place(path)?;
        match self.nodes.get(&path) {
            Some(TreeNode::Directory(_)) => Ok(()),
            _ => self.put(path, TreeNode::Directory(mode)),
        }
    }

    /// Refuses a path that the guest would hide by a mount.
    pub(super) fn check_visible(path: &str) -> Result<(), Error> {
        let first = path.trim_start_matches('/').split('/').next();
        match first.filter(|first| ["dev", "proc", "sys"].contains(first)) {
            None => Ok(()),
            Some(hidden) => {
                let why = format!("the guest mounts a file system of the kernel at /{hidden}");
                let error = wrong(format!("copy {path}"), why);
                Err(crate::fault::mend(error, "choose a place elsewhere"))
            }
        }
    }

    /// Adds a file. Adding the same file twice is not an error.
    pub(super) fn file(&mut self, path: &str, bytes: Vec<u8>, mode: u32) -> Result<(), Error> {
        let path = self.place(path)?;
        self.put(path, TreeNode::File(bytes, mode))
    }

    /// Adds a symbolic link.
    pub(super) fn link(&mut self, path: &str, target: &str) -> Result<(), Error> {
        let path = self.place(path)?;
        self.put(path, TreeNode::Link(target.into()))
    }

    /// Adds a character device.
    pub(super) fn device(
        &mut self,
        path: &str,
        mode: u32,
        number: (u32, u32),
    ) -> Result<(), Error> {
        let path = self.place(path)?;
        self.put(path, TreeNode::Device(mode, number))
    }

    /// The absolute path of the file that a path leads to, with links followed.
    pub(super) fn resolve(&self, path: &str) -> Option<String> {
        let mut path = merged(path);
        // Linux follows forty links.
        for _ in 0..40 {
            match self.nodes.get(&path)? {
                TreeNode::Link(target) if target.starts_with('/') => path = merged(target),
                TreeNode::Link(target) => {
                    let above = path.rsplit_once('/').map_or("", |(above, _)| above);
                    let joined = std::path::Path::new("/").join(above).join(target);
                    path = merged(&crate::elf::plain(&joined).to_string_lossy());
                }
                _ => return Some(format!("/{path}")),
            }
        }
        None
    }

    /// Whether there is something at a path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.nodes.contains_key(&merged(path))
    }

    /// The absolute path of a file in the archive, if it exists and is not a link.
    pub(super) fn file_at(&self, path: &str) -> Option<String> {
        let path = merged(path);
        let is_file = matches!(self.nodes.get(&path), Some(TreeNode::File(..)));
        is_file.then(|| format!("/{path}"))
    }

    /// Whether a path leads, directly or through links, to a file with these bytes.
    pub(super) fn leads_to(&self, path: &str, bytes: &[u8]) -> bool {
        let found = self.resolve(path);
        let node = found.and_then(|path| self.nodes.get(&merged(&path)));
        matches!(node, Some(TreeNode::File(there, _)) if there == bytes)
    }

    /// The BLAKE3 digest of every file, by absolute path.
    pub(super) fn digests(&self) -> BTreeMap<String, String> {
        let digest = |(path, node): (&String, &TreeNode)| match node {
            TreeNode::File(bytes, _) => {
                let digest = blake3::hash(bytes).to_hex().to_string();
                Some((format!("/{path}"), digest))
            }
            _ => None,
        };
        self.nodes.iter().filter_map(digest).collect()
    }

    /// Whether both are the same path in the tree.
    pub(super) fn same(a: &str, b: &str) -> bool {
        merged(a) == merged(b)
    }

    /// Makes a directory of [`MERGED`] a link into `/usr`.
    pub(super) fn merge(&mut self, name: &str) {
        let link = TreeNode::Link(format!("usr/{name}"));
        self.nodes.entry(name.to_string()).or_insert(link);
        for above in ["usr".to_string(), format!("usr/{name}")] {
            self.nodes
                .entry(above)
                .or_insert(TreeNode::Directory(0o755));
        }
    }

    /// Normalises a path and creates its parent directories.
    fn place(&mut self, path: &str) -> Result<String, Error> {
        let first = path
            .trim_start_matches('/')
            .split('/')
            .next()
            .unwrap_or_default();
        if MERGED.contains(&first) {
            self.merge(first);
        }
        let path = merged(path);
        let parts: Vec<&str> = path.split('/').collect();
        for end in 1..parts.len() {
            let above = parts[..end].join("/");
            let node = self
                .nodes
                .entry(above)
                .or_insert(TreeNode::Directory(0o755));
            if !matches!(node, TreeNode::Directory(_)) {
                return Err(self.clash(&parts[..end].join("/")));
            }
        }
        Ok(path)
    }

    fn put(&mut self, path: String, node: TreeNode) -> Result<(), Error> {
        match self.nodes.get(&path) {
            Some(there) if *there != node => Err(self.clash(&path)),
            Some(_) => Ok(()),
            None => {
                self.sources.insert(path.clone(), self.source.clone());
                self.nodes.insert(path, node);
                Ok(())
            }
        }
    }

    /// The error for two different entries at the same path.
    fn clash(&self, path: &str) -> Error {
        let what = format!("put /{path} into the initramfs");
        let said = |source: &str| match source {
            "" => "the initramfs itself".to_string(),
            source => source.to_string(),
        };
        let before = self.sources.get(path).map_or("", String::as_str);
        let why = format!(
            "{} and {} have the same path, but they differ",
            said(before),
            said(&self.source)
        );
        crate::fault::mend(wrong(what, why), "rename one of them, or give its path")
    }

    /// The archive in the format "newc".
    pub(super) fn archive(&self) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
        for (at, (path, node)) in self.nodes.iter().enumerate() {
            let (kind, mode, bytes): (_, _, &[u8]) = match node {
                TreeNode::Directory(mode) => (0o040_000, *mode, &[]),
                TreeNode::File(bytes, mode) => (0o100_000, *mode, bytes),
                TreeNode::Link(target) => (0o120_000, 0o777, target.as_bytes()),
                TreeNode::Device(mode, _) => (0o020_000, *mode, &[]),
            };
            let (major, minor) = match node {
                TreeNode::Device(_, number) => *number,
                _ => (0, 0),
            };
            let number = u32::try_from(at + 1).map_err(std::io::Error::other)?;
            let size = u32::try_from(bytes.len()).map_err(std::io::Error::other)?;
            let mut writer = cpio::newc::Builder::new(path)
                .ino(number)
                .mode(kind | mode)
                .nlink(if matches!(node, TreeNode::Directory(_)) {
                    2
                } else {
                    1
                })
                .rdev_major(major)
                .rdev_minor(minor)
                .write(&mut out, size);
            writer.write_all(bytes)?;
            writer.finish()?;
        }
        cpio::newc::trailer(&mut out)?;
        // The kernel requires alignment of anything that follows an archive.
        out.resize(out.len().next_multiple_of(512), 0);
        Ok(out)
    }
}

/// The path without leading and trailing slashes, and with `/usr` in front of merged
/// directories.
fn merged(path: &str) -> String {
    let parts = path.split('/');
    let parts: Vec<&str> = parts.filter(|part| !matches!(*part, "" | ".")).collect();
    let path = parts.join("/");
    match parts.first() {
        Some(first) if MERGED.contains(first) && parts.len() > 1 => format!("usr/{path}"),
        _ => path,
    }
}
