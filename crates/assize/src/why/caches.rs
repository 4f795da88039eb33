//! The caches that `assize why --cache` models.

use std::fs;
use std::path::Path;

use assize_why::Geometry;
use assize_why::geometry::HOST;

use crate::failure::Failure;

/// Where Linux describes the caches of the first CPU.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// Parses the argument of `--cache`, if it was given.
pub(super) fn geometry(spec: Option<&str>) -> Result<Option<Geometry>, Failure> {
    let geometry = match spec {
        None => return Ok(None),
        Some(HOST) => {
            Geometry::of_host(|path| fs::read_to_string(Path::new(CACHES).join(path)).ok())
        }
        Some(text) => Geometry::parse(text),
    };
    let wrong = |why| Failure::Argument(format!("--cache: {why}"));
    geometry.map(Some).map_err(wrong)
}
