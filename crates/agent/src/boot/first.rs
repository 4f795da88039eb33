//! Loads the modules that every run loads, once for all of them.

use std::fs;

use assize_job::{Action, MemoryImage, Payload, RunStage};

use crate::actions::{self, ActionContext};
use crate::modules::RunModules;
use crate::process::WaitLimits;
use crate::run::reseed;
use crate::seed::Stream;

/// Carries out the steps that the set-up of every run begins with. A step that
/// fails does so again in the set-up of the run, which reports why.
pub(super) fn load(image: &MemoryImage) -> RunModules {
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
    let _ = reseed(Stream::new(image.modules.into(), "image"));
    let with = ActionContext {
        seed: 0,
        limits: WaitLimits {
            timeout_ms: 0,
            interrupts: None,
        },
        guest: true,
    };
    actions::carry_out(&steps, RunStage::Setup, &with, &mut modules);
    modules
}
