//! What an experiment declared about its judging before the data were seen.

use std::path::Path;

use assize_bundle::Error;
use assize_plan::Plan;
use serde::Deserialize;

use crate::failure::Failure;

/// On which terms records are judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Terms {
    /// Ratios within 1 ± this are equivalent, if the experiment says so.
    pub(crate) margin: Option<f64>,
    /// How often the data are looked at while they grow, the last time
    /// included.
    pub(crate) looks: u32,
}

impl Default for Terms {
    fn default() -> Self {
        Terms {
            margin: None,
            looks: 1,
        }
    }
}

/// What matters of a plan.
#[derive(Deserialize)]
struct Declared {
    margin: f64,
    until: Option<Until>,
}

#[derive(Deserialize)]
struct Until {
    looks: u32,
}

impl Terms {
    /// Of an experiment, once all of it has been carried out.
    pub(crate) fn planned(plan: &Plan) -> Self {
        Terms {
            margin: Some(plan.margin),
            looks: plan.until.map_or(1, |until| until.looks.max(1)),
        }
    }

    /// Of a bundle of runs; results that were read come without terms.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        if !path.is_dir() {
            return Ok(Terms::default());
        }
        let head = match assize_bundle::read_plan(path) {
            Ok(head) => head,
            Err(Error::NoSchedule(_)) => return Ok(Terms::default()),
            Err(error) => return Err(error.into()),
        };
        let declared = Declared::deserialize(&head.plan).map_err(|error| {
            let file = path.join("bundle.json");
            Failure::Argument(format!("{}: the plan is damaged: {error}", file.display()))
        })?;
        Ok(Terms {
            margin: Some(declared.margin),
            looks: declared.until.map_or(1, |until| until.looks.max(1)),
        })
    }

    /// Of records that are judged together: a margin only if it is the same,
    /// and as careful as the most careful.
    pub(crate) fn and(self, other: Terms) -> Terms {
        Terms {
            margin: self.margin.filter(|_| self.margin == other.margin),
            looks: self.looks.max(other.looks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_that_differ_are_not_guessed() {
        let terms = |margin, looks| Terms { margin, looks };
        let (a, b) = (terms(Some(0.01), 1), terms(Some(0.02), 4));
        assert_eq!(a.and(a), a);
        assert_eq!(a.and(b), terms(None, 4));
        assert_eq!(b.and(terms(None, 1)), terms(None, 4));
    }
}
