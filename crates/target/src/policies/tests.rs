//! Tests that build and carry policies.

use std::collections::BTreeMap;
use std::fs;

use assize_job::{Job, Machine};

use super::*;

fn ours(name: &str) -> PlacementPolicy {
    PlacementPolicy {
        name: name.into(),
        form: PolicyForm::Ours,
        tunables: BTreeMap::from([("fill".into(), 500)]),
        argv: Vec::new(),
    }
}

#[test]
fn every_policy_is_built_and_to_the_same_bytes_in_any_directory() {
    let places = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let asked: Vec<PlacementPolicy> = assize_job::POLICIES
        .iter()
        .map(|policy| ours(policy.name))
        .collect();
    let mut built = Vec::new();
    for place in &places {
        let root = place.path().join("x".repeat(1 + 40 * built.len()));
        match Policies::new(&root).objects(&asked) {
            Ok(found) => built.push(found.unwrap()),
            Err(error)
                if error.why.contains("in PATH")
                    || error.mend.as_deref() == Some("run `apt install clang gcc libbpf-dev`") =>
            {
                eprintln!("skipped: {error}");
                return;
            }
            Err(error) => panic!("{error}"),
        }
    }
    let bytes =
        |at: usize| -> Vec<&[u8]> { built[at].1.iter().map(|one| &one.bytes[..]).collect() };
    assert_eq!(bytes(0).len(), asked.len());
    assert!(bytes(0).iter().all(|bytes| bytes.starts_with(b"\x7fELF")));
    assert!(bytes(0) == bytes(1), "objects hold where they were built");
    assert!(fs::read(&built[0].0).unwrap() == fs::read(&built[1].0).unwrap());
}

#[test]
fn nothing_is_built_where_nothing_has_to_be_attached() {
    let place = tempfile::tempdir().unwrap();
    let program = PlacementPolicy {
        form: PolicyForm::Program,
        argv: vec!["scx_x".into()],
        ..ours("scx_x")
    };
    let found = Policies::new(place.path()).objects(&[program]);
    assert_eq!(found, Ok(None));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn objects_of_one_name_lie_side_by_side() {
    let object = |bytes: &[u8]| PolicyObject {
        asked: ours("x"),
        file: "here/x.bpf.o".into(),
        bytes: bytes.to_vec(),
    };
    let (one, carried) = object(b"a").carried();
    let (other, _) = object(b"b").carried();
    assert_ne!(one, other);
    assert!(one.starts_with("/experiment/policies/") && one.ends_with("/x.bpf.o"));
    assert_eq!(carried.argv, [ATTACH, &one, "fill=500"]);
}

#[test]
fn a_kernel_without_sched_ext_is_refused_only_where_a_policy_is_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let config = place.path().join("config");
    let kernel = Kernel::of_config("debian:6.1", &config);
    let order = |policy: Option<PlacementPolicy>| Order {
        machine: Machine::default(),
        job: Job {
            policy,
            ..Job::default()
        },
        ..Order::default()
    };
    fs::write(&config, "CONFIG_A=y\n# CONFIG_SCHED_CLASS_EXT is not set\n").unwrap();
    let error = check_kernel(&kernel, &order(Some(ours("spread")))).unwrap_err();
    let said = error.to_string();
    for word in [
        "spread",
        "debian:6.1",
        "CONFIG_SCHED_CLASS_EXT=y",
        "debian:7",
    ] {
        assert!(said.contains(word), "{said}");
    }
    assert!(error.wrong_use);
    assert_eq!(check_kernel(&kernel, &order(None)), Ok(()));
    fs::write(&config, "CONFIG_SCHED_CLASS_EXT=y\n").unwrap();
    assert_eq!(check_kernel(&kernel, &order(Some(ours("spread")))), Ok(()));
}
