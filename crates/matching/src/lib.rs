//! Commands on lists of two parties: which keys both have, how many they are, and what their payloads add up to; and of more parties: which keys all have.
//!
//! [`find`](fn@find) matches lists in a session that is there already; [`psi`] does what the flags of a command say, and prints what came of it, or gives it to
//! whoever called.

pub mod args;
mod bins;
mod cells;
mod explain;
mod failure;
mod find;
mod found;
mod ledger;
mod many;
mod noisy;
mod numbers;
mod of_party;
mod partitions;
pub mod psi;
mod question;
mod report;
mod resume;
mod security;
mod several;
mod state;
mod task;
mod told;

pub use bins::rows_of_bins;
pub use cells::MOST as MOST_KEYS;
pub use failure::Unmatched;
pub use find::find;
pub use found::{Found, KeptRun};
pub use ledger::{Budget, Entry, Ledger, LedgerError};
pub use madrigal_psi::Security;
pub use many::{Many, ProtocolArg, TooMany, find_many};
pub use noisy::Noisy;
pub use numbers::{Answer, InBins, shares};
pub use partitions::partitions;
pub use question::{Question, Told};
pub use several::Several;
pub use state::{State, StateArgs, StateError};
pub use task::Task;
