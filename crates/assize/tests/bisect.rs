//! `assize bisect`: finds a planted commit among others that have no effect, have no relevant
//! effect, or do not build; and reports that a range contains no such commit.

use std::fs;
use std::process::{Command, Output};

use crate::common::scheduler::{BROKEN, Edit, FENCE, FEW, MAIN, NEUTRAL, Place, SLOWER, fated};
use crate::common::{Outcome, errors};
use serde_json::Value;

crate::common::tests! {
    needs ["agent", "QEMU", "kernel debian:6.12"];
    the_commit_that_was_planted_is_found_and_one_that_is_not_there_is_not = planted,
    nobody_is_convicted_of_what_came_in_steps = steps,
    the_commit_that_crashes_is_found = crashing,
    a_commit_is_convicted_by_rates_and_none_where_the_rate_stays = hunted,
    what_cannot_be_asked_is_refused_before_a_build = refused,
}

const CLAIM: &str = "new > old + 50% on busy_time_per_job in sync";
/// A module that builds but fails to load.
const UNLOADED: &[Edit] = &[(
    FENCE,
    "\tif (!sched_fence_slab)\n",
    "\tif (sched_fence_slab)\n",
)];
/// Keeps the CPU busy for 20 us per job.
const SLIGHTLY_SLOWER: &[Edit] = &[
    SLOWER[0],
    (
        MAIN,
        SLOWER[1].1,
        "\tudelay(20);\n\tfence = sched->ops->run_job(sched_job);",
    ),
];
/// Loads again, and keeps the CPU busy for another 20 us.
const SLOWER_AGAIN: &[Edit] = &[
    (FENCE, UNLOADED[0].2, UNLOADED[0].1),
    (MAIN, "\tudelay(20);\n", "\tudelay(40);\n"),
];
/// The number of the slower commit.
const SLOW: usize = 7;
/// In another range, the number of a commit that does not build.
const NOT_BUILT: usize = 12;
const COMMITS: usize = 16;
/// The commit before the slower one.
const NEIGHBOUR: &str = "drm/sched: Describe the module";
const OUT: &str = "out";

/// Makes a commit that only changes the words of a comment.
fn reword(place: &Place, number: usize) {
    let text = fs::read_to_string(place.path().join(FENCE)).unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    place.write(FENCE, &format!("/* {number}\n{rest}"));
    place.git(&["commit", "-qam", &format!("words {number}")]);
}

/// Makes sixteen commits after the tag `good`.
fn history(place: &Place) {
    place.git(&["tag", "good"]);
    for number in 1..=COMMITS {
        match number {
            6 => place.commit(NEIGHBOUR, NEUTRAL),
            SLOW => place.commit("drm/sched: Wait before each job", SLOWER),
            _ => reword(place, number),
        }
    }
    place.git(&["tag", "bad"]);
    place.git(&["checkout", "-q", "-b", "words", "good"]);
    for number in 1..=COMMITS {
        match number {
            NOT_BUILT => place.commit("drm/sched: Include what is not there", BROKEN),
            13 => drop(place.git(&["revert", "--no-edit", "HEAD"])),
            _ => reword(place, number),
        }
    }
    place.git(&["tag", "reworded"]);
}

fn bisect(place: &Place, range: &str, claim: &str, more: &[&str]) -> Output {
    let usual = ["--experiment", "short.toml", "--quiet", "--claim", claim];
    place.assize("bisect", &[&[range], &usual[..], more].concat())
}

fn json(done: &Output) -> Value {
    serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {}", errors(done)))
}

fn planted() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    history(&place);
    nothing_there(&place);
    let search = || {
        bisect(
            &place,
            "good..bad",
            CLAIM,
            &["--out", OUT, "--format", "json"],
        )
    };
    let done = search();
    assert_eq!(done.status.code(), Some(0), "{}", errors(&done));
    let said = json(&done);
    convicted(&said);
    // Whichever part of the saved state is lost, the same command gives the same answer.
    for lose in [nothing, the_last_verdict, the_verdicts] {
        lose(&place);
        let again = search();
        assert_eq!(json(&again), said, "{}", errors(&again));
    }
    explained(&place, &said);
    by_git(
        &place,
        said["answer"]["found"]["commit"]["commit"]
            .as_str()
            .unwrap(),
    );
    Ok(())
}

