//! The calibration of rt-app in its input file.
//!
//! rt-app works by iterating a loop, and its file can give the nanoseconds per iteration
//! as a number. If the file names a CPU instead, or nothing, rt-app measures them on a
//! CPU at the start of each run.

use std::ops::Range;

/// The calibration that a file gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Calibration {
    /// A number, or something that rt-app rejects.
    Given,
    /// A CPU, named at this position.
    Cpu(Range<usize>),
    /// None. One can be inserted at this position.
    Absent(usize, CalibrationPlace),
}

/// Where a calibration can be inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CalibrationPlace {
    /// At the beginning of the object `global`, which may be empty.
    Global { empty: bool },
    /// At the beginning of the file's object, which may be empty.
    Top { empty: bool },
}

/// Finds the calibration in the text of a file; `None` if the file is not an object.
pub(super) fn find(text: &str) -> Option<Calibration> {
    let tokens = tokens(text);
    let is = |at: usize, sign: &str| tokens.get(at).is_some_and(|one| &text[one.clone()] == sign);
    if !is(0, "{") {
        return None;
    }
    let Some(global) = find_value(text, &tokens, 0, "\"global\"").filter(|at| is(*at, "{")) else {
        let place = CalibrationPlace::Top { empty: is(1, "}") };
        return Some(Calibration::Absent(tokens[0].end, place));
    };
    let Some(value) = find_value(text, &tokens, global, "\"calibration\"") else {
        let empty = is(global + 1, "}");
        let place = CalibrationPlace::Global { empty };
        return Some(Calibration::Absent(tokens[global].end, place));
    };
    let range = tokens.get(value)?.clone();
    Some(match text[range.clone()].starts_with('"') {
        true => Calibration::Cpu(range),
        false => Calibration::Given,
    })
}

/// The text with the calibration set to `ns`, unless it already gives a number.
pub(super) fn with_calibration(text: &str, calibration: &Calibration, ns: u64) -> String {
    let put = |range: Range<usize>, new: &str| {
        let (before, after) = (&text[..range.start], &text[range.end..]);
        format!("{before}{new}{after}")
    };
    let comma = |empty: bool| if empty { "" } else { "," };
    match calibration {
        Calibration::Given => text.into(),
        Calibration::Cpu(range) => put(range.clone(), &ns.to_string()),
        Calibration::Absent(at, CalibrationPlace::Global { empty }) => {
            put(*at..*at, &format!("\"calibration\":{ns}{}", comma(*empty)))
        }
        Calibration::Absent(at, CalibrationPlace::Top { empty }) => {
            let comma = comma(*empty);
            put(
                *at..*at,
                &format!("\"global\":{{\"calibration\":{ns}}}{comma}"),
            )
        }
    }
}

/// Index of the first token of a key's value, in the object that begins at token
/// `object`.
fn find_value(text: &str, tokens: &[Range<usize>], object: usize, key: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(object) {
        match &text[token.clone()] {
            "{" | "[" => depth += 1,
            "}" | "]" => {
                depth -= 1;
                if depth == 0 {
                    return None;
                }
            }
            word if depth == 1 && word == key => {
                let colon = tokens.get(at + 1)?;
                if &text[colon.clone()] == ":" {
                    return Some(at + 2);
                }
            }
            _ => {}
        }
    }
    None
}

/// The tokens of a JSON text: punctuation, quoted strings, and words. Skips the comments
/// that rt-app allows.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let end = match bytes[at] {
            b'/' if rest.starts_with("/*") => {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
                continue;
            }
            b'/' if rest.starts_with("//") => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'{' | b'}' | b'[' | b']' | b':' | b',' => at + 1,
            b'"' => at + string_length(rest),
            _ => {
                let is_end = |c: char| c.is_ascii_whitespace() || "{}[]:,\"".contains(c);
                at + rest.find(is_end).unwrap_or(rest.len()).max(1)
            }
        };
        tokens.push(at..end);
        at = end;
    }
    tokens
}

/// The length of the string literal at the beginning of a text.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with a calibration of 7 ns, if one can be inserted.
    fn calibrated(text: &str) -> Option<String> {
        find(text).map(|found| with_calibration(text, &found, 7))
    }

    #[test]
    fn a_cpu_is_replaced_by_the_number() {
        let text = r#"{ "tasks": {"a": {"calibration": "CPU9"}},
            /* "global": {"calibration": "CPU8"} */
            "global" : { "duration" : 2, "calibration" : "CPU0", "x": "}" } }"#;
        let wanted = text.replace("\"CPU0\"", "7");
        assert_eq!(calibrated(text), Some(wanted));
    }

    #[test]
    fn a_number_stays() {
        let text = r#"{"global": {"calibration": 18 // measured
            }}"#;
        assert_eq!(find(text), Some(Calibration::Given));
        assert_eq!(calibrated(text).as_deref(), Some(text));
    }

    #[test]
    fn where_there_is_none_it_is_put() {
        let result = |text: &str| calibrated(text).unwrap_or_default();
        assert_eq!(result("{}"), r#"{"global":{"calibration":7}}"#);
        assert_eq!(
            result(r#"{"tasks":{}}"#),
            r#"{"global":{"calibration":7},"tasks":{}}"#
        );
        assert_eq!(
            result(r#"{"global":{}}"#),
            r#"{"global":{"calibration":7}}"#
        );
        assert_eq!(
            result(r#"{"a":[{"global":{}}],"global":{"duration":1}}"#),
            r#"{"a":[{"global":{}}],"global":{"calibration":7,"duration":1}}"#
        );
        assert!(find(&result(r#"{"global":{"logdir":"\"{"}}"#)) == Some(Calibration::Given));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in r#"[{}\[\]:,"/*\\ a-cé\n]{0,60}"#) {
            let _ = calibrated(&format!("{{{text}"));
            let _ = calibrated(&text);
        }
    }
}
