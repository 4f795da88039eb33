//! Tests of the plugin's cache model on its own: sequences worked out by hand, and random
//! accesses compared with a second model that is written in another way.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Bits of a result.
const L1I: u32 = 1;
const L1D: u32 = 2;
const L2: u32 = 4;
const LLC: u32 = 8;
const TRANSFER: u32 = 16;
/// A read of a line that is in no cache.
const COLD: u32 = L1D | L2 | LLC;

/// One access: CPU, kind (`f`, `r` or `w`) and line.
type Access = (usize, char, u64);

/// Sets and ways of L1i, L1d, L2 and the last level.
type Shape = [(u64, usize); 4];

/// Two sets of two ways, twice; four of two; eight of two.
const SMALL: Shape = [(2, 2), (2, 2), (4, 2), (8, 2)];

/// The compiled driver; `None` if there is no compiler.
fn driver(place: &Path) -> Option<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let plugin = package.join("../../qemu/plugin");
    let program = place.join("driver");
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]);
    command.arg(&program).arg("-I").arg(&plugin);
    command.arg(package.join("tests/cache_model/driver.c"));
    match command.arg(plugin.join("model.c")).status() {
        Ok(status) => {
            assert!(status.success(), "the model does not compile");
            Some(program)
        }
        Err(error) => {
            crate::support::skip(&format!("no C compiler: {error}"));
            None
        }
    }
}

/// The model's results; `None` if it refuses the geometry.
fn answers(
    program: &Path,
    shape: &[(u64, usize)],
    cpus: usize,
    accesses: &[Access],
) -> Option<Vec<u32>> {
    let mut text = String::from("64");
    for (sets, ways) in shape {
        write!(text, " {} {ways}", sets * *ways as u64 * 64).unwrap();
    }
    writeln!(text, " {cpus}").unwrap();
    for (cpu, kind, line) in accesses {
        writeln!(text, "{cpu} {kind} {line}").unwrap();
    }
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // A model that refuses its geometry reads no accesses.
        let _ = input.write_all(text.as_bytes());
    });
    let done = child.wait_with_output().unwrap();
    writer.join().unwrap();
    if done.status.code() == Some(3) {
        return None;
    }
    assert!(done.status.success());
    let text = String::from_utf8(done.stdout).unwrap();
    Some(text.lines().map(|line| line.parse().unwrap()).collect())
}

fn each(of: &str, accesses: &[(Access, u32)]) {
    let place = tempfile::tempdir().unwrap();
    let Some(program) = driver(place.path()) else {
        return;
    };
    let asked: Vec<Access> = accesses.iter().map(|(access, _)| *access).collect();
    let got = answers(&program, &SMALL, 2, &asked).unwrap();
    assert_eq!(got.len(), accesses.len());
    for (at, ((access, want), got)) in accesses.iter().zip(got).enumerate() {
        assert_eq!(got, *want, "{of}: access {at}: {access:?}");
    }
}

#[test]
fn the_least_recently_used_of_a_set_is_replaced() {
    each(
        "one CPU",
        &[
            // Lines 0, 2 and 4 are in one set of L1d; 0 and 4 in one set of L2.
            ((0, 'r', 0), COLD),
            ((0, 'r', 2), COLD),
            ((0, 'r', 0), 0),
            ((0, 'r', 4), COLD),
            // Line 2 was the least recently used in L1d, and is still in L2.
            ((0, 'r', 0), 0),
            ((0, 'r', 2), L1D),
            ((0, 'r', 4), L1D),
            // Lines 8 and 12 evict 0 and 4 from L2, and 0 from L1d.
            ((0, 'r', 8), COLD),
            ((0, 'r', 12), COLD),
            ((0, 'r', 0), L1D | L2),
            // Lines 0, 8 and 16 are in one set of the last level.
            ((0, 'r', 16), COLD),
            ((0, 'r', 24), COLD),
            ((0, 'r', 8), COLD),
            // A fetched line is in L1i and in L2.
            ((0, 'f', 1), L1I | L2 | LLC),
            ((0, 'f', 1), 0),
            ((0, 'r', 1), L1D),
        ],
    );
}

