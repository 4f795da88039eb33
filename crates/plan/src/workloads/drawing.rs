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
            "Operations: the client sends all requests of one, then waits for the server. In the background, without end.",
        ),
        key(
            "rectangles",
            Whole(0, 1000).or("10"),
            "Rectangles that an operation fills, by one request.",
        ),
        key(
            "texts",
            Whole(0, 1000).or("4"),
            "Lines of text of an operation.",
        ),
        key(
            "characters",
            Whole(1, 255).or("20"),
            "Characters of a line.",
        ),
        key(
            "copies",
            Whole(0, 1000).or("1"),
            "Areas that an operation copies on the screen.",
        ),
        key("images", Whole(0, 1000).or("1"), "Images of an operation."),
        key(
            "image_side",
            Whole(1, 255).or("32"),
            "Pixels of each side of an image; a pixel has 4 bytes.",
        ),
        key(
            "images_by",
            Word(&["socket", "shared-memory"]).or("socket"),
            "How pixels get to the server: in the request, or in shared memory.",
        ),
        key(
            "width",
            Whole(1, 16384).or("640"),
            "Pixels of a line of the screen.",
        ),
        key("height", Whole(1, 16384).or("480"), "Lines of the screen."),
        key(
            "buffer",
            Whole(64, 1 << 20).or("16384"),
            "Bytes that the client gathers before it sends; larger requests are sent by themselves.",
        ),
        SCHEDULING,
    ],
};

/// The first of the parameters that contradict each other: its key, what is wrong
/// with it, and how to fix it.
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
