//! The requests, in the format of the X protocol, version 11. Only those needed for
//! drawing.

use std::io::{self, Write};

use super::screen::{PIXEL, Rectangle};

/// Size of a request's header: its code, a byte that depends on the code, and its length
/// in words of 4 bytes.
pub(super) const HEADER: usize = 4;
/// Size of an answer.
pub(super) const ANSWER: usize = 32;

const CHANGE_GC: u8 = 56;
const COPY_AREA: u8 = 62;
const POLY_FILL_RECTANGLE: u8 = 70;
const PUT_IMAGE: u8 = 72;
const IMAGE_TEXT_8: u8 = 76;
const GET_INPUT_FOCUS: u8 = 43;
/// Code of the shared-memory extension (codes of extensions begin at 128), and of its
/// request.
const SHM: u8 = 130;
const SHM_PUT_IMAGE: u8 = 3;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Request<'a> {
    /// Sets the colour to draw in.
    Colour(u32),
    /// Copies a rectangle of the screen to this place.
    Copy(Rectangle, u16, u16),
    /// Fills rectangles.
    Fill(Vec<Rectangle>),
    /// Draws an image with these pixels.
    Put(Rectangle, &'a [u8]),
    /// Draws an image whose pixels begin at this offset in shared memory.
    PutShared(Rectangle, u32),
    /// Asks for an answer once all earlier requests are done.
    Sync,
    /// Writes a text at this place.
    Text(u16, u16, &'a [u8]),
}

/// The error for a request that is too short.
const SHORT: &str = "a request is shorter than its code says";

impl Request<'_> {
    /// Writes the request. Returns its length in bytes.
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<u64> {
        let mut fields = Vec::with_capacity(64);
        let mut tail: &[u8] = &[];
        let (code, own) = match self {
            Request::Colour(colour) => {
                // The graphics context, the mask for the foreground, and its
                // value.
                words(&mut fields, &[1, 1 << 2, *colour]);
                (CHANGE_GC, 0)
            }
            Request::Copy(from, x, y) => {
                words(&mut fields, &[1, 1, 1]);
                halves(
                    &mut fields,
                    &[from.x, from.y, *x, *y, from.width, from.height],
                );
                (COPY_AREA, 0)
            }
            Request::Fill(places) => {
                words(&mut fields, &[1, 1]);
                places.iter().for_each(|one| rectangle(&mut fields, *one));
                (POLY_FILL_RECTANGLE, 0)
            }
            Request::Put(place, pixels) => {
                words(&mut fields, &[1, 1]);
                halves(&mut fields, &[place.width, place.height, place.x, place.y]);
                words(&mut fields, &[24 << 8]);
                tail = pixels;
                (PUT_IMAGE, 2)
            }
            Request::PutShared(place, offset) => {
                words(&mut fields, &[1, 1]);
                let (width, height) = (place.width, place.height);
                halves(
                    &mut fields,
                    &[width, height, 0, 0, width, height, place.x, place.y],
                );
                words(&mut fields, &[24 << 8, 1, *offset]);
                (SHM, SHM_PUT_IMAGE)
            }
            Request::Sync => (GET_INPUT_FOCUS, 0),
            Request::Text(x, y, text) => {
                words(&mut fields, &[1, 1]);
                halves(&mut fields, &[*x, *y]);
                fields.extend(*text);
                fields.resize(fields.len().next_multiple_of(HEADER), 0);
                (IMAGE_TEXT_8, text.len().min(255) as u8)
            }
        };
        let bytes = HEADER + fields.len() + tail.len();
        let length = u16::try_from(bytes / 4).map_err(|_| io::ErrorKind::InvalidInput)?;
        let [low, high] = length.to_le_bytes();
        to.write_all(&[code, own, low, high])?;
        to.write_all(&fields)?;
        to.write_all(tail)?;
        Ok(bytes as u64)
    }
}

fn words(fields: &mut Vec<u8>, values: &[u32]) {
    values
        .iter()
        .for_each(|value| fields.extend(value.to_le_bytes()));
}

fn halves(fields: &mut Vec<u8>, values: &[u16]) {
    values
        .iter()
        .for_each(|value| fields.extend(value.to_le_bytes()));
}

fn rectangle(fields: &mut Vec<u8>, place: Rectangle) {
    halves(fields, &[place.x, place.y, place.width, place.height]);
}

