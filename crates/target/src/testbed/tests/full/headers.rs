//! Modules are a function of their sources, the headers and the compiler, and of nothing
//! else: not of directories, not of earlier builds.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{PAIR, kernel};
use crate::kernels::Kernel;
use crate::testbed::Testbed;

/// A module that contains the size of a kernel structure.
const SIZES: &[(&str, &str)] = &[
    ("Kbuild", "obj-m += sizes.o\n"),
    (
        "sizes.c",
        "// SPDX-License-Identifier: GPL-2.0-only\n\
         #include <drm/gpu_scheduler.h>\n#include <linux/module.h>\n\
         unsigned long sizes_of_scheduler(void);\n\
         unsigned long sizes_of_scheduler(void)\n{\n\
         \treturn sizeof(struct drm_gpu_scheduler);\n}\n\
         EXPORT_SYMBOL_GPL(sizes_of_scheduler);\n\
         MODULE_DESCRIPTION(\"sizes\");\nMODULE_LICENSE(\"GPL\");\n",
    ),
];

/// The kernel with a copy of its headers, without other architectures, below a directory.
fn copy_headers(kernel: &Kernel, to: &Path) -> Kernel {
    let headers = kernel.headers.as_ref().unwrap();
    let packages = headers.parent().unwrap().parent().unwrap();
    copy(packages, &to.join("headers"));
    Kernel {
        headers: Some(
            to.join("headers")
                .join(headers.strip_prefix(packages).unwrap()),
        ),
        ..kernel.clone()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in crate::fault::list(from).unwrap() {
        let name = path.file_name().unwrap();
        let target = to.join(name);
        let kind = path.symlink_metadata().unwrap();
        let unread = match from.file_name().and_then(|name| name.to_str()) {
            Some("arch") => name != "x86",
            Some("config") => name != "auto.conf",
            _ => name == "vmlinux.btf",
        };
        if unread {
            continue;
        } else if kind.is_dir() {
            copy(&path, &target);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&path).unwrap(), target).unwrap();
        } else {
            fs::copy(&path, target).unwrap();
        }
    }
}

/// The build id, which identifies a loaded module.
fn build_id(module: &[u8]) -> Option<Vec<u8>> {
    let elf = goblin::elf::Elf::parse(module).unwrap();
    let mut sections = elf.section_headers.iter();
    let section = sections
        .find(|section| elf.shdr_strtab.get_at(section.sh_name) == Some(".note.gnu.build-id"))?;
    Some(module[section.file_range()?].to_vec())
}

/// A directory whose path has this many bytes.
fn directory_of_length(length: usize) -> tempfile::TempDir {
    let parent = Path::new("/tmp");
    let name = length - parent.as_os_str().len() - 1;
    let random = name.min(5);
    tempfile::Builder::new()
        .prefix(&"x".repeat(name - random))
        .rand_bytes(random)
        .tempdir_in(parent)
        .unwrap()
}

#[test]
fn our_modules_are_the_same_in_caches_with_paths_of_10_60_and_200_bytes() {
    let Some(kernel) = kernel() else { return };
    let mut first: Option<Vec<(String, Vec<u8>)>> = None;
    for length in [10, 60, 200] {
        let cache = directory_of_length(length);
        assert_eq!(cache.path().as_os_str().len(), length);
        let kernel = copy_headers(&kernel, &cache.path().join("kernels/debian_6.12/1"));
        let built = Testbed::new(cache.path()).build(&kernel, true).unwrap();
        let read = |(name, path): (String, PathBuf)| (name, fs::read(path).unwrap());
        let built: Vec<_> = built.into_iter().map(read).collect();
        let names = Vec::from_iter(built.iter().map(|(name, _)| name.as_str()));
        let ours = [
            "copybench",
            "depq",
            "depq_test",
            "simfreq",
            "simgpu",
            "simidle",
            "simrace",
            "simsched",
            "simstall",
        ];
        assert_eq!(names, ours);
        for (name, bytes) in &built {
            let text = String::from_utf8_lossy(bytes);
            let path = cache.path().to_string_lossy();
            for of_ours in [&*path, "/headers/", "linux-headers-", ".tmp-"] {
                assert!(!text.contains(of_ours), "{name} holds {of_ours}");
            }
            assert!(build_id(bytes).is_some(), "{name} has no build ID");
        }
        match &first {
            None => first = Some(built),
            Some(first) => {
                for ((name, one), (_, other)) in first.iter().zip(&built) {
                    assert!(one == other, "{name} differs, cache of {length} bytes");
                }
            }
        }
    }
}

