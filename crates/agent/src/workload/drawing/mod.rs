//! A client that draws through requests to a server, like clients of a window system.
//!
//! Client and server are two threads connected by a socket. The client writes requests of
//! the X protocol's sizes to a buffer, which it sends when it is full. At the end of each
//! operation it requests an answer. The server reads what has arrived, draws, and
//! answers. What is drawn, and where, is random. At the end the screen is compared with
//! one on which the same was drawn without a socket.

mod requests;
mod screen;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use assize_job::{AgentMessage, Drawing, ImagesBy};

use super::memory::{Area, Mapping};
use super::prepared::{Prepared, WorkloadContext, prepare_staged};
use super::series::TimedSeries;
use super::threads::{join, spawn};
use crate::process::Staged;
use crate::records::metric;
use crate::seed::Stream;
use crate::sys;
use requests::{ANSWER, HEADER, Request};
use screen::{PIXEL, Rectangle, Screen};

/// Initial size of the server's buffer, which grows for longer requests.
const SERVER_BUFFER: usize = 4096;
/// Maximum width and height of a filled or copied rectangle.
const SIDE_MAX: u16 = 64;

pub(super) fn prepare(drawing: &Drawing, context: &WorkloadContext<'_>) -> Prepared {
    let session = DrawingSession {
        drawing: drawing.clone(),
        operations: (!context.background).then_some(drawing.operations),
        samples: context.job.samples,
        stream: context.stream("drawing"),
        ends: None,
        start: 0,
        times: TimedSeries::default(),
        sent: SentTotals::default(),
        drawn: None,
    };
    prepare_staged(drawing.scheduling.clone(), session)
}

/// The operations to draw, and the measurements.
struct DrawingSession {
    drawing: Drawing,
    /// `None`: until the process is killed.
    operations: Option<u64>,
    samples: bool,
    /// Decides what is drawn, and where.
    stream: Stream,
    ends: Option<DrawingConnection>,
    start: u64,
    times: TimedSeries,
    sent: SentTotals,
    /// The server's screen at the end.
    drawn: Option<Screen>,
}

/// The two ends of the connection, set up before anything is measured.
struct DrawingConnection {
    socket: UnixStream,
    segment: Mapping,
    server: JoinHandle<Result<Screen, String>>,
}

/// Number of requests and bytes sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct SentTotals {
    requests: u64,
    bytes: u64,
}

impl Staged for DrawingSession {
    fn set_up(&mut self) -> Result<(), String> {
        self.times = TimedSeries::with_room(self.operations.unwrap_or(0));
        let words = |error: io::Error| sys::error_text(&error);
        let (socket, other) = UnixStream::pair().map_err(words)?;
        let (file, segment) = segment(&self.drawing).map_err(words)?;
        let screen = Screen::new(self.drawing.width, self.drawing.height);
        let length = segment.length();
        let serve = move || {
            // A separate mapping, as another process would have.
            let segment = Mapping::file(&file, length, 0).map_err(words)?;
            serve(other, &segment, screen)
        };
        let server = spawn("server", serve)?;
        self.ends = Some(DrawingConnection {
            socket,
            segment,
            server,
        });
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        let ends = self.ends.take().ok_or("there is no server")?;
        self.start = sys::now();
        let drawn = self.draw(&ends).map_err(|error| sys::error_text(&error));
        // Closing the socket ends the server.
        drop(ends.socket);
        let mut screens = join(vec![ends.server])?;
        self.drawn = screens.pop().transpose()?;
        drawn
    }

    fn records(&mut self) -> Result<Vec<AgentMessage>, String> {
        let drawn = self.drawn.take().ok_or("nothing was drawn")?;
        let wrong = self.reference()?.differing(&drawn);
        let times = std::mem::take(&mut self.times);
        let mut records = times.records("operation_time", "ns", self.start, self.samples);
        records.push(metric("requests", self.sent.requests as f64, ""));
        records.push(metric("request_bytes", self.sent.bytes as f64, "B"));
        records.push(metric("pixels_wrong", wrong as f64, ""));
        Ok(records)
    }
}

