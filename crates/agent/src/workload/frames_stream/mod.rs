//! A thread that copies frames.
//!
//! The content of a frame is random. The destination is first filled with its complement,
//! and compared with the frame at the end, so that pixels that did not arrive are
//! counted.

mod copier;
mod device;

use assize_job::{AgentMessage, FrameEach, FrameMemory, FramesStream};

use super::memory::{Area, Mapping};
use super::prepared::{Prepared, WorkloadContext, prepare_staged};
use super::series::TimedSeries;
use crate::process::Staged;
use crate::records::{events, metric};
use crate::seed::Stream;
use crate::sys;
use copier::Copier;
use device::{HeldDevice, LineMemory};

pub(super) fn prepare(stream: &FramesStream, context: &WorkloadContext<'_>) -> Prepared {
    let streaming = FramesStreaming {
        stream: stream.clone(),
        background: context.background,
        samples: context.job.samples,
        pixels: context.stream("pixels"),
        frames: None,
        start: 0,
        times: TimedSeries::default(),
        late: Vec::new(),
    };
    prepare_staged(stream.scheduling.clone(), streaming)
}

/// The frames to copy, and the measurements.
struct FramesStreaming {
    stream: FramesStream,
    /// Whether it runs until the process is killed, and measures nothing.
    background: bool,
    samples: bool,
    /// The content of a frame.
    pixels: Stream,
    frames: Option<CopiedFrames>,
    start: u64,
    /// How long each frame took, in nanoseconds.
    times: TimedSeries,
    /// Ends of periods without a finished frame, in nanoseconds from the start.
    late: Vec<u64>,
}

/// The memory of the frames, and how it is copied.
struct CopiedFrames {
    copier: Copier,
    source: LineMemory,
    /// Offset of the first line of the source.
    source_at: usize,
    /// `None` if the destination is in the mapping of the source.
    destination: Option<LineMemory>,
    lines: usize,
    line_bytes: usize,
}

impl Staged for FramesStreaming {
    fn set_up(&mut self) -> Result<(), String> {
        let stream = &self.stream;
        let room = if self.background {
            0
        } else {
            frames_at_most(stream)
        };
        self.times = TimedSeries::with_room(room);
        sys::no_timer_slack();
        let frames = CopiedFrames::new(stream)?;
        frames.fill(&self.pixels)?;
        self.frames = Some(frames);
        Ok(())
    }

    fn run(&mut self) -> Result<(), String> {
        let stream = &self.stream;
        let frames = self.frames.as_ref().ok_or("no frame is ready")?;
        self.start = sys::now();
        let end = stream.duration_ns.map(|ns| self.start.saturating_add(ns));
        let mut due = self.start;
        let mut done = 0;
        while self.background || end.map_or(done < stream.frames, |end| due < end) {
            if stream.period_ns.is_some() {
                sys::sleep_until(due);
            }
            let begin = sys::now();
            frames.copy_one(stream)?;
            let now = sys::now();
            done += 1;
            if !self.background {
                self.times.push(now, now - begin);
            }
            due = match stream.period_ns {
                None => now,
                Some(period) => {
                    let passed = periods_passed(due, now, period);
                    if passed > 0 && !self.background {
                        let first = due.saturating_add(period) - self.start;
                        self.late
                            .extend((0..passed).map(|more| first + more * period));
                    }
                    due.saturating_add(period.saturating_mul(passed + 1))
                }
            };
        }
        Ok(())
    }

    fn records(&mut self) -> Result<Vec<AgentMessage>, String> {
        // Take the frames, so that their memory is released at the end.
        let frames = self.frames.take().ok_or("no frame is ready")?;
        let end = sys::now();
        let times = std::mem::take(&mut self.times);
        let (count, mean) = (times.len(), times.mean());
        let mut records = times.records("frame_time", "ns", self.start, self.samples);
        records.push(metric("frame_time_mean", mean, "ns"));
        records.push(metric("frames", count as f64, ""));
        if self.stream.period_ns.is_some() {
            let late = std::mem::take(&mut self.late);
            records.push(events("frames_late", late, end - self.start));
        }
        if self.stream.copies() {
            let bytes = self.stream.frame_bytes() as f64;
            records.push(metric("bandwidth", bytes * 1000.0 / mean.max(1.0), "MB/s"));
            let wrong = frames.wrong(&self.pixels, self.stream.pixel_bytes as usize)?;
            records.push(metric("pixels_wrong", wrong as f64, ""));
        }
        Ok(records)
    }
}

/// Upper limit of the number of frames.
fn frames_at_most(stream: &FramesStream) -> u64 {
    match (stream.duration_ns, stream.period_ns) {
        (None, _) => stream.frames,
        (Some(duration), Some(period)) => duration / period + 1,
        // No memory is written faster than 100 bytes per nanosecond.
        (Some(duration), None) => duration / (stream.frame_bytes() / 100).max(1) + 1,
    }
}

/// Number of periods that have ended without a finished frame, for a frame due at `due`
/// and finished at `now`. A frame that ends exactly with its period is on time.
fn periods_passed(due: u64, now: u64, period: u64) -> u64 {
    now.saturating_sub(due).saturating_sub(1) / period
}

