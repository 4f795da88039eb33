use std::collections::BTreeMap;
use std::path::PathBuf;

use assize_job::Action;

use super::*;
use crate::elf::tests::{empty_program, module};

/// Path to mode, device numbers, and bytes.
type ArchiveEntries = BTreeMap<String, (u32, (u32, u32), Vec<u8>)>;

/// The entries of an archive and their order.
fn unpack(archive: &[u8]) -> (Vec<String>, ArchiveEntries) {
    let mut rest = archive;
    let (mut order, mut entries) = (Vec::new(), ArchiveEntries::new());
    loop {
        let mut reader = cpio::newc::Reader::new(rest).unwrap();
        if reader.entry().is_trailer() {
            return (order, entries);
        }
        let entry = reader.entry().clone();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut reader, &mut bytes).unwrap();
        assert_eq!((entry.mtime(), entry.uid(), entry.gid()), (0, 0, 0));
        order.push(entry.name().to_string());
        assert_eq!(entry.ino() as usize, order.len());
        let device = (entry.rdev_major(), entry.rdev_minor());
        entries.insert(entry.name().to_string(), (entry.mode(), device, bytes));
        rest = reader.finish().unwrap();
    }
}

/// No modules and no policies.
fn nothing() -> ProvidedFiles {
    let nowhere = Path::new("/nowhere");
    ProvidedFiles {
        testbed: Testbed::with_files(nowhere, &[]),
        policies: Policies::new(nowhere),
    }
}

/// A machine with a shell, a few programs and a kernel with one module.
struct Fixture {
    place: tempfile::TempDir,
    kernel: Kernel,
}

impl Fixture {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let kernel = Kernel {
            name: "mine".into(),
            version: "1".into(),
            release: "6.12.0-x".into(),
            image: PathBuf::new(),
            modules: Some(place.path().join("lib/modules/6.12.0-x")),
            config: None,
            headers: None,
            compiler: None,
            trusted: true,
            digest: String::new(),
        };
        let fixture = Fixture { place, kernel };
        fixture.write("usr/bin/dash", &empty_program(), 0o755);
        fixture.write("usr/bin/env", &empty_program(), 0o755);
        fixture.write("opt/tools/odd", &empty_program(), 0o755);
        fixture.write("usr/bin/script", b"#! /usr/bin/env -S X=1 sh -e\n", 0o755);
        fixture.write("usr/bin/text", b"hello", 0o755);
        fixture.write("usr/bin/lonely", b"#!/usr/bin/nobody\n", 0o755);
        fixture.write("usr/bin/not-runnable", &empty_program(), 0o644);
        fixture.write("agent", &empty_program(), 0o755);
        let modules = "lib/modules/6.12.0-x";
        fixture.write(
            &format!("{modules}/modules.dep"),
            b"kernel/m.ko: kernel/n.ko\nkernel/n.ko:\n",
            0o644,
        );
        fixture.write(
            &format!("{modules}/kernel/m.ko"),
            &module(&["name=m"]),
            0o600,
        );
        fixture.write(
            &format!("{modules}/kernel/n.ko"),
            &module(&["name=n"]),
            0o600,
        );
        std::os::unix::fs::symlink("dash", fixture.at("usr/bin/sh")).unwrap();
        fixture
    }

    fn at(&self, path: &str) -> PathBuf {
        self.place.path().join(path)
    }

    fn write(&self, path: &str, bytes: &[u8], mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn build(&self, payload: &Payload) -> Result<Vec<u8>, Error> {
        self.pack(payload).map(|packed| packed.bytes)
    }

    fn pack(&self, payload: &Payload) -> Result<PackedInitramfs, Error> {
        let host = ProgramHost::at_root(self.place.path(), vec!["/opt/tools".into()]);
        let agent = Path::new("/agent");
        build_from(&host, agent, &self.kernel, &nothing(), payload, false)
    }
}

