//! `size`: how large the sections of object files are.
//!
//! ```text
//!    text    data     bss     dec     hex filename
//! 1969116  513432  164666 2647214  2864ae vmlinux.before
//! 1967636  513426  166304 2647366  286546 vmlinux.after
//! ```
//!
//! A file is one build. Where the names of the files differ in a word that names
//! a configuration, that is theirs; else the heading above is, and the file is
//! what was built.

use super::begins::Begins;
use super::cells::{label, line_at};
use super::number::english;
use super::{Block, Figure, Finding, Grammar, Labels, Taken};
use crate::Line;
use crate::roles::words::names_configuration;

/// `size`; see the module.
pub struct Size;

/// No listing has more files.
const MOST: usize = 500;
/// A name with what was added to it is no longer.
const LONGEST: usize = 48;
/// The columns, of which the first four are kept.
const COLUMNS: [&str; 6] = ["text", "data", "bss", "dec", "hex", "filename"];

impl Grammar for Size {
    fn name(&self) -> &'static str {
        "size"
    }

    fn begins(&self) -> Begins {
        Begins::with(b"t")
    }

    fn starts(&self, line: &str) -> bool {
        line.trim_start().starts_with("text") && line.split_whitespace().eq(COLUMNS)
    }

    fn reach(&self) -> usize {
        1
    }

    fn read(&self, lines: &[Line<'_>]) -> Option<Block> {
        let depth = lines.first()?.depth;
        let head = line_at(lines, 0)?;
        if !head.split_whitespace().eq(COLUMNS) {
            return None;
        }
        let rows: Vec<(&str, [f64; 4])> = (1..=MOST)
            .map_while(|at| row(line_at(lines, at).filter(|_| lines[at].depth == depth)?))
            .collect();
        if rows.is_empty() {
            return None;
        }
        let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
        let labels = beside_originals(&names)
            .or_else(|| in_two_trees(&names))
            .or_else(|| with_additions(&names))
            .unwrap_or_else(|| by_stem(&names));
        let mut block = Block {
            findings: Vec::new(),
            taken: vec!["size" as Taken; rows.len() + 1],
        };
        for (at, ((_, sizes), labels)) in rows.iter().zip(labels).enumerate() {
            let figures = COLUMNS
                .iter()
                .zip(sizes)
                .map(|(metric, size)| Figure::new(*metric, *size, "B"));
            let figures = figures.collect();
            block.find(at + 1, Finding::Run { labels, figures });
        }
        Some(block)
    }
}

/// Files by what their names differ in, where that names configurations.
fn by_stem(names: &[&str]) -> Vec<Labels> {
    let stem = stem(names);
    let parts: Vec<&str> = names.iter().map(|name| &name[stem..]).collect();
    let configured = parts.len() >= 2 && parts.iter().any(|part| names_configuration(part));
    let labels = |(name, part): (&&str, &str)| match configured {
        true => Labels {
            configuration: Some(label(part)),
            workload: Some(label(names[0][..stem].trim_end_matches(['.', '-', '_'])))
                .filter(|stem| !stem.is_empty()),
            repetition: None,
        },
        false => Labels {
            workload: Some(label(name)),
            ..Labels::default()
        },
    };
    names.iter().zip(parts).map(labels).collect()
}

/// Files beside others whose names say more of their state, `core.o.orig` and `core.o`: the
/// one is what the other was. None if a file has no other.
fn beside_originals(names: &[&str]) -> Option<Vec<Labels>> {
    const STATES: [(&str, &str); 8] = [
        ("orig", "new"),
        ("old", "new"),
        ("base", "new"),
        ("before", "new"),
        ("new", "old"),
        ("after", "old"),
        ("patched", "old"),
        ("mod", "old"),
    ];
    let stated = |name: &&str| {
        let (file, state) = name.rsplit_once('.')?;
        let (own, other) = STATES.iter().find(|(own, _)| *own == state)?;
        names
            .contains(&file)
            .then(|| (file.to_owned(), *own, *other))
    };
    let pairs: Vec<(String, &str, &str)> = names.iter().filter_map(stated).collect();
    let labels = |name: &&str| {
        let own = stated(name).map(|(file, own, _)| (file, own));
        let other = || pairs.iter().find(|(file, ..)| file == name);
        let plain = || other().map(|(file, _, other)| (file.clone(), *other));
        let (file, state) = own.or_else(plain)?;
        Some(Labels {
            configuration: Some(label(state)),
            workload: Some(label(&file)),
            repetition: None,
        })
    };
    names.iter().map(labels).collect()
}

