//! Finds executions whose result differs from that of other executions of the run.

use std::collections::BTreeMap;

use assize_target::exact::first_difference;
use serde_json::Value;

/// The result of an execution: the lines sent by the agent.
pub(super) type Answer = Vec<String>;

/// The results of all executions, by index of the run.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Each distinct result with its number of occurrences, in order of first appearance.
    by_run: BTreeMap<usize, Vec<(Answer, usize)>>,
}

/// A result that differs from that of most executions of the run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Deviation {
    /// The index of the run.
    pub(super) run: usize,
    /// The number of occurrences.
    pub(super) times: usize,
    /// The difference, in words.
    pub(super) how: String,
}

impl Answers {
    /// Adds a result. On a tie, the one that came first counts as correct.
    pub(super) fn take(&mut self, run: usize, answer: Answer) {
        let all = self.by_run.entry(run).or_default();
        match all.iter_mut().find(|(known, _)| *known == answer) {
            Some((_, times)) => *times += 1,
            None => all.push((answer, 1)),
        }
    }

    /// The number of runs with a single execution, so that nothing was compared.
    pub(super) fn single(&self) -> usize {
        let times = |all: &Vec<(Answer, usize)>| all.iter().map(|(_, times)| times).sum::<usize>();
        self.by_run.values().filter(|all| times(all) == 1).count()
    }

    /// Every result that differs from that of most executions of its run.
    pub(super) fn deviations(&self) -> Vec<Deviation> {
        let mut found = Vec::new();
        for (&run, all) in &self.by_run {
            let most = all.iter().map(|(_, times)| *times).max().unwrap_or(0);
            let Some(at) = all.iter().position(|(_, times)| *times == most) else {
                continue;
            };
            let right = &all[at].0;
            let others = all.iter().enumerate().filter(|(other, _)| *other != at);
            found.extend(others.map(|(_, (answer, times))| Deviation {
                run,
                times: *times,
                how: differing(right, answer),
            }));
        }
        found
    }
}

/// The first difference, and by how much numbers differ overall.
fn differing(right: &[String], answer: &[String]) -> String {
    let first = first_difference(right, answer).unwrap_or_default();
    let pairs = right.iter().zip(answer).filter(|(a, b)| a != b);
    let by: Vec<f64> = pairs.clone().filter_map(|(a, b)| by(a, b)).collect();
    let (least, most) = by.iter().fold((f64::MAX, 0.0_f64), |(least, most), by| {
        (least.min(by.abs()), most.max(by.abs()))
    });
    let records = pairs.count() + right.len().abs_diff(answer.len());
    match by.is_empty() {
        true => format!("{first} ({records} records differ)"),
        false => format!("{first} ({records} records differ, values by {least} to {most})"),
    }
}

/// The difference between the values of two records.
fn by(a: &str, b: &str) -> Option<f64> {
    let value = |line: &str| -> Option<f64> {
        serde_json::from_str::<Value>(line)
            .ok()?
            .get("value")?
            .as_f64()
    };
    Some(value(b)? - value(a)?).filter(|by| *by != 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(values: &[u32]) -> Answer {
        let line = |(at, value): (usize, &u32)| {
            format!(r#"{{"record":"metric","metric":"m{at}","value":{value},"unit":"ns"}}"#)
        };
        values.iter().enumerate().map(line).collect()
    }

    #[test]
    fn what_was_planted_in_one_of_many_answers_is_found() {
        let mut answers = Answers::default();
        for run in 0..50 {
            for _ in 0..4 {
                answers.take(run, answer(&[7, 59_836_416, 3]));
            }
        }
        assert!(answers.deviations().is_empty());
        answers.take(31, answer(&[7, 59_836_412, 103]));
        let found = answers.deviations();
        assert_eq!((found.len(), found[0].run, found[0].times), (1, 31, 1));
        assert_eq!(
            found[0].how,
            "line 2: metric m1: 59836416 against 59836412 (2 records differ, values by 4 to 100)"
        );
    }

    #[test]
    fn most_are_believed_and_of_equally_many_the_first() {
        let mut answers = Answers::default();
        answers.take(0, answer(&[1]));
        answers.take(0, answer(&[2]));
        assert!(answers.deviations()[0].how.contains("1 against 2"));
        answers.take(0, answer(&[2]));
        let found = answers.deviations();
        assert!(found[0].how.contains("2 against 1") && found[0].times == 1);
    }

    #[test]
    fn runs_without_a_twin_are_counted() {
        let mut answers = Answers::default();
        answers.take(0, answer(&[1]));
        answers.take(1, answer(&[1]));
        answers.take(1, answer(&[2]));
        assert_eq!(answers.single(), 1);
    }
}
