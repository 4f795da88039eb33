//! Tests one commit for `git bisect run`; the exit status is the result.

use std::ffi::OsStr;

use assize_target::kernels::Kernels;
use assize_verdict::Outcome;

use super::BisectionSetup;
use crate::cli::BisectArguments;
use crate::failure::{Failure, INTERRUPTED};
use crate::output;
use crate::trying::source::SourceChange;
use crate::trying::touched::{TouchedFiles, touches_code};

/// The commit cannot be tested: git picks another one.
const CANNOT_TELL: u8 = 125;
/// No commit can be tested: git ends the bisection. Any status from 1 to 127 but 125
/// would mark the commit as bad.
const GIVE_UP: u8 = 255;

/// Whether the command line asks to test the commit that is checked out.
pub(crate) fn is_test(arguments: &[impl AsRef<OsStr>]) -> bool {
    let is = |word: &OsStr| {
        let word = word.to_string_lossy();
        word == "--test" || word.starts_with("--test=")
    };
    let verb = arguments.get(1).map(AsRef::as_ref);
    verb == Some(OsStr::new("bisect")) && arguments.iter().any(|word| is(word.as_ref()))
}

/// The exit status of a test whose command line is wrong.
pub(crate) fn wrong_use_of_test() -> u8 {
    GIVE_UP
}

/// Tests HEAD against a commit.
pub(super) fn test(arguments: &BisectArguments, good: &str) -> Result<u8, Failure> {
    // A bug in assize says nothing about the commit.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        std::process::exit(CANNOT_TELL.into());
    }));
    let failure = match tested(arguments, good) {
        Ok(status) => return Ok(status),
        Err(Failure::ClosedPipe) => return Ok(CANNOT_TELL),
        Err(failure) => failure,
    };
    eprintln!("assize: {failure}");
    Ok(status(failure.code()))
}

/// Maps the exit status of a failure to what is reported to git.
fn status(code: u8) -> u8 {
    match code {
        2 => GIVE_UP,
        INTERRUPTED => INTERRUPTED,
        _ => CANNOT_TELL,
    }
}

fn tested(arguments: &BisectArguments, good: &str) -> Result<u8, Failure> {
    let kernels = Kernels::new(Kernels::default_root()?);
    let change = SourceChange::as_one(good, "HEAD")?;
    let all = &change.commits;
    if !all.iter().any(|commit| touches_code(&commit.paths)) {
        return print_verdict(
            "refuted: the change from GOOD touches nothing that is built",
            Outcome::Refuted,
        );
    }
    let scope = TouchedFiles::of_commits(all)?.scope;
    let setting = BisectionSetup::checked(arguments, &scope, &kernels)?;
    let say = output::progress(arguments.quiet);
    let mut evaluator = setting.evaluator(arguments, &change, &say, 1)?;
    let good = match evaluator.build_good(&change.base) {
        Ok(good) => good,
        // The same failure would make git skip every commit.
        Err(failure) => {
            eprintln!("assize: {failure}");
            return Ok(GIVE_UP);
        }
    };
    let Some(head) = all.last() else {
        return Ok(CANNOT_TELL);
    };
    let head = match evaluator.build(head)? {
        Ok(head) => head,
        Err(why) => {
            eprintln!(
                "assize: HEAD does not build: {}",
                assize_report::printable(&why)
            );
            return Ok(CANNOT_TELL);
        }
    };
    let verdict = evaluator.judge(&good, &head)?;
    let word = verdict.outcome.word();
    print_verdict(&format!("{word}: {}", verdict.because), verdict.outcome)
}

fn print_verdict(text: &str, outcome: Outcome) -> Result<u8, Failure> {
    let text = assize_report::printable(text).replace('\n', " ");
    output::print(format!("{text}\n").as_bytes())?;
    Ok(match outcome {
        Outcome::Refuted => 0,
        Outcome::Upheld => 1,
        Outcome::Undecided => CANNOT_TELL,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_failure_makes_a_commit_bad() {
        for code in 0..=u8::MAX {
            let status = status(code);
            assert!(status == CANNOT_TELL || status >= 128, "{code}: {status}");
        }
        assert_eq!(status(2), GIVE_UP);
        assert_eq!(status(130), 130);
    }

    #[test]
    fn a_command_line_for_git_is_known_even_if_it_is_wrong() {
        assert!(is_test(&["assize", "bisect", "--test", "x", "--nonsense"]));
        assert!(is_test(&["assize", "bisect", "--test=x"]));
        assert!(!is_test(&["assize", "bisect", "a..b"]));
        assert!(!is_test(&["assize", "try", "--test"]));
        assert!(!is_test(&[] as &[&str]));
    }
}
