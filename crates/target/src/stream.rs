//! Parses an agent's answer.

use assize_job::{AGENT_SCHEMA, AgentMessage, RunStage, may_complain};

use crate::{RunFailure, RunOutcome};

/// How many lines at the end of the console are kept with a failure.
const CONSOLE_LINES: usize = 40;
/// How many lines are kept from the kernel's first complaint on.
const COMPLAINT_LINES: usize = 200;

/// The outcome of a run with the agent's answer `bytes` and the console output `console`.
/// `ended` is the failure that the target itself observed.
///
/// Lines before the first [`AgentMessage::Hello`] are ignored. The run is completed if everything
/// from there to the newline after [`AgentMessage::End`] is present and nothing else, no record
/// is a [`AgentMessage::Failed`], and `ended` is not [`RunFailure::Inexact`].
///
/// Otherwise the failure is the first that applies of: inexactness; the agent's own report;
/// an `ended` other than [`RunFailure::Ended`]; a kernel failure on the console;
/// [`RunFailure::Ended`] as given, or with the defect of the answer.
pub fn outcome(bytes: &[u8], console: &str, ended: Option<RunFailure>) -> RunOutcome {
    decide(bytes, console, ended, kernel_failure)
}

/// Like [`outcome`], if `stderr` is the standard error of ordinary processes, which contains
/// no kernel messages.
pub(crate) fn outcome_of_process(
    bytes: &[u8],
    stderr: &str,
    ended: Option<RunFailure>,
) -> RunOutcome {
    decide(bytes, stderr, ended, |_| None)
}

fn decide(
    bytes: &[u8],
    console: &str,
    ended: Option<RunFailure>,
    look: impl Fn(&str) -> Option<RunFailure>,
) -> RunOutcome {
    let (records, defect) = read(bytes);
    let failed = records.iter().find_map(agents_word);
    let failure = match (ended, failed, defect) {
        (Some(inexact @ RunFailure::Inexact { .. }), ..) => inexact,
        (_, Some(failed), _) => failed,
        (_, None, None) => return RunOutcome::Completed(records),
        (Some(RunFailure::Ended { how }), None, Some(defect)) => {
            look(console).unwrap_or_else(|| RunFailure::Ended {
                how: format!("{how}; {defect}"),
            })
        }
        (Some(ended), None, Some(_)) => ended,
        (None, None, Some(defect)) => look(console).unwrap_or(RunFailure::Ended { how: defect }),
    };
    RunOutcome::Failed {
        failure,
        records,
        console: last_lines(console),
    }
}

/// The failure that a record reports.
fn agents_word(record: &AgentMessage) -> Option<RunFailure> {
    match record {
        AgentMessage::Failed { stage, what, why } => Some(RunFailure::Agent {
            stage: *stage,
            what: what.clone(),
            why: why.clone(),
        }),
        AgentMessage::Hello { schema, .. } if schema != AGENT_SCHEMA => Some(RunFailure::Agent {
            stage: RunStage::Start,
            what: "read the agent's answer".into(),
            why: format!("its schema is {schema}, not {AGENT_SCHEMA}"),
        }),
        _ => None,
    }
}

/// The records up to the first defect, and that defect.
fn read(bytes: &[u8]) -> (Vec<AgentMessage>, Option<String>) {
    let mut records = Vec::new();
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let line_number = records.len() + 1;
        let ended = matches!(records.last(), Some(AgentMessage::End { .. }));
        if ended {
            return (
                records,
                Some("the agent's answer continues after its end".into()),
            );
        }
        let record = match serde_json::from_slice(line) {
            Ok(AgentMessage::Hello { .. }) if !records.is_empty() => {
                return (records, Some("the agent's answer begins twice".into()));
            }
            // A last line that was cut right before its newline.
            Ok(_) | Err(_) if !line.ends_with(b"\n") && !records.is_empty() => break,
            Ok(record @ AgentMessage::Hello { .. }) => record,
            // Output before the answer.
            Ok(_) | Err(_) if records.is_empty() => continue,
            Ok(record) => record,
            Err(error) => {
                let defect = format!("line {line_number} of the agent's answer: {error}");
                return (records, Some(defect));
            }
        };
        records.push(record);
    }
    let defect = defect_of_whole(&records);
    (records, defect)
}