impl CopiedFrames {
    fn new(stream: &FramesStream) -> Result<CopiedFrames, String> {
        let size = |bytes: u64| usize::try_from(bytes).map_err(|_| "a frame is too large");
        let bytes = size(stream.frame_bytes())?;
        let line_bytes = size(stream.line_bytes())?;
        let (from, to) = (stream.source, stream.destination);
        let shared = from.is_pci() && to.is_pci();
        let place = |memory: FrameMemory, bytes: usize| match memory {
            FrameMemory::Framebuffer => device::framebuffer(stream),
            FrameMemory::DumbBuffer => device::dumb_buffer(stream),
            FrameMemory::Uncached | FrameMemory::WriteCombined => {
                device::pci(stream, memory, bytes)
            }
            _ => ordinary_memory(memory, bytes, line_bytes),
        };
        // Within one device, the source follows the destination.
        let source_at = if shared { bytes } else { 0 };
        let source = place(from, source_at + bytes)?;
        let destination = match shared && from == to {
            true => None,
            false => Some(place(to, bytes)?),
        };
        Ok(CopiedFrames {
            copier: Copier::new(stream)?,
            source,
            source_at,
            destination,
            lines: stream.height as usize,
            line_bytes,
        })
    }

    /// `lines` lines of the source, from `line` on.
    fn source_lines(&self, line: usize, lines: usize) -> Result<Area<'_>, String> {
        let source = &self.source;
        area_of_lines(
            &source.mapping,
            self.source_at + line * source.stride,
            lines,
            self.line_bytes,
        )
    }

    /// `lines` lines of the destination, from `line` on.
    fn destination_lines(&self, line: usize, lines: usize) -> Result<Area<'_>, String> {
        let to = self.destination.as_ref().unwrap_or(&self.source);
        area_of_lines(&to.mapping, line * to.stride, lines, self.line_bytes)
    }

    /// Whether lines follow each other without gaps.
    fn is_dense(&self) -> bool {
        let to = self.destination.as_ref().unwrap_or(&self.source);
        self.source.stride == self.line_bytes && to.stride == self.line_bytes
    }

    /// Copies a frame, as configured.
    fn copy_one(&self, stream: &FramesStream) -> Result<(), String> {
        let bands = stream.bands as usize;
        for band in 0..bands {
            if band > 0 && stream.pause_ns > 0 {
                sys::sleep_until(sys::now().saturating_add(stream.pause_ns));
            }
            let first = self.lines * band / bands;
            self.copy_lines(first, self.lines * (band + 1) / bands, stream.each)?;
        }
        if stream.each == FrameEach::Frame {
            if self.is_dense() {
                self.copier.after(
                    self.source_lines(0, self.lines)?,
                    self.destination_lines(0, self.lines)?,
                );
            } else {
                for line in 0..self.lines {
                    self.copier.flush(
                        self.source_lines(line, 1)?,
                        self.destination_lines(line, 1)?,
                    );
                }
                self.copier.fence();
            }
        }
        Ok(())
    }

    fn copy_lines(&self, first: usize, end: usize, each: FrameEach) -> Result<(), String> {
        if each == FrameEach::Frame && self.is_dense() {
            let lines = end - first;
            self.copier.copy(
                self.destination_lines(first, lines)?,
                self.source_lines(first, lines)?,
            );
            return Ok(());
        }
        for line in first..end {
            let (from, to) = (
                self.source_lines(line, 1)?,
                self.destination_lines(line, 1)?,
            );
            self.copier.copy(to, from);
            if each == FrameEach::Line {
                self.copier.after(from, to);
            }
        }
        Ok(())
    }

    /// Writes the frame to the source, and its complement to the destination.
    fn fill(&self, pixels: &Stream) -> Result<(), String> {
        let mut pixels = pixels.clone();
        let mut line = vec![0; self.line_bytes];
        for number in 0..self.lines {
            draw(&mut pixels, &mut line);
            self.source_lines(number, 1)?.fill(&line);
            line.iter_mut().for_each(|byte| *byte = !*byte);
            self.destination_lines(number, 1)?.fill(&line);
        }
        Ok(())
    }

    /// The number of pixels of the destination that differ from the frame.
    fn wrong(&self, pixels: &Stream, pixel_bytes: usize) -> Result<usize, String> {
        let mut pixels = pixels.clone();
        let (mut line, mut found) = (vec![0; self.line_bytes], vec![0; self.line_bytes]);
        let mut wrong = 0;
        for number in 0..self.lines {
            draw(&mut pixels, &mut line);
            self.destination_lines(number, 1)?.read(&mut found);
            let both = line.chunks(pixel_bytes).zip(found.chunks(pixel_bytes));
            wrong += both.filter(|(wanted, found)| wanted != found).count();
        }
        Ok(wrong)
    }
}

fn area_of_lines(
    mapping: &Mapping,
    offset: usize,
    lines: usize,
    line_bytes: usize,
) -> Result<Area<'_>, String> {
    let area = mapping.area(offset, lines * line_bytes);
    area.ok_or_else(|| "a line is not in the memory of its frame".into())
}

/// Maps memory that does not belong to a device.
fn ordinary_memory(memory: FrameMemory, bytes: usize, stride: usize) -> Result<LineMemory, String> {
    let (mapping, what, mend) = match memory {
        FrameMemory::HugePages => (
            Mapping::huge(bytes),
            "huge pages",
            "; set some aside: sysctl vm.nr_hugepages",
        ),
        FrameMemory::Memfd => (Mapping::memfd(bytes), "a file in memory", ""),
        _ => (Mapping::anonymous(bytes), "memory", ""),
    };
    let mapping = mapping
        .map_err(|error| format!("{bytes} bytes of {what}: {}{mend}", sys::error_text(&error)))?;
    Ok(LineMemory::new(mapping, stride, HeldDevice::Nothing))
}

/// Fills a line with random bytes.
fn draw(pixels: &mut Stream, line: &mut [u8]) {
    pixels.fill(line);
}

#[cfg(test)]
mod tests;
