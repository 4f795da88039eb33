//! A screen, and what can be drawn on it.

/// Width and height of a character, in pixels.
const GLYPH: (usize, usize) = (8, 13);
/// Background colour of the screen and of text.
const PAPER: u32 = 0x00ff_ffff;
/// Size of a pixel in bytes.
pub(super) const PIXEL: usize = 4;

/// A position and a size, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rectangle {
    pub(super) x: u16,
    pub(super) y: u16,
    pub(super) width: u16,
    pub(super) height: u16,
}

/// A screen of 32-bit pixels, and the colour to draw in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Screen {
    width: usize,
    height: usize,
    pixels: Vec<u32>,
    pub(super) colour: u32,
}

impl Screen {
    pub(super) fn new(width: u32, height: u32) -> Screen {
        let (width, height) = (width as usize, height as usize);
        // Filled, so that the pages are present.
        Screen {
            width,
            height,
            pixels: vec![PAPER; width * height],
            colour: 0,
        }
    }

    /// Up to `width` pixels of a line from `x` on, cut at the edge of the screen.
    fn line(&mut self, x: usize, y: usize, width: usize) -> &mut [u32] {
        if y >= self.height || x >= self.width {
            return &mut [];
        }
        let begin = y * self.width + x;
        let width = width.min(self.width - x);
        self.pixels
            .get_mut(begin..begin + width)
            .unwrap_or_default()
    }

    /// Fills a rectangle.
    pub(super) fn fill(&mut self, place: Rectangle) {
        let colour = self.colour;
        for row in 0..usize::from(place.height) {
            let (x, y) = (usize::from(place.x), usize::from(place.y) + row);
            self.line(x, y, place.width.into()).fill(colour);
        }
    }

    /// Writes a line of text with its upper left corner at (`x`, `y`).
    pub(super) fn text(&mut self, x: u16, y: u16, text: &[u8]) {
        let colour = self.colour;
        for row in 0..GLYPH.1 {
            for (at, character) in text.iter().enumerate() {
                let x = usize::from(x) + at * GLYPH.0;
                let bits = glyph(*character, row);
                let line = self.line(x, usize::from(y) + row, GLYPH.0);
                for (column, pixel) in line.iter_mut().enumerate() {
                    let is_ink = bits & (0x80 >> column) != 0;
                    *pixel = if is_ink { colour } else { PAPER };
                }
            }
        }
    }

    /// Copies a rectangle of the screen to (`x`, `y`), cut at the edge of the screen.
    pub(super) fn copy(&mut self, from: Rectangle, x: u16, y: u16) {
        let (to_x, to_y) = (usize::from(x), usize::from(y));
        let (from_x, from_y) = (usize::from(from.x), usize::from(from.y));
        let room = |size: usize, a: usize, b: usize| size.saturating_sub(a.max(b));
        let width = usize::from(from.width).min(room(self.width, from_x, to_x));
        let height = usize::from(from.height).min(room(self.height, from_y, to_y));
        if width == 0 {
            return;
        }
        let mut one = |row: usize| {
            let begin = (from_y + row) * self.width + from_x;
            let to = (to_y + row) * self.width + to_x;
            self.pixels.copy_within(begin..begin + width, to);
        };
        // Do not overwrite lines that are still to be copied.
        if to_y > from_y {
            (0..height).rev().for_each(&mut one);
        } else {
            (0..height).for_each(&mut one);
        }
    }

