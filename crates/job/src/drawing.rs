//! Parameters of the workload that draws as clients of a window system do.

use serde::{Deserialize, Serialize};

use crate::Scheduling;

/// Parameters of `drawing`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Drawing {
    /// Operations: of each the client sends all requests, and then waits until
    /// the server has done them.
    pub operations: u64,
    /// Rectangles that an operation fills, by one request.
    pub rectangles: u32,
    /// Lines of text of an operation.
    pub texts: u32,
    /// Characters of a line.
    pub characters: u32,
    /// Areas that an operation copies on the screen.
    pub copies: u32,
    /// Images of an operation.
    pub images: u32,
    /// Pixels of each side of an image, of 4 bytes.
    pub image_side: u32,
    /// How their pixels get to the server.
    pub images_by: ImagesBy,
    /// Pixels of a line of the screen.
    pub width: u32,
    /// Its lines.
    pub height: u32,
    /// Bytes that the client gathers before it sends them.
    pub buffer: u32,
    /// How both threads are scheduled.
    pub scheduling: Scheduling,
}

/// How pixels of an image get to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImagesBy {
    /// In the request, through the socket.
    #[default]
    Socket,
    /// In memory that both have.
    SharedMemory,
}

impl Default for Drawing {
    fn default() -> Self {
        Drawing {
            operations: 200,
            rectangles: 10,
            texts: 4,
            characters: 20,
            copies: 1,
            images: 1,
            image_side: 32,
            images_by: ImagesBy::Socket,
            width: 640,
            height: 480,
            buffer: 16384,
            scheduling: Scheduling::default(),
        }
    }
}