fn programs(names: &[&str]) -> Payload {
    Payload {
        programs: names.iter().map(ToString::to_string).collect(),
        ..Payload::default()
    }
}

#[test]
fn an_empty_payload_gives_the_agent_and_nothing_that_was_not_asked_for() {
    let fixture = Fixture::new();
    let (order, entries) = unpack(&fixture.build(&Payload::default()).unwrap());
    assert_eq!(
        order,
        [
            "bin",
            "dev",
            "dev/console",
            "dev/null",
            "etc",
            "etc/group",
            "etc/passwd",
            "init",
            "lib",
            "lib64",
            "proc",
            "root",
            "run",
            "sbin",
            "sys",
            "tmp",
            "usr",
            "usr/bin",
            "usr/lib",
            "usr/lib64",
            "usr/sbin",
            "var",
            "var/tmp",
        ]
    );
    assert_eq!(entries["init"], (0o100_755, (0, 0), empty_program()));
    assert_eq!(entries["dev/console"], (0o020_600, (5, 1), Vec::new()));
    assert_eq!(entries["dev/null"], (0o020_666, (1, 3), Vec::new()));
    assert_eq!(entries["tmp"].0, 0o041_777);
}

#[test]
fn the_same_files_give_the_same_bytes_wherever_they_lie() {
    let payload = |fixture: &Fixture| Payload {
        programs: vec!["script".into(), "odd".into()],
        files: vec![(fixture.at("opt"), "/data".into())],
        modules: vec!["m".into()],
        ..Payload::default()
    };
    let (one, two) = (Fixture::new(), Fixture::new());
    // Mode bits for the group do not matter.
    two.write("opt/tools/odd", &empty_program(), 0o700);
    let first = one.build(&payload(&one)).unwrap();
    assert_eq!(first, one.build(&payload(&one)).unwrap());
    assert_eq!(first, two.build(&payload(&two)).unwrap());
    assert_eq!(first.len() % 512, 0);
    let mut reversed = payload(&one);
    reversed.programs.reverse();
    assert_eq!(first, one.build(&reversed).unwrap());
}

#[test]
fn a_script_brings_its_interpreter_and_links_lead_to_files() {
    let fixture = Fixture::new();
    let (_, entries) = unpack(
        &fixture
            .build(&programs(&["script", "odd", "/bin/../usr/bin/sh"]))
            .unwrap(),
    );
    for path in [
        "usr/bin/script",
        "usr/bin/env",
        "usr/bin/dash",
        "opt/tools/odd",
    ] {
        assert_eq!(entries[path].0, 0o100_755, "{path}");
    }
    assert_eq!(
        entries["usr/bin/sh"],
        (0o120_777, (0, 0), b"/usr/bin/dash".to_vec())
    );
    // Not in everybody's PATH, so there is a link to it.
    assert_eq!(
        entries["usr/bin/odd"],
        (0o120_777, (0, 0), b"/opt/tools/odd".to_vec())
    );
}

#[test]
fn directories_are_merged_into_usr_as_on_the_host_or_not() {
    let mut tree = ArchiveTree::default();
    tree.file("/lib/x86_64-linux-gnu/libc.so.6", vec![1], 0o755)
        .unwrap();
    // The same file by its other path.
    tree.file("/usr/lib/x86_64-linux-gnu/libc.so.6", vec![1], 0o755)
        .unwrap();
    tree.file("/lib64/ld.so", vec![2], 0o755).unwrap();
    assert!(tree.resolve("/lib/x86_64-linux-gnu/libc.so.6").is_some());
    assert!(
        tree.file("/lib/x86_64-linux-gnu/libc.so.6", vec![3], 0o755)
            .is_err()
    );
    assert!(tree.file("/lib64/ld.so/below", vec![3], 0o755).is_err());
    let (order, entries) = unpack(&tree.archive().unwrap());
    assert_eq!(
        order,
        [
            "lib",
            "lib64",
            "usr",
            "usr/lib",
            "usr/lib/x86_64-linux-gnu",
            "usr/lib/x86_64-linux-gnu/libc.so.6",
            "usr/lib64",
            "usr/lib64/ld.so"
        ]
    );
    assert_eq!(entries["lib64"].2, b"usr/lib64");
}

