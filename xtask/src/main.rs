//! The developers front door.
fn main() {}
