//! Comparison signs and margins of claims: `<= B + 2%`.

use super::grammar::{ClaimKind, ClaimedRelation, ParsedClaim};

/// The sign between two names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
}

impl Sign {
    /// The signs that a text may begin with, the longest first.
    pub(super) fn starting(text: &str) -> impl Iterator<Item = Sign> {
        const ALL: [Sign; 5] = [
            Sign::LessOrEqual,
            Sign::GreaterOrEqual,
            Sign::Less,
            Sign::Greater,
            Sign::Equal,
        ];
        ALL.into_iter().filter(|sign| text.starts_with(sign.text()))
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Sign::Less => "<",
            Sign::LessOrEqual => "<=",
            Sign::Greater => ">",
            Sign::GreaterOrEqual => ">=",
            Sign::Equal => "=",
        }
    }
}

/// A margin as written after a name: `+ 2%`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Margin<'t> {
    /// The byte offset of its `+` or `-`.
    pub(super) at: usize,
    above: bool,
    /// The text where the number belongs, without white space.
    number: &'t str,
    /// Whether a `%` follows.
    percent: bool,
}

impl Margin<'_> {
    /// The same margin with its offset shifted by `bytes`.
    pub(super) fn after(self, bytes: usize) -> Self {
        Margin {
            at: self.at + bytes,
            ..self
        }
    }
}

/// Finds what looks like a margin at the end of a text: everything after its
/// last `+` or `-` if it ends with `%`; or a number without `%`, if the sign is
/// separated from the name.
pub(super) fn at_end(text: &str) -> Option<Margin<'_>> {
    let at = text.rfind(['+', '-'])?;
    let (before, rest) = (&text[..at], text[at + 1..].trim());
    let inner = rest.strip_suffix('%');
    let number = inner.unwrap_or(rest).trim_end();
    let begins = number.starts_with(|c: char| c.is_ascii_digit());
    let apart = before.ends_with(|c: char| c.is_whitespace() || c == '\'' || c == '"');
    let looks = match inner {
        Some(_) => begins,
        None => apart && decimal(number).is_some(),
    };
    looks.then_some(Margin {
        at,
        above: text[at..].starts_with('+'),
        number,
        percent: inner.is_some(),
    })
}

/// Parses digits, optionally with a point and more digits.
fn decimal(text: &str) -> Option<f64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    (digits(whole) && digits(rest)).then(|| text.parse().ok())?
}

/// What is wrong with a sign or margin, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarginFault {
    pub(super) at: usize,
    pub(super) what: String,
}

/// The meaning of a sign and a margin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SignMeaning {
    pub(super) relation: ClaimedRelation,
    pub(super) kind: ClaimKind,
    pub(super) bound: f64,
}

/// The meaning of a sign at this byte offset, with or without a margin.
pub(super) fn form(
    sign: Sign,
    at: usize,
    margin: Option<Margin<'_>>,
) -> Result<SignMeaning, MarginFault> {
    let Some(margin) = margin else {
        return without(sign).ok_or_else(|| MarginFault {
            at,
            what: match sign {
                Sign::GreaterOrEqual => {
                    "`>=` needs a margin: write `A >= B - 2%`, or `A > B`".into()
                }
                _ => "`<=` needs a margin: write `A <= B + 2%`, or `A < B`".into(),
            },
        });
    };
    let fault = |what: String| MarginFault {
        at: margin.at,
        what,
    };
    let percent = percentage(margin).map_err(fault)?;
    let (relation, kind) = match (sign, margin.above) {
        (Sign::LessOrEqual, true) => (ClaimedRelation::Less, ClaimKind::NotMore),
        (Sign::GreaterOrEqual, false) => (ClaimedRelation::Greater, ClaimKind::NotLess),
        (Sign::Less, false) => (ClaimedRelation::Less, ClaimKind::Difference),
        (Sign::Greater, true) => (ClaimedRelation::Greater, ClaimKind::Difference),
        _ => return Err(fault(other_side(sign, margin.number))),
    };
    let signed = if margin.above { percent } else { -percent };
    Ok(SignMeaning {
        relation,
        kind,
        bound: (100.0 + signed) / 100.0,
    })
}

fn without(sign: Sign) -> Option<SignMeaning> {
    let (relation, kind) = match sign {
        Sign::Less => (ClaimedRelation::Less, ClaimKind::Difference),
        Sign::Greater => (ClaimedRelation::Greater, ClaimKind::Difference),
        Sign::Equal => (ClaimedRelation::Equal, ClaimKind::Equal),
        Sign::LessOrEqual | Sign::GreaterOrEqual => return None,
    };
    Some(SignMeaning {
        relation,
        kind,
        bound: 1.0,
    })
}

fn percentage(margin: Margin<'_>) -> Result<f64, String> {
    let number = margin.number;
    let side = if margin.above { '+' } else { '-' };
    if !margin.percent {
        return Err(format!(
            "a margin is a percentage of B: write `{side} {number}%`"
        ));
    }
    let Some(percent) = decimal(number) else {
        return Err(format!(
            "the margin `{number}` is not a decimal number: write it as in `{side} 2.5%`"
        ));
    };
    if percent > 0.0 && percent < 100.0 {
        Ok(percent)
    } else {
        Err(format!(
            "the margin {number} % must be above 0 % and below 100 %"
        ))
    }
}

/// What to write instead of a margin on the wrong side of B.
fn other_side(sign: Sign, number: &str) -> String {
    match sign {
        Sign::Less => format!(
            "`<` needs a margin below B: write `A < B - {number}%`, or `A <= B + {number}%` if A \
             may be more by that"
        ),
        Sign::Greater => format!(
            "`>` needs a margin above B: write `A > B + {number}%`, or `A >= B - {number}%` if A \
             may be less by that"
        ),
        Sign::LessOrEqual => format!(
            "`<=` needs a margin above B: write `A <= B + {number}%`, or `A < B - {number}%` if A \
             must be less by that"
        ),
        Sign::GreaterOrEqual => format!(
            "`>=` needs a margin below B: write `A >= B - {number}%`, or `A > B + {number}%` if A \
             must be more by that"
        ),
        Sign::Equal => "`=` has no margin here: write `A = B`; `--margin`, or `margin` in the \
                        experiment, says how far apart equals may be"
            .into(),
    }
}

/// The sign and margin of a reading as text.
pub(super) fn sign_and_margin(reading: &ParsedClaim) -> (&'static str, String) {
    let sign = match (reading.relation, reading.kind) {
        (_, ClaimKind::NotMore) => Sign::LessOrEqual,
        (_, ClaimKind::NotLess) => Sign::GreaterOrEqual,
        (ClaimedRelation::Less, _) => Sign::Less,
        (ClaimedRelation::Greater, _) => Sign::Greater,
        (ClaimedRelation::Equal, _) => Sign::Equal,
    };
    // Drop floating-point noise.
    let percent = format!("{:.9}", 100.0 * (reading.bound - 1.0).abs());
    let percent = percent.trim_end_matches('0').trim_end_matches('.');
    let margin = match reading.bound.total_cmp(&1.0) {
        std::cmp::Ordering::Less => format!(" - {percent}%"),
        std::cmp::Ordering::Greater => format!(" + {percent}%"),
        std::cmp::Ordering::Equal => String::new(),
    };
    (sign.text(), margin)
}
