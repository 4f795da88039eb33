//! Columns, rows and remarks that are computed from others: printed changes. They tell which
//! columns or rows are states of one thing, whatever these are called.

use std::collections::BTreeSet;

use super::roles::{is_derived, is_number, key_is, unitless};
use crate::grammar::grid::{Cell, Grid, Row, are_measured, has_word, is_deviation};
use crate::grammar::units::{is_measure, is_unit, metric_of, power_of_seconds, unit_of_header};
use crate::states::{are_before_and_after, are_states, are_sure};

/// What a formula computes. A share, `40 %` of a size, seldom compares states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ratio,
    Difference,
    Percent,
    Share,
}

/// How a printed change follows from two figures: the formula, its value for two equal ones, and
/// what it is. Words may say which way a change without a sign goes.
type Formula = (fn(f64, f64) -> f64, f64, Kind);

const FORMULAS: [Formula; 10] = [
    (|a, b| b / a, 1.0, Kind::Ratio),
    (|a, b| a / b, 1.0, Kind::Ratio),
    (|a, b| a.max(b) / a.min(b), 1.0, Kind::Ratio),
    (|a, b| b - a, 0.0, Kind::Difference),
    (|a, b| a - b, 0.0, Kind::Difference),
    (|a, b| 100.0 * (b - a) / a, 0.0, Kind::Percent),
    (|a, b| 100.0 * (a - b) / a, 0.0, Kind::Percent),
    (|a, b| 100.0 * (a - b) / b, 0.0, Kind::Percent),
    (|a, b| 100.0 * (b - a) / b, 0.0, Kind::Percent),
    (|a, b| 100.0 * b / a, 100.0, Kind::Share),
];

/// More columns are not searched: the work grows with the cube of their number.
const WIDEST: usize = 12;
/// Names of statistics.
#[rustfmt::skip]
const STATISTICS: [&str; 7] = [
    "average", "avg", "max", "mean", "median", "min", "total",
];
/// Rows from which on percentages may be of figures before they were rounded, and by what share
/// they may be off.
const MANY: (usize, f64) = (3, 0.01);

/// Two figures, and the change between them with the place of its last digit.
type Printed<'g> = ([&'g Cell; 2], f64, f64);

impl Grid {
    fn cells(&self, column: usize) -> impl Iterator<Item = &Cell> {
        let rows = self.rows.iter();
        rows.filter_map(move |row| row.cells[column].as_ref())
    }

    /// Whether a column is derived by its name, or all its figures are in percent or times.
    pub(super) fn is_change(&self, column: usize) -> bool {
        let name = &self.columns[column];
        let named = name.contains(char::is_alphanumeric) && !is_derived(name);
        !named || self.is_relative(column)
    }

    fn is_relative(&self, column: usize) -> bool {
        let mut cells = self.cells(column);
        cells.all(|cell| matches!(&*cell.unit, "%" | "x"))
            || unit_of_header(&self.columns[column]) == "%"
    }

    fn is_signed(&self, column: usize) -> bool {
        let mut cells = self.cells(column);
        cells.any(|cell| cell.text.starts_with(['+', '-', '\u{2212}']))
    }

    /// Whether a column holds percentages of which some have a sign, or has no name.
    pub(super) fn holds_changes(&self, column: usize) -> bool {
        let percent = || self.cells(column).all(|cell| cell.unit == "%");
        let unnamed = !self.columns[column].contains(char::is_alphanumeric);
        self.is_signed(column) && percent() || unnamed && self.columns.len() > 1
    }

    /// What columns measure, by the units of their cells, else of their headers.
    pub(super) fn measured(&self, columns: &[usize]) -> BTreeSet<&str> {
        let mut all = BTreeSet::new();
        for at in columns {
            let header = unit_of_header(&self.columns[*at]);
            let units = self.cells(*at).map(|cell| cell.unit.as_str());
            all.extend(units.map(|unit| metric_of(if unit.is_empty() { header } else { unit })));
        }
        all
    }

