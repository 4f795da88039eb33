//! Whether values lie in the places that a label gives them, whatever these
//! places are called.

use super::label::Value;

/// A figure that was read, with its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell<'a> {
    /// The configuration it was put to.
    pub(super) configuration: &'a str,
    /// The workload it was put to.
    pub(super) workload: &'a str,
    /// The metric.
    pub(super) metric: &'a str,
    /// The value.
    pub(super) value: f64,
}

/// At most so many places of one value are looked at.
const CANDIDATES: usize = 24;

/// How many of the values were read at all.
pub(super) fn read(values: &[Value], cells: &[Cell<'_>]) -> usize {
    let there = |value: &&Value| cells.iter().any(|cell| same(value.value, cell.value));
    values.iter().filter(there).count()
}

/// For each value its cell, if it was read; `None` if there is no way to
/// choose them so that configurations are told apart as the values' are, and
/// workloads with metrics too. Of values that are the same number no more have a
/// cell than there are cells.
pub(super) fn place<'c>(values: &[Value], cells: &[Cell<'c>]) -> Option<Vec<Option<Cell<'c>>>> {
    let candidates: Vec<Vec<Cell<'c>>> = values
        .iter()
        .map(|value| {
            let fits = cells.iter().filter(|cell| same(value.value, cell.value));
            let mut places: Vec<Cell<'c>> = Vec::new();
            for cell in fits.copied() {
                if places.len() < CANDIDATES && !places.contains(&cell) {
                    places.push(cell);
                }
            }
            places
        })
        .collect();
    let mut placed = Vec::new();
    choose(values, &candidates, &mut placed).then_some(placed)
}

fn choose<'c>(
    values: &[Value],
    candidates: &[Vec<Cell<'c>>],
    placed: &mut Vec<Option<Cell<'c>>>,
) -> bool {
    let at = placed.len();
    let (Some(value), Some(places)) = (values.get(at), candidates.get(at)) else {
        return true;
    };
    for place in places {
        let before = values.iter().zip(placed.iter());
        let mut met = before.filter_map(|(value, cell)| Some((value, (*cell)?)));
        if !met.all(|(other, cell)| agree(value, place, other, &cell)) {
            continue;
        }
        placed.push(Some(*place));
        if choose(values, candidates, placed) {
            return true;
        }
        placed.pop();
    }
    if !may_lack(values, places, placed) {
        return false;
    }
    placed.push(None);
    let chosen = choose(values, candidates, placed);
    if !chosen {
        placed.pop();
    }
    chosen
}

/// Whether the next value may be without a cell: nothing was read of it, or fewer cells
/// hold its number than values are that number.
fn may_lack(values: &[Value], places: &[Cell<'_>], placed: &[Option<Cell<'_>>]) -> bool {
    let number = values[placed.len()].value;
    let equal = values.iter().filter(|other| other.value == number).count();
    let before = values.iter().zip(placed);
    let lacking = before.filter(|(other, cell)| other.value == number && cell.is_none());
    lacking.count() + places.len() < equal
}

/// Whether two cells differ in what their values differ in.
fn agree(a: &Value, cell: &Cell<'_>, b: &Value, other: &Cell<'_>) -> bool {
    let configurations = a.configuration == b.configuration;
    let columns = a.workload == b.workload && a.metric == b.metric;
    configurations == (cell.configuration == other.configuration)
        && columns == (cell.workload == other.workload && cell.metric == other.metric)
}

/// Whether two values that the label compares were both read.
pub(super) fn compared(values: &[Value], placed: &[Option<Cell<'_>>]) -> bool {
    let read: Vec<&Value> = values
        .iter()
        .zip(placed)
        .filter_map(|(value, cell)| cell.map(|_| value))
        .collect();
    read.iter().any(|a| {
        read.iter().any(|b| {
            a.configuration != b.configuration && a.workload == b.workload && a.metric == b.metric
        })
    })
}

/// Whether a figure is the printed number, in whatever thousands it is kept.
fn same(printed: f64, figure: f64) -> bool {
    const SCALES: [f64; 7] = [1.0, 1e3, 1e6, 1e9, 1024.0, 1_048_576.0, 1_073_741_824.0];
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    SCALES.iter().any(|scale| near(printed * scale, figure))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(configuration: &str, metric: &str, value: f64) -> Value {
        Value {
            configuration: configuration.into(),
            workload: "w".into(),
            metric: metric.into(),
            value,
            spread: None,
        }
    }

    fn cell<'a>(configuration: &'a str, metric: &'a str, value: f64) -> Cell<'a> {
        Cell {
            configuration,
            workload: "any",
            metric,
            value,
        }
    }

    #[test]
    fn a_number_of_two_configurations_may_be_read_of_one_only() {
        let values = [
            value("base", "t", 1.5),
            value("new", "t", 2.5),
            value("other", "t", 2.5),
        ];
        let two = [cell("1", "x", 1.5), cell("2", "x", 2.5)];
        let placed = place(&values, &two).unwrap();
        assert_eq!(placed, [Some(two[0]), Some(two[1]), None]);
        // Both were read, and of the same configuration.
        let pooled = [two[0], two[1], cell("2", "y", 2.5)];
        assert_eq!(place(&values, &pooled), None);
        // One of two that are equal has a cell, and it is in the wrong place.
        let one = [cell("1", "x", 1.5), cell("1", "x", 2.5)];
        assert_eq!(place(&values, &one), None);
        // No number of two.
        assert_eq!(place(&values[..2], &one), None);
    }

    #[test]
    fn names_do_not_matter_and_places_do() {
        let values = [
            value("base", "t", 1.5),
            value("new", "t", 2.5),
            value("base", "u", 3.5),
        ];
        let right = [
            cell("1", "x", 1.5),
            cell("2", "x", 2.5),
            cell("1", "y", 3.5),
        ];
        let placed = place(&values, &right).unwrap();
        assert!(placed.iter().all(Option::is_some));
        assert!(compared(&values, &placed));
        // Rows taken for columns.
        let turned = [
            cell("x", "1", 1.5),
            cell("x", "2", 2.5),
            cell("y", "1", 3.5),
        ];
        assert!(place(&values, &turned).is_none());
    }

    #[test]
    fn a_value_that_stands_in_several_places_may_be_any_of_them() {
        let values = [value("base", "t", 1.0), value("new", "t", 2.0)];
        let cells = [
            cell("c", "x", 1.0),
            cell("a", "y", 1.0),
            cell("b", "y", 2.0),
        ];
        assert!(place(&values, &cells).is_some());
        assert!(place(&values, &cells[..1]).is_some());
        let apart = [cell("a", "x", 1.0), cell("b", "y", 2.0)];
        assert!(place(&values, &apart).is_none());
    }

    #[test]
    fn one_side_alone_is_not_compared() {
        let values = [value("base", "t", 1.0), value("new", "t", 2.0)];
        let placed = place(&values, &[cell("a", "x", 1.0)]).unwrap();
        assert!(!compared(&values, &placed));
    }

    #[test]
    fn thousands_are_the_same_number() {
        assert!(same(12.5, 12_500.0));
        assert!(same(12.5, 12.5));
        assert!(!same(12.5, 12.51));
    }
}
