//! The parameters of the workload `replay`.

use assize_job::{Replay, replay};

use super::scheduling::SCHEDULING;
use super::shared::{CONTEXTS, COUNT, RUN_COST};
use crate::values::document::{TomlDocument, join};
use crate::values::error::Error;
use crate::values::keys::{Free, KeySection, Text, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "replay",
    keys: &[
        key("file", Text.optional(), "A file of steps."),
        key(
            "steps",
            Free.optional(),
            "The steps themselves, instead of a file.",
        ),
        key("repeat", COUNT.or("100"), "How often to run all steps."),
        key(
            "clients",
            CONTEXTS.or("1"),
            "Clients that run the steps, each with its own contexts.",
        ),
        RUN_COST,
        SCHEDULING,
    ],
};

/// Checks the steps. `path` is the last place where they are given.
pub(crate) fn check(document: &TomlDocument, path: &str, replay: &Replay) -> Result<(), Error> {
    match (&replay.file, &replay.steps) {
        (None, None) => {
            let error = document.error(path, "has neither steps nor a file");
            Err(error.mend("give steps = \"1.RCS.1000.0.1\""))
        }
        (Some(_), Some(_)) => {
            let error = document.error(&join(path, "steps"), "are not used with a file");
            Err(error.mend("remove one of them"))
        }
        (None, Some(text)) => replay::parse(text)
            .map(|_| ())
            .map_err(|why| document.error(&join(path, "steps"), why.to_string())),
        (Some(_), None) => Ok(()),
    }
}