    /// Draws an image, given as its pixels line by line.
    pub(super) fn draw_image(&mut self, place: Rectangle, bytes: &[u8]) {
        let width = usize::from(place.width);
        for (row, line) in bytes.chunks(width.max(1) * PIXEL).enumerate() {
            let to = self.line(place.x.into(), usize::from(place.y) + row, width);
            for (pixel, bytes) in to.iter_mut().zip(line.chunks_exact(PIXEL)) {
                *pixel = u32::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
        }
    }

    /// The number of pixels that differ from those of a screen of the same size.
    pub(super) fn differing(&self, other: &Screen) -> usize {
        let both = self.pixels.iter().zip(&other.pixels);
        both.filter(|(one, other)| one != other).count()
    }
}

/// A row of eight pixels of a character. Each character has a different pattern.
fn glyph(character: u8, row: usize) -> u8 {
    let mixed = (u32::from(character) * 13 + row as u32).wrapping_mul(0x9e37_79b1);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
    mixed.to_be_bytes()[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rectangle(x: u16, y: u16, width: u16, height: u16) -> Rectangle {
        Rectangle {
            x,
            y,
            width,
            height,
        }
    }

    /// A screen whose pixels are all different.
    fn numbered(width: u32, height: u32) -> Screen {
        let mut screen = Screen::new(width, height);
        (0..)
            .zip(&mut screen.pixels)
            .for_each(|(at, pixel)| *pixel = at);
        screen
    }

    fn inside(place: Rectangle, x: usize, y: usize) -> bool {
        let (left, top) = (usize::from(place.x), usize::from(place.y));
        (left..left + usize::from(place.width)).contains(&x)
            && (top..top + usize::from(place.height)).contains(&y)
    }

    proptest! {
        #[test]
        fn what_is_drawn_is_what_each_pixel_by_itself_would_be(
            (x, y, width, height) in (0..30_u16, 0..20_u16, 0..30_u16, 0..20_u16),
            (to_x, to_y) in (0..30_u16, 0..20_u16),
        ) {
            let before = numbered(23, 17);
            let at = |screen: &Screen, x: usize, y: usize| screen.pixels[y * 23 + x];
            let place = rectangle(x, y, width, height);
            let mut filled = before.clone();
            filled.colour = 7000;
            filled.fill(place);
            let mut copied = before.clone();
            copied.copy(place, to_x, to_y);
            let image: Vec<u8> = (0..u32::from(width) * u32::from(height))
                .flat_map(|pixel| (9000 + pixel).to_le_bytes())
                .collect();
            let mut put = before.clone();
            put.draw_image(place, &image);
            for (row, column) in (0..17).flat_map(|row| (0..23).map(move |column| (row, column))) {
                let old = at(&before, column, row);
                let is_in = inside(place, column, row);
                prop_assert_eq!(at(&filled, column, row), if is_in { 7000 } else { old });
                let (down, right) = (row.wrapping_sub(y.into()), column.wrapping_sub(x.into()));
                let pixel = 9000_u32.wrapping_add(
                    down.wrapping_mul(width.into()).wrapping_add(right) as u32,
                );
                prop_assert_eq!(at(&put, column, row), if is_in { pixel } else { old });
                let (from_x, from_y) = (
                    (column + usize::from(x)).wrapping_sub(to_x.into()),
                    (row + usize::from(y)).wrapping_sub(to_y.into()),
                );
                let is_copied = inside(rectangle(to_x, to_y, width, height), column, row)
                    && from_x < 23
                    && from_y < 17;
                let wanted = if is_copied { at(&before, from_x, from_y) } else { old };
                prop_assert_eq!(at(&copied, column, row), wanted);
            }
        }
    }

    #[test]
    fn texts_are_of_their_characters_and_end_with_the_screen() {
        let mut screen = Screen::new(20, 14);
        screen.colour = 5;
        screen.text(2, 1, b"aba");
        let column = |x: usize| (0..14).map(move |y| (x, y));
        let column = |x: usize| {
            column(x)
                .map(|(x, y)| screen.pixels[y * 20 + x])
                .collect::<Vec<_>>()
        };
        assert!(column(0).iter().all(|pixel| *pixel == PAPER));
        // The third character equals the first; there is room for 2 of its
        // columns.
        assert_eq!((column(2), column(3)), (column(18), column(19)));
        let ink = screen.pixels.iter().filter(|pixel| **pixel == 5).count();
        assert!((1..18 * 13).contains(&ink));
        let mut other = Screen::new(20, 14);
        other.colour = 5;
        other.text(2, 1, b"abb");
        assert!((1..=2 * 13).contains(&screen.differing(&other)));
        screen.text(25, 3, b"x");
        screen.text(3, 25, b"x");
    }
}
