//! Patches the device state of a memory image: the one field that depends on the host.

/// Start of the section with the instruction clock. It is followed by the version, the time
/// skipped while idle and the number of instructions executed, all big-endian.
const MARK: &[u8] = b"\x0ctimer/icount\x00\x00\x00\x01";

/// Subtracts `leap` nanoseconds from the time skipped while idle. Returns false, and
/// changes nothing, if the state does not look as expected.
///
/// QEMU stops a machine from its main thread. If the guest's CPU has stopped before that
/// thread gets to it, all CPUs look idle and the clock skips to the next timer. Nothing
/// runs in between, so taking the leap out is exact; a leap during which something did run
/// is noticed when the image is probed. A clock that went back is corrected in the same
/// way.
pub(crate) fn take_out_leap(state: &mut [u8], leap: i64) -> bool {
    let mut places = state
        .windows(MARK.len())
        .enumerate()
        .filter(|(_, window)| *window == MARK)
        .map(|(at, _)| at + MARK.len());
    let (Some(at), None) = (places.next(), places.next()) else {
        return false;
    };
    let Some(field) = state.get_mut(at..at + 8) else {
        return false;
    };
    let mut bytes = [0; 8];
    bytes.copy_from_slice(field);
    let Some(skipped) = u64::from_be_bytes(bytes).checked_sub_signed(leap) else {
        return false;
    };
    field.copy_from_slice(&skipped.to_be_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(skipped: u64) -> Vec<u8> {
        let mut state = b"before".to_vec();
        state.extend(MARK);
        state.extend(skipped.to_be_bytes());
        state.extend(b"instructions and more");
        state
    }

    #[test]
    fn the_leap_is_taken_out_of_the_time_skipped() {
        let mut bytes = state(1000);
        assert!(take_out_leap(&mut bytes, 300));
        assert_eq!(bytes, state(700));
        assert!(take_out_leap(&mut bytes, -50));
        assert_eq!(bytes, state(750));
    }

    #[test]
    fn a_state_that_looks_otherwise_is_left_as_it_is() {
        let twice = [state(1000), state(1000)].concat();
        let short = state(1000)[..30].to_vec();
        for original in [Vec::new(), b"nothing".to_vec(), twice, short, state(10)] {
            let mut bytes = original.clone();
            assert!(!take_out_leap(&mut bytes, 300));
            assert_eq!(bytes, original);
        }
    }
}
