//! The grammar of claims: `A < B on METRIC [in WORKLOAD]`.

use super::margin::{self, Margin, Sign, form};
use crate::document::RunEnd;
use crate::error::Error;
use crate::names::{NameError, NameKind, folded, resolve, similar};

/// The expected syntax, for messages.
const FORM: &str = "expected `A < B on METRIC [in WORKLOAD]` with <, > or =, or with a margin \
                    `A <= B + 2%`, `A >= B - 2%`, `A < B - 2%` or `A > B + 2%`";

/// The claimed relation of A to B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimedRelation {
    Less,
    Greater,
    Equal,
}

/// What the data must show to uphold a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimKind {
    /// `A < B` or `A > B`: they differ; with a margin, by more than the margin.
    Difference,
    /// `A <= B + 2%`: A does not exceed B by the margin or more.
    NotMore,
    /// `A >= B - 2%`: A does not fall short of B by the margin or more.
    NotLess,
    /// `A = B`: they are equivalent.
    Equal,
}

/// The names that a claim may use.
pub(crate) struct KnownNames {
    pub(crate) configurations: Vec<String>,
    pub(crate) workloads: Vec<String>,
    /// Metrics and events, followed by run endings such as crashes.
    pub(crate) metrics: Vec<String>,
    /// The endings at the end of `metrics`.
    outcomes: Vec<RunEnd>,
}

impl KnownNames {
    /// The names that `claim` may use. Run endings are included only if the claim spells one out,
    /// so that they do not make an abbreviated metric ambiguous.
    pub(crate) fn new(
        configurations: Vec<String>,
        workloads: Vec<String>,
        mut metrics: Vec<String>,
        claim: &str,
    ) -> Self {
        let claim = folded(claim);
        let spelt = |end: &RunEnd| *end != RunEnd::Slow && claim.contains(end.heading());
        let mut outcomes: Vec<RunEnd> = RunEnd::ALL.into_iter().filter(spelt).collect();
        outcomes.retain(|end| metrics.iter().all(|metric| metric != end.heading()));
        metrics.extend(outcomes.iter().map(|end| end.heading().to_owned()));
        KnownNames {
            configurations,
            workloads,
            metrics,
            outcomes,
        }
    }

    /// Whether the claim may be about how runs ended.
    pub(crate) fn has_outcomes(&self) -> bool {
        !self.outcomes.is_empty()
    }

    /// The run ending that a metric index refers to; `None` for other metrics.
    pub(crate) fn outcome(&self, metric: usize) -> Option<RunEnd> {
        let first = self.metrics.len() - self.outcomes.len();
        let at = metric.checked_sub(first)?;
        self.outcomes.get(at).copied()
    }
}

/// A parsed claim, with names as indices into [`KnownNames`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ParsedClaim {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) relation: ClaimedRelation,
    /// The ratio to test against: A / B is claimed to be below or above it, as `relation` says; 1
    /// without a margin.
    pub(crate) bound: f64,
    pub(crate) kind: ClaimKind,
    pub(crate) metric: usize,
    pub(crate) workload: Option<usize>,
}

impl ParsedClaim {
    /// The difference in shares of runs that is claimed, A minus B: 0.02 for `A > B + 2%`, 0
    /// without a margin.
    pub(crate) fn excess(&self) -> f64 {
        // Rounds away floating-point noise; margins have few decimals.
        ((self.bound - 1.0) * 1e12).round() / 1e12
    }
}

/// A piece of the claim, without quotes, and its byte offset.
#[derive(Debug, Clone, Copy)]
struct ClaimPiece<'t> {
    text: &'t str,
    at: usize,
}

/// One way to split a claim into names.
#[derive(Debug, Clone, Copy)]
struct ClaimSplit<'t> {
    a: ClaimPiece<'t>,
    sign: Sign,
    /// The byte offset of the comparison sign.
    at: usize,
    b: ClaimPiece<'t>,
    margin: Option<Margin<'t>>,
    metric: ClaimPiece<'t>,
    workload: Option<ClaimPiece<'t>>,
    /// Whether this split treats a margin, or half of a sign, as part of a name.
    daring: bool,
}

