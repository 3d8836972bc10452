//! Silent OT extension: Ferret (Yang, Weng, Lan, Zhang and Wang, CCS 2020, ePrint 2020/924) for
//! semi-honest parties, with half-tree single-point OTs.
mod iteration;
mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;
mod trees;

pub use params::{SilentParams, Stage};
pub use receiver::SilentReceiver;
pub use sender::SilentSender;
