use super::*;
use proptest::prelude::*;

/// The libraries that `ldd` lists for a program, by name; `None` without ldd or the
/// program.
fn ldd(program: &Path) -> Option<Vec<(String, String)>> {
    let output = std::process::Command::new("ldd")
        .arg(program)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| {
        text.lines()
            .filter_map(|line| {
                let (name, rest) = line.trim().split_once(" => ")?;
                Some((name.to_string(), rest.split(" (").next()?.to_string()))
            })
            .collect()
    })
}

impl ProgramHost {
    fn has_library(&self, name: &str) -> bool {
        let directories = self.configured().iter().chain(self.default());
        directories
            .map(|each| each.join(name))
            .any(|path| path.exists())
    }
}

fn closure_of(program: &Path) -> Closure {
    let bytes = std::fs::read(program).unwrap();
    closure(
        &ProgramHost::this(),
        program,
        &bytes,
        &LoaderEnvironment::default(),
    )
    .unwrap()
    .unwrap()
}

#[test]
fn a_program_gets_every_library_that_ldd_names() {
    let host = ProgramHost::this();
    let mut compared = 0;
    for name in [
        "sh",
        "ls",
        "cyclictest",
        "hackbench",
        "bash",
        "qemu-system-x86_64",
    ] {
        let Some(path) = host.program(name) else {
            eprintln!("skipped: {name} is not here");
            continue;
        };
        let real = std::fs::canonicalize(&path).unwrap();
        let Some(expected) = ldd(&real) else {
            eprintln!("skipped: ldd says nothing of {name}");
            continue;
        };
        let found = closure_of(&real);
        for (library, place) in &expected {
            let ours = &found.libraries[library].path;
            let same = std::fs::canonicalize(ours).unwrap();
            assert_eq!(same, std::fs::canonicalize(place).unwrap(), "{name}");
        }
        let known: Vec<&String> = expected.iter().map(|(library, _)| library).collect();
        for library in found.libraries.keys() {
            let opened = known.contains(&library) || library == "libgcc_s.so.1";
            assert!(opened, "{name} does not link {library}");
        }
        assert!(found.interpreter.unwrap().exists(), "{name}");
        compared += 1;
    }
    eprintln!("{compared} programs compared with ldd");
}

#[test]
fn a_library_beside_the_program_is_found_by_origin() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    std::fs::create_dir_all(at("lib")).unwrap();
    std::fs::create_dir_all(at("bin")).unwrap();
    std::fs::write(at("a.c"), "int answer(void) { return 42; }\n").unwrap();
    std::fs::write(
        at("m.c"),
        "int answer(void); int main(void) { return answer(); }\n",
    )
    .unwrap();
    let cc = |arguments: &[&str]| {
        let mut command = std::process::Command::new("cc");
        command.current_dir(place.path()).args(arguments).status()
    };
    match cc(&[
        "-shared",
        "-fPIC",
        "-o",
        "lib/libanswer.so.1",
        "-Wl,-soname,libanswer.so.1",
        "a.c",
    ]) {
        Ok(status) => assert!(status.success()),
        Err(error) => return eprintln!("skipped: no C compiler: {error}"),
    }
    for tags in ["-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"] {
        let linked = cc(&[
            "-o",
            "bin/main",
            "m.c",
            "lib/libanswer.so.1",
            tags,
            "-Wl,-rpath,$ORIGIN/../lib",
        ]);
        assert!(linked.unwrap().success());
        let found = closure_of(&at("bin/main"));
        let library = &found.libraries["libanswer.so.1"];
        assert_eq!(library.path, at("lib/libanswer.so.1"));
        assert!(!library.configured);
    }
    std::fs::remove_file(at("lib/libanswer.so.1")).unwrap();
    let bytes = std::fs::read(at("bin/main")).unwrap();
    let error = closure(
        &ProgramHost::this(),
        &at("bin/main"),
        &bytes,
        &LoaderEnvironment::default(),
    )
    .unwrap_err();
    assert!(error.to_string().contains("libanswer.so.1"), "{error}");
    assert!(error.mend.is_some());
}

#[test]
fn a_program_that_ends_threads_gets_what_glibc_opens_for_that() {
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("m.c");
    std::fs::write(
        &source,
        "#include <pthread.h>\nint main(void) { pthread_exit(0); }\n",
    )
    .unwrap();
    let program = place.path().join("main");
    let made = std::process::Command::new("cc")
        .arg("-pthread")
        .arg("-o")
        .args([&program, &source])
        .status();
    match made {
        Ok(status) => assert!(status.success()),
        Err(error) => return eprintln!("skipped: no C compiler: {error}"),
    }
    let found = closure_of(&program).libraries;
    match found.contains_key("libc.so.6") && ProgramHost::this().has_library("libgcc_s.so.1") {
        true => assert!(found.contains_key("libgcc_s.so.1"), "{found:?}"),
        false => eprintln!("skipped: no shared libgcc or another C library"),
    }
}

