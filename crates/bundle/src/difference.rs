//! Finds the first difference between two JSON values.

use serde_json::Value;

/// Maximum number of characters shown of a value.
const SHOWN: usize = 60;

/// The first difference between two values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstDifference {
    /// The path to it: `plan.runs[3].seed`.
    pub field: String,
    /// The first value there.
    pub first: String,
    /// The second value there.
    pub second: String,
}

/// The first difference, in the order of the first value.
pub(crate) fn first_difference<'v>(first: &'v Value, second: &'v Value) -> Option<FirstDifference> {
    // Not recursive: a file may be nested deeper than the stack allows.
    let mut open = vec![(String::new(), first, second)];
    while let Some((path, a, b)) = open.pop() {
        match (a, b) {
            (Value::Object(a), Value::Object(b)) => {
                let dot = if path.is_empty() { "" } else { "." };
                let more = b.keys().filter(|key| !a.contains_key(*key));
                let keys: Vec<&String> = a.keys().chain(more).collect();
                for key in keys.into_iter().rev() {
                    let path = format!("{path}{dot}{key}");
                    let of = |map: &'v serde_json::Map<String, Value>| map.get(key);
                    open.push((path, of(a).unwrap_or(&NONE), of(b).unwrap_or(&NONE)));
                }
            }
            (Value::Array(a), Value::Array(b)) => {
                for at in (0..a.len().max(b.len())).rev() {
                    let of = |list: &'v [Value]| list.get(at);
                    let path = format!("{path}[{at}]");
                    open.push((path, of(a).unwrap_or(&NONE), of(b).unwrap_or(&NONE)));
                }
            }
            (Value::String(a), Value::String(b)) if a != b => return Some(texts(path, a, b)),
            (a, b) if a != b => {
                return Some(FirstDifference {
                    field: path,
                    first: display_value(a),
                    second: display_value(b),
                });
            }
            _ => {}
        }
    }
    None
}

/// Used for an absent value; an actual `null` looks the same.
static NONE: Value = Value::Null;

/// The difference of two texts; in multi-line texts, of the first line that
/// differs.
fn texts(field: String, a: &str, b: &str) -> FirstDifference {
    if !a.contains('\n') && !b.contains('\n') {
        return FirstDifference {
            field,
            first: quoted(a),
            second: quoted(b),
        };
    }
    let (mut of_a, mut of_b) = (a.split('\n'), b.split('\n'));
    let mut number = 1;
    loop {
        match (of_a.next(), of_b.next()) {
            (Some(a), Some(b)) if a == b => number += 1,
            (a, b) => {
                let line = |line: Option<&str>| line.map_or("nothing".to_owned(), quoted);
                return FirstDifference {
                    field: format!("{field}, line {number}"),
                    first: line(a),
                    second: line(b),
                };
            }
        }
    }
}

fn display_value(value: &Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::String(text) => quoted(text),
        Value::Array(_) | Value::Object(_) => shortened(&value.to_string()),
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("'{}'", shortened(&plain))
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let head: String = text.chars().take(SHOWN).collect();
    format!("{head}…")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_difference_is_named_with_its_path() {
        for (a, b, field, first, second) in [
            (json!({"a": 1}), json!({"a": 2}), "a", "1", "2"),
            (
                json!({"p": {"r": [{"s": 1}, {"s": 2}]}, "z": 1}),
                json!({"p": {"r": [{"s": 1}, {"s": 3}]}, "z": 2}),
                "p.r[1].s",
                "2",
                "3",
            ),
            (json!([1, 2]), json!([1]), "[1]", "2", "nothing"),
            (json!({}), json!({"b": "x"}), "b", "nothing", "'x'"),
            (json!({"a": {}}), json!({"a": 1}), "a", "{}", "1"),
            (
                json!({"t": "one\ntwo\n"}),
                json!({"t": "one\nTWO\n"}),
                "t, line 2",
                "'two'",
                "'TWO'",
            ),
        ] {
            let found = first_difference(&a, &b).unwrap();
            assert_eq!(
                (
                    found.field.as_str(),
                    found.first.as_str(),
                    found.second.as_str()
                ),
                (field, first, second)
            );
        }
    }

    #[test]
    fn equal_values_do_not_differ_and_key_order_does_not_matter() {
        assert_eq!(
            first_difference(&json!({"a": 1, "b": [2]}), &json!({"b": [2], "a": 1})),
            None
        );
    }
}
