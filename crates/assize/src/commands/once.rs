//! Steps that happen once: before all runs and after them.

use std::process::{Command, ExitStatus, Stdio};

use super::file::CommandsExperiment;
use crate::cli::CommandsArguments;
use crate::failure::Failure;

/// Executes set-up, warm-up, `work` and clean-up. After the set-up has begun, the clean-up always
/// runs; the first failure is returned.
pub(super) fn around<T>(
    asked: &CommandsArguments,
    experiment: &CommandsExperiment,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut setup = asked.setup.iter();
    let done = setup
        .try_for_each(|text| shell("--setup", text))
        .and_then(|()| warm_up(experiment, asked))
        .and_then(|()| work());
    let mut cleanup = asked.cleanup.iter();
    let cleaned = cleanup.try_for_each(|text| shell("--cleanup", text));
    let done = done?;
    cleaned.map(|()| done)
}

/// Runs each command in turn, as often as `--warmup` says, without recording the runs.
fn warm_up(experiment: &CommandsExperiment, asked: &CommandsArguments) -> Result<(), Failure> {
    for _ in 0..asked.warmup {
        for command in &experiment.commands {
            let step = |argv: &Option<Vec<String>>| match argv {
                Some(argv) => must_succeed("--warmup", argv),
                None => Ok(()),
            };
            step(&command.prepare)?;
            match asked.ignore_failure {
                true => run("--warmup", &command.argv).map(|_| ())?,
                false => must_succeed("--warmup", &command.argv)?,
            }
            step(&command.conclude)?;
        }
    }
    Ok(())
}

fn shell(option: &str, text: &str) -> Result<(), Failure> {
    must_succeed(option, &["sh", "-c", text].map(String::from))
}

/// Runs a program; a non-zero exit status is a failure.
fn must_succeed(option: &str, argv: &[String]) -> Result<(), Failure> {
    let status = run(option, argv)?;
    match status.success() {
        true => Ok(()),
        false => Err(failed(option, argv, status.to_string())),
    }
}

/// Runs a program to its end. Of its output, only standard error is printed.
fn run(option: &str, argv: &[String]) -> Result<ExitStatus, Failure> {
    let [program, arguments @ ..] = argv else {
        return Ok(ExitStatus::default());
    };
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|error| failed(option, argv, error.to_string()))
}

fn failed(option: &str, argv: &[String], why: String) -> Failure {
    Failure::Command {
        option: option.to_owned(),
        command: argv.join(" "),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments_for(file: &str) -> CommandsArguments {
        let line = |word: &str| Some(format!("echo {word} >> {file}"));
        CommandsArguments {
            commands: vec![line("a").unwrap(), line("b").unwrap()],
            setup: line("setup"),
            cleanup: line("cleanup"),
            prepare: vec![line("prepare").unwrap()],
            warmup: 2,
            ..CommandsArguments::default()
        }
    }

    fn done(
        asked: &CommandsArguments,
        file: &std::path::Path,
        work: Result<(), Failure>,
    ) -> (Result<(), Failure>, String) {
        let experiment = CommandsExperiment::from_arguments(asked).unwrap();
        let done = around(asked, &experiment, || {
            shell("", &format!("echo runs >> {}", file.display()))?;
            work
        });
        let order = std::fs::read_to_string(file).unwrap_or_default();
        (done, order.replace('\n', " "))
    }

    #[test]
    fn all_is_done_in_its_order_and_the_clean_up_in_any_case() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("order");
        let asked = arguments_for(file.to_str().unwrap());
        let warm = "prepare a prepare b ";
        let (ok, order) = done(&asked, &file, Ok(()));
        assert!(ok.is_ok());
        assert_eq!(order, format!("setup {warm}{warm}runs cleanup "));
        let (failed, order) = done(&asked, &file, Err(Failure::InterruptedEarly));
        assert!(matches!(failed, Err(Failure::InterruptedEarly)));
        assert!(order.ends_with("runs cleanup "), "{order}");
    }

    #[test]
    fn what_fails_ends_it_with_its_name() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("order");
        let asked = CommandsArguments {
            setup: Some("exit 7".into()),
            ..arguments_for(file.to_str().unwrap())
        };
        let (failed, order) = done(&asked, &file, Ok(()));
        let failed = failed.unwrap_err();
        let text = failed.to_string();
        assert!(
            text.starts_with("--setup: sh -c exit 7: exit status: 7"),
            "{text}"
        );
        assert_eq!((failed.code(), order.as_str()), (3, "cleanup "));
        let text = run("--warmup", &["/not/there".into()]).unwrap_err();
        assert!(text.to_string().contains("No such file"), "{text}");
    }
}
