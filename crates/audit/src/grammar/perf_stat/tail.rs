//! What follows the name of a counter: the derived figure, the uncertainty
//! and the share of time.

use super::{event, token};

/// What follows the name of a counter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tail {
    /// The number behind `#`, if it has a decimal mark.
    pub(super) derived: Option<String>,
    /// Whether there is a `#`.
    pub(super) comment: bool,
    /// `1.24` of `( +-  1.24% )`.
    pub(super) noise: Option<String>,
    /// `83.31` of `(83.31%)`.
    pub(super) share: Option<String>,
    /// There is something that perf does not print there.
    pub(super) remark: bool,
    /// Words behind `#` that are none of perf's.
    foreign: bool,
    /// It ends inside a figure or a parenthesis.
    pub(super) open: bool,
}

impl Tail {
    /// Whether all of it is as perf prints it.
    pub(super) fn clean(&self) -> bool {
        !self.remark && !self.foreign
    }

    /// Whether perf printed anything there.
    pub(super) fn any(&self) -> bool {
        self.comment || self.noise.is_some() || self.share.is_some()
    }

    /// Takes from a following line what this one lacks.
    pub(super) fn fill(&mut self, other: Tail) {
        self.derived = self.derived.take().or(other.derived);
        self.noise = self.noise.take().or(other.noise);
        self.share = self.share.take().or(other.share);
    }
}

/// A parenthesis behind the name of a counter.
enum Group<'a> {
    Noise(&'a str, usize),
    Share(&'a str, usize),
    Open,
    Foreign,
}

/// Reads what follows the name of a counter.
pub(super) fn parse(text: &str) -> Tail {
    let mut tail = Tail::default();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('#') {
            let (figure, next) = after.split_at(figure_end(after));
            read_figure(figure, &mut tail);
            tail.open = next.is_empty() && figure.trim().is_empty();
            rest = next.trim_start();
            continue;
        }
        match group(rest) {
            Group::Noise(noise, len) => {
                tail.noise.get_or_insert_with(|| noise.to_owned());
                rest = rest.get(len..).unwrap_or_default().trim_start();
            }
            Group::Share(share, len) => {
                tail.share.get_or_insert_with(|| share.to_owned());
                rest = rest.get(len..).unwrap_or_default().trim_start();
            }
            Group::Open => {
                tail.open = true;
                break;
            }
            Group::Foreign => {
                tail.remark = true;
                break;
            }
        }
    }
    tail
}

/// Where the derived figure ends: at the next `#` or at a parenthesis.
fn figure_end(text: &str) -> usize {
    text.char_indices()
        .find(|&(at, c)| match c {
            '#' => true,
            '(' | '[' => !matches!(group(text.get(at..).unwrap_or_default()), Group::Foreign),
            _ => false,
        })
        .map_or(text.len(), |(at, _)| at)
}

fn read_figure(figure: &str, tail: &mut Tail) {
    tail.comment = true;
    for word in token::words(figure) {
        let number = word.strip_suffix('%').unwrap_or(word);
        if token::plain_decimal(number).is_some() {
            if tail.derived.is_none() && number.contains(['.', ',']) {
                tail.derived = Some(number.to_owned());
            }
        } else if !number.is_empty() && !event::is_vocabulary(word) && !token::looks_numeric(word) {
            tail.foreign = true;
        }
    }
}

/// Reads the parenthesis at the start of `text`; looks no farther than 48
/// characters.
fn group(text: &str) -> Group<'_> {
    let close = match text.as_bytes().first() {
        Some(b'(') => ')',
        Some(b'[') => ']',
        _ => return Group::Foreign,
    };
    let end = text
        .char_indices()
        .take(48)
        .find(|&(_, c)| c == close)
        .map(|(at, _)| at);
    let inner = text.get(1..end.unwrap_or(text.len())).unwrap_or_default();
    let noise = plus_minus(inner.trim());
    let Some(end) = end else {
        let short = text.len() <= 48;
        let begun = noise.unwrap_or(inner).trim();
        let part = begun.is_empty() || token::looks_numeric(begun.trim_end_matches(['%', ' ']));
        return if short && part {
            Group::Open
        } else {
            Group::Foreign
        };
    };
    if let Some(noise) = noise {
        let number = noise.trim().trim_end_matches('%').trim_end();
        return if token::looks_numeric(number) {
            Group::Noise(number, end + 1)
        } else {
            Group::Foreign
        };
    }
    match inner.trim().strip_suffix('%').map(str::trim) {
        Some(share) if token::plain_decimal(share).is_some() => Group::Share(share, end + 1),
        _ => Group::Foreign,
    }
}

/// What follows `+-`, `±` or `+/-`.
pub(super) fn plus_minus(text: &str) -> Option<&str> {
    text.strip_prefix("+-")
        .or_else(|| text.strip_prefix('\u{b1}'))
        .or_else(|| text.strip_prefix("+/-"))
}

/// Whether a line may go on with a tail that an earlier line began.
pub(super) fn may_continue(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(['(', '['])
        || plus_minus(text).is_some()
        || token::words(text).next().is_some_and(event::is_vocabulary)
}

/// Whether the line has nothing but words of derived figures.
pub(super) fn is_vocabulary_only(text: &str) -> bool {
    text.len() <= 120 && !text.trim().is_empty() && token::words(text).all(event::is_vocabulary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_are_read_in_any_combination() {
        let tail = parse("  #    0.015 CPUs utilized   ( +-  5.53% )  (83.31%)");
        assert_eq!(tail.derived.as_deref(), Some("0.015"));
        assert_eq!(tail.noise.as_deref(), Some("5.53"));
        assert_eq!(tail.share.as_deref(), Some("83.31"));
        assert!(tail.clean());
        assert_eq!(parse("( +-100,00% )").noise.as_deref(), Some("100,00"));
        assert_eq!(parse("[83.31%]").share.as_deref(), Some("83.31"));
        assert_eq!(parse("( \u{b1} 1.0 %)").noise.as_deref(), Some("1.0"));
        assert_eq!(parse("( +- -nan% )").noise.as_deref(), Some("-nan"));
    }

    #[test]
    fn remarks_are_not_taken_for_shares() {
        assert!(parse("(was 9,000)").remark);
        assert!(parse("<-- here").remark);
        assert!(!parse("# 12.3 % tma_retiring").clean());
        assert!(!parse("# 12.3 % tma_retiring").remark);
    }

    #[test]
    fn a_tail_that_breaks_off_is_open() {
        assert!(parse("# 0.015 CPUs utilized ( +-").open);
        assert!(parse("#").open);
        assert!(parse("( +-  1.24%").open);
        assert!(!parse("# 0.015 CPUs utilized").open);
    }
}
