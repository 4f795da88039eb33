//! Memory of devices: BARs of PCI devices, framebuffers, dumb buffers.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use assize_job::{FrameMemory, FramesStream};

use super::super::memory::Mapping;
use crate::sys;

/// The sysfs directory of PCI devices.
const PCI: &str = "/sys/bus/pci/devices";
/// Prefix of the class of a display controller.
const DISPLAY: &str = "0x03";

/// Memory with the lines of a frame.
#[derive(Debug)]
pub(super) struct LineMemory {
    pub(super) mapping: Mapping,
    /// Distance between the beginnings of lines, in bytes.
    pub(super) stride: usize,
    _held: HeldDevice,
}

impl LineMemory {
    /// Lines in a mapping. `held` is dropped after it.
    pub(super) fn new(mapping: Mapping, stride: usize, held: HeldDevice) -> LineMemory {
        LineMemory {
            mapping,
            stride,
            _held: held,
        }
    }
}

/// Keeps the memory of a device valid; released on drop.
#[derive(Debug)]
pub(super) enum HeldDevice {
    /// Nothing.
    Nothing,
    /// A PCI device that was enabled through this file; disabled on drop.
    Enabled(PathBuf),
    /// An open file, whose buffers are freed when it is closed.
    Open { _file: File },
}

impl Drop for HeldDevice {
    fn drop(&mut self) {
        if let HeldDevice::Enabled(file) = self {
            // Nothing depends on disabling it.
            let _ = fs::write(file, "0");
        }
    }
}

/// Maps the first `bytes` bytes of a BAR.
pub(super) fn pci(
    stream: &FramesStream,
    memory: FrameMemory,
    bytes: usize,
) -> Result<LineMemory, String> {
    pci_below(Path::new(PCI), stream, memory, bytes)
}

fn pci_below(
    root: &Path,
    stream: &FramesStream,
    memory: FrameMemory,
    bytes: usize,
) -> Result<LineMemory, String> {
    let combined = memory == FrameMemory::WriteCombined;
    let name = format!(
        "resource{}{}",
        stream.bar,
        if combined { "_wc" } else { "" }
    );
    let device = match &stream.device {
        Some(address) => root.join(address),
        None => first_display(root)?,
    };
    let path = device.join(&name);
    let there =
        fs::metadata(&path).map_err(|error| why_missing(root, stream, &device, &path, &error))?;
    if there.len() < bytes as u64 {
        return Err(format!(
            "{}: it has {} bytes, and {bytes} are needed; make width or height smaller, or set bar",
            path.display(),
            there.len()
        ));
    }
    let held = enable(&device)?;
    let file = open(&path)?;
    let mapping = Mapping::file(&file, bytes, 0).map_err(|error| {
        let why = sys::error_text(&error);
        let driver = fs::read_link(device.join("driver")).ok();
        let driver = driver.as_deref().and_then(Path::file_name);
        match driver {
            Some(driver) => format!(
                "{}: it cannot be mapped: {why}; its driver {} holds it: unbind that, or boot with \
                 iomem=relaxed",
                path.display(),
                driver.to_string_lossy()
            ),
            None => format!("{}: it cannot be mapped: {why}", path.display()),
        }
    })?;
    Ok(LineMemory::new(mapping, line_bytes(stream)?, held))
}

/// The display controller with the lowest address.
fn first_display(root: &Path) -> Result<PathBuf, String> {
    let is_display = |device: &PathBuf| {
        let class = fs::read_to_string(device.join("class"));
        class.is_ok_and(|class| class.starts_with(DISPLAY))
    };
    devices(root).into_iter().find(is_display).ok_or_else(|| {
        format!(
            "no display controller is among the PCI devices in {}; name another device by `device`",
            root.display()
        )
    })
}

