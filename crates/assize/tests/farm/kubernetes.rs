//! The manifest of an Indexed Job, with its pods executed as Kubernetes would.

use std::process::Command;

use serde_json::Value;

use super::{Place, done};
use crate::common::{Outcome, printed, root, skip};

/// Prints the manifest as JSON, and the same (and one with a misspelt key) as read by Kubernetes'
/// client, which drops unknown keys.
const READER: &str = r#"
import json, sys, yaml
from types import SimpleNamespace
from kubernetes.client import ApiClient
client = ApiClient()
def known(job):
    read = client.deserialize(SimpleNamespace(data=json.dumps(job)), "V1Job")
    return client.sanitize_for_serialization(read)
job = yaml.safe_load(sys.stdin)
misspelt = dict(job, spec=dict(job["spec"], completionsMode="Indexed"))
json.dump([job, known(job), misspelt, known(misspelt)], sys.stdout)
"#;

/// The manifest as JSON, after checking that Kubernetes' client knows all its keys; `None`, with a
/// counted skip, without that client.
fn read() -> Option<Value> {
    let file = std::fs::File::open(root().join("docs/farm-kubernetes.yaml")).unwrap();
    let mut python = Command::new("/usr/bin/python3");
    let read = python.args(["-c", READER]).stdin(file).output();
    match read {
        Ok(read) if read.status.success() => {
            let read: [Value; 4] = serde_json::from_slice(&read.stdout).unwrap();
            let [job, known, misspelt, known_of_misspelt] = read;
            assert_eq!(job, known);
            assert_ne!(misspelt, known_of_misspelt);
            Some(job)
        }
        _ => {
            skip("python3-yaml or python3-kubernetes is missing; run `./setup.sh full`");
            None
        }
    }
}

/// The strings of an array, with `$(NAME)` replaced.
fn words(array: &Value, variables: &[(&str, String)]) -> Vec<String> {
    let replaced = |word: &Value| {
        let word = word.as_str().unwrap().to_owned();
        variables.iter().fold(word, |word, (name, value)| {
            word.replace(&format!("$({name})"), value)
        })
    };
    array.as_array().unwrap().iter().map(replaced).collect()
}

pub(super) fn manifest() -> Outcome {
    let Some(job) = read() else {
        return Ok(());
    };
    assert_eq!([&job["apiVersion"], &job["kind"]], ["batch/v1", "Job"]);
    assert_eq!(job["spec"]["completionMode"], "Indexed");
    let pod = &job["spec"]["template"]["spec"];
    assert_eq!(pod["restartPolicy"], "Never");
    let container = &pod["containers"][0];
    let node = &container["env"][0];
    assert_eq!(node["name"], "NODE");
    assert_eq!(node["valueFrom"]["fieldRef"]["fieldPath"], "spec.nodeName");
    let names = |list: &Value| {
        let list = list.as_array().unwrap().iter();
        list.map(|one| one["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&container["volumeMounts"]), names(&pod["volumes"]));
    let place = Place::new();
    let few = ["test.toml", "--runs", "1"];
    done(place.run(&[&few[..], &["--quiet", "--out", "whole"]].concat()));
    let said = printed(
        place.here(),
        &[&["plan"], &few[..], &["-o", "plan.json"]].concat(),
    );
    assert_eq!(said, "8 runs, from index 0\n");
    // The last pod is a retry by Kubernetes on another node.
    for (at, index) in (0..8).chain([3]).enumerate() {
        let variables = [
            ("JOB_COMPLETION_INDEX", index.to_string()),
            ("NODE", format!("node{}", at % 3)),
        ];
        let program = words(&container["command"], &variables);
        assert_eq!(program[0], "assize");
        let arguments = [&program[1..], &words(&container["args"], &variables)].concat();
        done(place.assize(&arguments));
    }
    let parts = std::fs::read_dir(place.here().join("parts")).unwrap();
    let parts: Vec<String> = parts
        .map(|part| format!("parts/{}", part.unwrap().file_name().to_string_lossy()))
        .collect();
    assert_eq!(parts.len(), 3);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    printed(
        place.here(),
        &[&["merge"], &parts[..], &["--out", "all"]].concat(),
    );
    place.is_whole("all");
    Ok(())
}