/// A range of rewordings and one commit that does not build, which needs no run. As that commit
/// cannot be tested, the last one is built next, and nothing else.
fn nothing_there(place: &Place) {
    let more = ["--out", "null", "--format", "json"];
    let done = bisect(place, "good..reworded", CLAIM, &more);
    assert_eq!(done.status.code(), Some(1), "{}", errors(&done));
    let said = json(&done);
    assert_eq!(said["answer"], "not_there", "{said}");
    assert_eq!((&said["builds"], &said["runs"]), (&4.into(), &0.into()));
    let tried = said["tried"].as_array().unwrap();
    let places: Vec<u64> = tried
        .iter()
        .map(|one| one["place"].as_u64().unwrap())
        .collect();
    assert_eq!(places, [8, NOT_BUILT as u64, COMMITS as u64]);
    assert!(tried[1]["result"]["not_built"].is_string(), "{said}");
    let because = said["tried"][0]["result"]["verdict"]["because"]
        .as_str()
        .unwrap();
    assert!(because.contains("identical"), "{because}");
    assert!(!place.path().join("null").exists(), "nothing was run");
}

fn convicted(said: &Value) {
    let found = &said["answer"]["found"];
    assert_eq!(found["place"], SLOW, "{said}");
    assert_eq!(
        found["commit"]["subject"],
        "drm/sched: Wait before each job"
    );
    assert_eq!(found["commit"]["date"], "2026-11-02");
    assert_eq!(found["parent"]["subject"], NEIGHBOUR);
    assert_eq!(found["verdict"]["outcome"], "upheld");
    let figure = &found["verdict"]["figures"][0];
    let number = |of: &Value| of.as_f64().unwrap();
    // 100 us per job by the clock of the machine; the rest of a job varies by a few us.
    let more = number(&figure["new"]) - number(&figure["old"]);
    assert_eq!(figure["unit"], "ns");
    assert!((90e3..110e3).contains(&more), "{figure}");
    assert!(number(&figure["interval"][0]) > 1.5, "{figure}");
    // GOOD and four of the sixteen; the first of them shows that there is something to find.
    assert_eq!(said["builds"], 5, "{said}");
    assert_eq!(said["tried"].as_array().unwrap().len(), 4, "{said}");
    // Runs: the commit's modules and its parent's, each against GOOD and against each other. All
    // other commits have the same modules as one of these.
    assert_eq!(said["runs"], 3 * 2 * 6, "{said}");
    assert!(
        said["tried"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["result"]["verdict"]["same_as"].is_string())
    );
}

fn nothing(_: &Place) {}

/// Removes the last verdict and some of its runs, as if the command had been killed during them.
fn the_last_verdict(place: &Place) {
    let file = place.path().join(OUT).join("bisect.json");
    let mut state: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let last = state["verdicts"].as_array_mut().unwrap().pop().unwrap();
    fs::write(file, state.to_string()).unwrap();
    let bundle = last["verdict"]["bundle"].as_str().unwrap();
    let runs = place.path().join(OUT).join(bundle).join("runs");
    for number in 5..12 {
        fs::remove_file(runs.join(format!("{number:04}.json"))).unwrap();
    }
}

fn the_verdicts(place: &Place) {
    fs::remove_file(place.path().join(OUT).join("bisect.json")).unwrap();
}

/// Checks that the suggested command attributes the difference.
fn explained(place: &Place, said: &Value) {
    let why = said["why"].as_str().unwrap();
    let words: Vec<&str> = why.split(' ').collect();
    assert_eq!(words[..2], ["assize", "why"], "{why}");
    let done = place.assize("why", &words[2..]);
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{why}: {}", errors(&done));
    let first = text.split("\n\n").next().unwrap();
    assert!(first.starts_with("old executes "), "{first}");
    // The planted loop waits for the clock.
    assert!(first.contains("timers and clock"), "{first}");
}