impl DrawingSession {
    /// Carries out all operations.
    fn draw(&mut self, ends: &DrawingConnection) -> io::Result<()> {
        let mut artist = RequestGenerator::new(&self.drawing, &self.stream);
        let mut out = BufWriter::with_capacity(self.drawing.buffer as usize, &ends.socket);
        let mut answer = [0; ANSWER];
        let mut done = 0;
        while self.operations.is_none_or(|operations| done < operations) {
            let begin = sys::now();
            artist.operation(&mut out, &ends.segment)?;
            out.flush()?;
            (&ends.socket).read_exact(&mut answer)?;
            let end = sys::now();
            if self.operations.is_some() {
                self.times.push(end, end - begin);
            }
            done += 1;
        }
        self.sent = artist.sent;
        Ok(())
    }

    /// Draws the same without a server. Returns the screen.
    fn reference(&self) -> Result<Screen, String> {
        let words = |error: io::Error| sys::error_text(&error);
        let (_, segment) = segment(&self.drawing).map_err(words)?;
        let mut artist = RequestGenerator::new(&self.drawing, &self.stream);
        let mut screen = Screen::new(self.drawing.width, self.drawing.height);
        let mut image = Vec::new();
        for _ in 0..self.operations.unwrap_or(0) {
            let mut bytes = Vec::new();
            artist.operation(&mut bytes, &segment).map_err(words)?;
            let mut rest = &bytes[..];
            while let Some(length) = requests::length(rest) {
                let (request, behind) = rest
                    .split_at_checked(length)
                    .ok_or("a request is cut off")?;
                carry_out(requests::read(request)?, &mut screen, &segment, &mut image)?;
                rest = behind;
            }
        }
        Ok(screen)
    }
}

/// Memory shared by client and server, for the images of an operation.
fn segment(drawing: &Drawing) -> io::Result<(File, Mapping)> {
    let file = sys::memory_file(c"images", true)?;
    let length = drawing.images as usize * image_bytes(drawing);
    let length = length.max(PIXEL);
    file.set_len(length as u64)?;
    let mapping = Mapping::file(&file, length, 0)?;
    Ok((file, mapping))
}

fn image_bytes(drawing: &Drawing) -> usize {
    (drawing.image_side as usize).pow(2) * PIXEL
}

/// Generates random requests.
struct RequestGenerator {
    drawing: Drawing,
    stream: Stream,
    sent: SentTotals,
    /// Buffer for the pixels of an image.
    image: Vec<u8>,
}

impl RequestGenerator {
    fn new(drawing: &Drawing, stream: &Stream) -> RequestGenerator {
        RequestGenerator {
            drawing: drawing.clone(),
            stream: stream.clone(),
            sent: SentTotals::default(),
            image: vec![0; image_bytes(drawing)],
        }
    }

    /// Writes the requests of an operation, of which the last asks for an answer.
    fn operation(&mut self, to: &mut impl Write, segment: &Mapping) -> io::Result<()> {
        let (rectangles, texts) = (self.drawing.rectangles, self.drawing.texts);
        if rectangles > 0 {
            let colour = self.colour();
            self.send(to, &Request::Colour(colour))?;
            let places = (0..rectangles).map(|_| self.place()).collect();
            self.send(to, &Request::Fill(places))?;
        }
        for _ in 0..texts {
            let colour = self.colour();
            self.send(to, &Request::Colour(colour))?;
            let mut text = vec![0; self.drawing.characters as usize];
            self.stream.fill(&mut text);
            let Rectangle { x, y, .. } = self.place();
            self.send(to, &Request::Text(x, y, &text))?;
        }
        for _ in 0..self.drawing.copies {
            let (from, Rectangle { x, y, .. }) = (self.place(), self.place());
            self.send(to, &Request::Copy(from, x, y))?;
        }
        for image in 0..self.drawing.images as usize {
            self.send_image(to, segment, image)?;
        }
        self.send(to, &Request::Sync)
    }

