//! Whether what was read may be judged.
//!
//! Nothing is compared unless the post gives reasons to believe two things:
//! that the figures are measurements, and that the names they stand under are
//! configurations. Reasons for and against are [`Sign`]s; what each weighs is
//! in one table, [`signs::WEIGHTS`], and both questions have a bar. Figures
//! below it are read and shown as statements, and a doubt says what is missing
//! and which option would supply it.

pub(crate) mod alone;
pub(crate) mod amounts;
pub(crate) mod candidates;
pub(crate) mod contrast;
pub(crate) mod families;
mod signs;
pub(crate) mod surroundings;
pub(crate) mod wording;

pub(crate) use signs::{CONFIGURATIONS_BAR, MEASUREMENTS_BAR, Question, Sign, Signs};
