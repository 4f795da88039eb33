//! A page of instruction differences in which every figure is known.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use assize_report::html;
use assize_why::calls::{Call, Calls};
use assize_why::counts::CountChecks;
use assize_why::difference::{CountedPair, CountedRun, WhyQuestion};
use assize_why::profile::ProfilePlace;
use assize_why::{Flame, Kept, Profile, Why};

use super::artefacts;

/// Jobs of the first and the second configuration.
const JOBS: [u32; 2] = [4, 2];
/// Functions below the thread `worker`: one in only the first configuration, one in only the
/// second, one with more instructions in the second, and one that is the same.
const PLANTED: [(&str, [u64; 2]); 4] = [
    ("planted", [200_000, 0]),
    ("only_in_b", [0, 30_000]),
    ("fewer </script><b>", [20_000, 24_000]),
    ("same", [40_000, 20_000]),
];
/// The number of functions that are too small for frames of their own.
const SMALL: usize = 7;

fn side(at: usize) -> CountedRun {
    let mut functions: Vec<(String, u64)> = PLANTED
        .iter()
        .map(|(name, figures)| ((*name).to_owned(), figures[at]))
        .collect();
    functions.extend((0..SMALL).map(|number| (format!("small_{number}"), 1)));
    functions.retain(|(_, own)| *own > 0);
    let mut worker = Call::default();
    let mut places = BTreeMap::new();
    for (function, own) in functions {
        let place = ProfilePlace {
            thread: "worker".into(),
            function: function.clone(),
            subsystem: "scheduling".into(),
        };
        places.insert(place, own);
        let call = Call {
            own,
            entered: 8,
            callees: BTreeMap::new(),
        };
        worker.callees.insert(function, call);
    }
    CountedRun {
        run: 0,
        profile: Profile {
            instructions: places.values().sum(),
            places,
            checks: CountChecks {
                closed: true,
                cpus: 1,
                readings: 10,
                ..CountChecks::default()
            },
        },
        jobs: Some(JOBS[at].into()),
        metric: None,
        reached: Vec::new(),
        calls: Some(Calls {
            threads: [("worker".to_owned(), worker)].into(),
        }),
        functions: Vec::new(),
        misses: None,
    }
}

fn asked_difference(a: &str, b: &str, workload: &str) -> WhyQuestion {
    WhyQuestion {
        workload: workload.into(),
        a: a.into(),
        b: b.into(),
        metric: "busy_time".into(),
        reached: Vec::new(),
        claims: Vec::new(),
        hunks: Vec::new(),
        caches: None,
    }
}

fn pairs() -> [CountedPair; 1] {
    [CountedPair {
        seed: 1,
        a: side(0),
        b: side(1),
    }]
}

/// The page's result in the form that a bundle keeps.
pub fn kept(a: &str, b: &str, workload: &str) -> Kept {
    let why = Why::compare(&asked_difference(a, b, workload), &pairs());
    Kept::new(&why, Flame::from_pairs(&pairs(), true, 0.0001, 1000))
}

/// Writes the page, and next to it a file with the planted values.
pub fn page() -> PathBuf {
    let (asked, pairs) = (asked_difference("one", "two <i>", "sync"), pairs());
    let flame = Flame::from_pairs(&pairs, true, 0.0001, 1000);
    let page = html::why(
        &Why::compare(&asked, &pairs),
        &flame,
        "assize why b one two",
    );
    let place = artefacts().join("why.html");
    fs::write(&place, page.unwrap()).unwrap();
    let frames = PLANTED.map(|(name, figures)| {
        serde_json::json!({
            "name": name,
            "figures": figures,
            "says": if name == "planted" { vec!["50,000", "+50,000: more in one", "scheduling"] } else { Vec::new() },
        })
    });
    let all = [0, 1].map(|at| {
        let planted: u64 = PLANTED.iter().map(|(_, figures)| figures[at]).sum();
        planted + SMALL as u64
    });
    let planted = serde_json::json!({
        "a": asked.a, "b": asked.b, "jobs": JOBS, "all": all, "frames": frames,
        "answer": "one executes 27,998 more instructions per job than two <i> on sync",
    });
    fs::write(place.with_extension("planted.json"), planted.to_string()).unwrap();
    place
}
