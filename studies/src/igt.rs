//! Runs tests of IGT, the test suite for GPU drivers, on simgpu in the exact machine: those that
//! need no particular hardware.
//!
//! Debian packages IGT's library and tools but not its tests. So the tests are compiled from given
//! sources of the same version against Debian's library. `igt/known.txt` has the expected result of
//! each subtest.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use assize_target::kernels::Kernels;

use xtask::command::{command, run as run_command};
use xtask::guest::{Machine, list};
use xtask::{Error, assize, files, kmod, marks, tree};

const PAGE: &str = "studies/igt.md";
const MARK: &str = "made: cargo studies igt --write";
const KNOWN: &str = "studies/src/igt/known.txt";
/// The kernel. Its `sw_sync`, which Debian does not build, is compiled from its sources.
const KERNEL: &str = "debian:6.12";
const SERIES: &str = "6.12";
/// The packages with the library, and those with the headers that IGT's include.
const PACKAGES: &[&str] = &[
    "intel-gpu-tools",
    "libcairo2-dev",
    "libdrm-dev",
    "libglib2.0-dev",
    "libkmod-dev",
    "libpciaccess-dev",
    "libpixman-1-dev",
    "libproc2-dev",
    "libudev-dev",
];
const INCLUDES: &[&str] = &[
    "",
    "/libdrm",
    "/cairo",
    "/pixman-1",
    "/glib-2.0",
    "/x86_64-linux-gnu",
];

/// Test programs, each with the subtests to run; empty for all.
const TESTS: &[(&str, &str)] = &[
    ("core_auth", ""),
    ("core_getclient", ""),
    ("core_getversion", ""),
    ("core_setmaster", ""),
    ("dmabuf_sync_file", ""),
    ("prime_self_import", ""),
    // The other subtests busy-wait, which takes minutes on emulated CPUs.
    ("sw_sync", "*,!sync_multi_*consumer*,!sync_random_merge"),
    ("syncobj_basic", ""),
    ("syncobj_timeline", ""),
    ("syncobj_wait", ""),
];

/// The result of each subtest, by program and name.
type Results = BTreeMap<(String, String), String>;

/// `cargo studies igt --sources DIRECTORY [--fresh] [--write]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let mut words = arguments.iter().map(String::as_str);
    let (mut sources, mut fresh, mut write) = (None, false, false);
    while let Some(word) = words.next() {
        match word {
            "--sources" => sources = words.next().map(PathBuf::from),
            "--fresh" => fresh = true,
            "--write" => write = true,
            _ => return Err(format!("{word}: no such option")),
        }
    }
    let sources = sources.ok_or(
        "--sources: name the directory of IGT's sources, version 1.27.1, \
         as `apt-get source intel-gpu-tools` makes it",
    )?;
    let begun = Instant::now();
    let place = tree::target()?.join("igt");
    let root = unpack(&place)?;
    let programs = compile(&place, &root, &sources)?;
    let sw_sync = sw_sync(&place)?;
    let results = carry_out(&programs, &sw_sync, fresh)?;
    println!("{:.0} s", begun.elapsed().as_secs_f64());
    let known = tree::read(KNOWN)?.unwrap_or_default();
    if write {
        return put(&results, &known);
    }
    compare(&results, &read_known(&known))
}

/// Unpacks Debian's packages without installing them.
fn unpack(place: &Path) -> Result<PathBuf, Error> {
    let root = place.join("root");
    if root.exists() {
        return Ok(root);
    }
    let files = place.join("packages");
    files::create(&files)?;
    let mut download = command("apt-get", &["-qq", "download"])?;
    download.args(PACKAGES).current_dir(&files);
    run_command(download)?;
    // Renamed at the end, so that the directory is complete or absent.
    let partial = place.join("root.partial");
    for package in files::entries(&files)? {
        let mut unpack = command("dpkg-deb", &["-x"])?;
        unpack.arg(package).arg(&partial);
        run_command(unpack)?;
    }
    fs::rename(&partial, &root).map_err(files::fault(&root))?;
    Ok(root)
}

/// Compiles the tests against the unpacked library.
fn compile(place: &Path, root: &Path, sources: &Path) -> Result<PathBuf, Error> {
    let programs = place.join("programs");
    let config = programs.join("config.h");
    let text = "#define HAVE_UDEV 1\n#define HAVE_LIBKMOD 1\n#define PACKAGE_VERSION \"1.27.1\"\n";
    files::write(&config, text)?;
    let libraries = root.join("usr/lib/x86_64-linux-gnu");
    for (test, _) in TESTS {
        let mut cc = command("gcc", &["-O2", "-std=gnu11", "-D_GNU_SOURCE", "-w"])?;
        cc.arg(format!("-I{}", programs.display()));
        for part in [
            "lib",
            "include/drm-uapi",
            "include",
            "lib/stubs/syscalls",
            ".",
        ] {
            cc.arg(format!("-I{}", sources.join(part).display()));
        }
        for part in INCLUDES {
            cc.arg(format!("-I{}/usr/include{part}", root.display()));
        }
        cc.arg(format!("-I{}/glib-2.0/include", libraries.display()))
            .arg("-o")
            .arg(programs.join(test))
            .arg(sources.join(format!("tests/{test}.c")))
            .arg(format!("-L{}", libraries.display()))
            .arg(format!("-Wl,-rpath,{}", libraries.display()))
            .args(["-Wl,--allow-shlib-undefined", "-l:libigt.so.0"])
            .args(["-l:libdrm.so.2", "-lm", "-lpthread", "-lrt"]);
        run_command(cc)?;
    }
    Ok(programs)
}

