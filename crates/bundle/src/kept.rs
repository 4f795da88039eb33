//! Results of `assize why` and `assize when`, stored in the bundle as `why/A-B.json` and
//! `when/RUN.json`.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Error;
use crate::layout;
use crate::whole::{self, IfExists};

/// The directory of results about pairs of runs.
pub(crate) const FOLDER: &str = "why";
/// The directory of results about single runs.
pub(crate) const MOMENTS: &str = "when";

/// Stores a result about two runs of the schedule, replacing an earlier one about the same runs.
///
/// # Errors
/// [`Error::Io`] naming the file.
pub fn keep_answer<T: Serialize>(
    directory: &Path,
    [a, b]: [u32; 2],
    answer: &T,
) -> Result<(), Error> {
    keep(directory.join(FOLDER), &format!("{a:04}-{b:04}"), answer)
}

fn keep<T: Serialize>(folder: PathBuf, name: &str, answer: &T) -> Result<(), Error> {
    whole::create_folder(&folder)?;
    let path = folder.join(format!("{name}.json"));
    whole::put_json(&path, answer, IfExists::Replace)
}

/// Stores the result of `assize when` for a run, replacing an earlier one.
///
/// # Errors
/// [`Error::Io`] naming the file.
pub fn keep_when<T: Serialize>(directory: &Path, run: u32, answer: &T) -> Result<(), Error> {
    keep(directory.join(MOMENTS), &format!("{run:04}"), answer)
}

/// Reads the results stored by [`keep_when`], in the order of their runs; may be empty.
///
/// # Errors
/// Those of [`kept_answers`].
pub fn kept_when<T: DeserializeOwned>(directory: &Path, schema: &str) -> Result<Vec<T>, Error> {
    kept(&directory.join(MOMENTS), schema)
}

/// Reads the results stored by [`keep_answer`], in the order of their runs; may be empty.
///
/// # Errors
/// [`Error::Io`], [`Error::Malformed`], or [`Error::Schema`] if one has a different schema, naming
/// the file.
pub fn kept_answers<T: DeserializeOwned>(directory: &Path, schema: &str) -> Result<Vec<T>, Error> {
    kept(&directory.join(FOLDER), schema)
}

fn kept<T: DeserializeOwned>(folder: &Path, schema: &str) -> Result<Vec<T>, Error> {
    let names = whole::names(folder)?;
    let mut answers = Vec::new();
    for name in names.iter().filter(|name| name.ends_with(".json")) {
        let path = folder.join(name);
        let value: Value = layout::get(&path)?;
        layout::check_schema(&path, &value, schema)?;
        let answer = T::deserialize(value);
        answers.push(answer.map_err(Error::malformed(&path))?);
    }
    Ok(answers)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use std::fs;

    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct KeptAnswer {
        schema: String,
        value: u32,
    }

    fn answer(value: u32) -> KeptAnswer {
        KeptAnswer {
            schema: "test/1".into(),
            value,
        }
    }

    #[test]
    fn answers_come_back_in_the_order_of_their_runs_and_the_last_one_counts() {
        let place = tempfile::tempdir().unwrap();
        let none: Vec<KeptAnswer> = kept_answers(place.path(), "test/1").unwrap();
        assert_eq!(none, []);
        for (runs, value) in [([7, 2], 1), ([0, 3], 2), ([7, 2], 3)] {
            keep_answer(place.path(), runs, &answer(value)).unwrap();
        }
        let kept: Vec<KeptAnswer> = kept_answers(place.path(), "test/1").unwrap();
        assert_eq!(kept, [answer(2), answer(3)]);
    }

    #[test]
    fn another_schema_and_damage_are_named_with_the_file() {
        let place = tempfile::tempdir().unwrap();
        keep_answer(place.path(), [1, 2], &answer(1)).unwrap();
        let other = kept_answers::<KeptAnswer>(place.path(), "test/2").unwrap_err();
        assert!(matches!(&other, Error::Schema { found, .. } if found == "test/1"));
        let path = place.path().join("why/0001-0002.json");
        for text in ["{", "{\"schema\": \"test/1\"}"] {
            fs::write(&path, text).unwrap();
            let damage = kept_answers::<KeptAnswer>(place.path(), "test/1").unwrap_err();
            assert!(damage.to_string().contains("0001-0002.json"), "{damage}");
        }
    }
}
