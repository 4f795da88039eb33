//! The argument of `--at`.

use super::moment::{Moment, MomentKind};
use super::place::Place;

/// Where to stop a run. Numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum At {
    /// A moment whose time is in the record of the run.
    Moment(Moment),
    /// A place that is only found by repeating the run.
    Place(Place),
}

impl At {
    pub(super) fn parse(text: &str) -> Result<At, String> {
        let place = |place| Ok(At::Place(place));
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            let time = time(text).ok_or_else(|| {
                format!("'{text}' is not a time; valid: 81.204ms, 3us, 1.5s, 81204513ns")
            })?;
            return place(Place::Time(time));
        }
        if text == "crash" {
            return place(Place::Crash);
        }
        let found = match text.split_once(':').unwrap_or((text, "")).0 {
            "worst" | "sample" | "job" | "event" | "wait" => moment(text).map(At::Moment),
            _ => call(text).map(At::Place),
        };
        found.ok_or_else(|| {
            format!(
                "'{text}' is not a place; valid: worst, worst:end, sample:round_trip:7, \
                 sample:round_trip:7:end, job:412, event:sched_switch:3, wait:kworker/1:2, \
                 81.204ms, drm_sched_main:7, crash"
            )
        })
    }
}

fn moment(text: &str) -> Option<Moment> {
    let (text, ends) = match text.strip_suffix(":end") {
        Some(before) => (before, true),
        None => (text, false),
    };
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    let named = || {
        let (name, text) = rest.rsplit_once(':')?;
        Some((name.to_owned(), number(text)?))
    };
    let kind = match word {
        "worst" if rest.is_empty() => MomentKind::Worst,
        "sample" => named().map(|(name, at)| MomentKind::Sample(name, at))?,
        "job" if !ends => MomentKind::Job(number(rest)?),
        "event" if !ends => named().map(|(name, at)| MomentKind::Event(name, at))?,
        "wait" if !rest.is_empty() => MomentKind::Wait(rest.to_owned()),
        _ => return None,
    };
    Some(Moment { kind, ends })
}

/// `FUNCTION` or `FUNCTION:N`, the Nth call.
fn call(text: &str) -> Option<Place> {
    let (name, at) = text.split_once(':').unwrap_or((text, "1"));
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    let is_valid = !name.is_empty() && name.chars().all(is_name);
    is_valid.then_some(Place::Call(name.into(), number(at)?))
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number > 0)
}

/// Parses a decimal number with a unit of time; the result is in ns.
fn time(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at_checked(digits)?;
    let places = match unit {
        "ns" => 0,
        "us" | "µs" => 3,
        "ms" => 6,
        "s" => 9,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut digits = fraction.to_owned();
    while digits.len() < places {
        digits.push('0');
    }
    // Cuts off digits below a nanosecond, the resolution of the guest's clock.
    let below = digits.get(..places)?;
    let whole: u64 = whole.parse().ok()?;
    let below: u64 = if below.is_empty() {
        0
    } else {
        below.parse().ok()?
    };
    whole
        .checked_mul(10_u64.pow(u32::try_from(places).ok()?))?
        .checked_add(below)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_time_a_call_or_a_crash() {
        let call = |name: &str, number| Place::Call(name.into(), number);
        for (text, place) in [
            ("12.345ms", Place::Time(12_345_000)),
            ("12345678ns", Place::Time(12_345_678)),
            ("1.5s", Place::Time(1_500_000_000)),
            ("0.1234567890123s", Place::Time(123_456_789)),
            ("7us", Place::Time(7_000)),
            ("drm_sched_main", call("drm_sched_main", 1)),
            ("drm_sched_main:7", call("drm_sched_main", 7)),
            ("foo.isra.0", call("foo.isra.0", 1)),
            ("worstcase:3", call("worstcase", 3)),
            ("crash", Place::Crash),
        ] {
            assert_eq!(At::parse(text).unwrap(), At::Place(place), "{text}");
        }
    }

    #[test]
    fn a_moment_is_a_sample_a_job_or_an_event() {
        let sample = |name: &str, at| MomentKind::Sample(name.into(), at);
        for (text, kind, ends) in [
            ("worst", MomentKind::Worst, false),
            ("worst:end", MomentKind::Worst, true),
            (
                "sample:wakeup_latency:a:7",
                sample("wakeup_latency:a", 7),
                false,
            ),
            ("sample:round_trip:7:end", sample("round_trip", 7), true),
            ("job:412", MomentKind::Job(412), false),
            (
                "event:sched_switch:3",
                MomentKind::Event("sched_switch".into(), 3),
                false,
            ),
            (
                "wait:kworker/1:2:end",
                MomentKind::Wait("kworker/1:2".into()),
                true,
            ),
        ] {
            let moment = Moment { kind, ends };
            assert_eq!(At::parse(text).unwrap(), At::Moment(moment), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for wrong in [
            "",
            "12",
            "12xs",
            "1..2ms",
            "a:0",
            "a:",
            ":1",
            "a b",
            "1.2.3s",
            "99999999999999999999s",
            "12ms ",
            "-1ms",
            "job",
            "job:0",
            "job:3:end",
            "event:3",
            "sample:x",
            "worst:7",
            "wait",
            "wait:end",
        ] {
            assert!(At::parse(wrong).is_err(), "{wrong}");
        }
    }
}
