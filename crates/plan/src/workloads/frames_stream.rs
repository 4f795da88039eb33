//! The parameters of the `frames-stream` workload, which copies frames, and
//! checks of how they combine.

use assize_job::{
    FlushInstruction, FrameFence, FrameFlush, FrameMemory, FramesStream, Workload, WorkloadKind,
};

use super::scheduling::SCHEDULING;
use crate::plan::PlannedConfiguration;
use crate::values::document::{TomlDocument, join};
use crate::values::error::Error;
use crate::values::keys::{KeySection, Text, Whole, Word, duration, key};
use crate::values::target::is_virtual;

/// The largest frame in bytes: the size of a large BAR.
const FRAME_BYTES_MAX: u64 = 256 << 20;

pub(crate) static KEYS: KeySection = KeySection {
    name: "frames-stream",
    keys: &[
        key("width", Whole(1, 16384).or("1920"), "Pixels per line."),
        key("height", Whole(1, 16384).or("1080"), "Lines per frame."),
        key("pixel_bytes", Whole(1, 8).or("4"), "Bytes per pixel."),
        key(
            "frames",
            Whole(1, 1_000_000_000).or("100"),
            "Frames to copy, if no duration is given.",
        ),
        key(
            "duration",
            duration(1).optional(),
            "Instead of frames: for how long new copies are started; the last one is completed.",
        ),
        key(
            "period",
            duration(1).optional(),
            "Time from the start of one copy to the next; by default the next starts at once.",
        ),
        key(
            "source",
            Word(&[
                "anonymous",
                "huge-pages",
                "memfd",
                "uncached",
                "write-combined",
            ])
            .or("anonymous"),
            "Where frames come from: private memory, reserved huge pages, a memfd, or PCI memory mapped through resourceN or resourceN_wc.",
        ),
        key(
            "destination",
            Word(&[
                "anonymous",
                "huge-pages",
                "memfd",
                "uncached",
                "write-combined",
                "framebuffer",
                "dumb-buffer",
            ])
            .or("anonymous"),
            "Where frames are copied to: memory as for source, a framebuffer, or a dumb buffer of a card.",
        ),
        key(
            "device",
            Text.optional(),
            "The device whose memory is source or destination: a PCI address (0000:00:02.0), \
             /dev/fbN or /dev/dri/cardN; by default the first display controller, framebuffer or \
             card.",
        ),
        key("bar", Whole(0, 5).or("0"), "The N of resourceN."),
        key(
            "store",
            Word(&[
                "rep-movsb",
                "mov",
                "movnti",
                "movntdq",
                "vmovntdq",
                "compute",
            ])
            .or("mov"),
            "How to copy: REP MOVSB, plain stores of 8 bytes, non-temporal stores of 8, 16 (SSE2) or 32 bytes (AVX2). compute copies nothing; it only loops, once per 8 bytes.",
        ),
        key(
            "flush",
            Word(&["nothing", "source", "destination"]).or("nothing"),
            "Whose cache lines are flushed after the copy.",
        ),
        key(
            "flush_by",
            Word(&["clflush", "clflushopt"]).or("clflush"),
            "The flush instruction.",
        ),
        key(
            "fence",
            Word(&["nothing", "sfence", "mfence"]).or("nothing"),
            "The fence after copy and flush.",
        ),
        key(
            "each",
            Word(&["line", "frame"]).or("frame"),
            "Flush and fence after each line of the image, or after each frame.",
        ),
        key(
            "bands",
            Whole(1, 16384).or("1"),
            "Parts of a frame, in whole lines, each copied without a pause.",
        ),
        key("pause", duration(0).or("0ns"), "Pause between bands."),
        SCHEDULING,
    ],
};

/// The first contradiction between parameters: key, reason and correction.
pub(crate) fn mistake(stream: &FramesStream) -> Option<(&'static str, String, String)> {
    let say = |key, why: &str, mend: &str| Some((key, why.to_owned(), mend.to_owned()));
    let (from, to) = (stream.source, stream.destination);
    let pauses = stream.pause_ns > 0;
    if stream.frame_bytes() > FRAME_BYTES_MAX {
        let why = format!(
            "a frame has {} bytes, more than 256 MiB",
            stream.frame_bytes()
        );
        return Some(("width", why, "make width or height smaller".into()));
    }
    if stream.bands > stream.height {
        let why = format!("{} are more than a frame has lines", stream.bands);
        return Some(("bands", why, format!("set bands = {}", stream.height)));
    }
    if pauses && stream.bands == 1 {
        let why = "with one band per frame there are no pauses";
        return say("pause", why, "set bands too, to 2 or more");
    }
    if !pauses && stream.bands > 1 {
        let why = "bands without a pause between them have no effect";
        return say("bands", why, "set pause too, or remove bands");
    }
    if stream.device.is_some() && !from.is_of_device() && !to.is_of_device() {
        let why = "neither source nor destination is in device memory";
        return say("device", why, "set destination, or remove device");
    }
    if from.is_pci() && matches!(to, FrameMemory::Framebuffer | FrameMemory::DumbBuffer) {
        let why = "source and destination are on two devices, but the key device can name only one";
        return say("source", why, "set another source");
    }
    let clflush = stream.flush_by == FlushInstruction::Clflush;
    if stream.flush == FrameFlush::Nothing && !clflush {
        let why = "nothing is flushed";
        return say("flush_by", why, "set flush = \"source\" or \"destination\"");
    }
    if stream.copies() {
        return None;
    }
    if from != FrameMemory::Anonymous || to != FrameMemory::Anonymous {
        let why = "'compute' copies nothing, so source and destination are unused";
        return say("store", why, "remove source and destination");
    }
    if stream.flush != FrameFlush::Nothing || stream.fence != FrameFence::Nothing {
        let why = "'compute' copies nothing, so there is nothing to flush or fence";
        return say("store", why, "remove flush and fence");
    }
    None
}

