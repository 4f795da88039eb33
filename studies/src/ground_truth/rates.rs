//! The verdicts on rare planted stalls.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::carry_out;
use xtask::{Error, assize};

/// Runs of each level. With fewer than six, no rate is established.
const RUNS: u64 = 10;
/// The length of a run in seconds.
const RUN_S: u64 = 60;
const EVENT: &str = "timerlat_late";

/// An experiment with rare stalls. They are longer than the period of the tracer's timer, so none
/// falls between two timers; and the detector, which sleeps, is exposed all the time.
fn experiment() -> String {
    format!(
        r#"title = "Rare stalls"
question = "Which rates of planted stalls are shown?"
kernel = "debian:6.12-rt"
cpus = 2
command_line = ["isolcpus=nohz,domain,1", "nohz_full=1", "rcu_nocbs=1"]
runs = {RUNS}
timeout = "3min"
instruments = ["timerlat"]
tracer = {{ cpus = [1], threshold = "1ms", period = "10ms" }}
claims = ["often > none on {EVENT} in rest"]
[factors.stalls.none]
[factors.stalls.often.stalls]
length = "15ms"
period = "30s"
jitter = "25s"
cpu = 1
[factors.stalls.elsewhere.stalls]
length = "15ms"
period = "30s"
jitter = "25s"
cpu = 0
[workloads.rest]
kind = "command"
argv = ["sleep", "{RUN_S}"]
"#
    )
}

/// Measures the rates, and returns the table.
pub(super) fn measure() -> Result<String, Error> {
    let bundle = carry_out("rates", &experiment())?;
    table(&judged(&bundle)?)
}

fn judged(bundle: &Path) -> Result<Value, Error> {
    let bundle = bundle.display().to_string();
    let report = assize::judged(&["report", &bundle, "--format", "json"])?;
    serde_json::from_slice(&report).map_err(|why| format!("assize report: {why}"))
}

fn table(document: &Value) -> Result<String, Error> {
    let mut table = String::from(
        "\n| stalls | runs | observed, s | planted | late timers | at 95 % 1 in, s | against none |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
    );
    let rates = document["rates"].as_array().ok_or("no rates")?;
    let planted = |name: &Value| {
        let of =
            |rate: &&Value| rate["event"] == "planted_stalls" && rate["configuration"] == *name;
        rates.iter().find(of).map_or(0, count)
    };
    for rate in rates.iter().filter(|rate| rate["event"] == EVENT) {
        let name = &rate["configuration"];
        let compared = document["rate_comparisons"].as_array();
        let compared = compared.into_iter().flatten().find(|row| {
            row["event"] == EVENT && row["configuration"] == *name && row["baseline"] == "none"
        });
        let _ = writeln!(
            table,
            "| {} | {RUNS} | {:.0} | {} | {} | {} | {} |",
            name.as_str().unwrap_or_default(),
            rate["exposure_s"].as_f64().unwrap_or(0.0),
            planted(name),
            count(rate),
            interval(rate)?,
            compared.map_or("–", |row| row["verdict"].as_str().unwrap_or_default()),
        );
    }
    Ok(table + "\n")
}

fn count(rate: &Value) -> u64 {
    rate["count"].as_u64().unwrap_or(0)
}

/// `20 to 55`, or `more than 200` if the rate has no upper bound.
fn interval(rate: &Value) -> Result<String, Error> {
    let end = |at: usize| rate["ci"][at].as_f64().ok_or("a rate without interval");
    let (low, high) = (end(0)?, end(1)?);
    Ok(if count(rate) == 0 {
        format!("more than {:.0}", 1.0 / high)
    } else {
        format!("{:.0} to {:.0}", 1.0 / high, 1.0 / low)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_level_says_what_was_planted_and_what_is_shown() {
        let rate = |event: &str, level: &str, count: u64, ci: [f64; 2]| {
            json!({ "event": event, "configuration": level, "count": count,
                    "exposure_s": 600.0, "ci": ci })
        };
        let document = json!({
            "rates": [
                rate(EVENT, "none", 0, [0.0, 0.005]),
                rate(EVENT, "often", 18, [0.02, 0.05]),
                rate("planted_stalls", "often", 18, [0.02, 0.05]),
            ],
            "rate_comparisons": [
                { "event": EVENT, "configuration": "often", "baseline": "none",
                  "verdict": "established" },
            ],
        });
        let rows: Vec<String> = table(&document)
            .unwrap()
            .lines()
            .skip(3)
            .map(Into::into)
            .collect();
        assert_eq!(rows[0], "| none | 10 | 600 | 0 | 0 | more than 200 | – |");
        assert_eq!(
            rows[1],
            "| often | 10 | 600 | 18 | 18 | 20 to 50 | established |"
        );
    }

    #[test]
    fn the_experiment_is_one() {
        let experiment = assize_plan::parse(&experiment(), "x.toml").unwrap();
        let plan = experiment.plan(&assize_plan::Overrides::default()).unwrap();
        assert_eq!(plan.runs.len() as u64, 3 * RUNS);
    }
}