#[test]
fn a_modified_line_is_transferred_and_a_clean_one_is_not() {
    each(
        "two CPUs",
        &[
            ((0, 'r', 1), COLD),
            // Nobody has modified the line: it comes from the last level.
            ((1, 'r', 1), L1D | L2),
            ((0, 'r', 1), 0),
            // A write invalidates the other copy, but is not a miss.
            ((1, 'w', 1), 0),
            ((0, 'r', 1), L1D | L2 | TRANSFER),
            // Once the line is shared, reads by either hit.
            ((1, 'r', 1), 0),
            ((0, 'r', 1), 0),
            // Alternating writes are each a transfer.
            ((0, 'w', 1), 0),
            ((1, 'w', 1), L1D | L2 | TRANSFER),
            ((0, 'w', 1), L1D | L2 | TRANSFER),
            ((0, 'w', 1), 0),
            // Code written by another CPU.
            ((1, 'f', 1), L1I | L2 | TRANSFER),
            ((0, 'w', 1), 0),
            ((1, 'f', 1), L1I | L2 | TRANSFER),
        ],
    );
}

#[test]
fn a_modified_line_that_leaves_its_cpu_is_in_the_last_level() {
    each(
        "written back",
        &[
            ((0, 'w', 0), COLD),
            // Other lines of its set evict it from L1d, and then from L2.
            ((0, 'r', 2), COLD),
            ((0, 'r', 6), COLD),
            // It is still in L2, and only in this CPU's.
            ((1, 'r', 0), L1D | L2 | TRANSFER),
            ((1, 'w', 0), 0),
            ((1, 'r', 4), COLD),
            ((1, 'r', 12), COLD),
            ((1, 'r', 20), COLD),
            ((1, 'r', 28), COLD),
            // No CPU has it, so this is not a transfer.
            ((0, 'r', 0), L1D | L2),
        ],
    );
}

/// A cache as a map from line to time of last use.
#[derive(Default, Clone)]
struct Naive {
    sets: u64,
    ways: usize,
    used: HashMap<u64, u64>,
}

impl Naive {
    fn hit(&mut self, line: u64, now: u64) -> bool {
        self.used.get_mut(&line).map(|used| *used = now).is_some()
    }

    /// Inserts a line, and returns the one that it evicted.
    fn put(&mut self, line: u64, now: u64) -> Option<u64> {
        let same = |other: &&u64| **other % self.sets == line % self.sets;
        let rivals: Vec<u64> = self.used.keys().filter(same).copied().collect();
        let oldest = rivals.iter().min_by_key(|other| self.used[other]).copied();
        let gone = oldest.filter(|_| rivals.len() == self.ways);
        gone.map(|gone| self.used.remove(&gone));
        self.used.insert(line, now);
        gone
    }
}

/// A second model, which records who has modified a line separately from the caches.
struct Second {
    own: Vec<[Naive; 3]>,
    last: Naive,
    modified: HashMap<u64, usize>,
    now: u64,
}

impl Second {
    fn new(shape: &Shape, cpus: usize) -> Second {
        let [l1i, l1d, l2, last] = shape.map(|(sets, ways)| Naive {
            sets,
            ways,
            ..Naive::default()
        });
        Second {
            own: vec![[l1i, l1d, l2]; cpus],
            last,
            modified: HashMap::new(),
            now: 0,
        }
    }

    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    fn put_last(&mut self, line: u64) {
        let now = self.tick();
        if !self.last.hit(line, now) {
            self.last.put(line, now);
        }
    }

