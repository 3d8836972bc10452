//! Circuits garbled by N parties together: BMR (MOTION, section 6.3), the local computations, without I/O.
//!
//! What a table, a column, a mask and a colour are, the hash, and the argument for its security stand in
//! `crates/kernels/src/bmr.rs`. Every party garbles and evaluates.
//!
//! # A block of lanes, in the setup phase
//! 1. [`MaskWalk::new`]: shares of the masks of all wires, and with them of the operands of all ANDs. The
//!    parties multiply these, by Boolean GMW: one round for the whole circuit.
//! 2. [`MaskWalk::choices`]: shares of the three secret coefficients of each AND's colour. For each ordered
//!    pair (i, j) correlated OTs with Delta `R_j` and P_i's choices give both shares of their products with
//!    `R_j`.
//! 3. [`Garbling::garble`], chunk by chunk: shares of all columns. P_p needs the sums of the columns of all
//!    others, not of its own, for it knows its own keys from the colour: so `48 (N - 1)` bytes for each AND
//!    and lane are kept, where the paper keeps `64 N`.
//!
//! # In the online phase
//! [`Evaluation`] goes through the same chunks with the tables; nothing is sent.
//!
//! A wire's *setup part* at P_i is its share of the mask and its key of 0 ([`WireSetup`]), its *online part*
//! the active keys of all parties ([`ActiveKeys`]), whose lowest bits are the wire's colour. XOR is that of
//! the keys and of the shares; NOT is done by party 0 on its share of the mask and leaves keys alone.

mod arena;
mod evaluation;
mod garbling;
mod masks;
mod shape;
mod wires;

pub use evaluation::Evaluation;
pub use garbling::{Garbling, Products};
pub use masks::{BlockSeed, Choices, MaskWalk};
pub use shape::{Instance, Shape};
pub use wires::{ActiveKeys, Keys, WireSetup};

/// Products for each AND and lane: the colour's coefficients that are secret.
pub const COEFFICIENTS: usize = 3;
