//! Mails of an archive, thread by thread.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::audit::{Audit, Letter, Reading, Scanned};
use crate::line::hash;
use crate::options::Options;

/// A thread: the mail it begins with, and the version of the series.
type Key = (u64, u32);

/// Groups mails into threads, so that the figures of a reply join those of the mail it answers.
/// Each version of a series (`[PATCH v2 …]`) is a thread of its own, even if it was sent as a reply
/// to the version before. A mail that is archived twice counts once.
///
/// Memory is bounded by the figures found and by 16 bytes for each mail.
#[derive(Default)]
pub struct Threads {
    /// Identifiers to threads.
    known: HashMap<u64, Key>,
    met: HashSet<u64>,
    /// Threads with figures, in the order in which they begin.
    threads: BTreeMap<usize, Thread>,
    places: HashMap<Key, usize>,
}

/// A thread with figures.
pub struct Thread {
    reading: Reading,
    /// The mails that hold them.
    pub letters: Vec<Letter>,
}

impl Thread {
    /// About how much memory its figures take.
    pub fn bytes(&self) -> usize {
        self.reading.grouper.bytes()
    }

    /// Returns the audit of all its mails together.
    pub fn finish(self, source: &str, options: &Options) -> Audit {
        self.reading.finish(source, options)
    }
}

impl Threads {
    /// Adds the next mail. A reply should come after the mail that it answers, as in the archives
    /// of lists; if not, its references join it to its thread.
    pub fn add(&mut self, message: Scanned, options: &Options) {
        let own = message.letter.message_id.as_deref().map(hash);
        if own.is_some_and(|id| !self.met.insert(id)) {
            return;
        }
        let key = self.key(&message, own);
        let letter = message.letter.clone();
        if let Some(own) = own {
            self.known.insert(own, key);
        }
        if let Some(&place) = self.places.get(&key) {
            if let Some(thread) = self.threads.get_mut(&place)
                && thread.reading.add(message, options)
            {
                thread.letters.push(letter);
            }
            return;
        }
        // Most threads have no figures: nothing is kept of those.
        let mut reading = Reading::default();
        if reading.add(message, options) {
            let place = self.places.len();
            self.places.insert(key, place);
            let letters = vec![letter];
            self.threads.insert(place, Thread { reading, letters });
        }
    }

    /// Returns the threads that have figures.
    pub fn finish(self) -> impl Iterator<Item = Thread> {
        self.threads.into_values()
    }

    fn key(&self, message: &Scanned, own: Option<u64>) -> Key {
        let references = message.references.iter().map(hash);
        let parent = references.rev().find_map(|id| self.known.get(&id)).copied();
        let root = match (parent, message.references.first()) {
            (Some((root, _)), _) => root,
            (None, Some(first)) => hash(first),
            (None, None) => {
                own.unwrap_or_else(|| hash(&format!("number {}", message.letter.number)))
            }
        };
        let version = version(message.letter.subject.as_deref().unwrap_or_default());
        let inherited = parent.map_or(1, |(_, version)| version);
        (root, version.unwrap_or(inherited))
    }
}

/// The version in a subject, such as `[PATCH net v3 2/5]` or `Re: [RFC v2]`; 1 if the tag has no
/// version, `None` if there is no such tag.
fn version(subject: &str) -> Option<u32> {
    let mut version = None;
    for tag in subject.split('[').skip(1) {
        let tag = tag.split(']').next()?.to_ascii_lowercase();
        if !tag.contains("patch") && !tag.contains("rfc") {
            continue;
        }
        let number = tag
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '.')
            .filter_map(|word| word.rsplit_once('v'))
            .filter(|(before, _)| matches!(*before, "" | "patch" | "rfc"))
            .find_map(|(_, digits)| digits.parse().ok());
        version = Some(number.unwrap_or(1));
    }
    version
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stand_in_the_tag_of_a_patch() {
        #[rustfmt::skip]
        let cases = [
            ("[PATCH v3 2/5] queue: x", Some(3)), ("Re: [PATCH net-next v12] x", Some(12)),
            ("[RFC PATCHv2] x", Some(2)), ("[PATCH 0/3] v2 of the scheme", Some(1)),
            ("[dm-devel] [PATCH v4 01/10] x", Some(4)), ("Re: [bug] v3 hangs", None),
            ("Re: performance of x", None),
        ];
        for (subject, wanted) in cases {
            assert_eq!(version(subject), wanted, "{subject}");
        }
    }
}
