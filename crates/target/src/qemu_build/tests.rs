#![allow(clippy::unwrap_used)] // A test may fail.

use super::*;

/// A directory as a build leaves it.
fn place(root: &Path, name: &str, recipe: &str) -> PathBuf {
    let place = root.join("qemu").join(name);
    create(&place.join("usr/bin")).unwrap();
    fs::write(place.join(BINARY), "").unwrap();
    fs::write(place.join(RECIPE), format!("{recipe}\n")).unwrap();
    place
}

#[test]
fn only_a_whole_qemu_of_this_recipe_is_found_and_of_several_the_newest() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    let found = || stored_by(root, "a").map(|files| files.version);
    assert_eq!(found(), None);
    place(root, "10.0.14+assize.11111111", "b");
    place(root, "10.0.15+ds-2", "a");
    place(root, ".tmp-10.0.16+assize.22222222", "a");
    let part = place(root, "10.0.17+assize.33333333", "a");
    fs::remove_file(part.join(RECIPE)).unwrap();
    assert_eq!(found(), None);
    place(root, "10.0.9+assize.44444444", "a");
    place(root, "10.0.13+assize.55555555", "a");
    assert_eq!(found().as_deref(), Some("10.0.13+assize.55555555"));
    let files = stored_by(root, "a").unwrap();
    assert!(files.binary.is_file());
    assert!(
        files
            .data
            .ends_with("10.0.13+assize.55555555/usr/share/qemu")
    );
}

#[test]
fn a_package_comes_before_the_cache_unless_it_has_another_recipe() {
    let place_of = tempfile::tempdir().unwrap();
    let cache = place_of.path().join("cache");
    let program = place_of.path().join("usr/bin/assize");
    let installed = installed_with(program).unwrap();
    assert_eq!(installed, place_of.path().join("usr/lib/assize"));
    let found = || first_stored([&*installed, &*cache].into_iter(), "a");
    place(&installed, "10.0.15+assize.11111111", "b");
    assert_eq!(found(), None);
    place(&cache, "10.0.14+assize.22222222", "a");
    assert_eq!(found().unwrap().version, "10.0.14+assize.22222222");
    place(&installed, "10.0.13+assize.33333333", "a");
    assert_eq!(found().unwrap().version, "10.0.13+assize.33333333");
}

#[test]
fn one_of_another_recipe_goes_once_nobody_uses_it() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    let other = place(root, "10.0.13+assize.11111111", "b");
    let ours = place(root, "10.0.13+assize.22222222", "a");
    let packaged = place(root, "10.0.2+ds-2", "");
    let now = SystemTime::now();
    prune(root, &ours, now);
    assert!(other.exists());
    prune(root, &ours, now + 2 * UNUSED);
    assert!(!other.exists() && ours.exists() && packaged.exists());
}

#[test]
fn firmware_and_recipe_name_a_version() {
    let names = [("a", "x"), ("a", "y"), ("b", "x")].map(|(a, b)| short(a, b));
    assert!(names.iter().all(|name| name.len() == 8));
    assert!(names[0] != names[1] && names[0] != names[2]);
}

/// A source tree of two files and a patch for one of them.
fn tree(work: &Path) -> PathBuf {
    let source = work.join("source");
    create(&source).unwrap();
    fs::write(source.join("a.c"), "one\ntwo\nthree\n").unwrap();
    source
}

const PATCH: &str = "--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";

#[test]
fn a_patch_fits_exactly_or_is_named() {
    if crate::elf::ProgramHost::this().program("patch").is_none() {
        eprintln!("skipped: no patch");
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let files = [("patches/0001-two.patch", PATCH)];
    let build = QemuBuild {
        recipe: Recipe::with_files(&files),
        known: Vec::new(),
        directory: work.path(),
    };
    let mut log = BuildLog::begin(work.path().join("log")).unwrap();
    let source = tree(work.path());
    build.patch(&mut log, &source, work.path()).unwrap();
    let text = fs::read_to_string(source.join("a.c")).unwrap();
    assert_eq!(text, "one\n2\nthree\n");
    // A context line has changed: with fuzz it would apply.
    fs::write(source.join("a.c"), "zero\ntwo\nthree\n").unwrap();
    let error = build.patch(&mut log, &source, work.path()).unwrap_err();
    assert!(
        error.what.contains("qemu/patches/0001-two.patch"),
        "{error}"
    );
}
