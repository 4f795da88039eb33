//! Decodes pages of the kernel's trace ring buffer, as trace_pipe_raw returns
//! them.

/// Offsets in a page; from events/header_page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PageLayout {
    commit: usize,
    data: usize,
    /// Size of a page in bytes.
    pub page: usize,
}

/// Position and type of a field of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventField {
    offset: usize,
    size: usize,
    /// Whether the field holds the position of its data (`__data_loc`).
    indirect: bool,
    signed: bool,
    array: bool,
    /// Whether its value is a kernel address.
    pub pointer: bool,
}

/// The id and fields of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventFormat {
    /// Its id.
    pub id: u16,
    fields: Vec<(String, EventField)>,
}

/// Parses events/header_page.
pub(crate) fn layout(text: &str) -> Option<PageLayout> {
    let format = text.lines().filter_map(field);
    let fields: Vec<(String, EventField)> = format.collect();
    let find = |name: &str| fields.iter().find(|(known, _)| known == name);
    let data = find("data")?.1;
    Some(PageLayout {
        commit: find("commit")?.1.offset,
        data: data.offset,
        page: data.offset.checked_add(data.size)?,
    })
}

impl EventFormat {
    /// Parses events/SYSTEM/EVENT/format.
    pub(crate) fn parse(text: &str) -> Option<EventFormat> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?;
        Some(EventFormat {
            id: id.trim().parse().ok()?,
            fields: text.lines().filter_map(field).collect(),
        })
    }

    /// The field of this name.
    pub(crate) fn field(&self, name: &str) -> Option<EventField> {
        let found = self.fields.iter().find(|(known, _)| known == name)?;
        Some(found.1)
    }

    /// All fields except the common ones, in order.
    pub(crate) fn own_fields(&self) -> impl Iterator<Item = (&str, EventField)> {
        let own = |(name, _): &&(String, EventField)| !name.starts_with("common_");
        let fields = self.fields.iter().filter(own);
        fields.map(|(name, field)| (name.as_str(), *field))
    }
}

/// Parses a line such as `field:pid_t next_pid; offset:56; size:4; signed:1;`,
/// with tabs.
fn field(line: &str) -> Option<(String, EventField)> {
    let rest = line.trim_start().strip_prefix("field:")?;
    let mut parts = rest.split(';').map(str::trim);
    let declaration = parts.next()?;
    let name = declaration.split_ascii_whitespace().next_back()?;
    let name = name.split('[').next()?.trim_start_matches('*');
    let (mut offset, mut size, mut signed) = (None, None, false);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", number)) => offset = number.parse().ok(),
            Some(("size", number)) => size = number.parse().ok(),
            Some(("signed", number)) => signed = number == "1",
            _ => {}
        }
    }
    let field = EventField {
        offset: offset?,
        size: size?,
        indirect: declaration.starts_with("__data_loc"),
        signed,
        array: declaration.contains('['),
        pointer: declaration.contains('*'),
    };
    Some((name.to_string(), field))
}

impl EventField {
    /// Reads the field from an event as an unsigned number.
    pub(crate) fn number(self, event: &[u8]) -> Option<u64> {
        let bytes = event.get(self.offset..self.offset.checked_add(self.size)?)?;
        let mut word = [0u8; 8];
        word.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(word))
    }

    /// Whether the field is a number or an address.
    pub(crate) fn is_number(self) -> bool {
        !self.array && !self.indirect && matches!(self.size, 1 | 2 | 4 | 8)
    }

    /// Whether the field may be a thread's name.
    pub(crate) fn is_comm(self) -> bool {
        self.array || self.indirect
    }

    /// Reads the field from an event, sign-extended to 64 bits if it is signed.
    pub(crate) fn value(self, event: &[u8]) -> Option<i64> {
        let value = self.number(event)?.cast_signed();
        let spare = 64 - 8 * u32::try_from(self.size).ok()?;
        Some(if self.signed {
            value << spare >> spare
        } else {
            value
        })
    }

    /// Reads the field from an event as a thread's id.
    pub(crate) fn tid(self, event: &[u8]) -> Option<u32> {
        u32::try_from(self.number(event)?).ok()
    }

    /// Reads the field from an event as a thread's name.
    pub(crate) fn comm(self, event: &[u8]) -> Option<[u8; 16]> {
        let (offset, size) = if self.indirect {
            let place = usize::try_from(self.number(event)?).ok()?;
            (place & 0xffff, place >> 16)
        } else {
            (self.offset, self.size)
        };
        let text = event.get(offset..offset.checked_add(size)?)?;
        let text = text.split(|&byte| byte == 0).next()?;
        let mut comm = [0u8; 16];
        let length = text.len().min(comm.len());
        comm[..length].copy_from_slice(text.get(..length)?);
        Some(comm)
    }
}

