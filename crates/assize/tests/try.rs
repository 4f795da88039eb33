//! `assize try`: patches with known effects, from a mailbox and from a git tree, and the
//! report on each.

use std::fs;

use crate::common::scheduler::{
    BROKEN, Edit, FEW, HEADER, KERNEL, MAIN, NEUTRAL, Place, SHORT, SLOWER, fated,
};
use crate::common::{Cache, Outcome, command, errors};
use serde_json::Value;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12"];
    each_patch_of_a_mailbox_is_said_to_do_what_was_planted = mailbox,
    a_range_whose_header_changes_is_built_with_it = range,
    a_change_of_the_whole_kernel_goes_on_from_packed_sources = package,
    what_cannot_be_tried_is_refused_before_a_run = refused,
    a_patch_that_runs_commands_writes_nothing_of_the_users = hostile,
    a_patch_that_crashes_in_some_runs_is_said_to_before_all_else = crashing,
    a_patch_that_crashes_in_every_run_has_a_verdict = crashing_always,
    a_crash_in_one_run_is_mentioned_everywhere_without_a_verdict = crashing_once,
    a_patch_that_warns_in_some_runs_is_said_to_before_all_else = warning,
}

/// The worker frees all finished jobs at once, instead of queueing itself for each.
const FASTER: &[Edit] = &[(
    MAIN,
    "\tjob = drm_sched_get_finished_job(sched);\n\tif (job)\n\t\tsched->ops->free_job(job);\n\n\
     \tdrm_sched_run_free_queue(sched);\n",
    "\twhile ((job = drm_sched_get_finished_job(sched)))\n\t\tsched->ops->free_job(job);\n\n",
)];
/// Moves all later fields of the struct, so that code built with the old header breaks.
const LARGER: &[Edit] = &[(
    HEADER,
    "struct drm_gpu_scheduler {\n",
    "struct drm_gpu_scheduler {\n\tunsigned long planted[64];\n",
)];

/// The readings of a patch's effects, by workload.
fn readings(patch: &Value) -> Vec<(String, String)> {
    let effects = patch["outcome"]["effects"].as_array();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let effects = effects.unwrap_or_else(|| panic!("{patch}")).iter();
    effects
        .map(|one| (word(&one["workload"]), word(&one["reading"])))
        .collect()
}

fn pairs(words: &[(&str, &str)]) -> Vec<(String, String)> {
    words
        .iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
        .collect()
}

fn mailbox() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.commit("drm/sched: Describe the module", NEUTRAL);
    place.commit("drm/sched: Include what is not there", BROKEN);
    place.git(&["revert", "--no-edit", "HEAD"]);
    place.commit("drm/sched: Free all finished jobs at once", FASTER);
    place.commit("drm/sched: Wait before each job", SLOWER);
    place.git(&["revert", "--no-edit", "HEAD"]);
    place.thread(6);
    let arguments = [
        "--base",
        KERNEL,
        "--patch",
        "thread.mbox",
        "--each",
        "--experiment",
        "short.toml",
        "--out",
        "each.bundle",
        "--quiet",
    ];
    let done = place.assize("try", &[&arguments[..], &["--json"]].concat());
    assert!(done.status.success(), "{}", errors(&done));
    let said: Value = serde_json::from_slice(&done.stdout).unwrap();
    let patches = said["patches"].as_array().unwrap();
    assert_eq!(said["title"], "drm/sched: Changes");
    assert_eq!(
        patches[0]["patch"]["author"],
        "Ann Author <ann@example.org>"
    );
    assert_eq!(patches[0]["patch"]["date"], "2026-11-02");
    // Other images may leave `window` undecided, but a patch without effect is never blamed.
    let neutral = readings(&patches[0]);
    assert_eq!(neutral[0], ("sync".to_owned(), "no_difference".to_owned()));
    assert!(
        ["no_difference", "undecided"].contains(&neutral[1].1.as_str()),
        "{said}"
    );
    let why = patches[1]["outcome"]["not_built"].as_str().unwrap();
    assert!(
        why.starts_with(&format!("{MAIN}:")) && why.contains("not-there.h"),
        "{why}"
    );
    // The next patch that builds has the same bytes as before.
    assert_eq!(patches[2]["outcome"], "same_bytes");
    let faster = readings(&patches[3]);
    assert_eq!(
        faster[1],
        ("window".to_owned(), "better".to_owned()),
        "{said}"
    );
    assert_eq!(
        readings(&patches[4]),
        pairs(&[("sync", "worse"), ("window", "worse")])
    );
    let slower = &patches[4]["outcome"]["effects"][0];
    assert!(slower["ratio"].as_f64().unwrap() > 2.0, "{slower}");
    // A revert has the configuration of the earlier build.
    assert_eq!(
        readings(&patches[5]),
        pairs(&[("sync", "better"), ("window", "better")])
    );
    assert_eq!(patches[5]["configuration"], patches[3]["configuration"]);
    let whole = said["whole"]["effects"].as_array().unwrap();
    assert_eq!(whole[1]["reading"], "better", "{said}");
    assert!(place.path().join("each.bundle/bundle.json").is_file());
    Ok(())
}

