//! Plays music through ALSA with Debian's mpg123 and aplay.
//!
//! mpg123 could play by itself, but it gives up at an underrun that interrupts one of its
//! writes.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use assize_job::{AgentMessage, Audio, KeptOutput, RunStage};

use super::output;
use super::prepared::{Prepared, WorkloadContext};
use super::scratch::Directory;
use crate::process::{Body, ExecProgram, ProcessExit, program};
use crate::records::{failed, metric};
use crate::sys;

/// The music: frames of equal size, each of which can be decoded independently.
/// `music.py` generates it.
const MUSIC: &[u8] = include_bytes!("music.mp3");
/// Size of a frame in bytes, at 128 kbit/s and 48 kHz.
const FRAME: usize = 384;
/// Duration of a frame: 1152 samples.
const FRAME_NS: u64 = 24_000_000;
/// By how much music in the background outlasts the workload's timeout.
const MORE_NS: u64 = 10_000_000_000;
/// Maximum length of the music in the background.
const LONGEST_NS: u64 = 600_000_000_000;
/// The text before and after the length of an underrun in aplay's message.
const UNDERRUN: (&str, &str) = ("underrun!!! (at least ", " ms long)");

pub(super) fn prepare(audio: &Audio, context: &WorkloadContext<'_>) -> Result<Prepared, String> {
    let job = context.job;
    let duration_ns = match context.background {
        true => longest_music(job.timeout_ms),
        false => audio.duration_ns,
    };
    let frames = duration_ns.div_ceil(FRAME_NS);
    let all = (MUSIC.len() / FRAME) as u64;
    let first = context.stream("frame").below(all);
    let directory = Directory::new().map_err(sys::failure_of("music"))?;
    let file = directory.path().join("music.mp3");
    fs::write(&file, music(first, frames)).map_err(sys::failure_of(file.display()))?;
    let decoder = program(&decoder(&file), job.seed)?;
    let player = program(&player(audio), job.seed)?;
    let (name, music_ns, buffer_ns) =
        (context.name.to_string(), frames * FRAME_NS, audio.buffer_ns);
    Ok(Prepared {
        body: Body::Inside(Box::new(move || {
            play(&decoder, &player).map(|()| Vec::new())
        })),
        scheduling: audio.scheduling.clone(),
        statuses: vec![0],
        read: Box::new(move |left, elapsed_ns| {
            drop(directory);
            read(&name, left, elapsed_ns, music_ns, buffer_ns)
        }),
    })
}

/// Length of music that outlasts every workload with this timeout.
fn longest_music(timeout_ms: u64) -> u64 {
    match timeout_ms {
        0 => LONGEST_NS,
        ms => (ms.saturating_mul(1_000_000).saturating_add(MORE_NS)).min(LONGEST_NS),
    }
}

/// `frames` frames from `first` on, repeating from the beginning after the last.
fn music(first: u64, frames: u64) -> Vec<u8> {
    let all = MUSIC.chunks_exact(FRAME).cycle();
    let first = usize::try_from(first).unwrap_or(0);
    let frames = usize::try_from(frames).unwrap_or(usize::MAX);
    let wanted = all.skip(first).take(frames);
    wanted.flatten().copied().collect()
}

fn decoder(file: &Path) -> Vec<String> {
    let file = file.to_string_lossy();
    let words = [Audio::DECODER, "--quiet", "--stdout", &file];
    words.map(String::from).into()
}

fn player(audio: &Audio) -> Vec<String> {
    let buffer = format!("--buffer-time={}", audio.buffer_ns / 1000);
    let words = [
        Audio::PLAYER,
        "--quiet",
        "--device",
        &audio.device,
        "--file-type=raw",
        "--format=S16_LE",
        "--channels=2",
        "--rate=48000",
        &buffer,
    ];
    words.map(String::from).into()
}

/// Runs both programs to their end; the decoder's output is the player's input.
fn play(decoder: &ExecProgram, player: &ExecProgram) -> Result<(), String> {
    let mut decoding = start(decoder, Stdio::null(), Stdio::piped())?;
    let sound = decoding.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let playing = start(player, sound, Stdio::null())?;
    // If the player fails, the decoder fails too, since its output is not read.
    end(player, playing).and(end(decoder, decoding))
}

fn start(exec: &ExecProgram, stdin: Stdio, stdout: Stdio) -> Result<Child, String> {
    let mut command = Command::new(&exec.path);
    command.args(exec.arguments.iter().skip(1));
    command.envs(exec.environment.iter().cloned());
    let started = command.stdin(stdin).stdout(stdout).spawn();
    started.map_err(sys::failure_of(&exec.path))
}

fn end(exec: &ExecProgram, mut child: Child) -> Result<(), String> {
    let status = child.wait();
    let status = status.map_err(sys::failure_of(&exec.path))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{}: {status}", exec.path)),
    }
}