/// Checks that `git bisect run` finds the same commit, from exit statuses alone.
fn by_git(place: &Place, commit: &str) {
    place.git(&["bisect", "start", "bad", "good"]);
    let git = Command::new("git")
        .current_dir(place.path())
        .args([
            "bisect",
            "run",
            env!("CARGO_BIN_EXE_assize"),
            "bisect",
            "--test",
            "good",
        ])
        .args(["--claim", CLAIM, "--experiment", "short.toml", "--quiet"])
        .env("ASSIZE_CACHE", place.cache())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&git.stdout).into_owned();
    let first = format!("{commit} is the first bad commit");
    assert!(said.contains(&first), "{said}{}", errors(&git));
    place.git(&["bisect", "reset"]);
}

/// GOOD warns with one seed of twelve, and from the third of five commits on with most seeds.
fn hunted() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.write("short.toml", FEW);
    place.commit("drm/sched: Warn", &fated("drawn < 1", "WARN_ON_ONCE"));
    place.git(&["tag", "good"]);
    for number in 1..=5 {
        match number {
            1 => place.commit(NEIGHBOUR, NEUTRAL),
            3 => place.commit("drm/sched: Warn often", &[(MAIN, "drawn < 1", "drawn < 9")]),
            5 => place.commit(
                "drm/sched: Describe it again",
                &[(FENCE, NEUTRAL[0].2, NEUTRAL[0].1)],
            ),
            _ => reword(&place, number),
        }
    }
    place.git(&["tag", "bad"]);
    let hunt = |range: &str, out: &str| {
        let words = ["--hunt", "--experiment", "short.toml", "--quiet"];
        let words = [&[range], &words[..], &["--runs", "40", "--out", out]].concat();
        place.assize("bisect", &words)
    };
    let done = hunt("good..bad", OUT);
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.code(), Some(0), "{text}{}", errors(&done));
    for part in [
        "drm/sched: Warn often",
        "is the one of 5 commits that causes this:",
        "new fails more often than old",
        "runs, old in ",
        "Each comparison is decided at 99",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Whatever was lost, the journals give the same answer.
    the_verdicts(&place);
    let again = hunt("good..bad", OUT);
    assert_eq!(String::from_utf8_lossy(&again.stdout), text);
    // The null: both ends warn now and then, with other bytes.
    let done = hunt("good..bad~3", "null");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.code(), Some(1), "{text}{}", errors(&done));
    assert!(text.contains("Undecided whether the claim"), "{text}");
    let rates = text.split("failed in ").nth(1).unwrap();
    let old = rates.split("old in ").nth(1).unwrap();
    assert!(
        !rates.starts_with("0 of") && !old.starts_with('0'),
        "{text}"
    );
    Ok(())
}

/// The fourth of five commits crashes in most runs, and the claim is about crashes.
fn crashing() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.write("short.toml", FEW);
    place.git(&["tag", "good"]);
    for number in 1..=5 {
        match number {
            2 => place.commit(NEIGHBOUR, NEUTRAL),
            4 => place.commit("drm/sched: Die often", &fated("drawn > 0", "BUG_ON")),
            _ => reword(&place, number),
        }
    }
    place.git(&["tag", "bad"]);
    let claim = "new > old + 30% on crashes in sync";
    let done = bisect(&place, "good..bad", claim, &["--out", OUT]);
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.code(), Some(0), "{text}{}", errors(&done));
    for part in [
        "drm/sched: Die often",
        "crashes: 0 of ",
        "kernel BUG in drm_sched_",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    place.carry_out_printed(&text, &["bisect"]);
    // A crash does not show that a commit is not slower, so commits that crash cannot be tested for
    // that.
    let done = bisect(
        &place,
        "good..bad",
        "new > old on crashes",
        &["--out", "none"],
    );
    assert!(errors(&done).contains("has no margin"), "{}", errors(&done));
    Ok(())
}