/// Parses a claim. Names may contain spaces, operators and the words `on` and `in`: of all ways to
/// split the text, the one with existing names is used.
pub(crate) fn read(text: &str, names: &KnownNames) -> Result<ParsedClaim, Error> {
    let splits = splits(text)?;
    let mut readings: Vec<(ParsedClaim, bool)> = Vec::new();
    let mut failures: Vec<SplitFailure> = Vec::new();
    let mut malformed: Option<Error> = None;
    for split in &splits {
        let names = match resolve_split(split, names) {
            Ok(names) => names,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        match names.reading(split) {
            Ok(reading) if readings.iter().any(|(known, _)| *known == reading) => {}
            Ok(reading) => readings.push((reading, names.exact)),
            Err(why) => malformed = malformed.or(Some(fault(text, why.at, &why.what))),
        }
    }
    let exact: Vec<ParsedClaim> = readings.iter().filter(|r| r.1).map(|r| r.0).collect();
    let all: Vec<ParsedClaim> = readings.iter().map(|r| r.0).collect();
    let reading = match (&exact[..], &all[..]) {
        ([one], _) | ([], [one]) => *one,
        (_, []) => return Err(malformed.unwrap_or_else(|| explain(text, failures))),
        _ => return Err(ambiguous(text, &all, names)),
    };
    if reading.a == reading.b {
        return Err(fault(text, 0, "both sides are the same configuration"));
    }
    Ok(reading)
}

/// Checks the syntax of a claim, not its names, and returns its kind. Whatever looks like a sign or
/// a margin is taken as one.
pub(crate) fn read_kind(text: &str) -> Result<ClaimKind, Error> {
    let mut malformed = None;
    for split in splits(text)? {
        if split.daring {
            continue;
        }
        match form(split.sign, split.at, split.margin) {
            Ok(meaning) => return Ok(meaning.kind),
            Err(why) => malformed = malformed.or(Some(fault(text, why.at, &why.what))),
        }
    }
    Err(malformed.unwrap_or_else(|| explain(text, Vec::new())))
}

fn splits(text: &str) -> Result<Vec<ClaimSplit<'_>>, Error> {
    let quoted = quoted(text);
    let signs: Vec<(usize, Sign)> = text
        .char_indices()
        .filter(|&(at, _)| !quoted[at])
        .flat_map(|(at, _)| Sign::starting(&text[at..]).map(move |sign| (at, sign)))
        .collect();
    let Some(&(first, _)) = signs.first() else {
        return Err(fault(text, text.len(), &format!("no <, > or =: {FORM}")));
    };
    let ons = words(text, &quoted, "on");
    let ins = words(text, &quoted, "in");
    let mut splits = Vec::new();
    for &sign in &signs {
        for &on in ons.iter().filter(|&&on| on > sign.0) {
            let ends = ins.iter().copied().filter(|&end| end > on).map(Some);
            for end in ends.chain([None]) {
                splits.extend(splits_at(text, &quoted, sign, on, end));
            }
        }
    }
    if splits.is_empty() {
        let missing = if ons.iter().any(|&on| on > first) {
            "a name is missing"
        } else {
            "no `on METRIC`"
        };
        return Err(fault(text, text.len(), &format!("{missing}: {FORM}")));
    }
    Ok(splits)
}

/// Splits at a sign, at an `on`, and maybe at an `in`, given by their byte offsets. If the
/// second name ends in what looks like a margin, returns one split with that margin and one
/// without.
fn splits_at<'t>(
    text: &'t str,
    quoted: &[bool],
    (at, sign): (usize, Sign),
    on: usize,
    end: Option<usize>,
) -> Vec<ClaimSplit<'t>> {
    let from = at + sign.text().len();
    let margin = text.get(from..on).and_then(margin::at_end);
    let margin = margin.map(|margin| margin.after(from));
    let margin = margin.filter(|margin| !quoted[margin.at]);
    let signs = ['<', '>', '='];
    let half_a_sign = text[from..].starts_with(signs) || text[..at].ends_with(signs);
    let cut = |margin: Option<Margin<'t>>| {
        Some(ClaimSplit {
            a: part(text, 0, at)?,
            sign,
            at,
            b: part(text, from, margin.map_or(on, |margin| margin.at))?,
            margin,
            metric: part(text, on + 2, end.unwrap_or(text.len()))?,
            workload: match end {
                Some(end) => Some(part(text, end + 2, text.len())?),
                None => None,
            },
            daring: half_a_sign,
        })
    };
    let with = margin.and_then(|margin| cut(Some(margin)));
    let without = cut(None).map(|split| ClaimSplit {
        daring: half_a_sign || with.is_some(),
        ..split
    });
    with.into_iter().chain(without).collect()
}

