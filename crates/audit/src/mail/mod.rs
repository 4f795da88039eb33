//! Bytes to unquoted lines.
//!
//! A file is a mailbox, a mail, or any other text: what someone copied from a
//! web archive, the output of a tool, or a few lines of both. [`messages`]
//! tells which and streams the messages; [`Message::lines`] gives decoded,
//! unquoted [`Line`](crate::Line)s that still know where they stood.
//!
//! The walk over the parts of a mail is done here and not by the mail library (which decodes
//! headers, base64, entities and character sets) for two reasons: places must point at lines of
//! the file, and hostile mails must take linear time.
//!
//! Nothing here fails but reading. What cannot be decoded is decoded as far as it goes and
//! leaves a [`Doubt`](assize_bundle::Doubt) of one of these codes: [`UNDECODABLE`],
//! [`TRUNCATED`], [`BINARY_ATTACHMENT`], [`BINARY_INPUT`].

mod charset;
mod entity;
mod flowed;
mod header;
mod html;
pub(crate) mod message;
mod mime;
mod quote;
mod reader;
mod text;
mod transfer;

pub use message::{BINARY_ATTACHMENT, BINARY_INPUT, Message, TRUNCATED, UNDECODABLE};
pub use reader::{Messages, Sealed, messages, sealed};
