//! Experiment files and the plans they become.

#[cfg(test)]
mod experiments;