fn read(
    name: &str,
    left: &ProcessExit,
    elapsed_ns: u64,
    music_ns: u64,
    buffer_ns: u64,
) -> Vec<AgentMessage> {
    let mut records = output::output_records(name, KeptOutput::Head, left);
    // At the end, aplay may not wait until the buffer is played.
    if elapsed_ns + buffer_ns < music_ns {
        let (played, music) = (elapsed_ns / 1_000_000, music_ns / 1_000_000);
        records.push(failed(
            RunStage::Workload,
            name,
            format!(
                "the player ended after {played} ms of {music} ms of music: {}",
                left.last_lines()
            ),
        ));
        return records;
    }
    let metric = |name: &str, value: f64| metric(name, value, "ns");
    let silences = underrun_lengths(&left.stderr_text());
    records.push(AgentMessage::Events {
        event: "underruns".into(),
        count: silences.len() as u64,
        exposure_ns: elapsed_ns,
        span_ns: None,
        tolerated_ns: None,
        t_ns: Vec::new(),
    });
    records.push(metric("silence", silences.iter().sum::<u64>() as f64));
    records.push(metric("player_cpu_time", left.used.total_ns() as f64));
    records
}

/// The length of each underrun, in nanoseconds.
fn underrun_lengths(stderr: &str) -> Vec<u64> {
    let lengths = stderr.lines().filter_map(|line| {
        let rest = line.trim_end().strip_prefix(UNDERRUN.0)?;
        // Milliseconds, with three decimals.
        let us = rest.strip_suffix(UNDERRUN.1)?.replacen('.', "", 1);
        Some(us.parse::<u64>().ok()?.saturating_mul(1000))
    });
    lengths.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::metric_value;
    use crate::sys::{ProcessEnd, ProcessUsage};

    #[test]
    fn the_music_is_frames_that_stand_alone() {
        assert_eq!(MUSIC.len() % FRAME, 0);
        for frame in MUSIC.chunks_exact(FRAME) {
            // MPEG-1 Layer III without a checksum, 128 kbit/s, 48 kHz, no
            // padding; and its data begin 0 bytes before the frame.
            assert_eq!(frame[..3], [0xff, 0xfb, 0x94]);
            assert_eq!((frame[4], frame[5] >> 7), (0, 0));
        }
    }

    #[test]
    fn music_goes_on_from_its_beginning() {
        let all = MUSIC.len() / FRAME;
        let last = u64::try_from(all - 1).unwrap_or(0);
        let some = music(last, 3);
        assert_eq!(some.len(), 3 * FRAME);
        assert_eq!(some[..FRAME], MUSIC[(all - 1) * FRAME..]);
        assert_eq!(some[FRAME..], MUSIC[..2 * FRAME]);
    }

    #[test]
    fn in_the_background_it_outlasts_the_workload() {
        assert_eq!(longest_music(60_000), 70_000_000_000);
        assert_eq!(longest_music(0), LONGEST_NS);
        assert_eq!(longest_music(u64::MAX), LONGEST_NS);
    }

    #[test]
    fn the_programs_are_told_file_device_and_buffer() {
        let file = decoder(Path::new("/tmp/a.mp3")).join(" ");
        assert_eq!(file, "mpg123 --quiet --stdout /tmp/a.mp3");
        let line = player(&Audio::default()).join(" ");
        assert!(
            line.starts_with("aplay --quiet --device hw:Dummy "),
            "{line}"
        );
        assert!(
            line.ends_with(" --rate=48000 --buffer-time=200000"),
            "{line}"
        );
    }

    #[test]
    fn a_pipeline_fails_with_either_of_its_programs() {
        let exec = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            program(&words, 0).unwrap_or_default()
        };
        let (good, bad) = (exec(&["true"]), exec(&["false"]));
        let reads = exec(&["cat"]);
        assert_eq!(play(&good, &reads), Ok(()));
        assert_eq!(
            play(&good, &bad),
            Err(format!("{}: exit status: 1", bad.path))
        );
        assert_eq!(
            play(&bad, &reads),
            Err(format!("{}: exit status: 1", bad.path))
        );
        let none = ExecProgram::default();
        assert!(play(&none, &reads).is_err() && play(&good, &none).is_err());
    }

    const TOLD: &str = "underrun!!! (at least 245.722 ms long)\n\
        underrun!!! (at least 0.100 ms long)\n";

    fn left(stderr: &str) -> ProcessExit {
        ProcessExit {
            end: ProcessEnd::Exited(0),
            used: ProcessUsage {
                user_ns: 50_000,
                system_ns: 20_000,
                peak_kib: 0,
            },
            failure: None,
            stdout: Vec::new(),
            stderr: stderr.into(),
            results: String::new(),
        }
    }

    #[test]
    fn underruns_are_those_that_aplay_tells_of() {
        assert_eq!(underrun_lengths(TOLD), [245_722_000, 100_000]);
        assert_eq!(
            underrun_lengths("overrun!!! (at least 1.000 ms long)\n"),
            [0; 0]
        );
        let records = read("music", &left(TOLD), 5_300, 5_000, 200);
        assert!(records.iter().any(|record| matches!(
            record,
            AgentMessage::Events {
                count: 2,
                exposure_ns: 5_300,
                span_ns: None,
                tolerated_ns: None,
                ..
            }
        )));
        let value = |wanted: &str| metric_value(&records, wanted);
        assert_eq!(value("silence"), Some(245_822_000.0));
        assert_eq!(value("player_cpu_time"), Some(70_000.0));
    }

    #[test]
    fn a_player_that_ends_early_has_failed() {
        let records = read("music", &left("no device\n"), 100, 5_000, 200);
        assert!(records.iter().any(|record| matches!(record,
            AgentMessage::Failed { why, .. } if why.ends_with("of music: no device"))));
        let all = read("music", &left(""), 4_900, 5_000, 200);
        assert!(
            !all.iter()
                .any(|record| matches!(record, AgentMessage::Failed { .. }))
        );
    }
}