/// The defect of an answer in which every line is a record.
fn defect_of_whole(records: &[AgentMessage]) -> Option<String> {
    match records {
        [] => Some("the agent did not answer".into()),
        [before @ .., AgentMessage::End { records }] => {
            let came = before.len();
            (*records != came as u64).then(|| {
                format!("the agent sent {records} records before the end, but {came} arrived")
            })
        }
        _ => Some(format!(
            "the agent's answer breaks off after {} records",
            records.len()
        )),
    }
}

/// The failure that the kernel reports on its console, by precedence: a panic or oops, lack
/// of memory, a hung task. Time stamps are removed.
pub fn kernel_failure(console: &str) -> Option<RunFailure> {
    let find = |signs: &[&str]| {
        console
            .lines()
            .map(message)
            .find(|line| signs.iter().any(|sign| line.contains(sign)))
            .map(str::to_string)
    };
    // The panic line says why; the oops before it says where.
    if let Some(line) = find(&["Kernel panic"]).or_else(|| find(&["Oops:", "BUG:"])) {
        return Some(RunFailure::Panic { line });
    }
    if let Some(line) = find(&["Out of memory: Killed process"]) {
        return Some(RunFailure::OutOfMemory { line });
    }
    let line = find(&["blocked for more than"])?;
    Some(RunFailure::Ended {
        how: format!("a task hung: {line}"),
    })
}

/// A console line without the kernel's time stamp and carriage returns.
fn message(line: &str) -> &str {
    let line = line.trim();
    match line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
    {
        Some((stamp, text))
            if stamp
                .trim()
                .bytes()
                .all(|b| b.is_ascii_digit() || b == b'.') =>
        {
            text.trim()
        }
        _ => line,
    }
}

