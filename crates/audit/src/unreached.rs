//! Finds sentences which state that code is never reached or has no effect. Measured
//! differences then have another cause.

use std::sync::LazyLock;

use regex::bytes;

use crate::grammar::form::Form;
use crate::line::Line;

/// Longest line of prose.
const LONGEST: usize = 400;

static MAY_SAY: LazyLock<Option<bytes::Regex>> =
    LazyLock::new(|| bytes::Regex::new("(?i-u)never|effect|reached|executed").ok());
static SAYS: Form = Form::new(
    r"(?ix)
        \bwill\s+never\s+(?:happen|(?:be|get)\s+(?:called|reached|executed|taken|hit|run|used))\b
        | \bnever\s+(?:(?:gets?|be|been|being)\s+)?(?:called|reached|executed)\b
        | \b(?:is|are|was|were|get|gets)\s+not\s+(?:even\s+)?(?:reached|executed)\b
        | \b(?:has|have|had)\s+no\s+effect\s+(?:on|for|here|at\ all)\b
        | \b(?:does|do|did)(?:n['’]t|\s+not)\s+(?:[\w]+\s+){0,3}have\s+any\s+effect\b",
);

/// Whether a text may hold such a sentence, which has no digit.
pub(crate) fn may_say(text: impl AsRef<[u8]>) -> bool {
    MAY_SAY
        .as_ref()
        .is_none_or(|words| words.is_match(text.as_ref()))
}

/// Returns the statement in the sentence that begins on the first of these lines.
pub(crate) fn said(lines: &[Line<'_>]) -> Option<String> {
    let text = lines.first()?.text.trim();
    let code = text.starts_with(['+', '@', '/', '*']) || text.ends_with([';', '{']);
    if text.len() > LONGEST || code {
        return None;
    }
    let next = lines.get(1).map_or("", |line| line.text.trim());
    let next = next.get(..next.len().min(LONGEST)).unwrap_or_default();
    let joined = || format!("{text} {next}");
    if !may_say(text) && (next.is_empty() || !may_say(next)) {
        return None;
    }
    let joined = joined();
    let found = SAYS.find(&joined)?;
    (found.start() < text.len()).then(|| found.as_str().to_owned())
}