    /// Whether a column holds parameters of the workload: numbers without a unit before the first
    /// state.
    pub(super) fn sets_before(&self, column: usize, sides: &[usize]) -> bool {
        let before = sides.first().is_some_and(|first| column < *first);
        let unit = self.measured(&[column]);
        before && !self.is_change(column) && unit.iter().all(|unit| unit.is_empty())
    }

    /// The tables of which this one consists, if each quantity has two columns of its own: with the
    /// change between them, `old time`, `new time`, `change`, `old memory`, and so on, or named for
    /// states, `master time`, `PR time`, `master memory`, `PR memory`; or if arrows are in its cells.
    pub(crate) fn parts(self) -> Vec<Grid> {
        if let Some(by_ends) = self.by_ends() {
            return vec![by_ends];
        }
        let arrow = |at: &usize| self.cells(*at).any(|cell| cell.then.is_some());
        let (arrows, others): (Vec<usize>, Vec<usize>) = (0..self.columns.len()).partition(arrow);
        if !arrows.is_empty() {
            let rest = self.kept(&others);
            let alone = arrows.len() == 1;
            let parts = arrows.iter().filter_map(|at| self.by_arrow(*at, alone));
            return parts.chain(rest).collect();
        }
        let mut ways = [self.by_changes(), self.by_states()].into_iter();
        let parts = ways.find_map(|groups| self.parted(&groups));
        parts.unwrap_or_else(|| vec![self])
    }

    /// A column whose cells have arrows, as two: `before` and `after`. Unless it is `alone`, its name
    /// is behind those of the rows. Its unit may be in the header.
    fn by_arrow(&self, column: usize, alone: bool) -> Option<Grid> {
        let header = &self.columns[column];
        let unit = unit_of_header(header);
        let name = |kept: &[String]| match alone {
            true => kept.to_vec(),
            false => [kept, &[unitless(header).to_owned()]].concat(),
        };
        let row = |row: &Row| {
            let before = row.cells[column].as_ref()?;
            let after = before.then.as_deref()?;
            let measured = !unit.is_empty() || are_measured([before, after]);
            measured.then(|| Row {
                at: row.at,
                labels: name(&row.labels),
                cells: [before, after].map(|cell| Some(cell.clone())).to_vec(),
            })
        };
        let rows: Vec<Row> = self.rows.iter().filter_map(row).collect();
        let sides = ["before", "after"].map(|side| match unit {
            "" => side.to_owned(),
            unit => format!("{side} ({unit})"),
        });
        (!rows.is_empty()).then(|| Grid {
            keys: name(&self.keys),
            columns: sides.to_vec(),
            rows,
        })
    }

    /// The table of some columns, unless these only hold changes.
    fn kept(&self, columns: &[usize]) -> Option<Grid> {
        let row = |row: &Row| Row {
            cells: columns.iter().map(|at| row.cells[*at].clone()).collect(),
            ..row.clone()
        };
        let measured = columns.iter().any(|at| !self.is_change(*at));
        measured.then(|| Grid {
            keys: self.keys.clone(),
            columns: columns.iter().map(|at| self.columns[*at].clone()).collect(),
            rows: self.rows.iter().map(row).collect(),
        })
    }

    fn by_changes(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = vec![Vec::new()];
        for at in 0..self.columns.len().min(WIDEST) {
            let own = groups.pop().unwrap_or_default();
            let change = own.len() >= 2 && self.follows([own[0], own[1]], at);
            match own.len() < 2 || change {
                true => groups.push([own, vec![at]].concat()),
                false => groups.extend([own, vec![at]]),
            }
        }
        groups.retain(|group| group.len() > 2);
        // One alone is a table as it stands.
        if groups.len() < 2 { Vec::new() } else { groups }
    }

