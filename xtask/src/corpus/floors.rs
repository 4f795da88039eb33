//! What the twins must score at least, as `corpus/floors.toml` declares it.

use std::collections::BTreeMap;
use std::fs;

use super::label::Part;
use super::score::{Figure, Graded, part};
use crate::Error;
use crate::tree;

const FILE: &str = "corpus/floors.toml";

/// Part to figure to per cent: of figures of which less is better a ceiling.
type Floors = BTreeMap<String, BTreeMap<String, f64>>;

/// Every figure that is worse than declared, in a sentence each.
pub(super) fn broken(graded: &[Graded]) -> Result<Vec<String>, Error> {
    let path = tree::root()?.join(FILE);
    let text = fs::read_to_string(&path).map_err(|why| format!("{FILE}: {why}"))?;
    let floors: Floors = toml::from_str(&text).map_err(|why| format!("{FILE}: {why}"))?;
    let mut broken = Vec::new();
    for of in Part::ALL {
        let figures = part(graded, of).figures();
        let declared = floors.get(of.word());
        let declared = declared.ok_or(format!("{FILE}: [{}] is missing", of.word()))?;
        broken.extend(below(of, &figures, declared)?);
    }
    Ok(broken)
}

fn below(
    of: Part,
    figures: &[Figure],
    declared: &BTreeMap<String, f64>,
) -> Result<Vec<String>, Error> {
    let known = |name: &String| figures.iter().any(|figure| figure.name == name);
    if let Some(unknown) = declared.keys().find(|name| !known(name)) {
        return Err(format!(
            "{FILE}: [{}]: {unknown}: no such figure",
            of.word()
        ));
    }
    let mut broken = Vec::new();
    for figure in figures {
        let name = figure.name;
        let Some(&bound) = declared.get(name) else {
            return Err(format!("{FILE}: [{}]: {name} is missing", of.word()));
        };
        let percent = figure.percent();
        let (worse, word) = match figure.more_is_better {
            true => (percent < bound, "least"),
            false => (percent > bound, "most"),
        };
        if worse {
            broken.push(format!(
                "{}: {name} is {percent:.1} % ({} of {}); {bound} % at {word}",
                of.word(),
                figure.part,
                figure.of
            ));
        }
    }
    Ok(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(more_is_better: bool) -> Figure {
        Figure {
            name: "f",
            part: 3,
            of: 4,
            more_is_better,
        }
    }

    fn bound(percent: f64) -> BTreeMap<String, f64> {
        [("f".to_string(), percent)].into()
    }

    #[test]
    fn a_figure_that_is_worse_than_declared_breaks_its_floor_or_ceiling() {
        let test = |more, percent| below(Part::Scored, &[figure(more)], &bound(percent));
        assert_eq!(test(true, 75.0), Ok(vec![]));
        assert_eq!(test(true, 75.1).unwrap().len(), 1);
        assert_eq!(test(false, 75.0), Ok(vec![]));
        assert_eq!(test(false, 74.9).unwrap().len(), 1);
    }

    #[test]
    fn every_figure_has_a_floor_and_every_floor_a_figure() {
        let test = |declared| below(Part::Working, &[figure(true)], &declared);
        assert!(test(BTreeMap::new()).unwrap_err().contains("missing"));
        let mut more = bound(1.0);
        more.insert("g".into(), 1.0);
        assert!(test(more).unwrap_err().contains("g: no such"));
    }
}