/// Builds the kernel's `sw_sync` (fences that user space signals) as a module, because no Debian
/// kernel has it.
fn sw_sync(place: &Path) -> Result<PathBuf, Error> {
    let kernels = Kernels::new(Kernels::default_root().map_err(|error| error.to_string())?);
    let parts = &["drivers/dma-buf"];
    let source = kernels.fetch_source_parts(SERIES, parts, &mut |line| println!("{line}"));
    let source = source.map_err(|error| error.to_string())?.tree;
    let module = place.join("sw_sync");
    let file = |name: &str| -> Result<String, Error> {
        files::read(&source.join("drivers/dma-buf").join(name))
    };
    let texts = [
        ("main.c", file("sw_sync.c")?),
        ("sync_debug.h", file("sync_debug.h")?),
        ("sync_debug.c", as_module(&file("sync_debug.c")?)),
        (
            "sync_trace.h",
            file("sync_trace.h")?.replace("../../drivers/dma-buf", "."),
        ),
        (
            "Kbuild",
            "obj-m := sw_sync.o\nsw_sync-y := main.o sync_debug.o\nCFLAGS_main.o := -I$(src)\n"
                .into(),
        ),
    ];
    for (name, text) in texts {
        files::write(&module.join(name), text)?;
    }
    run_command(kmod::headers(KERNEL)?.make(&module)?)?;
    Ok(module.join("sw_sync.ko"))
}

/// Replaces sync_file_get_name(), which modules cannot call, by the name that the user gave.
fn as_module(text: &str) -> String {
    let named = text.replace(
        "sync_file_get_name(sync_file, buf, sizeof(buf))",
        "sync_file->user_name",
    );
    format!(
        "#include <linux/module.h>\n{named}\nMODULE_DESCRIPTION(\"sw_sync\");\nMODULE_LICENSE(\"GPL\");\n"
    )
}

fn carry_out(programs: &Path, sw_sync: &Path, fresh: bool) -> Result<Results, Error> {
    let runs = files::scratch("igt/runs")?;
    let machine = Machine {
        kernel: KERNEL.into(),
        place: runs,
        assize: assize::build()?,
        fresh,
    };
    let text = experiment(programs, sw_sync);
    let mut results = Results::new();
    for run in machine.run("igt", &text)? {
        results.extend(read(&run.workload, &run.stdout));
    }
    Ok(results)
}

fn experiment(programs: &Path, sw_sync: &Path) -> String {
    let path = |test: &str| programs.join(test).display().to_string();
    let all: Vec<String> = TESTS.iter().map(|(test, _)| path(test)).collect();
    let mut text = format!(
        "title = \"IGT on simgpu\"\nkernel = {KERNEL:?}\nruns = 1\ncpus = 2\nmemory = \"512M\"\n\
         timeout = \"100s\"\n[[setup]]\nmodule = {sw_sync:?}\n[[setup]]\nmodule = \"simgpu\"\n\
         [payload]\nprograms = {}\n",
        list(&all)
    );
    for (test, subtests) in TESTS {
        let mut argv = vec![path(test)];
        if !subtests.is_empty() {
            argv.extend(["--run-subtest".into(), (*subtests).into()]);
        }
        let _ = writeln!(
            text,
            "[workloads.{test}]\nkind = \"command\"\nargv = {}",
            list(&argv)
        );
    }
    text
}

/// The results of a program's subtests; a program without subtests counts as one.
fn read(test: &str, said: &str) -> Results {
    let mut results = Results::new();
    let mut put = |subtest: &str, result: &str| {
        results.insert((test.into(), subtest.into()), result.to_lowercase());
    };
    for line in said.lines() {
        let (subtest, rest) = match line.trim().strip_prefix("Subtest ") {
            Some(rest) => match rest.split_once(": ") {
                Some(parts) => parts,
                None => continue,
            },
            None => ("-", line),
        };
        let result = rest.split_once(" (").map_or("", |(result, _)| result);
        if ["SUCCESS", "SKIP", "FAIL", "CRASH", "TIMEOUT"].contains(&result) {
            put(subtest, result);
        }
    }
    if results.is_empty() {
        results.insert((test.into(), "-".into()), "nothing".into());
    }
    results
}

