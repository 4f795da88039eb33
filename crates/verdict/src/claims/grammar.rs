//! The form of a claim: `A < B on METRIC [in WORKLOAD]`.

use crate::error::Error;
use crate::names::{Kind, NameError, folded, resolve};

/// The form expected, for messages.
const FORM: &str = "expected `A < B on METRIC [in WORKLOAD]` with <, > or =";

/// How A is claimed to stand to B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Less,
    Greater,
    Equal,
}

/// The names that a claim may use.
pub(crate) struct Names {
    pub(crate) configurations: Vec<String>,
    pub(crate) workloads: Vec<String>,
    /// Metrics and events.
    pub(crate) metrics: Vec<String>,
}

/// A claim whose names are known, as indices into [`Names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) relation: Relation,
    pub(crate) metric: usize,
    pub(crate) workload: Option<usize>,
}

/// A piece of the claim, without quotes, and its first byte.
#[derive(Debug, Clone, Copy)]
struct Part<'t> {
    text: &'t str,
    at: usize,
}

/// One way to cut a claim into names.
#[derive(Debug, Clone, Copy)]
struct Split<'t> {
    a: Part<'t>,
    relation: Relation,
    b: Part<'t>,
    metric: Part<'t>,
    workload: Option<Part<'t>>,
}

/// Reads a claim. Names may hold spaces, operators and the words `on` and
/// `in`: of all ways to cut the text, the one whose names exist counts.
pub(crate) fn read(text: &str, names: &Names) -> Result<Reading, Error> {
    let splits = splits(text)?;
    let mut readings: Vec<(Reading, bool)> = Vec::new();
    let mut failures: Vec<Failure> = Vec::new();
    for split in &splits {
        match resolve_split(split, names) {
            Ok(found) if !readings.contains(&found) => readings.push(found),
            Ok(_) => {}
            Err(failure) => failures.push(failure),
        }
    }
    let exact: Vec<Reading> = readings.iter().filter(|r| r.1).map(|r| r.0).collect();
    let all: Vec<Reading> = readings.iter().map(|r| r.0).collect();
    let reading = match (&exact[..], &all[..]) {
        ([one], _) | ([], [one]) => *one,
        (_, []) => return Err(explain(text, failures)),
        _ => return Err(ambiguous(text, &all, names)),
    };
    if reading.a == reading.b {
        return Err(fault(text, 0, "both sides are the same configuration"));
    }
    Ok(reading)
}

/// Whether the text has the form of a claim, whatever its names.
pub(crate) fn check_form(text: &str) -> Result<(), Error> {
    splits(text).map(|_| ())
}

fn splits(text: &str) -> Result<Vec<Split<'_>>, Error> {
    let quoted = quoted(text);
    let operators: Vec<(usize, Relation)> = text
        .char_indices()
        .filter(|&(at, _)| !quoted[at])
        .filter_map(|(at, c)| Some((at, relation(c)?)))
        .collect();
    let Some(&(first, _)) = operators.first() else {
        return Err(fault(text, text.len(), &format!("no <, > or =: {FORM}")));
    };
    let ons = words(text, &quoted, "on");
    let ins = words(text, &quoted, "in");
    let mut splits = Vec::new();
    for &(operator, relation) in &operators {
        for &on in ons.iter().filter(|&&on| on > operator) {
            let ends = ins.iter().copied().filter(|&end| end > on).map(Some);
            for end in ends.chain([None]) {
                splits.extend(split(text, (operator, relation), on, end));
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

fn relation(c: char) -> Option<Relation> {
    match c {
        '<' => Some(Relation::Less),
        '>' => Some(Relation::Greater),
        '=' => Some(Relation::Equal),
        _ => None,
    }
}

/// Cuts at an operator, the byte of an `on` and perhaps that of an `in`.
fn split(
    text: &str,
    operator: (usize, Relation),
    on: usize,
    end: Option<usize>,
) -> Option<Split<'_>> {
    let metric_end = end.unwrap_or(text.len());
    Some(Split {
        a: part(text, 0, operator.0)?,
        relation: operator.1,
        b: part(text, operator.0 + 1, on)?,
        metric: part(text, on + 2, metric_end)?,
        workload: match end {
            Some(end) => Some(part(text, end + 2, text.len())?),
            None => None,
        },
    })
}

/// A piece without surrounding white space and quotes; none if it is empty.
fn part(text: &str, from: usize, to: usize) -> Option<Part<'_>> {
    let piece = text.get(from..to)?;
    let at = from + (piece.len() - piece.trim_start().len());
    let mut piece = piece.trim();
    for quote in ['\'', '"'] {
        let inner = piece
            .strip_prefix(quote)
            .and_then(|p| p.strip_suffix(quote));
        piece = inner.unwrap_or(piece);
    }
    (!piece.trim().is_empty()).then_some(Part { text: piece, at })
}

/// Which bytes lie inside quotes. A quote opens at the start of a word and
/// closes at the end of one, so that apostrophes inside names do no harm.
fn quoted(text: &str) -> Vec<bool> {
    let mut inside = vec![false; text.len()];
    let edge = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || relation(c).is_some());
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

/// The bytes at which a word begins, outside quotes, with white space around.
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

/// How far a way to cut the claim came before a name was not known.
struct Failure {
    resolved: usize,
    at: usize,
    name: NameError,
}

fn resolve_split(split: &Split<'_>, names: &Names) -> Result<(Reading, bool), Failure> {
    let configuration = (Kind::Configuration, &names.configurations);
    let metric = (Kind::Metric, &names.metrics);
    let workload = (Kind::Workload, &names.workloads);
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
            Err(name) => failed = failed.or(Some((part.at, name))),
        }
    }
    if let Some((at, name)) = failed {
        return Err(Failure { resolved, at, name });
    }
    let [a, b, metric, workload] = indices;
    let reading = Reading {
        a,
        b,
        relation: split.relation,
        metric,
        workload: split.workload.map(|_| workload),
    };
    Ok((reading, exact))
}