fn devices(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// Explains why a BAR cannot be mapped.
fn why_missing(
    root: &Path,
    stream: &FramesStream,
    device: &Path,
    path: &Path,
    error: &io::Error,
) -> String {
    if !device.exists() {
        let all: Vec<String> = devices(root)
            .iter()
            .filter_map(|device| Some(device.file_name()?.to_string_lossy().into_owned()))
            .collect();
        let all = match all.is_empty() {
            true => "there is none".to_owned(),
            false => format!("there are {}", all.join(", ")),
        };
        let named = stream.device.as_deref().unwrap_or_default();
        return format!("device '{named}' is no PCI device here; {all}");
    }
    let bar = stream.bar;
    let plain = device.join(format!("resource{bar}"));
    match (error.kind(), plain.exists()) {
        (ErrorKind::NotFound, true) => format!(
            "{}: BAR {bar} is not prefetchable, so that there is no write-combined mapping of it; \
             set destination = \"uncached\", or another bar",
            path.display()
        ),
        (ErrorKind::NotFound, false) => {
            format!("{}: the device has no BAR {bar}; set bar", path.display())
        }
        _ => format!("{}: {}", path.display(), sys::error_text(error)),
    }
}

/// Enables the device unless a driver has.
fn enable(device: &Path) -> Result<HeldDevice, String> {
    let file = device.join("enable");
    match fs::read_to_string(&file) {
        Ok(count) if count.trim() == "0" => match fs::write(&file, "1") {
            Ok(()) => Ok(HeldDevice::Enabled(file)),
            Err(error) => Err(needs_root(&file, &error)),
        },
        _ => Ok(HeldDevice::Nothing),
    }
}

fn open(path: &Path) -> Result<File, String> {
    let file = OpenOptions::new().read(true).write(true).open(path);
    file.map_err(|error| needs_root(path, &error))
}

fn needs_root(path: &Path, error: &io::Error) -> String {
    let why = sys::error_text(error);
    match error.kind() {
        ErrorKind::PermissionDenied => {
            format!("{}: {why}: device memory needs root", path.display())
        }
        _ => format!("{}: {why}", path.display()),
    }
}

fn line_bytes(stream: &FramesStream) -> Result<usize, String> {
    usize::try_from(stream.line_bytes()).map_err(|_| "a line is too long".into())
}

/// FBIOGET_VSCREENINFO and FBIOGET_FSCREENINFO, with the sizes of their structs.
const VARIABLE: (libc::c_ulong, usize) = (0x4600, 160);
const FIXED: (libc::c_ulong, usize) = (0x4602, 80);
/// Offsets of width, height and bits per pixel in `struct fb_var_screeninfo`, and
/// of bytes per line in `struct fb_fix_screeninfo`.
const WIDTH: usize = 0;
const HEIGHT: usize = 4;
const BITS: usize = 24;
const LINE: usize = 48;

/// Maps the memory of a framebuffer.
pub(super) fn framebuffer(stream: &FramesStream) -> Result<LineMemory, String> {
    let path = stream.device.as_deref().unwrap_or("/dev/fb0");
    let file =
        open(Path::new(path)).map_err(|why| format!("{why}; a framebuffer needs a driver"))?;
    let variable = screen(&file, VARIABLE).map_err(|why| format!("{path}: {why}"))?;
    let fixed = screen(&file, FIXED).map_err(|why| format!("{path}: {why}"))?;
    let (width, height) = (word(&variable, WIDTH), word(&variable, HEIGHT));
    let (bits, stride) = (word(&variable, BITS), word(&fixed, LINE) as usize);
    let fits = stream.width <= width && stream.height <= height;
    if !fits || bits != stream.pixel_bytes * 8 || stride < line_bytes(stream)? {
        return Err(format!(
            "{path} has {width} x {height} pixels of {bits} bits, and a frame has {} x {} of {}; \
             set width, height and pixel_bytes",
            stream.width,
            stream.height,
            stream.pixel_bytes * 8
        ));
    }
    let length = stride.checked_mul(stream.height as usize);
    let length = length.ok_or("a frame is too large")?;
    let mapping = Mapping::file(&file, length, 0)
        .map_err(sys::failure_of(format!("{path}: it cannot be mapped")))?;
    Ok(LineMemory::new(mapping, stride, HeldDevice::Nothing))
}

fn screen(file: &File, (number, size): (libc::c_ulong, usize)) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; size];
    // SAFETY: the kernel writes a structure of `size` bytes.
    sys::check(unsafe { libc::ioctl(file.as_raw_fd(), number, bytes.as_mut_ptr()) })
        .map_err(sys::failure_of("it is no framebuffer"))?;
    Ok(bytes)
}

/// Reads the 32-bit word at `at`. Returns 0 beyond the end.
fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    word.map_or(0, u32::from_le_bytes)
}

/// DRM_IOCTL_MODE_CREATE_DUMB.
const CREATE_DUMB: libc::c_ulong = 0xc020_64b2;
/// DRM_IOCTL_MODE_MAP_DUMB.
const MAP_DUMB: libc::c_ulong = 0xc010_64b3;

/// `struct drm_mode_create_dumb`.
#[repr(C)]
#[derive(Debug, Default)]
struct CreateDumb {
    height: u32,
    width: u32,
    bpp: u32,
    flags: u32,
    handle: u32,
    pitch: u32,
    size: u64,
}