/// A piece without surrounding white space and quotes; `None` if it is empty.
fn part(text: &str, from: usize, to: usize) -> Option<ClaimPiece<'_>> {
    let piece = text.get(from..to)?;
    let at = from + (piece.len() - piece.trim_start().len());
    let mut piece = piece.trim();
    for quote in ['\'', '"'] {
        let inner = piece
            .strip_prefix(quote)
            .and_then(|p| p.strip_suffix(quote));
        piece = inner.unwrap_or(piece);
    }
    (!piece.trim().is_empty()).then_some(ClaimPiece { text: piece, at })
}

/// Which bytes are inside quotes. A quote opens at the start of a word and
/// closes at the end of one, so that apostrophes inside names do no harm.
fn quoted(text: &str) -> Vec<bool> {
    let mut inside = vec![false; text.len()];
    let edge = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || "<>=".contains(c));
    let mut from = 0;
    while let Some((open, quote)) = text[from..]
        .char_indices()
        .map(|(i, c)| (from + i, c))
        .find(|&(i, c)| matches!(c, '\'' | '"') && edge(text[..i].chars().next_back()))
    {
        let close = text[open + 1..]
            .match_indices(quote)
            .map(|(i, _)| open + 1 + i)
            .find(|&i| edge(text[i + 1..].chars().next()));
        from = open + 1;
        if let Some(close) = close {
            inside[open..=close].fill(true);
            from = close + 1;
        }
    }
    inside
}

/// The byte offsets of a word outside quotes, with white space around it.
fn words(text: &str, quoted: &[bool], word: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let bare = piece.trim_end();
        if bare.eq_ignore_ascii_case(word) && !quoted[at] && at > 0 {
            found.push(at);
        }
        at += piece.len();
    }
    found
}

/// How many names of a split were resolved before an unknown one.
struct SplitFailure {
    resolved: usize,
    at: usize,
    name: NameError,
}

/// The names of one split, as indices into [`KnownNames`].
struct ResolvedNames {
    a: usize,
    b: usize,
    metric: usize,
    workload: Option<usize>,
    /// Whether every name was given in full.
    exact: bool,
}

impl ResolvedNames {
    fn reading(&self, split: &ClaimSplit<'_>) -> Result<ParsedClaim, margin::MarginFault> {
        let form = form(split.sign, split.at, split.margin)?;
        Ok(ParsedClaim {
            a: self.a,
            b: self.b,
            relation: form.relation,
            bound: form.bound,
            kind: form.kind,
            metric: self.metric,
            workload: self.workload,
        })
    }
}

/// The run ending that a misspelt name probably means: `crashes` for `crash`.
fn meant_end(text: &str) -> Option<String> {
    let headings = RunEnd::ALL.map(RunEnd::heading);
    similar(text, &headings).map(|&heading| heading.to_owned())
}

fn resolve_split(
    split: &ClaimSplit<'_>,
    names: &KnownNames,
) -> Result<ResolvedNames, SplitFailure> {
    let configuration = (NameKind::Configuration, &names.configurations);
    let metric = (NameKind::Metric, &names.metrics);
    let workload = (NameKind::Workload, &names.workloads);
    let parts = [
        Some((split.a, configuration)),
        Some((split.b, configuration)),
        Some((split.metric, metric)),
        split.workload.map(|part| (part, workload)),
    ];
    let (mut indices, mut exact, mut resolved) = ([0; 4], true, 0);
    let mut failed: Option<(usize, NameError)> = None;
    for (slot, part) in parts.into_iter().enumerate() {
        let Some((part, (kind, list))) = part else {
            continue;
        };
        match resolve(kind, part.text, list) {
            Ok(index) => {
                resolved += 1;
                indices[slot] = index;
                exact &= folded(&list[index]) == folded(part.text);
            }
            Err(mut name) => {
                if kind == NameKind::Metric && !name.ambiguous && similar(part.text, list).is_none()
                {
                    name.nearest = meant_end(part.text).or(name.nearest);
                }
                failed = failed.or(Some((part.at, name)));
            }
        }
    }
    if let Some((at, name)) = failed {
        return Err(SplitFailure { resolved, at, name });
    }
    let [a, b, metric, workload] = indices;
    Ok(ResolvedNames {
        a,
        b,
        metric,
        workload: split.workload.map(|_| workload),
        exact,
    })
}

