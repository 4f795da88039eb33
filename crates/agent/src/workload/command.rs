//! A workload that runs any program.

use assize_job::{AgentMessage, CommandWorkload, KeptOutput, RunStage};

use super::output;
use super::prepared::{Prepared, WorkloadContext};
use crate::process::{Body, ProcessExit, program_with};
use crate::records::{doubt, failed, metric, number};
use crate::sys::ProcessUsage;

pub(super) fn prepare(
    command: &CommandWorkload,
    context: &WorkloadContext<'_>,
) -> Result<Prepared, String> {
    let exec = program_with(&command.argv, &command.environment, context.job.seed)?;
    let (name, metrics) = (context.name.to_string(), command.metrics.clone());
    let output = command.output;
    Ok(Prepared {
        body: Body::Exec(exec),
        scheduling: command.scheduling.clone(),
        statuses: command.statuses.clone(),
        read: Box::new(move |left, _| {
            let used = used(left.used).into_iter();
            used.chain(read(&name, &metrics, output, left)).collect()
        }),
    })
}

/// CPU time and memory of a program.
fn used(used: ProcessUsage) -> [AgentMessage; 4] {
    [
        ("command_cpu_time", used.total_ns(), "ns"),
        ("command_user_time", used.user_ns, "ns"),
        ("command_system_time", used.system_ns, "ns"),
        ("command_peak_memory", used.peak_kib, "KiB"),
    ]
    .map(|(name, value, unit)| metric(name, number(value), unit))
}

fn read(
    name: &str,
    metrics: &[String],
    output: KeptOutput,
    left: &ProcessExit,
) -> Vec<AgentMessage> {
    let mut records = Vec::new();
    for metric in metrics {
        records.extend(find(name, metric, left));
    }
    records.extend(output::output_records(name, output, left));
    records
}

/// Finds the metric in the output of a program.
fn find(name: &str, wanted: &str, left: &ProcessExit) -> Vec<AgentMessage> {
    let fail = |why: String| failed(RunStage::Workload, format!("{name}: metric {wanted}"), why);
    let (stdout, stderr) = (left.stdout_text(), left.stderr_text());
    let lines = stdout.lines().chain(stderr.lines());
    let found: Vec<&str> = lines
        .filter_map(|line| text_after_name(line, wanted))
        .collect();
    let Some(last) = found.last() else {
        return vec![fail(format!("it printed no line `{wanted}: VALUE UNIT`"))];
    };
    let Some((value, unit)) = figure(last) else {
        return vec![fail(format!("not a figure: {last}"))];
    };
    let mut records = vec![metric(wanted, value, unit)];
    if found.len() > 1 {
        records.push(doubt(
            "metric-repeated",
            format!(
                "{name} printed {wanted} {} times; the last counts",
                found.len()
            ),
        ));
    }
    records
}

/// The text after `METRIC:` in a line.
fn text_after_name<'a>(line: &'a str, metric: &str) -> Option<&'a str> {
    Some(
        line.trim()
            .strip_prefix(metric)?
            .trim_start()
            .strip_prefix(':')?
            .trim(),
    )
}

/// Parses `VALUE UNIT`, or `VALUE` alone.
fn figure(text: &str) -> Option<(f64, &str)> {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    value.is_finite().then(|| (value, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_a_value_and_perhaps_a_unit() {
        assert_eq!(figure("12.5 ns"), Some((12.5, "ns")));
        assert_eq!(figure("-3"), Some((-3.0, "")));
        assert_eq!(figure("1e3 MB per s"), Some((1000.0, "MB per s")));
        for none in ["", "ns", "nan s", "inf", "1,5 s", "12ns"] {
            assert_eq!(figure(none), None, "{none}");
        }
    }

    #[test]
    fn a_name_counts_only_whole_and_first() {
        assert_eq!(text_after_name("  rate: 3 /s", "rate"), Some("3 /s"));
        assert_eq!(text_after_name("rate : 3", "rate"), Some("3"));
        assert_eq!(text_after_name("rates: 3", "rate"), None);
        assert_eq!(text_after_name("the rate: 3", "rate"), None);
    }
}
