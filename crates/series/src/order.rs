//! Assembles mails into a series: selects its patches and orders them.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::mail::{Mail, PostedPatch};

/// A posted series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedSeries {
    /// The subject of the cover letter, if there is one.
    pub title: Option<String>,
    /// The version, as in `[PATCH v3]`; 1 if there is none.
    pub version: u32,
    /// The base commit that the series names.
    pub base: Option<String>,
    /// The patches, in the order in which to apply them; not empty.
    pub patches: Vec<PostedPatch>,
}

/// Finds the patches of a series among the mails of a file.
pub(crate) fn ordered(letters: Vec<Mail>, name: &str) -> Result<PostedSeries, Error> {
    let refuse = |why: String, mend: &str| Error::Posted {
        name: name.into(),
        why,
        mend: mend.into(),
    };
    // Replies quote patches; mails with neither a diff nor a patch subject are discussion.
    let counts = |letter: &Mail| !letter.subject.is_reply && (is_patch(letter));
    let alone = letters.len() == 1;
    let all: Vec<Mail> = letters
        .into_iter()
        .filter(|one| alone || counts(one))
        .collect();
    let versions: BTreeSet<u32> = all.iter().map(|letter| letter.subject.version).collect();
    if versions.len() > 1 {
        let versions: Vec<String> = versions.iter().map(|n| format!("v{n}")).collect();
        let why = format!("it holds {} of a series", versions.join(" and "));
        return Err(refuse(why, "keep only one version"));
    }
    let is_cover = |letter: &&Mail| letter.subject.place.is_some_and(|(n, _)| n == 0);
    let title = all
        .iter()
        .find(is_cover)
        .map(|cover| cover.patch.subject.clone());
    let base = all.iter().find_map(|letter| letter.base.clone());
    let patches: Vec<&Mail> = all.iter().filter(|letter| !is_cover(letter)).collect();
    if let Some(empty) = patches.iter().find(|letter| !letter.has_diff()) {
        let why = match empty.patch.subject.is_empty() {
            true => "no diff in it".to_owned(),
            false => format!("no diff in the mail \"{}\"", empty.patch.subject),
        };
        return Err(refuse(why, "give a mail, a mailbox or a diff with a patch"));
    }
    if patches.is_empty() {
        return Err(refuse(
            "no patch in it".to_owned(),
            "give a mail, a mailbox or a diff with a patch",
        ));
    }
    let patches = in_order(&patches).map_err(|why| refuse(why, MEND))?;
    Ok(PostedSeries {
        title,
        version: versions.first().copied().unwrap_or(1),
        base,
        patches,
    })
}

const MEND: &str = "fetch the whole thread (b4 am, or the archive's mbox)";

/// Whether a mail is a patch of the series or its cover letter.
fn is_patch(letter: &Mail) -> bool {
    letter.subject.is_patch || letter.subject.place.is_some() || letter.has_diff()
}

/// Sorts patches by number; patches without numbers keep their order. Fails if a number
/// is missing or has different patches.
fn in_order(patches: &[&Mail]) -> Result<Vec<PostedPatch>, String> {
    let numbered: Vec<(u32, u32, &Mail)> = patches
        .iter()
        .filter_map(|letter| letter.subject.place.map(|(n, m)| (n, m, *letter)))
        .collect();
    if numbered.is_empty() {
        return Ok(patches.iter().map(|letter| letter.patch.clone()).collect());
    }
    if let Some(other) = patches.iter().find(|letter| letter.subject.place.is_none()) {
        return Err(format!(
            "\"{}\" has no number, but others have one",
            other.patch.subject
        ));
    }
    let sizes: BTreeSet<u32> = numbered.iter().map(|(_, m, _)| *m).collect();
    let of = match sizes.iter().copied().collect::<Vec<_>>()[..] {
        [of] => of,
        _ => {
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            return Err(format!(
                "it mixes series of {} patches",
                sizes.join(" and ")
            ));
        }
    };
    if let Some((n, ..)) = numbered.iter().find(|(n, ..)| *n > of) {
        return Err(format!("it has patch {n} of a series of {of}"));
    }
    let mut ordered = Vec::new();
    for n in 1..=of {
        let of_number: Vec<&Mail> = numbered
            .iter()
            .filter(|(at, ..)| *at == n)
            .map(|(.., letter)| *letter)
            .collect();
        match of_number[..] {
            [] => return Err(format!("patch {n} of {of} is missing")),
            // Archives of several lists contain the same mail repeatedly.
            [first, ref rest @ ..] if rest.iter().all(|one| same_change(one, first)) => {
                ordered.push(first.patch.clone());
            }
            _ => return Err(format!("two different mails are patch {n} of {of}")),
        }
    }
    Ok(ordered)
}

fn same_change(one: &Mail, other: &Mail) -> bool {
    one.patch.subject == other.patch.subject && one.patch.paths == other.patch.paths
}

