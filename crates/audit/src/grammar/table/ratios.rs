//! Tables whose rows are the configurations of each workload: with a column of ratios to one of them,
//! as BenchmarkDotNet prints it, or with a state at the end of their names, `make check before`.

use std::collections::{BTreeMap, BTreeSet};

use super::roles::key_is;
use crate::grammar::grid::{Grid, Row, undecorated};
use crate::grammar::units::is_measure;
use crate::states::{are_before_and_after, are_sure, side_of_word};

/// Names of such columns.
const RATIOS: [&str; 3] = ["ratio", "relative", "scaled"];
/// By what share a ratio may be off: it is computed before rounding, of pairs of runs.
const OFF: f64 = 0.05;

impl Grid {
    /// The table with the baseline first and a column `Configuration`, if a label
    /// names the baseline of all rows with the same other ones.
    pub(crate) fn by_ratios(&self) -> Option<Grid> {
        let ratio = (0..self.columns.len()).find(|at| key_is(&self.columns[*at], &RATIOS))?;
        let names = |row: &Row, of: usize| {
            let set = self.columns[..of].iter().zip(&row.cells);
            let set = set.map(|(name, cell)| {
                let text = cell.as_ref().map_or("", |cell| &cell.text);
                format!("{name}={text}")
            });
            row.labels.iter().cloned().chain(set).collect::<Vec<_>>()
        };
        (0..ratio).find_map(|of| {
            let named: Vec<Vec<String>> = self.rows.iter().map(|row| names(row, of)).collect();
            let count = self.rows.first()?.labels.len();
            let even = named.iter().all(|names| names.len() == count + of);
            let mut keys = (0..count).filter(|_| even);
            keys.find_map(|key| self.keyed(&named, key, [of, ratio]))
        })
    }

    /// The table with a column `Configuration`, if the name of each row ends with a state, and each
    /// has the one before a change and the one after it. Only of times and rates: memory before and
    /// after may be that of one run.
    pub(crate) fn by_ends(&self) -> Option<Grid> {
        let ends = |row: &Row| {
            let (name, state) = row.labels.last()?.rsplit_once(' ')?;
            let state = state.trim_matches(['(', ')']).to_owned();
            let known = side_of_word(&state).is_some() && are_sure(&[&state]);
            let rest = &row.labels[..row.labels.len() - 1];
            let name = undecorated(name.trim_end_matches([' ', ',', '-'])).to_owned();
            known.then(|| [rest, &[name, state]].concat())
        };
        let labels: Vec<Vec<String>> = self.rows.iter().map(ends).collect::<Option<_>>()?;
        let mut groups: BTreeMap<&[String], Vec<&String>> = BTreeMap::new();
        for (state, name) in labels.iter().filter_map(|all| all.split_last()) {
            groups.entry(name).or_default().push(state);
        }
        let units = self.measured(&Vec::from_iter(0..self.columns.len()));
        let timed = units.iter().all(|unit| is_measure(unit) || *unit == "time");
        let paired = groups.values().all(|states| are_before_and_after(states));
        let keys = self
            .keys
            .iter()
            .cloned()
            .chain(["Configuration".to_owned()]);
        (timed && paired).then(|| Grid {
            keys: keys.collect(),
            columns: self.columns.clone(),
            rows: self
                .rows
                .iter()
                .zip(labels)
                .map(|(row, labels)| Row {
                    labels,
                    ..row.clone()
                })
                .collect(),
        })
    }

    /// [`Grid::by_ratios`] with the names of all rows, of which those at `key` are configurations, and
    /// the columns of what was measured and of the ratios.
    fn keyed(&self, named: &[Vec<String>], key: usize, [of, ratio]: [usize; 2]) -> Option<Grid> {
        let own = |at: usize| named[at][key].as_str();
        // `Runtime` may follow from `Job`: neither is a workload then.
        let follows = |other: usize| {
            let pairs: BTreeSet<_> = named.iter().map(|all| (&all[key], &all[other])).collect();
            let keys: BTreeSet<_> = named.iter().map(|all| &all[key]).collect();
            pairs.len() == keys.len()
        };
        let others: Vec<usize> = (0..named[0].len()).filter(|at| !follows(*at)).collect();
        let rest = |at: usize| -> Vec<&str> { others.iter().map(|i| &*named[at][*i]).collect() };
        let mut groups: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for at in 0..named.len() {
            groups.entry(rest(at)).or_default().push(at);
        }
        let is_base = |base: &str| {
            groups
                .values()
                .all(|rows| self.follow(rows, base, own, [of, ratio]))
        };
        let mut bases = named
            .iter()
            .map(|all| all[key].as_str())
            .filter(|name| is_base(name));
        let base = bases
            .next()
            .filter(|base| bases.all(|other| other == *base))?;
        let mut order: Vec<usize> = (0..named.len()).collect();
        order.sort_by_key(|at| own(*at) != base);
        let kept = (of..self.columns.len()).filter(|at| *at != ratio);
        let kept: Vec<usize> = kept.collect();
        let row = |at: usize| Row {
            at: self.rows[at].at,
            labels: vec![rest(at).join(" "), own(at).to_owned()],
            cells: kept
                .iter()
                .map(|i| self.rows[at].cells[*i].clone())
                .collect(),
        };
        Some(Grid {
            keys: vec![self.keys.first()?.clone(), "Configuration".to_owned()],
            columns: kept.iter().map(|at| self.columns[*at].clone()).collect(),
            rows: order.into_iter().map(row).collect(),
        })
    }

    /// Whether the ratios of some rows are those to one called `base`, and some are not 1.
    fn follow<'n>(
        &self,
        rows: &[usize],
        base: &str,
        name: impl Fn(usize) -> &'n str,
        [of, ratio]: [usize; 2],
    ) -> bool {
        let mut own = rows.iter().filter(|at| name(**at) == base);
        let (Some(base), None) = (own.next(), own.next()) else {
            return false;
        };
        let cell = |at: usize, column: usize| self.rows[at].cells[column].as_ref();
        let to_base = |at: &usize| {
            let (one, base, printed) = (cell(*at, of)?, cell(*base, of)?, cell(*at, ratio)?);
            let (found, step) = (one.value / base.value, printed.step.unwrap_or(0.0));
            let fits = (found - printed.value).abs() <= step + OFF * found;
            (one.unit == base.unit && fits).then_some(printed.value)
        };
        let ratios: Option<Vec<f64>> = rows.iter().map(to_base).collect();
        let one = cell(*base, ratio).is_some_and(|cell| cell.value == 1.0);
        one && ratios.is_some_and(|all| all.iter().any(|ratio| *ratio != 1.0))
    }
}
