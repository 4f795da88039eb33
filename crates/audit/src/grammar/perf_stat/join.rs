//! Lines that a mailer wrapped, joined again.

use super::event::Class;
use super::header;
use super::row::{self, Kind};
use super::tail::{self, Tail};
use super::token;
use crate::Line;

/// What starts at `lines[0]` (from byte `from` on), and how many lines it has.
pub(super) fn logical(lines: &[Line<'_>], from: usize) -> (Kind, usize) {
    let Some(first) = lines.first() else {
        return (Kind::Other, 1);
    };
    let text = first.text.get(from..).unwrap_or_default();
    match row::parse(text) {
        Kind::HeaderOpen => header_from(lines, text),
        Kind::RowOpen | Kind::TimeOpen => value_from(lines, text),
        kind @ (Kind::Row(_) | Kind::Time(_)) => with_tail(lines, kind, text, 1),
        kind => (kind, 1),
    }
}

/// Joins a header that goes on in the next lines.
fn header_from(lines: &[Line<'_>], text: &str) -> (Kind, usize) {
    let mut joined = text.to_owned();
    for (at, line) in lines.iter().enumerate().skip(1).take(7) {
        if !matches!(row::parse(&line.text), Kind::Other | Kind::Bare(_)) {
            break;
        }
        joined.push(' ');
        joined.push_str(line.text.trim());
        match row::parse(&joined) {
            Kind::HeaderOpen => {}
            Kind::Header(header) => return (Kind::Header(header), at + 1),
            _ => break,
        }
    }
    if text.trim() == header::START {
        (Kind::Other, 1)
    } else {
        (Kind::Header(header::cut()), 1)
    }
}

/// Joins a value with the name on the next line.
fn value_from(lines: &[Line<'_>], text: &str) -> (Kind, usize) {
    let mut joined = text.to_owned();
    for (at, line) in lines.iter().enumerate().skip(1).take(2) {
        let alone = row::parse(&line.text);
        let part = matches!(
            alone,
            Kind::Other | Kind::Bare(_) | Kind::Note(_) | Kind::TimeOpen
        );
        if !part || !belongs(lines, at) || line.text.len() > 512 {
            break;
        }
        joined.push(' ');
        joined.push_str(line.text.trim());
        match row::parse(&joined) {
            Kind::RowOpen | Kind::TimeOpen => {}
            Kind::Row(row) if row.class < Class::Plausible || row.tail.remark => break,
            kind @ (Kind::Row(_) | Kind::Time(_)) => {
                return with_tail(lines, kind, &joined, at + 1);
            }
            _ => break,
        }
    }
    (Kind::Other, 1)
}

/// Mailers drop quote marks when they wrap, they never add any.
fn belongs(lines: &[Line<'_>], at: usize) -> bool {
    match (lines.first(), lines.get(at)) {
        (Some(first), Some(line)) => line.depth <= first.depth,
        _ => false,
    }
}

/// Adds the lines that go on with the tail of a counter or a time.
fn with_tail(lines: &[Line<'_>], kind: Kind, text: &str, used: usize) -> (Kind, usize) {
    let mut kind = kind;
    let mut text = text.to_owned();
    let mut used = used;
    let mut notes = 0;
    while let Some(tail) = tail_of(&mut kind) {
        let Some(next) = lines.get(used).filter(|_| belongs(lines, used)) else {
            break;
        };
        let next = next.text.as_ref();
        if next.len() > 512 || text.len() > 4096 {
            break;
        }
        if let Some(note) = derived_note(next).filter(|_| notes < 64) {
            tail.fill(note);
            notes += 1;
            used += 1;
            continue;
        }
        if notes > 0 && tail::may_continue(next) {
            let more = tail::parse(next);
            if !more.any() || !more.clean() || more.open {
                break;
            }
            tail.fill(more);
            used += 1;
            continue;
        }
        if tail.remark || !(tail.open || tail::may_continue(next)) {
            break;
        }
        if !tail.open && !matches!(row::parse(next), Kind::Other | Kind::Bare(_)) {
            break;
        }
        let joined = format!("{text} {}", next.trim());
        let Some(wider) = wider(&joined, tail) else {
            break;
        };
        kind = wider;
        text = joined;
        used += 1;
    }
    (kind, used)
}

/// The joined text, if it is a counter or time whose tail is all perf's.
fn wider(joined: &str, before: &Tail) -> Option<Kind> {
    let mut kind = row::parse(joined);
    let tail = tail_of(&mut kind)?;
    let grown = *tail != *before || before.comment;
    (tail.clean() && grown).then_some(kind)
}

fn tail_of(kind: &mut Kind) -> Option<&mut Tail> {
    match kind {
        Kind::Row(row) => Some(&mut row.tail),
        Kind::Time(time) => Some(&mut time.tail),
        _ => None,
    }
}

/// A line that has only a derived figure, perhaps behind a CPU or socket:
/// the uncertainty and the share at its end are those of the counter above.
fn derived_note(text: &str) -> Option<Tail> {
    let hash = text.find('#').filter(|&at| at <= 96)?;
    let before = text.get(..hash)?;
    let places = token::words(before).count();
    let place = token::words(before)
        .next()
        .is_none_or(super::event::is_place);
    if places > 2 || !place {
        return None;
    }
    match row::parse(text) {
        Kind::Note(tail) => Some(tail),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Kind, usize) {
        let lines: Vec<_> = text
            .lines()
            .zip(1..)
            .map(|(text, number)| Line::plain(number, text))
            .collect();
        logical(&lines, 0)
    }

    fn noise(text: &str) -> (Option<String>, usize) {
        let (mut kind, used) = read(text);
        (tail_of(&mut kind).and_then(|tail| tail.noise.clone()), used)
    }

    #[test]
    fn a_counter_is_joined_with_its_wrapped_tail() {
        let five = Some("5.53".to_owned());
        for (text, used) in [
            (
                "0.83 msec task-clock # 0.016 CPUs utilized ( +- 5.53% )\n1 cs",
                1,
            ),
            (
                "0.83 msec task-clock # 0.016 CPUs\nutilized ( +- 5.53% )\n1 cs",
                2,
            ),
            (
                "0.83 msec task-clock # 0.016 CPUs utilized ( +-\n5.53% )\n1 cs",
                2,
            ),
            (
                "0.83 msec task-clock # 0.016 CPUs utilized\n( +-  5.53% )\n1 cs",
                2,
            ),
            (
                "0.83 msec task-clock #\n0.016 CPUs utilized\n( +-  5.53% )",
                3,
            ),
            (
                "0.83 msec\ntask-clock # 0.016 CPUs utilized ( +-  5.53% )",
                2,
            ),
            (
                "5,3 cycles # 1.0 GHz\n # 0.12 stalled cycles per insn ( +- 5.53% )",
                2,
            ),
        ] {
            assert_eq!(noise(text), (five.clone(), used), "{text}");
        }
    }

    #[test]
    fn prose_after_a_counter_is_not_joined() {
        for text in [
            "1,234 cycles\nof all the branches that we tried",
            "1,234 cycles # 0.5 GHz\nThe rest is noise.",
            "1,234 cycles\n5,678 instructions",
            "1,234 cycles\n(see below)",
            "1,234 cycles\n",
        ] {
            assert_eq!(read(text).1, 1, "{text}");
        }
    }

    #[test]
    fn a_wrapped_header_is_joined() {
        let text = "Performance counter stats for 'a very long\ncommand' (10\nruns):\n";
        let (kind, used) = read(text);
        let Kind::Header(header) = kind else {
            panic!("{kind:?}");
        };
        assert_eq!(header.workload.as_deref(), Some("a very long command"));
        assert_eq!((header.runs, used), (Some(10), 3));
    }

    #[test]
    fn a_wrapped_elapsed_line_is_joined() {
        let text = "34.922801 +- 0.000736 seconds\ntime elapsed ( +-  0.00% )";
        assert!(matches!(read(text), (Kind::Time(_), 2)));
    }
}