/// Checks that machines have the memory that frames are copied to or from. Virtual machines of
/// assize have it if the file sets `display`. Other targets are not checked, and must not have that
/// key.
pub(crate) fn check_devices(
    document: &TomlDocument,
    target: &str,
    configurations: &[PlannedConfiguration],
) -> Result<(), Error> {
    let ours = is_virtual(target);
    if document.gives("display") {
        if ours {
            return Ok(());
        }
        let why = format!("the graphics card of the target {target} cannot be chosen");
        return Err(document.error("display", why).mend("remove it"));
    }
    let of_device = |workload: &&Workload| match &workload.kind {
        WorkloadKind::FramesStream(stream) => {
            stream.copies() && (stream.source.is_of_device() || stream.destination.is_of_device())
        }
        _ => false,
    };
    for configuration in configurations {
        let mut all = configuration.every_workload();
        if let Some(workload) = all.find(of_device).filter(|_| ours) {
            let name = &workload.name;
            let measured = configuration.workloads.iter().any(|one| one.name == *name);
            let table = if measured { "workloads" } else { "background" };
            let why = format!(
                "in {} the workload copies to or from a device, but the machine has none",
                configuration.name
            );
            let error = document.error(&join(table, name), why);
            return Err(error.mend("add display = \"bochs\" at the top"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use assize_job::FrameStore;

    use super::*;

    fn why_invalid(stream: FramesStream) -> Option<&'static str> {
        mistake(&stream).map(|(key, ..)| key)
    }

    #[test]
    fn what_goes_together_is_no_mistake() {
        let plain = FramesStream::default();
        assert_eq!(why_invalid(plain.clone()), None);
        let slow = FramesStream {
            destination: FrameMemory::WriteCombined,
            device: Some("0000:00:02.0".into()),
            flush: FrameFlush::Source,
            flush_by: FlushInstruction::Clflushopt,
            bands: 4,
            pause_ns: 1000,
            ..plain.clone()
        };
        assert_eq!(why_invalid(slow), None);
        let control = FramesStream {
            store: FrameStore::Compute,
            ..plain
        };
        assert_eq!(why_invalid(control), None);
    }

    #[test]
    fn what_has_no_use_is_a_mistake() {
        let plain = FramesStream::default;
        let compute = || FramesStream {
            store: FrameStore::Compute,
            ..plain()
        };
        let wrongs = [
            (
                FramesStream {
                    width: 16384,
                    height: 16384,
                    ..plain()
                },
                "width",
            ),
            (
                FramesStream {
                    bands: 1081,
                    pause_ns: 1,
                    ..plain()
                },
                "bands",
            ),
            (
                FramesStream {
                    bands: 2,
                    ..plain()
                },
                "bands",
            ),
            (
                FramesStream {
                    pause_ns: 1,
                    ..plain()
                },
                "pause",
            ),
            (
                FramesStream {
                    device: Some("/dev/fb0".into()),
                    ..plain()
                },
                "device",
            ),
            (
                FramesStream {
                    source: FrameMemory::Uncached,
                    destination: FrameMemory::Framebuffer,
                    ..plain()
                },
                "source",
            ),
            (
                FramesStream {
                    flush_by: FlushInstruction::Clflushopt,
                    ..plain()
                },
                "flush_by",
            ),
            (
                FramesStream {
                    source: FrameMemory::Memfd,
                    ..compute()
                },
                "store",
            ),
            (
                FramesStream {
                    fence: FrameFence::Sfence,
                    ..compute()
                },
                "store",
            ),
            (
                FramesStream {
                    flush: FrameFlush::Source,
                    ..compute()
                },
                "store",
            ),
        ];
        for (stream, key) in wrongs {
            assert_eq!(why_invalid(stream.clone()), Some(key), "{stream:?}");
        }
    }
}