    /// Sends image `number` of the operation.
    fn send_image(
        &mut self,
        to: &mut impl Write,
        segment: &Mapping,
        number: usize,
    ) -> io::Result<()> {
        let side = self.drawing.image_side as u16;
        let place = Rectangle {
            x: self.below(self.drawing.width - u32::from(side) + 1),
            y: self.below(self.drawing.height - u32::from(side) + 1),
            width: side,
            height: side,
        };
        let mut image = std::mem::take(&mut self.image);
        self.stream.fill(&mut image);
        let sent = match self.drawing.images_by {
            ImagesBy::Socket => self.send(to, &Request::Put(place, &image)),
            ImagesBy::SharedMemory => {
                let offset = number * image.len();
                let area = segment.area(offset, image.len());
                area.ok_or(io::ErrorKind::InvalidInput)?.fill(&image);
                let offset = u32::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
                self.send(to, &Request::PutShared(place, offset))
            }
        };
        self.image = image;
        sent
    }

    fn send(&mut self, to: &mut impl Write, request: &Request<'_>) -> io::Result<()> {
        self.sent.bytes += request.write(to)?;
        self.sent.requests += 1;
        Ok(())
    }

    fn colour(&mut self) -> u32 {
        self.stream.next() as u32 & 0x00ff_ffff
    }

    fn below(&mut self, limit: u32) -> u16 {
        // No side of a screen or an image exceeds 16 bits.
        self.stream.below(limit.into()) as u16
    }

    /// A random rectangle on the screen, of the size of a widget.
    fn place(&mut self) -> Rectangle {
        Rectangle {
            x: self.below(self.drawing.width),
            y: self.below(self.drawing.height),
            width: 1 + self.below(SIDE_MAX.into()),
            height: 1 + self.below(SIDE_MAX.into()),
        }
    }
}

/// Carries out requests until the client closes the socket. Returns the screen.
fn serve(socket: UnixStream, segment: &Mapping, mut screen: Screen) -> Result<Screen, String> {
    let words = |error: io::Error| sys::error_text(&error);
    let mut buffer = vec![0; SERVER_BUFFER];
    let mut image = vec![0; segment.length()];
    let mut have = 0;
    loop {
        let room = buffer.get_mut(have..).unwrap_or_default();
        match (&socket).read(room).map_err(words)? {
            0 if have == 0 => return Ok(screen),
            0 => return Err("the last request was cut off".into()),
            more => have += more,
        }
        let mut done = 0;
        while let Some(length) = requests::length(&buffer[done..have]) {
            if length < HEADER {
                return Err("a request has no length".into());
            }
            if length > have - done {
                break;
            }
            let request = requests::read(&buffer[done..done + length])?;
            if carry_out(request, &mut screen, segment, &mut image)? {
                (&socket).write_all(&[1; ANSWER]).map_err(words)?;
            }
            done += length;
        }
        buffer.copy_within(done..have, 0);
        have -= done;
        let needed = requests::length(&buffer[..have]).unwrap_or(HEADER);
        if needed > buffer.len() {
            buffer.resize(needed, 0);
        }
    }
}

/// Carries out one request. Returns whether the client wants an answer.
fn carry_out(
    request: Request<'_>,
    screen: &mut Screen,
    segment: &Mapping,
    image: &mut Vec<u8>,
) -> Result<bool, String> {
    match request {
        Request::Colour(colour) => screen.colour = colour,
        Request::Copy(from, x, y) => screen.copy(from, x, y),
        Request::Fill(places) => places.into_iter().for_each(|place| screen.fill(place)),
        Request::Put(place, pixels) => screen.draw_image(place, pixels),
        Request::PutShared(place, offset) => {
            let bytes = usize::from(place.width) * usize::from(place.height) * PIXEL;
            let area: Option<Area<'_>> = segment.area(offset as usize, bytes);
            image.resize(bytes, 0);
            area.ok_or("an image is not in the shared memory")?
                .read(image);
            screen.draw_image(place, image);
        }
        Request::Sync => return Ok(true),
        Request::Text(x, y, text) => screen.text(x, y, text),
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