#[test]
fn what_is_missing_is_named_with_the_package_that_has_it() {
    let fixture = Fixture::new();
    for (name, why, how) in [
        ("cyclictest", "not in PATH", "apt-get install rt-tests"),
        ("stress-ng", "not in PATH", "apt-get install stress-ng"),
        ("schbench", "not in PATH", "no package of schbench"),
        ("nosuch", "not in PATH", "path"),
        ("not-runnable", "not in PATH", "path"),
        ("/usr/bin/nosuch", "no such file", "path"),
        ("text", "neither an ELF program nor a script", "path"),
        (
            "lonely",
            "/usr/bin/nobody is not here",
            "install /usr/bin/nobody",
        ),
    ] {
        let error = fixture.build(&programs(&[name])).unwrap_err();
        assert!(error.why.contains(why), "{error}");
        assert!(error.mend.unwrap().contains(how), "{name}");
        assert!(error.wrong_use);
    }
}

#[test]
fn files_keep_their_links_and_only_the_right_to_execute() {
    let fixture = Fixture::new();
    fixture.write("tree/sub/run", b"x", 0o750);
    fixture.write("tree/text", b"y", 0o600);
    std::os::unix::fs::symlink("sub/run", fixture.at("tree/link")).unwrap();
    let payload = Payload {
        files: vec![
            (fixture.at("tree"), "/data".into()),
            (fixture.at("tree/text"), "/etc/t".into()),
        ],
        ..Payload::default()
    };
    let (_, entries) = unpack(&fixture.build(&payload).unwrap());
    assert_eq!(entries["data/sub/run"].0, 0o100_755);
    assert_eq!(entries["data/text"].0, 0o100_644);
    assert_eq!(entries["data/link"].2, b"sub/run");
    assert_eq!(entries["etc/t"].2, b"y");
    for (from, to) in [
        ("tree/text", "relative"),
        ("nosuch", "/x"),
        ("tree/text", "/init"),
        ("tree/text", "/proc/x"),
        ("tree/text", "/dev/shm/x"),
    ] {
        let files = vec![(fixture.at(from), to.to_string())];
        let payload = Payload {
            files,
            ..Payload::default()
        };
        assert!(fixture.build(&payload).is_err(), "{from} to {to}");
    }
}

#[test]
fn a_file_may_be_a_program_that_is_there_already() {
    let fixture = Fixture::new();
    let program = std::fs::read(fixture.at("usr/bin/dash")).unwrap();
    fixture.write("same", &program, 0o644);
    fixture.write("other", b"other", 0o755);
    let alone = fixture.build(&programs(&["/usr/bin/sh"])).unwrap();
    for place in ["/usr/bin/dash", "/usr/bin/sh"] {
        let with = |file| Payload {
            files: vec![(fixture.at(file), place.into())],
            ..programs(&["/usr/bin/sh"])
        };
        assert!(fixture.build(&with("same")).unwrap() == alone, "{place}");
        assert!(fixture.build(&with("other")).is_err(), "{place}");
    }
}

#[test]
fn modules_lie_where_the_kernel_looks_with_a_table_of_just_them() {
    let fixture = Fixture::new();
    let payload = Payload {
        modules: vec!["m".into()],
        ..Payload::default()
    };
    let (_, entries) = unpack(&fixture.build(&payload).unwrap());
    let at = |name: &str| {
        entries[&format!("usr/lib/modules/6.12.0-x/{name}")]
            .2
            .clone()
    };
    assert_eq!(
        at("modules.dep"),
        b"kernel/n.ko:\nkernel/m.ko: kernel/n.ko\n"
    );
    assert_eq!(at("kernel/m.ko"), module(&["name=m"]));
}

