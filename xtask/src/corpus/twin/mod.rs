//! Twins: texts of ours with the layout and the figures of a mail.
//!
//! Tables, and whatever else holds figures, stay byte for byte. Of prose only
//! figures stay and the words that nobody owns, such as "before" and
//! "throughput"; all others are ours. Identifiers in code, patches and logs
//! are spelled anew, long rows of such lines are cut, and persons, hosts and
//! addresses are replaced.

mod lines;
mod patch;
mod words;

use std::collections::BTreeSet;
use std::fs;
use std::sync::LazyLock;

use assize_audit::Line;
use regex::Regex;

use self::lines::{Class, class, most};
use self::patch::{Patch, coded};
use self::words::{Filler, is_signal, is_small, noun, respelled};
use super::label::Label;
use super::strata::{is_figure, message};
use super::texts::Archives;
use crate::Error;

/// Writes the twins of labels.
pub(super) fn write(labels: &[&Label], archives: &mut Archives) -> Result<(), Error> {
    for label in labels {
        let path = label.twin()?;
        let fault = |why| format!("{}: {why}", path.display());
        let mail = archives.mail(label)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(fault)?;
        }
        fs::write(&path, of(&mail, label)?).map_err(fault)?;
        println!("{}", path.display());
    }
    Ok(())
}

/// The twin of a mail.
pub(super) fn of(mail: &[u8], label: &Label) -> Result<String, Error> {
    let message = message(mail)?.ok_or(format!("{}: is empty", label.name()))?;
    let lines = message.lines();
    let persons = persons(&lines, message.from.as_deref());
    let mut twin = Twin {
        kept: names(&lines, &persons),
        persons,
        filler: Filler::new(&label.commit),
        out: Vec::new(),
    };
    let subject = twin.heading(message.subject.as_deref().unwrap_or("(none)"));
    twin.body(&lines);
    let head = format!(
        "From: A. Writer <writer@example.org>\nTo: list@example.org\nSubject: {}\n\
         Date: Thu, 01 Jan {} 12:00:00 +0000\nMessage-ID: <{}@twin.example.org>\n\
         MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n\
         Content-Transfer-Encoding: 8bit\n",
        subject.replace('\n', " "),
        label.year,
        label.name()
    );
    Ok(format!("{head}\n{}\n", twin.out.join("\n").trim_end()))
}

/// The words of persons' names and addresses, in small letters.
fn persons(lines: &[Line<'_>], from: Option<&str>) -> BTreeSet<String> {
    let mut persons = BTreeSet::new();
    let mut add = |text: &str| {
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            let word = word.to_lowercase();
            let name = word.len() > 2 && word.bytes().any(|b| b.is_ascii_alphabetic());
            if name && !is_signal(&word) && !NO_NAMES.contains(&word.as_str()) {
                persons.insert(word);
            }
        }
    };
    add(from.unwrap_or_default());
    for line in lines {
        let text: &str = &line.text;
        let said = match class(text) {
            Class::Trailer => text.split_once(": ").map_or("", |(_, rest)| rest),
            Class::Attribution => text,
            _ if SHORTLOG.is_match(text) => text,
            _ => "",
        };
        // Of a trailer only what stands before an address names somebody.
        if said.contains('@') || SHORTLOG.is_match(said) || class(text) == Class::Attribution {
            add(said);
        }
    }
    persons
}

/// Words that stand beside names and are none.
const NO_NAMES: [&str; 46] = [
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "wrote",
    "writes",
    "from",
    "sent",
    "date",
    "subject",
    "com",
    "org",
    "net",
    "kernel",
    "gmail",
    "mail",
    "the",
    "and",
    "for",
    "patch",
    "linux",
    "lists",
    "vger",
    "devel",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "block",
    "crypto",
];

