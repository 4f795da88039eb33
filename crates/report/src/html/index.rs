//! The index of a mail archive: a page with one row per mail or thread.

use serde::Serialize;

use super::{HtmlError, environment, render};

/// A judged archive.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ArchiveIndex {
    /// The archive that was read.
    pub source: String,
    /// Whether each row is a thread instead of a single mail.
    pub threads: bool,
    /// The number of mails read.
    pub mails: u64,
    /// The mails or threads with figures, in archive order.
    pub rows: Vec<IndexRow>,
}

/// A mail or a thread with figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct IndexRow {
    /// The positions in the archive, starting at 1, of the mails with figures.
    pub messages: Vec<u32>,
    /// The Message-ID of the first mail, without angle brackets.
    pub message_id: Option<String>,
    /// Its subject.
    pub subject: Option<String>,
    /// Its author.
    pub from: Option<String>,
    /// Its date, as written in the mail.
    pub date: Option<String>,
    /// The configurations.
    pub configurations: Vec<String>,
    /// The number of runs read.
    pub runs: usize,
    /// The number of means over runs read.
    pub summaries: usize,
    /// The number of figures without runs read.
    pub statements: usize,
    /// The number of established comparisons.
    pub established: usize,
    /// The number of supported comparisons.
    pub supported: usize,
    /// The number of equivalent comparisons.
    pub equivalent: usize,
    /// The number of undecided comparisons.
    pub undecided: usize,
    /// The codes of the lints, without repeats.
    pub lints: Vec<String>,
    /// Why it could not be judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl IndexRow {
    /// The best verdict of its comparisons; `read` if nothing was compared, `failed` if it could
    /// not be judged.
    pub fn verdict(&self) -> &'static str {
        let counts = [
            (usize::from(self.problem.is_some()), "failed"),
            (self.established, "established"),
            (self.supported, "supported"),
            (self.equivalent, "equivalent"),
            (self.undecided, "undecided"),
        ];
        let found = counts.iter().find(|(count, _)| *count > 0);
        found.map_or("read", |(_, word)| word)
    }
}

/// The verdicts, in the order in which the page counts them.
const VERDICTS: [&str; 6] = [
    "established",
    "supported",
    "equivalent",
    "undecided",
    "read",
    "failed",
];

/// Returns the index as a page that needs neither scripts nor network. The same input
/// gives the same bytes.
///
/// # Errors
/// [`HtmlError`], never because of the contents of the mails.
pub fn index(index: &ArchiveIndex) -> Result<String, HtmlError> {
    let style = concat!(
        include_str!("style/page.css"),
        include_str!("style/index.css")
    );
    let rows: Vec<minijinja::Value> = index
        .rows
        .iter()
        .map(|row| {
            minijinja::context! {
                verdict => row.verdict(),
                ..minijinja::Value::from_serialize(row)
            }
        })
        .collect();
    let tally = VERDICTS.map(|verdict| {
        let rows = index.rows.iter();
        (verdict, rows.filter(|row| row.verdict() == verdict).count())
    });
    let view = minijinja::context! {
        title => index.source,
        threads => index.threads,
        mails => index.mails,
        tally => tally,
        rows => rows,
    };
    Ok(render(&environment()?, "index.html", [style, ""], view)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_mails_say_is_text_and_each_has_its_best_verdict() {
        let row = |subject: &str, supported, undecided| IndexRow {
            messages: vec![7, 9],
            message_id: Some("1\"><script>@x".into()),
            subject: Some(subject.into()),
            supported,
            undecided,
            ..IndexRow::default()
        };
        let failed = IndexRow {
            problem: Some("it broke".into()),
            ..row("c", 1, 1)
        };
        let index_of = ArchiveIndex {
            source: "box".into(),
            threads: false,
            mails: 12,
            rows: vec![row("<b>a</b>", 2, 1), row("b", 0, 0), failed],
        };
        let page = index(&index_of).unwrap();
        assert!(
            !page.contains("<b>a") && !page.contains("<script>"),
            "{page}"
        );
        assert!(page.contains("&lt;b&gt;a"));
        for (verdict, count) in [("supported", 1), ("read", 1), ("failed", 1)] {
            let cell = format!("<tr data-verdict=\"{verdict}\"");
            assert_eq!(page.matches(&cell).count(), count, "{verdict}");
        }
        assert!(page.contains("it broke"));
        assert_eq!(page, index(&index_of).unwrap());
    }
}
