//! An agent that answers anything while a console says anything: what is
//! taken for whole is whole, and nothing panics.
#![no_main]

use assize_job::AgentMessage;
use assize_target::{RunFailure, RunOutcome, stream};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // The console comes first, up to a zero.
    let at = data.iter().position(|byte| *byte == 0);
    let (console, answer) = match at {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (&data[..0], data),
    };
    let console = String::from_utf8_lossy(console);
    let ended = RunFailure::Ended {
        how: "it ended".into(),
    };
    let records = match stream::outcome(answer, &console, None) {
        RunOutcome::Completed(records) => records,
        RunOutcome::Failed {
            failure, console, ..
        } => {
            assert!(!failure.to_string().is_empty());
            assert!(console.lines().count() <= 40);
            let worse = stream::outcome(answer, &console, Some(ended));
            assert!(matches!(worse, RunOutcome::Failed { .. }));
            return;
        }
    };
    let [
        AgentMessage::Hello { .. },
        middle @ ..,
        AgentMessage::End { records: count },
    ] = &records[..]
    else {
        panic!("not whole: {records:?}");
    };
    assert_eq!(*count, middle.len() as u64 + 1);
    let failed = |record: &AgentMessage| matches!(record, AgentMessage::Failed { .. });
    assert!(!middle.iter().any(failed), "{records:?}");
    // What was understood can be said again.
    let mut again = Vec::new();
    for record in &records {
        serde_json::to_writer(&mut again, record).expect("a record can be written");
        again.push(b'\n');
    }
    match stream::outcome(&again, "", None) {
        RunOutcome::Completed(read) => assert_eq!(read.len(), records.len()),
        RunOutcome::Failed { failure, .. } => panic!("{failure}: {records:?}"),
    }
});
