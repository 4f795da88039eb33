//! What a human says of a mail, as it is kept below `corpus/labels/`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::causes::Cause;
use super::reading::Grouping;
use super::strata::Stratum;
use crate::Error;
use crate::tree;

/// Lists all of whose mails are only scored.
const SCORED_LISTS: [&str; 2] = ["linux-raid.vger.kernel.org", "linux-xfs.vger.kernel.org"];

/// What a label may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The auditor may be worked on with it.
    Working,
    /// It is scored, and nobody looks at it while working.
    Scored,
    /// Written from the forms that tools and posts have, and labelled before the
    /// auditor had read it.
    Fresh,
}

impl Part {
    /// All of them.
    pub(super) const ALL: [Part; 3] = [Part::Working, Part::Scored, Part::Fresh];

    /// The folder below `corpus/labels` and `corpus/twins`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Part::Working => "working",
            Part::Scored => "scored",
            Part::Fresh => "fresh",
        }
    }
}

/// The part to which a mail of a list belongs: nobody chooses.
pub(super) fn part_of(list: &str, message_id: &str) -> Part {
    if SCORED_LISTS.contains(&list) || mixed(0, message_id.as_bytes()) & 1 == 1 {
        Part::Scored
    } else {
        Part::Working
    }
}

/// 64 bits that depend on all of a seed and some bytes: FNV-1a, and then the
/// last step of splitmix64.
pub(super) fn mixed(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in seed.to_le_bytes().iter().chain(bytes) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// One mail and what it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Label {
    /// The mailing list; empty, as all that says where a mail is, of what was written.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) list: String,
    /// The year of the mail.
    #[serde(default)]
    pub(super) year: i64,
    /// Its identifier, without angle brackets.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) message_id: String,
    /// The archive that holds it, `LIST.EPOCH`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) archive: String,
    /// The commit of that archive whose file `m` it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) commit: String,
    /// What it was drawn as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stratum: Option<Stratum>,
    /// What it holds.
    pub(super) kind: Kind,
    /// What stands in it, in our words.
    pub(super) shape: String,
    /// What it has of that by which an auditor is easily misled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) causes: Vec<Cause>,
    /// Only of a text that was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) written: Option<Written>,
    /// Only of a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) comparison: Option<Comparison>,
    /// Some of its values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<Value>,
}

/// Of a text that is no mail of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    /// Its name.
    pub(super) name: String,
    /// Whose form it has.
    pub(super) follows: String,
    /// Those of one batch were read for the first time by one state of the auditor.
    pub(super) batch: u32,
    /// What that made of it. It is never changed.
    pub(super) first: Grouping,
}

/// What a mail holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// No measurements.
    None,
    /// Measurements of one thing, or of things that nobody compares.
    Figures,
    /// Measurements of at least two configurations.
    Comparison,
}

/// The roles in a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Comparison {
    /// All configurations that are compared.
    pub(super) configurations: Vec<String>,
    /// All workloads, or the most important ones.
    pub(super) workloads: Vec<String>,
    /// All metrics, or the most important ones.
    pub(super) metrics: Vec<String>,
    /// Runs of each configuration on one workload, at most, where the text
    /// shows or says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) runs: Option<u32>,
    /// Whether `established` or `supported` could be sound at all: the text
    /// shows single runs, or a mean with its spread.
    pub(super) sound: bool,
}

/// One value of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Value {
    /// One of the label's configurations.
    pub(super) configuration: String,
    /// What was executed.
    pub(super) workload: String,
    /// The metric.
    pub(super) metric: String,
    /// The number as it is printed, without unit.
    pub(super) value: f64,
    /// Its spread as it is printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) spread: Option<String>,
}

impl Label {
    /// Its name: the list in short and the beginning of the commit.
    pub(super) fn name(&self) -> String {
        if let Some(written) = &self.written {
            return written.name.clone();
        }
        let list = self.list.split('.').next().unwrap_or_default();
        let commit = self.commit.get(..10).unwrap_or(&self.commit);
        format!("{list}-{commit}")
    }

    /// The part it belongs to.
    pub(super) fn part(&self) -> Part {
        match self.written {
            Some(_) => Part::Fresh,
            None => part_of(&self.list, &self.message_id),
        }
    }

    /// Where its twin is.
    pub(super) fn twin(&self) -> Result<PathBuf, Error> {
        Ok(tree::root()?.join(format!(
            "corpus/twins/{}/{}.eml",
            self.part().word(),
            self.name()
        )))
    }

    /// All labels, by part and name.
    pub(super) fn all() -> Result<Vec<Label>, Error> {
        let mut labels = Vec::new();
        for part in Part::ALL {
            let folder = tree::root()?.join("corpus/labels").join(part.word());
            let fault = |why| format!("{}: {why}", folder.display());
            let mut paths = Vec::new();
            for entry in fs::read_dir(&folder).map_err(fault)? {
                paths.push(entry.map_err(fault)?.path());
            }
            paths.sort();
            for path in paths {
                let label = Label::read(&path)?;
                if label.part() != part {
                    let why = format!("belongs to {}", label.part().word());
                    return Err(format!("{}: {why}; move it", path.display()));
                }
                labels.push(label);
            }
        }
        Ok(labels)
    }

