//! CPU time of processes that this one started.

use std::path::Path;

use crate::{Error, files};

/// The CPU seconds of all children that were waited for: `cutime` and `cstime` of
/// proc_pid_stat(5).
pub fn of_children() -> Result<f64, Error> {
    let path = Path::new("/proc/self/stat");
    let text = files::read(path)?;
    Ok(ticks(&text, 13) / rustix::param::clock_ticks_per_second() as f64)
}

/// The CPU seconds of a process, and of its children that it has waited for.
pub fn of_process(id: u32) -> Result<f64, Error> {
    let text = files::read(Path::new(&format!("/proc/{id}/stat")))?;
    let all = ticks(&text, 11) + ticks(&text, 13);
    Ok(all / rustix::param::clock_ticks_per_second() as f64)
}

/// The clock ticks in user and kernel mode, of which the first is the field with this number after
/// the name. The process name may contain blanks and parentheses.
fn ticks(stat: &str, at: usize) -> f64 {
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields = after_name.split_whitespace().skip(at).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_the_fourteenth_field_and_the_three_after_it() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 9 8 7 6 11 12 130 40 20 0 1 0 5 6 7";
        assert_eq!((ticks(stat, 11), ticks(stat, 13)), (23.0, 170.0));
    }
}
