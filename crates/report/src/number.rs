//! Formats numbers for readers.

pub use assize_verdict::significant;

/// Formats a ratio: three decimals from 0.1 up to 10, three significant digits elsewhere.
///
/// ```
/// assert_eq!(assize_report::ratio(0.94512), "0.945");
/// assert_eq!(assize_report::ratio(0.000123), "0.000123");
/// assert_eq!(assize_report::ratio(1234.5), "1234");
/// ```
pub fn ratio(value: f64) -> String {
    if (0.1..10.0).contains(&value) {
        format!("{value:.3}")
    } else {
        significant(value, 3)
    }
}

/// An interval in at most 12 columns; see [`interval_within`].
pub(crate) fn interval(ci: [f64; 2], show: fn(f64) -> String) -> String {
    interval_within(12, ci, show)
}

/// An interval in at most `columns` columns: formatted with `show` if that fits, else
/// with two significant digits, else with powers of ten, else as `too wide` (the figures
/// are in the JSON).
pub(crate) fn interval_within(
    columns: usize,
    [low, high]: [f64; 2],
    show: fn(f64) -> String,
) -> String {
    let short = |value: f64| {
        if value == 0.0 || (1e-2..1e4).contains(&value.abs()) {
            significant(value, 2)
        } else {
            format!("{value:.0e}")
        }
    };
    let candidates = [
        format!("{}..{}", show(low), show(high)),
        format!("{}..{}", significant(low, 2), significant(high, 2)),
        format!("{}..{}", short(low), short(high)),
    ];
    let fitting = candidates.into_iter().find(|text| text.len() <= columns);
    fitting.unwrap_or_else(|| "too wide".to_string())
}

/// A number in at most 8 columns, with a power of ten if necessary.
pub(crate) fn narrow(value: f64, show: impl Fn(f64) -> String) -> String {
    let text = show(value);
    if text.len() <= 8 {
        return text;
    }
    let text = format!("{value:.1e}");
    if text.len() <= 8 {
        text
    } else {
        format!("{value:.0e}")
    }
}

/// A difference: three significant digits and a sign.
pub(crate) fn signed(value: f64) -> String {
    with_plus(value, significant(value, 3))
}

/// A text for a number, with a plus sign if the number is positive.
pub(crate) fn with_plus(value: f64, text: String) -> String {
    if value > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

/// A difference with its unit. A difference of percentages is in points, since it is not
/// relative.
pub(crate) fn difference(value: f64, unit: &str) -> String {
    with_points(&signed(value), unit)
}

/// Appends the unit to formatted differences.
pub(crate) fn with_points(text: &str, unit: &str) -> String {
    let unit = if unit == "%" { "points" } else { unit };
    format!("{text} {unit}").trim_end().to_owned()
}

/// A p value: three decimals, or `<0.001`.
pub(crate) fn p(value: f64) -> String {
    if value < 0.0005 {
        "<0.001".to_string()
    } else {
        format!("{value:.3}")
    }
}

/// Formats a value unchanged if that takes at most six characters, else with four digits.
pub(crate) fn short(value: f64) -> String {
    let whole = value.to_string();
    if whole.len() <= 6 {
        whole
    } else {
        significant(value, 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_its_unit_and_one_of_percentages_is_in_points() {
        assert_eq!(difference(-2.18, "%"), "-2.18 points");
        assert_eq!(difference(2.0, "jobs"), "+2.00 jobs");
        assert_eq!(difference(2.0, ""), "+2.00");
    }

    #[test]
    fn small_ends_keep_two_digits_where_they_fit() {
        let of = |columns, ci| interval_within(columns, ci, ratio);
        assert_eq!(of(14, [0.00591, 0.00734]), "0.0059..0.0073");
        assert_eq!(of(12, [0.00591, 0.00734]), "6e-3..7e-3");
        assert_eq!(of(12, [0.00951, 0.123]), "0.0095..0.12");
    }

    #[test]
    fn no_number_is_wider_than_its_column() {
        for magnitude in -300..300 {
            for digits in [1.0, 9.9996, -1.2345] {
                let value = digits * 10f64.powi(magnitude);
                assert!(
                    narrow(value, ratio).len() <= 8,
                    "{value}: {}",
                    narrow(value, ratio)
                );
                let ci = interval([value, value * 1.5], ratio);
                assert!(ci.len() <= 12, "{value}: {ci}");
            }
        }
    }
}