/// Commits that add 20 us to a job of 30 us, fail in all runs, and add another 20 us.
fn steps() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.git(&["tag", "good"]);
    place.commit("drm/sched: Wait before each job", SLIGHTLY_SLOWER);
    place.git(&["tag", "slow"]);
    place.commit("drm/sched: Do not load", UNLOADED);
    place.commit("drm/sched: Wait longer", SLOWER_AGAIN);
    place.git(&["tag", "bad"]);
    let search = |range: &str, claim: &str, out: &str| {
        let done = bisect(&place, range, claim, &["--out", out, "--format", "json"]);
        assert_eq!(done.status.code(), Some(1), "{}", errors(&done));
        json(&done)
    };
    // Neither step has the whole effect, nor have the last two together.
    let whole = CLAIM.replace("50%", "90%");
    let said = search("good..bad", &whole, "whole");
    let found = &said["answer"]["not_of_one"];
    assert_eq!(
        found["commit"]["subject"], "drm/sched: Wait longer",
        "{said}"
    );
    assert_eq!(
        found["parent"]["subject"],
        "drm/sched: Wait before each job"
    );
    assert_eq!(found["verdict"]["outcome"], "refuted", "{said}");
    // For the second step, either of two commits may be the cause.
    let said = search("slow..bad", &CLAIM.replace("50%", "20%"), "second");
    let named = said["answer"]["one_of"].as_array().unwrap();
    let named: Vec<&Value> = named.iter().map(|one| &one["subject"]).collect();
    assert_eq!(named, ["drm/sched: Do not load", "drm/sched: Wait longer"]);
    let failed = said["tried"].to_string();
    assert!(failed.contains("every run failed: new on sync"), "{failed}");
    Ok(())
}

fn refused() -> Outcome {
    let Some(place) = Place::new() else {
        return Ok(());
    };
    place.git(&["tag", "good"]);
    reword(&place, 1);
    place.git(&["tag", "bad"]);
    let unknown = CLAIM.replace("busy_time_per_job", "busy_time_per_jb");
    for (range, claim, why) in [
        (
            "good..bad",
            &*unknown,
            "did you mean \"busy_time_per_job\"?",
        ),
        (
            "good..bad",
            "new > old on busy_time_per_job in sink",
            "\"sync\"",
        ),
        (
            "good..bad",
            "new = old on busy_time_per_job",
            "compared with itself",
        ),
        ("bad", CLAIM, "write GOOD..bad"),
        ("bad..good", CLAIM, "no commit in it"),
    ] {
        let done = bisect(&place, range, claim, &["--out", OUT]);
        let said = errors(&done);
        assert_eq!(done.status.code(), Some(2), "{range} {claim}: {said}");
        assert!(said.contains(why) && !said.contains("building"), "{said}");
        assert!(!place.path().join(OUT).exists(), "{range} {claim}");
    }
    // A whole-kernel build needs a tree that contains one.
    place.commit("sched: Be fair", &[("kernel/sched/fair.c", "x\n", "y\n")]);
    for (more, why) in [
        (&[][..], "is not a kernel tree: it has no Makefile"),
        (
            &["--kernel", "debian:6.12"],
            "kernel/sched/fair.c: --kernel is for changes to modules",
        ),
    ] {
        let done = bisect(
            &place,
            "bad..HEAD",
            CLAIM,
            &[&["--out", OUT], more].concat(),
        );
        let said = errors(&done);
        assert!(!done.status.success() && said.contains(why), "{said}");
        assert!(!place.path().join(OUT).exists());
    }
    // A mistake in the command line never makes git mark a commit as bad.
    for arguments in [
        &["--test", "good", "--claim", &unknown][..],
        &["--test", "nowhere", "--claim", CLAIM],
        &["--test", "good", "--claim", CLAIM, "--nonsense"],
        &["--test", "good"],
    ] {
        let done = place.assize("bisect", arguments);
        assert_eq!(
            done.status.code(),
            Some(255),
            "{arguments:?}: {}",
            errors(&done)
        );
    }
    Ok(())
}