/// The most helpful error if the names of no split exist.
fn explain(text: &str, failures: Vec<SplitFailure>) -> Error {
    let quoted = quoted(text);
    for double in ["=<", "=>", "==", "!=", "<>"] {
        if let Some(at) = text.find(double).filter(|&at| !quoted[at]) {
            return fault(text, at, &format!("`{double}` is not known: {FORM}"));
        }
    }
    let best = failures.iter().map(|f| f.resolved).max();
    match failures.into_iter().find(|f| Some(f.resolved) == best) {
        Some(failure) => Error::ClaimName {
            text: text.to_owned(),
            position: position(text, failure.at),
            name: failure.name,
        },
        None => fault(text, 0, FORM),
    }
}

fn ambiguous(text: &str, readings: &[ParsedClaim], names: &KnownNames) -> Error {
    let shown = |reading: &ParsedClaim| {
        let (sign, margin) = margin::sign_and_margin(reading);
        let place = reading
            .workload
            .map(|w| format!(" in '{}'", names.workloads[w]))
            .unwrap_or_default();
        format!(
            "'{}' {sign} '{}'{margin} on '{}'{place}",
            names.configurations[reading.a],
            names.configurations[reading.b],
            names.metrics[reading.metric]
        )
    };
    Error::ClaimAmbiguous {
        text: text.to_owned(),
        readings: readings.iter().map(shown).collect(),
    }
}

fn fault(text: &str, at: usize, what: &str) -> Error {
    Error::Claim {
        text: text.to_owned(),
        position: position(text, at),
        fault: what.to_owned(),
    }
}

