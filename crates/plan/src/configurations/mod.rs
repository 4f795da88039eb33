//! Configurations: which combinations of levels are run, and what each sets.

pub(crate) mod agreement;
pub(crate) mod combine;
pub(crate) mod factorial;
pub(crate) mod include;
pub(crate) mod names;
pub(crate) mod subset;