/// Files of two trees, `a/vmlinux` and `b/vmlinux`, as `diff` and git call what was and what
/// became of it. None if a file is in one of them only.
fn in_two_trees(names: &[&str]) -> Option<Vec<Labels>> {
    let parted = |name: &str| {
        let old = name
            .strip_prefix("a/")
            .map(|file| (file.to_owned(), "old", "b/"));
        old.or_else(|| {
            name.strip_prefix("b/")
                .map(|file| (file.to_owned(), "new", "a/"))
        })
    };
    let labels = |name: &&str| {
        let (file, state, other) = parted(name)?;
        let both = names.iter().any(|name| *name == format!("{other}{file}"));
        both.then(|| Labels {
            configuration: Some(label(state)),
            workload: Some(label(&file)),
            repetition: None,
        })
    };
    names.iter().map(labels).collect()
}

/// What was built without and with something, `linux` and `linux + patch`, each of which is a
/// configuration.
fn with_additions(names: &[&str]) -> Option<Vec<Labels>> {
    let first = names.first()?;
    let added = |name: &&str| {
        name.strip_prefix(*first)
            .is_some_and(|rest| rest.starts_with(" + "))
    };
    let rest = names.get(1..).filter(|rest| !rest.is_empty())?;
    let labels = |name: &&str| Labels {
        configuration: Some(label(name)),
        ..Labels::default()
    };
    rest.iter()
        .all(added)
        .then(|| names.iter().map(labels).collect())
}

/// `1969116 513432 164666 2647214 2864ae vmlinux`, whose sum is what it says.
fn row(line: &str) -> Option<(&str, [f64; 4])> {
    let mut words = line.split_whitespace();
    let mut sizes = [0.0; 4];
    for size in &mut sizes {
        *size = english(words.next()?).filter(|v| *v >= 0.0 && v.fract() == 0.0)?;
    }
    let hex = u64::from_str_radix(words.next()?, 16).ok()?;
    let name = words.next()?;
    let [text, data, bss, dec] = sizes;
    let sums = text + data + bss == dec && hex as f64 == dec;
    let noted = |rest: &str| rest == "(TOTALS)" || is_difference(rest);
    let rest = words.next();
    // `linux + patch`
    if sums && rest == Some("+") {
        let start = name.as_ptr().addr() - line.as_ptr().addr();
        return Some((line[start..].trim_end(), sizes)).filter(|(name, _)| name.len() <= LONGEST);
    }
    (sums && rest.is_none_or(noted)).then_some((name, sizes))
}

/// `(+5771)`: what somebody computed from two sizes.
fn is_difference(word: &str) -> bool {
    let inner = word.strip_prefix('(').and_then(|w| w.strip_suffix(')'));
    inner.is_some_and(|inner| inner.starts_with(['+', '-']) && english(inner).is_some())
}