/// The words of lines with figures, which may stand elsewhere too.
fn names(lines: &[Line<'_>], persons: &BTreeSet<String>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in lines
        .iter()
        .filter(|line| class(&line.text) == Class::Figures)
    {
        for word in line.text.split_whitespace().map(bare) {
            let plain = word
                .chars()
                .all(|c| c.is_alphanumeric() || "-_./".contains(c));
            if plain && !persons.contains(&word.to_lowercase()) {
                names.insert(word.to_lowercase());
            }
        }
    }
    names
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

struct Twin {
    kept: BTreeSet<String>,
    persons: BTreeSet<String>,
    filler: Filler,
    out: Vec<String>,
}

impl Twin {
    fn body(&mut self, lines: &[Line<'_>]) {
        let mut patch = Patch::default();
        let mut depth = 0;
        let mut run = (Class::Blank, 0);
        for line in lines {
            let mut made = Vec::new();
            if line.depth != depth {
                patch.end(&mut made);
                self.push(depth, &mut made);
                patch = Patch::default();
                depth = line.depth;
            }
            let text: &str = &line.text;
            if patch.takes(text, &mut made) {
                self.push(depth, &mut made);
                continue;
            }
            self.push(depth, &mut made);
            if text == "--" && depth == 0 {
                break;
            }
            let class = class(text);
            if class != Class::Blank {
                let before = if run.0 == class { run.1 } else { 0 };
                run = (class, before + 1);
                if run.1 > most(class) {
                    continue;
                }
            }
            made.push(self.line(text, class));
            self.push(depth, &mut made);
        }
        let mut made = Vec::new();
        patch.end(&mut made);
        self.push(depth, &mut made);
    }

    fn push(&mut self, depth: u8, made: &mut Vec<String>) {
        let quote = "> ".repeat(usize::from(depth));
        for text in made.drain(..) {
            self.out
                .push(format!("{quote}{text}").trim_end().to_string());
        }
    }

    fn line(&mut self, text: &str, class: Class) -> String {
        match class {
            Class::Blank => String::new(),
            Class::Stat | Class::Code => coded(text),
            Class::Log => hexed(&coded(text)),
            Class::Attribution => "Somebody wrote:".to_string(),
            Class::Trailer => {
                let tag = text.split(':').next().unwrap_or_default();
                format!("{tag}: A. Writer <writer@example.org>")
            }
            Class::Figures if SHORTLOG.is_match(text) => {
                format!(
                    "A. Writer {}",
                    text.get(text.rfind('(').unwrap_or(0)..).unwrap_or("")
                )
            }
            Class::Command | Class::Figures => self.unnamed(&clean(text)),
            Class::Heading => self.heading(text),
            Class::Prose => self.prose(text),
        }
    }

    /// The line with other names of the same length for persons'.
    fn unnamed(&self, text: &str) -> String {
        text.split_inclusive(|c: char| !c.is_alphanumeric())
            .map(|part| {
                let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
                match self.persons.contains(&word.to_lowercase()) {
                    true => part.replacen(word, &respelled(word), 1),
                    false => part.to_string(),
                }
            })
            .collect()
    }

    /// A line of few words, with nouns of ours for names of theirs.
    fn heading(&mut self, text: &str) -> String {
        self.words(text, &mut |_, word| noun(word))
    }

    /// A line of prose in our words.
    fn prose(&mut self, text: &str) -> String {
        self.words(text, &mut |filler, word| filler.next(word))
    }

    fn words(&mut self, text: &str, other: &mut dyn FnMut(&mut Filler, &str) -> String) -> String {
        let text = clean(text);
        let words: Vec<&str> = text.split(' ').collect();
        let figure = |at: usize| words.get(at).is_some_and(|word| is_number(bare(word)));
        let mut same = 0;
        let made: Vec<String> = words
            .iter()
            .enumerate()
            .map(|(at, word)| {
                let name = bare(word);
                if name.is_empty() || is_number(name) {
                    return (*word).to_string();
                }
                let near = (at.saturating_sub(2)..=at + 2).any(figure);
                let stays = is_signal(name)
                    || self.kept.contains(&name.to_lowercase())
                    || (near && is_small(name));
                // No more than four words of theirs stand in a row.
                same = if stays { same + 1 } else { 0 };
                if stays && same < 5 {
                    return (*word).to_string();
                }
                same = 0;
                word.replacen(name, &other(&mut self.filler, name), 1)
            })
            .collect();
        made.join(" ")
    }
}

/// Whether a word is a figure, or a version and the like.
fn is_number(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    is_figure(word) || (digits > 0 && word.len() <= 12)
}

#[allow(clippy::expect_used)] // Constants; the tests use them.
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a regular expression")
}

static SHORTLOG: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*[A-ZÀ-Þ][\w.'-]*( [\w.'-]+){1,4} \(\d+\):$"));
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| regex(r"[\w.+-]+(@|\s+at\s+)[\w-]+(\.[\w-]+)+"));
static PROMPT: LazyLock<Regex> = LazyLock::new(|| regex(r"\b[\w.-]+@([\w.-]+|~)"));
static URL: LazyLock<Regex> = LazyLock::new(|| regex(r"\b[a-z+]{2,8}://[^\s>)\]]+"));
static HOME: LazyLock<Regex> = LazyLock::new(|| regex(r"/home/[\w.-]+"));
static HOST: LazyLock<Regex> = LazyLock::new(|| regex(r"\blkp-[\w-]+"));
static SERIAL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b(serial|uuid|guid|wwn|address|seed)\b"));
static LONG_HEX: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{40}\b"));

