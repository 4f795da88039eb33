//! hackbench of rt-tests.

use assize_job::{AgentMessage, Hackbench, KeptOutput, RunStage, WakeupMechanism};

use super::output;
use super::prepared::{Prepared, WorkloadContext};
use crate::process::{Body, ProcessExit, program};
use crate::records::{failed, metric};

pub(super) fn prepare(
    hackbench: &Hackbench,
    context: &WorkloadContext<'_>,
) -> Result<Prepared, String> {
    let argv = argv(hackbench, context.background)?;
    let exec = program(&argv, context.job.seed)?;
    let name = context.name.to_string();
    Ok(Prepared {
        body: Body::Exec(exec),
        scheduling: hackbench.scheduling.clone(),
        statuses: vec![0],
        read: Box::new(move |left, _| read(&name, left)),
    })
}

fn argv(hackbench: &Hackbench, background: bool) -> Result<Vec<String>, String> {
    // In the background it is killed long before it has sent this many.
    let endless = i32::MAX.unsigned_abs();
    let loops = if background { endless } else { hackbench.loops };
    let mut argv = vec!["hackbench".to_string()];
    for (option, value) in [
        ("-g", hackbench.groups),
        ("-f", hackbench.fds),
        ("-l", loops),
        ("-s", hackbench.datasize),
    ] {
        argv.push(option.into());
        argv.push(value.to_string());
    }
    argv.push(if hackbench.threads { "-T" } else { "-P" }.into());
    match hackbench.via {
        WakeupMechanism::Pipe => argv.push("-p".into()),
        WakeupMechanism::Socket => {}
        WakeupMechanism::Futex => {
            return Err("via: futex: hackbench knows `pipe` and `socket`".into());
        }
    }
    Ok(argv)
}

fn read(name: &str, left: &ProcessExit) -> Vec<AgentMessage> {
    let mut records = vec![match time(&left.stdout_text()) {
        Some(seconds) => metric("reported_time", seconds, "s"),
        None => failed(
            RunStage::Workload,
            name,
            "hackbench printed no line `Time: SECONDS`",
        ),
    }];
    records.extend(output::output_records(name, KeptOutput::Head, left));
    records
}

fn time(stdout: &str) -> Option<f64> {
    let time = stdout.lines().find_map(|line| line.strip_prefix("Time:"))?;
    time.trim()
        .parse()
        .ok()
        .filter(|seconds: &f64| seconds.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_found() {
        let printed = "Running in process mode with 2 groups using 8 file descriptors each \
                       (== 16 tasks)\nEach sender will pass 100 messages of 100 bytes\n\
                       Time: 0.002\n";
        assert_eq!(time(printed), Some(0.002));
        assert_eq!(time("Time: soon\n"), None);
        assert_eq!(time(""), None);
    }

    #[test]
    fn options_say_what_is_wanted() {
        let default = Hackbench::default();
        let line = |hackbench: &Hackbench| argv(hackbench, false).map(|argv| argv.join(" "));
        assert_eq!(
            line(&default).as_deref(),
            Ok("hackbench -g 2 -f 4 -l 100 -s 100 -P -p")
        );
        let other = Hackbench {
            threads: true,
            via: WakeupMechanism::Socket,
            ..default.clone()
        };
        assert_eq!(
            line(&other).as_deref(),
            Ok("hackbench -g 2 -f 4 -l 100 -s 100 -T")
        );
        let futex = Hackbench {
            via: WakeupMechanism::Futex,
            ..default
        };
        assert!(line(&futex).is_err());
    }
}