#[test]
fn cpio_reads_the_archive_as_we_do() {
    let fixture = Fixture::new();
    let archive = fixture.build(&programs(&["script"])).unwrap();
    std::fs::write(fixture.at("a.cpio"), &archive).unwrap();
    let file = std::fs::File::open(fixture.at("a.cpio")).unwrap();
    let output = std::process::Command::new("cpio")
        .args(["-it", "--quiet"])
        .stdin(file)
        .output();
    let Ok(output) = output else {
        return eprintln!("skipped: cpio is not here");
    };
    let (order, _) = unpack(&archive);
    assert_eq!(
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .collect::<Vec<_>>(),
        order
    );
}

#[test]
fn a_library_that_only_this_machine_knows_is_linked_beside_the_c_library() {
    let fixture = Fixture::new();
    let at = |name: &str| fixture.at(name);
    std::fs::create_dir_all(at("opt/lib")).unwrap();
    std::fs::create_dir_all(at("etc")).unwrap();
    std::fs::write(at("a.c"), "int answer(void) { return 7; }\n").unwrap();
    std::fs::write(at("c.c"), "int zero(void) { return 0; }\n").unwrap();
    let main = "int answer(void); int zero(void);\n\
        int main(void) { return answer() + zero(); }\n";
    std::fs::write(at("m.c"), main).unwrap();
    // A small C library replaces the real one.
    let shared = ["-nostdlib", "-shared", "-fPIC"];
    for rest in [
        [
            "-Wl,-soname,libanswer.so.1",
            "-o",
            "opt/lib/libanswer.so.1",
            "a.c",
        ]
        .as_slice(),
        &["-Wl,-soname,libc.so.6", "-o", "lib/libc.so.6", "c.c"],
        &[
            "-o",
            "usr/bin/main",
            "m.c",
            "opt/lib/libanswer.so.1",
            "lib/libc.so.6",
        ],
    ] {
        let shared = match rest.contains(&"m.c") {
            true => ["-nostdlib", "-pie", "-Wl,-e,main"],
            false => shared,
        };
        let mut command = std::process::Command::new("cc");
        command
            .current_dir(fixture.place.path())
            .args(shared)
            .args(rest);
        match command.status() {
            Ok(status) => assert!(status.success()),
            Err(error) => return eprintln!("skipped: no C compiler: {error}"),
        }
    }
    std::fs::write(at("etc/ld.so.conf"), "/opt/lib\n").unwrap();
    let interpreter = std::fs::read(at("usr/bin/main")).unwrap();
    let interpreter = goblin::elf::Elf::parse(&interpreter)
        .unwrap()
        .interpreter
        .unwrap()
        .to_string();
    fixture.write(&interpreter[1..], &empty_program(), 0o755);
    let (_, entries) = unpack(&fixture.build(&programs(&["main"])).unwrap());
    assert_eq!(entries["opt/lib/libanswer.so.1"].0, 0o100_755);
    assert_eq!(
        entries["usr/lib/libanswer.so.1"],
        (0o120_777, (0, 0), b"/opt/lib/libanswer.so.1".to_vec())
    );
    assert_eq!(entries["usr/lib/libc.so.6"].0, 0o100_755);
}

