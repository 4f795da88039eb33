use assize_verdict::Document;

/// Returns the document as indented JSON with a final newline.
///
/// # Errors
/// If a number is not finite, which does not occur in a document.
pub fn json(document: &Document) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}

/// The word for a value in JSON, as for a variant of an enum; empty otherwise.
#[must_use]
pub fn word(value: impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
