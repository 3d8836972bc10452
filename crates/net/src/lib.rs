//! Sessions of N parties, their jobs, and the contexts that protocols see, over interchangeable
//! transports.
//!
//! From the top down: a [`Session`] greets the other parties and opens [`Job`]s; a job gives a
//! [`Context`], which names who we are and which step we are in, and opens a [`Channel`] to each
//! peer; a channel sends and receives messages of known length. Below, messages become
//! [`frame`]s that carry their own address, and a [`Transport`](transport::Transport) moves packets
//! of them, in any order. A failure is an [`Error`] that says who, what and what to do.
//!
//! Nothing here needs an async runtime or a socket but the TCP and TLS transport and the parties'
//! identities, which the feature `sockets` (on by default) adds.

mod channel;
pub mod context;
mod control;
mod counters;
mod error;
mod exchange;
#[cfg(feature = "sockets")]
pub mod fingerprint;
mod flow;
pub mod frame;
mod generator;
#[cfg(feature = "sockets")]
pub mod identity;
#[cfg(feature = "sockets")]
pub mod roster;
#[cfg(feature = "sockets")]
pub mod sealing;
mod session;
mod threads;
#[cfg(feature = "sockets")]
pub mod tls;
pub mod transport;
mod versions;
mod warning;
mod window;

// Other crates whose types stand in signatures here: this is the one path to each.
pub use bytes;
#[cfg(feature = "sockets")]
pub use rustls;

pub use channel::{Channel, Receiver, Sender};
pub use context::{Context, block_on, breathe};
#[doc(hidden)]
pub use control::fuzz_read as fuzz_control;
pub use counters::Meter;
pub use error::{Blame, Error, Result};
pub use exchange::{exchange, exchange_each, exchange_one};
pub use generator::Generator;
pub use session::{Attended, Fact, Job, MIN_WINDOW, Session, SessionConfig};
pub use threads::on_threads;
pub use transport::Inbox;
pub use versions::{Speaks, Versions};
pub use warning::{Warning, on_warning};
pub use window::MAX_WINDOW;
