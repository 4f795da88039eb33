#![allow(clippy::unwrap_used)] // A test may fail.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use super::*;
use crate::make::MakeRun;
use crate::process::ChildProcess;

/// Pause between two checks.
const TURN: Duration = Duration::from_millis(5);

/// The kinds of sandbox that work here; a reason is printed for each that does not.
pub(crate) fn kinds() -> Vec<Sandbox> {
    type Kind = fn(PathBuf) -> Sandbox;
    let all: [(&str, Kind); 2] = [
        ("bwrap", Sandbox::Bubblewrap),
        ("unshare", Sandbox::Namespaces),
    ];
    let mut kinds = Vec::new();
    for (program, kind) in all {
        let path = ProgramHost::this().program(program);
        let works = match path.map(kind) {
            None => Err("not in PATH".into()),
            Some(sandbox) => sandbox.works().map(|()| sandbox),
        };
        match works {
            Ok(sandbox) => kinds.push(sandbox),
            Err(why) => eprintln!("skipped: no sandbox by {program}: {why}"),
        }
    }
    kinds
}

/// The kind that is used by default here; none if neither works.
pub(crate) fn usual() -> Sandbox {
    kinds().into_iter().next().unwrap_or(Sandbox::Off)
}

/// Sources with a Makefile, a folder to build in, and other files of the user next to them.
struct Lab {
    place: tempfile::TempDir,
}

impl Lab {
    /// A place whose Makefile has these commands as its only recipe.
    fn new(recipe: &str) -> Self {
        let lab = Lab {
            place: tempfile::tempdir().unwrap(),
        };
        for name in ["tree", "build", "outside"] {
            fs::create_dir(lab.at(name)).unwrap();
        }
        let lines: String = recipe.lines().map(|line| format!("\t{line}\n")).collect();
        let variables = format!(
            "OUTSIDE := {}\nB := {}\n",
            lab.at("outside").display(),
            lab.at("build").display()
        );
        lab.write("tree/Makefile", &format!("{variables}all:\n{lines}"));
        lab
    }

    fn at(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.place.path()).unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.at(path), text).unwrap();
    }

    fn make(&self, sandbox: &Sandbox) -> Result<(), Error> {
        self.make_within(sandbox, Limits::default())
    }

    fn make_within(&self, sandbox: &Sandbox, limits: Limits) -> Result<(), Error> {
        let tree = self.at("tree");
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec make >&2"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap());
        if let Some(home) = std::env::var_os("HOME") {
            command.env("HOME", home);
        }
        let run = MakeRun {
            what: "build the sources",
            directory: &tree,
            log: &self.at("log"),
            shown: ("", ""),
            sandbox,
            folders: Folders {
                readable: vec![tree.clone()],
                writable: self.at("build"),
            },
            limits,
            unfinished: Some(&self.at("unfinished")),
        };
        run.run(command)
    }

    /// Whether there is a process whose command line names the folder.
    fn goes_on(&self) -> bool {
        let folder = self.at("build").display().to_string();
        let paths = crate::fault::list(Path::new("/proc")).unwrap();
        paths.iter().any(|path| {
            let line = fs::read(path.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&folder)
        })
    }

    fn log(&self) -> String {
        fs::read_to_string(self.at("log")).unwrap()
    }

    /// The names in a directory, sorted.
    fn names(&self, path: &str) -> Vec<String> {
        let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        let paths = crate::fault::list(&self.at(path)).unwrap();
        paths.into_iter().map(name).collect()
    }

    /// Fails if anything outside the build's own folder has changed.
    fn nothing_left(&self, sandbox: &Sandbox) {
        let log = self.log();
        let mut beside = self.names("");
        beside.retain(|name| name != "unfinished");
        assert_eq!(beside, ["build", "log", "outside", "tree"], "{sandbox:?}");
        assert_eq!(self.names("outside"), [""; 0], "{sandbox:?}: {log}");
        assert_eq!(self.names("tree"), ["Makefile"], "{sandbox:?}: {log}");
    }
}

