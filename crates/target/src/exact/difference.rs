//! Describes how two answers to one order differ.

use assize_job::AgentMessage;
use serde_json::Value;

use crate::RunOutcome;

/// An answer as the lines that the agent sent; a failure adds one line.
pub fn lines(outcome: &RunOutcome) -> Vec<String> {
    let line = |record: &AgentMessage| serde_json::to_string(record).unwrap_or_default();
    match outcome {
        RunOutcome::Completed(records) => records.iter().map(line).collect(),
        RunOutcome::Failed {
            failure, records, ..
        } => {
            let mut lines: Vec<String> = records.iter().map(line).collect();
            lines.push(failure.to_string());
            lines
        }
    }
}

/// Describes the first line in which two answers differ, given as the lines that the agent
/// sent: `line 7: metric latency: 4288 against 4312`.
pub fn first_difference(one: &[String], other: &[String]) -> Option<String> {
    let lines = one.len().max(other.len());
    let at = (0..lines).find(|&at| one.get(at) != other.get(at))?;
    let line = |answer: &[String]| answer.get(at).cloned();
    let what = differing(line(one).as_deref(), line(other).as_deref());
    Some(format!("line {}: {what}", at + 1))
}

/// Says what two different lines are about and how they differ.
fn differing(a: Option<&str>, b: Option<&str>) -> String {
    let (Some(a), Some(b)) = (a, b) else {
        let (there, other) = (shortened(a), shortened(b));
        return format!("{there} against {other}");
    };
    let parsed = |line: &str| serde_json::from_str::<Value>(line).ok();
    let (Some(left), Some(right)) = (parsed(a), parsed(b)) else {
        return format!("{} against {}", shortened(Some(a)), shortened(Some(b)));
    };
    let word = |key: &str| left.get(key).and_then(|value| value.as_str());
    let kind = word("record").unwrap_or("record");
    let name = ["metric", "event", "name", "instrument", "code"]
        .into_iter()
        .find_map(word);
    let subject = match name {
        Some(name) => format!("{kind} {name}"),
        None => kind.to_string(),
    };
    let keys = left
        .as_object()
        .map(|map| map.keys().cloned().collect::<Vec<_>>());
    let field = keys
        .unwrap_or_default()
        .into_iter()
        .find(|key| left.get(key) != right.get(key));
    match field {
        Some(field) => {
            let (a, b) = values(&left[&field], right.get(&field));
            let field = if field == "value" {
                String::new()
            } else {
                format!(": {field}")
            };
            format!("{subject}{field}: {a} against {b}")
        }
        None => format!("{} against {}", shortened(Some(a)), shortened(Some(b))),
    }
}

/// Shows two values; of two lists, the first items that differ.
fn values(a: &Value, b: Option<&Value>) -> (String, String) {
    let Some(b) = b else {
        return (shortened(Some(&a.to_string())), shortened(None));
    };
    if let (Some(a), Some(b)) = (a.as_array(), b.as_array()) {
        let at = (0..a.len().max(b.len())).find(|&at| a.get(at) != b.get(at));
        let item = |list: &[Value]| {
            let item = at.and_then(|at| list.get(at)).map(ToString::to_string);
            shortened(item.as_deref())
        };
        return (item(a), item(b));
    }
    (
        shortened(Some(&a.to_string())),
        shortened(Some(&b.to_string())),
    )
}

fn shortened(text: Option<&str>) -> String {
    match text {
        None => "nothing".into(),
        Some(text) if text.chars().count() > 60 => text.chars().take(60).chain(['…']).collect(),
        Some(text) => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(one: &[&str], other: &[&str]) -> Option<String> {
        let lines = |answer: &[&str]| -> Vec<String> {
            answer.iter().map(|line| (*line).to_string()).collect()
        };
        first_difference(&lines(one), &lines(other))
    }

    const HELLO: &str = r#"{"record":"hello","schema":"assize.agent/1","version":"1"}"#;

    fn metric(value: u32) -> String {
        format!(r#"{{"record":"metric","metric":"latency","value":{value},"unit":"ns"}}"#)
    }

    #[test]
    fn equal_answers_have_no_difference() {
        assert_eq!(difference(&[HELLO, "x"], &[HELLO, "x"]), None);
        assert_eq!(difference(&[], &[]), None);
    }

    #[test]
    fn the_first_difference_is_named_by_line_and_metric() {
        let found = difference(
            &[HELLO, &metric(4288), &metric(5)],
            &[HELLO, &metric(4312), &metric(6)],
        );
        let want = "line 2: metric latency: 4288 against 4312";
        assert_eq!(found.as_deref(), Some(want));
    }

    #[test]
    fn lines_that_only_one_has_are_a_difference() {
        let text = difference(&[HELLO], &[HELLO, &metric(1)]).unwrap_or_default();
        assert!(text.starts_with("line 2: nothing against {"), "{text}");
    }

    #[test]
    fn of_lists_the_first_different_item_is_shown() {
        let histogram = |last: u32| {
            format!(
                r#"{{"record":"histogram","metric":"l","unit":"ns","buckets":[[1,2],[3,{last}]],"exact":true}}"#
            )
        };
        assert_eq!(
            difference(&[&histogram(4)], &[&histogram(5)]).as_deref(),
            Some("line 1: histogram l: buckets: [3,4] against [3,5]")
        );
    }

    #[test]
    fn what_is_no_record_is_compared_as_text() {
        assert_eq!(
            difference(&["exit 1"], &["exit 2"]).as_deref(),
            Some("line 1: exit 1 against exit 2")
        );
    }
}
