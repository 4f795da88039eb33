//! Tests of experiment files and their plans.

#[cfg(test)]
mod combining;
#[cfg(test)]
mod common;
#[cfg(test)]
mod experiments;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod metrics;
mod mistakes;
#[cfg(test)]
mod modules;
#[cfg(test)]
mod overriding;
#[cfg(test)]
mod policies;
#[cfg(test)]
mod power;
mod queues;
#[cfg(test)]
mod scheduling;
mod stalls;
#[cfg(test)]
mod switches;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod tradeoffs;
