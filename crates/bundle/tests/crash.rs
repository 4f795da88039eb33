//! What remains when a process that writes a bundle is killed, or when the disk
//! is full.
//!
//! The process that is killed is this program itself, started again.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{files, head, recorded};
use assize_bundle::{Writer, read, read_run};

/// Environment variable of the writing process: the directory.
const DIRECTORY: &str = "ASSIZE_TEST_BUNDLE";
/// Environment variable that makes the output of its runs longer than the head.
const LONG: &str = "ASSIZE_TEST_LONG";
/// Arguments that make this program only write.
const ONLY_THE_WRITER: [&str; 3] = [
    "--exact",
    "--nocapture",
    "crash::a_process_that_may_be_killed_writes_a_bundle",
];
const RUNS: u32 = 200;
const KILLS: u32 = 50;

/// The process that gets killed: it records the missing runs of the schedule. Does nothing unless
/// started by [`child`].
#[test]
fn a_process_that_may_be_killed_writes_a_bundle() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let directory = Path::new(&directory);
    let begin = if directory.join("bundle.json").exists() {
        Writer::resume
    } else {
        Writer::create
    };
    let done = begin(directory, &head(RUNS)).and_then(|writer| {
        let there = writer.recorded()?;
        (0..RUNS)
            .filter(|index| !there.contains(index))
            .try_for_each(|index| {
                let mut run = recorded(index);
                if std::env::var_os(LONG).is_some() {
                    run.raw[0].1 = "x".repeat(1 << 20);
                }
                writer.put(&run)?;
                writer.log(&serde_json::json!({"index": index}))
            })
    });
    if let Err(error) = done {
        // Bypass the test harness, which would print more.
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn child(directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(ONLY_THE_WRITER);
    command.env(DIRECTORY, directory).stdout(Stdio::null());
    command
}

#[test]
fn a_killed_process_loses_at_most_the_run_in_flight() -> Result<(), Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    let (mut state, mut unfinished, mut round) = (0x9e37_79b9_7f4a_7c15_u64, 0, 0);
    for kill in 0..KILLS {
        let directory = place.path().join(format!("bundle-{round}"));
        let mut process = child(&directory).spawn()?;
        // Marsaglia's xorshift, for reproducible delays.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        std::thread::sleep(Duration::from_micros(2_000 + state % 200_000));
        process.kill()?;
        process.wait()?;
        if !directory.join("bundle.json").exists() {
            continue;
        }
        let left = files(&directory).len();
        let whole = check(&directory);
        unfinished += usize::from(left > 3 + 3 * whole);
        if whole == RUNS as usize {
            round += 1;
        }
        println!("kill {kill}: {whole} runs");
    }
    println!("{unfinished} kills left a run in flight");
    // A bundle whose writers were killed repeatedly ends up identical to an
    // undisturbed one.
    let directory = place.path().join(format!("bundle-{round}"));
    assert!(child(&directory).status()?.success());
    let untouched = place.path().join("untouched");
    assert!(child(&untouched).status()?.success());
    assert_eq!(files(&directory), files(&untouched));
    Ok(())
}

/// Checks that every recorded run is complete; returns their number.
fn check(directory: &Path) -> usize {
    let records = read(directory).unwrap();
    let there = Writer::resume(directory, &head(RUNS))
        .unwrap()
        .recorded()
        .unwrap();
    assert_eq!(records.runs.len(), there.len());
    for &index in &there {
        let mut run = recorded(index);
        run.raw[0].0 = format!("{index:04}-tool.txt");
        assert_eq!(read_run(directory, index).unwrap(), run);
    }
    assert_eq!(
        files(directory).len(),
        3 + 3 * there.len(),
        "nothing else is left"
    );
    there.len()
}

/// A limit on file sizes simulates a full disk: writing fails in the same place,
/// for another reason.
#[test]
fn no_room_is_one_error_and_leaves_nothing_half_written() -> Result<(), Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    let directory = place.path().join("bundle");
    let largest = head_size(place.path());
    // Enough for the head, but not for a run. The shell counts in units of 512
    // bytes.
    let script = format!(
        "trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"",
        largest.div_ceil(512)
    );
    fs::create_dir(&directory)?;
    let done = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe()?)
        .args(ONLY_THE_WRITER)
        .env(DIRECTORY, &directory)
        .env(LONG, "1")
        .output()?;
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success());
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.contains("bundle/") && text.contains("File too large"),
        "{text}"
    );
    assert_eq!(read(&directory)?.runs.len(), 0);
    let names: Vec<String> = files(&directory).into_keys().collect();
    assert_eq!(names, ["/bundle.json", "/lock", "/lock.put"]);
    // With room again it can be resumed.
    assert!(child(&directory).status()?.success());
    assert_eq!(read(&directory)?.runs.len(), RUNS as usize);
    Ok(())
}

fn head_size(place: &Path) -> u64 {
    let directory = place.join("head");
    drop(Writer::create(&directory, &head(RUNS)).unwrap());
    fs::metadata(directory.join("bundle.json")).unwrap().len()
}
