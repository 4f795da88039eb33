//! `assize doctor`: what this machine can measure, and what is missing.

mod checks;
mod overhead;

use serde::Serialize;

use crate::cli::DoctorArguments;
use crate::failure::Failure;
use crate::output;
use overhead::InstrumentOverhead;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct DoctorCheck {
    /// What was looked for.
    name: String,
    /// What it is needed for.
    needed_for: String,
    there: bool,
    /// Where it is, or why it is missing.
    detail: String,
    /// The command or change that fixes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<String>,
}

#[derive(Serialize)]
struct Findings {
    schema: &'static str,
    checks: Vec<DoctorCheck>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overhead: Option<Vec<InstrumentOverhead>>,
}

/// Checks this machine and, if asked, measures the overhead of the instruments.
pub(crate) fn doctor(arguments: &DoctorArguments) -> Result<u8, Failure> {
    let checks = checks::all();
    if !arguments.json {
        output::print(assize_report::printable(&text(&checks)).as_bytes())?;
    }
    let overhead = match arguments.overhead {
        true => Some(overhead::measure(&arguments.target)?),
        false => None,
    };
    let text = if arguments.json {
        let findings = Findings {
            schema: "assize.doctor/1",
            checks,
            overhead,
        };
        let text = serde_json::to_string_pretty(&findings);
        text.map_err(|error| Failure::Show(error.to_string()))? + "\n"
    } else {
        overhead.map_or_else(String::new, |costs| {
            overhead::text(&arguments.target, &costs)
        })
    };
    output::print(assize_report::printable(&text).as_bytes())?;
    Ok(0)
}

fn text(checks: &[DoctorCheck]) -> String {
    let width = checks.iter().map(|check| check.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for check in checks {
        let word = if check.there { "there" } else { "missing" };
        text.push_str(&format!(
            "{word:8} {:width$}  {}\n",
            check.name, check.detail
        ));
        if check.there {
            continue;
        }
        text.push_str(&format!(
            "{:8} {:width$}  needed for {}\n",
            "", "", check.needed_for
        ));
        if let Some(mend) = &check.mend {
            text.push_str(&format!("{:8} {:width$}  fix: {mend}\n", "", ""));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_comes_with_what_needs_it_and_what_mends_it() {
        let check = |there| DoctorCheck {
            name: "QEMU".into(),
            needed_for: "the target exact".into(),
            there,
            detail: "somewhere".into(),
            mend: Some("fetch it".into()),
        };
        let missing = text(&[check(false)]);
        assert!(
            missing.starts_with("missing  QEMU  somewhere\n"),
            "{missing}"
        );
        assert!(
            missing.contains("needed for the target exact\n")
                && missing.contains("fix: fetch it\n")
        );
        assert_eq!(text(&[check(true)]), "there    QEMU  somewhere\n");
    }
}