    /// Pairs of columns whose names are two states and then the same words. One pair alone may be
    /// generations of a heap unless a state is sure; and before and after what happens in each run
    /// unless it has times or rates: `speed before`, `speed after`.
    fn by_states(&self) -> Vec<Vec<usize>> {
        let count = self.columns.len().min(WIDEST);
        let pairs = |ends: bool, states: fn(&[String; 2]) -> bool| -> Vec<Vec<usize>> {
            let pair = |a: usize| {
                let is_other =
                    |b: &usize| states(&differing([&self.columns[a], &self.columns[*b]], ends));
                Some(vec![a, (a + 1..count).find(is_other)?])
            };
            (0..count).filter_map(pair).collect()
        };
        let all = pairs(true, |names| are_before_and_after(names));
        if all.len() > 1 {
            return all;
        }
        let sure = pairs(true, |names| are_before_and_after(names) && are_sure(names));
        let behind = || {
            pairs(false, |names| {
                are_before_and_after(names) && are_sure(names)
            })
        };
        let found = if sure.is_empty() { behind() } else { sure };
        let open = |pair: &Vec<usize>| {
            let names: Vec<&String> = pair.iter().map(|at| &self.columns[*at]).collect();
            let units = self.measured(pair);
            let timed = units.iter().all(|unit| is_measure(unit) || *unit == "time");
            timed && !are_states(&names)
        };
        found.into_iter().filter(open).collect()
    }

    /// One table for each group of columns, if each column but those of changes is in one.
    fn parted(&self, groups: &[Vec<usize>]) -> Option<Vec<Grid>> {
        let met: BTreeSet<usize> = groups.iter().flatten().copied().collect();
        let whole = met.len() == groups.iter().map(Vec::len).sum::<usize>();
        let mut left = (0..self.columns.len()).filter(|at| !met.contains(at));
        if groups.is_empty() || !whole || !left.all(|at| self.is_change(at)) {
            return None;
        }
        let parts: Vec<Grid> = groups
            .iter()
            .map(|group| self.part(group))
            .collect::<Option<_>>()?;
        let names = |part: &Grid| [0, 1].map(|at| unitless(&part.columns[at]).to_owned());
        let quantity = |part: &Grid| part.rows[0].labels.last().cloned();
        let quantities: BTreeSet<_> = parts.iter().map(quantity).collect();
        let of_one = parts.iter().all(|part| names(part) == names(&parts[0]));
        (of_one && quantities.len() == parts.len()).then_some(parts)
    }