#[test]
fn a_shell_in_a_makefile_writes_outside_only_without_a_sandbox() {
    let hostile = "@echo $(shell touch $(OUTSIDE)/file) > $(B)/object\n\
        @touch $(OUTSIDE)/other || true\n\
        @mkdir -p $(OUTSIDE) 2> /dev/null; touch $(OUTSIDE)/third || true\n\
        @touch Makefile.new || true\n\
        @touch /usr/assize-was-here || true\n\
        @touch /assize-was-here /etc/assize-was-here /dev/assize-was-here || true\n\
        @echo > /proc/sys/kernel/core_pattern || true\n\
        @mount -t tmpfs none /usr || true\n\
        @mount -o remount,rw / || true\n\
        @mount -o remount,bind,rw /usr && touch /usr/assize-was-here || true\n\
        @unshare --user --map-root-user true || true";
    let control = Lab::new("@echo $(shell touch $(OUTSIDE)/file) > $(B)/object");
    control.make(&Sandbox::Off).unwrap();
    assert_eq!(control.names("outside"), ["file"]);
    let pattern = fs::read("/proc/sys/kernel/core_pattern").unwrap();
    for sandbox in kinds() {
        let lab = Lab::new(hostile);
        lab.make(&sandbox).unwrap();
        lab.nothing_left(&sandbox);
        assert_eq!(lab.names("build"), ["object"]);
        for path in ["/usr", "/etc", "/dev", "/"] {
            let path = Path::new(path).join("assize-was-here");
            assert!(!path.exists(), "{sandbox:?}: {}", path.display());
        }
        assert_eq!(fs::read("/proc/sys/kernel/core_pattern").unwrap(), pattern);
    }
}

#[test]
fn a_host_program_writes_only_to_the_folder() {
    let source = "int main(int c, char **v) { FILE *f; while (*++v) \
        if ((f = fopen(*v, \"w\"))) fclose(f); return 0; }";
    let recipe = format!(
        "@printf '%s\\n' '#include <stdio.h>' '{source}' > $(B)/a.c && cc -o $(B)/a $(B)/a.c\n\
         @$(B)/a $(OUTSIDE)/file $(B)/made $(CURDIR)/file $(HOME)/file"
    );
    for sandbox in kinds() {
        let lab = Lab::new(&recipe);
        match lab.make(&sandbox) {
            Err(error) if error.why.contains("not found") => eprintln!("skipped: {error}"),
            made => {
                made.unwrap();
                lab.nothing_left(&sandbox);
                assert_eq!(lab.names("build"), ["a", "a.c", "made"]);
            }
        }
    }
}

#[test]
fn a_link_out_of_the_folder_is_refused_and_one_inside_is_not() {
    for sandbox in kinds() {
        let lab = Lab::new("@ln -s /etc/hostname $(B)/object");
        let error = lab.make(&sandbox).unwrap_err();
        assert!(error.why.starts_with("the build left a link"), "{error}");
        assert!(error.why.ends_with("build/object"), "{error}");
        let lab = Lab::new("@ln -s $(OUTSIDE) $(B)/folder");
        assert!(lab.make(&sandbox).is_err());
        let lab = Lab::new("@ln -s . $(B)/own; ln -s $(CURDIR)/Makefile $(B)/source");
        lab.make(&sandbox).unwrap();
        let lab = Lab::new("@mkfifo $(B)/object");
        let error = lab.make(&sandbox).unwrap_err();
        assert!(error.why.contains("not a file"), "{error}");
    }
}

/// Starts far more processes than the limit of the test, and far fewer than would harm this
/// machine.
const BOMB: &str = "@i=0; while [ $$i -lt 300 ]; do sleep 60 & i=$$((i+1)); done; wait";

#[test]
fn many_processes_end_the_build_and_all_end_with_it() {
    let limits = Limits {
        processes: 60,
        ..Limits::default()
    };
    for sandbox in kinds() {
        let lab = Lab::new(&format!("@echo > $(B)/begun\n{BOMB}"));
        let begun = Instant::now();
        let error = lab.make_within(&sandbox, limits).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(50), "{sandbox:?}");
        let root = rustix::process::geteuid().is_root();
        let why = "make was stopped: it had more than 60 processes";
        // The kernel binds ordinary users, and the shell gives up.
        assert!(error.why == why || !root, "{sandbox:?}: {error}");
        lab.nothing_left(&sandbox);
        assert!(!lab.goes_on(), "{sandbox:?}");
        assert!(lab.at("unfinished").exists() || !root);
    }
}

