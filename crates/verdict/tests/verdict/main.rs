//! Documents from records, checked against figures computed elsewhere.

#[cfg(test)]
mod claims;
#[cfg(test)]
mod common;
#[cfg(test)]
mod comparisons;
#[cfg(test)]
mod document;
#[cfg(test)]
mod events;
#[cfg(test)]
mod identities;
#[cfg(test)]
mod lints;
#[cfg(test)]
mod machines;
mod resolution;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod sentences;
#[cfg(test)]
mod tables;