/// Parses lines of `program subtest result`, optionally followed by `#` and the reason.
fn read_known(text: &str) -> Results {
    let words = |line: &str| -> Option<((String, String), String)> {
        let line = line.split('#').next()?;
        let mut words = line.split_whitespace().map(String::from);
        Some(((words.next()?, words.next()?), words.next()?))
    };
    text.lines().filter_map(words).collect()
}

/// Prints the differences from the expected results; fails if there are any.
fn compare(results: &Results, known: &Results) -> Result<(), Error> {
    let mut names: Vec<_> = results.keys().chain(known.keys()).collect();
    names.sort();
    names.dedup();
    let mut differ = 0;
    for name in names {
        let word = |of: &Results| of.get(name).map_or("nothing", String::as_str).to_string();
        let (is, was) = (word(results), word(known));
        if is != was {
            println!("{} {}: {is}, not {was}", name.0, name.1);
            differ += 1;
        }
    }
    match differ {
        0 => Ok(()),
        _ => Err(format!("{differ} subtests differ from {KNOWN}")),
    }
}

/// The documented reason for a result that is not success.
fn reason<'a>(known: &'a str, name: &(String, String)) -> &'a str {
    let of = |line: &&str| {
        let mut words = line.split_whitespace();
        words.next() == Some(&name.0) && words.next() == Some(&name.1)
    };
    let line = known.lines().find(of).unwrap_or_default();
    line.split_once('#').map_or("", |(_, why)| why.trim())
}

/// Writes the results into the list and into the page.
fn put(results: &Results, known: &str) -> Result<(), Error> {
    let mut text = String::new();
    let mut page =
        String::from("\n\n| program | pass | skip | fail |\n| --- | --- | --- | --- |\n");
    for (test, _) in TESTS {
        let count = |wanted: &str| {
            let of = |(name, result): &(&(String, String), &String)| {
                name.0 == *test && *result == wanted
            };
            results.iter().filter(of).count()
        };
        let (pass, skip) = (count("success"), count("skip"));
        let all = results.keys().filter(|name| name.0 == *test).count();
        let _ = writeln!(
            page,
            "| `{test}` | {pass} | {skip} | {} |",
            all - pass - skip
        );
    }
    page += "\n| subtest | result | why |\n| --- | --- | --- |\n";
    for (name, result) in results {
        let why = reason(known, name);
        let _ = match why {
            "" => writeln!(text, "{} {} {result}", name.0, name.1),
            _ => writeln!(text, "{} {} {result} # {why}", name.0, name.1),
        };
        if result != "success" {
            let _ = writeln!(page, "| `{} {}` | {result} | {why} |", name.0, name.1);
        }
    }
    page += "\n";
    files::write(&tree::root()?.join(KNOWN), text)?;
    marks::write(PAGE, MARK, &page)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "IGT-Version: 1.27.1\nStarting subtest: a\nSubtest a: SUCCESS (0.000s)\n\
                        Subtest b: SKIP (0.001s)\nSubtest c: FAIL (0.010s)\nSubtest c failed.\n";

    #[test]
    fn subtests_and_their_results_are_read() {
        let results = read("t", SAID);
        let words: Vec<String> = results
            .iter()
            .map(|(name, result)| format!("{} {result}", name.1))
            .collect();
        assert_eq!(words, ["a success", "b skip", "c fail"]);
    }

    #[test]
    fn a_program_without_subtests_has_a_result_and_one_that_says_nothing_too() {
        let name = ("t".to_string(), "-".to_string());
        assert_eq!(read("t", "SUCCESS (0.000s)\n")[&name], "success");
        assert_eq!(read("t", "")[&name], "nothing");
    }

    #[test]
    fn what_differs_from_what_is_known_is_an_error() {
        let known = "t a success\nt b skip # it wants a display\nt c fail\n";
        assert_eq!(compare(&read("t", SAID), &read_known(known)), Ok(()));
        let worse = SAID.replace("a: SUCCESS", "a: FAIL");
        assert!(compare(&read("t", &worse), &read_known(known)).is_err());
        // A subtest that is no longer run must be noticed.
        let fewer = SAID.replace("Subtest b: SKIP (0.001s)\n", "");
        assert!(compare(&read("t", &fewer), &read_known(known)).is_err());
        let name = ("t".to_string(), "b".to_string());
        assert_eq!(reason(known, &name), "it wants a display");
    }

    #[test]
    fn every_program_is_carried_and_started() {
        let text = experiment(Path::new("/p"), Path::new("/m/sw_sync.ko"));
        for (test, _) in TESTS {
            assert_eq!(text.matches(&format!("\"/p/{test}\"")).count(), 2);
        }
    }
}
