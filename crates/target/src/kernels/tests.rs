use std::path::Path;

use super::image::tests::bzimage;
use super::*;

fn kernels() -> (tempfile::TempDir, Kernels) {
    let root = tempfile::tempdir().unwrap();
    let kernels = Kernels::new(root.path().join("cache"));
    (root, kernels)
}

/// Stores a kernel as a fetch would.
fn put(kernels: &Kernels, name: &str, version: &str, release: &str) -> Kernel {
    let temporary = temporary_in(&kernels.directory()).unwrap();
    std::fs::write(
        temporary.path().join("vmlinuz"),
        bzimage(&format!("{release} x")),
    )
    .unwrap();
    let draft = store::KernelDraft {
        trusted: false,
        name,
        version,
        headers: None,
        origin: "a test".into(),
    };
    store::commit(&kernels.directory(), temporary, draft).unwrap()
}

fn write(root: &Path, path: &str, bytes: &[u8]) -> PathBuf {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_name_means_its_newest_version_unless_one_is_given() {
    let (_root, kernels) = kernels();
    assert!(kernels.resolve("debian:6.12").is_err());
    put(
        &kernels,
        "debian:6.12",
        "6.12.100-1~deb12u1",
        "6.12.100+deb12-amd64",
    );
    put(&kernels, "debian:6.12", "6.12.99-1", "6.12.99+deb12-amd64");
    put(
        &kernels,
        "debian:6.12-rt",
        "6.12.101-1",
        "6.12.101+deb12-rt-amd64",
    );
    let release = |name: &str| kernels.resolve(name).map(|kernel| kernel.release);
    assert_eq!(release("debian:6.12").unwrap(), "6.12.100+deb12-amd64");
    assert_eq!(
        release("debian:6.12-rt").unwrap(),
        "6.12.101+deb12-rt-amd64"
    );
    for version in ["6.12.99+deb12", "6.12.99-1", "6.12.99+deb12-amd64"] {
        let found = release(&format!("debian:6.12@{version}"));
        assert_eq!(found.unwrap(), "6.12.99+deb12-amd64");
    }
    let error = kernels.resolve("debian:6.12@6.12.9").unwrap_err();
    assert!(
        error.why.contains("6.12.99-1, 6.12.100-1~deb12u1"),
        "{error}"
    );
    let mut listed = kernels.list().unwrap();
    listed.retain(|kernel| kernel.name != "running");
    assert_eq!(listed.len(), 3);
    assert_eq!(listed[0].version, "6.12.99-1");
}

#[test]
fn an_unknown_name_gets_the_nearest_and_the_command() {
    let (_root, kernels) = kernels();
    for (name, mend) in [
        ("debian:6.12", "assize kernel fetch debian:6.12"),
        ("debian:sid@7.1", "assize kernel fetch debian:sid"),
        ("debian:6.21", "did you mean debian:6.1"),
        ("debain:6.12", "did you mean debian:6.12?"),
        (
            "something else",
            "assize kernel fetch debian:6.12, or assize kernel add",
        ),
    ] {
        let error = kernels.resolve(name).unwrap_err();
        assert!(error.wrong_use);
        assert!(error.mend.clone().unwrap().contains(mend), "{error}");
    }
    put(&kernels, "patched", "1", "6.13.0-p");
    let error = kernels.resolve("pached").unwrap_err();
    assert_eq!(error.mend.as_deref(), Some("did you mean patched?"));
}

#[test]
fn an_added_kernel_is_copied_and_replaces_the_one_before() {
    let (root, kernels) = kernels();
    let image = write(root.path(), "b/bzImage", &bzimage("6.13.0-mine (me) #1"));
    write(
        root.path(),
        "m/lib/modules/6.13.0-mine/modules.dep",
        b"kernel/a.ko:\n",
    );
    write(root.path(), "m/lib/modules/6.13.0-mine/kernel/a.ko", b"a");
    let build = root.path().join("m/lib/modules/6.13.0-mine/build");
    std::os::unix::fs::symlink("/nowhere", build).unwrap();
    write(root.path(), "tree/Makefile", b"");
    write(root.path(), "tree/scripts/x", b"");
    let headers = root.path().join("tree");
    let added = kernels
        .add("mine", &image, Some(&root.path().join("m")), Some(&headers))
        .unwrap();
    assert_eq!(added.release, "6.13.0-mine");
    assert_eq!(
        added.headers.as_deref(),
        Some(std::fs::canonicalize(&headers).unwrap().as_path())
    );
    assert_eq!(
        std::fs::read(added.modules.clone().unwrap().join("kernel/a.ko")).unwrap(),
        b"a"
    );
    assert!(
        added
            .modules
            .clone()
            .unwrap()
            .ends_with("lib/modules/6.13.0-mine")
    );
    assert_eq!(
        added.digest,
        blake3::hash(&std::fs::read(&image).unwrap())
            .to_hex()
            .to_string()
    );
    std::fs::remove_file(&image).unwrap();
    assert_eq!(kernels.resolve("mine").unwrap(), added);

    let image = write(root.path(), "b/bzImage", &bzimage("6.14.0-mine (me) #2"));
    let again = kernels.add("mine", &image, None, None).unwrap();
    assert_eq!(kernels.resolve("mine").unwrap(), again);
    assert_eq!(again.modules, None);
    let mut listed = kernels.list().unwrap();
    listed.retain(|kernel| kernel.name != "running");
    assert_eq!(listed, std::slice::from_ref(&again));
    // Adding it again changes nothing.
    assert_eq!(kernels.add("mine", &image, None, None).unwrap(), again);
}

#[test]
fn what_cannot_be_added_is_refused_with_a_mend() {
    let (root, kernels) = kernels();
    let good = write(root.path(), "good", &bzimage("6.13.0-x (me)"));
    let text = write(root.path(), "text", b"hello");
    let other = root.path().join("lib/modules/5.10.0");
    write(&other, "modules.dep", b"");
    for (name, image, modules, headers) in [
        ("running", &good, None, None),
        ("debian:6.12", &good, None, None),
        ("a/b", &good, None, None),
        ("../up", &good, None, None),
        ("", &good, None, None),
        ("x", &text, None, None),
        ("x", &good, Some(other.as_path()), None),
        ("x", &good, Some(root.path()), None),
        ("x", &good, None, Some(root.path())),
    ] {
        let error = kernels.add(name, image, modules, headers).unwrap_err();
        assert!(error.wrong_use && error.mend.is_some(), "{error}");
    }
    assert!(
        kernels
            .add("x", &root.path().join("nosuch"), None, None)
            .is_err()
    );
    assert!(
        kernels
            .list()
            .unwrap()
            .iter()
            .all(|kernel| kernel.name == "running")
    );
}

#[test]
fn the_running_kernel_is_read_from_where_distributions_put_it() {
    let (root, _) = kernels();
    let at = root.path();
    assert!(
        store::running(at, Some("6.1.0-9"))
            .unwrap_err()
            .mend
            .is_some()
    );
    let image = write(at, "boot/vmlinuz-6.1.0-9", &bzimage("6.1.0-9 (x)"));
    write(at, "boot/config-6.1.0-9", b"");
    let found = store::running(at, Some("6.1.0-9")).unwrap();
    assert_eq!((found.name.as_str(), &found.image), ("running", &image));
    assert_eq!(found.modules, None);
    assert!(found.config.is_some());
    write(at, "boot/vmlinuz-6.1.0-9", &bzimage("6.1.0-8 (x)"));
    let error = store::running(at, Some("6.1.0-9")).unwrap_err();
    assert!(error.why.contains("is 6.1.0-8"), "{error}");
}

#[test]
fn a_damaged_store_says_what_to_remove() {
    let (_root, kernels) = kernels();
    let kernel = put(&kernels, "debian:6.1", "1", "6.1.0-9");
    let place = kernel.image.parent().unwrap().to_path_buf();
    for text in ["{", "{}", "[]", ""] {
        std::fs::write(place.join("kernel.json"), text).unwrap();
        let error = kernels.list().unwrap_err();
        assert!(
            error
                .mend
                .clone()
                .unwrap()
                .contains(&place.display().to_string()),
            "{error}"
        );
    }
    // Without a description it counts as unfinished.
    std::fs::remove_file(place.join("kernel.json")).unwrap();
    assert!(kernels.resolve("debian:6.1").is_err());
}

#[test]
fn headers_are_described_afterwards() {
    let (_root, kernels) = kernels();
    let kernel = put(&kernels, "debian:6.1", "1", "6.1.0-9");
    let place = kernel.image.parent().unwrap();
    write(place, "headers/src/linux-headers-x/Makefile", b"");
    store::describe_headers(place, Path::new("headers/src/linux-headers-x")).unwrap();
    let found = kernels.resolve("debian:6.1").unwrap();
    assert_eq!(
        found.headers.unwrap(),
        place.join("headers/src/linux-headers-x")
    );
    assert_eq!(found.digest, kernel.digest);
}

#[test]
fn what_a_crash_left_is_cleared_away_and_two_threads_take_turns() {
    let (root, kernels) = kernels();
    let left = kernels.directory().join(".tmp-left");
    std::fs::create_dir_all(left.join("x")).unwrap();
    let image = write(root.path(), "good", &bzimage("6.13.0-x (me)"));
    std::thread::scope(|scope| {
        let (kernels, image) = (&kernels, &image);
        for at in 0..4 {
            scope.spawn(move || {
                for _ in 0..5 {
                    kernels
                        .add(&format!("k{}", at % 2), image, None, None)
                        .unwrap();
                }
            });
        }
    });
    assert!(!left.exists());
    let names: Vec<String> = kernels
        .list()
        .unwrap()
        .into_iter()
        .map(|k| k.name)
        .collect();
    assert_eq!(names[..2], ["k0", "k1"]);
}

#[test]
fn only_kernels_of_debian_can_be_fetched() {
    let (_root, kernels) = kernels();
    for (name, mend) in [
        ("debian:6.13", "assize kernel fetch debian:6.1"),
        ("debian:6.12@6.12.1", "assize kernel fetch debian:6.12"),
        ("fedora", "assize kernel fetch debian:6.12"),
    ] {
        let error = kernels
            .fetch(name, FetchAmount::Image, &mut |_| ())
            .unwrap_err();
        assert!(error.wrong_use);
        assert_eq!(error.mend.as_deref(), Some(mend));
    }
    assert!(!kernels.directory().exists());
}

#[test]
fn tables_of_modules_are_made_where_a_package_has_none() {
    use crate::elf::tests::module;
    let (root, _) = kernels();
    let at = root.path();
    write(
        at,
        "kernel/top.ko",
        &module(&["depends=mid-dle,base", "alias=fs-top"]),
    );
    write(at, "kernel/mid-dle.ko", &module(&["depends=base"]));
    write(
        at,
        "kernel/base.ko",
        &module(&["depends=", "alias=pci:*", "alias=x"]),
    );
    // Two modules that need each other must not cause a hang.
    write(at, "kernel/a.ko", &module(&["depends=b"]));
    write(at, "kernel/b.ko", &module(&["depends=a"]));
    index::write(at).unwrap();
    let read = |name: &str| std::fs::read_to_string(at.join(name)).unwrap();
    assert_eq!(
        read("modules.dep"),
        "kernel/a.ko: kernel/b.ko\nkernel/b.ko: kernel/a.ko\nkernel/base.ko:\n\
         kernel/mid-dle.ko: kernel/base.ko\nkernel/top.ko: kernel/mid-dle.ko kernel/base.ko\n"
    );
    assert_eq!(
        read("modules.alias"),
        "alias pci:* base\nalias x base\nalias fs-top top\n"
    );
}

#[test]
#[ignore = "fetches a kernel of 100 MB; run with --ignored"]
fn a_fetched_kernel_builds_a_module_that_fits_it() {
    let (root, kernels) = kernels();
    let kernel = kernels
        .fetch("debian:6.12", FetchAmount::Headers, &mut |line| {
            eprintln!("{line}")
        })
        .unwrap();
    assert!(kernel.release.starts_with("6.12."));
    write(root.path(), "hello/Makefile", b"obj-m := hello.o\n");
    write(
        root.path(),
        "hello/hello.c",
        b"#include <linux/module.h>\nMODULE_LICENSE(\"GPL\");\nMODULE_DESCRIPTION(\"x\");\n",
    );
    let made = std::process::Command::new("make")
        .arg("-C")
        .arg(kernel.headers.clone().unwrap())
        .arg(format!("M={}", root.path().join("hello").display()))
        .arg("modules")
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let hello = root
        .path()
        .join("hello/hello.ko")
        .to_string_lossy()
        .into_owned();
    let testbed = crate::testbed::Testbed::new(root.path());
    let asked = [hello, "ext4".to_string()];
    let selection = crate::modules::select(&kernel, &testbed, &asked, &[]).unwrap();
    assert!(
        selection
            .modules
            .iter()
            .any(|module| module.path == "extra/hello.ko")
    );
    assert!(
        selection
            .modules
            .iter()
            .any(|module| module.name == "mbcache")
    );
    // The second fetch downloads nothing.
    let again = kernels
        .fetch("debian:6.12", FetchAmount::Headers, &mut |_| ())
        .unwrap();
    assert_eq!(again, kernel);
}

#[test]
fn files_are_kept_where_the_environment_says_or_nowhere() {
    let root = |set: &[(&str, &str)]| {
        let of = |name: &str| set.iter().find(|(known, _)| *known == name);
        super::root_by(|name| of(name).map(|(_, value)| value.into()))
    };
    let (cache, xdg, home) = (
        ("ASSIZE_CACHE", "/a"),
        ("XDG_CACHE_HOME", "/x"),
        ("HOME", "/h"),
    );
    assert_eq!(root(&[cache, xdg, home]).unwrap(), Path::new("/a"));
    assert_eq!(root(&[xdg, home]).unwrap(), Path::new("/x/assize"));
    assert_eq!(root(&[home]).unwrap(), Path::new("/h/.cache/assize"));
    for none in [&[][..], &[("HOME", ""), ("ASSIZE_CACHE", "")]] {
        let error = root(none).unwrap_err();
        assert!(error.why.contains("HOME is set"), "{error}");
        assert!(error.mend.unwrap().contains("ASSIZE_CACHE"));
    }
}