#[test]
fn everything_in_it_ends_when_the_command_is_killed() {
    let recipe = "@trap '' TERM HUP; (setsid sh -c 'trap \"\" TERM; sleep 600' $(B) &); \
        touch $(B)/begun; sleep 600; touch $(B)/went-on";
    for sandbox in kinds() {
        let lab = Lab::new(recipe);
        let (tree, folders) = (
            lab.at("tree"),
            Folders {
                readable: vec![lab.at("tree")],
                writable: lab.at("build"),
            },
        );
        // The kernel sends its signal when the thread that started it ends.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut make = Command::new("make");
                make.env("PATH", std::env::var_os("PATH").unwrap());
                let limits = Limits::default();
                let enclosed = sandbox.enclose(make, &tree, &folders, &limits).unwrap();
                let errors = fs::File::create(lab.at("log")).unwrap();
                let process =
                    ChildProcess::start(enclosed.command, &tree, errors, None, limits.time);
                let process = process.unwrap();
                while !lab.at("build/begun").exists() {
                    assert!(!process.ends_within(TURN), "{sandbox:?}: {}", lab.log());
                }
                assert!(lab.goes_on(), "this test proves nothing");
                std::mem::forget(process);
            });
        });
        let begun = Instant::now();
        while lab.goes_on() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{sandbox:?}");
            std::thread::sleep(TURN);
        }
        assert_eq!(lab.names("build"), ["begun"], "{sandbox:?}");
    }
}

