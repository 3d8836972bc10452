//! Masked sharing of two parties (ABY2.0): `alpha` for ring elements, `beta` for bits.

mod alpha;
mod beta;

pub use alpha::{AlphaTool, MulBits};
pub use beta::BetaTool;