/// The position of a byte in characters, from 1.
fn position(text: &str, at: usize) -> usize {
    text.char_indices().take_while(|&(i, _)| i < at).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> KnownNames {
        let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        KnownNames {
            configurations: list(&[
                "DRM sched",
                "No opt",
                "IRQ",
                "IRQ plus bypass",
                "V6.6 + clflush on vram",
                "a=b, c<d",
                "Bob's",
            ]),
            workloads: list(&["glxgears", "cat in hat"]),
            metrics: list(&["power/energy-pkg/", "power/energy-cores/", "time in state"]),
            outcomes: Vec::new(),
        }
    }

    fn parse(text: &str) -> (usize, ClaimedRelation, usize, usize, Option<usize>) {
        let r = read(text, &names()).unwrap();
        (r.a, r.relation, r.b, r.metric, r.workload)
    }

    #[test]
    fn names_may_hold_spaces_words_and_operators() {
        use ClaimedRelation::{Equal, Greater, Less};
        assert_eq!(
            parse("no opt < drm sched on power/energy-pkg/ in glxgears"),
            (1, Less, 0, 0, Some(0))
        );
        assert_eq!(parse("IRQ>no on power/energy-c"), (2, Greater, 1, 1, None));
        assert_eq!(
            parse("v6.6 + clflush on vram = IRQ plus on time in state in cat in hat"),
            (4, Equal, 3, 2, Some(1))
        );
        assert_eq!(parse("irq < a=b, c<d ON time"), (2, Less, 5, 2, None));
        assert_eq!(parse("a=b, c<d < irq on time"), (5, Less, 2, 2, None));
        assert_eq!(
            parse("'a=b, c<d'<\"IRQ\" on 'time in state' in 'cat in hat'"),
            (5, Less, 2, 2, Some(1))
        );
        assert_eq!(parse("Bob's < irq on time"), (6, Less, 2, 2, None));
    }

    fn error(text: &str) -> String {
        read(text, &names()).unwrap_err().to_string()
    }

    #[test]
    fn a_margin_moves_the_ratio_that_is_tried() {
        use ClaimKind::{Difference, Equal, NotLess, NotMore};
        let of = |text: &str| {
            let r = read(text, &names()).unwrap();
            assert_eq!((r.a, r.b, r.metric), (2, 1, 2), "{text}");
            (r.kind, r.relation, r.bound)
        };
        let (less, greater) = (ClaimedRelation::Less, ClaimedRelation::Greater);
        for (text, expected) in [
            ("irq < no opt on time", (Difference, less, 1.0)),
            ("irq > no opt on time", (Difference, greater, 1.0)),
            ("irq = no opt on time", (Equal, ClaimedRelation::Equal, 1.0)),
            ("irq <= no opt + 2% on time", (NotMore, less, 1.02)),
            ("irq >= no opt - 2% on time", (NotLess, greater, 0.98)),
            ("irq < no opt - 5% on time", (Difference, less, 0.95)),
            ("irq > no opt + 5% on time", (Difference, greater, 1.05)),
            ("irq<='no opt'+0.5% on time", (NotMore, less, 1.005)),
            ("irq >= no opt -12.5 % on time", (NotLess, greater, 0.875)),
            ("irq>no opt+99.9% on time", (Difference, greater, 1.999)),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        let at = read("irq <= no opt + 2% on time in glx", &names()).unwrap();
        assert_eq!(at.workload, Some(0));
    }

    /// Names with signs, numbers and per cent, as in margins.
    fn odd_names() -> KnownNames {
        let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        KnownNames {
            configurations: list(&["a", "b", "b + 2%", "=b", "c - 5%", "drm-sched-2"]),
            workloads: list(&["w"]),
            metrics: list(&["t"]),
            outcomes: Vec::new(),
        }
    }

    #[test]
    fn names_that_look_like_margins_are_names() {
        let parse = |text: &str| {
            let r = read(text, &odd_names()).unwrap();
            (r.a, r.b, r.bound)
        };
        assert_eq!(parse("a < c - 5% on t"), (0, 4, 1.0));
        assert_eq!(parse("a < c - 5% - 5% on t"), (0, 4, 0.95));
        assert_eq!(parse("a < drm-sched-2 on t"), (0, 5, 1.0));
        assert_eq!(parse("a <= drm-sched-2+1% on t"), (0, 5, 1.01));
        // `<` takes no margin above B, so this is a name.
        assert_eq!(parse("a < b + 2% on t"), (0, 2, 1.0));
        assert_eq!(parse("a <= 'b + 2%' + 2% on t"), (0, 2, 1.02));
        assert_eq!(parse("a <= 'b' + 2% on t"), (0, 1, 1.02));
        assert_eq!(parse("a > 'b + 2%' on t"), (0, 2, 1.0));
        // `<=` needs a margin, so this is a name.
        assert_eq!(parse("a <=b on t"), (0, 3, 1.0));
        assert_eq!(parse("a <=b + 2% on t"), (0, 1, 1.02));
        // `b` with a margin, or `b + 2%`.
        let error = read("a > b + 2% on t", &odd_names())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("'a' > 'b' + 2% on 't'; 'a' > 'b + 2%' on 't'"),
            "{error}"
        );
    }

    #[test]
    fn each_wrong_margin_has_one_error_with_its_mend() {
        for (text, expected) in [
            (
                "irq <= no opt on time",
                "character 5: `<=` needs a margin: write `A <= B + 2%`, or `A < B`",
            ),
            (
                "irq >= no opt on time",
                "character 5: `>=` needs a margin: write `A >= B - 2%`, or `A > B`",
            ),
            (
                "irq < no opt + 2% on time",
                "character 14: `<` needs a margin below B: write `A < B - 2%`, or \
                 `A <= B + 2%` if A may be more by that",
            ),
            (
                "irq > no opt - 2.5% on time",
                "character 14: `>` needs a margin above B: write `A > B + 2.5%`, or \
                 `A >= B - 2.5%` if A may be less by that",
            ),
            (
                "irq <= no opt - 2% on time",
                "character 15: `<=` needs a margin above B: write `A <= B + 2%`, or \
                 `A < B - 2%` if A must be less by that",
            ),
            (
                "irq >= no opt + 2% on time",
                "character 15: `>=` needs a margin below B: write `A >= B - 2%`, or \
                 `A > B + 2%` if A must be more by that",
            ),
            (
                "irq = no opt + 2% on time",
                "character 14: `=` has no margin here: write `A = B`; `--margin`, or \
                 `margin` in the experiment, says how far apart equals may be",
            ),
            (
                "irq <= no opt + 0% on time",
                "character 15: the margin 0 % must be above 0 % and below 100 %",
            ),
            (
                "irq < no opt - 100% on time",
                "character 14: the margin 100 % must be above 0 % and below 100 %",
            ),
            (
                "irq <= no opt + 2 on time",
                "character 15: a margin is a percentage of B: write `+ 2%`",
            ),
            (
                "irq <= no opt + 2,5% on time",
                "character 15: the margin `2,5` is not a decimal number: write it as in `+ 2.5%`",
            ),
        ] {
            let error = error(text);
            assert!(
                error.ends_with(&format!("\": {expected}")),
                "{text}: {error}"
            );
            let form = read_kind(text).unwrap_err().to_string();
            assert_eq!(form, error, "{text}");
        }
        let unknown = error("irq <= nope + 2% on time");
        assert!(
            unknown.contains("character 8: no configuration \"nope\""),
            "{unknown}"
        );
    }

    #[test]
    fn forms_are_checked_without_names() {
        for text in [
            "a < b on t",
            "a=b, c<d < irq on t in w",
            "a <= b + 2% on t",
            "a >= 'b <= c' - 0.1% on t",
            "a < queue-2 on t",
            "a < 'b + 2%' on t",
        ] {
            assert!(read_kind(text).is_ok(), "{text}");
        }
        assert!(read_kind("a <> b on t").is_err());
    }

    #[test]
    fn errors_name_the_character_and_the_form() {
        assert_eq!(
            error("no opt drm sched"),
            "claim \"no opt drm sched\": character 17: no <, > or =: expected \
             `A < B on METRIC [in WORKLOAD]` with <, > or =, or with a margin \
             `A <= B + 2%`, `A >= B - 2%`, `A < B - 2%` or `A > B + 2%`"
        );
        assert!(error("irq < no").contains("character 9: no `on METRIC`"));
        assert!(error("irq < on time").contains("a name is missing"));
        assert!(error("irq == no on time").contains("character 5: `==` is not known"));
        assert!(error("irq => no on time").contains("character 5: `=>` is not known"));
        assert!(error("irq < irq on time").contains("same configuration"));
        let unknown = error("ïrq plus < nope on time");
        assert!(unknown.contains("character 1: no configuration \"ïrq plus\""));
        assert!(error("irq < no on tine").contains("did you mean \"time in state\"?"));
        assert!(error("irq < no on crash").contains("did you mean \"crashes\"?"));
        assert!(error("irq < no on hang").contains("did you mean \"hangs\"?"));
        assert!(error("irq < no on power").contains("fits more than one metric"));
    }

    #[test]
    fn odd_text_never_panics() {
        for text in [
            "",
            "<",
            "'",
            "\"<",
            "< on ",
            "é<é on é in",
            "' ' < ' on '",
            "a<b on c in",
            "a<=b+% on c",
            "a <= + 2% on c",
            "a < é - é% on c",
            "a<=-1% on c",
            "a <= b + 1e400% on c",
        ] {
            assert!(read(text, &names()).is_err(), "{text}");
        }
    }

    #[test]
    fn two_readings_are_refused_unless_one_is_exact() {
        let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let names = KnownNames {
            configurations: list(&["a", "b", "b on t"]),
            workloads: list(&["w"]),
            metrics: list(&["t", "t on u"]),
            outcomes: Vec::new(),
        };
        // "b" on "t on u", or "b on t" on ... "u", which does not exist.
        assert_eq!(read("a < b on t on u", &names).unwrap().metric, 1);
        let names = KnownNames {
            configurations: list(&["a", "b", "b on t x"]),
            workloads: list(&["w"]),
            metrics: list(&["t on u x", "u"]),
            outcomes: Vec::new(),
        };
        assert!(matches!(
            read("a < b on t on u", &names),
            Err(Error::ClaimAmbiguous { .. })
        ));
    }
}