fn range() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.commit("drm/sched: Make room", LARGER);
    place.commit(
        "Documentation: Say more",
        &[("Documentation/gpu/x.rst", "x\n", "more\n")],
    );
    place.write("short.toml", &SHORT.replace("images = 1\n", ""));
    let arguments = [
        "HEAD~2..HEAD",
        "--experiment",
        "short.toml",
        "--runs",
        "3",
        "--quiet",
    ];
    let gate = ["--fail-on", "worse>50%"];
    let done = place.assize("try", &[&arguments[..], &gate].concat());
    assert!(done.status.success(), "{}", errors(&done));
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.starts_with("HEAD~2..HEAD: 2 patches\n"), "{text}");
    assert!(text.contains("drm/sched: Make room"), "{text}");
    assert!(
        text.contains("changed, but not run: Documentation/gpu/x.rst"),
        "{text}"
    );
    // The last lines give the command to repeat this, with the gate.
    let (verdicts, again) = text.split_once("\n** established").unwrap();
    // The code that runs for a job is unchanged. On a single memory image the module's other layout
    // may cost a per cent; over several it does not.
    assert!(!verdicts.contains("worse"), "{text}");
    assert!(again.contains("--fail-on 'worse>50%'"), "{text}");
    assert!(text.lines().count() <= 40 && text.lines().all(|line| line.chars().count() <= 72));
    // Modules that include the header were built with it.
    let bundle = fs::read_to_string(place.path().join("try.bundle/experiment.toml")).unwrap();
    assert!(bundle.contains("simgpu.ko"), "{bundle}");
    Ok(())
}

/// A change to the whole kernel is applied to packed sources of a Debian kernel, in a
/// directory without any tree.
fn package() -> Outcome {
    let (place, cache) = (tempfile::tempdir().unwrap(), Cache::new());
    let sources = cache.path().join("sources/6.12/6.12.1-1.git");
    fs::create_dir_all(sources.join("kernel/sched")).unwrap();
    fs::write(sources.join("kernel/sched/fair.c"), "x\n").unwrap();
    assize_series::GitRepository::pack(&sources, "debian:6.12 6.12.1-1").unwrap();
    let patch = |from: &str| {
        format!(
            "From: Ann Author <ann@example.org>\nDate: Mon, 2 Nov 2026 10:00:00 +0100\n\
             Subject: [PATCH] sched: Be fair\n\n---\n--- a/kernel/sched/fair.c\n\
             +++ b/kernel/sched/fair.c\n@@ -1 +1 @@\n-{from}\n+y\n"
        )
    };
    for (from, why) in [
        ("stale", "patch 1 (sched: Be fair) does not apply"),
        // The patch applies, but the result is not a kernel tree.
        ("x", "is not a kernel tree: it has no Makefile"),
    ] {
        fs::write(place.path().join("fair.mbox"), patch(from)).unwrap();
        let arguments = ["try", "--patch", "fair.mbox", "--base", KERNEL];
        let done = command(place.path(), &arguments)
            .env("ASSIZE_CACHE", cache.path())
            .output()
            .unwrap();
        let said = errors(&done);
        assert!(!done.status.success() && said.contains(why), "{said}");
        let left = fs::read_dir(place.path()).unwrap().count();
        assert_eq!(left, 1, "nothing was recorded");
    }
    Ok(())
}