/// The line without persons, hosts and addresses.
fn clean(text: &str) -> String {
    let text = URL.replace_all(text, "https://example.org/");
    let text = ADDRESS.replace_all(&text, "writer@example.org");
    let text = PROMPT.replace_all(&text, |found: &regex::Captures<'_>| {
        let found = found.get(0).map_or("", |m| m.as_str());
        match found.ends_with("example.org") {
            true => found.to_string(),
            false => "user@host".to_string(),
        }
    });
    let text = HOME.replace_all(&text, "/home/user");
    let text = HOST.replace_all(&text, "lkp-some-box");
    let text = LONG_HEX.replace_all(&text, |found: &regex::Captures<'_>| {
        hexed(found.get(0).map_or("", |m| m.as_str()))
    });
    match SERIAL.is_match(&text) && text.contains(':') {
        true => {
            let (name, value) = text.split_once(':').unwrap_or((&text, ""));
            format!("{name}:{}", respelled(value))
        }
        false => text.into_owned(),
    }
}

/// The line with other digits in its hexadecimal words.
fn hexed(text: &str) -> String {
    let hex = |word: &str| {
        word.len() >= 8
            && word
                .bytes()
                .all(|b| b.is_ascii_hexdigit() || b == b'x' || b == b'-')
    };
    let change = |(at, c): (usize, char)| match c {
        'a'..='f' => char::from(b"bcdefa"[at % 6]),
        '1'..='9' => char::from(b"123456789"[(c as usize + at) % 9]),
        other => other,
    };
    text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .map(
            |part| match hex(part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric())) {
                true => part.chars().enumerate().map(change).collect(),
                false => part.to_string(),
            },
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label() -> Label {
        toml::from_str(
            "list = \"some.list\"\nyear = 2020\nmessage_id = \"m\"\narchive = \"l.0\"\n\
             commit = \"0123456789ab\"\nstratum = \"figures\"\nkind = \"figures\"\nshape = \"s\"\n",
        )
        .unwrap()
    }

    const MAIL: &str = "From: Jane Roe <jane@roe.example>\nSubject: Re: [PATCH v2] mm: make it fast\n\n\
        On Fri, Apr 26, 2019 at 08:06:33AM -0400, John Doe wrote:\n\
        > Yesterday Jane showed me that this makes the allocator quicker by 12 %.\n\
        > jane@bighost:/home/jane$ fio --rw=read --bs=4k\n\
        >             base     patched\n\
        > read        12.5     13.75\n\
        > write        1.5      1.75\n\
        The second lock is not needed there, as I wrote.\n\n\
        diff --git a/mm/slab.c b/mm/slab.c\n\
        @@ -1,2 +1,2 @@ static int shrink_slab(void)\n context_line();\n-old_line();\n+new_line();\n\
        Signed-off-by: Jane Roe <jane@roe.example>\n-- \n2.25.1\n";

    #[test]
    fn a_twin_keeps_figures_byte_for_byte_and_nothing_of_persons_prose_and_code() {
        let twin = of(MAIL.as_bytes(), &label()).unwrap();
        for kept in [
            ">             base     patched\n",
            "> read        12.5     13.75\n",
            "12 %",
            "fio --rw=read --bs=4k",
            "[PATCH v2]",
        ] {
            assert!(twin.contains(kept), "{kept}\n{twin}");
        }
        for gone in [
            "Jane",
            "Doe",
            "Roe",
            "jane",
            "bighost",
            "allocator",
            "Yesterday",
            "needed",
            "slab",
            "context_line",
            "showed me",
            "second lock",
        ] {
            assert!(!twin.contains(gone), "{gone}\n{twin}");
        }
    }

    #[test]
    fn the_same_mail_has_the_same_twin() {
        let twin = || of(MAIL.as_bytes(), &label()).unwrap();
        assert_eq!(twin(), twin());
    }

    #[test]
    fn no_five_words_in_a_row_are_theirs() {
        let mail = "Subject: x\n\nbefore after patch base with test results read write runs mean average here\n";
        let twin = of(mail.as_bytes(), &label()).unwrap();
        let body = twin.split_once("\n\n").unwrap().1;
        let stay = |word: &&str| mail.contains(*word);
        let words: Vec<&str> = body.split_whitespace().collect();
        assert!(
            words.windows(5).all(|five| !five.iter().all(stay)),
            "{body}"
        );
    }

    /// Words in a row, of what is neither figure nor command.
    fn rows(text: &str) -> BTreeSet<Vec<String>> {
        let message = message(text.as_bytes()).unwrap().unwrap();
        let lines = message.lines();
        let prose = lines.iter().filter(|line| {
            let class = class(&line.text);
            class == Class::Prose || class == Class::Heading
        });
        let words: Vec<String> = prose
            .flat_map(|line| {
                line.text
                    .split_whitespace()
                    .map(|word| bare(word).to_lowercase())
            })
            .filter(|word| !word.is_empty() && !is_number(word))
            .collect();
        // Rows of words that nobody owns, or that tables have, are no sentence.
        let kept = names(&lines, &BTreeSet::new());
        let own = |word: &String| !is_signal(word) && !is_small(word) && !kept.contains(word);
        let rows = words.windows(6).filter(|row| row.iter().any(own));
        rows.map(<[String]>::to_vec).collect()
    }

    /// `ASSIZE_ARCHIVES` names the directory with the clones.
    #[test]
    fn no_sentence_of_a_mail_is_in_its_twin() {
        let Some(archives) = std::env::var_os("ASSIZE_ARCHIVES") else {
            println!("skipped: ASSIZE_ARCHIVES names no clones of archives");
            return;
        };
        let mut archives = Archives::below(std::path::Path::new(&archives)).unwrap();
        let mut found = Vec::new();
        for label in Label::all().unwrap() {
            if !archives.have(&label) {
                continue;
            }
            let mail = String::from_utf8_lossy(&archives.mail(&label).unwrap()).into_owned();
            let twin = String::from_utf8(super::super::texts::twin(&label).unwrap()).unwrap();
            let both: Vec<_> = rows(&mail).intersection(&rows(&twin)).cloned().collect();
            if !both.is_empty() {
                found.push(format!("{}: {both:?}", label.name()));
            }
        }
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    #[test]
    fn addresses_become_others_of_the_same_form() {
        let text = hexed("RIP: ffffffff81234567 CPU: 3");
        assert!(!text.contains("ffffffff81234567") && text.ends_with("CPU: 3"));
        assert_eq!(text.len(), "RIP: ffffffff81234567 CPU: 3".len());
        assert!(!clean("Serial Number:    585T7P6NS").contains('P'));
    }
}
