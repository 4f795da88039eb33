//! Embeds the sources of the testbed's modules, of the placement policies and of QEMU's
//! patches and plugin in the crate, so that the binary can build them without a checkout.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Whether a build of the modules reads this file: everything except tests in user space
/// and documentation.
fn is_source(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let named = matches!(file, "Kbuild" | "Makefile");
    let typed = [".c", ".h", ".S", ".sh"]
        .iter()
        .any(|end| file.ends_with(end));
    (named || typed) && !path.starts_with("tests/user/")
}

/// Whether a build of the placement policies reads this file.
fn is_policy(path: &str) -> bool {
    [".c", ".h"].iter().any(|end| path.ends_with(end))
}

/// Whether a build of QEMU reads this file.
fn is_recipe(path: &str) -> bool {
    let patch = path.starts_with("patches/") && path.ends_with(".patch");
    patch || matches!(path, "source" | "configure")
}

/// Whether a build of the counting plugin reads this file.
fn is_plugin(path: &str) -> bool {
    path.ends_with(".c") || path.ends_with(".h")
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    embed("kernel", is_source, "testbed.rs")?;
    embed("policies", is_policy, "policies.rs")?;
    embed("qemu", is_recipe, "qemu.rs")?;
    embed("qemu/plugin", is_plugin, "plugin.rs")
}

/// Writes the paths and texts of the wanted files of a folder as a Rust table.
fn embed(folder: &str, wanted: fn(&str) -> bool, to: &str) -> Result<(), Box<dyn Error>> {
    let package = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let root = package.join("../..").join(folder).canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut paths = Vec::new();
    collect(&root, &root, &mut paths)?;
    paths.sort();
    let mut text = String::from("&[\n");
    for path in paths.iter().filter(|path| wanted(path)) {
        let file = root.join(path);
        let file = file
            .to_str()
            .ok_or("the path of the sources is not UTF-8")?;
        writeln!(text, "    ({path:?}, include_str!({file:?})),")?;
    }
    text += "]\n";
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    fs::write(out.join(to), text)?;
    Ok(())
}

/// Collects the paths of all files below `directory`, relative to `root`.
fn collect(root: &Path, directory: &Path, paths: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, paths)?;
        } else {
            let path = path.strip_prefix(root)?.to_str();
            paths.push(path.ok_or("a path of the sources is not UTF-8")?.into());
        }
    }
    Ok(())
}
