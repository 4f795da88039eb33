//! Blocks that stand in a post more than once because somebody quoted them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use assize_bundle::Place;

use crate::grammar::Finding;

/// Where a block stands: a message and a quote depth. Equal blocks at two
/// such places are one block, quoted; at one place they are two.
pub(crate) type Stand = (u32, u8);

/// All figures seen so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    blocks: Vec<(Stand, Place)>,
    /// Figure to the blocks that hold it.
    holders: HashMap<u64, Vec<u32>>,
}

impl Seen {
    /// If every figure of these findings stands in one earlier block at
    /// another stand, where that block begins. Else remembers them.
    pub(crate) fn repeats(
        &mut self,
        findings: &[(Place, Finding)],
        context: &str,
        stand: Stand,
    ) -> Option<Place> {
        let keys = keys(findings, context);
        let (first, _) = (keys.first()?, ());
        let candidates = self.holders.get(first).cloned().unwrap_or_default();
        let holds_all = |block: &u32| {
            keys.iter()
                .all(|key| self.holders.get(key).is_some_and(|h| h.contains(block)))
        };
        if let Some(block) = candidates
            .iter()
            .find(|block| self.blocks[**block as usize].0 != stand && holds_all(block))
        {
            return Some(self.blocks[*block as usize].1);
        }
        let id = self.blocks.len() as u32;
        let place = findings
            .first()
            .map_or_else(Place::default, |(place, _)| *place);
        self.blocks.push((stand, place));
        for key in keys {
            let holders = self.holders.entry(key).or_default();
            if holders.last() != Some(&id) && holders.len() < 64 {
                holders.push(id);
            }
        }
        None
    }
}

fn keys(findings: &[(Place, Finding)], context: &str) -> Vec<u64> {
    let mut keys = Vec::new();
    for (_, finding) in findings {
        match finding {
            Finding::Run { labels, figures } => {
                let many = figures.len() >= 2;
                for figure in figures {
                    let label =
                        labels
                            .configuration
                            .as_deref()
                            .unwrap_or(if many { "" } else { context });
                    keys.push(key(&(label, &figure.metric, figure.value.to_bits())));
                }
            }
            Finding::Summary { labels, figure, .. } | Finding::Statement { labels, figure, .. } => {
                let label = labels.configuration.as_deref().unwrap_or(context);
                keys.push(key(&(label, &figure.metric, figure.value.to_bits())));
            }
            Finding::Events {
                event,
                count,
                times_s,
                ..
            } => {
                let bits: Vec<u64> = times_s.iter().map(|t| t.to_bits()).collect();
                let label = if bits.is_empty() { context } else { "" };
                keys.push(key(&(label, event, count, bits)));
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

fn key(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{Figure, Labels};

    fn run(values: &[f64]) -> Vec<(Place, Finding)> {
        let figures = values
            .iter()
            .enumerate()
            .map(|(i, v)| Figure::new(format!("m{i}"), *v, ""))
            .collect();
        vec![(
            Place {
                message: 1,
                line: 5,
            },
            Finding::Run {
                labels: Labels::default(),
                figures,
            },
        )]
    }

    #[test]
    fn a_block_quoted_again_is_the_same_block_and_one_pasted_twice_is_not() {
        let mut seen = Seen::default();
        assert_eq!(seen.repeats(&run(&[1.0, 2.0, 3.0]), "", (1, 0)), None);
        assert_eq!(seen.repeats(&run(&[1.0, 2.0, 3.0]), "", (1, 0)), None);
        assert!(seen.repeats(&run(&[1.0, 2.0, 3.0]), "", (2, 1)).is_some());
        assert!(
            seen.repeats(&run(&[1.0, 2.0]), "", (2, 1)).is_some(),
            "a trimmed quotation"
        );
        assert_eq!(seen.repeats(&run(&[1.0, 2.5, 3.0]), "", (2, 1)), None);
    }
}
