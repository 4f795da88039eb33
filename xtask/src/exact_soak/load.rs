//! The background load: one process of this command for each part.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::fs::{Advice, fadvise, fsync};
use rustix::process::{Signal, getppid, set_parent_process_death_signal, setpriority_process};

use super::child::Group;
use crate::command::works;
use crate::draw::Draws;
use crate::{Error, files, tree};

/// The argument that makes this program a part of the load.
pub(super) const WORD: &str = "--load";
/// The parts, with the number of processes of each: next to four parallel runs, more than 16
/// processes compete for CPU or disk.
const PARTS: [(&str, usize); 6] = [
    ("loop", 6),
    ("gcc", 4),
    ("rustc", 2),
    ("disk", 4),
    ("cache", 1),
    ("memory", 1),
];
/// Bytes that a writer writes before dropping them from the page cache.
const WRITTEN: usize = 64 << 20;
/// Size of one read or write, in bytes.
const PIECE: usize = 1 << 20;

/// The strength of the load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strength {
    pub(super) seed: u64,
    pub(super) nice: i32,
    /// Maximum memory that the memory hogs use together, in bytes.
    pub(super) memory: u64,
}

/// The whole load; it ends on drop.
pub(super) struct Load {
    groups: Vec<Group>,
    /// The processes among these that use memory.
    memory: Vec<u32>,
    /// Descriptions of the running parts.
    pub(super) parts: Vec<String>,
    /// Parts that cannot run here, with reasons.
    pub(super) skipped: Vec<String>,
}

impl Load {
    /// Starts all parts that can run on this host. Files go to `place`.
    pub(super) fn start(place: &Path, strength: Strength) -> Result<Load, Error> {
        let mut load = Load {
            groups: Vec::new(),
            memory: Vec::new(),
            parts: Vec::new(),
            skipped: Vec::new(),
        };
        for (part, count) in PARTS {
            let compiles = ["gcc", "rustc"].contains(&part);
            if compiles && !works(part, &["--version"]) {
                load.skipped.push(format!("{part} is not installed"));
                continue;
            }
            for _ in 0..count {
                load.add(part, place, strength)?;
            }
            load.parts.push(format!("{count} x {part}"));
        }
        Ok(load)
    }

