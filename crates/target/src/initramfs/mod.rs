//! Builds the initramfs, the archive that a kernel unpacks as its first root file system.
//!
//! It contains the agent as `/init`, the payload with everything it needs, and nothing
//! else. The same files give the same bytes: entries are sorted, and have no owner and no
//! date.

mod carry;
mod first;
mod package;
mod signature;
mod tree;

use std::path::Path;

use assize_job::{LinkedProgram, Payload, PlacementPolicy, PolicyForm};

use crate::Error;
use crate::carried::{CarriedFiles, CarriedModule, CarriedPolicy, EXPERIMENT};
use crate::elf::ProgramHost;
use crate::fault::{failed, mend, read};
use crate::kernels::Kernel;
use crate::module_files;
use crate::modules::{self, Selection};
use crate::policies::{self, Policies, PolicyObject};
use crate::testbed::Testbed;
use carry::Carrier;
pub(crate) use signature::is_demanded;
use tree::ArchiveTree;

const DIRECTORIES: [(&str, u32); 8] = [
    ("dev", 0o755),
    ("etc", 0o755),
    ("proc", 0o755),
    ("root", 0o700),
    ("run", 0o755),
    ("sys", 0o755),
    ("tmp", 0o1777),
    ("var/tmp", 0o1777),
];

/// An archive and its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PackedInitramfs {
    /// The archive in the format "newc".
    pub(crate) bytes: Vec<u8>,
    /// The paths and digests of its files.
    pub(crate) carried: CarriedFiles,
}

/// Builds the archive, uncompressed: unpacking would cost the guest more than copying.
///
/// In the guest, `/bin`, `/sbin`, `/lib` and `/lib64` are links into `/usr`, as on distributions.
/// Programs keep their paths; one from a directory outside the usual PATH is also linked in
/// `/usr/bin`. Modules are uncompressed, below `/lib/modules/RELEASE`, with a `modules.dep` of
/// these modules only; `modules.builtin` and `modules.alias` list requested modules that are built
/// in or are aliases. A module given as a file, or from the testbed, is `extra/NAME.ko`. Module
/// files that single steps load are below [`EXPERIMENT`], each in a directory named by its digest;
/// so is everything that a program named by a relative path needs. For packages, see [`package`].
/// If a program attaches a policy, the kernel's configuration is `/boot/config-RELEASE`.
///
/// Modules have no signatures, unless the kernel or (`signed`) its command line demands
/// them: checking one takes the guest longer than loading the module.
///
/// # Errors
/// Something in the payload does not exist or does not fit the kernel.
pub(crate) fn build(
    agent: &Path,
    kernel: &Kernel,
    ours: &ProvidedFiles,
    payload: &Payload,
    signed: bool,
) -> Result<PackedInitramfs, Error> {
    let signed = signed || signature::is_wanted(kernel);
    build_from(&ProgramHost::this(), agent, kernel, ours, payload, signed)
}

/// Modules and policies that assize itself provides.
#[derive(Debug, Clone)]
pub(crate) struct ProvidedFiles {
    /// Kernel modules.
    pub(crate) testbed: Testbed,
    /// Placement policies.
    pub(crate) policies: Policies,
}

fn build_from(
    host: &ProgramHost,
    agent: &Path,
    kernel: &Kernel,
    ours: &ProvidedFiles,
    payload: &Payload,
    signed: bool,
) -> Result<PackedInitramfs, Error> {
    let mut carrier = Carrier::new(host, skeleton()?);
    let agent =
        std::path::absolute(agent).map_err(|error| crate::fault::io("find", agent, &error))?;
    carrier.init(&agent)?;
    carry_programs(&mut carrier, payload)?;
    let packages = carrier.packages(&payload.packages)?;
    let objects = objects(&mut carrier, ours, payload)?;
    let (mut tree, programs) = carrier.finish()?;
    let policies = carry_policies(&mut tree, objects)?;
    carry_files(&mut tree, payload)?;
    carry_config(&mut tree, kernel, payload)?;
    tree.comes_from("a kernel module");
    let mut selection = modules::select(
        kernel,
        &ours.testbed,
        &payload.modules,
        &payload.module_files,
    )?;
    if !signed {
        let modules = selection.modules.iter_mut().map(|one| &mut one.bytes);
        let beside = selection.beside.iter_mut().map(|one| &mut one.bytes);
        modules.chain(beside).for_each(signature::remove);
    }
    let modules = carry_modules(&mut tree, kernel, selection)?;
    if !packages.is_empty() {
        tree.comes_from("");
        let text = serde_json::to_vec(&packages).map_err(|error| failed("list packages", error))?;
        tree.file(Payload::PACKAGES, text, 0o644)?;
    }
    let first = first::first_steps(payload, &modules);
    if !first.is_empty() {
        tree.comes_from("");
        let text = serde_json::to_vec(&first).map_err(|error| failed("write steps", error))?;
        tree.file(Payload::FIRST, text, 0o644)?;
    }
    let bytes = tree
        .archive()
        .map_err(|error| failed("write the initramfs", error))?;
    Ok(PackedInitramfs {
        bytes,
        carried: CarriedFiles {
            files: tree.digests(),
            programs,
            packages,
            modules,
            policies,
        },
    })
}