/// The last lines of a console, preceded by the lines from the kernel's first complaint on,
/// if that is earlier.
fn last_lines(console: &str) -> String {
    let lines: Vec<&str> = console.lines().collect();
    let last = lines.len().saturating_sub(CONSOLE_LINES);
    let complains = |line: &&str| may_complain(line);
    let first = lines[..last].iter().position(complains);
    match first {
        None => lines[last..].join("\n"),
        Some(first) => {
            let until = last.min(first + COMPLAINT_LINES);
            let left_out = (until < last).then(|| format!("[{} lines left out]", last - until));
            let mut kept = lines[first..until].to_vec();
            kept.extend(left_out.as_deref());
            kept.extend(&lines[last..]);
            kept.join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn hello() -> AgentMessage {
        AgentMessage::Hello {
            schema: AGENT_SCHEMA.into(),
            version: "0".into(),
            resumed_ns: None,
        }
    }

    fn text(records: &[AgentMessage]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for record in records {
            serde_json::to_writer(&mut bytes, record).unwrap();
            bytes.push(b'\n');
        }
        bytes
    }

    /// A complete answer: [`AgentMessage::Hello`], the given records, and a correct end.
    fn whole(middle: Vec<AgentMessage>) -> Vec<AgentMessage> {
        let mut records = vec![hello()];
        records.extend(middle);
        let count = records.len() as u64;
        records.push(AgentMessage::End { records: count });
        records
    }

    fn middle() -> impl Strategy<Value = Vec<AgentMessage>> {
        let record = prop_oneof![
            (".*", any::<i32>(), ".*").prop_map(|(metric, value, unit)| AgentMessage::Metric {
                metric,
                value: value.into(),
                unit,
            }),
            (".*", ".*").prop_map(|(name, text)| AgentMessage::Raw { name, text }),
            proptest::collection::btree_map(".*", ".*", 0..3)
                .prop_map(|facts: BTreeMap<_, _>| AgentMessage::Environment { facts }),
            proptest::collection::vec((any::<u64>(), any::<u64>()), 0..4).prop_map(|buckets| {
                AgentMessage::Histogram {
                    metric: "m".into(),
                    unit: "ns".into(),
                    buckets,
                    exact: true,
                }
            }),
        ];
        proptest::collection::vec(record, 0..6)
    }

    fn failure(outcome: RunOutcome) -> RunFailure {
        match outcome {
            RunOutcome::Failed { failure, .. } => failure,
            RunOutcome::Completed(records) => panic!("completed: {records:?}"),
        }
    }

    fn how(outcome: RunOutcome) -> String {
        match failure(outcome) {
            RunFailure::Ended { how } => how,
            other => panic!("{other:?}"),
        }
    }

    proptest! {
        #[test]
        fn whole_answers_are_completed(middle in middle(), noise in "([a-z ]{0,9}\n){0,3}") {
            let records = whole(middle);
            let mut bytes = noise.into_bytes();
            bytes.extend(text(&records));
            prop_assert_eq!(outcome(&bytes, "", None), RunOutcome::Completed(records));
        }

        #[test]
        fn an_answer_cut_anywhere_is_never_completed(middle in middle()) {
            let mut bytes = b"ready\n".to_vec();
            bytes.extend(text(&whole(middle)));
            let killed = RunFailure::Ended { how: "QEMU: signal 9".into() };
            for end in 0..bytes.len() {
                for ended in [None, Some(killed.clone())] {
                    let cut = outcome(&bytes[..end], "", ended);
                    prop_assert!(matches!(cut, RunOutcome::Failed { .. }), "cut at {}", end);
                }
            }
        }

        #[test]
        fn an_answer_that_lacks_a_record_is_never_completed(middle in middle(), at in 0_usize..8) {
            let mut records = whole(middle);
            records.remove(at % records.len());
            let lacking = outcome(&text(&records), "", None);
            let is_failed = matches!(lacking, RunOutcome::Failed { .. });
            prop_assert!(is_failed);
        }

        #[test]
        fn any_bytes_can_be_read(bytes: Vec<u8>, console: String) {
            let read = outcome(&bytes, &console, None);
            let is_failed = matches!(read, RunOutcome::Failed { .. });
            prop_assert!(is_failed);
        }
    }

    #[test]
    fn what_is_wrong_with_an_answer_is_said() {
        let metric = br#"{"record":"metric","metric":"m","value":1,"unit":""}"#;
        let cases: &[(Vec<u8>, &str)] = &[
            (b"ready\n".to_vec(), "the agent did not answer"),
            (text(&[hello(), hello()]), "the agent's answer begins twice"),
            (
                text(&[hello()]),
                "the agent's answer breaks off after 1 records",
            ),
            (
                [text(&[hello()]), metric[..9].to_vec()].concat(),
                "the agent's answer breaks off after 1 records",
            ),
            (
                text(&[hello(), AgentMessage::End { records: 4 }]),
                "the agent sent 4 records before the end, but 1 arrived",
            ),
            (
                [text(&whole(Vec::new())), b"x\n".to_vec()].concat(),
                "the agent's answer continues after its end",
            ),
        ];
        for (bytes, expected) in cases {
            assert_eq!(how(outcome(bytes, "", None)), *expected);
        }
        let garbled = [text(&[hello()]), b"{]\n".to_vec()].concat();
        let said = how(outcome(&garbled, "", None));
        assert!(said.starts_with("line 2 of the agent's answer: "), "{said}");
    }

    #[test]
    fn the_best_cause_is_given() {
        let ended = || RunFailure::Ended {
            how: "exit status 0".into(),
        };
        let panic = "[    3.1] Oops: 0000 [#1]\n[    3.2] Kernel panic - not syncing: x\r\n";
        let oom = "[ 1.5] Out of memory: Killed process 7 (hog)\n";
        let panicked = RunFailure::Panic {
            line: "Kernel panic - not syncing: x".into(),
        };
        let killed = RunFailure::OutOfMemory {
            line: "Out of memory: Killed process 7 (hog)".into(),
        };
        assert_eq!(failure(outcome(b"", panic, Some(ended()))), panicked);
        assert_eq!(
            failure(outcome(b"", &format!("{oom}{panic}"), None)),
            panicked
        );
        assert_eq!(failure(outcome(b"", oom, None)), killed);
        let hung = "INFO: task a:7 blocked for more than 120 seconds.";
        assert_eq!(
            how(outcome(b"", hung, None)),
            format!("a task hung: {hung}")
        );
        let timeout = RunFailure::Timeout { after_s: 9 };
        assert_eq!(failure(outcome(b"", panic, Some(timeout.clone()))), timeout);
        assert_eq!(
            how(outcome(b"", "", Some(ended()))),
            "exit status 0; the agent did not answer"
        );
        assert_eq!(
            how(outcome_of_process(b"", panic, Some(ended()))),
            "exit status 0; the agent did not answer"
        );
    }

    #[test]
    fn inexactness_spoils_a_whole_answer_and_a_late_end_does_not() {
        let bytes = text(&whole(Vec::new()));
        let inexact = RunFailure::Inexact {
            how: "900 ns".into(),
        };
        assert_eq!(failure(outcome(&bytes, "", Some(inexact.clone()))), inexact);
        let late = RunFailure::Timeout { after_s: 1 };
        assert!(matches!(
            outcome(&bytes, "", Some(late)),
            RunOutcome::Completed(_)
        ));
    }

    #[test]
    fn what_the_agent_says_is_the_cause() {
        let failed = AgentMessage::Failed {
            stage: RunStage::Setup,
            what: "load the module depq".into(),
            why: "it is not there".into(),
        };
        let expected = RunFailure::Agent {
            stage: RunStage::Setup,
            what: "load the module depq".into(),
            why: "it is not there".into(),
        };
        let bytes = text(&whole(vec![failed]));
        assert_eq!(failure(outcome(&bytes, "Kernel panic", None)), expected);
        let ended = RunFailure::Timeout { after_s: 1 };
        assert_eq!(
            failure(outcome(&bytes[..bytes.len() - 1], "", Some(ended))),
            expected
        );
    }

    #[test]
    fn another_schema_is_refused() {
        let records = [
            AgentMessage::Hello {
                schema: "assize.agent/9".into(),
                version: String::new(),
                resumed_ns: None,
            },
            AgentMessage::End { records: 1 },
        ];
        let RunFailure::Agent { why, .. } = failure(outcome(&text(&records), "", None)) else {
            panic!("no agent's failure");
        };
        assert_eq!(why, "its schema is assize.agent/9, not assize.agent/1");
    }

    #[test]
    fn the_first_complaint_is_kept_however_long_the_console_is() {
        let before: String = (0..9).map(|n| format!("line {n}\n")).collect();
        let after: String = (0..999).map(|n| format!("more {n}\n")).collect();
        let all = format!("{before}BUG: kernel NULL pointer dereference\n{after}");
        let kept = last_lines(&all);
        assert!(kept.starts_with("BUG: kernel NULL"), "{kept}");
        assert!(kept.ends_with("more 998"));
        assert_eq!(kept.lines().count(), COMPLAINT_LINES + 1 + CONSOLE_LINES);
        assert!(kept.contains("[760 lines left out]"), "{kept}");
    }

    #[test]
    fn the_last_lines_of_the_console_are_kept() {
        let console: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let RunOutcome::Failed { console, .. } = outcome(b"", &console, None) else {
            panic!("completed");
        };
        assert_eq!(console.lines().count(), CONSOLE_LINES);
        assert!(console.starts_with("line 60\n") && console.ends_with("line 99"));
    }
}
