//! Size and entanglement of the code: figures with goals. A goal that has been reached must be
//! kept.

use std::collections::BTreeMap;

use super::{Code, Finding, circles};

/// Goals for lines of code without tests in `crates` (not reached yet) and in `xtask`.
const LINES: usize = 115_000;
const LINES_XTASK: usize = 8_000;
/// Maximum number of files in a cycle.
const CIRCLE: usize = 4;
/// Maximum number of type names that are defined more than once.
const TYPES: usize = 60;
/// Names of functions that are too general.
const EMPTY_NAMES: [&str; 3] = ["of", "shown", "made"];

/// The figures of one crate.
#[derive(Default)]
struct Room<'a> {
    lines: usize,
    /// Paths below `src`, with code.
    files: Vec<(&'a str, &'a str)>,
    empty_names: usize,
}

#[derive(Default)]
struct House<'a> {
    rooms: BTreeMap<&'a str, Room<'a>>,
    /// The number of definitions of each type name that has several.
    types: BTreeMap<&'a str, usize>,
}

impl<'a> House<'a> {
    fn of_files(files: &'a [Code]) -> Self {
        let mut house = House::default();
        for Code { file, code, lines } in files {
            let Some((room, below)) = file.split_once("/src/") else {
                continue;
            };
            let room = room.trim_start_matches("crates/");
            let room = house.rooms.entry(room).or_default();
            room.lines += lines;
            room.files.push((below, code));
            for (keyword, name) in definitions(code) {
                match keyword {
                    "fn" => room.empty_names += usize::from(EMPTY_NAMES.contains(&name)),
                    _ => *house.types.entry(name).or_default() += 1,
                }
            }
        }
        house.types.retain(|_, count| *count > 1);
        house
    }

    fn lines(&self, room: &str) -> usize {
        self.rooms.get(room).map_or(0, |room| room.lines)
    }
}

/// Prints the figures, and reports goals that are missed.
pub(super) fn check(files: &[Code]) -> Vec<Finding> {
    let house = House::of_files(files);
    let (mut lost, mut long) = (Vec::new(), Vec::new());
    println!("room      lines  circle  fn {}", EMPTY_NAMES.join("/"));
    for (name, room) in &house.rooms {
        let circle = circles::longest(&room.files);
        let (files, empty) = (circle.len(), room.empty_names);
        println!("{name:8} {:6}  {files:6}  {empty:6}", room.lines);
        if files > CIRCLE {
            long.push(format!("{name}: {}", circle.join(" -> ")));
            lost.push(format!("{name}: a circle of {files}, not {CIRCLE}"));
        }
        if empty > 0 {
            lost.push(format!(
                "{name}: {empty} functions with names that say nothing"
            ));
        }
    }
    let xtask = house.lines("xtask");
    let lines: usize = house.rooms.values().map(|room| room.lines).sum();
    let lines = lines - xtask - house.lines("studies");
    println!("crates   {lines:6}, goal {LINES}; of xtask {LINES_XTASK}, of a circle {CIRCLE}");
    long.iter().for_each(|circle| println!("{circle}"));
    let types = house
        .types
        .iter()
        .map(|(name, count)| format!("{name} {count}"));
    let types: Vec<String> = types.collect();
    println!(
        "{} types defined more than once, goal {TYPES}: {}",
        types.len(),
        types.join(", ")
    );
    if xtask > LINES_XTASK {
        lost.push(format!("xtask: {xtask} lines, not {LINES_XTASK}"));
    }
    if types.len() > TYPES {
        lost.push(format!(
            "{} types defined more than once, not {TYPES}",
            types.len()
        ));
    }
    let lost = lost.into_iter().map(|what| Finding {
        file: "a goal is lost".into(),
        line: 0,
        what,
    });
    lost.collect()
}

/// The keyword and the name of each function and type.
fn definitions(code: &str) -> impl Iterator<Item = (&str, &str)> {
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let pairs: Vec<(&str, &str)> = words.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let keywords = ["fn", "struct", "enum", "trait"];
    pairs
        .into_iter()
        .filter(move |(keyword, _)| keywords.contains(keyword))
}
