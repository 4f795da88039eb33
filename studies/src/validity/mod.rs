//! `cargo studies validity`: how often the verdicts are wrong, by simulation.
//!
//! Each case plants a truth in records, judges them like every verb of the command, and counts
//! verdicts, sentences and claims. Cases are split into chunks with separate random numbers, so
//! that figures do not depend on the number of threads.

mod cases;
mod noise;
mod peers;
mod planted;
mod report;
mod source;
mod tally;
mod trial;

use cases::{CHUNK, Case};
use source::Source;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tally::Tally;
use xtask::{Error, marks};

/// The page for the summary, with `--write`.
const PAGE: &str = "docs/validity.md";
/// The page for the tables behind it.
const TABLES: &str = "studies/validity.md";

/// The options of the command.
struct Options {
    quick: bool,
    write: bool,
    seed: u64,
    /// Simulates only cases whose description contains this text.
    only: String,
}

/// `cargo studies validity`: simulates, reports, and fails if a goal is missed.
pub(crate) fn run(arguments: &[String]) -> Result<(), Error> {
    let options = parse(arguments)?;
    let cases = simulated(&options);
    for (page, mark, text) in report::parts(&cases) {
        println!("<!-- {mark} -->{text}");
        if options.write {
            marks::write(page, &mark, &text)?;
        }
    }
    unbroken(&cases)
}

fn unbroken(cases: &[Case]) -> Result<(), Error> {
    let broken = report::broken(cases);
    match broken.is_empty() {
        true => Ok(()),
        false => Err(broken.join("\n")),
    }
}

fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options {
        quick: false,
        write: false,
        seed: 1,
        only: String::new(),
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
            "--only" => {
                options.only = args.next().ok_or("--only needs a part of a name")?.clone();
            }
            other => return Err(format!("unknown argument: {other}")),
        }
    }
    if options.write && (options.quick || !options.only.is_empty()) {
        return Err("--write keeps full reports only: not with --quick or --only".into());
    }
    Ok(options)
}

/// Simulates the cases on all CPUs, and counts. A quick run leaves out slow cases.
fn simulated(options: &Options) -> Vec<Case> {
    let mut cases = cases::all();
    cases.retain(|case| case.chunks(options.quick) > 0 && case.what.contains(&options.only));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    count(&mut cases, options.quick, options.seed, threads);
    cases
}

/// Simulates each case and adds to its counts.
fn count(cases: &mut [Case], quick: bool, seed: u64, threads: usize) {
    let chunks: Vec<(usize, u32)> = cases
        .iter()
        .enumerate()
        .flat_map(|(index, case)| (0..case.chunks(quick)).map(move |chunk| (index, chunk)))
        .collect();
    let next = AtomicUsize::new(0);
    let sums = Mutex::new(vec![Tally::default(); cases.len()]);
    let shared: &[Case] = cases;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&(index, chunk)) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tally = simulate(&shared[index], seed, chunk);
                    if let Ok(mut sums) = sums.lock() {
                        sums[index].add(&tally);
                    }
                }
            });
        }
    });
    if let Ok(sums) = sums.into_inner() {
        for (case, tally) in cases.iter_mut().zip(sums) {
            case.tally = tally;
        }
    }
}

/// Simulates one chunk of documents; a pure function of its arguments.
fn simulate(case: &Case, seed: u64, chunk: u32) -> Tally {
    let mut tally = Tally::default();
    let mut source = Source::new(seed, &case.name, u64::from(chunk));
    for _ in 0..CHUNK {
        let trial = (case.make)(&mut source);
        tally.add(&tally::judge(&trial, case.with_peers));
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use tally::Measure;

    /// Cases that are fast.
    fn few() -> Vec<Case> {
        let mut cases = cases::all();
        let wanted = ["factors/5", "events/3-with", "runs/blocks-10-4"];
        cases.retain(|case| wanted.contains(&case.name.as_str()));
        cases
    }

    #[test]
    fn the_same_seed_counts_the_same_whatever_the_number_of_threads() {
        let counted = |threads| {
            let mut cases = few();
            count(&mut cases, true, 7, threads);
            report::parts(&cases).collect::<Vec<_>>()
        };
        let once = counted(1);
        assert_eq!(once, counted(3));
        let mut texts = once.iter().map(|(_, _, text)| text);
        assert!(texts.any(|text| text.contains("events in clusters of 3")));
    }

    #[test]
    fn names_of_cases_are_unique() {
        let cases = cases::all();
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
    }

    #[test]
    fn what_is_shown_was_counted() {
        for case in few() {
            let tally = simulate(&case, 1, 0);
            assert_eq!(tally.documents(), u64::from(CHUNK), "{}", case.name);
            for &(measure, _) in &case.shown {
                assert!(
                    tally.get(measure).1 > 0,
                    "{}: {}",
                    case.name,
                    measure.says()
                );
            }
        }
    }

    #[test]
    fn a_planted_difference_is_counted_as_found_and_nothing_as_false() {
        use trial::{Changed, Grid, Runs};
        let grid = Grid::rows(1, Runs::Blocks(12));
        let mut source = Source::new(1, "planted", 0);
        let planted = grid.clone().changed(Changed::Metrics(1, 1.5));
        let tally = tally::judge(&planted.trial(&mut source), true);
        assert_eq!(tally.get(Measure::Established), (1, 1));
        assert_eq!(tally.get(Measure::Directional), (1, 1));
        assert_eq!(tally.get(Measure::PeerFound(4)), (1, 1));
        assert_eq!(tally.get(Measure::FalseEstablished), (0, 1));
        let same = grid.trial(&mut source);
        let tally = tally::judge(&same, true);
        assert_eq!(tally.get(Measure::Established), (0, 0));
        assert_eq!(tally.get(Measure::RowEstablished).1, 1);
    }

    #[test]
    fn the_pages_have_a_mark_for_each_part_and_each_noise() {
        let read = |page: &str| xtask::tree::read(page).unwrap().unwrap();
        for (page, mark, _) in report::parts(&[]) {
            assert!(marks::put(&read(page), &mark, "").is_ok(), "{page}: {mark}");
        }
        let tables = read(TABLES);
        for noise in noise::Noise::ALL {
            let name = format!("- **{}**: ", noise.name());
            assert!(tables.contains(&name), "{name}");
        }
    }

    mod full {
        use super::*;

        #[test]
        fn a_quick_simulation_breaks_no_promise() {
            let quick = parse(&["--quick".to_owned()]).unwrap();
            assert_eq!(unbroken(&simulated(&quick)), Ok(()));
        }
    }
}
