//! An answer as a bundle keeps it, for the page of its report.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Flame, Why};

/// The schema of [`Kept`].
pub const SCHEMA: &str = "assize.kept-why/1";

/// A comparison that has been attributed, and its frames.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Kept {
    /// [`SCHEMA`].
    pub schema: Cow<'static, str>,
    /// The answer, without what else was asked: functions, claims, hunks and caches.
    pub why: Why,
    /// Its frames, which say who called what.
    pub flame: Flame,
}

impl Kept {
    /// What is kept of an answer.
    #[must_use]
    pub fn of(why: &Why, flame: Flame) -> Kept {
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