#[test]
fn libraries_of_another_machine_are_passed_over() {
    let place = tempfile::tempdir().unwrap();
    let host = ProgramHost::at_root(place.path(), Vec::new());
    let sh = std::fs::canonicalize("/bin/sh").unwrap();
    let bytes = std::fs::read(&sh).unwrap();
    // A 32-bit libc.so.6 does not count.
    let mut other = empty_program();
    other[18] = 3;
    std::fs::create_dir_all(place.path().join("lib")).unwrap();
    std::fs::write(place.path().join("lib/libc.so.6"), other).unwrap();
    let error = closure(&host, &sh, &bytes, &LoaderEnvironment::default()).unwrap_err();
    assert!(error.to_string().contains("libc.so.6"), "{error}");
}

#[test]
fn configured_directories_are_read_with_what_they_include() {
    let place = tempfile::tempdir().unwrap();
    let etc = place.path().join("etc");
    std::fs::create_dir_all(etc.join("ld.so.conf.d")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(etc.join(name), text).unwrap();
    write(
        "ld.so.conf",
        "# x\n/first # y\ninclude ld.so.conf.d/*.conf\ninclude ld.so.conf\n/last\n",
    );
    write("ld.so.conf.d/b.conf", "/b\nrelative\n");
    write("ld.so.conf.d/a.conf", "/a\n");
    write("ld.so.conf.d/a.disabled", "/no\n");
    let host = ProgramHost::at_root(place.path(), Vec::new());
    let expected: Vec<PathBuf> = ["/first", "/a", "/b", "/last"].map(PathBuf::from).into();
    assert_eq!(host.configured(), expected);
}

#[test]
fn what_is_not_elf_has_no_closure_and_what_is_damaged_an_error() {
    let host = ProgramHost::this();
    let path = Path::new("/x");
    assert_eq!(
        closure(&host, path, b"#!/bin/sh\n", &LoaderEnvironment::default()).unwrap(),
        None
    );
    assert_eq!(
        closure(&host, path, b"", &LoaderEnvironment::default()).unwrap(),
        None
    );
    assert!(closure(&host, path, b"\x7fELF", &LoaderEnvironment::default()).is_err());
    assert_eq!(
        closure(&host, path, &empty_program(), &LoaderEnvironment::default()).unwrap(),
        Some(Closure::default())
    );
    assert!(modinfo(path, &empty_program()).is_err());
    assert!(modinfo(path, b"text").is_err());
}

proptest! {
    #[test]
    fn no_bytes_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), cut in 0_usize..80) {
        let host = ProgramHost::at_root(Path::new("/nowhere"), Vec::new());
        drop(closure(&host, Path::new("/x"), &bytes, &LoaderEnvironment::default()));
        // The same with the beginning of a valid header.
        let head = empty_program();
        let cut = cut.min(head.len());
        bytes.splice(0..cut.min(bytes.len()), head[..cut].iter().copied());
        drop(closure(&host, Path::new("/x"), &bytes, &LoaderEnvironment::default()));
        drop(modinfo(Path::new("/x"), &bytes));
    }

    #[test]
    fn plain_paths_are_absolute_and_stay_so(parts in proptest::collection::vec("[a.]{0,3}", 0..6)) {
        let once = plain(Path::new(&parts.join("/")));
        prop_assert!(once.is_absolute());
        prop_assert!(!once.components().any(|part| part.as_os_str() == ".."));
        prop_assert_eq!(plain(&once), once);
    }
}

/// An ELF header of a program with no contents.
pub(crate) fn empty_program() -> Vec<u8> {
    let mut elf = vec![0; 64];
    elf[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    elf[16] = 2;
    elf[18] = 62;
    elf[20] = 1;
    elf[52] = 64;
    elf[54] = 56;
    elf[58] = 64;
    elf
}

/// A kernel module with only these `.modinfo` entries.
pub(crate) fn module(facts: &[&str]) -> Vec<u8> {
    let info: Vec<u8> = facts
        .iter()
        .flat_map(|fact| [fact.as_bytes(), b"\0"].concat())
        .collect();
    let names = b"\0.modinfo\0.shstrtab\0";
    let mut elf = empty_program();
    elf[16] = 1;
    elf.extend(&info);
    elf.extend(names);
    let table = elf.len() as u64;
    elf[40..48].copy_from_slice(&table.to_le_bytes());
    elf[60] = 3;
    elf[62] = 2;
    let section = |name: u32, kind: u32, offset: usize, size: usize| {
        let mut bytes = Vec::new();
        bytes.extend(name.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend([0; 16]);
        bytes.extend((offset as u64).to_le_bytes());
        bytes.extend((size as u64).to_le_bytes());
        bytes.extend([0; 24]);
        bytes
    };
    elf.extend(section(0, 0, 0, 0));
    elf.extend(section(1, 1, 64, info.len()));
    elf.extend(section(10, 3, 64 + info.len(), names.len()));
    elf
}
