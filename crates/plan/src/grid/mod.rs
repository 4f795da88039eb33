//! Which combinations of levels are run.

pub(crate) mod factorial;
pub(crate) mod include;
pub(crate) mod subset;
