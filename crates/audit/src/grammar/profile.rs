//! Profiles: what `perf report` and `perf top` print.
//!
//! ```text
//!   40.44%  [kernel]            [k] down_read_trylock
//!
//!   Children      Self  Command  Shared Object      Symbol
//! +   94.22%     1.71%  dd       [kernel.kallsyms]  [k] vfs_write
//! ```
//!
//! One profile is a run, and its metrics are the shares of its symbols. Chains of callers
//! are of the row above them and no figures.

use std::collections::BTreeMap;

use super::begins::Begins;
use super::cells::{label, line_at};
use super::number::{Locale, parse};
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;

/// Profiles; see the module.
pub struct Profile;

/// Their name among the formats.
pub(crate) const PROFILE: &str = "perf report";

/// A longer line is no row.
const LONGEST: usize = 400;
/// The first row is no further below the header.
const HEADER: usize = 3;
/// Shares of fewer samples say nothing.
const FEW: u64 = 10;
/// No block has more lines.
const MOST: usize = 1000;

impl Grammar for Profile {
    fn name(&self) -> &'static str {
        PROFILE
    }

    fn is_report(&self) -> bool {
        false
    }

    fn begins(&self) -> Begins {
        Begins::with(b"0123456789+-#OCS").and_holding(b"%S")
    }

    fn starts(&self, line: &str) -> bool {
        is_header(line) || row(line).is_some()
    }

    fn reach(&self) -> usize {
        HEADER
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
        let first = match is_header(here(0)?) {
            true => (1..=HEADER).find(|&at| here(at).is_some_and(|text| row(text).is_some()))?,
            false => 0,
        };
        let columns = row(here(first)?)?.own.is_some();
        let mut taken: Vec<Taken> = vec!["profile, header"; first];
        let mut rows: Vec<Row<'_>> = Vec::new();
        let mut met: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut at = first;
        while at < MOST {
            let Some(text) = here(at) else { break };
            let next = || Some((at + 1, here(at + 1)?));
            let wrapped =
                || next().and_then(|(below, symbol)| Some((below, wrapped(text, symbol)?)));
            let found = row(text).map(|row| (at, row)).or_else(wrapped);
            if let Some((end, row)) = found.filter(|(_, row)| row.own.is_some() == columns) {
                let places = met.entry(row.symbol).or_default();
                // Another profile begins.
                if places.contains(&row.place) {
                    break;
                }
                places.push(row.place);
                rows.push(row);
                taken.resize(at, "blank");
                taken.resize(end + 1, "profile");
                at = end;
            } else if is_caller(text) {
                taken.resize(at, "blank");
                taken.push("profile, callers");
            } else if !text.trim().is_empty() || at > taken.len() + 1 {
                break;
            }
            at += 1;
        }
        let mut block = Block {
            findings: Vec::new(),
            taken,
        };
        if let Some(most) = most_samples(&rows).filter(|most| *most < FEW) {
            let what = format!(
                "no row of a profile has more than {most} samples: its shares are not read"
            );
            block.find(first, Finding::Doubt("few-samples", what));
            return Some(block);
        }
        let alone = |row: &Row<'_>| met.get(row.symbol).is_none_or(|places| places.len() == 1);
        let figures = rows.iter().flat_map(|row| row.figures(alone(row)));
        let figures: Vec<Figure> = figures.collect();
        let labels = Labels::default();
        block.find(first, Finding::Run { labels, figures });
        Some(block)
    }
}

/// `# Overhead  Command  Shared Object  Symbol`
fn is_header(text: &str) -> bool {
    let text = text.trim_start_matches(['#', ' ']).trim_end();
    let known = text.starts_with("Overhead ") || text.starts_with("Children ");
    let counted = text.starts_with("Samples: ") && text.contains(" of event ");
    text.len() <= LONGEST && (known && text.ends_with("Symbol") || counted)
}

/// The share of a symbol.
struct Row<'t> {
    share: f64,
    /// Its own share, where the first one is with what it calls.
    own: Option<f64>,
    /// The command and the object, or what of them is shown.
    place: &'t str,
    symbol: &'t str,
}