#[test]
fn modules_are_the_same_in_a_cache_that_lies_beside_the_headers_or_behind_a_link() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().unwrap();
    let here = copy_headers(&kernel, place.path());
    let apart = tempfile::tempdir().unwrap();
    let beside = here.headers.as_ref().unwrap().with_file_name("cache");
    let inside = here.headers.as_ref().unwrap().join("cache");
    let link = apart.path().join("link");
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    let linked = Kernel {
        headers: Some(
            link.join(
                here.headers
                    .as_ref()
                    .unwrap()
                    .strip_prefix(place.path())
                    .unwrap(),
            ),
        ),
        ..here.clone()
    };
    let built = [
        (apart.path().to_path_buf(), &here),
        (beside, &here),
        (inside, &here),
        (link.join("some/cache"), &linked),
    ]
    .map(|(cache, kernel)| {
        let built = Testbed::with_files(&cache, PAIR)
            .build(kernel, false)
            .unwrap();
        let bytes = built.values().map(|path| fs::read(path).unwrap());
        (cache, bytes.collect::<Vec<_>>())
    });
    let (_, first) = &built[0];
    for (cache, other) in &built {
        assert!(first == other, "{}", cache.display());
    }
    let text = String::from_utf8_lossy(&first[0]);
    assert!(text.contains("\0high-up/main.c\0"));
}

/// Headers that a test may change.
struct ChangingHeaders {
    place: tempfile::TempDir,
    kernel: Kernel,
}

impl ChangingHeaders {
    fn new(kernel: &Kernel) -> Self {
        let place = tempfile::tempdir().unwrap();
        let kernel = copy_headers(kernel, place.path());
        ChangingHeaders { place, kernel }
    }

    /// The headers that all architectures share.
    fn common(&self) -> PathBuf {
        let packages = fs::read_dir(self.place.path().join("headers/src")).unwrap();
        let mut paths = packages.map(|entry| entry.unwrap().path());
        paths
            .find(|path| path.to_string_lossy().ends_with("-common"))
            .unwrap()
    }

    fn scheduler(&self) -> PathBuf {
        self.common().join("include/drm/gpu_scheduler.h")
    }

    /// Adds a member to a structure. Returns the header before and after.
    fn enlarge(&self) -> (String, String) {
        let text = fs::read_to_string(self.scheduler()).unwrap();
        let start = "struct drm_gpu_scheduler {\n";
        let larger = text.replace(start, &format!("{start}\tlong\t\tplanted[8];\n"));
        assert_ne!(larger, text);
        fs::write(self.scheduler(), &larger).unwrap();
        (text, larger)
    }

    fn build(&self) -> HeadersBuild {
        let cache = self.place.path().join("cache");
        let built = Testbed::with_files(&cache, SIZES).build(&self.kernel, false);
        let path = &built.unwrap()["sizes"];
        HeadersBuild {
            inode: fs::metadata(path).unwrap().ino(),
            bytes: fs::read(path).unwrap(),
        }
    }
}

#[derive(PartialEq, Eq)]
struct HeadersBuild {
    inode: u64,
    bytes: Vec<u8>,
}

#[test]
fn a_module_is_built_again_when_the_headers_change_and_the_kernel_does_not() {
    let Some(kernel) = kernel() else { return };
    let headers = ChangingHeaders::new(&kernel);
    let first = headers.build();
    assert!(headers.build() == first);
    // A header that the module does not use.
    fs::write(headers.common().join("include/drm/drm_panel.h"), "#error\n").unwrap();
    assert!(headers.build() == first);

    let (text, larger) = headers.enlarge();
    let second = headers.build();
    assert!(second.bytes != first.bytes);
    assert_ne!(build_id(&second.bytes), build_id(&first.bytes));
    fs::write(headers.scheduler(), &text).unwrap();
    assert!(headers.build() == first);

    // A header that takes precedence.
    let before = headers.common().join("arch/x86/include/drm");
    fs::create_dir(&before).unwrap();
    fs::write(before.join("gpu_scheduler.h"), &larger).unwrap();
    let third = headers.build();
    assert!(third.bytes == second.bytes && third.inode != second.inode);
}

#[test]
fn a_module_is_built_again_when_the_kernel_exports_other_versions() {
    let Some(kernel) = kernel() else { return };
    let headers = ChangingHeaders::new(&kernel);
    let first = headers.build();
    let symbols = headers
        .kernel
        .headers
        .as_ref()
        .unwrap()
        .join("Module.symvers");
    let text = fs::read_to_string(&symbols).unwrap();
    let line = text.lines().find(|line| line.contains("\t__fentry__\t"));
    let line = line.unwrap();
    let (_, rest) = line.split_once('\t').unwrap();
    let other = text.replace(line, &format!("0x01234567\t{rest}"));
    fs::write(&symbols, other).unwrap();
    let second = headers.build();
    assert!(second.bytes != first.bytes);
    assert_ne!(build_id(&second.bytes), build_id(&first.bytes));
}