/// How many bytes of names are the same, up to the last mark between words.
fn stem(names: &[&str]) -> usize {
    let Some((first, others)) = names.split_first() else {
        return 0;
    };
    let mut common = first.len();
    for other in others {
        let same = first.bytes().zip(other.bytes()).take_while(|(a, b)| a == b);
        common = common.min(same.count());
    }
    first
        .get(..common)
        .and_then(|head| head.rfind(['.', '-', '_']))
        .map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::testing;

    fn runs(text: &str) -> Vec<(Option<String>, Option<String>, f64)> {
        let runs = testing::runs(&Size, text).into_iter();
        runs.map(|(labels, f)| (labels.configuration, labels.workload, f[0].value))
            .collect()
    }

    const HEAD: &str = "   text\t   data\t    bss\t    dec\t    hex\tfilename\n";

    #[test]
    fn names_of_files_are_configurations_where_they_differ_as_such() {
        let text = format!("{HEAD}100 20 8 128 80 vmlinux.before\n 90 20 8 118 76 vmlinux.after\n");
        let built = Some("vmlinux".to_owned());
        assert_eq!(
            runs(&text),
            [
                (Some("before".into()), built.clone(), 100.0),
                (Some("after".into()), built, 90.0)
            ]
        );
    }

    #[test]
    fn a_file_is_compared_with_what_it_was() {
        let of = |state: &str, file: &str, text: f64| (Some(state.into()), Some(file.into()), text);
        let text = format!(
            "{HEAD}100 20 8 128 80 b.o.orig\n 90 20 8 118 76 b.o\n70 20 8 98 62 c.o.new\n80 20 8 108 6c c.o\n"
        );
        let expected = [
            of("orig", "b.o", 100.0),
            of("new", "b.o", 90.0),
            of("new", "c.o", 70.0),
            of("old", "c.o", 80.0),
        ];
        assert_eq!(runs(&text), expected);
        // A file without one: all are what they are called.
        let other = format!("{text}60 20 8 88 58 d.o\n");
        let names = runs(&other);
        assert!(names.iter().all(|(state, ..)| state.is_none()), "{names:?}");
    }

    #[test]
    fn files_of_two_trees_and_additions_are_compared_in_their_listing() {
        let of = |state: &str, file: Option<&str>, text: f64| {
            (Some(state.into()), file.map(String::from), text)
        };
        let trees = format!("{HEAD}100 20 8 128 80 a/vmlinux\n 90 20 8 118 76 b/vmlinux\n");
        assert_eq!(
            runs(&trees),
            [
                of("old", Some("vmlinux"), 100.0),
                of("new", Some("vmlinux"), 90.0)
            ]
        );
        let added = format!("{HEAD}100 20 8 128 80 linux\n 90 20 8 118 76 linux + patch\n");
        assert_eq!(
            runs(&added),
            [of("linux", None, 100.0), of("linux + patch", None, 90.0)]
        );
        // A file that is in one tree only.
        let one = format!("{HEAD}100 20 8 128 80 a/vmlinux\n 90 20 8 118 76 b/other.o\n");
        assert!(runs(&one).iter().all(|(state, ..)| state.is_none()));
    }

    #[test]
    fn a_difference_behind_the_name_of_a_file_is_left_out() {
        let text = format!("{HEAD}100 20 8 128 80 x.before\n 90 20 8 118 76 x.after (-10)\n");
        assert_eq!(runs(&text).len(), 2);
        let other = format!("{HEAD}100 20 8 128 80 x.before\n 90 20 8 118 76 x.after (mine)\n");
        assert_eq!(runs(&other).len(), 1);
    }

    #[test]
    fn files_of_one_build_are_what_was_built() {
        let text = format!("{HEAD}100 20 8 128 80 fs/a.o\n 90 20 8 118 76 fs/b.o\n");
        let all = runs(&text);
        assert_eq!(all.len(), 2);
        assert!(
            all.iter()
                .all(|(configuration, ..)| configuration.is_none())
        );
    }

    #[test]
    fn sums_that_are_none_are_left_alone() {
        assert!(runs(&format!("{HEAD}100 20 8 129 80 vmlinux\n")).is_empty());
        assert!(runs(&format!("{HEAD}100 20 8 128 81 vmlinux\n")).is_empty());
        assert!(runs("text data bss\n100 20 8 128 80 vmlinux\n").is_empty());
    }
}
