//! Values without I/O that every room above shares: who the parties are, which phase a byte belongs
//! to, what an operation costs and how long it takes, strings of packed bits, the rings Z_2^l, the
//! shapes of products of matrices and of convolutions, memory that is wiped, and what a file may take of memory, with
//! the one function that reads such files.

pub mod aligned;
pub mod bits;
pub mod budget;
pub mod chain;
pub mod cost;
pub mod digest;
pub mod domains;
pub mod hexadecimal;
pub mod key_numbers;
pub mod packing;
pub mod party;
pub mod product;
pub mod ring;
pub mod text;
pub mod time;
pub mod wipe;

pub use aligned::Aligned;
pub use budget::{Budget, Spent};
pub use cost::{Cost, Phase, PhaseCost};
pub use digest::Digest256;
pub use key_numbers::KeyNumbers;
pub use party::{MAX_PARTIES, Party, PartyError};
pub use product::{Convolution, MatrixShape, Piece, Product};
pub use ring::Ring;
pub use wipe::{Plain, Wipe, Zeroizing};
