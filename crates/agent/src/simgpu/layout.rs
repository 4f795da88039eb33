//! Whether `uapi.rs` says what `kernel/uapi/simgpu.h` says.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail.

use std::fmt::Write;
use std::mem::{offset_of, size_of};
use std::path::Path;
use std::process::Command;

use super::uapi;

/// C that prints, and what it must print.
#[derive(Default)]
struct Expected {
    c: String,
    lines: String,
}

impl Expected {
    fn value(&mut self, c: &str, value: u64) {
        writeln!(
            self.c,
            "\tprintf(\"%s %llu\\n\", {c:?}, (unsigned long long)({c}));"
        )
        .unwrap();
        writeln!(self.lines, "{c} {value}").unwrap();
    }
}

macro_rules! structs {
    ($expected:ident; $($rust:ident $c:literal { $($field:ident),* $(,)? })*) => { $(
        $expected.value(concat!("sizeof(struct ", $c, ")"), size_of::<uapi::$rust>() as u64);
        $(
            $expected.value(
                concat!("offsetof(struct ", $c, ", ", stringify!($field), ")"),
                offset_of!(uapi::$rust, $field) as u64,
            );
            // Every field must be named: it is taken apart here.
        )*
        let _ = |whole: uapi::$rust| { let uapi::$rust { $($field: _),* } = whole; };
    )* };
}

fn expected() -> Expected {
    let mut expected = Expected::default();
    structs! { expected;
        Info "simgpu_info" {
            version, engines, engines_parallel, pad, queue_bytes, job_bytes, fence_bytes,
        }
        Create "simgpu_create" {
            design, flags, put, worker, share, engine, priority, credit_limit, ring, timeout_us,
            hang_limit, context,
        }
        Dep "simgpu_dep" { kind, fd, context, pad, seqno }
        Exec "simgpu_exec" {
            flags, n_deps, deps, duration_ns, duration_spread_ns, run_cost_ns, credits, fault,
            fault_arg, cookie, write_offset, write_value, out_fence, pad, seqno,
        }
        Submit "simgpu_submit" { context, flags, n_execs, exec_size, execs }
        Wait "simgpu_wait" {
            context, pad, seqno, timeout_ns, error, pad2, t_run, t_hw, t_wake,
        }
        Record "simgpu_record" {
            seqno, cookie, t_enter, t_commit, t_return, t_run, t_hw, t_done, order, error, flags,
        }
        Read "simgpu_read" { context, record_size, first, n, pad, records }
        Stats "simgpu_stats" {
            context, banned, submitted, bypassed, done, failed, timedout, no_hang, released,
            put_irq, put_submit, put_worker, put_delayed, kicks, credits, queued, pending, pad,
            raises, lowers,
        }
        Control "simgpu_control" { context, command, arg }
    }
    for (c, value) in [
        ("SIMGPU_VERSION", super::VERSION),
        ("SIMGPU_MEMORY_BYTES", uapi::MEMORY_BYTES as u32),
        ("SIMGPU_DESIGN_DRM_SCHED", uapi::DESIGN_DRM_SCHED),
        ("SIMGPU_DESIGN_DEPQ", uapi::DESIGN_DEPQ),
        ("SIMGPU_CREATE_BYPASS", uapi::CREATE_BYPASS),
        ("SIMGPU_CREATE_SHARED", uapi::CREATE_SHARED),
        ("SIMGPU_CREATE_HIGHPRI", uapi::CREATE_HIGHPRI),
        ("SIMGPU_PUT_WORKER", uapi::PUT_WORKER),
        ("SIMGPU_PUT_IRQ", uapi::PUT_IRQ),
        ("SIMGPU_PUT_SUBMIT", uapi::PUT_SUBMIT),
        ("SIMGPU_WORKER_SYSTEM", uapi::WORKER_SYSTEM),
        ("SIMGPU_WORKER_WQ", uapi::WORKER_WQ),
        ("SIMGPU_WORKER_HIGHPRI", uapi::WORKER_HIGHPRI),
        ("SIMGPU_WORKER_KTHREAD", uapi::WORKER_KTHREAD),
        ("SIMGPU_WORKER_FOLLOW", uapi::WORKER_FOLLOW),
        ("SIMGPU_WORKER_FOLLOW_MIN", uapi::WORKER_FOLLOW_MIN),
        ("SIMGPU_SHARE_CONTEXT", uapi::SHARE_CONTEXT),
        ("SIMGPU_SHARE_ENGINE", uapi::SHARE_ENGINE),
        ("SIMGPU_SHARE_DEVICE", uapi::SHARE_DEVICE),
        ("SIMGPU_DEP_FENCE", uapi::DEP_FENCE),
        ("SIMGPU_DEP_JOB", uapi::DEP_JOB),
        ("SIMGPU_EXEC_FENCE_OUT", uapi::EXEC_FENCE_OUT),
        ("SIMGPU_EXEC_WRITE", uapi::EXEC_WRITE),
        ("SIMGPU_RECORD_DONE", uapi::RECORD_DONE),
        ("SIMGPU_CONTROL_SEED", uapi::CONTROL_SEED),
        ("SIMGPU_INFO", uapi::INFO),
        ("SIMGPU_CREATE", uapi::CREATE),
        ("SIMGPU_SUBMIT", uapi::SUBMIT),
        ("SIMGPU_WAIT", uapi::WAIT),
        ("SIMGPU_READ", uapi::READ),
        ("SIMGPU_STATS", uapi::STATS),
        ("SIMGPU_CONTROL", uapi::CONTROL),
    ] {
        expected.value(c, u64::from(value));
    }
    expected
}

#[test]
fn structs_and_numbers_are_those_of_the_header() {
    let expected = expected();
    let directory = tempfile::tempdir().unwrap();
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel/uapi/simgpu.h");
    let source = directory.path().join("layout.c");
    let program = directory.path().join("layout");
    let text = format!(
        "#include <stddef.h>\n#include <stdio.h>\n#include {:?}\n\nint main(void)\n{{\n{}\treturn 0;\n}}\n",
        header.canonicalize().unwrap(),
        expected.c
    );
    std::fs::write(&source, text).unwrap();
    let compiler = Command::new("cc")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output();
    let Ok(compiled) = compiler else {
        eprintln!("skipped: there is no C compiler");
        return;
    };
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    let printed = Command::new(&program).output().unwrap().stdout;
    assert_eq!(String::from_utf8(printed).unwrap(), expected.lines);
}