impl Row<'_> {
    /// The shares under the symbol's name, with the place if the name alone does not tell.
    fn figures(&self, alone: bool) -> impl Iterator<Item = Figure> {
        let place = self.place.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = match alone {
            true => self.symbol.to_owned(),
            false => format!("{} ({place})", self.symbol),
        };
        let figure = move |(what, value): (&str, f64)| {
            let metric = label(&format!("{name} {what}"));
            Figure::new(metric, value, "%")
        };
        let shares = match self.own {
            None => [Some(("", self.share)), None],
            Some(own) => [Some(("children", self.share)), Some(("self", own))],
        };
        shares.into_iter().flatten().map(figure)
    }
}

/// `+   94.22%     1.71%  dd       [kernel.kallsyms]  [k] vfs_write`
fn row(text: &str) -> Option<Row<'_>> {
    if text.len() > LONGEST {
        return None;
    }
    let (share, own, rest) = shares(text)?;
    let (place, symbol) = at_mark(rest)?;
    let symbol = symbol.split("  ").next()?.trim();
    let change = place.starts_with(['+', '-']) && place.contains('%');
    let named = !symbol.is_empty() && !change && place.len() <= 120;
    named.then_some(Row {
        share,
        own,
        place,
        symbol,
    })
}

/// The shares that a row begins with, and the rest.
fn shares(text: &str) -> Option<(f64, Option<f64>, &str)> {
    let (share, rest) = percentage(unfolded(text))?;
    Some(match percentage(rest) {
        Some((own, rest)) => (share, Some(own), rest),
        None => (share, None, rest),
    })
}

/// A row whose symbol a mailer put on the next line: nothing stands behind its `[k]`.
fn wrapped<'t>(text: &'t str, next: &'t str) -> Option<Row<'t>> {
    let bare = text.trim_end();
    let symbol = next.trim();
    let mark = ["[k]", "[.]"].iter().any(|mark| bare.ends_with(mark));
    if !mark || text.len() > LONGEST || symbol.is_empty() || symbol.contains(char::is_whitespace) {
        return None;
    }
    let (share, own, rest) = shares(bare)?;
    let place = rest.get(..rest.len() - 3)?.trim();
    Some(Row {
        share,
        own,
        place,
        symbol,
    })
}

/// The most samples of a row, where `perf mem report` gives their number first.
fn most_samples(rows: &[Row<'_>]) -> Option<u64> {
    let count = |row: &Row<'_>| -> Option<u64> {
        let mut cells = row.place.split("  ").filter(|cell| !cell.trim().is_empty());
        let count = cells.next()?.trim().parse().ok()?;
        cells.next().map(|_| count)
    };
    let counts: Option<Vec<u64>> = rows.iter().map(count).collect();
    counts?.into_iter().max()
}

/// A line without the mark of what can be folded.
fn unfolded(text: &str) -> &str {
    let text = text.trim();
    let rest = text.strip_prefix(['+', '-']);
    rest.filter(|rest| rest.starts_with(' '))
        .map_or(text, str::trim_start)
}

/// A percentage with a blank behind it, and the rest.
fn percentage(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let (number, rest) = text.split_once('%')?;
    let places = number.split_once(['.', ',']).map(|(_, digits)| digits);
    let written = number.len() <= 6 && places.is_some_and(|digits| digits.len() <= 3);
    if !written || !number.starts_with(|c: char| c.is_ascii_digit()) || !rest.starts_with(' ') {
        return None;
    }
    let locale = match number.contains(',') {
        true => Locale::CommaDecimal,
        false => Locale::English,
    };
    let share = parse(number, locale).filter(|share| (0.0..=100.0).contains(share))?;
    Some((share, rest.trim_start()))
}

/// What stands before and behind `[k]`, `[.]` and their like.
fn at_mark(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let is_mark = |at: &usize| {
        matches!(
            bytes.get(*at..*at + 4),
            Some([b'[', b'k' | b'.' | b'g' | b'u' | b'H', b']', b' '])
        ) && (*at == 0 || bytes[*at - 1] == b' ')
    };
    let at = memchr::memchr_iter(b'[', bytes).find(is_mark)?;
    Some((text[..at].trim(), &text[at + 4..]))
}

