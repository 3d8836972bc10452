//! A computing party that stays up: clients hand it shares, and it computes with the other parties what its kinds of jobs say.

mod ahead;
pub mod args;
mod clock;
pub mod config;
pub mod demo;
mod desk;
mod held;
mod keep;
mod kept;
mod kind;
pub mod local;
pub mod operation;
pub mod policy;
mod quotas;
mod requests;
pub mod serve;
mod server;
mod together;
mod unit;
mod work;

pub use keep::Disk;
pub use kept::KeepError;
pub use kind::{HeldInput, Kind, KindError, KindFault, KindInput, KindOutput, Receivers, Source};
pub use requests::RequestKind;
#[doc(hidden)]
pub use server::Trial;
pub use server::{Checked, LEAVE, ServeError, Server};
pub use together::Between;
pub use unit::AheadUnit;
pub use work::{Beside, Done, Output, Place, Ready, Submitted, WorkError};