    /// Two columns and the changes between them, whose rows have the words that both headers share.
    fn part(&self, group: &[usize]) -> Option<Grid> {
        let [a, b, ..] = group[..] else {
            return None;
        };
        let words = |at: usize| self.columns[at].split_whitespace();
        let shared = |word: &str| [a, b].iter().all(|at| words(*at).any(|own| own == word));
        let (units, quantity): (Vec<&str>, Vec<&str>) = words(a)
            .filter(|word| shared(word))
            .partition(|word| is_unit(word.trim_matches(['(', ')', '[', ']'])));
        let name = |at: usize| {
            let own = words(at).filter(|word| !shared(word));
            own.chain(units.iter().copied())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let row = |row: &Row| Row {
            at: row.at,
            labels: [&row.labels[..], &[quantity.join(" ")]].concat(),
            cells: group.iter().map(|at| row.cells[*at].clone()).collect(),
        };
        let changes = group[2..].iter().map(|at| self.columns[*at].clone());
        let alike = self.are_alike(a, b) && !quantity.is_empty() && !self.rows.is_empty();
        alike.then(|| Grid {
            keys: self.keys.iter().cloned().chain([String::new()]).collect(),
            columns: [a, b].map(name).into_iter().chain(changes).collect(),
            rows: self.rows.iter().map(row).collect(),
        })
    }

    /// Finds columns whose ratio to the first of them, difference from it or change in percent the
    /// table prints, in a later column or in remarks, and further ones in their unit. One more such
    /// pair would be of something else.
    pub(super) fn recomputed(&self) -> Option<Vec<usize>> {
        let count = self.columns.len();
        if count > WIDEST {
            return None;
        }
        (0..count).find_map(|a| {
            let mut sides = vec![a];
            for b in a + 1..count {
                let known = || sides[1..].iter().any(|c| self.follows([a, *c], b));
                if self.are_alike(a, b) && !known() && self.prints_change([a, b]) {
                    sides.push(b);
                }
            }
            let units = self.measured(&[a]);
            let changed = |at: usize| match units.contains("%") {
                true => is_derived(&self.columns[at]),
                false => self.is_change(at),
            };
            let derived =
                |at: usize| changed(at) || sides[1..].iter().any(|b| self.follows([a, *b], at));
            let rest = (0..count).filter(|at| !sides.contains(at) && !derived(*at));
            let (further, rest): (Vec<usize>, Vec<usize>) =
                rest.partition(|at| !units.contains("") && self.are_alike(a, *at));
            let apart = |at: &usize| *at < a || self.measured(&[*at]).is_disjoint(&units);
            let all: Vec<usize> = rest.iter().chain(&further).copied().collect();
            let mut pairs = all
                .iter()
                .flat_map(|c| all.iter().filter(move |d| *d > c).map(move |d| [*c, *d]));
            let other = pairs.any(|[c, d]| self.are_alike(c, d) && self.prints_change([c, d]));
            let found = sides.len() > 1 && rest.iter().all(apart) && !other;
            sides.extend(further);
            sides.sort_unstable();
            found.then_some(sides)
        })
    }

    /// [`Grid::recomputed`] for rows.
    pub(super) fn recomputed_rows(&self) -> Option<Vec<usize>> {
        if self.rows.len() > WIDEST {
            return None;
        }
        let row = |(at, name): (usize, &String)| Row {
            at,
            labels: vec![name.clone()],
            cells: self.rows.iter().map(|row| row.cells[at].clone()).collect(),
        };
        let turned = Grid {
            keys: Vec::new(),
            columns: self.rows.iter().map(Row::label).collect(),
            rows: self.columns.iter().enumerate().map(row).collect(),
        };
        turned.recomputed()
    }

    /// Whether two columns may be states of one thing: they have two names and one unit, and are no
    /// statistics of the same runs.
    fn are_alike(&self, a: usize, b: usize) -> bool {
        let [one, other] = [a, b].map(|at| self.columns[at].as_str());
        let statistic = |name: &str| {
            let name = unitless(name).to_lowercase();
            let quantile = name.strip_prefix('p').is_some_and(is_number);
            let spread = is_deviation(&name) && !has_word(&name, &STATISTICS);
            key_is(&name, &STATISTICS) || quantile || spread
        };
        let named = |name: &str| name.contains(char::is_alphanumeric) && !statistic(name);
        let headers = [one, other].map(|name| metric_of(unit_of_header(name)));
        let rows = self.rows.iter();
        let mut pairs = rows.filter_map(|row| row.cells[a].as_ref().zip(row.cells[b].as_ref()));
        let one_unit = pairs.all(|(a, b)| metric_of(&a.unit) == metric_of(&b.unit));
        one != other && named(one) && named(other) && headers[0] == headers[1] && one_unit
    }

    /// Whether a later column, or remarks behind the second figure, hold the change between two.
    fn prints_change(&self, [a, b]: [usize; 2]) -> bool {
        (b + 1..self.columns.len()).any(|at| self.follows([a, b], at)) || self.is_remarked([a, b])
    }

    /// Whether a column is the change between two. A ratio of sizes or counts, or a share of them,
    /// is as likely a property of one state: a rate of compression, of hits.
    fn follows(&self, [a, b]: [usize; 2], column: usize) -> bool {
        let printed = self.rows.iter().filter_map(|row| {
            let [a, b, change] = [a, b, column].map(|at| row.cells[at].as_ref());
            Some(([a?, b?], change?.value, change?.step.unwrap_or(0.0)))
        });
        let printed: Vec<Printed<'_>> = printed.collect();
        let (relative, signed) = (self.is_relative(column), self.is_signed(column));
        let name = &self.columns[column];
        let has = |at: usize| name.contains(unitless(&self.columns[at]));
        let said = is_derived(name) || has(a) && has(b);
        let named = said || !name.contains(char::is_alphanumeric);
        let counts = self.counts(a) && self.counts(b);
        let fits = |kind: Kind| match kind {
            Kind::Percent => (relative || named) && (signed || named || !counts),
            Kind::Ratio => (relative || named) && !counts,
            Kind::Difference => signed || named,
            Kind::Share => named && !counts,
        };
        let needed = if signed || said { 1 } else { 2 };
        let mut formulas = FORMULAS.iter().filter(|formula| fits(formula.2));
        formulas.any(|formula| telling(formula, &printed, false) >= needed)
    }

    /// Whether the cells of a column are sizes or whole numbers without a unit.
    pub(super) fn counts(&self, column: usize) -> bool {
        let measured = is_measure(unit_of_header(&self.columns[column]));
        let count = |cell: &Cell| cell.is_size || cell.unit.is_empty() && cell.value.fract() == 0.0;
        !measured && self.cells(column).all(count)
    }

    /// Whether remarks behind the figures of the second column say how they have changed: `27 s (22 %
    /// faster)`.
    fn is_remarked(&self, [a, b]: [usize; 2]) -> bool {
        let rows = self.rows.iter();
        let printed = rows.filter_map(|row| {
            let sides = [row.cells[a].as_ref()?, row.cells[b].as_ref()?];
            let (_, remark) = sides[1].text.split_once('(')?;
            let digits = remark.find(|c: char| c.is_ascii_digit())?;
            let (change, _) = Cell::leading(&remark[digits..])?;
            let relative = matches!(&*change.unit, "%" | "x");
            relative.then(|| (sides, change.value, change.step.unwrap_or(1.0)))
        });
        let printed: Vec<Printed<'_>> = printed.collect();
        let unit = |kind: Kind| matches!(kind, Kind::Percent | Kind::Ratio);
        let mut formulas = FORMULAS.iter().filter(|formula| unit(formula.2));
        formulas.any(|formula| telling(formula, &printed, true) >= 1)
    }
}

/// In how many rows a printed figure is computed by a formula, within what rounding explains, and
/// is other than it would be of equal figures; none if one of the rows contradicts it. Remarks have
/// no sign.
fn telling((formula, neutral, kind): &Formula, printed: &[Printed<'_>], remarks: bool) -> usize {
    let mut telling = 0;
    let many = printed.len() >= MANY.0 && *kind == Kind::Percent;
    for ([a, b], value, step) in printed {
        // `1.34s` beside `122.99ms`.
        let powers = power_of_seconds(&a.unit).zip(power_of_seconds(&b.unit));
        let scale = powers.map_or(1.0, |(a, b)| 10_f64.powi(b - a));
        // Counts are not rounded: soon any whole number would be the difference of two.
        let counted = |cell: &Cell| cell.unit.is_empty() && cell.value.fract() == 0.0;
        let exact = *kind == Kind::Difference && counted(a) && counted(b);
        let own_step = |cell: &Cell| cell.step.filter(|_| !exact).unwrap_or(0.0);
        let [a_step, b_step] = [a, b].map(|cell| 0.51 * own_step(cell));
        let compute =
            |sign: f64| formula(a.value + sign * a_step, scale * (b.value - sign * b_step));
        let rounding = 0.51 * step + (compute(1.0) - compute(-1.0)).abs() / 2.0;
        let slack = if many { MANY.1 * value.abs() } else { 0.0 };
        let found = compute(0.0);
        let off = (value - if remarks { found.abs() } else { found }).abs();
        if off.is_nan() || off > rounding.max(slack) {
            return 0;
        }
        let copied = [a.value, b.value].contains(value);
        telling += usize::from(!copied && (value - neutral).abs() > rounding);
    }
    telling
}

/// What two names have of their own, besides the words that both begin or, at their `ends`, end with.
fn differing(names: [&str; 2], ends: bool) -> [String; 2] {
    let [mut one, mut other] = names.map(|name| {
        let mut words: Vec<&str> = name.split_whitespace().collect();
        if ends {
            words.reverse();
        }
        words
    });
    let shared = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    [&mut one, &mut other].map(|words| {
        words.drain(..shared);
        if ends {
            words.reverse();
        }
        words.join(" ")
    })
}
