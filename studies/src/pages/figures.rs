//! Formats figures for the pages.

use serde_json::Value;

/// The mark for a missing value.
const NOTHING: &str = "–";

/// The mark of a verdict; `established` has none.
pub(super) fn mark(row: &Value) -> &'static str {
    match row["verdict"].as_str() {
        Some("established") => "",
        Some("supported") => " ~",
        Some("equivalent") => " =",
        _ => " ?",
    }
}

/// A ratio to the baseline with its mark: `0.534`, `1.06 ?`.
pub(super) fn ratio(row: Option<&Value>) -> String {
    let found = row.and_then(|row| Some((row["ratio"].as_f64()?, mark(row))));
    match found {
        Some((ratio, mark)) => format!("{}{mark}", digits(ratio)),
        None => NOTHING.into(),
    }
}

/// Like [`ratio`] without a mark, for ratios that are not compared.
pub(super) fn plain_ratio(row: Option<&Value>) -> String {
    let ratio = row.and_then(|row| row["ratio"].as_f64());
    ratio.map_or_else(|| NOTHING.into(), digits)
}

/// A ratio in per cent with its interval and mark: `63 % (54–74) ?`.
pub(super) fn percent(row: &Value) -> String {
    let Some(ratio) = row["ratio"].as_f64() else {
        return NOTHING.into();
    };
    let interval = row["ci"].as_array().map(|ends| {
        let end = |at: usize| ends.get(at).and_then(Value::as_f64).unwrap_or(f64::NAN);
        format!(" ({}–{})", hundredths(end(0)), hundredths(end(1)))
    });
    format!("{} %{}", hundredths(ratio), interval.unwrap_or_default())
}

/// A ratio in per cent: no decimals from 10 on, two significant digits below.
fn hundredths(ratio: f64) -> String {
    let percent = ratio * 100.0;
    match percent {
        p if p >= 10_000.0 => "> 10,000".into(),
        p if p >= 9.95 => whole(p.round()),
        p if p >= 0.995 => format!("{p:.1}"),
        p => format!("{p:.2}"),
    }
}

/// Four significant digits of a ratio near 1, three of others.
fn digits(ratio: f64) -> String {
    match ratio {
        r if r >= 99.5 => whole(r.round()),
        r if r >= 9.995 => format!("{r:.1}"),
        r if r >= 1.995 => format!("{r:.2}"),
        r => format!("{r:.3}"),
    }
}

/// A count: `4.01`, `0.627`, `27,864`.
pub(super) fn count(value: Option<f64>) -> String {
    match value {
        None => NOTHING.into(),
        Some(v) if v >= 99.5 => whole(v.round()),
        Some(v) if v >= 9.995 => format!("{v:.1}"),
        Some(v) if v >= 0.995 => format!("{v:.2}"),
        Some(v) => format!("{v:.3}"),
    }
}

/// A time in a suitable unit: `221 ns`, `17.4 µs`, `7.32 ms`.
pub(super) fn time(ns: Option<f64>) -> String {
    let Some(ns) = ns else { return NOTHING.into() };
    let (value, unit) = match ns {
        ns if ns < 999.5 => return format!("{ns:.0} ns"),
        ns if ns < 999_500.0 => (ns / 1e3, "µs"),
        ns => (ns / 1e6, "ms"),
    };
    match value {
        v if v >= 99.95 => format!("{v:.0} {unit}"),
        v if v >= 9.995 => format!("{v:.1} {unit}"),
        v => format!("{v:.2} {unit}"),
    }
}

/// A whole number with commas at the thousands.
fn whole(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_ratio_has_the_mark_of_its_verdict() {
        let row = |ratio: f64, verdict: &str| json!({"ratio": ratio, "verdict": verdict});
        assert_eq!(ratio(Some(&row(0.534_49, "established"))), "0.534");
        assert_eq!(ratio(Some(&row(1.6, "undecided"))), "1.600 ?");
        assert_eq!(ratio(Some(&row(3.146, "supported"))), "3.15 ~");
        assert_eq!(ratio(Some(&row(1.0, "equivalent"))), "1.000 =");
        assert_eq!(ratio(None), "–");
    }

    #[test]
    fn per_cents_have_two_digits_at_least() {
        let row = json!({"ratio": 0.0123, "ci": [0.0091, 0.11]});
        assert_eq!(percent(&row), "1.2 % (0.91–11)");
        let row = json!({"ratio": 2.77, "ci": [0.23, 33.73]});
        assert_eq!(percent(&row), "277 % (23–3,373)");
        assert_eq!(percent(&json!({"ratio": 1.5, "ci": null})), "150 %");
    }

    #[test]
    fn numbers_and_times_are_as_one_would_say_them() {
        let shown = [0.0142, 0.627, 4.013, 12.9, 27_864.2, 1_176_062.0].map(|v| count(Some(v)));
        assert_eq!(
            shown,
            ["0.014", "0.627", "4.01", "12.9", "27,864", "1,176,062"]
        );
        let shown = [221.0, 1_190.0, 17_400.0, 825_000.0, 7_320_000.0].map(|ns| time(Some(ns)));
        assert_eq!(shown, ["221 ns", "1.19 µs", "17.4 µs", "825 µs", "7.32 ms"]);
    }
}
