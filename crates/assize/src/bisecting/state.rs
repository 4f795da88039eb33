//! The verdicts so far, in a file next to the bundles.

use std::path::{Path, PathBuf};

use assize_report::ClaimVerdict;
use serde::{Deserialize, Serialize};

use super::question::BisectionQuestion;
use crate::failure::Failure;
use crate::{output, shell};

/// The schema of the file.
const SCHEMA: &str = "assize.bisect-state/1";
/// The name of the file.
const FILE: &str = "bisect.json";

/// What verdicts must have in common to be used in one bisection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BisectionTerms {
    /// The version of assize that gave the verdicts; another version may give different ones.
    #[serde(default = "not_recorded")]
    pub(super) assize: String,
    /// The commit that all others are compared with.
    pub(super) good: String,
    /// The kernel with its version.
    pub(super) kernel: String,
    /// The claim and its experiment.
    pub(super) question: BisectionQuestion,
    /// The numbers of runs of each side: for the first try, and for each further one while the
    /// verdict stays undecided.
    pub(super) looks: Vec<u32>,
    /// The level of each test.
    pub(super) alpha: f64,
}

/// The version assumed for files that do not record it.
fn not_recorded() -> String {
    "unknown".into()
}

/// One side of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptSide {
    pub(super) commit: String,
    /// Digest of its modules or kernel.
    pub(super) modules: String,
}

/// A verdict and its two sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct KeptVerdict {
    /// The reference side.
    pub(super) old: KeptSide,
    /// The side under test.
    pub(super) new: KeptSide,
    /// Number of runs executed for the verdict.
    pub(super) carried_out: u32,
    pub(super) verdict: ClaimVerdict,
}

/// The contents of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct VerdictsFile {
    schema: String,
    terms: BisectionTerms,
    verdicts: Vec<KeptVerdict>,
}

/// The verdicts so far, kept in a directory.
#[derive(Debug)]
pub(super) struct KeptVerdicts {
    directory: PathBuf,
    content: VerdictsFile,
}

impl KeptVerdicts {
    /// Reads the verdicts kept in this directory on these terms; starts empty if there
    /// are none.
    pub(super) fn open(directory: &Path, terms: &BisectionTerms) -> Result<KeptVerdicts, Failure> {
        let path = directory.join(FILE);
        let refuse = |why: String| {
            let mend = "give another directory: --out DIR, or remove this one";
            Failure::Argument(format!("{}: {why}; {mend}", path.display()))
        };
        let new = VerdictsFile {
            schema: SCHEMA.into(),
            terms: terms.clone(),
            verdicts: Vec::new(),
        };
        let content = match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => new,
            Err(source) => return Err(Failure::Read { path, source }),
        };
        if content.schema != SCHEMA {
            return Err(refuse(format!("its schema is {}", content.schema)));
        }
        if let Some(what) = content.terms.differ(terms) {
            return Err(refuse(format!("it belongs to another bisection: {what}")));
        }
        Ok(KeptVerdicts {
            directory: directory.to_path_buf(),
            content,
        })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The verdict on these bytes, whichever commits they are from.
    pub(super) fn find(&self, old: &str, new: &str) -> Option<&KeptVerdict> {
        let mut all = self.content.verdicts.iter();
        all.find(|one| one.old.modules == old && one.new.modules == new)
    }

    /// Keeps a verdict. The file is replaced atomically.
    pub(super) fn keep(&mut self, given: KeptVerdict) -> Result<(), Failure> {
        self.content.verdicts.push(given);
        let failed = |error: serde_json::Error| Failure::Show(error.to_string());
        let text = serde_json::to_string_pretty(&self.content).map_err(failed)? + "\n";
        std::fs::create_dir_all(&self.directory).map_err(|source| Failure::Write {
            what: self.directory.display().to_string(),
            source,
        })?;
        output::deliver(text.as_bytes(), Some(&self.directory.join(FILE)))
    }
}

impl BisectionTerms {
    /// The first term that differs, with both values.
    fn differ(&self, other: &BisectionTerms) -> Option<String> {
        let quoted = |text: &str| shell::quote(text.as_ref());
        let pair = |what: &str, one: String, two: String| {
            (one != two).then(|| format!("{what} was {one} and is {two} now"))
        };
        let runs = |terms: &BisectionTerms| format!("{:?}", terms.looks);
        pair(
            "the version of assize",
            self.assize.clone(),
            other.assize.clone(),
        )
        .or_else(|| pair("GOOD", self.good.clone(), other.good.clone()))
        .or_else(|| {
            let [one, two] = [self, other].map(|of| quoted(&of.question.claim));
            pair("the claim", one, two)
        })
        .or_else(|| pair("the kernel", self.kernel.clone(), other.kernel.clone()))
        .or_else(|| pair("the list of runs", runs(self), runs(other)))
        .or_else(|| {
            let [one, two] = [self, other].map(|of| of.alpha.to_string());
            pair("the level of each test", one, two)
        })
        .or_else(|| (self != other).then(|| "the experiment is another one".into()))
    }
}

