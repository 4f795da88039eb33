//! The geometry of the modelled caches.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The syntax of a geometry: four levels and the line size.
const WORDS: &str = "l1i=SIZE/WAYS, l1d=SIZE/WAYS, l2=SIZE/WAYS, llc=SIZE/WAYS, line=BYTES";
/// The keyword for the geometry of the host.
pub const HOST: &str = "host";
/// The upper limit for sizes, ways and line lengths.
const LARGEST: u64 = 1 << 30;
const WAYS: u32 = 64;
const LINES: std::ops::RangeInclusive<u32> = 16..=1024;

/// One level of a geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub struct CacheLevel {
    /// The size of the level in bytes.
    pub bytes: u64,
    /// The associativity.
    pub ways: u32,
}

/// The modelled caches: an L1i, an L1d and an L2 per CPU, and a shared last level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub struct Geometry {
    /// The instruction cache of each CPU.
    pub l1i: CacheLevel,
    /// The data cache of each CPU.
    pub l1d: CacheLevel,
    /// The unified second-level cache of each CPU.
    pub l2: CacheLevel,
    /// The last-level cache, shared by all CPUs.
    pub llc: CacheLevel,
    /// The line size in bytes.
    pub line: u32,
}

impl Default for Geometry {
    fn default() -> Geometry {
        let level = |bytes, ways| CacheLevel { bytes, ways };
        Geometry {
            l1i: level(32 << 10, 8),
            l1d: level(32 << 10, 8),
            l2: level(1 << 20, 16),
            llc: level(8 << 20, 16),
            line: 64,
        }
    }
}

impl Geometry {
    /// Parses `l1d=32K/8,llc=8M/16,line=64`; levels that are not given keep their
    /// defaults.
    ///
    /// # Errors
    /// A message that says what is wrong and what is valid.
    pub fn parse(text: &str) -> Result<Geometry, String> {
        let mut geometry = Geometry::default();
        let mut seen = Vec::new();
        for word in text.split(',').filter(|_| !text.is_empty()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            if seen.contains(&name) {
                return Err(format!("'{name}' is given twice"));
            }
            seen.push(name);
            let level = match name {
                "l1i" => &mut geometry.l1i,
                "l1d" => &mut geometry.l1d,
                "l2" => &mut geometry.l2,
                "llc" => &mut geometry.llc,
                "line" => {
                    geometry.line = value.parse().map_err(|_| {
                        format!("'{word}': the line size is a number of bytes, as in line=64")
                    })?;
                    continue;
                }
                _ => {
                    return Err(format!(
                        "'{word}' is not part of a geometry; valid: {WORDS}, or {HOST} alone"
                    ));
                }
            };
            *level = level_of(value).ok_or_else(|| {
                format!("'{word}': a level is its size and its ways, as in {name}=32K/8")
            })?;
        }
        geometry.checked()
    }

    /// The caches of a host. `read` returns the text of a file below
    /// `/sys/devices/system/cpu/cpu0/cache`, such as `index0/size`.
    ///
    /// # Errors
    /// A message that names the level that the host does not report, and says what to do.
    pub fn of_host(read: impl Fn(&str) -> Option<String>) -> Result<Geometry, String> {
        let word =
            |at: u32, name: &str| Some(read(&format!("index{at}/{name}"))?.trim().to_owned());
        let mut found: [Option<CacheLevel>; 4] = [None; 4];
        let mut line = None;
        for at in 0.. {
            let (Some(level), Some(kind)) = (word(at, "level"), word(at, "type")) else {
                break;
            };
            let place = match (level.as_str(), kind.as_str()) {
                ("1", "Instruction") => 0,
                ("1", "Data") => 1,
                ("2", "Unified") => 2,
                ("3", "Unified") => 3,
                _ => continue,
            };
            let told = |name| word(at, name)?.parse().ok();
            if let (Some(bytes), Some(ways), Some(bytes_of_line)) = (
                word(at, "size").and_then(|text| bytes(&text)),
                told("ways_of_associativity"),
                told("coherency_line_size"),
            ) && let Some(found) = found.get_mut(place)
            {
                *found = Some(CacheLevel { bytes, ways });
                if *line.get_or_insert(bytes_of_line) != bytes_of_line {
                    return Err("this host's cache levels differ in line size".into());
                }
            }
        }
        let names = ["L1i", "L1d", "L2", "L3"].iter().zip(found);
        let missing: Vec<&str> = names
            .filter(|(_, level)| level.is_none())
            .map(|(name, _)| *name)
            .collect();
        let ([Some(l1i), Some(l1d), Some(l2), Some(llc)], Some(line)) = (found, line) else {
            return Err(format!(
                "/sys/devices/system/cpu/cpu0/cache does not describe {}; give their sizes: \
                 {WORDS}",
                missing.join(", ")
            ));
        };
        let geometry = Geometry {
            l1i,
            l1d,
            l2,
            llc,
            line,
        };
        geometry.checked()
    }

