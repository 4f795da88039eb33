//! Generated parts of pages: the text between a marker comment and the next `<!-- end
//! -->`.

use crate::{Error, files, tree};

const END: &str = "<!-- end -->";

/// Returns the page with `made` as the text between the marker `<!-- BEGIN -->` and the next end
/// marker.
pub fn put(page: &str, begin: &str, made: &str) -> Result<String, Error> {
    let begin = format!("<!-- {begin} -->");
    let (before, rest) = page.split_once(&begin).ok_or(format!("no '{begin}'"))?;
    let (_, after) = rest
        .split_once(END)
        .ok_or(format!("no {END} after '{begin}'"))?;
    Ok(format!("{before}{begin}{made}{END}{after}"))
}

/// Replaces the text after a marker in a page of the repository; see [`put`].
pub fn write(page: &str, begin: &str, made: &str) -> Result<(), Error> {
    let path = tree::root()?.join(page);
    let text = put(&files::read(&path)?, begin, made);
    files::write(&path, text.map_err(|why| format!("{page}: {why}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_keeps_all_but_what_is_between_the_marks() {
        let page = "a\n<!-- made: x -->\nold\n<!-- end -->\nb\n<!-- made: y -->\n<!-- end -->\n";
        let made = put(page, "made: x", "\nnew\n").unwrap();
        assert_eq!(made, page.replace("old", "new"));
        let made = put(&made, "made: y", "\n1\n").unwrap();
        assert!(made.ends_with("-->\n1\n<!-- end -->\n"));
        assert!(put(page, "made: z", "").unwrap_err().contains("made: z"));
        assert!(put("<!-- made: z -->\n", "made: z", "").is_err());
    }
}
