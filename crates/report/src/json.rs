use assize_verdict::Document;

/// The document as indented JSON with a line feed at its end.
///
/// # Errors
/// If a number is not finite, which a document never holds.
pub fn json(document: &Document) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}
