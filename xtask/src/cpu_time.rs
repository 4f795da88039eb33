//! CPU time of processes that this one started.

use std::path::Path;

use crate::{Error, files};

/// The CPU seconds of all children that were waited for: `cutime` and `cstime` of
/// proc_pid_stat(5).
pub fn of_children() -> Result<f64, Error> {
    let path = Path::new("/proc/self/stat");
    let text = files::read(path)?;
    Ok(ticks(&text) / rustix::param::clock_ticks_per_second() as f64)
}

/// The clock ticks of children, in user and kernel mode. The process name may contain
/// blanks and parentheses.
fn ticks(stat: &str) -> f64 {
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields = after_name.split_whitespace().skip(13).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_children_are_the_sixteenth_and_seventeenth_field() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 9 8 7 6 11 12 130 40 20 0 1 0 5 6 7";
        assert_eq!(ticks(stat), 170.0);
    }
}
