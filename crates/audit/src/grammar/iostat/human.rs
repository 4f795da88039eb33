//! Reports for people: the device last, and a suffix behind each figure.

use super::{MOST, Part, ROWS, Row};
use crate::Line;
use crate::grammar::Taken;
use crate::grammar::cells::{label, line_at, unwrapped};
use crate::grammar::number::english;

/// What stands first in a header, and what besides.
const HEADERS: [(&str, &str); 2] = [("tps", "_read/s"), ("r/s", "rkB/s")];
const SUFFIXES: [(char, f64); 5] = [('k', 1e3), ('M', 1e6), ('G', 1e9), ('T', 1e12), ('%', 1.0)];

/// Whether a header begins with a line, which a mailer may have wrapped.
pub(super) fn begins(line: &str) -> bool {
    let text = line.trim_start();
    let mut known = HEADERS.iter();
    known.any(|(first, other)| text.starts_with(first) && text.contains(other))
}

/// The names of columns before the device, if a line is such a header.
fn columns(text: &str) -> Option<Vec<&str>> {
    let text = text
        .trim_end()
        .strip_suffix("Device")
        .filter(|text| begins(text))?;
    let columns: Vec<&str> = text.split_whitespace().collect();
    (columns.len() >= 4).then_some(columns)
}

/// As many figures as there are columns, and a device.
fn row(text: &str, columns: &[String]) -> Option<Row> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (device, figures) = words.split_last()?;
    if figures.len() != columns.len() || device.len() > 40 {
        return None;
    }
    let value = |word: &&str| {
        let mut suffixes = SUFFIXES.iter();
        let scaled = suffixes.find_map(|(suffix, by)| Some((word.strip_suffix(*suffix)?, *by)));
        let (number, by) = scaled.unwrap_or((word, 1.0));
        english(number).map(|value| value * by)
    };
    let values: Vec<f64> = figures.iter().map(value).collect::<Option<_>>()?;
    let named = |(column, value): (&String, f64)| (label(&format!("{device} {column}")), value);
    Some(Row {
        device: label(device),
        values: columns.iter().zip(values).map(named).collect(),
    })
}

/// Reports that follow each other. They are printed while something else runs, and those of a
/// device and of its parts are the same figures again: statements.
pub(super) fn read(lines: &[Line<'_>]) -> Option<(Part, Vec<Taken>)> {
    let depth = lines.first()?.depth;
    let blank = |at: usize| line_at(lines, at).is_some_and(|text| text.trim().is_empty());
    let here = |at: usize| lines.get(at).is_some_and(|line| line.depth == depth);
    let (mut part, mut taken) = (Part::default(), Vec::<Taken>::new());
    let mut header: Option<Vec<String>> = None;
    let mut at = 0;
    while at < MOST && here(at) {
        let (text, used) = unwrapped(lines, at, |text| columns(text).is_some())?;
        let Some(names) = columns(&text) else {
            break;
        };
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        if header.as_ref().is_some_and(|known| *known != names) {
            break;
        }
        let mut next = at + used;
        let mut rows: Vec<Row> = Vec::new();
        while rows.len() < ROWS && here(next) {
            let Some((text, used)) = unwrapped(lines, next, |text| row(text, &names).is_some())
            else {
                break;
            };
            let Some(read) = row(&text, &names) else {
                break;
            };
            rows.push(read);
            next += used;
        }
        if rows.is_empty() {
            break;
        }
        taken.resize(at, "blank");
        taken.resize(at + used, "iostat, header");
        taken.resize(next, "iostat");
        part.apart.push((at, rows));
        header = Some(names);
        at = (next..next + 4).find(|at| !blank(*at)).unwrap_or(next);
    }
    (!taken.is_empty()).then_some((part, taken))
}

#[cfg(test)]
mod tests {
    use super::super::Iostat;
    use crate::grammar::{Finding, testing};

    const HEAD: &str = "     tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn Device\n";

    #[test]
    fn reports_with_the_device_last_are_stated() {
        let report = |tps: &str, written: &str| {
            format!(
                "{HEAD}   {tps}   0.0k   {written}   0.0k   2.0M sdb\n   {tps}   0.0k   {written}   0.0k\n   2.0M sdb1\n\n\n"
            )
        };
        let text = report("8.00", "1.0M") + &report("10.00", "500.0k");
        assert_eq!(testing::runs(&Iostat, &text), []);
        let block = testing::read(&Iostat, &text).unwrap();
        let stated: Vec<(&str, f64)> = block
            .findings
            .iter()
            .filter_map(|(_, finding)| match finding {
                Finding::Statement { figure, .. } => Some((figure.metric.as_str(), figure.value)),
                _ => None,
            })
            .collect();
        assert_eq!(stated.len(), 20);
        assert_eq!(stated[2], ("sdb kB_wrtn/s", 1e6));
        assert_eq!(stated[10], ("sdb tps", 10.0));
        assert_eq!(stated[19], ("sdb1 kB_wrtn", 2e6));
    }

    #[test]
    fn other_tables_are_left_alone() {
        for text in [
            "tps  kB_read/s  kB_wrtn/s  runs  Name\n 8.00 0.0k 1.0M 3 sdb\n".to_owned(),
            format!("{HEAD}   8.00   0.0k   x   0.0k   2.0M sdb\n"),
            "tps  reads  writes  more Device\n 8.00 0.0k 1.0M 3 sdb\n".to_owned(),
        ] {
            assert!(testing::read(&Iostat, &text).is_none(), "{text}");
        }
    }
}
