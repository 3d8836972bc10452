//! Values without I/O that every room above shares: who the parties are, which phase a byte belongs
//! to, what an operation costs and how long it takes, strings of packed bits, the rings Z_2^l, the
//! shapes of products of matrices and of convolutions, and memory that is wiped.

pub mod aligned;
pub mod bits;
pub mod cost;
pub mod domains;
pub mod packing;
pub mod party;
pub mod product;
pub mod ring;
pub mod time;
pub mod wipe;

pub use aligned::Aligned;
pub use cost::{Cost, Phase, PhaseCost};
pub use party::{MAX_PARTIES, Party, PartyError};
pub use product::{Convolution, MatrixShape, Piece, Product};
pub use ring::Ring;
pub use wipe::{Plain, Wipe, Zeroizing};
