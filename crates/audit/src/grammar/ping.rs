//! The last line of `ping`: the round-trip times of one run of it.

use super::begins::Begins;
use super::cells::{bad_number, truncated, unwrapped};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// The statistics line of `ping` (`rtt min/avg/max/mdev = …`, on BSD
/// `round-trip min/avg/max/stddev = …`).
pub struct Ping;

impl Grammar for Ping {
    fn name(&self) -> &'static str {
        "ping"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"r")
    }

    fn starts(&self, line: &str) -> bool {
        let text = line.trim_start();
        text.starts_with("rtt min/") || text.starts_with("round-trip min/")
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let whole = |text: &str| parts(text).is_some_and(|(_, _, unit)| !unit.is_empty());
        let (text, used) = unwrapped(lines, 0, whole)?;
        let mut block = Block {
            taken: vec!["ping statistics"; used],
            ..Block::default()
        };
        let Some((names, values, unit)) = parts(&text) else {
            block.find(0, truncated("ping's statistics have no values"));
            return Some(block);
        };
        let mut figures = Vec::new();
        for (name, value) in names.split('/').zip(values.split('/')).take(4) {
            let metric = format!("rtt {name}");
            match english(value) {
                Some(value) => figures.push(Figure::new(metric, value, unit)),
                None => block.find(0, bad_number(value, &metric)),
            }
        }
        if !figures.is_empty() {
            let labels = Labels::default();
            block.find(0, Finding::Run { labels, figures });
        }
        Some(block)
    }
}

/// Names, values and unit.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (names, values) = text.split_once('=')?;
    let names = names.split_whitespace().nth(1)?;
    if ![
        "min/avg/max",
        "min/avg/max/mdev",
        "min/avg/max/stddev",
        "min/avg/max/std-dev",
    ]
    .contains(&names)
    {
        return None;
    }
    let mut words = values.split_whitespace();
    let values = words.next()?;
    Some((
        names,
        values,
        words.next().unwrap_or("").trim_end_matches(','),
    ))
}
