//! What `systemd-analyze` says of a boot:
//!
//! ```text
//! Startup finished in 2.038s (kernel) + 1.210s (initrd) + 1min 14.198s (userspace) = 1min 17.446s
//! ```
//!
//! One boot is one run; each part and the whole are its metrics. A mailer may have wrapped
//! the line.

use super::begins::Begins;
use super::cells::{push_new, unwrapped};
use super::quantity::{power_of_seconds, quantity};
use super::{Block, Figure, Finding, Grammar, Labels};
use crate::Line;

/// The line of `systemd-analyze`; see the module.
pub struct Startup;

/// How the line begins.
const OPENING: &str = "Startup finished in ";
/// The parts of a boot.
const PARTS: [&str; 5] = ["firmware", "loader", "kernel", "initrd", "userspace"];

impl Grammar for Startup {
    fn name(&self) -> &'static str {
        "systemd-analyze"
    }

    fn begins(&self) -> Begins {
        Begins::holding(b"S")
    }

    fn starts(&self, line: &str) -> bool {
        memchr::memmem::find(line.as_bytes(), OPENING.as_bytes()).is_some()
    }

    fn reach(&self) -> usize {
        0
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let (text, used) = unwrapped(lines, 0, |text| figures(text).is_some())?;
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["time of a boot"; used],
        };
        let labels = Labels::default();
        let figures = figures(&text)?;
        block.find(0, Finding::Run { labels, figures });
        Some(block)
    }
}

/// The parts of a boot and all of it.
fn figures(text: &str) -> Option<Vec<Figure>> {
    let (_, rest) = text.split_once(OPENING)?;
    let (parts, total) = rest.split_once(" = ")?;
    let mut figures = Vec::new();
    for part in parts.split(" + ") {
        let (time, name) = part.split_once(" (")?;
        let name = name.trim_end().strip_suffix(')')?;
        let known = PARTS.contains(&name) && push_new(&mut figures, figure(name, time)?);
        known.then_some(())?;
    }
    figures.push(figure("startup", total.trim_end().trim_end_matches('.'))?);
    Some(figures)
}

/// `1min 14.198s`, `890ms`
fn figure(name: &str, time: &str) -> Option<Figure> {
    let (mut total, mut step) = (0.0, 1.0);
    for word in time.split_whitespace() {
        let (part, rest) = quantity(word)?;
        let seconds = match part.unit {
            "min" => 60.0,
            unit => 10_f64.powi(power_of_seconds(unit)?),
        };
        rest.is_empty().then_some(())?;
        total += part.value * seconds;
        step = part.step * seconds;
    }
    let mut figure = Figure::new(name, (total * 1e6).round() / 1e6, "s");
    figure.step = Some(step);
    (total > 0.0).then_some(figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    const POST: &str = "Startup finished in 1.512s (kernel) + 890ms (initrd) + \
                        1min 14.25s (userspace) = 1min 16.652s\n";

    #[test]
    fn the_name_of_each_part_stands_behind_it() {
        let told = [
            ("kernel".to_owned(), 1.512),
            ("initrd".to_owned(), 0.89),
            ("userspace".to_owned(), 74.25),
            ("startup".to_owned(), 76.652),
        ];
        assert_eq!(testing::figures(&Startup, POST), told);
        let wrapped = POST.replace(" (userspace)", "\n(userspace)");
        assert_eq!(testing::figures(&Startup, &wrapped), told);
        assert_eq!(testing::read(&Startup, &wrapped).unwrap().taken.len(), 2);
    }

    #[test]
    fn other_parts_and_times_without_a_unit_are_none() {
        for text in [
            POST.replace("kernel", "disk"),
            POST.replace("1.512s", "1.512"),
            POST.replace(" = ", " or "),
            POST.replace("initrd", "kernel"),
            "Startup finished in 2 minutes\n".to_owned(),
        ] {
            assert_eq!(testing::figures(&Startup, &text), [], "{text}");
        }
    }
}
