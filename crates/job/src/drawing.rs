//! Parameters of `drawing`, a client that draws through a server, as under a window system.

use serde::{Deserialize, Serialize};

use crate::Scheduling;

/// Parameters of `drawing`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Drawing {
    /// Operations. For each, the client sends all requests and then waits until the server
    /// has finished them.
    pub operations: u64,
    /// Rectangles per operation, filled by one request.
    pub rectangles: u32,
    /// Lines of text per operation.
    pub texts: u32,
    /// Characters per line.
    pub characters: u32,
    /// Areas of the screen copied per operation.
    pub copies: u32,
    /// Images per operation.
    pub images: u32,
    /// Width and height of an image in pixels of 4 bytes.
    pub image_side: u32,
    /// How an image's pixels get to the server.
    pub images_by: ImagesBy,
    /// Width of the screen in pixels.
    pub width: u32,
    /// Height of the screen in pixels.
    pub height: u32,
    /// Bytes that the client buffers before it sends them.
    pub buffer: u32,
    /// Scheduling of both threads.
    pub scheduling: Scheduling,
}

/// How an image's pixels get to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImagesBy {
    /// In the request, through the socket.
    #[default]
    Socket,
    /// In memory that client and server share.
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
