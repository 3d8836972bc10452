//! The flags of commands on networks.

mod infer;
mod model;
mod pixels;
mod sizes;

pub use infer::Infer;
pub(crate) use infer::{NumberArg, Ranges};
pub(crate) use model::Sample;
pub use model::{Calibrate, Check, Compare, Model, ModelExplain, ServedModel, Strip};
pub(crate) use pixels::Pixels;
pub(crate) use sizes::Sizes;
