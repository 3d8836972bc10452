//! Values without I/O that every room above shares: who the parties are, which phase a byte belongs
//! to, what an operation costs, and strings of packed bits.

pub mod bits;
pub mod cost;
pub mod party;

pub use cost::{Cost, Phase, PhaseCost};
pub use party::{MAX_PARTIES, Party, PartyError};
