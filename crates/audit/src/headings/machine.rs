//! Lines that name the machine on which something was measured.

use super::strip_marks;

/// The machine that a line names: `Host: a1 (96 X 1925 MHz), 5.19`.
pub(crate) fn machine(text: &str) -> Option<&str> {
    let (key, value) = text.split_at(memchr::memchr(b':', text.as_bytes())?);
    let value = &value[1..];
    if !ends_with_machine(key) {
        return None;
    }
    let key = strip_marks(key);
    if value.trim().is_empty() {
        return machine_of_heading(key);
    }
    let key = key
        .split_once(' ')
        .filter(|(test, _)| test.eq_ignore_ascii_case("test"))
        .map_or(key, |(_, key)| key);
    // `System: 12.3 s` is a time.
    let name = value
        .split([',', '(', ';'])
        .next()?
        .trim()
        .trim_matches(['*', '`']);
    let named = name.starts_with(char::is_alphabetic) && name.len() <= 60;
    (named && MACHINES.iter().any(|known| known.eq_ignore_ascii_case(key))).then_some(name)
}

/// What figures below a heading were measured on: `On a 4 core machine`.
fn machine_of_heading(heading: &str) -> Option<&str> {
    let mut words = heading.split(' ');
    let on = words.next().is_some_and(|on| on.eq_ignore_ascii_case("on"));
    let article = |word: &&str| matches!(*word, "a" | "an" | "the" | "my" | "our");
    let last = words.clone().next_back()?;
    let named = words.clone().filter(|word| !article(word)).count() > 1;
    let machine = in_headings().any(|known| known.eq_ignore_ascii_case(last));
    let short = heading.len() <= 60;
    // `On the same machine` and `on this system` are the one that was named before.
    let again = words.any(|word| matches!(word, "same" | "this" | "that"));
    if !(on && short && named && machine) || again {
        return None;
    }
    let name = heading.split_once(' ')?.1;
    let (first, rest) = name.split_once(' ')?;
    Some(if article(&first) { rest } else { name })
}

/// Words for a machine before its name.
const MACHINES: [&str; 6] = ["host", "machine", "platform", "board", "hardware", "system"];

/// At the end of a heading, these too: `Server: nginx` names no machine.
const ONLY_IN_HEADINGS: [&str; 3] = ["server", "laptop", "box"];

fn in_headings() -> impl Iterator<Item = &'static str> {
    MACHINES.into_iter().chain(ONLY_IN_HEADINGS)
}

/// Whether the last letters of a text are those of such a word, which is asked of each
/// line with a colon.
fn ends_with_machine(text: &str) -> bool {
    let bytes = text.as_bytes();
    let last = bytes.iter().rposition(u8::is_ascii_alphabetic);
    let bare = last.and_then(|last| bytes.get(..=last)).unwrap_or_default();
    in_headings().any(|word| {
        let from = bare.len().checked_sub(word.len());
        from.is_some_and(|from| bare[from..].eq_ignore_ascii_case(word.as_bytes()))
    })
}
