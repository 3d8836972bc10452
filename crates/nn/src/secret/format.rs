//! Roles of those who bring and learn values, and the form in which numbers are kept.

use madrigal_program::{Holder, Party, Rounding, Type};

/// Roles of those who bring and learn values.
#[derive(Clone, Debug)]
pub struct Roles {
    /// Number of parties that compute.
    pub parties: usize,
    /// Party that knows the weights.
    pub model: Party,
    /// Party or client that knows the data.
    pub data: Holder,
    /// Parties and clients that learn the results.
    pub to: Vec<Holder>,
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