#[test]
fn a_real_shell_runs_from_its_closure_alone() {
    let fixture = Fixture::new();
    let sh = std::fs::canonicalize("/bin/sh").unwrap();
    let payload = programs(&["sh"]);
    let archive = build_from(
        &ProgramHost::this(),
        &sh,
        &fixture.kernel,
        &nothing(),
        &payload,
        false,
    )
    .unwrap();
    let (_, entries) = unpack(&archive.bytes);
    let out = tempfile::tempdir().unwrap();
    for (path, (mode, _, bytes)) in &entries {
        let at = out.path().join(path);
        match mode & 0o170_000 {
            0o040_000 => std::fs::create_dir_all(&at).unwrap(),
            0o120_000 => {
                std::os::unix::fs::symlink(String::from_utf8_lossy(bytes).as_ref(), &at).unwrap()
            }
            0o100_000 => {
                use std::os::unix::fs::PermissionsExt as _;
                std::fs::write(&at, bytes).unwrap();
                std::fs::set_permissions(&at, std::fs::Permissions::from_mode(mode & 0o777))
                    .unwrap();
            }
            _ => {}
        }
    }
    let run = std::process::Command::new("unshare")
        .args(["--map-root-user", "--user", "chroot"])
        .arg(out.path())
        .args(["/bin/sh", "-c", "exit 7"])
        .output();
    match run {
        Ok(output) if output.status.code() == Some(7) => {}
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("unshare") => {
            eprintln!("skipped: no user namespaces here");
        }
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("skipped: {error}"),
    }
}

#[test]
fn modules_of_one_name_lie_side_by_side_and_load_by_their_own_path() {
    let fixture = Fixture::new();
    fixture.write("a/m.ko", &module(&["name=m", "vermagic=6.12.0-x "]), 0o644);
    let slow = &["name=m", "depends=n", "vermagic=6.12.0-x ", "x=slow"];
    fixture.write("b/slow-m.ko", &module(slow), 0o644);
    let path = |name: &str| fixture.at(name).to_string_lossy().into_owned();
    let payload = Payload {
        modules: vec!["m".into()],
        module_files: vec![path("a/m.ko"), path("b/slow-m.ko")],
        ..Payload::default()
    };
    let packed = fixture.pack(&payload).unwrap();
    let modules = &packed.carried.modules;
    let named: Vec<_> = modules.iter().filter(|one| one.name == "m").collect();
    assert_eq!(
        named.len(),
        3,
        "the kernel's own and two files: {modules:?}"
    );
    let mut digests: Vec<&str> = named.iter().map(|one| one.digest.as_str()).collect();
    digests.dedup();
    assert_eq!(digests.len(), 3);
    assert_eq!(
        named[2].needs,
        ["n"],
        "its name is what it says, not the file's"
    );
    let (_, entries) = unpack(&packed.bytes);
    for one in named {
        let (_, _, bytes) = &entries[&one
            .path
            .trim_start_matches('/')
            .replacen("lib/", "usr/lib/", 1)];
        assert_eq!(blake3::hash(bytes).to_hex().as_str(), one.digest);
        assert_eq!(
            packed
                .carried
                .files
                .get(&one.path.replacen("/lib/", "/usr/lib/", 1)),
            Some(&one.digest)
        );
    }
}

#[test]
fn two_programs_that_want_one_place_are_named() {
    let fixture = Fixture::new();
    fixture.write("opt/other/odd", b"#!/bin/sh\nexit 1\n", 0o755);
    let mut payload = programs(&["odd"]);
    payload
        .files
        .push((fixture.at("opt/other/odd"), "/usr/bin/odd".into()));
    let error = fixture.build(&payload).unwrap_err().to_string();
    for word in ["/usr/bin/odd", "the program odd", "opt/other/odd"] {
        assert!(error.contains(word), "{word}: {error}");
    }
}

/// The modules that a machine with this payload loads first.
fn first(payload: &Payload) -> Vec<Action> {
    let (_, entries) = unpack(&Fixture::new().build(payload).unwrap());
    let path = Payload::FIRST.trim_start_matches('/');
    let text = entries.get(path).map_or(&b"[]"[..], |(_, _, bytes)| bytes);
    serde_json::from_slice(text).unwrap()
}

fn loads(module: &str) -> Action {
    Action::Module {
        module: module.into(),
        parameters: BTreeMap::new(),
    }
}

