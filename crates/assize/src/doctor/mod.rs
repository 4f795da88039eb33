//! `assize doctor`: what this machine can measure, and what is missing.

mod checks;

use serde::Serialize;

use crate::cli::DoctorArguments;
use crate::failure::Failure;
use crate::output;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct DoctorCheck {
    /// The name of the program, file or setting.
    name: String,
    /// The features that need it.
    needed_for: String,
    there: bool,
    /// Its location, or why it is missing.
    detail: String,
    /// The command or change that fixes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<String>,
}

#[derive(Serialize)]
struct Findings {
    schema: &'static str,
    checks: Vec<DoctorCheck>,
}

/// Checks this machine.
pub(crate) fn doctor(arguments: &DoctorArguments) -> Result<u8, Failure> {
    let checks = checks::all();
    let text = if arguments.json {
        let findings = Findings {
            schema: "assize.doctor/1",
            checks,
        };
        let text = serde_json::to_string_pretty(&findings);
        text.map_err(|error| Failure::Show(error.to_string()))? + "\n"
    } else {
        text(&checks)
    };
    output::print(assize_report::printable(&text).as_bytes())?;
    Ok(0)
}

/// The passed checks, then the failed ones, then the targets that are ready.
fn text(checks: &[DoctorCheck]) -> String {
    let width = checks.iter().map(|check| check.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let (there, missing): (Vec<_>, Vec<_>) = checks.iter().partition(|check| check.there);
    let mut text = String::new();
    for check in there {
        let (name, detail) = (&check.name, &check.detail);
        text.push_str(&format!("found    {name:width$}  {detail}\n"));
    }
    for check in missing {
        let (name, detail, needed_for) = (&check.name, &check.detail, &check.needed_for);
        let lead = format!("{:8} {:width$} ", "", "");
        text.push_str(&format!("missing  {name:width$}  {detail}\n"));
        text.push_str(&format!("{lead} needed only for {needed_for}\n"));
        if let Some(mend) = &check.mend {
            text.push_str(&format!("{lead} fix: {mend}\n"));
        }
    }
    text.push('\n');
    text.push_str(&readiness(checks));
    text
}

/// The targets on which this machine can measure, and the failed checks of the others.
fn readiness(checks: &[DoctorCheck]) -> String {
    let (mut ready, mut others) = (Vec::new(), String::new());
    for (target, needs) in checks::targets() {
        let mut lacking = needs.iter().filter_map(|need| {
            let mut found = checks.iter().filter(|check| check.name == *need);
            found.all(|check| !check.there).then(|| {
                let check = checks.iter().find(|check| check.name == *need);
                let mend = check.and_then(|check| check.mend.as_ref());
                let mend = mend.map_or(String::new(), |mend| format!(": {mend}"));
                format!("To measure on the target {target}, get what is missing: {need}{mend}\n")
            })
        });
        match lacking.next() {
            None => ready.push(target),
            Some(lacking) => others.push_str(&lacking),
        }
    }
    match ready.is_empty() {
        true => others,
        false => format!("Ready for the targets: {}\n{others}", ready.join(", ")),
    }
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
            missing.contains("needed only for the target exact\n")
                && missing.contains("fix: fetch it\n")
        );
        assert!(text(&[check(true)]).starts_with("found    QEMU  somewhere\n"));
    }

    #[test]
    fn the_last_line_says_what_the_machine_is_ready_for() {
        let check = |name: &str, there| DoctorCheck {
            name: name.into(),
            needed_for: "much".into(),
            there,
            detail: "somewhere".into(),
            mend: Some(format!("fetch {name}")),
        };
        let needs = checks::targets()[1].1.clone();
        let all: Vec<DoctorCheck> = needs.iter().map(|need| check(need, true)).collect();
        assert_eq!(readiness(&all), "Ready for the targets: host, exact\n");
        let mut some = all;
        some.iter_mut()
            .for_each(|one| one.there = one.name != "QEMU");
        assert_eq!(
            readiness(&some),
            "Ready for the targets: host\n\
             To measure on the target exact, get what is missing: QEMU: fetch QEMU\n"
        );
        assert!(readiness(&[]).starts_with("To measure on the target host, "));
    }
}