/// The most helpful error where no way to cut the claim fits.
fn explain(text: &str, failures: Vec<Failure>) -> Error {
    let quoted = quoted(text);
    for double in ["<=", ">=", "==", "!=", "<>"] {
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

fn ambiguous(text: &str, readings: &[Reading], names: &Names) -> Error {
    let shown = |reading: &Reading| {
        let sign = match reading.relation {
            Relation::Less => '<',
            Relation::Greater => '>',
            Relation::Equal => '=',
        };
        let place = reading
            .workload
            .map(|w| format!(" in '{}'", names.workloads[w]))
            .unwrap_or_default();
        format!(
            "'{}' {sign} '{}' on '{}'{place}",
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

/// The character at a byte, counted from 1.
fn position(text: &str, at: usize) -> usize {
    text.char_indices().take_while(|&(i, _)| i < at).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        Names {
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
        }
    }

    fn parse(text: &str) -> (usize, Relation, usize, usize, Option<usize>) {
        let r = read(text, &names()).unwrap();
        (r.a, r.relation, r.b, r.metric, r.workload)
    }

    #[test]
    fn names_may_hold_spaces_words_and_operators() {
        use Relation::{Equal, Greater, Less};
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
    fn errors_name_the_character_and_the_form() {
        assert_eq!(
            error("no opt drm sched"),
            "claim \"no opt drm sched\": character 17: no <, > or =: expected \
             `A < B on METRIC [in WORKLOAD]` with <, > or ="
        );
        assert!(error("irq < no").contains("character 9: no `on METRIC`"));
        assert!(error("irq < on time").contains("a name is missing"));
        assert!(error("irq <= no on time").contains("character 5: `<=` is not known"));
        assert!(error("irq < irq on time").contains("same configuration"));
        let unknown = error("ïrq plus < nope on time");
        assert!(unknown.contains("character 1: no configuration \"ïrq plus\""));
        assert!(error("irq < no on tine").contains("did you mean \"time in state\"?"));
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
        ] {
            assert!(read(text, &names()).is_err(), "{text}");
        }
    }

    #[test]
    fn two_readings_are_refused_unless_one_is_exact() {
        let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let names = Names {
            configurations: list(&["a", "b", "b on t"]),
            workloads: list(&["w"]),
            metrics: list(&["t", "t on u"]),
        };
        // "b" on "t on u", or "b on t" on ... "u", which does not exist.
        assert_eq!(read("a < b on t on u", &names).unwrap().metric, 1);
        let names = Names {
            configurations: list(&["a", "b", "b on t x"]),
            workloads: list(&["w"]),
            metrics: list(&["t on u x", "u"]),
        };
        assert!(matches!(
            read("a < b on t on u", &names),
            Err(Error::ClaimAmbiguous { .. })
        ));
    }
}