#[cfg(test)]
mod tests {
    use assize_verdict::Outcome;

    use super::*;

    fn terms() -> BisectionTerms {
        BisectionTerms {
            assize: "1.0.0".into(),
            good: "0123".into(),
            kernel: "debian:6.12 1".into(),
            question: BisectionQuestion {
                claim: "new > old on m".into(),
                outcome: false,
                hunt: false,
                metric: "m".into(),
                workload: None,
                experiment: String::new(),
                runs: 10,
            },
            looks: vec![10, 20],
            alpha: 0.01,
        }
    }

    fn kept_verdict(old: &str, new: &str) -> KeptVerdict {
        let of = |name: &str| KeptSide {
            commit: format!("commit of {name}"),
            modules: name.into(),
        };
        KeptVerdict {
            old: of(old),
            new: of(new),
            carried_out: 20,
            verdict: ClaimVerdict {
                outcome: Outcome::Upheld,
                because: "x".into(),
                figures: Vec::new(),
                outcomes: Vec::new(),
                runs: 10,
                bundle: None,
                same_as: None,
            },
        }
    }

    #[test]
    fn what_was_kept_is_there_for_the_same_modules_and_no_others() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        let mut state = KeptVerdicts::open(&directory, &terms()).unwrap();
        assert!(!directory.exists(), "nothing is written before a verdict");
        state.keep(kept_verdict("a", "b")).unwrap();
        state.keep(kept_verdict("b", "c")).unwrap();
        let again = KeptVerdicts::open(&directory, &terms()).unwrap();
        assert_eq!(again.find("b", "c"), Some(&kept_verdict("b", "c")));
        assert_eq!(again.find("a", "c"), None);
        assert_eq!(again.find("b", "a"), None);
    }

    #[test]
    fn another_question_is_refused_with_what_differs() {
        let place = tempfile::tempdir().unwrap();
        let mut state = KeptVerdicts::open(place.path(), &terms()).unwrap();
        state.keep(kept_verdict("a", "b")).unwrap();
        let change = |by: &dyn Fn(&mut BisectionTerms)| {
            let mut other = terms();
            by(&mut other);
            KeptVerdicts::open(place.path(), &other)
                .unwrap_err()
                .to_string()
        };
        for (error, why) in [
            (
                change(&|of| of.good = "4567".into()),
                "GOOD was 0123 and is 4567 now",
            ),
            (
                change(&|of| of.question.claim = "new < old on m".into()),
                "the claim was 'new > old on m' and is 'new < old on m' now",
            ),
            (
                change(&|of| of.assize = "1.0.1".into()),
                "the version of assize was 1.0.0 and is 1.0.1 now",
            ),
            (change(&|of| of.kernel.push('2')), "the kernel"),
            (change(&|of| of.looks.push(40)), "the list of runs"),
            (change(&|of| of.alpha = 0.02), "the level"),
            (
                change(&|of| of.question.experiment.push('#')),
                "the experiment is another",
            ),
        ] {
            assert!(
                error.contains(why) && error.contains("--out DIR"),
                "{error}"
            );
        }
    }

    #[test]
    fn verdicts_of_a_version_that_is_not_recorded_are_not_taken() {
        let place = tempfile::tempdir().unwrap();
        let mut state = KeptVerdicts::open(place.path(), &terms()).unwrap();
        state.keep(kept_verdict("a", "b")).unwrap();
        let path = place.path().join(FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        let without = text.replace("\"assize\": \"1.0.0\",", "");
        assert_ne!(without, text);
        std::fs::write(&path, without).unwrap();
        let error = KeptVerdicts::open(place.path(), &terms())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("the version of assize was unknown and is 1.0.0 now"),
            "{error}"
        );
    }

    #[test]
    fn a_file_that_is_damaged_is_named() {
        let place = tempfile::tempdir().unwrap();
        for text in ["", "{", "{\"schema\": \"x\"}"] {
            std::fs::write(place.path().join(FILE), text).unwrap();
            let error = KeptVerdicts::open(place.path(), &terms())
                .unwrap_err()
                .to_string();
            assert!(error.contains(FILE), "{error}");
        }
    }
}