#[cfg(test)]
mod tests {
    use crate::{Error, PostedSeries, read};

    fn mail(subject: &str, body: &str) -> String {
        format!(
            "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: A <a@x.org>\nSubject: {subject}\n\n{body}\n"
        )
    }

    fn patch(subject: &str, file: &str) -> String {
        let diff = format!("--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-a\n+b\n");
        mail(subject, &format!("text\n---\n{diff}-- \n2.39"))
    }

    fn posted(parts: &[String]) -> Result<PostedSeries, Error> {
        read(parts.concat().as_bytes(), "s.mbox")
    }

    fn subjects(posted: &PostedSeries) -> Vec<&str> {
        posted
            .patches
            .iter()
            .map(|one| one.subject.as_str())
            .collect()
    }

    fn why(parts: &[String]) -> String {
        posted(parts).unwrap_err().to_string()
    }

    #[test]
    fn patches_come_in_the_order_of_their_numbers_behind_a_cover_letter() {
        let found = posted(&[
            patch("[PATCH v2 3/3] c", "c"),
            mail(
                "[PATCH v2 0/3] all",
                "words\n\nbase-commit: 0123456789abcdef",
            ),
            patch("[PATCH v2 1/3] a", "a"),
            mail("Re: [PATCH v2 1/3] a", "> --- a/a\n> +++ b/a\nlooks good"),
            patch("[PATCH v2 2/3] b", "b"),
        ])
        .unwrap();
        assert_eq!(subjects(&found), ["a", "b", "c"]);
        assert_eq!(found.title.as_deref(), Some("all"));
        assert_eq!(found.version, 2);
        assert_eq!(found.base.as_deref(), Some("0123456789abcdef"));
    }

    #[test]
    fn a_patch_that_is_missing_is_named() {
        let text = why(&[patch("[PATCH 1/3] a", "a"), patch("[PATCH 3/3] c", "c")]);
        assert!(
            text.starts_with("s.mbox: patch 2 of 3 is missing; fetch"),
            "{text}"
        );
        let far = why(&[patch("[PATCH 1/4000000000] a", "a")]);
        assert!(far.contains("patch 2 of 4000000000 is missing"), "{far}");
    }

    #[test]
    fn one_number_for_two_changes_is_refused_and_a_copy_is_not() {
        let (one, other) = (patch("[PATCH 1/1] a", "a"), patch("[PATCH 1/1] b", "b"));
        assert!(why(&[one.clone(), other]).contains("two different mails are patch 1 of 1"));
        assert_eq!(posted(&[one.clone(), one]).unwrap().patches.len(), 1);
    }

    #[test]
    fn a_mail_without_a_diff_is_named() {
        let text = why(&[patch("[PATCH 1/2] a", "a"), mail("[PATCH 2/2] b", "words")]);
        assert!(text.contains("no diff in the mail \"b\""), "{text}");
        assert!(why(&[mail("Hello", "words")]).contains("no diff in the mail \"Hello\""));
        assert!(why(&[]).contains("no diff in it"));
        assert!(why(&[mail("[PATCH 0/2] all", "words")]).contains("no patch in it"));
    }

    #[test]
    fn versions_and_series_are_not_mixed() {
        let text = why(&[patch("[PATCH 1/1] a", "a"), patch("[PATCH v2 1/1] a", "a")]);
        assert!(text.contains("v1 and v2 of a series"), "{text}");
        let text = why(&[patch("[PATCH 1/1] a", "a"), patch("[PATCH 2/2] b", "b")]);
        assert!(text.contains("series of 1 and 2"), "{text}");
        let text = why(&[patch("[PATCH 1/1] a", "a"), patch("[PATCH] b", "b")]);
        assert!(text.contains("\"b\" has no number"), "{text}");
        assert!(why(&[patch("[PATCH 3/2] a", "a")]).contains("it has patch 3 of a series of 2"));
    }

    #[test]
    fn patches_without_numbers_stay_as_they_stand() {
        let found = posted(&[patch("[PATCH] b", "b"), patch("[PATCH] a", "a")]).unwrap();
        assert_eq!(subjects(&found), ["b", "a"]);
        assert_eq!(found.title, None);
    }

    #[test]
    fn talk_between_patches_is_left_out() {
        let found = posted(&[
            mail("Re: lunch", "no"),
            patch("[PATCH] a", "a"),
            mail("lunch", "yes"),
        ])
        .unwrap();
        assert_eq!(subjects(&found), ["a"]);
    }

    #[test]
    fn any_bytes_are_a_series_or_an_error() {
        let text = patch("[PATCH 1/2] a", "a") + &patch("[PATCH 2/2] b", "b");
        for end in 0..text.len() {
            let _ = read(&text.as_bytes()[..end], "x");
            let mut bytes = text.clone().into_bytes();
            bytes[end] = 0xff;
            let _ = read(&bytes, "x");
        }
    }
}