/// The length in bytes of the request at the beginning; `None` if its header is
/// incomplete.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let header: [u8; HEADER] = bytes.get(..HEADER)?.try_into().ok()?;
    Some(usize::from(u16::from_le_bytes([header[2], header[3]])) * 4)
}

/// Parses a request that consists of exactly these bytes.
pub(super) fn read(bytes: &[u8]) -> Result<Request<'_>, String> {
    let half = |at: usize| -> Result<u16, String> {
        let bytes = bytes.get(at..at + 2).and_then(|two| two.try_into().ok());
        bytes.map(u16::from_le_bytes).ok_or_else(|| SHORT.into())
    };
    let word = |at: usize| -> Result<u32, String> {
        Ok(u32::from(half(at)?) | u32::from(half(at + 2)?) << 16)
    };
    let sized = |size: usize, place: usize| -> Result<Rectangle, String> {
        Ok(Rectangle {
            x: half(place)?,
            y: half(place + 2)?,
            width: half(size)?,
            height: half(size + 2)?,
        })
    };
    let rest = |at: usize, length: usize| bytes.get(at..at + length).ok_or(SHORT);
    rest(0, HEADER)?;
    match (bytes.first(), bytes.get(1)) {
        (Some(&CHANGE_GC), _) => Ok(Request::Colour(word(12)?)),
        (Some(&COPY_AREA), _) => Ok(Request::Copy(sized(24, 16)?, half(20)?, half(22)?)),
        (Some(&POLY_FILL_RECTANGLE), _) => {
            let places = (12..bytes.len()).step_by(8).map(|at| sized(at + 4, at));
            Ok(Request::Fill(places.collect::<Result<_, _>>()?))
        }
        (Some(&PUT_IMAGE), _) => {
            let place = sized(12, 16)?;
            let pixels = usize::from(place.width) * usize::from(place.height);
            Ok(Request::Put(place, rest(24, pixels * PIXEL)?))
        }
        (Some(&SHM), Some(&SHM_PUT_IMAGE)) => Ok(Request::PutShared(sized(20, 24)?, word(36)?)),
        (Some(&GET_INPUT_FOCUS), _) => Ok(Request::Sync),
        (Some(&IMAGE_TEXT_8), Some(&count)) => {
            Ok(Request::Text(half(12)?, half(14)?, rest(16, count.into())?))
        }
        (code, _) => Err(format!("no request has the code {code:?}")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail.

    use super::*;

    fn all() -> Vec<(Request<'static>, usize)> {
        let place = Rectangle {
            x: 1,
            y: 2,
            width: 3,
            height: 1,
        };
        vec![
            // With the sizes that they have in the protocol.
            (Request::Colour(0x12_3456), 16),
            (Request::Copy(place, 8, 9), 28),
            (Request::Fill(vec![place; 10]), 12 + 80),
            (Request::Put(place, b"abcdefghijkl"), 24 + 12),
            (Request::PutShared(place, 4096), 40),
            (Request::Sync, 4),
            (Request::Text(7, 8, b"hello"), 16 + 8),
        ]
    }

    #[test]
    fn a_request_is_read_as_it_was_written_in_the_size_of_the_protocol() {
        for (request, size) in all() {
            let mut bytes = Vec::new();
            assert_eq!(
                request.write(&mut bytes).unwrap(),
                size as u64,
                "{request:?}"
            );
            assert_eq!(
                (bytes.len(), length(&bytes)),
                (size, Some(size)),
                "{request:?}"
            );
            assert_eq!(read(&bytes), Ok(request));
        }
        assert_eq!(length(&[1, 2, 3]), None);
    }

    #[test]
    fn what_is_cut_off_or_unknown_is_an_error() {
        for (request, size) in all() {
            let mut bytes = Vec::new();
            request.write(&mut bytes).unwrap();
            for end in 0..size {
                // No panic. What is cut short parses only if it lacks just the
                // padding of a text, or some rectangles of a fill.
                if let Ok(found) = read(&bytes[..end]) {
                    let padding = matches!(found, Request::Text(..)) && end >= size - 3;
                    let fewer = matches!(&found, Request::Fill(places) if places.len() < 10);
                    assert!(padding || fewer, "{found:?} of {end} bytes");
                }
            }
        }
        assert!(read(&[SHM, 1, 1, 0]).is_err() && read(&[255; 40]).is_err());
    }
}
