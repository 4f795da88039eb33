//! The keys of the payload.

use crate::values::keys::KeyDefault::{Is, Required};
use crate::values::keys::KeyType::{List, Table, Text};
use crate::values::keys::{KeySection, key};

/// What the target needs: programs, files, modules and packages.
pub(crate) static PAYLOAD: KeySection = KeySection {
    name: "payload",
    keys: &[
        key(
            "programs",
            List(&Text),
            Is("[]"),
            "Programs by name (found in PATH) or path, with everything they link.",
        ),
        key(
            "files",
            List(&Table(&FILE)),
            Is("[]"),
            "Files and directories.",
        ),
        key(
            "modules",
            List(&Text),
            Is("[]"),
            "Kernel modules by name or path, with everything they depend on.",
        ),
        key(
            "packages",
            List(&Text),
            Is("[]"),
            "Debian packages that are installed here, with everything their files need.",
        ),
    ],
};

/// A file to carry.
pub(crate) static FILE: KeySection = KeySection {
    name: "file",
    keys: &[
        key("from", Text, Required, "File or directory here."),
        key("to", Text, Required, "The absolute path it has there."),
    ],
};
