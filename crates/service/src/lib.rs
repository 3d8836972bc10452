//! A computing party that stays up.

pub mod config;
pub mod demo;
mod keep;
mod kind;
pub mod operation;
mod together;
mod work;

pub use kind::{Kind, KindError, KindFault, KindInput, KindOutput, Receivers};
pub use work::{Done, Output, Place, Submitted, WorkError};
