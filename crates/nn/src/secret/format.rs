//! Roles of the parties, and the form in which numbers are kept.

use madrigal_program::{Party, Rounding, Type};

/// Roles of the parties, who bring and learn values, and the form in which numbers are kept.
#[derive(Clone, Debug)]
pub struct Roles {
    /// Number of parties that compute.
    pub parties: usize,
    /// Party that knows the weights.
    pub model: Party,
    /// Party that knows the data.
    pub data: Party,
    /// Parties that learn the results.
    pub to: Vec<Party>,
    /// Whether all know the weights.
    pub public_model: bool,
}

/// Format in which floats are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of a number, and how many of them are after the point: [`Type::fixed`].
    pub number: Type,
    /// Rounding of products.
    pub rounding: Rounding,
}