    fn read(path: &Path) -> Result<Label, Error> {
        let fault = |why: String| format!("{}: {}", path.display(), why.trim_end());
        let text = fs::read_to_string(path).map_err(|why| fault(why.to_string()))?;
        let label: Label = toml::from_str(&text).map_err(|why| fault(why.to_string()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if name != label.name() {
            return Err(fault(format!("must be named {}.toml", label.name())));
        }
        label.check().map_err(fault)?;
        Ok(label)
    }

    /// Whether what it says fits together.
    fn check(&self) -> Result<(), Error> {
        let place = [&self.list, &self.message_id, &self.archive, &self.commit];
        let told = place.iter().filter(|part| !part.is_empty()).count();
        match (&self.written, told, self.stratum) {
            (None, 4, Some(_)) | (Some(_), 0, None) => {}
            (None, ..) => {
                return Err("list, message_id, archive, commit and stratum are needed".into());
            }
            (Some(_), ..) => return Err("[written] of a mail of a list".into()),
        }
        let comparison = match (self.kind, &self.comparison) {
            (Kind::Comparison, Some(comparison)) => comparison,
            (Kind::Comparison, None) => return Err("a comparison without [comparison]".into()),
            (_, Some(_)) => return Err("[comparison] of what is none".into()),
            (_, None) if self.values.is_empty() => return Ok(()),
            (_, None) => return Err("[[values]] of what is no comparison".into()),
        };
        if comparison.configurations.len() < 2 {
            return Err("a comparison has two configurations at least".into());
        }
        let known = &comparison.configurations;
        for value in &self.values {
            if !known.contains(&value.configuration) {
                let name = &value.configuration;
                return Err(format!("value of {name}, which is no configuration of it"));
            }
        }
        let first = self.values.first().map(|value| &value.configuration);
        if self.values.iter().all(|v| Some(&v.configuration) == first) {
            return Err("values of two configurations are needed".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: &str = r#"
list = "linux-block.vger.kernel.org"
year = 2020
message_id = "1@example.org"
archive = "linux-block.vger.kernel.org.0"
commit = "0123456789abcdef0123456789abcdef01234567"
stratum = "may-compare"
kind = "comparison"
shape = "a table"

[comparison]
configurations = ["base", "new"]
workloads = ["w"]
metrics = ["m"]
sound = false

[[values]]
configuration = "base"
workload = "w"
metric = "m"
value = 1.0

[[values]]
configuration = "new"
workload = "w"
metric = "m"
value = 2.0
"#;

    const WRITTEN: &str = "[written]\nname = \"w\"\nfollows = \"f\"\nbatch = 1\n\
                           first = \"in part\"\n\n[comparison]";

    fn check(text: &str) -> Result<(), Error> {
        let label: Label = toml::from_str(text).map_err(|why| why.to_string())?;
        label.check()
    }

    #[test]
    fn a_label_says_what_fits_together() {
        assert_eq!(check(LABEL), Ok(()));
        for (from, to, why) in [
            (
                "kind = \"comparison\"",
                "kind = \"figures\"",
                "of what is none",
            ),
            (
                "configurations = [\"base\", \"new\"]",
                "configurations = [\"base\"]",
                "two",
            ),
            (
                "configuration = \"new\"",
                "configuration = \"old\"",
                "value of old",
            ),
            ("configuration = \"new\"", "configuration = \"base\"", "two"),
            ("year = 2020", "annum = 2020", "annum"),
            ("list = \"linux-block.vger.kernel.org\"", "", "are needed"),
            ("stratum = \"may-compare\"", "", "are needed"),
            ("[comparison]", WRITTEN, "of a mail of a list"),
        ] {
            let text = LABEL.replace(from, to);
            assert!(check(&text).unwrap_err().contains(why), "{from} -> {to}");
        }
    }

    #[test]
    fn a_label_is_named_by_list_and_commit() {
        let label: Label = toml::from_str(LABEL).unwrap();
        assert_eq!(label.name(), "linux-block-0123456789");
    }

    #[test]
    fn what_was_written_has_a_name_and_is_of_the_fresh_part() {
        let (_, rest) = LABEL.split_once("kind").unwrap();
        let text = format!("kind{}", rest.replace("[comparison]", WRITTEN));
        assert_eq!(check(&text), Ok(()));
        let label: Label = toml::from_str(&text).unwrap();
        assert_eq!((label.name().as_str(), label.part()), ("w", Part::Fresh));
        assert_eq!(label.written.unwrap().first, Grouping::Partly);
    }

    #[test]
    fn halves_are_about_equal_and_some_lists_are_always_scored() {
        let scored = |list: &str| {
            let ids = (0..1000).map(|id| format!("{id}@example.org"));
            ids.filter(|id| part_of(list, id) == Part::Scored).count()
        };
        assert!((450..550).contains(&scored("linux-block.vger.kernel.org")));
        assert_eq!(scored("linux-xfs.vger.kernel.org"), 1000);
    }
}
