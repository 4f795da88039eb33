//! A result as kept in a bundle, for the page of its report.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Flame, Why};

/// The schema of [`Kept`].
pub const SCHEMA: &str = "assize.kept-why/1";

/// A kept result and its flame graph.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Kept {
    /// Always [`SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The result, without requested functions, claims, hunks, caches and call trees.
    pub why: Why,
    /// Its flame graph, with call stacks.
    pub flame: Flame,
}

impl Kept {
    /// Drops the parts of the result that are not kept.
    #[must_use]
    pub fn new(why: &Why, flame: Flame) -> Kept {
        Kept {
            schema: SCHEMA.into(),
            why: Why {
                reached: Vec::new(),
                claims: Vec::new(),
                hunks: Vec::new(),
                caches: None,
                tree: Vec::new(),
                ..why.clone()
            },
            flame,
        }
    }
}
