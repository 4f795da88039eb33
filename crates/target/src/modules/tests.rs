use std::io::Write as _;

use super::*;
use crate::elf::tests::module;
use crate::module_files::glob;
use proptest::prelude::*;

const RELEASE: &str = "6.12.0-test";

/// A kernel with a few modules that depend on each other.
fn fixture() -> (tempfile::TempDir, Kernel) {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join(RELEASE);
    let write = |name: &str, bytes: &[u8]| {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write(
        "modules.dep",
        b"kernel/a/top-most.ko.xz: kernel/b/middle.ko.gz kernel/b/other.ko kernel/c/base.ko.zst\n\
          kernel/b/middle.ko.gz: kernel/c/base.ko.zst\n\
          kernel/b/other.ko:\n\
          kernel/c/base.ko.zst:\n",
    );
    write("modules.builtin", b"kernel/fs/in-it.ko\n");
    write(
        "modules.alias",
        b"# Aliases\nalias pci:v00008086d*sv* top_most\nalias fs-odd middle\nalias fs-odd other\n",
    );
    let mut xz = Vec::new();
    let mut writer =
        lzma_rust2::XzWriter::new(&mut xz, lzma_rust2::XzOptions::with_preset(1)).unwrap();
    writer.write_all(&module(&["name=top_most"])).unwrap();
    writer.finish().unwrap();
    write("kernel/a/top-most.ko.xz", &xz);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&module(&["name=middle"])).unwrap();
    write("kernel/b/middle.ko.gz", &gz.finish().unwrap());
    write("kernel/b/other.ko", &module(&["name=other"]));
    let zst = ruzstd::encoding::compress_to_vec(
        module(&["name=base"]).as_slice(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    write("kernel/c/base.ko.zst", &zst);
    let kernel = Kernel {
        name: "mine".into(),
        version: "1".into(),
        release: RELEASE.into(),
        image: place.path().join("vmlinuz"),
        modules: Some(directory),
        config: None,
        headers: None,
        compiler: None,
        trusted: true,
        digest: String::new(),
    };
    (place, kernel)
}

fn names(selection: &Selection) -> Vec<&str> {
    selection
        .modules
        .iter()
        .map(|module| module.name.as_str())
        .collect()
}

fn ask(kernel: &Kernel, asked: &[&str]) -> Result<Selection, Error> {
    let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
    let testbed = Testbed::with_files(Path::new("/nowhere"), &[]);
    select(kernel, &testbed, &asked, &[])
}

#[test]
fn what_a_module_needs_comes_before_it_and_is_unpacked() {
    let (_place, kernel) = fixture();
    let found = ask(&kernel, &["top-most"]).unwrap();
    assert_eq!(names(&found), ["base", "other", "middle", "top_most"]);
    assert_eq!(found.modules[3].path, "kernel/a/top-most.ko");
    assert_eq!(
        found.modules[3].needs,
        [
            "kernel/b/middle.ko",
            "kernel/b/other.ko",
            "kernel/c/base.ko"
        ]
    );
    for each in &found.modules {
        assert_eq!(
            each.bytes,
            module(&[&format!("name={}", each.name)]),
            "{}",
            each.name
        );
    }
}

#[test]
fn every_module_comes_after_what_it_needs_however_one_asks() {
    let (_place, kernel) = fixture();
    for asked in [
        ["middle", "top_most"],
        ["top_most", "base"],
        ["other", "middle"],
    ] {
        let found = ask(&kernel, &asked).unwrap();
        for (at, each) in found.modules.iter().enumerate() {
            for need in &each.needs {
                let position = found.modules.iter().position(|module| module.path == *need);
                assert!(
                    position.unwrap() < at,
                    "{asked:?}: {need} after {}",
                    each.name
                );
            }
        }
    }
}

#[test]
fn aliases_and_what_is_built_in_are_told_apart() {
    let (_place, kernel) = fixture();
    let found = ask(&kernel, &["in_it", "fs-odd", "pci:v00008086d00001234sv0"]).unwrap();
    assert_eq!(names(&found), ["base", "middle", "other", "top_most"]);
    assert_eq!(
        found.builtin,
        BTreeSet::from(["kernel/fs/in-it.ko".to_string()])
    );
    assert_eq!(found.aliases.len(), 3);
    assert_eq!(
        found.aliases[0],
        ("fs-odd".to_string(), "middle".to_string())
    );
}

#[test]
fn files_bring_what_they_depend_on_and_must_fit_the_kernel() {
    let (place, kernel) = fixture();
    let magic = format!("vermagic={RELEASE} SMP preempt mod_unload ");
    let at = |name: &str| place.path().join(name);
    std::fs::write(at("low.ko"), module(&[&magic, "depends=middle"])).unwrap();
    std::fs::write(at("high-er.ko"), module(&[&magic, "depends=low,other"])).unwrap();
    std::fs::write(at("old.ko"), module(&["vermagic=5.10.0-1 SMP", "depends="])).unwrap();
    std::fs::write(at("text.ko"), "hello").unwrap();
    let path = |name: &str| at(name).to_string_lossy().into_owned();

    let found = ask(&kernel, &[&path("high-er.ko"), &path("low.ko")]).unwrap();
    assert_eq!(names(&found), ["other", "base", "middle", "low", "high_er"]);
    assert_eq!(found.modules[4].path, "extra/high_er.ko");
    assert_eq!(
        found.modules[4].needs,
        [
            "kernel/b/other.ko",
            "extra/low.ko",
            "kernel/b/middle.ko",
            "kernel/c/base.ko"
        ]
    );

    let error = ask(&kernel, &[&path("old.ko")]).unwrap_err();
    assert!(error.why.contains("built for 5.10.0-1"), "{error}");
    assert!(error.wrong_use && error.mend.unwrap().starts_with("make -C"));
    let error = ask(&kernel, &[&path("high-er.ko")]).unwrap_err();
    assert!(error.why.contains("depends on low"), "{error}");
    assert!(ask(&kernel, &[&path("text.ko")]).is_err());
    assert!(ask(&kernel, &[&path("none.ko")]).is_err());
}

#[test]
fn unknown_modules_and_kernels_without_modules_are_errors_with_a_mend() {
    let (_place, mut kernel) = fixture();
    let error = ask(&kernel, &["nosuch"]).unwrap_err();
    assert!(error.why.contains("no such module"), "{error}");
    kernel.modules = None;
    let error = ask(&kernel, &["middle"]).unwrap_err();
    assert!(error.mend.unwrap().contains("--modules"));
    assert_eq!(ask(&kernel, &[]).unwrap(), Selection::default());
}

#[test]
fn damaged_archives_are_errors() {
    for start in [&b"\xfd7zXZ\0"[..], b"\x28\xb5\x2f\xfd", b"\x1f\x8b"] {
        let bytes = [start, b"garbage"].concat();
        assert!(plain(Path::new("/x.ko"), bytes).is_err());
    }
    assert_eq!(
        plain(Path::new("/x.ko"), b"plain".to_vec()).unwrap(),
        b"plain"
    );
}

#[test]
fn patterns_match_as_in_the_shell() {
    for (pattern, text, matches) in [
        ("abc", "abc", true),
        ("abc", "abcd", false),
        ("a*c", "abbbc", true),
        ("a*c", "abbb", false),
        ("*", "", true),
        ("a?c", "abc", true),
        ("a?c", "ac", false),
        ("v[0-9a]x", "v7x", true),
        ("v[0-9a]x", "vax", true),
        ("v[0-9a]x", "vbx", false),
        ("[", "[", false),
        ("a*b*c", "aXbYbZc", true),
        ("*.conf", "x.conf", true),
    ] {
        assert_eq!(glob(pattern, text), matches, "{pattern} and {text}");
    }
}

proptest! {
    #[test]
    fn a_star_between_matches_anything(a in "[a-c]{0,4}", b in "[a-c]{0,4}", c in "[a-c*]{0,4}") {
        let pattern = format!("{a}*{b}");
        let text = format!("{a}{c}{b}");
        prop_assert!(glob(&pattern, &text));
    }

    #[test]
    fn a_pattern_without_signs_matches_itself_only(a in "[a-c]{0,4}", b in "[a-c]{0,4}") {
        prop_assert_eq!(glob(&a, &b), a == b);
    }
}