#[test]
fn much_output_ends_the_build() {
    const MIB: u64 = 1 << 20;
    for sandbox in kinds() {
        let limits = Limits {
            file: MIB,
            ..Limits::default()
        };
        let lab = Lab::new("@head -c 64M /dev/zero > $(B)/object");
        assert!(lab.make_within(&sandbox, limits).is_err());
        assert!(lab.at("build/object").metadata().unwrap().len() <= MIB);
        let limits = Limits {
            output: 8 * MIB,
            ..Limits::default()
        };
        for place in ["$(B)", "/tmp"] {
            let recipe = format!("@head -c 32M /dev/urandom > {place}/object; sleep 60");
            let lab = Lab::new(&recipe);
            let error = lab.make_within(&sandbox, limits).unwrap_err();
            let why = "make was stopped: it wrote more than 8 MiB";
            assert_eq!(error.why, why, "{sandbox:?}");
            lab.nothing_left(&sandbox);
        }
        let limits = Limits {
            memory: 64 * MIB,
            ..Limits::default()
        };
        let lab = Lab::new("@head -c 256M /dev/zero | tail -n 1 | sleep 60");
        let error = lab.make_within(&sandbox, limits).unwrap_err();
        assert!(error.why.contains("64 MiB of memory"), "{error}");
        let limits = Limits {
            time: Duration::from_millis(700),
            ..Limits::default()
        };
        let lab = Lab::new("@trap '' TERM INT HUP; (setsid sleep 60 &); sleep 60");
        let begun = Instant::now();
        let error = lab.make_within(&sandbox, limits).unwrap_err();
        assert!(error.why.contains("it exceeded its time limit"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{sandbox:?}");
    }
}

#[test]
fn there_is_no_network_and_no_socket_of_this_machine() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let recipe = format!(
        "@bash -c 'echo stolen > /dev/tcp/127.0.0.1/{port}' || echo unreachable > $(B)/network\n\
         @test ! -e /run -a ! -e /var/run -a ! -e /home -a ! -e /sys && echo > $(B)/hidden"
    );
    for sandbox in kinds() {
        let lab = Lab::new(&recipe);
        lab.make(&sandbox).unwrap();
        assert_eq!(lab.names("build"), ["hidden", "network"], "{}", lab.log());
        assert!(listener.accept().is_err(), "{sandbox:?}: it connected");
    }
    let control = Lab::new(&recipe);
    control.make(&Sandbox::Off).unwrap_err();
    assert!(listener.accept().is_ok(), "this test proves nothing");
}

#[test]
fn a_home_and_other_processes_are_not_seen() {
    let secret = "@cat $(HOME)/.ssh/id $(OUTSIDE)/.ssh/id /proc/*/root$(OUTSIDE)/.ssh/id \
        /proc/[0-9]*/cwd/../outside/.ssh/id > $(B)/object 2> /dev/null || true\n\
        @ls /home 2> /dev/null >> $(B)/object || true\n\
        @cat /etc/shadow >> $(B)/object 2> /dev/null || true\n\
        @kill -9 $(OF) 2> /dev/null && echo killed >> $(B)/object || true\n\
        @env > $(B)/env; ls /proc | grep -c '^[0-9]' > $(B)/processes";
    for sandbox in kinds() {
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        let lab = Lab::new(&secret.replace("$(OF)", &other.id().to_string()));
        fs::create_dir(lab.at("outside/.ssh")).unwrap();
        lab.write("outside/.ssh/id", "key");
        lab.make(&sandbox).unwrap();
        let object = fs::read_to_string(lab.at("build/object")).unwrap();
        assert_eq!(object, "", "{sandbox:?}");
        let env = fs::read_to_string(lab.at("build/env")).unwrap();
        assert!(env.lines().any(|line| line == "HOME=/tmp"), "{env}");
        assert!(!env.contains("CARGO"), "{env}");
        let count = fs::read_to_string(lab.at("build/processes")).unwrap();
        assert!(count.trim().parse::<u32>().unwrap() < 10, "{count}");
        assert_eq!(
            other.try_wait().unwrap(),
            None,
            "{sandbox:?}: it was killed"
        );
        other.kill().unwrap();
        other.wait().unwrap();
    }
}

#[test]
fn nothing_is_left_that_has_the_rights_of_its_owner_or_cannot_be_removed() {
    let recipe = "@cp /bin/true $(B)/object && chmod 6755 $(B)/object\n\
        @mkdir -p $(B)/locked/inside && touch $(B)/locked/inside/file\n\
        @chmod 000 $(B)/locked/inside $(B)/locked; mkdir /tmp/locked; chmod 000 /tmp/locked $(B)";
    for sandbox in kinds() {
        let lab = Lab::new(recipe);
        lab.make(&sandbox).unwrap();
        let mode = |path: &str| lab.at(path).metadata().unwrap().permissions().mode();
        assert_eq!(mode("build/object") & 0o7777, 0o755, "{sandbox:?}");
        assert_eq!(mode("build/locked/inside") & 0o700, 0o700);
        let owner = lab.at("build/object").metadata().unwrap().uid();
        assert_eq!(owner, rustix::process::geteuid().as_raw(), "{sandbox:?}");
        lab.nothing_left(&sandbox);
    }
}

#[test]
fn a_build_has_no_rights_and_cannot_get_any() {
    let recipe = "@grep -E 'Cap...:|NoNewPrivs' /proc/self/status > $(B)/status\n\
        @mknod $(B)/disk b 8 0 2> /dev/null || true\n\
        @unshare --user true 2> /dev/null && echo > $(B)/nested || true\n\
        @for at in / /dev /dev/shm /proc/self /var /etc /usr $(CURDIR); do \
        (: > $$at/file) 2> /dev/null && echo $$at >> $(B)/written || true; done; \
        test -w /tmp && : > /tmp/file && : > /var/tmp/other && (exec 3< /dev/tty) 2> /dev/null \
        && echo terminal >> $(B)/written || true";
    for sandbox in kinds() {
        let lab = Lab::new(recipe);
        lab.make(&sandbox).unwrap();
        let status = fs::read_to_string(lab.at("build/status")).unwrap();
        let fine = |line: &str| line == "NoNewPrivs:\t1" || line.ends_with("\t0000000000000000");
        assert_eq!(status.lines().count(), 6, "{status}");
        assert!(status.lines().all(fine), "{sandbox:?}: {status}");
        assert_eq!(lab.names("build"), ["status"], "{sandbox:?}");
    }
}

#[test]
fn the_same_comes_out_at_the_same_paths_with_and_without() {
    let recipe = "@printf '%s\\n' 'const char *f = __FILE__;' > $(B)/a.c\n\
        @cc -g -c -o $(B)/a.o $(B)/a.c || echo none > $(B)/a.o\n\
        @pwd > $(B)/directory; ls -A > $(B)/list";
    let lab = Lab::new(recipe);
    let made = |sandbox: &Sandbox| {
        fs::remove_dir_all(lab.at("build")).unwrap();
        fs::create_dir(lab.at("build")).unwrap();
        lab.make(sandbox).unwrap();
        let read = |name: &str| fs::read(lab.at("build").join(name)).unwrap();
        ["a.o", "directory", "list"].map(read)
    };
    let without = made(&Sandbox::Off);
    for sandbox in kinds() {
        assert!(made(&sandbox) == without, "{sandbox:?}");
    }
}

#[test]
fn a_folder_behind_a_link_and_one_in_the_tree_are_built_in() {
    for sandbox in kinds() {
        let lab = Lab::new("@touch $(B)/object");
        fs::rename(lab.at("build"), lab.at("tree/build")).unwrap();
        symlink("tree/build", lab.at("build")).unwrap();
        lab.make(&sandbox).unwrap();
        assert_eq!(lab.names("tree/build"), ["object"], "{sandbox:?}");
    }
}

#[test]
fn the_command_hides_what_is_not_given() {
    let folders = Folders {
        readable: vec!["/tmp".into(), "/usr/src/x".into()],
        writable: "/w/build".into(),
    };
    let mounts = mounts(
        &folders,
        Path::new("/w/.tmp/tmp"),
        OsStr::new("/usr/bin:.:/"),
    );
    assert_eq!(
        mounts.first(),
        Some(&Mount::Write("/w/.tmp/tmp".into(), "/tmp".into()))
    );
    let own = Mount::Write("/w/build".into(), "/w/build".into());
    assert_eq!(mounts.last(), Some(&own));
    let reads = |path: &str| mounts.contains(&Mount::Read(path.into()));
    assert!(reads("/usr") && reads("/tmp"));
    for hidden in ["/", "/etc", "/usr/src/x", "/usr/bin", "/var", "/run"] {
        assert!(!reads(hidden), "{hidden}");
    }
    let words = bubblewrap(&mounts);
    let has = |all: &[&str]| words.windows(all.len()).any(|some| some == all);
    assert!(has(&["--bind", "/w/build", "/w/build"]) && has(&["--ro-bind", "/usr", "/usr"]));
    assert!(has(&["--remount-ro", "/"]) && !has(&["--bind", "/", "/"]));

    let limits = Limits::default().prefix();
    assert_eq!(limits.first().map(String::as_str), Some("prlimit"));
    assert!(
        limits.contains(&"--nproc=2048:2048".to_owned()),
        "{limits:?}"
    );
    let place = tempfile::tempdir().unwrap();
    let folders = Folders {
        writable: place.path().join("build"),
        ..Folders::default()
    };
    let mut make = Command::new("make");
    make.arg("all").env("A", "1").env("TMPDIR", "/elsewhere");
    let sandbox = Sandbox::Bubblewrap("/usr/bin/bwrap".into());
    let enclosed = sandbox.enclose(make, place.path(), &folders, &Limits::default());
    let command = enclosed.unwrap().command;
    assert_eq!(command.get_program(), "/usr/bin/bwrap");
    let words = Vec::from_iter(command.get_args());
    for word in [
        "--unshare-net",
        "--unshare-pid",
        "--die-with-parent",
        "--new-session",
    ] {
        assert!(words.iter().any(|it| *it == word), "{word}");
    }
    assert_eq!(&words[words.len() - 2..], ["make", "all"]);
    let env = Vec::from_iter(command.get_envs().map(|(name, _)| name));
    assert_eq!(env, ["A", "HOME"]);
}

#[test]
fn without_either_kind_it_says_what_is_missing_and_how_to_do_without() {
    let error = Sandbox::find_by(&|_| None)
        .unwrap_err()
        .into_error("build it");
    assert!(error.why.contains("bwrap is not in PATH"), "{error}");
    assert!(error.why.contains("unshare is not in PATH"), "{error}");
    let mend = error.mend.unwrap();
    assert!(mend.contains("--no-sandbox") && mend.contains("apt install bubblewrap"));
    // Programs that fail, as where user namespaces are not allowed.
    let place = tempfile::tempdir().unwrap();
    for name in ["bwrap", "unshare"] {
        let path = place.path().join(name);
        fs::write(
            &path,
            format!("#!/bin/sh\necho {name}: not permitted >&2\nexit 1\n"),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let error = Sandbox::find_by(&|name| Some(place.path().join(name)))
        .unwrap_err()
        .into_error("build it");
    assert!(
        error.why.contains("bubblewrap: bwrap: not permitted"),
        "{error}"
    );
    assert!(
        error.why.contains("namespaces: unshare: not permitted"),
        "{error}"
    );
}
