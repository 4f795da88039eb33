//! Documents from records, checked against figures computed elsewhere.

#[cfg(test)]
mod caps;
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
mod factors;
#[cfg(test)]
mod family;
#[cfg(test)]
mod full;
#[cfg(test)]
mod identities;
#[cfg(test)]
mod lints;
#[cfg(test)]
mod machines;
#[cfg(test)]
mod margins;
#[cfg(test)]
mod predecessor;
#[cfg(test)]
mod resolution;
#[cfg(test)]
mod schedules;
#[cfg(test)]
mod sentences;
#[cfg(test)]
mod simulated_family;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod tradeoffs;
