//! Formats numbers and lists as text.

/// A number with three significant digits, without superfluous zeros, and never
/// in scientific notation for magnitudes between 1e-4 and 1e15.
pub(crate) fn three(value: f64) -> String {
    significant(value, 3)
}

/// A number with `digits` significant digits; integers are kept whole.
///
/// ```
/// assert_eq!(assize_verdict::significant(8989.3, 3), "8989");
/// assert_eq!(assize_verdict::significant(0.01849, 3), "0.0185");
/// assert_eq!(assize_verdict::significant(9.996, 3), "10.0");
/// ```
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..15).contains(&magnitude) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    let decimals = (digits as i32 - 1 - magnitude).max(0) as usize;
    let text = format!("{value:.decimals$}");
    // Rounding up may have added a digit, as from 9.996 to 10.00.
    let shown = text.replace(['-', '.'], "");
    if decimals > 0 && shown.trim_start_matches('0').len() > digits {
        return format!("{value:.*}", decimals - 1);
    }
    text
}

/// A decimal number without zeros at the end.
#[must_use]
pub fn without_zeros(text: &str) -> &str {
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// A p value with three significant digits and no trailing zeros; `< 0.0001` if
/// it is smaller.
pub(crate) fn p_value(p: f64) -> String {
    if p < 1e-4 {
        return "< 0.0001".into();
    }
    plain(p)
}

/// Three significant digits without trailing zeros after the point.
pub(crate) fn plain(value: f64) -> String {
    without_zeros(&three(value)).to_owned()
}

/// A ratio and its interval, as `1.08 [1.03, 1.13]`; with more digits if three would make it look
/// like 1.
pub(crate) fn with_interval(value: f64, ci: Option<[f64; 2]>) -> String {
    const MOST: usize = 7;
    let telling = |digits: &usize| {
        let text = |value| significant(value, *digits);
        value == 1.0 || text(value) != text(1.0)
    };
    let digits = (3..=MOST).find(telling).unwrap_or(3);
    let text = |value| significant(value, digits);
    match ci {
        Some([low, high]) => format!("{} [{}, {}]", text(value), text(low), text(high)),
        None => text(value),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn and_list<S: AsRef<str>>(items: &[S]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [head @ .., last] => {
            let head: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", head.join(", "), last.as_ref())
        }
    }
}

/// `1 run`, `2 runs`.
#[must_use]
pub fn count_of(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The value if it is finite, else `None`.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (1.0, "1.00"),
            (0.95123, "0.951"),
            (0.1, "0.100"),
            (12345.6, "12346"),
            (99.96, "100"),
            (0.0, "0"),
            (-0.0123456, "-0.0123"),
            (1e-9, "1.00e-9"),
        ] {
            assert_eq!(three(value), text);
        }
        assert_eq!(plain(0.1), "0.1");
        assert_eq!(plain(300.0), "300");
        assert_eq!(p_value(0.02857), "0.0286");
        assert_eq!(p_value(1e-7), "< 0.0001");
        assert_eq!(with_interval(1.08, Some([1.03, 1.13])), "1.08 [1.03, 1.13]");
        let near = with_interval(1.000_42, Some([1.000_31, 1.000_53]));
        assert_eq!(near, "1.0004 [1.0003, 1.0005]");
        assert_eq!(with_interval(1.0, None), "1.00");
    }

    #[test]
    fn lists_read_as_english() {
        assert_eq!(and_list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(and_list::<&str>(&[]), "");
        assert_eq!(count_of(1, "run"), "1 run");
    }
}