/// Returns the BPF objects of the placement policies, and carries the program that attaches
/// them.
fn objects(
    carrier: &mut Carrier<'_>,
    ours: &ProvidedFiles,
    payload: &Payload,
) -> Result<Vec<PolicyObject>, Error> {
    let Some((attach, objects)) = ours.policies.objects(&payload.policies)? else {
        return Ok(Vec::new());
    };
    carrier.ours(
        "the program that attaches placement policies",
        &attach,
        policies::ATTACH,
    )?;
    Ok(objects)
}

fn carry_programs(carrier: &mut Carrier<'_>, payload: &Payload) -> Result<(), Error> {
    let plainly = payload.programs.iter().map(|program| LinkedProgram {
        program: program.clone(),
        ..LinkedProgram::default()
    });
    for program in plainly.chain(payload.linked.iter().cloned()) {
        carrier.program(&program)?;
    }
    Ok(())
}

/// Carries the objects of placement policies, each at a separate path.
fn carry_policies(
    tree: &mut ArchiveTree,
    objects: Vec<PolicyObject>,
) -> Result<Vec<CarriedPolicy>, Error> {
    let mut all = Vec::new();
    for object in objects {
        let (place, carried) = object.carried();
        tree.comes_from(format!("the policy {}", object.file.display()));
        tree.file(&place, object.bytes, 0o644)?;
        all.push(carried);
    }
    Ok(all)
}

/// Carries the kernel's configuration, at the path that distributions use, for programs
/// that attach a policy. libbpf reads it for programs that use one of its options, as the
/// schedulers of the scx project do, and loads nothing without it.
fn carry_config(tree: &mut ArchiveTree, kernel: &Kernel, payload: &Payload) -> Result<(), Error> {
    let is_program = |policy: &PlacementPolicy| policy.form == PolicyForm::Program;
    match &kernel.config {
        Some(config) if payload.policies.iter().any(is_program) => {
            tree.comes_from("the kernel's configuration");
            let place = format!("/boot/config-{}", kernel.release);
            tree.file(&place, read(config)?, 0o644)
        }
        _ => Ok(()),
    }
}

fn carry_files(tree: &mut ArchiveTree, payload: &Payload) -> Result<(), Error> {
    for (from, to) in &payload.files {
        if !to.starts_with('/') {
            return Err(mend(
                crate::fault::wrong(
                    format!("copy {}", from.display()),
                    format!("{to} is not an absolute path"),
                ),
                format!("write /{to}"),
            ));
        }
        ArchiveTree::check_visible(to)?;
        tree.comes_from(format!("the file {}", from.display()));
        carry::files(tree, from, to)?;
    }
    Ok(())
}

fn skeleton() -> Result<ArchiveTree, Error> {
    let mut tree = ArchiveTree::default();
    for (path, mode) in DIRECTORIES {
        tree.directory(path, mode)?;
    }
    for name in ["bin", "lib", "lib64", "sbin"] {
        tree.merge(name);
    }
    tree.device("dev/console", 0o600, (5, 1))?;
    tree.device("dev/null", 0o666, (1, 3))?;
    tree.file(
        "etc/passwd",
        b"root:x:0:0:root:/root:/bin/sh\n".to_vec(),
        0o644,
    )?;
    tree.file("etc/group", b"root:x:0:\n".to_vec(), 0o644)?;
    Ok(tree)
}

fn carry_modules(
    tree: &mut ArchiveTree,
    kernel: &Kernel,
    selection: Selection,
) -> Result<Vec<CarriedModule>, Error> {
    let mut carried = Vec::new();
    if selection == Selection::default() {
        return Ok(carried);
    }
    let directory = format!("lib/modules/{}", kernel.release);
    let mut lines = String::new();
    for module in selection.modules {
        let needs: Vec<String> = module.needs.iter().map(|need| format!(" {need}")).collect();
        lines += &format!("{}:{}\n", module.path, needs.concat());
        let path = format!("{directory}/{}", module.path);
        carried.push(CarriedModule {
            needs: module
                .needs
                .iter()
                .map(|need| module_files::stem(need))
                .collect(),
            ..CarriedModule::from_bytes(&module.name, &path, &module.bytes)
        });
        tree.file(&path, module.bytes, 0o644)?;
    }
    for module in selection.beside {
        let digest = blake3::hash(&module.bytes).to_hex();
        let path = format!("{EXPERIMENT}/modules/{}/{}.ko", &digest[..16], module.name);
        carried.push(CarriedModule {
            source: Some(module.source),
            needs: module.needs,
            ..CarriedModule::from_bytes(&module.name, &path, &module.bytes)
        });
        tree.file(&path, module.bytes, 0o644)?;
    }
    let builtin: Vec<String> = selection
        .builtin
        .iter()
        .map(|path| format!("{path}\n"))
        .collect();
    let aliases: Vec<String> = selection
        .aliases
        .iter()
        .map(|(alias, name)| format!("alias {alias} {name}\n"))
        .collect();
    for (name, text) in [
        ("modules.dep", lines),
        ("modules.builtin", builtin.concat()),
        ("modules.alias", aliases.concat()),
    ] {
        tree.file(&format!("{directory}/{name}"), text.into_bytes(), 0o644)?;
    }
    Ok(carried)
}

#[cfg(test)]
mod tests;
