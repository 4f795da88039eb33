//! Loads the modules that every run loads, before the memory image is taken.

use std::fs;

use assize_job::{Action, MemoryImage, Payload, RunStage};

use crate::process::NO_LIMITS;
use crate::seed::{Stream, reseed_kernel};
use crate::setup::modules::RunModules;
use crate::setup::{self, CommandContext};

/// Carries out the steps that the set-up of every run begins with. A step that fails
/// here fails again in the set-up of the run, which reports why.
pub(super) fn load_modules(image: &MemoryImage) -> RunModules {
    let steps: Vec<Action> = fs::read(Payload::FIRST)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    let mut modules = RunModules::from_setup(&steps).in_order(image.modules);
    if steps.is_empty() {
        return modules;
    }
    // The random numbers that modules draw while loading vary with the image.
    // If reseeding fails, the kernel keeps its own.
    let _ = reseed_kernel(Stream::new(image.modules.into(), "image"));
    let context = CommandContext {
        seed: 0,
        limits: NO_LIMITS,
        guest: true,
    };
    setup::carry_out(&steps, RunStage::Setup, &context, &mut modules);
    modules
}
