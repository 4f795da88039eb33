//! `cargo xtask validity`: how often the judge is wrong, by simulation.
//!
//! Every cell (noise, number of runs, true effect) is simulated many times and
//! judged by assize and by what people do by hand. Cells are cut into chunks
//! with seeds of their own, so the figures do not depend on the number of
//! threads.

mod methods;
mod noise;
mod report;

use methods::Found;
use noise::Noise;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where `--write` puts the report.
const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/validity.md");
/// Runs a side.
const RUNS: [usize; 5] = [3, 4, 5, 8, 12];
/// True effects; the first is none at all.
const EFFECTS: [f64; 4] = [0.0, 0.02, 0.05, 0.10];
/// Trials that share one seed.
const CHUNK: u32 = 250;

/// What the command line asks for.
struct Options {
    quick: bool,
    write: bool,
    seed: u64,
}

/// One combination of noise, runs and effect, and what was found in it.
struct Cell {
    noise: Noise,
    runs: usize,
    effect: f64,
    trials: u32,
    found: Found,
}

/// Runs the simulation; fails if `established` is wrong more often than 5 %.
pub(crate) fn main(args: &[String]) -> ExitCode {
    let options = match parse(args) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("xtask: validity: {why}");
            return ExitCode::from(2);
        }
    };
    let mut cells = cells(options.quick);
    simulate(&mut cells, options.seed);
    let text = report::text(&cells, options.seed, options.quick);
    let shown = std::io::stdout().write_all(text.as_bytes());
    let kept = if options.write {
        std::fs::write(REPORT, &text)
    } else {
        Ok(())
    };
    if let Err(why) = shown.and(kept) {
        eprintln!("xtask: validity: cannot write the report: {why}");
        return ExitCode::from(3);
    }
    let broken = report::broken(&cells);
    for cell in &broken {
        eprintln!("xtask: validity: {cell}");
    }
    ExitCode::from(u8::from(!broken.is_empty()))
}

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options {
        quick: false,
        write: false,
        seed: 1,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => options.quick = true,
            "--write" => options.write = true,
            "--seed" => {
                let seed = args.next().ok_or("--seed needs a number")?;
                options.seed = seed
                    .parse()
                    .map_err(|_| format!("--seed: not a number: {seed}"))?;
            }
            other => return Err(format!("unknown argument: {other}")),
        }
    }
    if options.quick && options.write {
        return Err("--write keeps full runs only, not --quick ones".into());
    }
    Ok(options)
}

/// All cells, with the number of trials that each can afford.
fn cells(quick: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for noise in Noise::ALL {
        for runs in RUNS {
            for effect in EFFECTS {
                // Beyond a million relabelings a trial costs 100 times more.
                let dear = runs == 12 && !noise.is_blocked();
                let trials = match (quick, dear, effect == 0.0) {
                    (true, true, _) => CHUNK,
                    (true, false, _) => 4 * CHUNK,
                    (false, true, true) => 8 * CHUNK,
                    (false, true, false) => 2 * CHUNK,
                    (false, false, true) => 80 * CHUNK,
                    (false, false, false) => 20 * CHUNK,
                };
                cells.push(Cell {
                    noise,
                    runs,
                    effect,
                    trials,
                    found: Found::default(),
                });
            }
        }
    }
    cells
}

/// Fills in what is found in each cell, on all processors.
fn simulate(cells: &mut [Cell], seed: u64) {
    let chunks: Vec<(usize, u32)> = cells
        .iter()
        .enumerate()
        .flat_map(|(index, cell)| (0..cell.trials / CHUNK).map(move |chunk| (index, chunk)))
        .collect();
    let next = AtomicUsize::new(0);
    let sums = Mutex::new(vec![Found::default(); cells.len()]);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let shared: &[Cell] = cells;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&(index, chunk)) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = trials(&shared[index], seed, index as u64, u64::from(chunk));
                    if let Ok(mut sums) = sums.lock() {
                        sums[index].add(&found);
                    }
                }
            });
        }
    });
    if let Ok(sums) = sums.into_inner() {
        for (cell, found) in cells.iter_mut().zip(sums) {
            cell.found = found;
        }
    }
}

/// One chunk of trials, a pure function of its arguments.
fn trials(cell: &Cell, seed: u64, index: u64, chunk: u64) -> Found {
    let mut found = Found::default();
    let mut source = noise::Source::new(seed, index, chunk);
    for _ in 0..CHUNK {
        let trial = cell.noise.trial(cell.runs, cell.effect, &mut source);
        found.add(&methods::judge(&trial, cell.effect, source.seed()));
    }
    found
}