/// `struct drm_mode_map_dumb`.
#[repr(C)]
#[derive(Debug, Default)]
struct MapDumb {
    handle: u32,
    pad: u32,
    offset: u64,
}

/// Creates and maps a dumb buffer of a card.
pub(super) fn dumb_buffer(stream: &FramesStream) -> Result<LineMemory, String> {
    match &stream.device {
        Some(path) => card_buffer(stream, path),
        None => {
            let cards = (0..FramesStream::CARDS).map(|number| format!("/dev/dri/card{number}"));
            let mut cards = cards.filter(|path| Path::new(path).exists());
            match cards.next() {
                Some(first) => card_buffer(stream, &first),
                None => Err("there is no /dev/dri/card*; load the driver of a card".into()),
            }
        }
    }
}

fn card_buffer(stream: &FramesStream, path: &str) -> Result<LineMemory, String> {
    let file = open(Path::new(path))?;
    let mut create = CreateDumb {
        height: stream.height,
        width: stream.width,
        bpp: stream.pixel_bytes * 8,
        ..CreateDumb::default()
    };
    // SAFETY: the number tells the kernel to read and write this structure.
    sys::check(unsafe { libc::ioctl(file.as_raw_fd(), CREATE_DUMB, &raw mut create) })
        .map_err(sys::failure_of(format!("{path}: no dumb buffer")))?;
    let mut map = MapDumb {
        handle: create.handle,
        ..MapDumb::default()
    };
    // SAFETY: as above.
    sys::check(unsafe { libc::ioctl(file.as_raw_fd(), MAP_DUMB, &raw mut map) })
        .map_err(sys::failure_of(format!("{path}: a dumb buffer")))?;
    let length = usize::try_from(create.size).map_err(|_| "a frame is too large")?;
    let mapping = Mapping::file(&file, length, map.offset)
        .map_err(sys::failure_of(format!("{path}: a dumb buffer")))?;
    let held = HeldDevice::Open { _file: file };
    Ok(LineMemory::new(mapping, create.pitch as usize, held))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PCI devices as sysfs shows them, in ordinary files.
    fn pci_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn small(device: Option<&str>) -> FramesStream {
        FramesStream {
            width: 2,
            height: 2,
            device: device.map(Into::into),
            ..FramesStream::default()
        }
    }

    #[test]
    fn the_first_display_controller_is_taken_and_enabled_while_it_is_used() {
        let root = pci_with(&[
            ("0000:00:01.0/class", "0x020000\n"),
            ("0000:00:02.0/class", "0x038000\n"),
            ("0000:00:02.0/enable", "0\n"),
            ("0000:00:02.0/resource0", "0123456789abcdef"),
            ("0000:00:02.0/resource0_wc", "0123456789abcdef"),
        ]);
        let enable = root.path().join("0000:00:02.0/enable");
        let found = pci_below(root.path(), &small(None), FrameMemory::WriteCombined, 16).unwrap();
        assert_eq!(fs::read_to_string(&enable).unwrap(), "1");
        let mut bytes = [0; 4];
        found.mapping.area(8, 4).unwrap().read(&mut bytes);
        assert_eq!((&bytes, found.stride), (b"89ab", 8));
        drop(found);
        assert_eq!(fs::read_to_string(&enable).unwrap(), "0");
    }

    #[test]
    fn what_is_missing_of_a_device_is_said_with_the_mend() {
        let root = pci_with(&[
            ("0000:00:02.0/class", "0x030000\n"),
            ("0000:00:02.0/resource0", "0123456789abcdef"),
            ("0000:00:03.0/class", "0x020000\n"),
        ]);
        let refusal = |device: Option<&str>, bar, memory, bytes| {
            let stream = FramesStream {
                bar,
                ..small(device)
            };
            pci_below(root.path(), &stream, memory, bytes).unwrap_err()
        };
        let combined = FrameMemory::WriteCombined;
        let error = refusal(None, 0, combined, 16);
        assert!(error.contains("BAR 0 is not prefetchable"), "{error}");
        let error = refusal(None, 1, combined, 16);
        assert!(error.contains("has no BAR 1"), "{error}");
        let error = refusal(Some("0000:00:09.0"), 0, combined, 16);
        assert!(
            error.contains("there are 0000:00:02.0, 0000:00:03.0"),
            "{error}"
        );
        let error = refusal(None, 0, FrameMemory::Uncached, 17);
        assert!(
            error.contains("it has 16 bytes, and 17 are needed"),
            "{error}"
        );
        let none = pci_with(&[]);
        let error = pci_below(none.path(), &small(None), combined, 16).unwrap_err();
        assert!(error.contains("no display controller"), "{error}");
    }
}