fn refused() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.commit("sched: Be fair", &[("kernel/sched/fair.c", "x\n", "y\n")]);
    let fair = fs::read_to_string(place.thread(1)).unwrap();
    place.commit("drm/sched: Include what is not there", BROKEN);
    let thread = place.thread(1);
    let text = fs::read_to_string(&thread).unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    write("fair.mbox", &fair);
    write("half.mbox", &text.replace("1/1]", "1/2]"));
    write(
        "stale.mbox",
        &text.replace("-#include <linux/wait.h>", "-#include <linux/stale.h>"),
    );
    for (arguments, why) in [
        (
            &["HEAD~1", "--kernel", "debian:6.12"][..],
            "kernel/sched/fair.c: --kernel is for changes to modules",
        ),
        (&["HEAD~1"], "is not a kernel tree: it has no Makefile"),
        (&["HEAD..HEAD"], "no commit in it"),
        (&["nowhere"], "there is no commit nowhere"),
        (&["HEAD"], "not-there.h"),
        (&["HEAD", "--each"], "no commit of it builds"),
        (&["--patch", "half.mbox"], "patch 2 of 2 is missing"),
        (
            &["--patch", "stale.mbox"],
            "patch 1 (drm/sched: Include what is not there) does not apply",
        ),
        (
            &["--patch", "thread.mbox", "--base", "mine"],
            "--base mine: is not a commit of this git tree",
        ),
        (
            &[
                "--patch",
                "thread.mbox",
                "--base",
                "debian:6.12",
                "--kernel",
                "debian:6.1",
            ],
            "omit --base or --kernel",
        ),
        (
            &["--patch", "fair.mbox", "--base", "debian:6.12-rt"],
            "write debian:6.12",
        ),
        (
            &["--patch", "fair.mbox"],
            "patch 1 (sched: Be fair) does not apply",
        ),
        // The patch applies, but the result is not a kernel tree.
        (
            &["--patch", "fair.mbox", "--base", "HEAD~2"],
            "is not a kernel tree: it has no Makefile",
        ),
        (&["--patch", "none.mbox"], "none.mbox"),
    ] {
        let done = place.assize("try", &[arguments, &["--out", "refused.bundle"]].concat());
        let said = errors(&done);
        assert!(!done.status.success(), "{arguments:?}");
        assert!(said.contains(why), "{arguments:?}: {said}");
        assert!(
            !place.path().join("refused.bundle").exists(),
            "{arguments:?}"
        );
    }
    Ok(())
}

/// The Makefile of a posted patch runs commands, which must not reach files outside the sandbox.
fn hostile() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    let outside = tempfile::tempdir().unwrap();
    let makefile = "drivers/gpu/drm/scheduler/Makefile";
    let text = fs::read_to_string(place.path().join(makefile)).unwrap();
    for (name, more) in [("inside", &[][..]), ("outside", &["--no-sandbox"][..])] {
        let touched = outside.path().join(name);
        let shell = format!("ignored := $(shell touch {})\n{text}", touched.display());
        place.commit("drm/sched: Improve", &[(makefile, &*text, shell)]);
        place.thread(1);
        place.git(&["reset", "-q", "--hard", "HEAD~1"]);
        let done = place.assize("try", &[&["--patch", "thread.mbox"], more].concat());
        let said = errors(&done);
        if said.contains("no sandbox for code") {
            crate::common::skip(&said);
            return Ok(());
        }
        assert!(said.contains("identical"), "{said}");
        assert_eq!(done.status.code(), Some(0), "{said}");
        let answer = String::from_utf8_lossy(&done.stdout);
        assert!(answer.contains("no difference: the builds are identical"));
        assert!(!place.path().join("try.bundle").exists(), "nothing was run");
        assert_eq!(touched.exists(), !more.is_empty(), "{more:?}: {said}");
    }
    Ok(())
}

