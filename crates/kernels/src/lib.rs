//! The kernels of Madrigal: AES-128, PRG, hash, transpose, row and ring operations, CRC-32, each with run-time
//! dispatch and a portable oracle.
//!
//! This is the only crate of the workspace that holds `unsafe` code. The processor is examined once
//! ([`Kernels::detect`]); every operation then takes the fastest [`Level`] there is, chosen once per
//! call, never per element. `MADRIGAL_LEVEL` lowers the level (see [`level_from_env`]), and
//! [`Kernels::at`] runs any operation at a named level, which is how the tests compare each level
//! with the portable one.
//!
//! No function here branches on, or indexes memory by, the bits it is given: the portable AES is
//! bitsliced, the others use the processor's AES instructions.
//!
//! Without the compiler's optimisation all of this is slow ([`is_optimised`]).
//!
//! Bit order everywhere: bit `i` of a byte string is bit `i % 8` (least significant first) of byte
//! `i / 8`; bit `i` of a [`Block`] is bit `i` of the 128-bit little-endian value.

#[cfg(not(target_endian = "little"))]
compile_error!(
    "madrigal-kernels views words as little-endian bytes: big-endian hosts are not supported"
);

mod aes;
pub mod band;
mod block;
mod bmr;
pub mod ceilings;
mod columns;
mod crc;
pub mod crew;
mod dispatch;
mod element;
pub mod field;
mod fold;
mod garble;
pub mod ggm;
mod hash;
#[doc(hidden)]
pub mod inside;
mod labels;
mod lanes;
pub mod lpn;
pub mod marks;
pub mod meter;
mod ntt;
mod opaque;
mod portable;
mod prg;
pub mod products;
pub mod rings;
mod rows;
mod sizes;
mod transpose;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod vector;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use aes::Aes128;
pub use block::{Block, blocks_as_bytes, blocks_as_bytes_mut, words_as_bytes, words_as_bytes_mut};
pub use bmr::{BLOCKS_PER_COLUMN, OwnColumn, SummedColumn, column_bytes, prefetch};
pub use crc::Crc32;
pub use dispatch::{Kernels, LEVEL_VARIABLE, Level, LevelError, level, level_from_env};
pub use element::Element;
pub use fold::{Leaves, MAX_FOLD};
pub use garble::{ANDS_PER_KEY, GateHash, Operands, Scheme};
pub use hash::{ROWS_PER_KEY, RowHash, STRETCHED_PER_KEY, Stretch};
pub use labels::{LabelOps, LabelProgram};
pub use lanes::{
    And, LocalOp, RowShape, SumStep, local_rows, replicated_and, replicated_carry, replicated_sums,
};
pub use ntt::{Ntt, Sums};
pub use opaque::{opaque, opaque_word};
pub use prg::Prg;
pub use rows::{and, beaver_bits, not_into, xor, xor_into};
pub use transpose::{transpose_128, transpose_bits};

/// Whether the compiler optimised these kernels. Without that they take 10 to 100 times as long; cargo's dev profile
/// does not optimise them unless it is told to.
pub const fn is_optimised() -> bool {
    cfg!(not(unoptimised))
}