#[test]
fn a_module_for_the_running_kernel_is_built_again_too() {
    let Some(kernel) = kernel() else { return };
    let headers = ChangingHeaders::new(&kernel);
    let modules = headers.place.path().join("modules");
    let build = modules.join(&kernel.release).join("build");
    fs::create_dir_all(build.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(headers.kernel.headers.as_ref().unwrap(), &build).unwrap();
    let built = || {
        let testbed = Testbed::with_files(&headers.place.path().join("cache"), SIZES);
        let built = testbed.build_for_release(&modules, &kernel.release, false);
        fs::read(&built.unwrap()["sizes"]).unwrap()
    };
    let first = built();
    // The same headers for another testbed.
    assert!(headers.build().bytes == first);
    headers.enlarge();
    assert!(built() != first);
}

#[test]
fn a_compiler_that_was_fetched_comes_before_that_of_path_and_is_an_input() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(kernel) = kernel() else { return };
    let variables = kernel.headers.as_ref().unwrap().join(".kernelvariables");
    let named = crate::kernels::compiler_named(&fs::read_to_string(variables).unwrap_or_default());
    let Some(named) = named else { return };
    let root = tempfile::tempdir().unwrap();
    let bin = root.path().join("compilers/c/1/usr/bin");
    fs::create_dir_all(&bin).unwrap();
    for name in [named.clone(), format!("x86_64-linux-gnu-{named}")] {
        let script = format!("#!/bin/sh\nexec /usr/bin/{name} -DPLANTED \"$@\"\n");
        fs::write(bin.join(&name), script).unwrap();
        fs::set_permissions(bin.join(&name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    const PROBED: &[(&str, &str)] = &[
        ("Kbuild", "obj-m += probed.o\n"),
        (
            "probed.c",
            "// SPDX-License-Identifier: GPL-2.0-only\n#include <linux/module.h>\n\
             #ifdef PLANTED\nMODULE_INFO(by, \"planted\");\n#endif\n\
             MODULE_DESCRIPTION(\"probed\");\nMODULE_LICENSE(\"GPL\");\n",
        ),
    ];
    let testbed = Testbed::with_files(root.path(), PROBED);
    let own = Kernel {
        compiler: Some(bin.clone()),
        ..kernel.clone()
    };
    let planted = |kernel: &Kernel| {
        let built = testbed.build(kernel, false).unwrap();
        let bytes = fs::read(&built["probed"]).unwrap();
        bytes.windows(10).any(|part| part == b"by=planted")
    };
    let asked = ["probed".to_string()];
    assert!(!planted(&kernel) && testbed.would_build(&own, &asked));
    assert!(planted(&own));
    assert!(!testbed.would_build(&own, &asked) && !testbed.would_build(&kernel, &asked));
    // Any file of the compiler counts, even if no command names it.
    fs::write(root.path().join("compilers/c/1/usr/part"), "x").unwrap();
    assert!(testbed.would_build(&own, &asked) && !testbed.would_build(&kernel, &asked));
}

#[test]
fn a_module_for_which_the_kernel_lacks_something_is_left_out() {
    let Some(kernel) = kernel() else { return };
    const EMPTY: &str = "// SPDX-License-Identifier: GPL-2.0-only\n#include <linux/module.h>\n\
                         MODULE_DESCRIPTION(\"\");\nMODULE_LICENSE(\"GPL\");\n";
    const TREE: &[(&str, &str)] = &[
        (
            "Kbuild",
            "obj-m += there.o\nifdef CONFIG_THAT_NO_KERNEL_HAS\nobj-m += lacking.o\nendif\n",
        ),
        ("there.c", EMPTY),
        ("lacking.c", "#error not built\n"),
    ];
    let root = tempfile::tempdir().unwrap();
    let testbed = Testbed::with_files(root.path(), TREE);
    let built = testbed.build(&kernel, false).unwrap();
    assert_eq!(built.keys().collect::<Vec<_>>(), ["there"]);
    // The second call finds them without building.
    assert_eq!(testbed.build(&kernel, false).unwrap(), built);
    let asked = ["lacking".to_string()];
    let error = crate::modules::select(&kernel, &testbed, &asked, &[]).unwrap_err();
    let said = error.to_string();
    assert!(
        said.contains("module lacking") && said.contains("lacks the subsystem"),
        "{said}"
    );
}