/// Tries the last commit; returns the output, standard error, and the status.
fn tried(place: &Place, more: &[&str]) -> (String, String, Option<i32>) {
    let fixed = ["HEAD", "--experiment", "few.toml", "--quiet"];
    let done = place.assize("try", &[&fixed[..], more].concat());
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    (text, errors(&done), done.status.code())
}

/// The output of `assize report` for a bundle in this format, on one line.
fn reported(place: &Place, bundle: &str, format: &str) -> String {
    let more = match format {
        "kcidb" => &["--kcidb-build", "me:1"][..],
        _ => &[],
    };
    let done = place.assize("report", &[&[bundle, "--format", format], more].concat());
    on_one_line(&String::from_utf8_lossy(&done.stdout).replace("&gt;", ">"))
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number of crashed runs of the patch, and the verdict on it.
fn crashes(place: &Place, bundle: &str) -> (u64, String) {
    let document: Value = serde_json::from_str(&reported(place, bundle, "json")).unwrap();
    let rows = document["outcomes"].as_array();
    let row = rows.and_then(|rows| rows.iter().find(|row| row["outcome"] == "crashed"));
    row.map_or((0, String::new()), |row| {
        assert_eq!((&row["count_baseline"], &row["n"]), (&0.into(), &8.into()));
        let signature = row["signatures"][0]["signature"].as_str().unwrap();
        assert!(signature.contains("drm_sched_"), "{signature}");
        let count = row["count"].as_u64().unwrap();
        (count, row["verdict"].as_str().unwrap().to_owned())
    })
}

fn crashing() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.write("few.toml", FEW);
    // The number of runs that draw a number depends on kernel and seeds; some runs must complete.
    let (count, verdict, mail, said, status) = (0..4)
        .find_map(|number| {
            let drawn = format!("drawn > {number}");
            place.commit("drm/sched: Die often", &fated(&drawn, "BUG_ON"));
            let _ = fs::remove_dir_all(place.path().join("x.bundle"));
            let (mail, said, status) = tried(&place, &["--out", "x.bundle"]);
            let (count, verdict) = crashes(&place, "x.bundle");
            if count == 8 {
                place.git(&["reset", "-q", "--hard", "HEAD~1"]);
            }
            (count < 8).then_some((count, verdict, mail, said, status))
        })
        .expect("one of these numbers lets a run complete");
    assert_eq!(verdict, "established", "{count}: {mail}");
    let mention = format!("0 of 8 -> {count} of 8 runs");
    let first = "Crashes with patched: worse: ";
    assert!(mail.starts_with(first), "{mail}");
    for part in [&mention[..], "(kernel BUG in drm_sched_", "8 times a side"] {
        assert!(on_one_line(&mail).contains(part), "{part}: {mail}");
    }
    assert_eq!(status, Some(0), "nothing was asked");
    assert!(
        said.contains(first) && said.contains("assize run-one"),
        "{said}"
    );
    let look = said.split("look into it: ").nth(1);
    let look = look.and_then(|rest| rest.lines().next()).unwrap();
    let words: Vec<&str> = look.split_whitespace().collect();
    let (verb, index) = (words[1], &words[2..]);
    let run = place.assize(verb, index);
    let shown = String::from_utf8_lossy(&run.stdout).into_owned() + &errors(&run);
    assert!(shown.contains("failed: kernel panic"), "{look}: {shown}");
    // A gate on a metric fails too.
    let (text, said, status) = tried(&place, &["--json", "--fail-on", "worse>50%"]);
    assert_eq!(status, Some(1), "{said}");
    let series: Value = serde_json::from_str(&text).unwrap();
    let of_patch = &series["patches"][0]["outcome"]["effects"][0];
    assert_eq!(
        (&of_patch["metric"], &of_patch["reading"]),
        (&"crashes".into(), &"worse".into())
    );
    assert!(
        series["ended"][0].as_str().unwrap().contains(&mention),
        "{text}"
    );
    for (format, sign) in [
        ("junit", "failures=\"1\""),
        ("ktap", "not ok 1 outcomes"),
        ("kcidb", "\"FAIL\""),
        ("github", "::error title=outcomes"),
        ("brief", first),
        ("html", &mention),
    ] {
        let text = reported(&place, "x.bundle", format);
        assert!(text.contains(sign), "{format}: {text}");
    }
    let page = reported(&place, "x.bundle", "html");
    assert!(page.find(&mention) < page.find("id=\"hero\""));
    let whole = reported(&place, "x.bundle", "mail");
    let metric = whole.find("(less is better)");
    assert!(
        whole.find(first).is_some_and(|at| Some(at) < metric),
        "{whole}"
    );
    place.carry_out_printed(&mail, &["try", "report"]);
    for format in ["text", "json", "html"] {
        let done = place.assize("report", &["x.bundle", "--format", format]);
        let text = String::from_utf8(done.stdout).unwrap();
        place.carry_out_printed(&text, &["run-one", "report"]);
    }
    Ok(())
}