#[test]
fn a_machine_begins_with_what_all_runs_load_alike() {
    // m depends on n.
    let payload = |varied: &[&str], first: &[&str]| Payload {
        modules: vec!["m".into(), "n".into()],
        varied: varied.iter().map(ToString::to_string).collect(),
        first: first.iter().map(|module| loads(module)).collect(),
        ..Payload::default()
    };
    assert_eq!(first(&payload(&[], &[])), []);
    assert_eq!(first(&payload(&[], &["n", "m"])), ["n", "m"].map(loads));
    assert_eq!(first(&payload(&["m"], &["n", "m"])), [loads("n")]);
    assert_eq!(first(&payload(&["n"], &["m"])), []);
    assert_eq!(first(&payload(&["n"], &["n", "m"])), []);
    assert_eq!(first(&payload(&["other"], &["m"])), [loads("m")]);
}

#[test]
fn what_a_single_run_loads_from_a_file_is_not_brought_along() {
    let fixture = Fixture::new();
    let vermagic = "vermagic=6.12.0-x SMP";
    fixture.write("own/n.ko", &module(&["name=n", vermagic]), 0o644);
    let path = fixture.at("own/n.ko").to_string_lossy().into_owned();
    let mut payload = Payload {
        modules: vec!["m".into()],
        module_files: vec![path],
        first: vec![loads("m")],
        ..Payload::default()
    };
    let packed = |payload: &Payload| fixture.pack(payload).unwrap().carried.files;
    assert!(!packed(&payload).contains_key(Payload::FIRST));
    payload.module_files.clear();
    assert!(packed(&payload).contains_key(Payload::FIRST));
}

#[test]
fn what_all_runs_need_is_loaded_first() {
    let fixture = Fixture::new();
    let vermagic = "vermagic=6.12.0-x SMP";
    let path = |name: &str| fixture.at(name).to_string_lossy().into_owned();
    fixture.write("a/o.ko", &module(&["name=o", "depends=m", vermagic]), 0o644);
    fixture.write("b/o.ko", &module(&["name=o", "depends=n", vermagic]), 0o644);
    let steps = |files: &[&str], varied: &[&str]| {
        let payload = Payload {
            modules: vec!["m".into()],
            module_files: files.iter().map(|name| path(name)).collect(),
            always: vec!["o".into()],
            varied: varied.iter().map(ToString::to_string).collect(),
            ..Payload::default()
        };
        let (_, entries) = unpack(&fixture.build(&payload).unwrap());
        let first = entries.get(Payload::FIRST.trim_start_matches('/'));
        first.map(|(_, _, text)| serde_json::from_slice::<Vec<Action>>(text).unwrap())
    };
    let some = |names: &[&str]| Some(names.iter().map(|name| loads(name)).collect());
    assert_eq!(steps(&["a/o.ko"], &[]), some(&["m", "n"]));
    assert_eq!(steps(&["a/o.ko", "b/o.ko"], &[]), some(&["n"]));
    assert_eq!(steps(&["a/o.ko"], &["m"]), some(&["n"]));
    assert_eq!(steps(&["a/o.ko"], &["n"]), None);
}

#[test]
fn modules_are_carried_without_signatures() {
    let fixture = Fixture::new();
    let plain = module(&["name=n"]);
    let signature = b"s\0\0\x02\0\0\0\0\0\0\0\0\x01~Module signature appended~\n";
    let path = "lib/modules/6.12.0-x/kernel/n.ko";
    fixture.write(path, &[&plain[..], signature].concat(), 0o644);
    let payload = Payload {
        modules: vec!["n".into()],
        ..Payload::default()
    };
    let packed = fixture.pack(&payload).unwrap();
    let (_, entries) = unpack(&packed.bytes);
    assert_eq!(entries[&format!("usr/{path}")].2, plain);
    let digest = blake3::hash(&plain).to_hex().to_string();
    assert_eq!(packed.carried.modules[0].digest, digest);
}

