//! A computing party that stays up.

pub mod config;
mod kind;
pub mod operation;
mod work;

pub use kind::{Kind, KindError, KindFault, KindInput, KindOutput, Receivers};
pub use work::{Done, Output, Place, Submitted, WorkError};
