//! The names of a workload beside each other.

use std::collections::{BTreeMap, BTreeSet};

use super::Member;
use crate::admission::{Sign, contrast};

/// The names of a workload, with what is asked of each beside all others.
pub(super) struct Compared<'a> {
    pub(super) names: Vec<contrast::Name>,
    /// Those that may be of configurations.
    pub(super) good: Vec<bool>,
    pub(super) texts: &'a [&'a str],
    own: BTreeMap<&'a str, Vec<&'a Member<'a>>>,
    /// Whether each stands beside its opposite.
    pub(super) opposed: Vec<bool>,
    /// The figures of those that do, by metric.
    pub(super) values: BTreeMap<&'a str, Vec<f64>>,
    /// The metrics of which they have each figure with a unit.
    pub(super) united: BTreeSet<&'a str>,
}

impl<'a> Compared<'a> {
    pub(super) fn of(texts: &'a [&'a str], members: &'a [Member<'a>]) -> Self {
        let names: Vec<contrast::Name> =
            texts.iter().map(|name| contrast::Name::of(name)).collect();
        let good: Vec<bool> = names
            .iter()
            .map(contrast::Name::may_be_configuration)
            .collect();
        let opposite = |one: usize| {
            let mut others = (0..names.len()).filter(|&at| at != one && good[at]);
            good[one] && others.any(|at| names[one].beside(&names[at]) == Some(Sign::OppositeNames))
        };
        let opposed: Vec<bool> = (0..names.len()).map(opposite).collect();
        let mut own: BTreeMap<&str, Vec<&Member<'_>>> = BTreeMap::new();
        for member in members {
            own.entry(member.configuration).or_default().push(member);
        }
        let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let (mut united, mut bare) = (BTreeSet::new(), BTreeSet::new());
        let theirs = texts.iter().zip(&opposed).filter(|(_, opposed)| **opposed);
        for member in theirs.flat_map(|(name, _)| &own[name]) {
            for figure in &member.figures {
                let all = values.entry(&figure.metric).or_default();
                all.push(figure.value.abs());
                let met = match figure.unit.is_empty() {
                    true => &mut bare,
                    false => &mut united,
                };
                met.insert(figure.metric.as_str());
            }
        }
        united.retain(|metric| !bare.contains(metric));
        Compared {
            united,
            names,
            good,
            texts,
            own,
            opposed,
            values,
        }
    }

    /// The members of the name at a place.
    pub(super) fn members(&self, at: usize) -> &[&Member<'a>] {
        self.own.get(self.texts[at]).map_or(&[], Vec::as_slice)
    }

    /// What the name at a place says beside the one that it differs most from.
    pub(super) fn best(&self, at: usize) -> Option<Sign> {
        let others = (0..self.names.len()).filter(|&other| other != at && self.good[other]);
        others
            .filter_map(|other| self.names[at].beside(&self.names[other]))
            .max_by_key(|sign| sign.weight().map_or(0, |weight| weight.points))
    }
}

/// Whether names of opposite meaning have figures with a unit, and this one's have none: what
/// was set beside `before` and `after`.
pub(super) fn other_unit(at: usize, names: &Compared<'_>) -> bool {
    if names.opposed[at] || names.united.is_empty() {
        return false;
    }
    let mut figures = names
        .members(at)
        .iter()
        .flat_map(|member| &member.figures)
        .peekable();
    figures.peek().is_some()
        && figures.all(|figure| {
            let bare = figure.unit.is_empty() && figure.value.fract() == 0.0;
            bare && names.united.contains(figure.metric.as_str())
        })
}

/// Figures further apart than by this factor are not of one metric.
const SCALE: f64 = 50.0;

/// Whether names of opposite meaning have figures of one size, and this one's are of
/// another one: a parameter beside `before` and `after`.
pub(super) fn other_scale(at: usize, names: &Compared<'_>) -> bool {
    if names.opposed[at] {
        return false;
    }
    let figures = || names.members(at).iter().flat_map(|member| &member.figures);
    let mut compared = figures()
        .filter_map(|figure| {
            let others = names.values.get(figure.metric.as_str())?;
            Some((figure.value.abs(), others))
        })
        .peekable();
    compared.peek().is_some()
        && compared.all(|(own, others)| {
            let far = |other: &f64| own * SCALE < *other || other * SCALE < own;
            others.iter().all(far)
        })
}