fn crashing_always() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.write("few.toml", FEW);
    place.commit("drm/sched: Die", &fated("drawn >= 0", "BUG_ON"));
    let (mail, said, status) = tried(&place, &["--out", "x.bundle", "--fail-on", "worse>50%"]);
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(crashes(&place, "x.bundle"), (8, "established".to_owned()));
    for part in ["Crashes with patched: worse: ", "0 of 8 -> 8 of 8 runs"] {
        assert!(on_one_line(&mail).contains(part), "{part}: {mail}{said}");
    }
    Ok(())
}

fn crashing_once() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.write("few.toml", FEW);
    // Which number is drawn by only one run depends on kernel and seeds.
    let found = (0..12).find_map(|number| {
        let drawn = format!("drawn == {number}");
        place.commit("drm/sched: Die once", &fated(&drawn, "BUG_ON"));
        let out = format!("{number}.bundle");
        let (mail, said, status) = tried(&place, &["--out", &out]);
        let (count, verdict) = crashes(&place, &out);
        println!("{number} is drawn by {count} of 8 runs");
        place.git(&["reset", "-q", "--hard", "HEAD~1"]);
        (count == 1).then_some((out, verdict, mail, said, status))
    });
    let (out, verdict, mail, said, status) = found.expect("one of these numbers is drawn once");
    let mention = "0 of 8 -> 1 of 8 runs";
    assert_eq!(verdict, "undecided");
    assert!(on_one_line(&mail).contains(mention), "{mail}");
    assert_eq!((status, said.as_str()), (Some(0), ""));
    for format in [
        "brief", "mail", "html", "json", "junit", "ktap", "kcidb", "markdown",
    ] {
        let text = reported(&place, &out, format);
        let mentioned = text.contains(mention) || format == "json";
        assert!(mentioned, "{format}: {text}");
        for verdict in [
            "not ok",
            "\"FAIL\"",
            "<failure",
            "Crashes with patched: worse",
        ] {
            assert!(!text.contains(verdict), "{format}: {verdict}: {text}");
        }
    }
    Ok(())
}

fn warning() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.write("few.toml", FEW);
    let warn = fated("drawn > 0", "WARN_ON_ONCE");
    place.commit("drm/sched: Warn often", &warn);
    let (mail, ..) = tried(&place, &["--out", "warn.bundle"]);
    assert!(
        mail.starts_with("Kernel warnings with patched: worse: "),
        "{mail}"
    );
    assert_eq!(crashes(&place, "warn.bundle").0, 0);
    Ok(())
}
