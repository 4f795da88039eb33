//! Finds blocks that occur more than once in a post because someone quoted them.

use std::collections::HashMap;

use assize_bundle::Place;

use super::item::Stand;
use crate::grammar::block::{Figure, Finding};
use crate::line::hash;

/// A block that was seen.
#[derive(Debug)]
struct Known {
    stand: Stand,
    place: Place,
    heading: String,
    figures: usize,
}

/// Equal figures with this many digits in total are the same measurement.
const TELLING: usize = 8;
/// Numbers of figures and of digits that show a repeat even below a different heading.
const TELLING_ANYWHERE: (usize, usize) = (4, 20);

/// All figures seen so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    blocks: Vec<Known>,
    /// The blocks that contain each figure.
    holders: HashMap<u64, Vec<u32>>,
}

impl Seen {
    /// Returns where the block begins that these findings repeat, or else remembers them. The
    /// earlier block must contain all their figures, and must be in another message or quote depth,
    /// or have exactly these figures, with enough digits to rule out chance.
    pub(crate) fn repeats(
        &mut self,
        findings: &[(Place, Finding)],
        context: &str,
        stand: Stand,
    ) -> Option<Place> {
        let keys = keys(findings, context);
        let candidates = self.holders.get(keys.first()?).cloned().unwrap_or_default();
        let held = |key: &u64, block: &u32| {
            let holders = self.holders.get(key);
            holders.is_some_and(|holders| holders.contains(block))
        };
        let holds_all = |block: &u32| keys.iter().all(|key| held(key, block));
        let digits = digits_of(findings);
        let anywhere = TELLING_ANYWHERE;
        let telling = |same_heading: bool| match same_heading {
            true => digits >= TELLING,
            false => keys.len() >= anywhere.0 && digits >= anywhere.1,
        };
        let is_again = |block: &&u32| {
            let known = &self.blocks[**block as usize];
            let pasted = known.figures == keys.len() && telling(known.heading == context);
            (known.stand != stand || pasted) && holds_all(block)
        };
        if let Some(block) = candidates.iter().find(is_again) {
            return Some(self.blocks[*block as usize].place);
        }
        let id = self.blocks.len() as u32;
        let place = findings.first().map(|(place, _)| *place);
        let place = place.unwrap_or_default();
        self.blocks.push(Known {
            stand,
            place,
            heading: context.to_string(),
            figures: keys.len(),
        });
        for key in keys {
            let holders = self.holders.entry(key).or_default();
            if holders.last() != Some(&id) && holders.len() < 64 {
                holders.push(id);
            }
        }
        None
    }
}

/// The total number of digits of the figures. With enough, equal figures are no coincidence.
fn digits_of(findings: &[(Place, Finding)]) -> usize {
    let digits = |value: f64| {
        let text = value.abs().to_string();
        let text = text.trim_start_matches(['0', '.']).bytes();
        text.filter(u8::is_ascii_digit).count()
    };
    let figures = findings.iter().flat_map(|(_, finding)| match finding {
        Finding::Run { figures, .. } => figures.iter().map(|figure| figure.value).collect(),
        Finding::Summary { figure, .. } => vec![figure.value],
        _ => Vec::new(),
    });
    figures.map(digits).sum()
}

fn keys(findings: &[(Place, Finding)], context: &str) -> Vec<u64> {
    let mut keys = Vec::new();
    for (_, finding) in findings {
        match finding {
            Finding::Run { labels, figures } => {
                let unnamed = if figures.len() >= 2 { "" } else { context };
                let label = labels.configuration.as_deref().unwrap_or(unnamed);
                let key = |one: &Figure| hash(&(label, &one.metric, one.value.to_bits()));
                keys.extend(figures.iter().map(key));
            }
            Finding::Summary { labels, figure, .. } | Finding::Statement { labels, figure, .. } => {
                let label = labels.configuration.as_deref().unwrap_or(context);
                keys.push(hash(&(label, &figure.metric, figure.value.to_bits())));
            }
            Finding::Events {
                event,
                count,
                times_s,
                ..
            } => {
                let bits: Vec<u64> = times_s.iter().map(|t| t.to_bits()).collect();
                let label = if bits.is_empty() { context } else { "" };
                keys.push(hash(&(label, event, count, bits)));
            }
            Finding::Unsupported { .. }
            | Finding::Grid(_)
            | Finding::Sample(_)
            | Finding::Command(_)
            | Finding::Doubt(..) => {}
        }
    }
    keys
}