/// A fixture with a package that has a program, a plug-in, data, documentation and a link,
/// and a second package with data that the first depends on.
fn with_packages() -> Fixture {
    let fixture = Fixture::new();
    let of = |name: &str, more: &str| {
        format!("Package: {name}\nStatus: install ok installed\nVersion: 1-{name}\n{more}\n\n")
    };
    let status = [
        of("dpkg", "Architecture: amd64\nEssential: yes"),
        of(
            "player",
            "Architecture: amd64\nDepends: player-data (>= 1), dpkg, other | base-data",
        ),
        of("player-data", "Architecture: all"),
        of("base-data", "Architecture: all\nPriority: required"),
        of("other", "Architecture: amd64"),
    ];
    fixture.write("var/lib/dpkg/status", status.concat().as_bytes(), 0o644);
    let lists: [(&str, &[&str]); 5] = [
        ("dpkg", &["/usr/bin/dash"]),
        (
            "player:amd64",
            &[
                "/.",
                "/usr",
                "/usr/bin/play",
                "/usr/bin/play-alias",
                "/usr/lib/player/out.so",
                "/usr/share/doc/player/copyright",
                "/usr/share/man/man1/play.1.gz",
                "/etc/player.conf",
                "/etc/removed.conf",
            ],
        ),
        (
            "player-data",
            &["/usr/share/player", "/usr/share/player/table"],
        ),
        ("base-data", &["/usr/share/base"]),
        ("other", &["/usr/share/other"]),
    ];
    for (name, paths) in lists {
        let text = paths.join("\n") + "\n";
        fixture.write(
            &format!("var/lib/dpkg/info/{name}.list"),
            text.as_bytes(),
            0o644,
        );
    }
    fixture.write("usr/bin/play", &empty_program(), 0o755);
    fixture.write("usr/lib/player/out.so", &empty_program(), 0o644);
    fixture.write("usr/share/player/table", b"1 2 3", 0o644);
    fixture.write("usr/share/base", b"base", 0o644);
    fixture.write("usr/share/other", b"other", 0o644);
    fixture.write("etc/player.conf", b"volume = 11", 0o644);
    std::os::unix::fs::symlink("play", fixture.at("usr/bin/play-alias")).unwrap();
    fixture
}

fn packages(name: &str, only: &[&str]) -> Payload {
    let package = assize_job::Package {
        name: name.into(),
        only: only.iter().map(ToString::to_string).collect(),
    };
    Payload {
        packages: vec![package],
        ..Payload::default()
    }
}

#[test]
fn a_package_is_carried_with_its_plug_ins_and_data_and_without_documentation() {
    let fixture = with_packages();
    let packed = fixture.pack(&packages("player", &[])).unwrap();
    let (_, entries) = unpack(&packed.bytes);
    assert_eq!(entries["usr/bin/play"].0, 0o100_755);
    assert_eq!(entries["usr/bin/play-alias"].2, b"play");
    assert_eq!(entries["usr/lib/player/out.so"].0, 0o100_755);
    assert_eq!(entries["etc/player.conf"].2, b"volume = 11");
    assert_eq!(entries["usr/share/player/table"].2, b"1 2 3");
    for absent in [
        "usr/share/doc/player/copyright",
        "usr/share/man/man1/play.1.gz",
        "etc/removed.conf",
        "usr/share/base",
        "usr/share/other",
        "usr/bin/dash",
    ] {
        assert!(!entries.contains_key(absent), "{absent}");
    }
    let held: Vec<assize_job::CarriedPackage> =
        serde_json::from_slice(&entries["etc/assize/packages.json"].2).unwrap();
    let names: Vec<&str> = held.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["player", "player-data"]);
    assert_eq!(held[0].version, "1-player");
    let files = [
        "/etc/player.conf",
        "/usr/bin/play",
        "/usr/lib/player/out.so",
    ];
    assert_eq!(held[0].files, files);
    assert_eq!(packed.carried.packages, held);
}

