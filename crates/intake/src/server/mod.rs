//! A server's side of a connection, without I/O.
//!
//! Whatever a client sends is checked here: it becomes an [`Asked`], or a refusal, or the end of the connection. Memory is bounded: by a frame
//! ([`Frames`](crate::Frames)), by the window of bodies, by the numbers of open messages, and by [`MAX_OUTPUT`](crate::limits::MAX_OUTPUT) of what is ready to be sent.

mod answers;
mod checks;
mod connection;
mod reading;
mod wishes;

pub use connection::{ServerConnection, Terms};
pub use wishes::Asked;
