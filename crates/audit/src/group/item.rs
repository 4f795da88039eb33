//! Findings with everything that is known about their place in the experiment.

use std::collections::BTreeMap;

use assize_bundle::{Doubt, Place};

use crate::grammar::block::{Finding, Labels};
use crate::grammar::names_what_it_compares;

/// Name of a configuration that the post does not name.
pub const UNNAMED: &str = "unnamed";

/// The place of a block: its message and quote depth. Equal blocks in two places are a block and
/// its quotation; in the same place they are two blocks.
pub(crate) type Stand = (u32, u8);

/// The source of the configuration's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum NamedBy {
    /// The block itself: a tool prints it.
    #[default]
    Block,
    /// The rows or columns of a table, and what declares that, if anything does.
    Table(Option<&'static str>),
    /// The heading above.
    Heading,
}

impl NamedBy {
    /// Whether it is the tool of this format, and the tool names what it compares.
    pub(super) fn is_comparing_tool(self, format: &str) -> bool {
        self == Self::Block && names_what_it_compares(format)
    }
}

/// A finding with everything that is known about where it belongs.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) stand: Stand,
    pub(super) place: Place,
    pub(super) finding: Finding,
    pub(super) format: &'static str,
    pub(super) inner: Option<String>,
    pub(super) outer: Option<String>,
    pub(super) command: Option<(Place, String)>,
    pub(super) heading_is_nearer: bool,
    pub(super) workload: Option<String>,
    /// The machine that a line above names.
    pub(super) machine: Option<String>,
    /// The number of its block in the post.
    pub(super) block: usize,
    pub(super) named_by: NamedBy,
    /// Whether the message has other figures of the same names that are quoted less deeply.
    pub(super) older: bool,
    pub(super) not_admitted: bool,
    /// Decided: the label of the configuration and the name of the workload.
    pub(super) configuration_label: Option<String>,
    pub(super) workload_name: Option<String>,
}

impl Item {
    /// Takes the name that its tool gives for that of a workload.
    pub(super) fn name_workload(&mut self) {
        if let Finding::Run { labels, .. } | Finding::Summary { labels, .. } = &mut self.finding {
            labels.workload = labels.workload.take().or(labels.configuration.take());
        }
    }

    pub(super) fn labels(&self) -> Labels {
        match &self.finding {
            Finding::Run { labels, .. }
            | Finding::Summary { labels, .. }
            | Finding::Events { labels, .. }
            | Finding::Statement { labels, .. }
            | Finding::Unsupported { labels, .. } => labels.clone(),
            Finding::Grid(_) | Finding::Sample(_) | Finding::Command(_) | Finding::Doubt(..) => {
                Labels::default()
            }
        }
    }

    /// The metrics that an item has figures of.
    pub(super) fn metrics(&self) -> Vec<&str> {
        match &self.finding {
            Finding::Run { figures, .. } => figures.iter().map(|f| f.metric.as_str()).collect(),
            Finding::Summary { figure, .. } => vec![&figure.metric],
            Finding::Events { event, .. } => vec![event],
            _ => Vec::new(),
        }
    }
}

/// The name of an item's configuration; `names` are those of all labels.
pub(super) fn name_of(item: &Item, names: &BTreeMap<String, String>) -> String {
    names[item.configuration_label.as_deref().unwrap_or(UNNAMED)].clone()
}

/// A doubt with the code of a lint.
pub(crate) fn doubt(code: &str, detail: impl Into<String>, place: Place) -> Doubt {
    Doubt {
        code: code.to_string(),
        detail: detail.into(),
        place,
    }
}