#[test]
fn what_a_package_holds_is_part_of_the_identity_of_runs() {
    let fixture = with_packages();
    let parts = |fixture: &Fixture| {
        let packed = fixture.pack(&packages("player", &[])).unwrap();
        let parts = packed.carried.expected(&assize_job::Job::default(), true);
        let of_packages = parts
            .into_iter()
            .filter(|part| part.kind == assize_job::IdentityKind::Package);
        of_packages
            .map(|part| (part.name, part.value.unwrap()))
            .collect::<Vec<_>>()
    };
    let before = parts(&fixture);
    assert_eq!(before.len(), 2);
    assert!(before[0].1.starts_with("1-player, 3 files, "), "{before:?}");
    fixture.write("etc/player.conf", b"volume = 10", 0o644);
    let after = parts(&fixture);
    assert_ne!(before[0], after[0]);
    assert_eq!(before[1], after[1]);
}

#[test]
fn of_a_package_only_what_is_asked_for_is_carried() {
    let fixture = with_packages();
    let only = fixture.build(&packages("player", &["*/out.so"])).unwrap();
    let (_, entries) = unpack(&only);
    assert!(entries.contains_key("usr/lib/player/out.so"));
    assert!(entries.contains_key("usr/share/player/table"));
    assert!(!entries.contains_key("usr/bin/play") && !entries.contains_key("etc/player.conf"));
}

#[test]
fn a_program_and_its_package_can_both_be_asked_for() {
    let fixture = with_packages();
    let payload = Payload {
        programs: vec!["play".into()],
        ..packages("player", &[])
    };
    let (_, entries) = unpack(&fixture.build(&payload).unwrap());
    assert_eq!(entries["usr/bin/play"].0, 0o100_755);
    assert!(entries.contains_key("etc/player.conf"));
}

#[test]
fn a_package_that_is_not_installed_or_damaged_is_said_with_its_mend() {
    let fixture = with_packages();
    let error = fixture.build(&packages("nobody", &[])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot copy the package nobody: it is not installed here; run `apt-get install nobody`"
    );
    std::fs::remove_file(fixture.at("usr/share/player/table")).unwrap();
    let error = fixture
        .build(&packages("player", &[]))
        .unwrap_err()
        .to_string();
    assert!(error.contains("/usr/share/player/table"), "{error}");
    assert!(
        error.ends_with("run `apt-get install --reinstall player-data`"),
        "{error}"
    );
    let error = Fixture::new()
        .build(&packages("player", &[]))
        .unwrap_err()
        .to_string();
    assert!(error.contains("has no dpkg"), "{error}");
}

#[test]
fn a_program_that_attaches_a_policy_finds_the_configuration_of_its_kernel() {
    let mut fixture = Fixture::new();
    fixture.write("config", b"CONFIG_HZ=250\n", 0o644);
    fixture.kernel.config = Some(fixture.at("config"));
    let policy = |form| PlacementPolicy {
        name: "env".into(),
        form,
        tunables: BTreeMap::new(),
        argv: vec!["env".into()],
    };
    let payload = |form| Payload {
        policies: vec![policy(form)],
        ..programs(&["env"])
    };
    let (_, entries) = unpack(&fixture.build(&payload(PolicyForm::Program)).unwrap());
    assert_eq!(entries["boot/config-6.12.0-x"].2, b"CONFIG_HZ=250\n");
    // No other payload contains it.
    let (_, entries) = unpack(&fixture.build(&programs(&["env"])).unwrap());
    assert!(!entries.contains_key("boot/config-6.12.0-x"));
    fixture.kernel.config = None;
    let (_, entries) = unpack(&fixture.build(&payload(PolicyForm::Program)).unwrap());
    assert!(!entries.contains_key("boot/config-6.12.0-x"));
}