/// A line of a chain of callers: `|--18.09%--ksys_write`, `- 62.00% shrink_slab`,
/// `---vfs_write`, or a name far to the right.
fn is_caller(text: &str) -> bool {
    let inner = text.trim();
    let indent = text.len() - text.trim_start().len();
    let drawn = inner.starts_with(['|', '-']) && indent >= 8;
    let named = |text: &str| (1..=3).contains(&text.split_whitespace().count());
    let share = percentage(unfolded(text)).is_some_and(|(_, name)| named(name));
    let far = indent >= 12 && !inner.is_empty() && !inner.contains(' ');
    inner.len() <= LONGEST && (drawn || share && indent >= 3 || far)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    const REPORT: &str = include_str!("../../tests/benchmarks/perf-report.txt");
    const CHAINS: &str = include_str!("../../tests/benchmarks/perf-report-children.txt");

    fn figures(text: &str) -> Vec<(String, f64)> {
        testing::figures(&Profile, text)
    }

    fn rows_of(text: &str) -> &str {
        &text[text.rfind("#\n").unwrap() + 2..]
    }

    #[test]
    fn a_line_of_samples_belongs_to_the_header() {
        let text = "Samples: 480K of event 'cycles', Event count (approx.): 298552867297\n\
                    Overhead  Comma  Shared Object     Symbol\n   0.45%  :53243  [kernel.vmlinux]  [k] foo_get\n";
        assert_eq!(figures(text), owned(&[("foo_get", 0.45)]));
        assert!(figures("Samples: 12 of them were bad\n").is_empty());
    }

    fn owned(all: &[(&str, f64)]) -> Vec<(String, f64)> {
        let owned = |(name, value): &(&str, f64)| ((*name).to_owned(), *value);
        all.iter().map(owned).collect()
    }

    #[test]
    fn a_report_is_one_run_of_shares() {
        let rows = rows_of(REPORT).trim_end();
        let all = figures(rows);
        assert_eq!(all.len(), rows.lines().count());
        assert_eq!(all[0], ("do_syscall_64".into(), 28.95));
        let header = &REPORT[REPORT.find("# Overhead").unwrap()..];
        assert_eq!(figures(header), all);
        assert_eq!(
            testing::read(&Profile, rows).unwrap().taken.len(),
            all.len()
        );
    }

    #[test]
    fn callers_are_no_figures() {
        let rows = rows_of(CHAINS);
        let count = rows.lines().filter(|line| line.contains("] ")).count();
        let all = figures(rows);
        assert_eq!(all.len(), 2 * count);
        assert_eq!(
            all[0],
            ("entry_SYSCALL_64_after_hwframe children".into(), 69.41)
        );
        assert_eq!(all[1], ("entry_SYSCALL_64_after_hwframe self".into(), 0.0));
        assert_eq!(testing::runs(&Profile, rows).len(), 1);
    }

    #[test]
    fn what_is_copied_from_a_terminal_is_read() {
        let text = "+   94,22%     1,71%  [kernel]  [k] run_iputs\n\
                    -   21,20%    10,50%  [kernel]  [k] shrink_all\n\
                    \u{20}  - 9,10% shrink_all\n\
                    \u{20}       4,40% idr_find\n\
                    Words.\n";
        let all = [
            ("run_iputs children", 94.22),
            ("run_iputs self", 1.71),
            ("shrink_all children", 21.2),
            ("shrink_all self", 10.5),
        ];
        assert_eq!(figures(text), owned(&all));
        assert_eq!(testing::read(&Profile, text).unwrap().taken.len(), 4);
    }

    #[test]
    fn a_name_of_two_objects_has_them_with_it() {
        let text = " 3.10%  dd   libc.so.6  [.] read\n 2.20%  cat  libc.so.6  [.] read\n";
        let all = [("read (dd libc.so.6)", 3.1), ("read (cat libc.so.6)", 2.2)];
        assert_eq!(figures(text), owned(&all));
        // The same once more is another profile.
        let again = format!("{text}{text}");
        assert_eq!(figures(&again), owned(&all));
    }

    #[test]
    fn two_shapes_are_two_profiles() {
        let text = " 3.10%  [kernel]  [k] iput\n\n-  9.00%  3.00%  [kernel]  [k] iput\n";
        assert_eq!(figures(text), owned(&[("iput", 3.1)]));
        assert_eq!(testing::read(&Profile, text).unwrap().taken.len(), 1);
    }

    #[test]
    fn other_percentages_are_left_alone() {
        for text in [
            "  3.10%  faster than before",
            "  3.10%  -1.20%  [kernel]  [k] iput",
            "  310.5%  [kernel]  [k] iput",
            "  3%  [kernel]  [k] iput",
            "  3.10%  [kernel]  [k]",
            "- 3.10% of [kernel] things",
        ] {
            assert!(figures(text).is_empty(), "{text}");
        }
    }
}
