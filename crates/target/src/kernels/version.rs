//! Compares versions of Debian packages.

use std::cmp::Ordering;

/// Compares two versions by the rules of Debian's policy (section 5.6.12): non-digit parts
/// in a modified ASCII order in which `~` sorts before the end, and numbers by value,
/// alternately; an epoch takes precedence.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let (epoch_a, a) = epoch(a);
    let (epoch_b, b) = epoch(b);
    let (upstream_a, revision_a) = a.rsplit_once('-').unwrap_or((a, ""));
    let (upstream_b, revision_b) = b.rsplit_once('-').unwrap_or((b, ""));
    number(epoch_a, epoch_b)
        .then_with(|| part(upstream_a.as_bytes(), upstream_b.as_bytes()))
        .then_with(|| part(revision_a.as_bytes(), revision_b.as_bytes()))
}

fn epoch(version: &str) -> (&[u8], &str) {
    match version.split_once(':') {
        Some((epoch, rest)) => (epoch.as_bytes(), rest),
        None => (b"", version),
    }
}

fn part(mut a: &[u8], mut b: &[u8]) -> Ordering {
    while !a.is_empty() || !b.is_empty() {
        let (text_a, rest_a) = split(a, false);
        let (text_b, rest_b) = split(b, false);
        let (number_a, rest_a) = split(rest_a, true);
        let (number_b, rest_b) = split(rest_b, true);
        let order = text(text_a, text_b).then_with(|| number(number_a, number_b));
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
    Ordering::Equal
}

fn split(bytes: &[u8], digits: bool) -> (&[u8], &[u8]) {
    let end = bytes
        .iter()
        .position(|byte| byte.is_ascii_digit() != digits)
        .unwrap_or(bytes.len());
    bytes.split_at(end)
}

fn text(a: &[u8], b: &[u8]) -> Ordering {
    let weight = |bytes: &[u8], at: usize| match bytes.get(at) {
        Some(b'~') => -1,
        None => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(*byte),
        Some(byte) => 256 + i32::from(*byte),
    };
    (0..a.len().max(b.len()))
        .map(|at| weight(a, at).cmp(&weight(b, at)))
        .find(|order| *order != Ordering::Equal)
        .unwrap_or(Ordering::Equal)
}

fn number(a: &[u8], b: &[u8]) -> Ordering {
    let strip = |digits: &[u8]| {
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        digits[zeros..].to_vec()
    };
    let (a, b) = (strip(a), strip(b));
    a.len().cmp(&b.len()).then_with(|| a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_debian_orders_them() {
        let ascending = [
            "1.0~rc1-1",
            "1.0-1",
            "1.0a-1",
            "1.0+b-1",
            "6.1.176-1",
            "6.1.192-2",
            "6.12.9-1",
            "6.12.100-1~deb12u1",
            "6.12.117-1~deb12u1",
            "6.12.117-1",
            "7.2.13-1",
            "1:7.2-7",
            "1:10.0.2+ds-2+deb13u1~bpo12+1",
            "1:10.0.2+ds-2+deb13u1",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                let expected = i.cmp(&j);
                assert_eq!(compare(a, b), expected, "{a} and {b}");
            }
        }
    }

    #[test]
    fn leading_zeros_do_not_count() {
        assert_eq!(compare("1.007-1", "1.7-1"), Ordering::Equal);
    }
}