    fn levels(&self) -> [(&'static str, CacheLevel); 4] {
        [
            ("l1i", self.l1i),
            ("l1d", self.l1d),
            ("l2", self.l2),
            ("llc", self.llc),
        ]
    }

    fn checked(self) -> Result<Geometry, String> {
        let line = self.line;
        if !line.is_power_of_two() || !LINES.contains(&line) {
            let (least, most) = (LINES.start(), LINES.end());
            return Err(format!(
                "line={line}: the line size is a power of two from {least} to {most}"
            ));
        }
        for (name, CacheLevel { bytes, ways }) in self.levels() {
            if !(1..=WAYS).contains(&ways) {
                return Err(format!("{name}: {ways} ways; valid: 1 to {WAYS}"));
            }
            let set = u64::from(ways) * u64::from(line);
            if bytes == 0 || bytes > LARGEST || bytes % set != 0 {
                return Err(format!(
                    "{name}: {} are not a whole number of sets of {ways} lines of {line} bytes, or \
                     more than {}",
                    size(bytes),
                    size(LARGEST)
                ));
            }
        }
        Ok(self)
    }

    /// The configuration line for the plugin.
    #[must_use]
    pub fn line(&self) -> String {
        let levels = self
            .levels()
            .map(|(_, one)| format!(" {} {}", one.bytes, one.ways));
        format!("cache {}{}\n", self.line, levels.concat())
    }
}

impl fmt::Display for Geometry {
    /// Writes the geometry in the syntax of [`Geometry::parse`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, CacheLevel { bytes, ways }) in self.levels() {
            write!(f, "{name}={}/{ways},", size(bytes))?;
        }
        write!(f, "line={}", self.line)
    }
}

fn level_of(text: &str) -> Option<CacheLevel> {
    let (size, ways) = text.split_once('/')?;
    Some(CacheLevel {
        bytes: bytes(size)?,
        ways: ways.parse().ok()?,
    })
}

/// Parses a number of bytes with an optional suffix `K` or `M`.
fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.char_indices().next_back()? {
        (at, 'K') => (text.get(..at)?, 1 << 10),
        (at, 'M') => (text.get(..at)?, 1 << 20),
        _ => (text, 1),
    };
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .parse::<u64>()
        .ok()
        .filter(|_| plain)?
        .checked_mul(unit)
}

fn size(bytes: u64) -> String {
    match bytes {
        0 => "0".into(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
        _ => bytes.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail.
mod tests {
    use super::*;

    #[test]
    fn what_is_not_named_is_as_by_default_and_reads_back() {
        let default = Geometry::default();
        assert_eq!(Geometry::parse(""), Ok(default));
        assert_eq!(Geometry::parse(&default.to_string()), Ok(default));
        assert_eq!(
            default.to_string(),
            "l1i=32K/8,l1d=32K/8,l2=1M/16,llc=8M/16,line=64"
        );
        let other = Geometry::parse("line=32,l1d=48K/12,llc=36M/9").unwrap();
        assert_eq!(
            (other.line, other.l1d.bytes, other.l1d.ways),
            (32, 48 << 10, 12)
        );
        assert_eq!((other.llc.bytes, other.l2), (36 << 20, default.l2));
        assert_eq!(Geometry::parse(&other.to_string()), Ok(other));
        let line = "cache 32 32768 8 49152 12 1048576 16 37748736 9\n";
        assert_eq!(other.line(), line);
    }

    #[test]
    fn what_is_no_geometry_has_one_error_that_names_the_word() {
        for (text, said) in [
            ("l3=8M/16", "'l3=8M/16' is not part"),
            ("l1d", "'l1d': a level is"),
            ("l1d=32K", "'l1d=32K': a level is"),
            ("l1d=32k/8", "'l1d=32k/8'"),
            ("l1d=+32K/8", "'l1d=+32K/8'"),
            ("l1d=K/8", "'l1d=K/8'"),
            ("l1d=99999999999999999999M/8", "a level is"),
            ("l1d=18446744073709551615M/8", "a level is"),
            ("l1d=32K/0", "l1d: 0 ways"),
            ("l1d=32K/65", "l1d: 65 ways"),
            ("l1d=32K/7", "not a whole number of sets"),
            ("l1d=0/8", "not a whole number of sets"),
            ("llc=2048M/16", "not a whole number of sets"),
            ("line=48", "line=48: "),
            ("line=8", "line=8: "),
            ("line=2048", "line=2048: "),
            ("line=x", "'line=x': "),
            ("l1d=32K/8,l1d=32K/8", "twice"),
            (",", "'' is not part"),
            ("host,line=64", "'host' is not part"),
        ] {
            let error = Geometry::parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    fn host_file(levels: &[[&str; 5]], path: &str) -> Option<String> {
        let (index, name) = path.strip_prefix("index")?.split_once('/')?;
        let level = levels.get(index.parse::<usize>().ok()?)?;
        let names = [
            "level",
            "type",
            "size",
            "ways_of_associativity",
            "coherency_line_size",
        ];
        let at = names.iter().position(|one| *one == name)?;
        Some(format!("{}\n", level[at]))
    }

    #[test]
    fn a_host_is_as_it_tells() {
        let all = [
            ["1", "Data", "48K", "12", "64"],
            ["1", "Instruction", "32K", "8", "64"],
            ["2", "Unified", "2048K", "16", "64"],
            ["3", "Unified", "36864K", "12", "64"],
        ];
        let host = Geometry::of_host(|path| host_file(&all, path)).unwrap();
        assert_eq!(
            host.to_string(),
            "l1i=32K/8,l1d=48K/12,l2=2M/16,llc=36M/12,line=64"
        );
        let error = Geometry::of_host(|path| host_file(&all[..3], path)).unwrap_err();
        assert!(error.contains("does not describe L3; give"), "{error}");
        let error = Geometry::of_host(|_| None).unwrap_err();
        assert!(error.contains("L1i, L1d, L2, L3"), "{error}");
        let mut several = all;
        several[3][4] = "128";
        let error = Geometry::of_host(|path| host_file(&several, path)).unwrap_err();
        assert!(error.contains("differ in line size"), "{error}");
    }
}
