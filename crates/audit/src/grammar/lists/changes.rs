//! Lists in which changes stand behind the figures.

use super::super::cells::line_at;
use super::super::number::english;
use super::super::quantity::metric_of;
use super::super::table::{self, Grid};
use super::super::{Block, Finding, Taken};
use super::{LONGEST, MOST, WORDS, is_setting};
use crate::Line;
use crate::roles::changes_follow_in_rows;

/// A line of a list with or without a unit, and maybe a change behind it.
pub(super) fn line(text: &str) -> Option<table::Row> {
    let text = text.trim().trim_start_matches(['-', '*', '•']).trim_start();
    let (head, value) = text.split_once(':')?;
    let head = head.trim();
    if text.len() > LONGEST || !value.starts_with([' ', '\t']) {
        return None;
    }
    let cell = table::cell_value(value).filter(|cell| cell.unit != "%")?;
    let fits = (1..=WORDS).contains(&head.split_whitespace().count())
        && head.bytes().any(|b| b.is_ascii_alphabetic())
        && !is_setting(head);
    fits.then(|| table::Row {
        labels: vec![head.to_string()],
        cells: vec![cell],
    })
}

/// `268 MB/s (nearly 6x improvement)`: a figure without how many times the first it is, that
/// number, and the place of its last digit.
fn times(text: &str) -> Option<(&str, f64, f64)> {
    const ABOUT: [&str; 5] = ["nearly ", "almost ", "about ", "~", "over "];
    const KINDS: [&str; 8] = [
        "",
        "improvement",
        "faster",
        "slower",
        "speedup",
        "slowdown",
        "higher",
        "lower",
    ];
    let (figure, inner) = text.trim_end().strip_suffix(')')?.rsplit_once(" (")?;
    let bare = ABOUT.iter().find_map(|word| inner.strip_prefix(word));
    let (number, kind) = bare.unwrap_or(inner).split_once('x')?;
    let places = number.rsplit_once('.').map_or(0, |(_, d)| d.len().min(9));
    let step = 10_f64.powi(-i32::try_from(places).unwrap_or(0));
    let ratio = english(number)?;
    KINDS
        .contains(&kind.trim())
        .then_some((figure, ratio, step))
}

/// A line with how many times the first one its figure is.
fn by_factor(text: &str) -> Option<(table::Row, f64, f64)> {
    let (figure, ratio, step) = times(text)?;
    Some((line(figure)?, ratio, step))
}

/// Neighbouring lines, those behind the first with how many times that they are: their
/// changes, as they follow from the figures.
fn list_by_factor<'t>(here: impl Fn(usize) -> Option<&'t str>) -> Option<Vec<table::Row>> {
    let mut rows = vec![line(here(0)?)?];
    let base = rows.first()?.cells.first()?.value;
    for (mut row, ratio, step) in (1..MOST).map_while(|at| by_factor(here(at)?)) {
        let cell = row.cells.first_mut()?;
        let grown = cell.value / base;
        let follows = |own: f64| (own - ratio).abs() <= step / 2.0;
        if !(grown.is_finite() && (follows(grown) || follows(1.0 / grown))) {
            return None;
        }
        cell.change = Some((grown - 1.0) * 100.0);
        rows.push(row);
    }
    (rows.len() >= 2).then_some(rows)
}

/// Neighbouring lines with figures of one unit, and changes that follow from them.
pub(super) fn list(lines: &[Line<'_>]) -> Option<Block> {
    let depth = lines.first()?.depth;
    let here = |at: usize| line_at(lines, at).filter(|_| lines[at].depth == depth);
    let rows: Vec<table::Row> = match list_by_factor(here) {
        Some(rows) => rows,
        None => (0..MOST).map_while(|at| line(here(at)?)).collect(),
    };
    let unit = rows.first()?.cells[0].unit.clone();
    if rows.len() < 2 || rows.iter().any(|row| row.cells[0].unit != unit) {
        return None;
    }
    let column = table::Column {
        name: if unit.is_empty() {
            "value"
        } else {
            metric_of(&unit)
        }
        .to_string(),
        unit,
        numbered: false,
    };
    let grid = Grid {
        header: table::Header {
            columns: vec![column],
            ..table::Header::default()
        },
        at: (0..rows.len()).collect(),
        rows,
        ..Grid::default()
    };
    if !changes_follow_in_rows(&grid) {
        return None;
    }
    let mut block = Block {
        findings: Vec::new(),
        taken: vec!["figure of a configuration" as Taken; grid.rows.len()],
    };
    block.find(0, Finding::Grid(Box::new(grid)));
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::super::Lists;
    use crate::grammar::testing;
    use crate::grammar::{Finding, Grammar};

    fn changes(text: &str) -> Vec<Option<f64>> {
        let block = Lists.read(&testing::lines(text));
        let findings = block.into_iter().flat_map(|block| block.findings);
        let grids = findings.filter_map(|(_, finding)| match finding {
            Finding::Grid(grid) => Some(grid),
            _ => None,
        });
        let rows = grids.flat_map(|grid| grid.rows);
        rows.map(|row| row.cells[0].change.map(f64::round))
            .collect()
    }

    #[test]
    fn how_many_times_faster_it_is_must_follow_from_the_figures() {
        let post =
            "- plain C (n=64):  ~120 MB/s\n- vectors (n=64):  ~470 MB/s (nearly 4x improvement)\n";
        assert_eq!(changes(post), [None, Some(292.0)]);
        let time = "plain: 40 ms\nvectors: 9.9 ms (4.0x faster)\n";
        assert_eq!(changes(time), [None, Some(-75.0)]);
        for text in [
            post.replace("4x", "6x"),
            post.replace("4x improvement", "4x as I think"),
            post.replace("~120 MB/s", "~0 MB/s"),
        ] {
            assert!(changes(&text).is_empty(), "{text}");
        }
    }
}
