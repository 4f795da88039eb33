//! The documented Python example works, and scipy computes the same figures from the same runs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Debian's interpreter, with the packages that `setup.sh` installs.
fn python() -> Command {
    let name = std::env::var_os("ASSIZE_PYTHON").unwrap_or_else(|| "/usr/bin/python3".into());
    let mut command = Command::new(name);
    let folder = Path::new(env!("CARGO_BIN_EXE_assize")).parent().unwrap();
    let path = format!(
        "{}:{}",
        folder.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    command.current_dir(root()).env("PATH", path);
    command
}

#[test]
fn the_documented_example_runs() {
    let page = fs::read_to_string(root().join("docs/python.md")).unwrap();
    let code = page
        .split("```python run-by=crates/assize/tests/python.rs\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let done = python().args(["-c", code]).output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(
        done.status.success(),
        "{err}\n(python3-pandas is missing? ./setup.sh installs it)"
    );
    assert!(
        out.contains("context-switches") && out.contains("glxgears"),
        "{out}"
    );
}

#[test]
fn scipy_computes_the_same_figures_from_the_same_runs() {
    for name in ["dep-queue.txt", "packing.txt", "framebuffer-latency.txt"] {
        let audit = Command::new(env!("CARGO_BIN_EXE_assize"))
            .args(["audit", "--json", &format!("demo/{name}")])
            .current_dir(root())
            .output()
            .unwrap();
        let mut child = python()
            .arg("oracle/independent.py")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(&audit.stdout)
            .unwrap();
        let done = child.wait_with_output().unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr),
        );
        assert!(
            done.status.success(),
            "{name}: {out}{err}\n(python3-scipy is missing? ./setup.sh installs it)"
        );
    }
}

/// Runs the command in docs/peers.md with its files.
#[test]
fn methods_that_ought_to_agree_with_hyperfine_and_scipy_do() {
    let done = python()
        .args(["oracle/peers.py", env!("CARGO_BIN_EXE_assize")])
        .args(["json", "txt"].map(|end| format!("crates/assize/tests/data/hyperfine-sort.{end}")))
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(done.status.success(), "{out}{err}");
}