/// Bits set in the commit word of a page before which events were lost.
const MISSED: u64 = 3 << 30;

/// The id of an event.
pub(crate) fn id(event: &[u8]) -> Option<u16> {
    Some(u16::from_le_bytes([*event.first()?, *event.get(1)?]))
}

/// Calls `event` for each event of a page, in order, with its time.
///
/// Returns whether events before them were lost; `None` if the page is truncated or
/// malformed, after the events before that place.
pub(crate) fn visit(
    page: &[u8],
    layout: &PageLayout,
    event: &mut dyn FnMut(u64, &[u8]),
) -> Option<bool> {
    let u32_at = |at: usize| {
        let bytes = page.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let u64_at = |at: usize| Some(u64::from(u32_at(at)?) | u64::from(u32_at(at + 4)?) << 32);
    let size = |words: u32| usize::try_from(words).ok();
    let mut time = u64_at(0)?;
    let upper = time & !((1 << 59) - 1);
    let commit = u64_at(layout.commit)?;
    let length = usize::try_from(commit & ((1 << 30) - 1)).ok()?;
    let end = layout.data.checked_add(length)?;
    let mut at = layout.data;
    while at < end {
        let head = u32_at(at)?;
        let (kind, delta) = (head & 31, u64::from(head >> 5));
        let body = at + 4;
        match kind {
            // Padding; a delta of 0 means to the end of the page.
            29 if delta == 0 => break,
            29 => at = body.checked_add(size(u32_at(body)?)?)?,
            30 => {
                time = time.wrapping_add(u64::from(u32_at(body)?) << 27 | delta);
                at = body + 4;
            }
            31 => {
                time = (u64::from(u32_at(body)?) << 27 | delta) | upper;
                at = body + 4;
            }
            _ => {
                time = time.wrapping_add(delta);
                let (from, to) = if kind == 0 {
                    (body + 4, body.checked_add(size(u32_at(body)?)?)?)
                } else {
                    (body, body + 4 * size(kind)?)
                };
                event(time, page.get(from..to)?);
                at = to;
            }
        }
    }
    Some(commit & MISSED != 0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)] // A test may fail.
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

    #[test]
    fn the_header_is_read() {
        let wanted = PageLayout {
            commit: 8,
            data: 16,
            page: 4096,
        };
        assert_eq!(layout(HEADER), Some(wanted));
        assert_eq!(layout(""), None);
    }

    #[test]
    fn formats_and_fields_are_read() {
        let text = "name: sched_switch\nID: 372\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
            \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
            \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
            \tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n\n\
            print fmt: \"prev_comm=%s\", REC->prev_comm\n";
        let format = EventFormat::parse(text).unwrap();
        assert_eq!(format.id, 372);
        let mut event = vec![0u8; 40];
        event[0..2].copy_from_slice(&372u16.to_le_bytes());
        event[8..11].copy_from_slice(b"abc");
        event[24..28].copy_from_slice(&77u32.to_le_bytes());
        event[28..32].copy_from_slice(&(5 << 16 | 32u32).to_le_bytes());
        event[32..36].copy_from_slice(b"wxyz");
        assert_eq!(id(&event), Some(372));
        assert_eq!(format.field("prev_pid").unwrap().tid(&event), Some(77));
        let comm = format.field("prev_comm").unwrap().comm(&event).unwrap();
        assert_eq!(&comm[..4], b"abc\0");
        let name = format.field("name").unwrap().comm(&event).unwrap();
        assert_eq!(&name[..5], b"wxyz\0");
        assert!(format.field("next_pid").is_none());
        let own: Vec<&str> = format.own_fields().map(|(name, _)| name).collect();
        assert_eq!(own, ["prev_comm", "prev_pid", "name"]);
        assert!(
            format
                .field("prev_pid")
                .unwrap()
                .tid(&event[..20])
                .is_none()
        );
    }

    #[test]
    fn numbers_keep_their_sign() {
        let line = |declaration: &str, size: usize, signed: u8| {
            let text = format!("field:{declaration};\toffset:4;\tsize:{size};\tsigned:{signed};");
            field(&text).unwrap().1
        };
        let mut event = vec![0u8; 12];
        event[4..8].copy_from_slice(&(-5i32).to_le_bytes());
        assert_eq!(line("int prio", 4, 1).value(&event), Some(-5));
        assert_eq!(line("u32 prio", 4, 0).value(&event), Some(0xffff_fffb));
        assert_eq!(line("bool bypass", 1, 0).value(&event), Some(0xfb));
        assert_eq!(line("u64 seqno", 8, 0).value(&event), Some(0xffff_fffb));
        assert_eq!(line("u64 seqno", 8, 0).value(&event[..9]), None);
        let pointer = line("struct dma_fence * fence", 8, 0);
        assert!(pointer.pointer && pointer.is_number());
        assert!(!line("char comm[16]", 16, 0).is_number());
        assert!(line("__data_loc char[] name", 4, 0).is_comm());
    }

    /// Builds a page as the kernel does.
    fn page(start: u64, events: &[(u64, Vec<u8>)], missed: bool) -> Vec<u8> {
        let mut data = Vec::new();
        let mut time = start;
        for (at, bytes) in events {
            let mut delta = at - time;
            if delta >= 1 << 27 {
                let (low, high) = (delta & ((1 << 27) - 1), delta >> 27);
                data.extend((30 | (low as u32) << 5).to_le_bytes());
                data.extend((high as u32).to_le_bytes());
                delta = 0;
            }
            let words = bytes.len() / 4;
            let head = (delta as u32) << 5;
            if words <= 28 {
                data.extend((head | words as u32).to_le_bytes());
            } else {
                data.extend(head.to_le_bytes());
                data.extend((bytes.len() as u32 + 4).to_le_bytes());
            }
            data.extend(bytes);
            time = *at;
        }
        let mut page = start.to_le_bytes().to_vec();
        let flag = if missed { 1 << 31 } else { 0 };
        page.extend((data.len() as u64 | flag).to_le_bytes());
        page.extend(data);
        page.resize(page.len().max(4096), 0);
        page
    }

    fn read(page: &[u8]) -> (Option<bool>, Vec<(u64, Vec<u8>)>) {
        let mut events = Vec::new();
        let layout = layout(HEADER).unwrap();
        let whole = visit(page, &layout, &mut |at, bytes| {
            events.push((at, bytes.to_vec()));
        });
        (whole, events)
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            start in 0u64..1 << 58,
            steps in prop::collection::vec((0u64..1 << 40, 1usize..40), 0..20),
            missed: bool,
        ) {
            let mut time = start;
            let events: Vec<(u64, Vec<u8>)> = steps
                .iter()
                .map(|&(step, words)| {
                    time += step;
                    (time, vec![words as u8; words * 4])
                })
                .collect();
            let (whole, got) = read(&page(start, &events, missed));
            prop_assert_eq!(whole, Some(missed));
            prop_assert_eq!(got, events);
        }

        #[test]
        fn nothing_can_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            read(&bytes);
        }
    }

    #[test]
    fn padding_and_absolute_times_are_understood() {
        let mut bytes = 1000u64.to_le_bytes().to_vec();
        let mut data = Vec::new();
        data.extend((29u32 | 1 << 5).to_le_bytes()); // 8 bytes of padding
        data.extend(8u32.to_le_bytes());
        data.extend([0; 4]);
        data.extend((31u32 | 5 << 5).to_le_bytes()); // the time 2^27 + 5
        data.extend(1u32.to_le_bytes());
        data.extend((1u32 | 2 << 5).to_le_bytes()); // an event 2 later
        data.extend([9, 0, 0, 0]);
        data.extend(29u32.to_le_bytes()); // padding to the end of the page
        data.extend([255; 20]);
        bytes.extend((data.len() as u64).to_le_bytes());
        bytes.extend(data);
        let (whole, events) = read(&bytes);
        assert_eq!(whole, Some(false));
        assert_eq!(events, [((1 << 27) + 7, vec![9, 0, 0, 0])]);
    }
}
