//! What a server keeps on its disk, and how servers agree about it.
#![forbid(unsafe_code)]

pub mod agreement;

/// Name of a submission: 32 random bytes that its client drew, the same at all servers.
pub type Id = [u8; 32];