    /// Handles a line evicted from one of a CPU's caches.
    fn replaced(&mut self, cpu: usize, level: usize, line: u64) {
        let owned = self.modified.get(&line) == Some(&cpu);
        if level == 1 && owned {
            let now = self.tick();
            if !self.own[cpu][2].hit(line, now)
                && let Some(gone) = self.own[cpu][2].put(line, now)
            {
                self.replaced(cpu, 2, gone);
            }
        }
        let held = self.own[cpu].iter().any(|one| one.used.contains_key(&line));
        if owned && !held {
            self.modified.remove(&line);
            self.put_last(line);
        }
    }

    fn bring(&mut self, cpu: usize, line: u64) -> u32 {
        let now = self.tick();
        if self.own[cpu][2].hit(line, now) {
            return 0;
        }
        let mut missed = L2;
        match self.modified.get(&line) {
            Some(owner) if *owner != cpu => {
                self.modified.remove(&line);
                self.put_last(line);
                missed |= TRANSFER;
            }
            Some(_) => {}
            None => {
                let now = self.tick();
                if !self.last.hit(line, now) {
                    missed |= LLC;
                    self.last.put(line, now);
                }
            }
        }
        let now = self.tick();
        if let Some(gone) = self.own[cpu][2].put(line, now) {
            self.replaced(cpu, 2, gone);
        }
        missed
    }

    fn access(&mut self, (cpu, kind, line): Access) -> u32 {
        let level = usize::from(kind != 'f');
        let now = self.tick();
        let mut missed = 0;
        if !self.own[cpu][level].hit(line, now) {
            missed = [L1I, L1D][level] | self.bring(cpu, line);
            let now = self.tick();
            if let Some(gone) = self.own[cpu][level].put(line, now) {
                self.replaced(cpu, level, gone);
            }
        }
        if kind == 'w' {
            self.modified.insert(line, cpu);
            for (other, caches) in self.own.iter_mut().enumerate() {
                if other != cpu {
                    caches.iter_mut().for_each(|one| _ = one.used.remove(&line));
                }
            }
        }
        missed
    }
}

#[test]
fn a_second_model_answers_the_same_to_random_accesses() {
    let place = tempfile::tempdir().unwrap();
    let Some(program) = driver(place.path()) else {
        return;
    };
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    // Last-level caches made of slices can have numbers of sets that are not powers of two.
    let odd: Shape = [(1, 1), (3, 4), (5, 1), (7, 3)];
    let mut met = 0;
    // The last one has more lines than the model initially has room for.
    for (shape, cpus, lines, times) in [
        (SMALL, 1, 40, 20_000),
        (SMALL, 3, 30, 20_000),
        (odd, 2, 24, 20_000),
        (odd, 4, 400_000, 40_000),
    ] {
        let accesses: Vec<Access> = (0..times)
            .map(|_| {
                let cpu = usize::try_from(draw(cpus)).unwrap();
                let kind = usize::try_from(draw(4)).unwrap();
                (cpu, ['f', 'r', 'r', 'w'][kind], draw(lines))
            })
            .collect();
        let cpus = usize::try_from(cpus).unwrap();
        let got = answers(&program, &shape, cpus, &accesses).unwrap();
        assert_eq!(got.len(), accesses.len());
        let mut second = Second::new(&shape, cpus);
        for (at, (access, got)) in accesses.iter().zip(got).enumerate() {
            assert_eq!(got, second.access(*access), "{shape:?}, {at}: {access:?}");
            met |= got;
        }
    }
    assert_eq!(met, L1I | L1D | L2 | LLC | TRANSFER);
}

#[test]
fn a_geometry_that_is_none_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let Some(program) = driver(place.path()) else {
        return;
    };
    for at in 0..4 {
        let mut shape = SMALL;
        shape[at] = (0, 2);
        assert_eq!(answers(&program, &shape, 1, &[]), None);
    }
    assert_eq!(answers(&program, &SMALL, 0, &[]), None);
    assert_eq!(answers(&program, &SMALL, 64, &[]), Some(vec![]));
    assert_eq!(answers(&program, &SMALL, 65, &[]), None);
}
