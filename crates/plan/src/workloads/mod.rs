//! Workloads and their parameters: a file for each kind.

pub(crate) mod audio;
pub(crate) mod browser;
pub(crate) mod command;
pub(crate) mod compositor;
pub(crate) mod cpu_score;
pub(crate) mod crowd;
pub(crate) mod cyclictest;
pub(crate) mod deep;
pub(crate) mod drawing;
pub(crate) mod frames;
pub(crate) mod frames_stream;
pub(crate) mod hackbench;
pub(crate) mod hogs;
pub(crate) mod kinds;
pub(crate) mod memory_routine;
pub(crate) mod periodic;
pub(crate) mod ping_pong;
pub(crate) mod replay;
pub(crate) mod scheduling;
pub(crate) mod shared;
pub(crate) mod storm;
pub(crate) mod stream;
pub(crate) mod sync;
pub(crate) mod threads;
