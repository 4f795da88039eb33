//! Parses mail subjects.

/// A parsed subject.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PatchSubject {
    /// The text after the brackets.
    pub(crate) text: String,
    /// Whether a bracket marks it as a patch.
    pub(crate) is_patch: bool,
    /// The number in the series and the size of the series: `[PATCH 2/5]`. Number 0 is
    /// the cover letter.
    pub(crate) place: Option<(u32, u32)>,
    /// The version, as in `[PATCH v3]`; 1 if there is none.
    pub(crate) version: u32,
    /// Whether it is a reply.
    pub(crate) is_reply: bool,
}

impl PatchSubject {
    /// Parses a subject as `git am` does: first reply prefixes, then brackets.
    pub(crate) fn parse(line: &str) -> Self {
        let mut subject = PatchSubject {
            version: 1,
            ..PatchSubject::default()
        };
        let mut rest = line.trim();
        loop {
            let lower = rest.to_ascii_lowercase();
            let reply = ["re:", "aw:", "fwd:"]
                .iter()
                .find(|mark| lower.starts_with(**mark));
            if let Some(after) = reply.and_then(|mark| rest.get(mark.len()..)) {
                subject.is_reply = true;
                rest = after.trim_start();
                continue;
            }
            let Some((inside, after)) = split_bracket(rest) else {
                break;
            };
            subject.take(inside);
            rest = after.trim_start();
        }
        subject.text = rest.split_whitespace().collect::<Vec<_>>().join(" ");
        subject
    }

    fn take(&mut self, inside: &str) {
        for word in inside.split([' ', ',']) {
            let lower = word.to_ascii_lowercase();
            if lower.contains("patch") {
                self.is_patch = true;
            }
            let version = lower
                .strip_prefix("patchv")
                .or_else(|| lower.strip_prefix('v'));
            if let Some(version) = version.and_then(|digits| digits.parse().ok()) {
                self.version = version;
            }
            if let Some((n, m)) = word.split_once('/')
                && let (Ok(n), Ok(m)) = (n.parse(), m.parse())
            {
                self.place = Some((n, m));
            }
        }
    }
}

/// Splits leading text in brackets from the rest.
fn split_bracket(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('[')?.split_once(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_version_and_text_of_a_subject_are_found() {
        for (line, place, version, text) in [
            (
                "[PATCH 2/5] drm/sched: Do it",
                Some((2, 5)),
                1,
                "drm/sched: Do it",
            ),
            ("[PATCH v3 01/12] a: b", Some((1, 12)), 3, "a: b"),
            ("[PATCHv2 0/3] cover", Some((0, 3)), 2, "cover"),
            ("[RFC PATCH drm-misc-next v4 1/1] a", Some((1, 1)), 4, "a"),
            ("[PATCH] [fixes] a:  [b] c", None, 1, "a: [b] c"),
            ("[PATCH 6.12 003/100] a", Some((3, 100)), 1, "a"),
        ] {
            let found = PatchSubject::parse(line);
            assert_eq!((found.place, found.version), (place, version), "{line}");
            assert_eq!(found.text, text);
            assert!(found.is_patch && !found.is_reply, "{line}");
        }
    }

    #[test]
    fn an_answer_to_a_patch_is_an_answer() {
        for line in [
            "Re: [PATCH 1/2] a",
            "RE: Re: [PATCH 1/2] a",
            "[list] Re: [PATCH 1/2] a",
        ] {
            let found = PatchSubject::parse(line);
            assert!(found.is_reply, "{line}");
            assert_eq!(found.place, Some((1, 2)));
        }
    }

    #[test]
    fn what_is_no_patch_has_no_place() {
        for line in [
            "",
            "[",
            "[GIT PULL] fixes",
            "a [PATCH 1/2]",
            "[1/x] a",
            "é[PATCH",
        ] {
            let found = PatchSubject::parse(line);
            assert!(!found.is_patch && found.place.is_none(), "{line}");
        }
    }
}
