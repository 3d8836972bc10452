//! The servers' agreement about batches, without I/O: a state machine for the leader, one for each follower.
//!
//! Party 0 leads. Batches of a kind have the numbers 1, 2, ... and are dealt with one at a time. A machine takes an [`Event`] and tells what to
//! do ([`Action`]): send a message, write a [`Record`], start or stop a job. It never acts on a record before it hears that the record is on disk
//! ([`Event::Written`]), and after a restart it goes on from [`Restored`], which holds what is on disk alone.
//!
//! # One batch
//! ```text
//! leader                                  each follower
//! Propose n, some accepted ids       ->   bars overdue ones that it lacks (written)
//!                                    <-   Have n: which it has accepted; its own overdue ids that were not proposed
//! B = those that all have; written
//! Prepare n, B                       ->   written
//!                                    <-   Prepared n, or Refused n
//! run number r; written
//! Run n, r                           ->   computes; results written
//!                                    <-   Done n, r, or Broken n, r
//! the end; written
//! End n: Final r, or Failed          ->   written
//!                                    <-   Ended n
//! Barred: those of the overdue ids   ->   written: they expire
//! that it never will accept; written
//! ```
//! A session that is lost changes nothing of this: in the next one each follower tells what it has on disk (`Hello`), and the leader goes on from that
//! and its own disk. Who finds a contradiction stops, and the others do nothing more in that session (`Halted`). A run whose session is lost is begun again under the next number, unless all results of it are on all disks.
//!
//! # An id expires if another server promised never to accept it
//! A client whose submission is on some servers only has no receipt of all, and its shares must go away some day. A clock alone cannot say when: a server that
//! lets an id expire may be the one that another server's receipt, an instant later, completes. So an overdue id expires after a *bar*: a server
//! that has not accepted the id writes down that it never will, and says so after that. Whoever has all receipts will be counted, at whatever
//! hours the servers' clocks stand.

mod bits;
mod contradiction;
mod follower;
mod frames;
mod leader;
mod machine;
mod message;
mod outcome;
mod peer;
mod proposal;
mod queue;
mod types;
mod wire;

pub use bits::{Bits, MessageError};
pub use contradiction::Contradiction;
pub use follower::Follower;
pub use frames::{Assembler, FRAME_BYTES, FrameError, frames};
pub use leader::Leader;
pub use machine::Machine;
pub use message::{Chosen, Hello, Message, Preparation};
pub use outcome::{MAX_IDS, MAX_OVERDUE, MAX_REASON, Outcome, shortened};
pub use types::{
    Action, Batch, Closed, Event, Host, Record, Restored, Rules, Waiting, batch_digest, run_name,
};
