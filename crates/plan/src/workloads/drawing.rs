//! The parameters of the `drawing` workload, and checks of how they combine.

use assize_job::{Drawing, ImagesBy};

use super::scheduling::SCHEDULING;
use crate::values::keys::{KeySection, Whole, Word, key};

pub(crate) static KEYS: KeySection = KeySection {
    name: "drawing",
    keys: &[
        key(
            "operations",
            Whole(1, 1_000_000).or("200"),
            "Number of operations.",
        ),
        key(
            "rectangles",
            Whole(0, 1000).or("10"),
            "Rectangles filled per operation, by one request.",
        ),
        key(
            "texts",
            Whole(0, 1000).or("4"),
            "Lines of text per operation.",
        ),
        key("characters", Whole(1, 255).or("20"), "Characters per line."),
        key(
            "copies",
            Whole(0, 1000).or("1"),
            "Screen areas copied per operation.",
        ),
        key("images", Whole(0, 1000).or("1"), "Images per operation."),
        key(
            "image_side",
            Whole(1, 255).or("32"),
            "Width and height of an image in pixels of 4 bytes.",
        ),
        key(
            "images_by",
            Word(&["socket", "shared-memory"]).or("socket"),
            "How pixels reach the server: in the request, or in shared memory.",
        ),
        key(
            "width",
            Whole(1, 16384).or("640"),
            "Screen width in pixels.",
        ),
        key(
            "height",
            Whole(1, 16384).or("480"),
            "Screen height in pixels.",
        ),
        key(
            "buffer",
            Whole(64, 1 << 20).or("16384"),
            "Bytes that the client collects before it sends; larger requests are sent by themselves.",
        ),
        SCHEDULING,
    ],
};

/// The first contradiction between parameters: key, reason and correction.
pub(crate) fn mistake(drawing: &Drawing) -> Option<(&'static str, &'static str, &'static str)> {
    if drawing.images == 0 && drawing.images_by != ImagesBy::Socket {
        let why = "there is no image";
        return Some(("images_by", why, "set images to 1 or more, or remove it"));
    }
    if drawing.images > 0 && drawing.image_side > drawing.width.min(drawing.height) {
        let why = "an image is larger than the screen";
        return Some((
            "image_side",
            why,
            "make it smaller, or width and height larger",
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_that_are_not_there_or_too_large_are_mistakes() {
        let wrong = |drawing: &Drawing| mistake(drawing).map(|(key, ..)| key);
        let mut drawing = Drawing::default();
        assert_eq!(wrong(&drawing), None);
        drawing.images_by = ImagesBy::SharedMemory;
        assert_eq!(wrong(&drawing), None);
        drawing.width = 31;
        assert_eq!(wrong(&drawing), Some("image_side"));
        drawing.images = 0;
        assert_eq!(wrong(&drawing), Some("images_by"));
        drawing.images_by = ImagesBy::Socket;
        assert_eq!(wrong(&drawing), None);
    }
}