    fn add(&mut self, part: &str, place: &Path, strength: Strength) -> Result<(), Error> {
        let number = self.groups.len();
        let mut command = this_command()?;
        command
            .args([WORD, part])
            .arg(place)
            .args([number.to_string(), strength.seed.to_string()])
            .args([strength.nice.to_string(), strength.memory.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let group = Group::start(&mut command).map_err(|why| format!("start {part}: {why}"))?;
        if ["cache", "memory"].contains(&part) {
            self.memory.push(group.id());
        }
        self.groups.push(group);
        Ok(())
    }

    /// The processes that use memory.
    pub(super) fn memory(&self) -> impl Iterator<Item = u32> {
        self.memory.iter().copied()
    }
}

/// This program as a process of the soak.
pub(super) fn this_command() -> Result<Command, Error> {
    let me = std::env::current_exe().map_err(|why| format!("find this command: {why}"))?;
    let mut command = Command::new(me);
    command.arg("exact-soak").current_dir(tree::root()?);
    Ok(command)
}

/// Makes the kernel kill this process when the thread that started it ends.
pub(super) fn end_with_parent() -> Result<(), Error> {
    let why = |why: rustix::io::Errno| format!("be killed with the parent: {why}");
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(why)?;
    // The parent may already have ended.
    match getppid().is_some_and(|parent| !parent.is_init()) {
        true => Ok(()),
        false => Err("the parent has ended".into()),
    }
}

/// A part of the load: `--load PART PLACE NUMBER SEED NICE MEMORY`.
pub(super) fn main(arguments: &[String]) -> Result<(), Error> {
    let [part, place, numbers @ ..] = arguments else {
        return Err("--load PART PLACE NUMBER SEED NICE MEMORY".into());
    };
    let numbers: Vec<u64> = numbers
        .iter()
        .filter_map(|word| word.parse().ok())
        .collect();
    let &[number, seed, nice, memory] = &numbers[..] else {
        return Err("--load: four numbers".into());
    };
    end_with_parent()?;
    let nice = i32::try_from(nice).unwrap_or(19);
    setpriority_process(None, nice).map_err(|why| format!("be nice: {why}"))?;
    let file = Path::new(place).join(format!("{part}-{number}"));
    let mut draws = Draws::new(seed, number);
    match part.as_str() {
        "loop" => spin(),
        "gcc" | "rustc" => compile(part, &file, &mut draws),
        "disk" => write_and_drop(&file, &mut draws),
        "cache" => fill_cache(&file, memory),
        "memory" => take_memory(memory, &mut draws),
        other => Err(format!("--load {other}: unknown")),
    }
}

fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// Compiles one new source after another.
fn compile(compiler: &str, file: &Path, draws: &mut Draws) -> Result<(), Error> {
    loop {
        let functions = 200 + draws.below(400);
        let (source, text) = match compiler {
            "gcc" => (file.with_extension("c"), c(functions, draws)),
            _ => (file.with_extension("rs"), rust(functions, draws)),
        };
        files::write(&source, text)?;
        let object = file.with_extension("o");
        let mut command = Command::new(compiler);
        match compiler {
            "gcc" => command.args(["-O2", "-w", "-c"]),
            _ => command.args(["-Copt-level=2", "--cap-lints=allow", "--emit=obj"]),
        };
        command.arg(&source).arg("-o").arg(&object);
        let status = command
            .status()
            .map_err(|why| format!("{compiler}: {why}"))?;
        if !status.success() {
            return Err(format!("{compiler} {}: {status}", source.display()));
        }
    }
}

fn c(functions: usize, draws: &mut Draws) -> String {
    let function = |n: usize| {
        let (a, b) = (1 + draws.below(97), 1 + draws.below(89));
        format!(
            "long f{n}(long *x, long n) {{ long s = {a}; for (long i = 0; i < n; i++) {{ \
             s += x[i] * {a} + (s >> {}); x[i] ^= s % {b}; }} return s; }}\n",
            b % 7
        )
    };
    (0..functions).map(function).collect()
}

fn rust(functions: usize, draws: &mut Draws) -> String {
    let function = |n: usize| {
        let (a, b) = (1 + draws.below(97), 1 + draws.below(89));
        format!(
            "pub fn f{n}(x: &mut [i64]) -> i64 {{ let mut s = {a}i64; for y in x.iter_mut() {{ \
             s = s.wrapping_add(*y * {a}) ^ (s >> {}); *y ^= s % {b}; }} s }}\n",
            b % 7
        )
    };
    let functions: String = (0..functions).map(function).collect();
    format!("#![crate_type = \"lib\"]\n{functions}")
}

/// Writes a file, syncs it to disk, and drops it from the page cache.
fn write_and_drop(file: &Path, draws: &mut Draws) -> Result<(), Error> {
    let fault = |why: String| format!("{}: {why}", file.display());
    let mut out = File::create(file).map_err(|why| fault(why.to_string()))?;
    let mut piece = vec![0u8; PIECE];
    loop {
        let at = draws.below(PIECE);
        piece[at] = piece[at].wrapping_add(1);
        out.seek(SeekFrom::Start(0))
            .map_err(|why| fault(why.to_string()))?;
        for _ in 0..WRITTEN / PIECE {
            out.write_all(&piece)
                .map_err(|why| fault(why.to_string()))?;
        }
        fsync(&out).map_err(|why| fault(why.to_string()))?;
        fadvise(&out, 0, None, Advice::DontNeed).map_err(|why| fault(why.to_string()))?;
        thread::sleep(draws.time(0, 50));
    }
}

/// Repeatedly reads a sparse file larger than memory, which fills the page cache.
fn fill_cache(file: &Path, memory: u64) -> Result<(), Error> {
    let fault = |why: std::io::Error| format!("{}: {why}", file.display());
    let mut hole = File::options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(file)
        .map_err(fault)?;
    hole.set_len(8 * memory).map_err(fault)?;
    let mut piece = vec![0u8; PIECE];
    loop {
        hole.seek(SeekFrom::Start(0)).map_err(fault)?;
        while hole.read(&mut piece).map_err(fault)? > 0 {}
    }
}

/// Allocates and frees memory.
fn take_memory(memory: u64, draws: &mut Draws) -> Result<(), Error> {
    // Makes this process the OOM killer's first choice.
    fs::write("/proc/self/oom_score_adj", "1000").map_err(|why| format!("oom_score_adj: {why}"))?;
    let most = usize::try_from(memory / 4).unwrap_or(usize::MAX);
    loop {
        let bytes = most / 2 + draws.below(most / 2);
        let mut taken = vec![0u8; bytes];
        for at in (0..bytes).step_by(4096) {
            taken[at] = 1;
        }
        black_box(&taken);
        thread::sleep(draws.time(20, 400));
        drop(taken);
        thread::sleep(Duration::from_millis(20));
    }
}
